"""Optimal key selection, twice: a look at what is popular first, then all votes where they decide.

Each user counts for one item, twice. The first time it is a random one, and little of the budget is
spent. The second time it is one of those that are not published yet: the one whose noisy count of
the first time is nearest to what it will have to pass. So nobody's vote is lost on items that
are sure to pass or sure to fail.

Guarantee:
    Every item that somebody keeps gets noise of its own each time, and noise alone never publishes
    an item. What users choose the second time follows from their own items, the public key and the
    noisy counts of the first time, which nothing but this choice and what is published is made of.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from msgspec import ValidationError, convert, structs

from zealous.counting.chosen import PUBLISHED
from zealous.counting.restriction import InTable, Restriction
from zealous.engines.engine import Counted, Each
from zealous.errors import UsageError
from zealous.items import Kind, Things
from zealous.libraries import np, pa
from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Description
from zealous.mechanisms.protocol import Count, MechanismDefaults, register
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.thresholds import select_rows
from zealous.noise import RandomBytes
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.accounting.sparse import check_indistinguishability
from zealous.privacy.composition import Loss
from zealous.privacy.composition.normal import round_up
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    exact_fraction,
    format_number,
    moved_counts,
    positive_integer,
)

if TYPE_CHECKING:
    from zealous.record.record import PartRecord

_FIRST = Fraction(1, 10)  # of epsilon and of delta, for the first time


class Chosen(Protocol):
    """Which one of her items each user counts for; `counting.chosen.ChosenItems`."""

    def count_first(self, draw: Each) -> Any:
        """Count for the first of each user's items, and keep what `draw` makes of the counts."""

    def count_nearest(self, first: Any, target: int) -> Counted | Iterable[pa.RecordBatch]:
        """Count for the item that is not published and was nearest to a number."""

    def published(self, first: Any) -> Iterable[pa.RecordBatch]:
        """Rows of (item..., count) that the first time published."""


@runtime_checkable
class CountsChosen(Protocol):
    """A count in which users can choose an item by what was drawn before."""

    def chosen_items(self, bound: int) -> AbstractContextManager[Chosen]:
        """Let each user keep at most `bound` items, to choose one of them at a time."""


@dataclass(frozen=True, kw_only=True)
class FirstTime:
    """What release.json has under `parameters`: the noise and the threshold of the first time."""

    first_scale: str
    first_tau_prime: int
    first_longer: str


@dataclass(frozen=True, kw_only=True)
class IntervalOfEither(Interval):
    """For a count of the second time, or, above the threshold of the first time, of either.

    As an `Interval` it is that of the first time, whose noise is the wider.

    Attributes:
        first: The interval of the first time.
        second: That of the second time.

    Guarantee:
        That of `Interval`, whichever time published the item: both intervals are covered.
    """

    first: Interval
    second: Interval

    @classmethod
    def of(cls, first: Interval, second: Interval) -> Self:
        """Of both."""
        own = {each.name: getattr(first, each.name) for each in fields(Interval)}
        return cls(**own, first=first, second=second)

    def low(self, count: int) -> int:
        """The fewest users."""
        return min(each.low(count) for each in self._possible(count))

    def high(self, count: int) -> int:
        """The most users."""
        return max(each.high(count) for each in self._possible(count))

    def conditioned_on_above(self, above: int) -> Self:
        """The interval for counts that are here because they were above some number."""
        both = (each.conditioned_on_above(above) for each in (self.first, self.second))
        return self.of(*both)

    def _possible(self, count: int) -> tuple[Interval, ...]:
        """The intervals of the times that can have published such a count."""
        lowest = self.first.threshold
        assert lowest is not None  # noqa: S101 - selection has one
        return (self.first, self.second) if count > lowest else (self.second,)


