"""Optimal key selection where one item of each user counts, with counts of what is published.

Guarantee:
    Noise never exceeds the item's threshold, so an item that nobody has never appears. Each item's
    threshold, tau_prime or one more, is drawn before its noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.errors import UsageError
from zealous.libraries import np
from zealous.mechanisms.descriptions import INTEGERS, AboveThreshold, Description
from zealous.mechanisms.protocol import register
from zealous.mechanisms.thresholds import Thresholds, select_rows, with_noise
from zealous.noise import CappedLaplace, RandomBytes
from zealous.noise.uniform import uniform
from zealous.privacy.accounting import laplace
from zealous.privacy.accounting.selection import PARTS, CappedThreshold, optimal_threshold
from zealous.privacy.accounting.sparse import check_indistinguishability
from zealous.privacy.composition import Loss
from zealous.privacy.composition.normal import round_up
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    exact_fraction,
    moved_counts,
    positive_integer,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from zealous.record.record import PartRecord


@register
@dataclass(frozen=True, kw_only=True)
class Selection(Thresholds):
    """A threshold that noise alone cannot pass: it is discrete Laplace, but never exceeds it.

    Attributes:
        raised_probability: The chance that an item is held to tau_prime + 1 instead of tau_prime.

    Guarantee:
        With parameters from `calibrate` the published rows are (epsilon, delta)-indistinguishable.
        So are all noisy counts together, those of unpublished items too, with what each item was
        held to: `selection-twice` lets users choose by them. An item appears only where its noisy
        count is strictly above what it is held to, and its noise is not, so an item that nobody
        has never appears. For `add-remove` no mechanism with
        this guarantee publishes an item of n users more often by delta/epsilon or more.
    """

    raised_probability: Fraction

    name: ClassVar[str] = "selection"
    noise_law: ClassVar[str] = "capped-discrete-laplace"
    proof_page: ClassVar[str] = "docs/proofs/selection.md"
    description: ClassVar[Description] = AboveThreshold(
        how="Optimal key selection with counts: count the units that hold an item, one item a "
        f"unit, {INTEGERS}publish items whose noisy count is above tau'."
    )

    def __post_init__(self) -> None:
        if positive_integer(self.items_per_user, "items_per_user") != 1:
            raise UsageError(
                "the selection mechanism counts one item of each user: set items_per_user to 1, "
                "or use another mechanism"
            )
        if self.tau != 1:
            raise UsageError("tau must be 1 for the selection mechanism")
        self._capped_threshold()

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """For one item of each user, under indistinguishability."""
        if not isinstance(goal, Indistinguishability) or items_per_user > 1:
            return None
        return "where one item of each user counts, it publishes most"

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The parameters that publish the most under a guarantee.

        >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
        >>> found = Selection.calibrate(goal, 1)
        >>> found.scale, found.tau_prime, round(float(found.raised_probability), 3)
        (Fraction(2, 1), 24, 0.853)
        """
        check_indistinguishability(goal, cls.name)
        found = optimal_threshold(goal)
        return cls(
            items_per_user=items_per_user,
            scale=found.scale,
            tau=1,
            tau_prime=found.tau_prime,
            raised_probability=found.raised_probability,
        )

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        if part.longer is None or part.tau_prime is None:
            raise UsageError("the selection mechanism needs tau_prime and longer")
        return cls(
            items_per_user=positive_integer(part.items_per_user, "items_per_user"),
            scale=exact_fraction(part.exact.scale, "scale"),
            tau=positive_integer(part.tau, "tau"),
            tau_prime=part.tau_prime,  # 0 at a large epsilon; CappedThreshold checks it
            raised_probability=exact_fraction(part.longer, "longer"),
        )

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        return self._capped_threshold().delta(goal)

    def loss(self, neighbors: Neighbors) -> Loss:
        """What is proven of it at one epsilon: that of all its noise."""
        epsilon = moved_counts(1, neighbors) / self.scale
        goal = Indistinguishability(epsilon=epsilon, delta=0, neighbors=neighbors)
        return Loss.stated(epsilon=epsilon, delta=min(round_up(self.delta(goal)), Fraction(1)))

    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of `count` >= tau users is published with more than t >= tau'."""
        return self._capped_threshold().probability_above(count, t)

    def noise_quantile(self, confidence: float) -> int:
        """That of the noise without its bound, which is no less than with it."""
        return laplace.quantile(self.scale, confidence)

    def parameters(self) -> dict[str, Any]:
        """The chance of the raised threshold."""
        return {"longer": str(self.raised_probability)}

    def _capped_threshold(self) -> CappedThreshold:
        return CappedThreshold(
            scale=self.scale, tau_prime=self.tau_prime, raised_probability=self.raised_probability
        )

    def _noisy_rows(self, random_bytes: RandomBytes, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Of some counted items, those that are published."""
        return select_rows(batch, *self.noisy_counts(random_bytes, batch))

    def noisy_counts(
        self, random_bytes: RandomBytes, batch: pa.RecordBatch
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The counts of some items, each with noise of its own, and which of them are published."""
        # Drawn apart from the noise: which items must be above tau_prime + 1.
        more = uniform(PARTS, batch.num_rows, random_bytes) < int(self.raised_probability * PARTS)
        capped = [CappedLaplace(scale=self.scale, most=self.tau_prime + step) for step in (0, 1)]
        short, long = (with_noise(batch, each, random_bytes) for each in capped)
        noisy = np.where(more, long, short)
        return noisy, noisy > self.tau_prime + more
