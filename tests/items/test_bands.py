"""Numbers in public bands, and things that are made of several columns."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, Things, kind_by_name, parse_kinds
from zealous.items.bands import band_names, band_sql, bands_of, bands_text, limits_by_column
from zealous.logs.open_log import open_log

LIMITS = [Fraction(-1), Fraction(0), Fraction(5), Fraction("9.99")]
SETTINGS: dict[str, Any] = {"by": None, "basket": None, "max_size": 2}


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="1GB", threads=1) as engine:
        yield engine


def bands_of_texts(engine: DuckDB, texts: list[str]) -> list[str | None]:
    engine.add_table("prices", pa.table({"place": range(len(texts)), "price": texts}))
    sql = f"select {band_sql('price', LIMITS)} from prices order by place"
    return [each for (each,) in engine.rows([Step("banded", sql)])]


def test_each_number_has_the_band_that_it_is_in(engine: DuckDB) -> None:
    numbers = {
        "-1.01": "below -1",
        "-1": "-1 to below 0",
        "-0.0": "0 to below 5",
        " 4.999999 ": "0 to below 5",
        "5": "5 to below 9.99",
        "5.0": "5 to below 9.99",
        "9.98999": "5 to below 9.99",
        "9.99": "9.99 or more",
        "1e3": "9.99 or more",
    }
    assert bands_of_texts(engine, [*numbers]) == [*numbers.values()]
    assert band_names(LIMITS) == [*dict.fromkeys(numbers.values())]


@pytest.mark.parametrize("text", ["", " ", "free", "9,99", "1 000", "nan", "inf", "0x10", "5 EUR"])
def test_what_is_no_number_is_in_no_band(engine: DuckDB, text: str) -> None:
    assert bands_of_texts(engine, [text]) == [None]


@given(st.lists(st.decimals(-50, 50, places=2), min_size=1, max_size=9, unique=True).map(sorted))
def test_bands_are_read_back_as_they_were_said(limits: list[Any]) -> None:
    said = bands_text({"price": limits})
    assert limits_by_column(said) == {"price": [Fraction(each) for each in limits]}
    assert bands_text(said.split(";") if said else []) == said
    assert len(set(band_names([Fraction(each) for each in limits]))) == len(limits) + 1


@pytest.mark.parametrize("text", ["price", "=5", "price=", "price=5,5", "price=10,5", "price=x",
                                  "price=5;size=1", "price=1e-30", "a,b=5"])  # fmt: skip
def test_no_bands(text: str) -> None:
    with pytest.raises(UsageError):
        bands_text([text])


def test_a_column_has_bands_once_and_is_a_part_of_the_items() -> None:
    with pytest.raises(UsageError, match="said once"):
        bands_text(["price=5", "price=6"])
    with pytest.raises(UsageError, match="no part of the items"):
        z.columns("product", items_per_user=1, bands={"price": [5]})
    both = bands_text({"price": [5], "size": [1, 2]})
    assert bands_of(both, ["size"]) == "size=1,2"
    assert bands_of(both, ["product"]) is None


def write(path: Path, rows: list[tuple[str, str | None, str | None]]) -> z.Log:
    names = ("user", "product", "price")
    table = {name: pa.array([row[n] for row in rows]) for n, name in enumerate(names)}
    pq.write_table(pa.table(table), path)
    return z.read_log(path)


def counted(engine: DuckDB, log: z.Log, kind: Kind) -> dict[tuple[str, ...], int]:
    source = open_log(log, engine, kind.extra_columns())
    batches = histogram(kind, source, bound=9, at_least=1, select="random", key=5)
    rows = [row for batch in batches for row in batch.to_pylist()]
    return {tuple(row[name] for name in kind.columns()): row["count"] for row in rows}


ROWS: list[tuple[str, str | None, str | None]] = [
    ("a", "cap", "4"),
    ("a", "cap", "4.5"),  # the same band: one item
    ("a", "cap ", "7"),
    ("b", "cap", "3.00"),
    ("b", "mug", None),
    ("b", "mug", "free"),
    ("b", None, "4"),
    ("c", "?", "4"),
    ("c", "a | b", "1"),
]


def test_a_user_counts_once_for_a_band(engine: DuckDB, tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", ROWS)
    kind = z.columns("product", "price", items_per_user=9, bands={"price": [5]})
    assert counted(engine, log, kind) == {
        ("cap", "below 5"): 2,
        ("cap", "5 or more"): 1,
        ("?", "below 5"): 1,
        ("a | b", "below 5"): 1,
    }
    things = Things(names=("product+price",), items_per_user=9, bands="price=5")
    assert counted(engine, log, things) == {
        ("cap | below 5",): 2,
        ("cap | 5 or more",): 1,
        ("a || b | below 5",): 1,
    }
    # In several columns: a value of any of them.
    assert ("4",) in counted(engine, log, Things(names=("product", "price"), items_per_user=9))


def test_different_values_never_make_the_same_thing(engine: DuckDB, tmp_path: Path) -> None:
    texts = ["a", "a |", "| a", "a | a", "a || a", "a|a", "a | | a"]
    rows = [(f"{one} and {two}", one, two) for one in texts for two in texts]
    log = write(tmp_path / "log.parquet", [*rows])
    found = counted(engine, log, Things(names=("product+price",), items_per_user=1))
    assert set(found.values()) == {1}
    assert len(found) == len(rows)


def test_a_thing_is_no_longer_than_a_text(engine: DuckDB, tmp_path: Path) -> None:
    rows = [("a", "x" * 4000, "y" * 80), ("b", "x" * 4000, "y" * 94), ("c", "x", "y")]
    found = counted(
        engine,
        write(tmp_path / "log.parquet", [*rows]),
        Things(names=("product+price",), items_per_user=1),
    )
    assert sorted(len(item) for (item,) in found) == [5, 4083]


def test_each_way_to_name_columns_has_one_meaning() -> None:
    assert parse_kinds("itemsets:a+b", 3, **SETTINGS)[1].extra_columns() == ("a", "b")
    kinds = {text: parse_kinds(text, 3, **SETTINGS)[1] for text in ("itemsets:a+b", "itemsets:a/b")}
    names = [kind.name() for kind in kinds.values()]
    assert names == ["things:a+b", "things:a/b"]
    for kind in kinds.values():
        assert kind_by_name(kind.name(), 3, kind.settings()) == kind
    for text in ("itemsets:a+", "itemsets:a+a", "itemsets:a+b/"):
        with pytest.raises(UsageError, match="value of both"):
            parse_kinds(text, 3, **SETTINGS)


def test_a_published_band_is_one_of_the_bands() -> None:
    kind = z.columns("price", items_per_user=1, bands={"price": [5]})
    kind.check_items(pa.table({"price": ["below 5"], "count": [9]}), 100)
    with pytest.raises(ReleaseError):
        kind.check_items(pa.table({"price": ["4.20"], "count": [9]}), 100)
