"""Bounding and lists of items in a second implementation, and logs to try it on.

Texts are normal already, so that an item is what its row says. The rank key is md5.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import zealous as z
from zealous.counting.restriction import InTable
from zealous.engines.engine import Stored
from zealous.engines.sql import Step, identifier
from zealous.items import Kind
from zealous.privacy.units import Select

Item = tuple[str, ...]
PLACE = 'the "place" is'  # a column's name


class Row(NamedTuple):
    user: str
    query: str
    time: int | None  # seconds
    urls: tuple[str, ...]
    place: str
    weight: str


KINDS: dict[str, Kind] = {
    "queries": z.queries(9),
    "query-clicks": z.query_clicks(9),
    "queries by place": z.queries(9, by=PLACE),
    "columns": z.columns(PLACE, "weight", items_per_user=9),
}
TEXTS = ["a", "it's", 'say "é"', "100%", "日本", "b_\\", "%s {x}", "$1 🙂"]
URLS = ["x", "y'", "%z"]

logs = st.lists(
    st.builds(
        Row,
        user=st.sampled_from(["u1", "u2", "u3", "it's", "%"]),
        query=st.sampled_from(TEXTS),
        time=st.none() | st.integers(0, 3),
        urls=st.lists(st.sampled_from(URLS), max_size=2).map(tuple),
        place=st.sampled_from(TEXTS[:4]),
        weight=st.sampled_from(["1", "2"]),
    ),
    max_size=20,
)


def items(name: str, row: Row) -> list[Item]:
    if name == "query-clicks":
        return [(row.query, url) for url in row.urls]
    return [
        {
            "queries": (row.query,),
            "queries by place": (row.query, row.place),
            "columns": (row.place, row.weight),
        }[name]
    ]


def item(name: str) -> st.SearchStrategy[Item]:
    """Items of a kind, which somebody may have."""
    row = st.tuples(st.sampled_from(TEXTS), st.sampled_from(URLS), st.sampled_from(["1", "2"]))
    return row.map(
        lambda row: {
            "queries": (row[0],),
            "query-clicks": row[:2],
            "queries by place": (row[0], TEXTS[len(row[1]) - 1]),
            "columns": (TEXTS[len(row[1])], row[2]),
        }[name]
    )


def asked(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a mechanism may ask for, with lists in which things come twice."""
    return st.fixed_dictionaries(
        {
            "bound": st.integers(1, 5),
            "at_least": st.integers(1, 3),
            "only": st.none() | st.lists(item(name), max_size=6),
        }
    )


def many(number: int) -> list[Row]:
    """Users with some items of those that all share."""
    chance = random.Random(number)
    return [
        Row(
            user=f"u{chance.randrange(number // 8)}",
            query=chance.choice([*TEXTS, "a 日本", "a b_\\"]),
            time=chance.choice([None, 0, 1, 2, 3]),
            urls=tuple(chance.sample(URLS, chance.randrange(3))),
            place=chance.choice(TEXTS[:4]),
            weight=chance.choice("12"),
        )
        for _ in range(number)
    ]


def cases(name: str, rows: Iterable[Row]) -> list[tuple[Select, dict[str, Any]]]:
    """How items are selected, and what is asked for: also what is listed twice, and nothing."""
    known = sorted({item for row in rows for item in items(name, row)})
    return [
        ("random", {"bound": 2, "at_least": 1, "only": None}),
        ("first", {"bound": 3, "at_least": 2, "only": None}),
        ("frequent", {"bound": 2, "at_least": 1, "only": known[::2] * 2}),
        ("first", {"bound": 1, "at_least": 1, "only": []}),
    ]


def tables(kind: Kind, asked: dict[str, Any]) -> dict[str, Any]:
    """The same with its list as a restriction."""
    listed = table(kind, asked["only"])
    return asked | {"only": [] if listed is None else [InTable(listed)]}


def table(kind: Kind, rows: Iterable[tuple[Any, ...]] | None) -> pa.Table | None:
    if rows is None:
        return None
    rows = list(rows)
    names = [*kind.columns(), "count"] if rows and len(rows[0]) > len(kind.columns()) else None
    names = names or list(kind.columns())
    columns = {
        name: pa.array([row[n] for row in rows], pa.int64() if name == "count" else pa.string())
        for n, name in enumerate(names)
    }
    return pa.table(columns if rows else columns | {"count": pa.array([], pa.int64())})


def given(
    name: str,
    rows: Iterable[Row],
    *,
    key: int,
    bound: int,
    select: Select = "random",
    only: Collection[Item] | None = None,
) -> Iterator[tuple[str, list[Item]]]:
    """What each user gives."""
    held: dict[str, dict[Item, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for item in items(name, row):
            held[row.user][item].append(row.time)
    for user, has in held.items():

        def place(item: Item, user: str = user, has: Any = has) -> tuple[Any, ...]:
            rank = hashlib.md5("|".join([str(key), user, *item]).encode()).hexdigest()
            times = [time for time in has[item] if time is not None]
            own = {"first": min(times, default=10**9), "frequent": -len(has[item])}
            return (own.get(select, 0), rank, item)

        left = [each for each in has if only is None or each in only]
        yield user, sorted(left, key=place)[:bound]


def expected(name: str, rows: Iterable[Row], *, at_least: int, **how: Any) -> dict[Item, int]:
    """What is counted."""
    total = Counter(item for _, gives in given(name, rows, **how) for item in gives)
    return {item: number for item, number in total.items() if number >= at_least}


def md5_rank(_: object, key: int, columns: Sequence[str]) -> str:
    """SQL, in place of an engine's rank key."""
    return f"md5('{key}|' || " + " || '|' || ".join(map(identifier, columns)) + ")"


def write(path: Path, rows: Sequence[Row]) -> Path:
    times = [None if row.time is None else row.time * 10**6 for row in rows]
    columns = {
        "user": pa.array([row.user for row in rows], pa.string()),
        "query": pa.array([row.query for row in rows], pa.string()),
        "time": pa.array(times, pa.timestamp("us")),
        "urls": pa.array([list(row.urls) for row in rows], pa.list_(pa.string())),
        PLACE: pa.array([row.place for row in rows], pa.string()),
        "weight": pa.array([row.weight for row in rows], pa.string()),
    }
    pq.write_table(pa.table(columns), path)
    return path


def found(batches: Iterable[pa.RecordBatch]) -> dict[Item, int]:
    """What was counted, each item once."""
    counts: dict[Item, int] = {}
    for batch in batches:
        for row in batch.to_pylist():
            count = row.pop("count")
            item = tuple(row.values())
            assert item not in counts
            counts[item] = count
    return counts


def rows_of(stored: Stored) -> Iterator[pa.RecordBatch]:
    """All that is stored."""
    return stored.engine.batches([Step("stored_rows", f"select * from {stored.name}")])
