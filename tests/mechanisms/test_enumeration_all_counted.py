"""What one person moves in every table that is made of published ones."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from set_worlds import (
    LOUD,
    _lists,
)

from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind, itemsets, sequences, tail
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.choose import choose_mechanism
from zealous.noise import DiscreteLaplace
from zealous.privacy.guarantee import ProbabilisticDP


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


def _released() -> dict[str, pa.Table]:
    """What was published before: things of equal counts, and words in an order of their own."""

    def table(columns: Sequence[str], counts: Mapping[str, int]) -> pa.Table:
        split = [name.split("|") for name in counts]
        texts = {
            name: list(each) for name, each in zip(columns, zip(*split, strict=True), strict=True)
        }
        return pa.table({**texts, "count": pa.array(list(counts.values()), pa.int64())})

    things = dict.fromkeys("abcde", 9_000)  # far above what noise reaches
    pairs = {f"{one}|{two}": 7_000 for one, two in itertools.combinations("abcde", 2)}
    steps = {f"{one}|{two}": 7_000 for one, two in itertools.product("abcd", repeat=2)}
    words = {"red": 50, "wine": 40, "cheap": 40, "how": 40, "to": 30, "buy": 30, "today": 20}
    phrases = {
        "red wine": 9,
        "cheap red": 9,
        "wine cheap": 9,
        "how to": 8,
        "to buy": 8,
        "buy red": 8,
        "wine today": 2,
    }
    return {
        "things:item": table(["item_1"], things),
        "itemsets-1:item": table(["item_1"], things),
        "itemsets-2:item": table(["item_1", "item_2"], pairs),
        "sequences-1:item": table(["item_1"], things),
        "sequences-2:item": table(["item_1", "item_2"], steps),
        "queries": table(["query"], {"red wine": 90}),
        "keywords": table(["keyword"], words),
        "ngrams-2": table(["phrase"], phrases),
        "ngrams-3": table(["phrase"], {"cheap red wine": 5, "how to buy": 5, "to buy red": 4}),
    }


UNDECIDED = 6  # people who have more than they may count with


def _people() -> dict[str, list[str]]:
    """Lines of query, item, basket and day; `many` has much, and `tips` decides what is popular."""
    many = [
        f"{query},{item},{basket},{day}"
        for day, (query, basket) in enumerate(
            itertools.product(
                (
                    "how to buy red wine cheap",
                    "buy red wine today",
                    "Cheap red wine today?",
                    "to buy",
                    "what is cheap red wine cheap red wine",
                    "blue cheese",
                ),
                "123",
            ),
            1,
        )
        for item in "abcdef"
    ]
    some = [
        "red wine,a,1,1",
        "cheap red wine,b,1,1",
        "how to buy wine,c,1,2",
        "blue cheese,d,2,2",
        "red wine cheap,b,3,3",
        "to buy red,c,3,3",
        "wine today,a,4,4",
    ]
    undecided = {f"u{number}": some for number in range(UNDECIDED)}
    return {**undecided, "many": many, "tips": ["blue cheese,c,1,1", "cheap red wine,c,2,2"]}


def _kinds() -> dict[str, Kind]:
    people, _, *sets = itemsets("item", max_size=3, items_per_user=3, basket="basket")
    found = [
        people,
        *sets,
        *sequences("item", max_size=3, items_per_user=3, basket="basket")[2:],
        *tail(2),
    ]
    loose = itemsets("item", max_size=3, items_per_user=3)[2:]
    timed = sequences("item", max_size=2, items_per_user=2)[3:]
    named = {kind.name(): kind for kind in found}
    return named | {f"{kind.name()}, no basket": kind for kind in [*loose, *timed]}


@cache
def all_counted(folder: Path, without: str) -> dict[str, dict[tuple[str, ...], int]]:
    """All that there can be of each kind, with how many people count for it."""
    path = folder / f"without-{without}.csv"
    lines = (
        f"{user},{line[:-2]},2026-03-{int(line.rpartition(',')[2]):02d} 10:00\n"
        for user, hers in _people().items()
        for line in hers
        if user != without
    )
    path.write_text("user,query,item,basket,time\n" + "".join(lines))
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=100)
    loud = mock.patch.object(DiscreteLaplace, "sample", lambda _, size, __: np.full(size, LOUD))
    found: dict[str, dict[tuple[str, ...], int]] = {}
    with DuckDB() as engine, loud:
        source = open_log(read_log(path), engine, ["item", "basket"])
        for name, kind in _kinds().items():
            kind = kind.with_inputs(_released()) if kind.builds_on() else kind
            drawn_by, _ = choose_mechanism(None, goal, kind, None)
            mechanism, known = drawn_by.calibrate(goal, kind.items_per_user), kind.known_items()
            if known is not None:
                mechanism = mechanism.with_inputs(known)
            count: Any = partial(histogram, kind, source, select="random", key=3)
            batches = map(kind.as_published, mechanism.release(count, os.urandom))
            rows = [row for batch in batches for row in zip(*_lists(batch), strict=True)]
            found[name] = {row[:-1]: row[-1] - LOUD for row in rows}
            assert len(found[name]) == len(rows), "an item is there twice"
    return found


@pytest.mark.parametrize("without", ["tips", "many"])
def test_one_person_moves_as_many_counts_as_she_may(without: str, folder: Path) -> None:
    everybody, others = (all_counted(folder, each) for each in ("nobody", without))
    for name, kind in _kinds().items():
        assert sum(everybody[name].values()) > 0, f"{name}: nobody has any"
        if kind.known_items() is not None or kind.builds_on():
            assert everybody[name].keys() == others[name].keys(), name
        moved = [n - others[name].get(item, 0) for item, n in everybody[name].items()]
        assert set(moved) <= {0, 1}, name
        assert sum(moved) <= kind.items_per_user, name
        if without == "many" and name != "people":
            assert sum(moved) == kind.items_per_user, name  # the bound is what holds her


def test_nobody_counts_for_more_than_one_fact(folder: Path) -> None:
    people = len(_people())
    for name in ("lengths", "questions", "scripts", "hours", "with-keywords"):
        assert sum(all_counted(folder, "nobody")[name].values()) == people
