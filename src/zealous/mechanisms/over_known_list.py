"""Laplace noise on the counts of a known list: epsilon covers all of it, and no delta is needed.

Guarantee:
    The noise of the counts that one user moves is covered by epsilon: scale >= M/epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.errors import UsageError
from zealous.mechanisms.laws import LAPLACE, NoiseByLaw, NoiseLaw
from zealous.mechanisms.protocol import MechanismDefaults
from zealous.privacy.calibrate import scale_for
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import (
    Guarantee,
    Neighbors,
    exact_fraction,
    moved_counts,
    positive_integer,
)

if TYPE_CHECKING:
    from zealous.record.record import PartRecord


@dataclass(frozen=True, kw_only=True)
class KnownListMechanism(NoiseByLaw, MechanismDefaults):
    """What the mechanisms that count over a known list share.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise.

    `law`, `calibrate`, `delta` and `loss` are those of discrete Laplace noise: a mechanism of
    another law has all four of its own.

    Guarantee:
        epsilon-differential privacy if scale >= M/epsilon, where each candidate of the list gets
        noise of its own and the list follows from what is public or was published.
    """

    items_per_user: int
    scale: Fraction

    law: ClassVar[NoiseLaw] = LAPLACE
    pure: ClassVar[bool] = True
    tau: ClassVar[int] = 0
    tau_prime: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        positive_integer(self.items_per_user, "items_per_user")
        if not isinstance(self.scale, Fraction) or self.scale <= 0:
            raise UsageError("scale must be a positive fractions.Fraction: floats are not exact")

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The least noise that epsilon allows; delta is not used."""
        m = positive_integer(items_per_user, "items_per_user")
        return cls(items_per_user=m, scale=scale_for(goal, m))

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it; the list is not in there."""
        return cls(
            items_per_user=positive_integer(part.items_per_user, "items_per_user"),
            scale=exact_fraction(part.exact.scale, "scale"),
        )

    def delta(self, goal: Guarantee) -> Fraction:
        """0 where epsilon is at least M/scale; 1 below, where nothing is proven."""
        covered = goal.moved_counts(self.items_per_user) <= goal.epsilon * self.scale
        return Fraction(0) if covered else Fraction(1)

    def loss(self, neighbors: Neighbors) -> Loss:
        """The counts of a known list shift, and nothing is exposed."""
        return Loss(shifts=moved_counts(self.items_per_user, neighbors), rate=1 / self.scale)

    def parameters(self) -> dict[str, Any]:
        """The scale says all."""
        return {}
