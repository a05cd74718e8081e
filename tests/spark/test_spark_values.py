"""What a character, a time and an id mean is the same to Spark and to DuckDB."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sampling import sampled
from spark import SPARK, Engines, read

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.engine import Engine
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, is_visible, tidy, words
from zealous.logs.open_log import open_log

pytest_plugins = ("spark",)
pytestmark = SPARK

SQL = {
    "lower": "lower(t)",
    "trim": "trim(t)",
    "tidy": tidy("'x' || t || 'y'"),
    "visible": is_visible("t"),
    "has_word": has_word("t"),
    "words": "array_to_string(" + words("'x' || t || 'Y'") + ", '|')",
}


def test_every_character_means_the_same(engines: Engines, tmp_path: Path) -> None:
    """All but most of the large blocks of letters, and of what is not assigned."""
    blocks = ((0x3400, 0x9F00), (0xAC00, 0xD700), (0xE100, 0xF800), (0x17000, 0x18C00))
    points = [
        point
        for point in [*range(0xD800), *range(0xE000, 0x18E00), *range(0x1AF00, 0x1FC00)]
        if not any(low <= point < high for low, high in blocks)
    ]
    points += [0x20000, 0x2A6DE, 0x2B739, 0x31350, 0x323AF, 0x323B0, 0xE0001, 0xE0100, 0x10FFFF]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"t": [*map(chr, points)]}), path)
    found = []
    for engine in engines:
        engine.open("characters", [path])
        sql = ", ".join(f"{each} as {name}" for name, each in SQL.items())
        step = Step("looked", f"select t, {sql} from characters")
        rows = [row for batch in engine.batches([step]) for row in batch.to_pylist()]
        found.append({row.pop("t"): row for row in rows})
    assert len(found[0]) == len(points)
    assert [hex(ord(t)) for t, row in found[0].items() if row != found[1][t]] == []
    for capital, letter in (("Σ", "σ"), ("İ", "i"), ("I", "i"), ("\ua7d0", "\ua7d1")):
        assert found[1][capital]["lower"] == letter


def test_what_a_letter_becomes_does_not_hang_on_its_neighbours(engines: Engines) -> None:
    sql = "select lower('ΑΣ ΣΑΣ İI JÌ I\u0307'), trim('\u3000a\u00a0 b \u00a0'), trim('\ta\n')"
    for engine in engines:
        (row,) = engine.rows([Step("small", sql)])
        assert row == ("ασ σασ ii jì i\u0307", "a\u00a0 b", "\ta\n")


def test_nobody_stops_the_run_with_a_long_text(engines: Engines, tmp_path: Path) -> None:
    """Neither by depth, as of a pattern that calls itself for each word, nor by squares."""
    long = ["a " * 400_000 + "b", "A" + "\u00a0" * 300_000 + "b", "é " * 200_000 + "x", "!" * 10**6]
    table = pa.table({"user": [*long, *"0123"], "query": ["q"] * 4 + long})
    pq.write_table(table, tmp_path / "long.parquet")
    found = []
    for engine in engines:
        source = open_log(read(engine, tmp_path / "long.parquet"), engine)
        for kind in (z.queries(9), z.keywords(9)):
            counted = histogram(kind, source, bound=9, at_least=1, select="random", key=1)
            found.append(sorted(tuple(r.values()) for batch in counted for r in batch.to_pylist()))
    assert found[0] == found[2]
    assert found[1] == found[3]


TIMES = {
    "2026-03-01 12:00:00": 12 * 3600,
    "2026-3-1T1:2:3": 3723,
    "2026-03-01": 0,
    " 2026-03-01 00:01 ": 60,
    "2026-03-01T00:01Z": 60,
    "2026-03-01 00:00:00.25": 0.25,
    "2026-03-01 00:00:00.1234567": 0.123456,
    "2026-03-01 01:30+01:30": 0,
    "2026-03-01 05:00:00-0530": 10.5 * 3600,
    "2026-03-01 12:00:00 UTC": 12 * 3600,
}
NO_TIMES = [
    "", " ", "now", "epoch", "infinity", "-infinity", "today", "2026-02-30", "2026-13-01", "12:00",
    "2026-03-01 24:00:00", "2026-03-01 23:59:60", "2026-03-01 12", "2026-03-01 12:", "10000-01-01",
    "2026-03-01 12:00:00 Europe/Paris", "2026-03-01 12:00:00+99", "2026/03/01", "20260301",
    "2026-03-01 12:00:00.", "0000-01-01", "9999-12-31", "2026-03-01 (BC)", "2026-03-01x",
    "２０２６-03-01", "2026-03-01 \0", "\t2026-03-01", "2026-03-01\n", "2026-03-01 12:00:00 PST",
]  # fmt: skip
PATTERNS: dict[str, dict[str, str | None]] = {
    "epoch": {"0": "1970-01-01", "1.5": "1970-01-01 00:00:01.500", " 1e9 ": "2001-09-09 01:46:40",
              "1d": None, "1_0": None, "nan": None, "inf": None, "1e400": None, "x": None},
    "epoch-ms": {"1500": "1970-01-01 00:00:01.500", "-1": "1969-12-31 23:59:59.999"},
    "%y%m%d%H%M%S": {"970916102030": "1997-09-16 10:20:30", "680916102030": "2068-09-16 10:20:30",
                     "690916102030": "1969-09-16 10:20:30", "000229000000": "2000-02-29",
                     "97091610203": None, " 970916102030": None, "970931102030": None},
    "%d/%m/%Y %H:%M": {"03/02/2026 12:34": "2026-02-03 12:34", "3/2/2026 1:2": "2026-02-03 01:02",
                       "30/02/2026 1:1": None, "3/2/26 1:1": None, "3/2/2026 24:00": None,
                       "3/2/2026  1:1": None, "3/2/2026 1:1 ": None, "now": None},
    "%b %d %Y %I:%M %p": {"feb 3 2026 1:02 PM": "2026-02-03 13:02", "Feb 3 2026 13:02 PM": None},
    "%Y-%m-%dT%H:%M:%S.%f%z": {"2026-02-03T12:34:56.5+01:00": "2026-02-03 11:34:56.500",
                               "2026-02-03T12:34:56.123456-0100": "2026-02-03 13:34:56.123456",
                               "2026-02-03T12:34:56.5": None},
}  # fmt: skip


def times(engine: Engine, path: Path, **options: Any) -> dict[Any, datetime | None]:
    source = open_log(read(engine, path, **options), engine)
    return dict(engine.rows([*source.entries, Step("times", "select query, time from entries")]))


def test_times_that_are_texts(engines: Engines, tmp_path: Path) -> None:
    texts = [*TIMES, *NO_TIMES]
    table = pa.table({"user": ["u"] * len(texts), "query": texts, "time": texts})
    pq.write_table(table, tmp_path / "l.parquet")
    right = {text: datetime(2026, 3, 1) + timedelta(seconds=s) for text, s in TIMES.items()}
    for engine in engines:
        assert times(engine, tmp_path / "l.parquet") == right | dict.fromkeys(NO_TIMES)


@pytest.mark.parametrize("form", sampled(list(PATTERNS), str, share=6))
def test_times_of_a_format(form: str, engines: Engines, tmp_path: Path) -> None:
    texts = list(PATTERNS[form])
    table = pa.table({"user": ["u"] * len(texts), "query": texts, "time": texts})
    pq.write_table(table, tmp_path / "l.parquet")
    right = {text: at and datetime.fromisoformat(at) for text, at in PATTERNS[form].items()}
    for engine in engines:
        assert times(engine, tmp_path / "l.parquet", time_format=form) == right


@pytest.mark.extended
def test_times_of_a_type(engines: Engines, tmp_path: Path) -> None:
    end = 253_370_764_800  # the year 9999
    moments = [0, 1, -1, end, end + 1, -62_135_596_800, -62_135_596_801, None]
    micro = [each and each * 10**6 for each in moments]
    days = [0, -800_000, 3_000_000, 2**31 - 1, -(2**31), None, 5, 6, 7]
    numbers = [0.5, -1.5, 1e300, math.nan, math.inf, None, 2.5e11, 1e-7, 7e-7]
    columns: dict[str, tuple[pa.Array, str | None]] = {
        "a": (pa.array([*micro, 2**62], pa.timestamp("us")), None),
        "b": (pa.array([*micro, 2**62], pa.timestamp("us", tz="Europe/Paris")), None),
        "c": (pa.array([*moments, 10**12], pa.timestamp("s")), None),
        "d": (pa.array(days, pa.date32()), None),
        "e": (pa.array([*moments, 2**63 - 1]), "epoch"),
        "f": (pa.array(numbers), "epoch"),
        "g": (pa.array([Decimal("1.25"), None, *map(Decimal, range(7))]), "epoch-ms"),
        "h": (pa.array([20260301120000, None, *range(7)]), "%Y%m%d%H%M%S"),
        "i": (pa.array([True, False, None] * 3), None),
        "j": (pa.array([0, 1, 2**63 - 1, 1 - 2**63, *range(5)], pa.timestamp("ms")), None),
        "k": (pa.array([0, 1, 10**18, -(10**18), *range(5)], pa.timestamp("ms", "UTC")), None),
    }
    table = {"user": [*"abcdefghi"], "query": [*"abcdefghi"]}
    path = tmp_path / "l.parquet"
    pq.write_table(pa.table(table | {name: column for name, (column, _) in columns.items()}), path)
    for name, (_, form) in columns.items():
        how: dict[str, Any] = {"columns": z.Columns(time=name), "time_format": form}
        one, other = (times(engine, path, **how) for engine in engines)
        assert one == other, name


IDS = {
    "text": pa.array([" a ", "\u00a0a", "", "\t", "\0", "\ta", "é", "~", None]),
    "spelled": pa.array(
        ["7", "7.0", " 7.00 ", "007.0", "1.0\n", "\u0661.0", "1.0e3", "-0.0", None]
    ),
    "whole": pa.array([1, 2**63 - 1, -(2**63), 0, 5, 6, 7, 8, None]),
    "unsigned": pa.array([1, 2**64 - 1, 2**63, 0, 5, 6, 7, 8, None], pa.uint64()),
    "float": pa.array([17850.0, -0.0, 0.0, 1.5, 12345678.0, 1e14, math.nan, math.inf, None]),
    "decimal": pa.array([*map(Decimal, ("1.50", "0.00", "-2.25", "7.00")), *[None] * 5]),
    "day": pa.array([*(date(2026, 1, day) for day in range(1, 9)), None]),
    "moment": pa.array([*(datetime(2026, 1, 1, 1, 2, n) for n in range(8)), None]),
    "zoned": pa.array([*range(8), None], pa.timestamp("us", tz="Asia/Tokyo")),
    "boolean": pa.array([True, False, None] * 3),
}


@pytest.mark.parametrize("kind", sampled(list(IDS), str, share=6))
def test_ids_and_items_of_a_type(kind: str, engines: Engines, tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": IDS[kind], "query": [*"abcdefghi"]}), tmp_path / "l.parquet")
    found = []
    for engine in engines:
        source = open_log(read(engine, tmp_path / "l.parquet"), engine, ["user"])
        step = Step("ids", 'select query, user::varchar, "column:user" from entries')
        found.append(sorted(engine.rows([*source.entries, step])))
    assert found[0] == found[1]
    assert 3 < len(found[0]) < 9
    if kind == "spelled":
        ids = ["7", "7", "7", "007", "1.0\n", "\u0661.0", "1.0e3", "-0"]
        assert [user for _, user, _ in found[1]] == ids


MIXED = [0.1, -0.0, 1e7, 12345678.5, 1e15, 1e16, 1e-3, 1e-4, 1.5e-5]
NUMBERS = {
    "numbers": pa.array(MIXED),
    "no numbers": pa.array(
        [math.inf, -math.inf, math.nan, 1e300, -2.5e-7, 9e-5, 1e7 + 0.5, 0.5, None]
    ),
    "single": pa.array(
        [0.1, 1e7, 1e-4, 1e-5, 3.4e10, 0.3, math.nan, math.inf, 0.001], pa.float32()
    ),
    "dictionary": pa.array([*MIXED[:4], math.nan, *MIXED[:4]]).dictionary_encode(),
    "decimal": pa.array([*map(Decimal, ("0.00000001", "-1.00000000", "0.00000000")), *[None] * 6]),
    "days": pa.array(
        [0, 2**31 - 1, -(2**31), 2_932_896, 2_932_897, -719_162, -719_163, 1, None], pa.date32()
    ),
    "moments": pa.array(
        [0, 1, 1_500_000, 253402300799999999, 253402300800 * 10**6, 2**62, -(2**62), -1, None],
        pa.timestamp("us"),
    ),
    "zoned": pa.array(
        [0, 1, 1_500_000, 253402300800 * 10**6, 2**62, -(2**62), -1, 5, None],
        pa.timestamp("us", tz="Asia/Tokyo"),
    ),
    "boolean": pa.array([True, False, None] * 3),
}


@pytest.mark.parametrize("kind", sampled(list(NUMBERS), str, share=6))
def test_values_that_are_no_text(kind: str, engines: Engines, tmp_path: Path) -> None:
    """Alone and in a list, as an item and as an epoch: written alike, or by both left out."""
    values = NUMBERS[kind]
    plain = values.dictionary_decode() if kind == "dictionary" else values
    lists = pa.ListArray.from_arrays([0, 3, 3, 9, 9, 9, 9, 9, 9, 9], plain)
    table = pa.table({"user": [*"abcdefghi"], "query": ["q"] * 9, "x": values, "url": lists})
    pq.write_table(table, tmp_path / "l.parquet")
    found = []
    for engine in engines:
        source = open_log(read(engine, tmp_path / "l.parquet"), engine, ["x"])
        step = Step("all", 'select user, "column:x", url from entries')
        found.append(sorted(engine.rows([*source.entries, step])))
    assert found[0] == found[1]
    assert len(found[0]) == 9
    assert sum(text is not None for _, text, _ in found[0]) >= 3
    how: dict[str, Any] = {"columns": z.Columns(time="x"), "time_format": "epoch"}
    one, other = (times(engine, tmp_path / "l.parquet", **how) for engine in engines)
    assert one == other


NESTED = [b"a", [["a"]], [b"a"], [{"a": 1}], {"a": "b, c", "d": "e"}]


@pytest.mark.parametrize(
    ("role", "value"),
    sampled([*product(["user", "x", "url"], NESTED)], lambda case: f"{case[0]} {case[1]}", share=6),
)
def test_nested_and_binary_values_are_refused(
    role: str, value: Any, engines: Engines, tmp_path: Path
) -> None:
    """As ids, {"a": "b, c", "d": "e"} and {"a": "b", "d": "c, e"} would be one to Spark."""
    columns = {"user": ["u"], "x": ["x"], "url": ["y"]} | {role: pa.array([value])}
    pq.write_table(pa.table(columns), tmp_path / "l.parquet")
    said = set()
    for engine in engines:
        with pytest.raises(UsageError, match=r"holds \w+") as raised:
            open_log(read(engine, tmp_path / "l.parquet"), engine, ["x"])
        said.add(str(raised.value))
    assert len(said) == 1
