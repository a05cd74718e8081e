"""Counts of keys that a mechanism has found, out of the same budget.

Guarantee:
    The keys are fixed before they are counted, and every one of them gets noise of its own and is
    published. So the counts decide nothing, and cost what the counts of a known list cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from zealous.counting.restriction import InTable
from zealous.errors import UsageError
from zealous.libraries import np, pa
from zealous.mechanisms.known_list import ItemTable, with_noise_on_each
from zealous.mechanisms.protocol import Count, MechanismDefaults
from zealous.noise import DiscreteGaussian, RandomBytes
from zealous.privacy.accounting import gaussian
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.accounting.keys import LARGEST_SCALE
from zealous.privacy.guarantee import positive_integer

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class CountedKeys(MechanismDefaults):
    """Keys are found first; each user then counts for at most m of those she has.

    Attributes:
        items_per_user: m: the most keys of one user that count in the end.
        scale: The standard deviation of the noise on counts, drawn in parts of its denominator.

    Raises:
        UsageError: The noise cannot be drawn.
    """

    items_per_user: int
    scale: Fraction

    noise_law: ClassVar[str] = "discrete-gaussian"
    tau: ClassVar[int] = 1
    tau_prime: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        positive_integer(self.items_per_user, "items_per_user")
        grains, unit = self.scale.as_integer_ratio()
        if grains <= 0 or max(grains, unit) > LARGEST_SCALE or unit % 2 == 0:
            raise UsageError(
                f"{self.name} needs a scale above 0 whose denominator is odd and whose terms are "
                f"at most {LARGEST_SCALE}"
            )

    def noise_quantile(self, confidence: float) -> int:
        # Outside lies at most exp(1/(24 grains^2)) times what a rounded Gaussian has there.
        raised = math.exp(1 / (24 * self.scale.numerator**2))
        deviation, low, high = float(self.scale) * math.sqrt(2), -1, math.ceil(40 * self.scale)
        while high - low > 1:
            middle = (low + high) // 2
            outside = raised * math.erfc((middle + 0.5) / deviation)
            low, high = (low, middle) if outside <= 1 - confidence else (middle, high)
        return high

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        del lowest, candidates  # which items are keys was decided by other noise
        grains, unit = self.scale.as_integer_ratio()

        def chance(count: int, t: int) -> float:
            return float(gaussian.tail(Fraction(grains), (t - count) * unit + unit // 2))

        return Interval(error=self.noise_quantile(confidence), missed=1 - confidence, chance=chance)

    def count_keys(
        self, found: pa.Table, count: Count, random_bytes: RandomBytes
    ) -> list[pa.RecordBatch]:
        """Every key with its noisy count; the keys are known by now, and few enough to hold."""
        keys = ItemTable.of(found)
        counted = count(bound=self.items_per_user, at_least=1, only=[InTable(keys.table)])
        return with_noise_on_each(keys, counted, FractionalGaussian(scale=self.scale), random_bytes)


@dataclass(frozen=True, kw_only=True)
class FractionalGaussian:
    """Gaussian noise in parts of one, rounded to whole ones: the parts are odd, so no halves.

    Attributes:
        scale: The standard deviation; it is drawn in parts of its denominator.
    """

    scale: Fraction

    def sample(self, size: int, random_bytes: RandomBytes) -> npt.NDArray[np.int64]:
        grains, unit = self.scale.as_integer_ratio()
        noise = DiscreteGaussian(scale=Fraction(grains)).sample(size, random_bytes)
        return np.asarray((noise + unit // 2) // unit, np.int64)
