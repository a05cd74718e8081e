"""Mechanisms of earlier versions, as far as their releases need them: `verify`, words, intervals.

`rounds`, `set-union`, `sips` and `prior` found keys in one to three rounds, each by its own noise.
Pooled rounds find more, and took their place. No plan can choose these, and nothing here draws
noise. docs/proofs/rounds.md has their proofs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from zealous.errors import UsageError
from zealous.mechanisms.descriptions import INTEGERS, Description, cost_text, too_rare
from zealous.mechanisms.key_counts import CountedKeys
from zealous.mechanisms.prior import PRIOR
from zealous.mechanisms.protocol import MECHANISMS, CalibratedMechanism, Count
from zealous.mechanisms.public_files import PublicInput
from zealous.noise import RandomBytes
from zealous.privacy.accounting.keys import LARGEST_SCALE, WEIGHT, mu_squared, told_by_noise
from zealous.privacy.composition import Loss
from zealous.privacy.composition.normal import CONTEXT, normal_tail
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    exact_fraction,
    moved_counts,
    positive_integer,
)

if TYPE_CHECKING:
    from zealous.record.record import PartRecord

_MOST_GIVEN = 1000  # items of one user in a round


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of finding keys.

    Attributes:
        bound: The most items that each user gave.
        scale: The standard deviation of the noise, in units of weight.
        threshold: An item was a key where its noisy weight was strictly above.

    Raises:
        UsageError: Nothing is proven for it.
    """

    bound: int
    scale: int
    threshold: int

    def __post_init__(self) -> None:
        """Refuse what `exposure` does not cover."""
        if positive_integer(self.bound, "items_per_user of a round") > _MOST_GIVEN:
            raise UsageError(f"items_per_user of a round may not exceed {_MOST_GIVEN}")
        if positive_integer(self.scale, "scale of a round") > LARGEST_SCALE:
            raise UsageError(f"scale of a round may not exceed {LARGEST_SCALE}")
        if positive_integer(self.threshold, "threshold of a round") < 2 * WEIGHT:
            raise UsageError(f"threshold of a round must be at least {2 * WEIGHT}")

    def exposure(self) -> Fraction:
        """At most how many of the items that one user alone gave became keys on average.

        The worst is one item of the whole weight, or as many as she may give. Rounded up.

        >>> float(Round(bound=50, scale=10_000, threshold=60_000).exposure())
        5.379654016251234e-08
        """
        with localcontext(CONTEXT):
            one = self._passing_probability(Decimal(WEIGHT))
            many = self.bound * self._passing_probability(WEIGHT / Decimal(self.bound).sqrt())
            return Fraction(min(max(one, many), Decimal(1)))

    def _passing_probability(self, mean: Decimal) -> Decimal:
        """P(an item of this weight passes), or more."""
        x = (self.threshold + Decimal("0.5") - mean) / self.scale
        return (1 / Decimal(24 * self.scale**2)).exp() * normal_tail(x)[1]


@dataclass(frozen=True, kw_only=True)
class _FoundKeys(Description):
    """Of a table of keys that were found first, and counted then."""

    def threshold(self, part: PartRecord) -> str:
        """The noisy weight that makes a key, in each round."""
        return "weight " + " / ".join(f"{each.threshold:,}" for each in part.rounds or ())

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """The rounds, and who appears."""
        appear, rounds = part.forecast.users_to_appear, part.rounds or ()
        given = ", ".join(str(one.items_per_user) for one in rounds)
        number = "one round" if len(rounds) == 1 else f"{len(rounds)} rounds"
        return [
            f"- The items were selected first, in {number} in which {each} gave at most {given} "
            "items, and then counted with separate noise. So a count does not show whether an "
            "item was nearly left out, and can be below zero.",
            f"- An item of {appear.low} / {appear.half} / {appear.high} {units} is published with "
            f"probability 5 / 50 / 95 %, if {units} that hold it give as many items as they may in "
            "the last round, including this one.",
            f"- {cost_text(part)} Noise on weights: of scale "
            f"{', '.join(format(one.scale, ',') for one in rounds)}. Thresholds: weights above "
            f"{', '.join(format(one.threshold, ',') for one in rounds)}.",
        ]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """Nothing was frequent enough."""
        return too_rare(part, units)


