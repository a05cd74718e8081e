"""What a mechanism is; and ZEALOUS, two thresholds with noise between them.

What a privacy reviewer must read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from zealous.engines.engine import Counted

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from zealous.noise import RandomBytes


class Count(Protocol):
    """Runs bounding and counting on the engine.

    Yields (item..., count) batches: for each item the number of users who kept it when each keeps
    at most `bound` items, where that is at least `at_least`.
    """

    def __call__(self, *, bound: int, at_least: int) -> Iterable[pa.RecordBatch]:
        """Count once."""
        ...


class Mechanism(Protocol):
    """A way to publish counts, ZEALOUS or one's own.

    It may also have `goal`, a `Guarantee`: what it claims for the release of one histogram, which
    `audit.audit_mechanism` tries to refute; and `independent = False`, where the items of a release
    share randomness, as with one random threshold for all.
    """

    @property
    def name(self) -> str:
        """What it is called in tables and reports."""
        ...

    @property
    def items_per_user(self) -> int:
        """m: the most items of one user that it lets count, and so the largest `bound`."""
        ...

    def release(self, count: Count, random_bytes: RandomBytes) -> Iterable[pa.RecordBatch]:
        """Publish: what is yielded, with all columns of what was counted, and nothing else.

        Args:
            count: Counts the log, as often as it is called; each count may see the same users.
            random_bytes: Where randomness comes from: the operating system, or in an experiment
                a source that repeats itself.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Zealous:
    """The paper's algorithm.

    Guarantee:
        With scale, tau and tau_prime from `calibrate` the published rows satisfy the guarantee
        they were calibrated for: an item with fewer than tau users never appears, every other
        count gets its own exact discrete Laplace noise, and an item appears only where its noisy
        count is strictly above tau_prime. Nothing else of the counts leaves.

    Attributes:
        items_per_user: m.
        scale: lambda, the scale of the noise.
        tau: The first threshold, on true counts: kept where count >= tau.
        tau_prime: The second threshold, on noisy counts: kept where count > tau_prime.
    """

    items_per_user: int
    scale: Fraction
    tau: int
    tau_prime: int

    name: ClassVar[str] = "zealous"
    noise: ClassVar[str] = "discrete-laplace"

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: the kept items with their noisy counts, in no particular order."""
        counted = count(bound=self.items_per_user, at_least=self.tau)
        draw = partial(self._draw, random_bytes)
        return list(counted.through(draw) if isinstance(counted, Counted) else map(draw, counted))

    def _draw(self, random_bytes: RandomBytes, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Of some counted items, those that are published."""
        import numpy as np
        import pyarrow as pa

        from zealous.noise import DiscreteLaplace

        noise = DiscreteLaplace(scale=self.scale)
        counts = np.from_dlpack(batch["count"])
        noisy = counts + noise.sample(batch.num_rows, random_bytes)
        replaced = batch.set_column(
            batch.schema.get_field_index("count"), "count", _array(pa.int64(), noisy)
        )
        kept = np.packbits(noisy > self.tau_prime, bitorder="little")
        return replaced.filter(_array(pa.bool_(), kept, batch.num_rows))


def _array(kind: pa.DataType, values: np.ndarray[Any, Any], size: int | None = None) -> pa.Array:
    """What `pa.array` gives, which would import pandas, and take longer than the noise."""
    import pyarrow as pa

    length = len(values) if size is None else size
    return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(values)])
