"""Laws of noise: the exact sampler of each (noise/), and its figures (privacy/accounting/).

A mechanism names its law once. What it draws, what it says in release.json, its forecasts and its
delta then follow from that law, and cannot be of different ones. Noise that depends on more than a
scale is no such law: `selection` caps Laplace noise at its threshold, and draws it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol

from zealous.noise import DiscreteGaussian, DiscreteLaplace, RandomBytes
from zealous.privacy.accounting import gaussian, laplace
from zealous.privacy.accounting.law import Accounting

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Noise(Protocol):
    """Draws exact integer noise."""

    def sample(self, size: int, random_bytes: RandomBytes) -> npt.NDArray[np.int64]:
        """Independent draws."""


@dataclass(frozen=True, kw_only=True)
class NoiseLaw:
    """A law of noise.

    Attributes:
        name: What it is called in release.json.
        sampler: Draws it, at a scale.
        accounting: Its figures, at a scale.
    """

    name: str
    sampler: Callable[[Fraction], Noise]
    accounting: Accounting


def _laplace_sampler(scale: Fraction) -> Noise:
    return DiscreteLaplace(scale=scale)


def _gaussian_sampler(scale: Fraction) -> Noise:
    return DiscreteGaussian(scale=scale)


LAPLACE = NoiseLaw(name="discrete-laplace", sampler=_laplace_sampler, accounting=laplace)
GAUSSIAN = NoiseLaw(name="discrete-gaussian", sampler=_gaussian_sampler, accounting=gaussian)


class NoiseByLaw:
    """What follows from the law of a mechanism's noise.

    Attributes:
        law: The law, which each mechanism names once.
        scale: Its scale.
    """

    law: ClassVar[NoiseLaw]
    scale: Fraction

    @property
    def noise_law(self) -> str:
        return self.law.name

    def noise_sampler(self) -> Noise:
        """Draws its noise, at its scale."""
        return self.law.sampler(self.scale)

    def noise_above(self, t: int) -> float:
        """The chance that the noise is above t."""
        return self.law.accounting.chance_above(self.scale, t)

    def noise_quantile(self, confidence: float) -> int:
        return self.law.accounting.quantile(self.scale, confidence)
