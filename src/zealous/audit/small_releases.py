"""Many small releases: noise that is right in large batches and wrong in small ones.

The packed logs of audit/trials.py draw thousands of noises at once. Here a release has one item, or
three, as a small log has. And where noise goes on all sets that there can be, one of few appears by
it often, and one of many hardly ever. Counting is left out (the counts are given) and all that
follows is the real thing: `draw` with the operating system's randomness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.audit.confidence_bounds import Counts, clopper_pearson_lower, clopper_pearson_upper
from zealous.audit.theorems import Law, noise
from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Each
from zealous.engines.sql import Step
from zealous.items.sets import LAST, PARENT
from zealous.logs.source import Source
from zealous.planning.plan import Plan
from zealous.release.drawing import draw
from zealous.release.provenance import plan_record

RUNS = 500
_SIZES = (1, 3)
_COUNT = 1_000_000  # so far above tau' that nothing is cut
_LEVELS = 5  # noise of -2 or below, -1, 0, 1, 2 or above
_KEY = 7  # always the same: noise has nothing to do with it
TESTS = sum(_LEVELS * size + size for size in _SIZES)  # that `noise_is_exact` makes
_HELD = (0, 1, 0)  # how many have each set of three things
SETS_TESTS = len(_HELD)  # that `sets_appear_as_expected` makes
_WORDS = ("a", "b")
_ASKED = "a b"  # of all queries of these words, the one that somebody asked
QUERIES_TESTS = 2  # that `queries_appear_as_expected` makes
_SETS_RUNS = 200


class _CountedEngine(DuckDB):
    """Stands for an engine that has counted already."""

    def __init__(self, *batches: pa.RecordBatch) -> None:
        super().__init__()
        self._batches_given = batches

    def add_table(self, name: str, table: pa.Table) -> None:
        """Nothing is selected from it."""

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        """What was counted of such columns, whatever the steps."""
        for batch in self._batches_given:
            if all(f'"{name}"' in steps[-1].sql for name in batch.schema.names[:-1]):
                yield each(batch) if each else batch


def noise_is_exact(planned: Plan, alpha: float) -> bool:
    """Whether the noise of small releases has the exact distribution, each for itself.

    Looked at are the noise of each item, whether it equals the next item's, and whether it equals
    that of the release before.

    Args:
        planned: What to draw with.
        alpha: The chance of error of one test.
    """
    law = noise(plan_record(planned)[-1])
    right = level_probabilities(law)
    for size in _SIZES:
        found = np.stack([draw_noise(planned, size) for _ in range(RUNS)])
        for place in range(size):
            levels = np.bincount(np.clip(found[:, place] + 2, 0, _LEVELS - 1), minlength=_LEVELS)
            if not all(
                _is_consistent(int(k), RUNS, p, alpha) for k, p in zip(levels, right, strict=True)
            ):
                return False
        # Pairs of releases share none, so that the comparisons are independent.
        again = (found[::2, 0] == found[1::2, 0]).sum()
        beside = [(found[:, i] == found[:, i + 1]).sum() for i in range(size - 1)]
        for equal, trials in [(again, RUNS // 2), *((each, RUNS) for each in beside)]:
            if not _is_consistent(int(equal), trials, collision_probability(law), alpha):
                return False
    return True


def noise_ignores_the_key(planned: Plan, _: float = 0.0) -> bool:
    """Two releases with the same key, which is published, must not share their noise."""
    one, other = (draw_noise(planned, 100) for _ in range(2))
    return bool((one != other).any())


def sets_appear_as_expected(planned: Plan, alpha: float) -> bool:
    """Whether sets of published things appear as often as the noise on their counts says.

    Those that nobody has too: one that appeared only where somebody has it would tell.

    Args:
        planned: What to draw with.
        alpha: The chance of error of one test.
    """
    law = noise(plan_record(planned)[-1])
    threshold = 0
    while len(_HELD) * law.tail_above(threshold) > 1:
        threshold += 1
    found = np.stack([draw_sets(planned, _HELD) for _ in range(_SETS_RUNS)])
    seen = (~np.isnan(found)).sum(axis=0)
    return all(
        _is_consistent(int(seen[place]), _SETS_RUNS, law.tail_above(threshold - held), alpha)
        for place, held in enumerate(_HELD)
    )


def queries_appear_as_expected(planned: Plan, alpha: float) -> bool:
    """Whether queries of published keywords appear as often as the noise on their counts says.

    Those that nobody asked too, each as often as if it were the only one.

    Args:
        planned: What to draw with.
        alpha: The chance of error of one test.
    """
    part = plan_record(planned)[-1]
    candidates = sum(len(_WORDS) ** words for words in (1, 2, 3))
    law, threshold = noise(part), math.ceil(part.scale * math.log(candidates))
    found = [draw_queries(planned, {_ASKED: 1}) for _ in range(_SETS_RUNS)]
    asked = sum(_ASKED in each for each in found)
    others = sum(map(len, found)) - asked
    return _is_consistent(
        asked, _SETS_RUNS, law.tail_above(threshold - 1), alpha
    ) and _is_consistent(others, _SETS_RUNS * (candidates - 1), law.tail_above(threshold), alpha)


def draw_noise(planned: Plan, items: int) -> Counts:
    """The noise of one release of so many items."""
    (table,) = _draw_tables(planned, _batch(query=_names(items), count=[_COUNT] * items))
    return np.asarray(table.sort_by("query")["count"].to_numpy() - _COUNT, np.int64)


def draw_sets(planned: Plan, held: Sequence[int]) -> npt.NDArray[np.float64]:
    """The noisy counts of the sets of three things, by place; NaN where one is absent."""
    things = _names(len(held))
    pairs = list(combinations(range(len(things)), 2))
    parent, last = zip(*pairs, strict=True)
    single = _batch(item_1=things, count=[_COUNT] * len(things))
    sets = _batch(**{PARENT: parent, LAST: last, "count": held})
    *_, table = _draw_tables(planned, single, sets)
    names, others, counts = (column.to_pylist() for column in table.columns)
    found = {(int(a), int(b)): n for a, b, n in zip(names, others, counts, strict=True)}
    return np.array([found.get(pair, np.nan) for pair in pairs])


def draw_queries(planned: Plan, asked: Mapping[str, int]) -> list[str]:
    """The queries that are published where so many asked some of them."""
    words = _batch(keyword=_WORDS, count=[_COUNT] * len(_WORDS))
    counted = _batch(query=list(asked), count=list(asked.values()))
    public = {"keywords": pa.Table.from_batches([words])}
    *_, table = _draw_tables(planned, words, counted, public=public)
    found: list[str] = table["query"].to_pylist()
    return found


def _names(number: int) -> list[str]:
    return [f"{each:03d}" for each in range(number)]


def _batch(**columns: Sequence[str] | Sequence[int]) -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(each) for name, each in columns.items()})


def _draw_tables(
    planned: Plan, *counted: pa.RecordBatch, public: Mapping[str, pa.Table] | None = None
) -> list[pa.Table]:
    """The tables of one release of what was counted."""
    source = Source(
        engine=_CountedEngine(*counted),
        entries=(),
        rows=0,
        lists=frozenset(),
        roles=frozenset({"user", "query"}),
    )
    tables = draw(planned, source, key=_KEY, public=public)
    return [each.arrow for each in tables.values()]


def level_probabilities(law: Law) -> list[float]:
    """The exact chance of each level of noise."""
    steps = [law.tail_above(z) for z in (-2, -1, 0, 1)]
    return [high - low for high, low in zip([1.0, *steps], [*steps, 0.0], strict=True)]


def collision_probability(law: Law) -> float:
    """The chance that two independent noises are equal."""
    return float((law.chances**2).sum())


def _is_consistent(seen: int, trials: int, chance: float, alpha: float) -> bool:
    """Whether a number of successes is consistent with a chance, but for an error of alpha."""
    return (
        clopper_pearson_lower(seen, trials, alpha / 2)
        <= chance
        <= clopper_pearson_upper(seen, trials, alpha / 2)
    )


class SmallTest(NamedTuple):
    """What is looked at in many small releases.

    Attributes:
        bounds: How many bounds it looks at, each with a chance of error.
        checks: By what must hold, whether it does: for a plan and the chance of error of a bound.
    """

    bounds: int
    checks: Mapping[str, Callable[[Plan, float], bool]]


NOISE = SmallTest(
    TESTS,
    {
        "the noise of small releases is exact": noise_is_exact,
        "the same key does not give the same noise": noise_ignores_the_key,
    },
)
SETS = SmallTest(
    SETS_TESTS, {"sets that nobody has appear as the noise says": sets_appear_as_expected}
)
QUERIES = SmallTest(
    QUERIES_TESTS,
    {"queries that nobody asked appear as the noise says": queries_appear_as_expected},
)
