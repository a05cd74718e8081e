"""Weights, lists of items and orders in a second implementation, and logs to try it on.

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
from zealous.counting.bound import Select
from zealous.engines.sql import identifier
from zealous.items import Kind

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
    """What a mechanism may ask for, with lists and orders in which things come twice or as None."""
    some = st.none() | st.lists(item(name), max_size=6)
    count = st.none() | st.integers(-3, 3)
    odd = item(name).map(lambda item: (None, *item[1:]))
    rows = st.lists(st.tuples(item(name) | odd, count), max_size=8)
    order = rows.map(lambda rows: [(*item, count) for item, count in rows])
    weights = st.lists(st.integers(-2, 1000), min_size=5, max_size=7)
    return st.fixed_dictionaries(
        {
            "bound": st.integers(1, 5),
            "at_least": st.integers(0, 3),
            "weights": st.none() | weights,
            "only": some,
            "without": some,
            "steered_by": st.lists(order, max_size=2),
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
    """How items are selected, and what is asked for.

    With ties, with NULLs, with what is listed twice or not at all, and with nothing.
    """
    known = sorted({item for row in rows for item in items(name, row)})
    order = [(*item, None if n % 5 == 0 else n % 3) for n, item in enumerate(known)]
    order += [(*known[0], 2), (*known[0], -1), (None, *known[1][1:], 9)]
    order.append((*("nobody's" for _ in known[0]), 5))
    other = [(*item, len(item[0])) for item in known[::2]]
    weights = [1000, 707, 577]
    base: dict[str, Any] = {"only": None, "without": None, "steered_by": [], "weights": None}
    asked: list[tuple[Select, dict[str, Any]]] = [
        ("random", {"bound": 2, "at_least": 0, "weights": weights}),
        ("first", {"bound": 3, "at_least": 1, "weights": weights, "steered_by": [order[3:]]}),
        ("frequent", {"bound": 2, "at_least": 0, "only": known[::2] * 2, "without": known[:3]}),
        (
            "random",
            {"bound": 2, "at_least": 2, "steered_by": [order, other], "without": known[-1:]},
        ),
        ("first", {"bound": 1, "at_least": 0, "only": [], "steered_by": [[]]}),
    ]
    return [(select, base | how) for select, how in asked]


def tables(kind: Kind, asked: dict[str, Any]) -> dict[str, Any]:
    """The same with its lists as tables."""
    lists = {name: table(kind, asked[name]) for name in ("only", "without")}
    return asked | lists | {"steered_by": [table(kind, rows) for rows in asked["steered_by"]]}


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
    weights: Sequence[int] | None = None,
    only: Collection[Item] | None = None,
    without: Collection[Item] | None = None,
    steered_by: Sequence[Iterable[tuple[Any, ...]]] = (),
) -> Iterator[tuple[str, dict[Item, int]]]:
    """What each user gives, and at which weight; what she has and does not give is there at 0."""
    held: dict[str, dict[Item, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for item in items(name, row):
            held[row.user][item].append(row.time)
    stands: list[dict[Item, int]] = []
    for rows_of_one in steered_by:
        stands.append({})
        for *listed, count in rows_of_one:
            if count is not None:
                stands[-1][tuple(listed)] = max(count, stands[-1].get(tuple(listed), count))

    for user, has in held.items():

        def place(item: Item, user: str = user, has: Any = has) -> tuple[Any, ...]:
            rank = hashlib.md5("|".join([str(key), user, *item]).encode()).hexdigest()
            times = [time for time in has[item] if time is not None]
            own = {"first": min(times, default=10**9), "frequent": -len(has[item])}
            steered = [(item not in each, -each.get(item, 0)) for each in stands]
            return (steered, own.get(select, 0), rank, item)

        left = [each for each in has if only is None or each in only]
        ranked = sorted((each for each in left if each not in (without or ())), key=place)
        weight = weights[min(len(ranked), bound) - 1] if weights else 1
        yield user, {item: weight if n < bound else 0 for n, item in enumerate(ranked)}


def expected(name: str, rows: Iterable[Row], *, at_least: int, **how: Any) -> dict[Item, int]:
    """What is counted."""
    total: Counter[Item] = Counter()
    held: set[Item] = set()
    for _, gives in given(name, rows, **how):
        total.update(gives)
        held |= {item for item in gives if gives[item] or at_least < 1}
    return {item: total[item] for item in held if total[item] >= at_least}


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
