"""Sets made of smaller ones that were published before: a known list, with noise on all of it.

Guarantee:
    Every candidate gets noise, whether or not somebody has it. Candidates and threshold follow from
    the published smaller sets alone.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.errors import ReleaseError, UsageError
from zealous.items.candidate_sets import MAX_CANDIDATES, CandidateSets
from zealous.mechanisms.descriptions import INTEGERS, AmongCandidates, Description
from zealous.mechanisms.known_list import with_noise_on_each
from zealous.mechanisms.laws import GAUSSIAN, NoiseLaw
from zealous.mechanisms.over_known_list import KnownListMechanism
from zealous.mechanisms.protocol import Count, register
from zealous.noise import RandomBytes
from zealous.privacy.accounting import gaussian
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.accounting.sparse import least_integer
from zealous.privacy.composition import Loss
from zealous.privacy.composition.normal import gaussian_square
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    moved_counts,
)

if TYPE_CHECKING:
    import pyarrow as pa


FORECAST_CANDIDATES = 1_000_000  # how many there will be is not known before


@register
@dataclass(frozen=True, kw_only=True)
class OfSmaller(KnownListMechanism):
    """Noise on every set all of whose smaller sets were published; the largest are published.

    Of N such sets each gets noise, those that nobody has too, and what is above the threshold is
    published: of those that nobody has, one on average at most. Sets are left out of the list that
    by the published counts of their parts cannot be above its threshold. What each user holds is
    cut down to such sets before she keeps m of them.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise.
        candidates: All possible sets. None until `with_inputs` gives them.

    Guarantee:
        epsilon-differential privacy given the published smaller sets, if scale >= M/epsilon:
        counts over a list that follows from what was published. So does the threshold.
    """

    candidates: CandidateSets | None = field(default=None, compare=False, repr=False)

    name: ClassVar[str] = "of-smaller"
    family: ClassVar[str | None] = "of-smaller"
    proof_page: ClassVar[str] = "docs/proofs/sets.md"
    description: ClassVar[Description] = AmongCandidates(
        how="Made of published smaller items: count the units that hold each item all of whose "
        f"smaller parts were published, {INTEGERS}on every such item, publish those that are above "
        "what noise alone reaches once.",
        made_of="published smaller items",
        points_of="Only items all of whose smaller parts are in the tables above are counted, and "
        "the limit for {each} applies to these alone. Every such item gets noise, including those "
        "of no {units}, and those above the level that the noise of all of them exceeds once on "
        "average are published.",
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """For one item of each user, or where there is no delta to use: else Gaussian noise."""
        if _several_with_delta(goal, items_per_user):
            return None
        return "all there can be is known, so no delta is needed"

    def with_inputs(
        self, item_list: CandidateSets | None = None, first: pa.Table | None = None
    ) -> Self:
        """The same with all possible sets."""
        return self if item_list is None else replace(self, candidates=item_list)

    def threshold(self, candidates: int) -> int:
        """The least t that the noise of at most one of some candidates exceeds on average.

        >>> OfSmaller(items_per_user=1, scale=Fraction(2)).threshold(1000)
        12
        """
        found = least_integer(lambda t: candidates * self.noise_above(t) <= 1, 0)
        assert found is not None  # noqa: S101 - the noise falls for ever
        return found

    @cached_property
    def default_threshold(self) -> int:
        """The threshold for a million candidates."""
        return self.threshold(FORECAST_CANDIDATES)

    def publication_probability(self, count: int) -> float:
        """The chance that a set of this many users is published, one of a million candidates."""
        return self.noise_above(self.default_threshold - count)

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        most = self.threshold(
            MAX_CANDIDATES if candidates is None else min(candidates, MAX_CANDIDATES)
        )
        return Interval(
            error=self.noise_quantile(confidence),
            missed=1 - confidence,
            chance=lambda count, t: self.noise_above(t - count),
            threshold=most if lowest is None else min(lowest - 1, most),
        )

    def expected_unique_items(self, users: int) -> float:
        """At most one user has each candidate alone, so that their number bounds it too."""
        return min(users * float(self.items_per_user), self.expected_unique_items_of_all())

    def expected_unique_items_of_all(self) -> float:
        """How many sets that belong to one user alone are published on average, over all users.

        With N candidates there are at most N of them, and N P(noise > t) <= 1.
        """
        t = self.threshold(MAX_CANDIDATES)
        rest = self.noise_above(t)
        return self.noise_above(t - 1) / rest if rest else math.inf

    def threshold_text(self) -> str:
        """What an item must pass."""
        return (
            "made of published smaller ones; noisy count above "
            f"{self.default_threshold} for {FORECAST_CANDIDATES:,} candidates, less for fewer"
        )

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: the candidates above the threshold with their noisy counts."""
        if self.candidates is None:
            raise UsageError("the of-smaller mechanism needs candidates: see with_inputs")
        known = self._possibly_published(self.candidates)
        counted = count(bound=self.items_per_user, at_least=1)
        above = self.threshold(len(known))
        return with_noise_on_each(known, counted, self.noise_sampler(), random_bytes, above=above)

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Sets are candidates, and above the threshold for their number."""
        if self.candidates is None:
            raise ReleaseError("the smaller ones that it is made of are not there")
        known = self._possibly_published(self.candidates)
        if (known.places(rows) < 0).any():
            raise ReleaseError("there are rows that cannot be made of the published smaller ones")
        if (rows["count"].to_numpy() <= self.threshold(len(known))).any():
            raise ReleaseError("there are counts at or below the threshold for so many candidates")

    def _possibly_published(self, candidates: CandidateSets) -> CandidateSets:
        """Without what by its published parts cannot be above the threshold but for noise."""
        return candidates.possibly_above(self.threshold(len(candidates)))


@register
@dataclass(frozen=True, kw_only=True)
class OfSmallerGaussian(OfSmaller):
    """The same with discrete Gaussian noise: far less of it where m is more than a few.

    Guarantee:
        (epsilon, delta)-indistinguishability given the published smaller sets: the noise of all M
        counts that one user moves, each by one, is accounted for exactly.

    >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
    >>> found = OfSmallerGaussian.calibrate(goal, 20)
    >>> float(found.scale), found.threshold(1_000_000), found.delta(goal) <= goal.delta
    (26.75, 127, True)
    """

    name: ClassVar[str] = "of-smaller-gaussian"
    law: ClassVar[NoiseLaw] = GAUSSIAN
    pure: ClassVar[bool] = False

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """For several items of each user, under indistinguishability with a delta."""
        if not _several_with_delta(goal, items_per_user):
            return None
        return "all there can be is known; for several items Gaussian noise"

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The least noise that epsilon and delta allow."""
        if goal.pure or not isinstance(goal, Indistinguishability):
            raise UsageError(
                f"the {cls.name} mechanism needs the indistinguishable guarantee with a delta: use "
                f"{OfSmaller.name}, which needs none"
            )
        return cls(items_per_user=items_per_user, scale=gaussian.least_scale(goal, items_per_user))

    def delta(self, goal: Guarantee) -> Fraction:
        """What the noise of M counts does not cover; 1 for the probabilistic guarantee."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        moved = goal.moved_counts(self.items_per_user)
        return gaussian.hockey_stick(self.scale, moved, goal.epsilon)

    def loss(self, neighbors: Neighbors) -> Loss:
        """The counts of a known list shift, and nothing is exposed."""
        moved = moved_counts(self.items_per_user, neighbors)
        return Loss(shifts=moved, mu_squared=gaussian_square(self.scale))


def _several_with_delta(goal: Guarantee, items_per_user: int) -> bool:
    """Whether Gaussian noise can be used, and is less than Laplace's."""
    return isinstance(goal, Indistinguishability) and not goal.pure and items_per_user > 1
