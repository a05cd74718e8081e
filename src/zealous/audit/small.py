"""Many small releases: noise that is right in large batches and wrong in small ones.

The packed logs of trials.py draw thousands of noises at once. Here a release has one item, or
three, as a small log has. Counting is left out (the counts are given) and all that follows is the
real thing: `draw` with the operating system's randomness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from zealous.audit.neighbours import Setting
from zealous.audit.statistics import Counts, at_least, at_most
from zealous.audit.theorems import Law, noise
from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Each
from zealous.engines.sql import Step
from zealous.plan import Plan, figures
from zealous.publish import draw
from zealous.source import Source

RUNS = 500
_SIZES = (1, 3)
_COUNT = 1_000_000  # so far above tau' that nothing is cut
_LEVELS = 5  # noise of -2 or below, -1, 0, 1, 2 or above
_KEY = 7  # always the same: noise has nothing to do with it
TESTS = sum(_LEVELS * size + size for size in _SIZES)  # that `noise_is_exact` makes


class _Given(DuckDB):
    """Stands for an engine that has counted already."""

    def __init__(self, items: int) -> None:
        super().__init__()
        names = [f"{number:03d}" for number in range(items)]
        self._batch = pa.record_batch({"query": names, "count": [_COUNT] * items})

    def put(self, name: str, table: pa.Table) -> None:
        """Nothing is selected from it."""

    def keep(self, name: str, steps: Sequence[Step], each: Each) -> None:
        """Nor from what steers: all weights are given too."""

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        """What was counted, whatever the steps."""
        del steps
        yield each(self._batch) if each else self._batch


def noise_is_exact(setting: Setting, alpha: float) -> bool:
    """Whether the noise of small releases has the exact distribution, each for itself.

    Looked at are the noise of each item, whether it equals the next item's, and whether it equals
    that of the release before.

    Args:
        setting: Whose plan to draw with.
        alpha: The chance of error of one test.
    """
    (part,) = setting.planned.parts
    law = noise(figures(part))
    right = probabilities(law)
    for size in _SIZES:
        found = np.stack([drawn(setting.planned, size) for _ in range(RUNS)])
        for place in range(size):
            levels = np.bincount(np.clip(found[:, place] + 2, 0, _LEVELS - 1), minlength=_LEVELS)
            if not all(_fits(int(k), RUNS, p, alpha) for k, p in zip(levels, right, strict=True)):
                return False
        # Pairs of releases share none, so that the comparisons are independent.
        again = (found[::2, 0] == found[1::2, 0]).sum()
        beside = [(found[:, i] == found[:, i + 1]).sum() for i in range(size - 1)]
        for equal, trials in [(again, RUNS // 2), *((each, RUNS) for each in beside)]:
            if not _fits(int(equal), trials, collision(law), alpha):
                return False
    return True


def noise_ignores_the_key(setting: Setting) -> bool:
    """Two releases with the same key, which is published, must not share their noise."""
    one, other = (drawn(setting.planned, 100) for _ in range(2))
    return bool((one != other).any())


def drawn(planned: Plan, items: int) -> Counts:
    """The noise of one release of so many items."""
    source = Source(engine=_Given(items), entries=(), rows=0, roles=frozenset({"user", "query"}),
                    lists=frozenset())  # fmt: skip
    (table,) = draw(planned, source, select="random", key=_KEY).values()
    by_name = table.arrow.sort_by("query")["count"].to_numpy()
    return np.asarray(by_name - _COUNT, np.int64)  # by place in what was counted


def probabilities(law: Law) -> list[float]:
    """The exact chance of each level of noise."""
    steps = [law.above(z) for z in (-2, -1, 0, 1)]
    return [high - low for high, low in zip([1.0, *steps], [*steps, 0.0], strict=True)]


def collision(law: Law) -> float:
    """The chance that two independent noises are equal."""
    return float((law.chances**2).sum())


def _fits(seen: int, trials: int, chance: float, alpha: float) -> bool:
    """Whether a number of successes is consistent with a chance, but for an error of alpha."""
    return at_least(seen, trials, alpha / 2) <= chance <= at_most(seen, trials, alpha / 2)
