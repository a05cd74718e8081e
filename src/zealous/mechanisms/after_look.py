"""A mechanism chosen by a published table: how many items users have, looked at for a price.

Guarantee:
    Every mechanism that can be chosen is calibrated to the same goal, before anything is read, and
    the choice follows from the published table and public parameters alone.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from msgspec import structs

from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, Things
from zealous.items.items_per_user import LARGEST, RANGES, ItemsPerUser, look_name
from zealous.mechanisms.descriptions import Description
from zealous.mechanisms.pooled import Pooled
from zealous.mechanisms.protocol import (
    CalibratedMechanism,
    Count,
    MechanismDefaults,
    register,
)
from zealous.mechanisms.selection import Selection
from zealous.noise import RandomBytes
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.accounting.sparse import check_indistinguishability
from zealous.privacy.composition import Loss
from zealous.privacy.composition.normal import round_up
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, exact_fraction

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.record.record import PartRecord

ONE_ITEM_FROM = {"add-remove": Fraction(13, 20), "replace": Fraction(17, 20)}
"""One item of each user is counted where the mean of 1/n, for n items a user, is this or more."""
_CHOSEN = "chosen"  # in release.json, beside the parameters of what was
_KEEP_ALL = Fraction(17, 20)  # of users, at least, keep all their items in pooled rounds
_NOISE = Fraction(3, 4)  # of the lowest count, for what noise adds to one of many items
_ROOM = 2  # times what they have: noise in the look may hide some, and more costs little


class Choice(NamedTuple):
    """What can be chosen: pooled rounds, or the selection of one item of each user.

    Attributes:
        items_per_user: m.
        kept_items_per_user: D; None for the selection.
    """

    items_per_user: int
    kept_items_per_user: int | None

    def calibrate(self, goal: Guarantee) -> CalibratedMechanism:
        """The mechanism that keeps a goal."""
        kept = self.kept_items_per_user
        if kept is None:
            return Selection.calibrate(goal, self.items_per_user)
        return Pooled.calibrate(goal, self.items_per_user, kept_items_per_user=kept)


ONE_ITEM = Choice(1, None)
POOLED = (
    *(Choice(8, 16), Choice(8, 32), Choice(10, 64)),
    *(Choice(20, 128), Choice(40, 256), Choice(60, 512)),
)
CHOICES = (ONE_ITEM, *POOLED)
UNKNOWN = Choice(10, 64)  # before the look, and where it shows nobody


def choose(counts: Sequence[int], neighbors: Neighbors) -> Choice:
    """What publishes most, given about how many users are in each range of `RANGES`.

    Args:
        counts: The published counts, which may be below zero.
        neighbors: The relation.

    >>> choose([900, 100, *[0] * 9], "add-remove")
    Choice(items_per_user=1, kept_items_per_user=None)
    >>> choose([0, 0, 0, 0, 0, 500, 500, 0, 0, 0, 0], "replace")
    Choice(items_per_user=20, kept_items_per_user=128)
    """
    users = _users_beyond_noise(counts)
    total = sum(users)
    if not total:
        return UNKNOWN
    most = (*LARGEST, 2 * LARGEST[-1])
    inverse = sum(Fraction(each, n) for each, n in zip(users, most, strict=True)) / total
    if inverse >= ONE_ITEM_FROM[neighbors]:
        return ONE_ITEM
    seen = itertools.accumulate(users)
    enough = next(n for n, each in zip(most, seen, strict=True) if each >= _KEEP_ALL * total)
    room = (each for each in POOLED if (each.kept_items_per_user or 0) >= _ROOM * enough)
    return next(room, POOLED[-1])


def _users_beyond_noise(counts: Sequence[int]) -> list[int]:
    """The counts of the neighbouring ranges that hold most users beyond noise; 0 for the others.

    A range that noise alone fills stands by itself, and those where users are stand together.
    """
    noise = _NOISE * max(0, -min(counts))  # no range has fewer than nobody
    runs = itertools.combinations(range(len(counts) + 1), 2)
    first, end = max(runs, key=lambda run: sum(counts[slice(*run)]) - noise * (run[1] - run[0]))
    return [max(each, 0) if first <= n < end else 0 for n, each in enumerate(counts)]


@cache  # planning, planning again and verifying ask for the same
def _calibrated(goal: Indistinguishability, choice: Choice) -> CalibratedMechanism:
    return choice.calibrate(goal)


@dataclass(frozen=True, kw_only=True)
class _ChosenDescription(Description):
    """What the chosen mechanism says, and by what it was chosen."""

    def method(self, part: PartRecord) -> str:
        """How the table was made."""
        chosen, part = _chosen_mechanism(part)
        return f"{chosen.description.method(part)} {self.how}"

    def threshold(self, part: PartRecord) -> str:
        """What an item had to pass."""
        chosen, part = _chosen_mechanism(part)
        return chosen.description.threshold(part)

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        chosen, part = _chosen_mechanism(part)
        said = chosen.description.points(part, units=units, each=each, origin=origin)
        return [*said, f"- {self.how}"]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        chosen, part = _chosen_mechanism(part)
        return chosen.description.empty(part, units=units, origin=origin)


def _chosen_mechanism(part: PartRecord) -> tuple[type[Selection | Pooled], PartRecord]:
    """What a record says was chosen, and the record as that mechanism writes it.

    Raises:
        UsageError: It says what cannot be chosen.
    """
    said = dict(part.parameters or {})
    name = said.pop(_CHOSEN, None)
    for each in (Selection, Pooled):
        if each.name == name:
            return each, structs.replace(part, parameters=said or None)
    raise UsageError(f"after a look {Selection.name} or {Pooled.name} is chosen")


@register
@dataclass(frozen=True, kw_only=True)
class AfterLook(MechanismDefaults):
    """Pooled rounds, or the selection of one item, as a published table says what serves best.

    The table is that of `items-per-user:KIND`: how many users have how many items, with noise.

    Attributes:
        goal: What every mechanism that can be chosen is calibrated to.
        chosen: The one that was chosen; None before the table is published.

    Guarantee:
        Given the published table, (epsilon, delta)-indistinguishable by the goal's numbers,
        whichever is chosen. Its loss does not depend on the choice.
    """

    goal: Indistinguishability
    chosen: CalibratedMechanism | None = field(default=None, compare=False)

    name: ClassVar[str] = "after-look"
    proof_page: ClassVar[str] = "docs/proofs/look.md"
    description: ClassVar[Description] = _ChosenDescription(
        how="The mechanism and its parameters follow from the published table of how many items "
        "each unit has."
    )

    @classmethod
    def required_kind(cls, kind: Kind) -> str | None:
        """The table of how many items of this kind users have."""
        return look_name(kind)

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Kinds that stand by themselves: sets count as many things as their table of things."""
        super().check_kinds(kind, before)
        look = before[look_name(kind)]
        if isinstance(kind, Things) or not isinstance(look, ItemsPerUser):
            raise UsageError(f"the {cls.name} mechanism is not for {kind.name()}")
        if look.of != replace(kind, items_per_user=1):
            raise UsageError(f"{look.name()} must be about the same items as {kind.name()}")

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Where such a table comes before, under indistinguishability."""
        if not isinstance(goal, Indistinguishability):
            return None
        return (
            "the published table of items per user will tell whether selection or pooled rounds "
            "find more, and with which bounds; until then the figures of the usual choice"
        )

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """All that can be chosen is calibrated now, so that nothing is refused after the look.

        Args:
            goal: The guarantee.
            items_per_user: Not used: m follows from the look.
        """
        check_indistinguishability(goal, cls.name)
        assert isinstance(goal, Indistinguishability)  # noqa: S101
        for each in CHOICES:
            _calibrated(goal, each)
        return cls(goal=goal)

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        goal = Indistinguishability(
            epsilon=exact_fraction(part.exact.epsilon, "epsilon"),
            delta=exact_fraction(part.exact.delta, "delta"),
            users=part.users,
            neighbors=part.neighbors,
            unit=part.unit,
        )
        chosen, part = _chosen_mechanism(part)
        return cls(goal=goal, chosen=chosen.from_record(part))

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same, with what the published table of items per user makes it choose."""
        super().with_inputs(item_list)
        if first is None:
            return self
        published = dict(zip(first["items"].to_pylist(), first["count"].to_pylist(), strict=True))
        counts = [published.get(each, 0) for each in RANGES]
        choice = choose(counts, self.goal.neighbors)
        return replace(self, chosen=_calibrated(self.goal, choice))

    @property
    def mechanism(self) -> CalibratedMechanism:
        """The chosen mechanism; the usual one before."""
        return self.chosen or _calibrated(self.goal, UNKNOWN)

    @property
    def noise_law(self) -> str:
        return self.mechanism.noise_law

    @property
    def items_per_user(self) -> int:
        """How many items of each user count, m."""
        return self.mechanism.items_per_user

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on published counts."""
        return self.mechanism.scale

    @property
    def tau(self) -> int:
        return self.mechanism.tau

    @property
    def tau_prime(self) -> int | None:
        """No published count is at or below it."""
        return self.mechanism.tau_prime

    def delta(self, goal: Guarantee) -> Fraction:
        """The largest of all that can be chosen, and of what was."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        possible = [_calibrated(self.goal, each) for each in CHOICES]
        return max(each.delta(goal) for each in (*possible, self.mechanism))

    def loss(self, neighbors: Neighbors) -> Loss:
        """What is proven of all that can be chosen, at one epsilon."""
        twice = neighbors == "replace" and self.goal.neighbors == "add-remove"
        goal = replace(
            self.goal, neighbors=neighbors, epsilon=self.goal.epsilon * (2 if twice else 1)
        )
        return Loss.stated(epsilon=goal.epsilon, delta=min(round_up(self.delta(goal)), Fraction(1)))

    def decides_who_kept_what(self) -> bool:
        """By what it chooses, and in pooled rounds by what they find."""
        return True

    def deciding_items_per_user(self) -> int | None:
        """The most of all that can be chosen."""
        possible = (_calibrated(self.goal, each).deciding_items_per_user() for each in CHOICES)
        return max(each for each in possible if each is not None)

    def publication_probability(self, count: int) -> float:
        return self.mechanism.publication_probability(count)

    def noise_quantile(self, confidence: float) -> int:
        return self.mechanism.noise_quantile(confidence)

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        return self.mechanism.interval(confidence, lowest=lowest, candidates=candidates)

    def expected_unique_items(self, users: int) -> float:
        possible = (_calibrated(self.goal, each) for each in CHOICES)
        return max(each.expected_unique_items(users) for each in possible)

    def threshold_text(self) -> str:
        """What an item must pass."""
        return self.mechanism.threshold_text()

    def parameters(self) -> dict[str, Any]:
        """Those of the chosen mechanism, and its name."""
        if self.chosen is None:
            return {}
        own = self.chosen.parameters()
        return {**own, "parameters": {_CHOSEN: self.chosen.name, **own.get("parameters", {})}}

    def release(
        self, count: Count, random_bytes: RandomBytes = os.urandom
    ) -> Iterable[pa.RecordBatch]:
        """Publish as the chosen mechanism does."""
        if self.chosen is None:
            raise UsageError(
                f"the {self.name} mechanism follows a published table: see with_inputs"
            )
        return self.chosen.release(count, random_bytes)

    def check_derived(self, first: pa.Table | None) -> None:
        """The mechanism and its parameters are those that the published table gives."""
        if first is None or self.with_inputs(first=first).chosen != self.chosen:
            raise ReleaseError(
                "its mechanism or parameters are not those that the published table of items per "
                "user gives"
            )

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """As the chosen mechanism does."""
        self.mechanism.check_rows(rows, None, whole=whole)
