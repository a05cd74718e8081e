"""Noise between two thresholds: what ZEALOUS and its descendants do to a histogram.

Why this is private: one person moves at most M counts by one, where M is m, or 2m if her history
may be replaced by another. Noise hides that. It cannot hide that a rare item exists at all: so
items below tau are not looked at, and one that she alone lifts to tau is published only if its
noise exceeds tau_prime - tau. Delta bounds the chance of that.

Guarantee:
    Every count of at least tau gets its own exact noise, and only what is strictly above tau_prime
    is published, with its noisy count. Nothing else of the counts leaves.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.engines.engine import Counted
from zealous.libraries import np, pa
from zealous.mechanisms.laws import LAPLACE, Noise, NoiseByLaw, NoiseLaw
from zealous.mechanisms.protocol import Count, MechanismDefaults
from zealous.noise import RandomBytes
from zealous.privacy.accounting.exact import ThresholdParameters
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import (
    Neighbors,
    exact_fraction,
    moved_counts,
    positive_integer,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from zealous.record.record import PartRecord


@dataclass(frozen=True, kw_only=True)
class Thresholds(MechanismDefaults, ABC):
    """Counts of at least tau get noise; those strictly above tau_prime are published.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise.
        tau: The first threshold, on true counts: kept where count >= tau.
        tau_prime: The second threshold, on noisy counts: kept where count > tau_prime.
    """

    items_per_user: int
    scale: Fraction
    tau: int
    tau_prime: int

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        return cls(
            items_per_user=positive_integer(part.items_per_user, "items_per_user"),
            scale=exact_fraction(part.exact.scale, "scale"),
            tau=positive_integer(part.tau, "tau"),
            tau_prime=positive_integer(part.tau_prime, "tau_prime"),
        )

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: the kept items with their noisy counts, in no particular order."""
        counted = count(bound=self.items_per_user, at_least=self.tau)
        draw = partial(self._noisy_rows, random_bytes)
        if isinstance(counted, Counted):  # noise is added where the rows are: on a cluster, there
            return list(counted.map_batches(draw))
        return list(map(draw, counted))

    @abstractmethod
    def _noisy_rows(self, random_bytes: RandomBytes, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Of some counted items, those that are published, with their noisy counts."""

    @abstractmethod
    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of `count` >= tau users is published with more than t >= tau'."""

    @abstractmethod
    def noise_quantile(self, confidence: float) -> int:
        """The noise on a count is at most this with such a probability."""

    def deciding_items_per_user(self) -> int | None:
        """Those that count."""
        return self.items_per_user

    def publication_probability(self, count: int) -> float:
        return self.probability_above(count, self.tau_prime) if count >= self.tau else 0.0

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        del lowest, candidates  # the threshold is known
        return Interval(
            error=self.noise_quantile(confidence),
            missed=1 - confidence,
            chance=self.probability_above,
            fewest=self.tau,
            threshold=self.tau_prime,
        )

    def expected_unique_items(self, users: int) -> float:
        return users * (self.items_per_user * self.publication_probability(1))

    def threshold_text(self) -> str:
        """What an item must pass."""
        return f"tau {self.tau}, tau' {self.tau_prime}"

    def parameters(self) -> dict[str, Any]:
        """Scale and thresholds say all."""
        return {}


@dataclass(frozen=True, kw_only=True)
class ThresholdsByLaw(NoiseByLaw, Thresholds):
    """Two thresholds, and between them noise of the `law` that a mechanism names."""

    def _noisy_rows(self, random_bytes: RandomBytes, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Of some counted items, those that are published, with their noisy counts."""
        noisy = with_noise(batch, self.noise_sampler(), random_bytes)
        return select_rows(batch, noisy, noisy > self.tau_prime)

    def probability_above(self, count: int, t: int) -> float:
        """The chance that an item of `count` >= tau users is published with more than t >= tau'."""
        return self.noise_above(t - count)

    def loss(self, neighbors: Neighbors) -> Loss:
        """Items that one person alone lifts to tau may be shown; her other counts shift by one.

        docs/proofs/composition.md says how such losses add up.
        """
        return self.law.accounting.histogram_loss(
            scale=self.scale,
            t=self.tau_prime - self.tau,
            items=self.items_per_user,
            shifts=moved_counts(self.items_per_user, neighbors),
        )


@dataclass(frozen=True, kw_only=True)
class LaplaceThresholds(ThresholdsByLaw):
    """Two thresholds with discrete Laplace noise between them, of which more is proven."""

    law: ClassVar[NoiseLaw] = LAPLACE

    def exact_parameters(self) -> ThresholdParameters:
        """Itself: scale, thresholds and m say all."""
        return self


def with_noise(
    batch: pa.RecordBatch, noise: Noise, random_bytes: RandomBytes
) -> npt.NDArray[np.int64]:
    """The counts of a batch, each with noise of its own."""
    counts = np.from_dlpack(batch["count"])
    return np.asarray(counts + noise.sample(batch.num_rows, random_bytes), np.int64)


def select_rows(
    batch: pa.RecordBatch, counts: npt.NDArray[np.int64], chosen: npt.NDArray[np.bool_]
) -> pa.RecordBatch:
    """Those rows of a batch that are chosen, with other counts."""
    place = batch.schema.get_field_index("count")
    replaced = batch.set_column(place, "count", _array(pa.int64(), counts))
    bits = np.packbits(chosen, bitorder="little")
    return replaced.filter(_array(pa.bool_(), bits, batch.num_rows))


def _array(kind: pa.DataType, values: np.ndarray[Any, Any], size: int | None = None) -> pa.Array:
    """What `pa.array` gives, which would import pandas, and take longer than the noise."""
    length = len(values) if size is None else size
    return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(values)])
