"""Units of privacy: whether those of different people and days have different names."""

from __future__ import annotations

import itertools
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import zealous as z
from zealous.engines.engine import Engine
from zealous.engines.sql import Step
from zealous.logs.open_log import open_log
from zealous.privacy.guarantee import Unit

USERS = [*map("".join, itertools.product("1: a", repeat=2)), "1", "a", "11", "1:a", "2:a1"]
MOMENTS = [datetime(year, 3, 1, hour) for year in (1, 999, 1969, 2026, 9998) for hour in (1, 9)]
USERS += [f"a {each:%Y-%m-%d}" for each in MOMENTS]
USERS += ["a -17", "a 1772319600000000", "a 17723196000000001", "a1"]
# Times of which one has the digits of the other, but for the first, which an id may end with.
BEGUN = [datetime(1970, 1, 1) + timedelta(seconds=number) for number in (1772319600, 772319600)]
PAIRS: dict[str, tuple[Unit, list[Any]]] = {
    "sessions": ("session", [*itertools.product(USERS, [*USERS, " a", "a "])]),
    "numbers": (
        "session",
        [*itertools.product(range(-9, 130), ["0", "1", "11", "129", ":1"])],
    ),
    "days": ("user-day", [*itertools.product(USERS, MOMENTS)]),
    "numbers and days": ("user-day", [*itertools.product([1, 12, -1, 2026], MOMENTS)]),
    "cut by time": ("session", [*itertools.product(USERS, [*MOMENTS, *BEGUN])]),
    "queries": ("query", [*itertools.product(USERS, [*USERS, " a", "A", "1 a", "1  A"])]),
    "keywords": ("keyword", [*itertools.product(USERS, ["a", "A", "1", "11", "a1", "1a"])]),
}


def check_one_to_one(
    engine: Engine, pairs: list[Any], unit: Unit, path: Path, read: Any = z.read_log
) -> None:
    """Rows have the same unit if and only if their user and their session, or day, are the same."""
    users, others = zip(*pairs, strict=True)
    role, kind = "time", pa.timestamp("us")
    if isinstance(others[0], str):
        role, kind = "session" if unit == "session" else "query", pa.string()
    numbers = [str(number) for number in range(len(pairs))]
    table = {"query": numbers, "number": numbers, "user": pa.array(users)}
    pq.write_table(pa.table({**table, role: pa.array(others, kind)}), path)
    source = open_log(read(path), engine, ["number"], unit=unit)
    step = Step("names", 'select "column:number", user from entries')
    names = dict(engine.rows([*source.entries, step]))
    found: dict[Any, Any] = {}
    for number, (user, other) in zip(numbers, pairs, strict=True):
        last = other.date() if unit == "user-day" else other
        pair = tuple(re.sub(r"^(\d+)[.]0$", r"\1", str(each).strip(" ")) for each in (user, last))
        if role == "query":  # in any case, with any blanks, and with a letter or a digit at least
            asked = re.sub(" +", " ", pair[1].lower())
            pair = (pair[0], asked if re.search("[a-z0-9]", asked) else "")
        if all(pair):
            assert found.setdefault(pair, names[number]) == names[number]
        else:
            assert number not in names
    assert len(set(found.values())) == len(found)
