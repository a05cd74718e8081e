"""Discrete Gaussian noise.

Guarantee:
    Exactly the discrete Gaussian law, by integer arithmetic on random bytes; no float decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from zealous.errors import UsageError
from zealous.libraries import np
from zealous.noise.laplace import DiscreteLaplace
from zealous.noise.uniform import (
    LARGEST_TERM,
    Ints,
    RandomBytes,
    Rejection,
    bernoulli_exp,
    check_scale,
    geometric,
)

if TYPE_CHECKING:
    import numpy.typing as npt

# No overflow, with sigma = p/r: p is at most 2^23, so 2 p^2 is at most 2^47, a term bernoulli_exp
# can take; and a distance is cut at 2^8 p, so its square is at most 2^62.
_LARGEST_NUMERATOR = 1 << 23
_FARTHEST = 1 << 8


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Rejection):
    """Discrete Gaussian noise: P(z) ~ exp(-z^2 / (2 scale^2)) for every integer z.

    Attributes:
        scale: sigma, exactly. The standard deviation is below it, by very little where sigma > 1.

    Guarantee:
        For all integers y and z, P(y) and P(z) differ by a factor of exactly
        exp((y^2 - z^2) / (2 scale^2)): to the last digit, not up to rounding, if `random_bytes`
        gives independent uniform bytes. Each draw is independent of the others and of its
        position.

    Raises:
        UsageError: The scale is not a positive Fraction, or has too many digits.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        check_scale(self.scale)
        numerator, denominator = self.scale.as_integer_ratio()
        if numerator > _LARGEST_NUMERATOR or denominator > LARGEST_TERM:
            raise UsageError(
                "scale has too many digits for exact 64-bit arithmetic: its numerator may not "
                "exceed 2^23, nor its denominator 2^48; round sigma up to a coarser fraction"
            )

    def accepted(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Algorithm 3, once for each proposal of Laplace noise of the same scale."""
        y = DiscreteLaplace(scale=self.scale).accepted(candidates, random_bytes)
        return y[_accept(y, self.scale, random_bytes)]


def _accept(y: Ints, scale: Fraction, random_bytes: RandomBytes) -> npt.NDArray[np.bool_]:
    """Algorithm 3: true with probability exp(-(|y| - sigma)^2 / (2 sigma^2)), for each y.

    A proposal came with a probability ~ exp(-|y|/sigma), and the two exponents add up to
    -y^2/(2 sigma^2) - 1/2. The paper proposes with the next integer above sigma, which needs
    larger numbers here: a scale of sigma itself leaves (|y| r - p)^2 / (2 p^2) for sigma = p/r.
    """
    p, r = scale.numerator, scale.denominator
    # |y| r <= u + p v as in DiscreteLaplace, so this cannot overflow. The cut changes nothing:
    # from there on `whole` is at least 2^15, and `geometric` never gives more than 2^12.
    distance = np.minimum(np.abs(np.abs(y) * r - p), _FARTHEST * p)
    square, unit = distance * distance, 2 * p * p
    result = np.ones(y.size, np.bool_)
    # exp(-whole - rest/unit) is the product of two coins. Most slots have no whole part.
    beyond = np.flatnonzero(square >= unit)
    whole = square[beyond] // unit
    square[beyond] -= whole * unit
    result[beyond] = geometric(beyond.size, random_bytes) >= whole
    left = np.flatnonzero(result)
    result[left] = bernoulli_exp(square[left], unit, random_bytes)
    return result