@dataclass(frozen=True, kw_only=True)
class Rounds(CountedKeys):
    """Rounds that found keys, each steered by the last, and counts of the keys.

    Attributes:
        rounds: The rounds.
    """

    rounds: tuple[Round, ...]

    name: ClassVar[str] = "rounds"
    title: ClassVar[str] = "Steered rounds"
    proof_page: ClassVar[str] = "docs/proofs/rounds.md"
    description: ClassVar[Description]

    def __init_subclass__(cls) -> None:
        """Each has words of its own."""
        cls.description = _description(cls.title)

    def __post_init__(self) -> None:
        """Refuse what says no round."""
        super().__post_init__()
        if not self.rounds:
            raise UsageError(f"{self.name} needs a round")

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> NoReturn:
        """Refuse: it is planned no more."""
        del goal, items_per_user
        raise UsageError(retired_message(cls.name))

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it."""
        rounds = tuple(
            Round(bound=each.items_per_user, scale=each.scale, threshold=each.threshold)
            for each in part.rounds or ()
        )
        return cls(
            items_per_user=part.items_per_user,
            scale=exact_fraction(part.exact.scale, "scale"),
            rounds=rounds,
        )

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        exposed = self._exposed()
        told = told_by_noise(self._mu_squared(goal.neighbors), goal, exposed)
        return min(exposed + told, Fraction(1))

    def loss(self, neighbors: Neighbors) -> Loss:
        """Rounds and counts move by their lengths; what is exposed, they may steer.

        Under `replace` one log may expose items while the other keeps as many from being shown.
        """
        exposed = self._exposed()
        return Loss.moved(
            exposure=exposed,
            hidden=exposed if neighbors == "replace" else Fraction(0),
            mu_squared=self._mu_squared(neighbors),
        )

    def _exposed(self) -> Fraction:
        return sum((each.exposure() for each in self.rounds), Fraction(0))

    def _mu_squared(self, neighbors: Neighbors) -> Fraction:
        """How far one user moves all weights and counts together, in deviations, squared."""
        scales = [each.scale for each in self.rounds]
        return moved_counts(1, neighbors) * mu_squared(scales, self.scale, self.items_per_user)

    def publication_probability(self, count: int) -> float:
        """About the chance that an item of this many users was published, by the last round."""
        if count < self.tau:
            return 0.0
        last = self.rounds[-1]
        short = last.threshold + 0.5 - count * math.isqrt(WEIGHT**2 // last.bound)
        return math.erfc(short / (last.scale * math.sqrt(2))) / 2

    def expected_unique_items(self, users: int) -> float:
        return users * float(self._exposed())

    def threshold_text(self) -> str:
        """What an item had to pass: its weight in one of the rounds, where a user gives 1000."""
        passed = ", ".join(str(each.threshold) for each in self.rounds)
        return f"a noisy weight above {passed}"

    def parameters(self) -> dict[str, Any]:
        """The rounds."""
        return {
            "rounds": [
                {"items_per_user": each.bound, "scale": each.scale, "threshold": each.threshold}
                for each in self.rounds
            ]
        }

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> NoReturn:
        """Refuse: nothing is drawn with it."""
        del count, random_bytes
        raise UsageError(retired_message(self.name))


def _description(title: str) -> Description:
    return _FoundKeys(
        how=f"{title}: each unit spreads a weight of length 1000 over the items it gives, "
        f"{INTEGERS}items whose noisy weight passes are keys; then count the units that hold each "
        "key, add noise, publish all keys."
    )


Rounds.description = _description(Rounds.title)


class SetUnion(Rounds):
    """One round, by chance."""

    name: ClassVar[str] = "set-union"
    title: ClassVar[str] = "Weighted set union"


class Sips(Rounds):
    """Rounds by chance, each over what was no key yet."""

    name: ClassVar[str] = "sips"
    title: ClassVar[str] = "Iterated set union (DP-SIPS)"


class ListedRounds(Rounds):
    """Rounds in which users gave first what stood highest in a public list."""

    name: ClassVar[str] = "prior"
    title: ClassVar[str] = "Rounds steered by a public prior"
    public_input: ClassVar[PublicInput | None] = PRIOR


RETIRED: dict[str, type[CalibratedMechanism]] = {
    each.name: each for each in (Rounds, SetUnion, Sips, ListedRounds)
}


def retired_message(name: str) -> str:
    """Why a mechanism cannot be asked for any longer."""
    return f"the {name} mechanism is for releases of earlier versions alone: use pooled or auto"


def recorded_class(part: PartRecord) -> type[CalibratedMechanism]:
    """The mechanism that a record means: one that writes `rounds` beside its parameters is retired.

    Raises:
        LookupError: There is none.
    """
    retired = RETIRED.get(part.mechanism)
    if retired is not None and (part.rounds is not None or part.mechanism not in MECHANISMS):
        return retired
    return MECHANISMS[part.mechanism]
