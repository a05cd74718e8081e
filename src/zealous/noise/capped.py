"""Discrete Laplace noise that never exceeds a bound.

Guarantee:
    Exactly the law of discrete Laplace noise on condition that it does not exceed the cap.
"""

from dataclasses import dataclass
from fractions import Fraction

from zealous.noise.laplace import DiscreteLaplace
from zealous.noise.uniform import Ints, RandomBytes, Rejection


@dataclass(frozen=True, kw_only=True)
class CappedLaplace(Rejection):
    """Discrete Laplace noise on condition that it is at most `most`: P(z) ~ exp(-|z|/scale).

    Attributes:
        scale: lambda, exactly.
        most: The largest noise, 0 or more: at least every other candidate is then accepted.

    Guarantee:
        For every integer z below `most`, P(z) and P(z + 1) differ by a factor of exactly
        exp(1/scale), and no larger value occurs: to the last digit, not up to rounding, if
        `random_bytes` gives independent uniform bytes. Each draw is independent of the others and
        of its position.
    """

    scale: Fraction
    most: int

    def accepted(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Candidates of the noise without the bound; those beyond it are left out."""
        noise = DiscreteLaplace(scale=self.scale).accepted(candidates, random_bytes)
        return noise[noise <= self.most]