@dataclass(frozen=True, kw_only=True)
class ChosenTwice(AboveThreshold):
    """Of a table for which each user counted once, and then once more."""

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """What a count leaves out, and both times."""
        first = _recorded_first(part)
        appear = part.forecast.users_to_appear
        return [
            f"- **Counts are too low**: a count is of the {units} that chose the item, and {each} "
            "chose one item, then one more of those that were not published yet. Do not add "
            "counts up, and compare them with care: how many chose an item differs from item "
            "to item.",
            f"- An item is published with probability 5 / 50 / 95 % where {appear.low} / "
            f"{appear.half} / {appear.high} {units} choose it the second time.",
            f"- Budget: epsilon {format_number(part.epsilon)}, delta {format_number(part.delta)}, "
            f"a tenth of it for the first time. Noise: capped discrete Laplace, of scale "
            f"{format_number(float(first.scale))} the first time and {format_number(part.scale)} "
            f"the second. An item is published with a count above {first.tau_prime} the first "
            f"time, or above {part.tau_prime} the second. Counts of at most {first.tau_prime} are "
            "of the second, and have narrower intervals.",
        ]


@register
@dataclass(frozen=True, kw_only=True)
class SelectionTwice(MechanismDefaults):
    """The optimal selection of one item of each user, and again over what it did not publish.

    Attributes:
        items_per_user: m: the most items that each user keeps, of which she chooses.
        first: The noise and threshold of the first time.
        second: Those of the second time.

    Guarantee:
        With parameters from `calibrate` the published rows are (epsilon, delta)-indistinguishable.
        An item that nobody has never appears.

    Raises:
        UsageError: The first time has less noise, or a lower threshold.
    """

    items_per_user: int
    first: Selection
    second: Selection

    name: ClassVar[str] = "selection-twice"
    proof_page: ClassVar[str] = "docs/proofs/selection_twice.md"
    description: ClassVar[Description] = ChosenTwice(
        how="Optimal key selection, twice: each unit counts for one item, and then for the one of "
        "its unpublished items whose noisy count was nearest to the threshold; "
        f"{INTEGERS}publish items whose noisy count is above tau', with counts of the units that "
        "chose the item."
    )
    tau: ClassVar[int] = 1
    chooses_by_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive_integer(self.items_per_user, "items_per_user")
        if self.first.scale < self.second.scale or self.first.tau_prime < self.second.tau_prime:
            raise UsageError(
                f"{self.name} needs as much noise and as high a threshold the first time as the "
                "second"
            )

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """A tenth of epsilon and of delta for the first time, the rest for the second.

        >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
        >>> found = SelectionTwice.calibrate(goal, 5)
        >>> found.first.scale, found.first.tau_prime, found.second.scale, found.second.tau_prime
        (Fraction(10, 1), 131, Fraction(10, 9), 14)
        """
        check_indistinguishability(goal, cls.name)
        first, second = (
            Selection.calibrate(
                replace(goal, epsilon=goal.epsilon * part, delta=goal.delta * part), 1
            )
            for part in (_FIRST, 1 - _FIRST)
        )
        return cls(items_per_user=items_per_user, first=first, second=second)

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        second = Selection.from_record(_with_one_item(part))
        return cls(
            items_per_user=positive_integer(part.items_per_user, "items_per_user"),
            first=_recorded_first(part),
            second=second,
        )

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Kinds that stand by themselves: sets are compared with the counts of their things."""
        super().check_kinds(kind, before)
        if isinstance(kind, Things):
            raise UsageError(f"the {cls.name} mechanism is not for {kind.name()}")

    @property
    def noise_law(self) -> str:
        return self.second.noise_law

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of the second time, which publishes nearly all."""
        return self.second.scale

    @property
    def tau_prime(self) -> int:
        """The threshold of the second time, the lower one."""
        return self.second.tau_prime

    def delta(self, goal: Guarantee) -> Fraction:
        """The sum of both, where their epsilons add up to no more than the goal's; else 1."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        epsilons = [moved_counts(1, goal.neighbors) / each.scale for each in self._times()]
        if sum(epsilons, Fraction(0)) > goal.epsilon:
            return Fraction(1)
        parts = zip(self._times(), epsilons, strict=True)
        deltas = (each.delta(replace(goal, epsilon=epsilon)) for each, epsilon in parts)
        return min(sum(deltas, Fraction(0)), Fraction(1))

    def loss(self, neighbors: Neighbors) -> Loss:
        """What is proven of both at one epsilon."""
        losses = [each.loss(neighbors) for each in self._times()]
        delta = round_up(sum((each.exposure for each in losses), Fraction(0)))
        epsilon = sum((each.rate for each in losses), Fraction(0))
        return Loss.stated(epsilon=epsilon, delta=min(delta, Fraction(1)))

    def decides_who_kept_what(self) -> bool:
        """By what was drawn the first time."""
        return True

    def deciding_items_per_user(self) -> int:
        """Those that she keeps: of no other can she choose one."""
        return self.items_per_user

    def restrictions(self, published: pa.Table) -> Sequence[Restriction]:
        """The published ones: who had none of these counted for none."""
        return [InTable(published)]

    def publication_probability(self, count: int) -> float:
        """The chance that an item is published that so many users choose the second time."""
        return self.second.publication_probability(count)

    def noise_quantile(self, confidence: float) -> int:
        """That of the first time, which is the wider."""
        return self.first.noise_quantile(confidence)

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        del lowest, candidates  # both thresholds are known
        return IntervalOfEither.of(*(each.interval(confidence) for each in self._times()))

    def expected_unique_items(self, users: int) -> float:
        return sum(each.expected_unique_items(users) for each in self._times())

    def threshold_text(self) -> str:
        """What an item must pass."""
        return f"tau' {self.first.tau_prime}, then {self.second.tau_prime}"

    def parameters(self) -> dict[str, Any]:
        """The raised threshold of the second time, and all of the first time."""
        first = {
            "first_scale": str(self.first.scale),
            "first_tau_prime": self.first.tau_prime,
            "first_longer": str(self.first.raised_probability),
        }
        return {**self.second.parameters(), "parameters": first}

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Whatever people have can be published: there is no list to compare with."""

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: what passes the first time, and of what is left over what passes the second."""
        if not isinstance(count, CountsChosen):
            raise UsageError(
                f"{self.name} lets users choose by what was drawn before, which counts that were "
                "made before do not allow: use another mechanism here"
            )
        with count.chosen_items(self.items_per_user) as chosen:
            first = chosen.count_first(partial(_first_noisy_rows, self.first, random_bytes))
            # What has to pass tau' of the second time is decided best by those that stand near it.
            near = chosen.count_nearest(first, self.second.tau_prime)
            draw = partial(_second_noisy_rows, self.second, random_bytes)
            second = near.map_batches(draw) if isinstance(near, Counted) else map(draw, near)
            return [*chosen.published(first), *second]

    def _times(self) -> tuple[Selection, Selection]:
        return self.first, self.second


def _first_noisy_rows(
    first: Selection, random_bytes: RandomBytes, batch: pa.RecordBatch
) -> pa.RecordBatch:
    """Rows of (item..., count, published) with noise, and whether they are published."""
    noisy, passed = first.noisy_counts(random_bytes, batch)
    for name, values in (("count", noisy), (PUBLISHED, passed.astype(np.int64))):
        batch = batch.set_column(batch.schema.get_field_index(name), name, pa.array(values))
    return batch


def _second_noisy_rows(
    second: Selection, random_bytes: RandomBytes, batch: pa.RecordBatch
) -> pa.RecordBatch:
    """Of rows of (item..., count), those that are published."""
    return select_rows(batch, *second.noisy_counts(random_bytes, batch))


def _with_one_item(part: PartRecord) -> PartRecord:
    """The record as `selection` would write it."""
    return structs.replace(part, items_per_user=1)


def _recorded_first(part: PartRecord) -> Selection:
    """What a record says of the first time.

    Raises:
        UsageError: It lacks something of it, or it is not possible.
    """
    try:
        said = convert(part.parameters, FirstTime)
    except ValidationError:
        raise UsageError(
            f"{part.mechanism} needs first_scale, first_tau_prime and first_longer"
        ) from None
    return Selection(
        items_per_user=1,
        scale=exact_fraction(said.first_scale, "first_scale"),
        tau=1,
        tau_prime=said.first_tau_prime,
        raised_probability=exact_fraction(said.first_longer, "first_longer"),
    )
