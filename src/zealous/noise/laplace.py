"""Discrete Laplace noise.

Guarantee:
    Exactly the discrete Laplace law, by integer arithmetic on random bytes; no float decides.
"""

from dataclasses import dataclass
from fractions import Fraction

from zealous.errors import UsageError
from zealous.libraries import np
from zealous.noise.uniform import (
    LARGEST_TERM,
    Ints,
    RandomBytes,
    Rejection,
    bernoulli_exp,
    check_scale,
    geometric,
    uniform,
)


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(Rejection):
    """Discrete Laplace (two-sided geometric) noise: P(z) = (1-a)/(1+a) a^|z|, a = exp(-1/scale).

    Attributes:
        scale: lambda, exactly.

    Guarantee:
        For every integer z, P(z) and P(z + 1) differ by a factor of exactly exp(1/scale), which is
        what the theorems behind privacy/calibrate.py rest on. It holds to the last digit, not up to
        rounding, if `random_bytes` gives independent uniform bytes. Each draw is independent of the
        others and of its position.

    Raises:
        UsageError: The scale is not a positive Fraction, or has too many digits.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        check_scale(self.scale)
        if max(self.scale.numerator, self.scale.denominator) > LARGEST_TERM:
            raise UsageError(
                "scale has too many digits for exact 64-bit arithmetic: its numerator and "
                "denominator may not exceed 2^48; give epsilon with fewer digits"
            )

    def accepted(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Algorithm 2, once for each candidate; those it would restart are left out."""
        t, s = self.scale.numerator, self.scale.denominator
        u = uniform(t, candidates, random_bytes)
        u = u[bernoulli_exp(u, t, random_bytes)]
        # x = u + t v is geometric, P(x) ~ exp(-x/t): u is its remainder by t, v its quotient.
        v = geometric(u.size, random_bytes)
        magnitude = (u.astype(np.int64) + t * v) // s
        negative = uniform(2, u.size, random_bytes).astype(np.bool_)
        noise = np.where(negative, -magnitude, magnitude)
        # Zero has one sign only, or it would come twice as often as it should.
        return noise[~negative | (magnitude > 0)]
