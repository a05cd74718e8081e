"""Discrete Laplace noise that never exceeds a bound."""

import os
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from zealous.errors import UsageError
from zealous.noise.laplace import DiscreteLaplace
from zealous.noise.uniform import Ints, RandomBytes, bernoulli_exp, draws, uniform


@dataclass(frozen=True, kw_only=True)
class TruncatedLaplace:
    """Discrete Laplace noise on condition that |z| <= most: P(z) ~ exp(-|z|/scale), else 0.

    Attributes:
        scale: lambda, exactly.
        most: The largest noise; 0 leaves none.

    Guarantee:
        For every integer z from -most to most - 1, P(z) and P(z + 1) differ by a factor of exactly
        exp(1/scale), and no other value occurs: to the last digit, not up to rounding, if
        `random_bytes` gives independent uniform bytes. Each draw is independent of the others and
        of its position.

    Raises:
        UsageError: The scale is not a positive Fraction, or has too many digits, or `most` is not
            a whole number of at least 0.
    """

    scale: Fraction
    most: int

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled exactly."""
        DiscreteLaplace(scale=self.scale)
        if type(self.most) is not int or self.most < 0:
            raise UsageError("most must be a whole number of at least 0")

    def sample(self, size: int, random_bytes: RandomBytes = os.urandom) -> Ints:
        """Draw independent noise.

        Args:
            size: How many draws.
            random_bytes: Where randomness comes from. Anything but the default is for tests.

        Returns:
            An array of `size` integers.

        Raises:
            UsageError: The size is negative.
            Refused: `random_bytes` is stuck.
        """
        # Both ways are exact. In its own case each accepts more than one candidate in ten,
        # however large or small the scale is; in the other's it might accept hardly any.
        accepted = self._levelled if self.most <= self.scale else self._cut
        return draws(size, lambda candidates: accepted(candidates, random_bytes))

    def _levelled(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Values uniform in -most..most, each accepted with probability exp(-|z|/scale)."""
        z = uniform(2 * self.most + 1, candidates, random_bytes).astype(np.int64) - self.most
        # |z| s <= t, which is what bernoulli_exp asks for, as most <= scale = t/s.
        t, s = self.scale.numerator, self.scale.denominator
        return z[bernoulli_exp(np.abs(z) * s, t, random_bytes)]

    def _cut(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Discrete Laplace noise, without what is beyond the bound."""
        z = DiscreteLaplace(scale=self.scale).accepted(candidates, random_bytes)
        return z[np.abs(z) <= self.most]
