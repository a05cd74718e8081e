"""What every log of small worlds counts of sets, and what one person moves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from set_worlds import (
    _KINDS,
    LOUD,
    MOST,
    THREE,
    TWO,
    Counted,
    Log,
    World,
    _Given,
    _lists,
    _written,
    sets_counted,
)
from tiny_worlds import NEIGHBORS

from zealous.engines.duckdb import DuckDB
from zealous.logs.log import Columns, read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import Indistinguishability, Neighbors
from zealous.release.drawing import draw


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


def expected(log: Log, order: str) -> Counted:
    """Each person's best published things, and those of them that she has in one basket."""
    ones = dict.fromkeys(order, 0)
    twos = {"".join(pair): 0 for pair in itertools.combinations(sorted(order), 2)}
    for held in log:
        hers = [thing for thing in order if any(thing in basket for basket in held)][:MOST]
        for thing in hers:
            ones[thing] += 1
        for pair in itertools.combinations(sorted(hers), 2):
            twos["".join(pair)] += any(set(pair) <= set(basket) for basket in held)
    return Counted(*(tuple(sorted(each.items())) for each in (ones, twos)))


@pytest.mark.parametrize("world", [TWO, THREE], ids=["two things", "three things"])
def test_everybody_counts_with_her_best_published_things(world: World, folder: Path) -> None:
    """All that can be made of published things gets noise, and nothing else does."""
    for (log, order), counted in sets_counted(world, folder).items():
        assert counted == expected(log, order), (log, order)


def test_the_same_count_is_an_order_too(folder: Path) -> None:
    """The one of their names: nothing of the log decides between things of the same count."""
    for (log, order), counted in sets_counted(THREE, folder, ties=True).items():
        assert counted == expected(log, "".join(sorted(order))), (log, order)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("world", [TWO, THREE], ids=["two things", "three things"])
def test_one_person_moves_as_many_sets_as_she_may(
    world: World, neighbors: Neighbors, folder: Path
) -> None:
    counted, most = sets_counted(world, folder), 0
    for log in world.logs():
        for other, order in itertools.product(world.neighbours(log, neighbors), world.orders()):
            tables = zip(counted[log, order], counted[other, order], (MOST, 1), strict=True)
            for one, two, bound in tables:
                assert [item for item, _ in one] == [item for item, _ in two]
                moved = [a - b for (_, a), (_, b) in zip(one, two, strict=True) if a != b]
                assert set(moved) <= {-1, 1}
                assert max(moved.count(1), moved.count(-1)) <= bound
                assert neighbors == "replace" or len(set(moved)) <= 1
                most = max(most, len(moved))
    assert most == (3 if neighbors == "replace" and world is THREE else 2)  # no bound is idle


@pytest.mark.parametrize("mechanism", [OfSmaller, OfSmallerGaussian])
def test_sets_of_which_a_thing_is_low_are_left_out(
    mechanism: type[OfSmaller], folder: Path
) -> None:
    """By what was published of it alone, and to the last count; the others have less to pass."""
    _written(THREE, folder / "low.csv", [(0, (("abc",), ("ab",)))])
    goal = Indistinguishability(epsilon=1, delta="0.1")
    twos = mechanism(items_per_user=1, scale=Fraction(4))
    first, then = twos.threshold(3), twos.threshold(1)
    assert first > then + 1

    def shown(counts: Sequence[int], noise: int) -> list[tuple[str, str, int]]:
        names = [f"00000{thing}" for thing in "abc"]
        tables = [
            pa.table({"item_1": names, "count": pa.array(each, pa.int64())})
            for each in ([9, 8, 7], counts)
        ]
        drawn_by: list[Any] = [*map(_Given, tables), twos]
        parts = tuple(
            Part(kind=kind, goal=goal, mechanism=each, delta=Fraction(0))
            for kind, each in zip(_KINDS, drawn_by, strict=True)
        )
        source_of = mock.Mock(sample=lambda size, _: np.full(size, noise))
        known = mock.patch.object(mechanism, "noise_sampler", return_value=source_of)
        with DuckDB() as engine, known:
            log = read_log(folder / "low.csv", columns=Columns(user="user"))
            source = open_log(log, engine, ["item", "basket"])
            drawn = draw(Plan(goal=goal, parts=parts, select="frequent"), source, key=5)
        rows = zip(*_lists(drawn[_KINDS[2].name()].arrow), strict=True)
        return sorted((one[-1], two[-1], count) for one, two, count in rows)

    # Two people have a and b; c is nobody's best, and its sets are candidates all the same.
    every = [("a", "b", LOUD + 2), ("a", "c", LOUD), ("b", "c", LOUD)]
    assert shown([first + 1] * 3, LOUD) == every
    assert shown([first + 1, first + 1, first], LOUD) == every[:1]
    assert shown([first, LOUD, LOUD], LOUD) == every[2:]
    assert shown([first, first, LOUD], LOUD) == []
    assert shown([first + 1, first + 1, first], then - 1) == [("a", "b", then + 1)]
    assert shown([first + 1, first + 1, first], then - 2) == []
    assert shown([first + 1] * 3, first - 2) == []
