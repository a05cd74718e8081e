"""A release and its tables as mappings, their intervals, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from bundles import TRACKED, made
from records import changed

from zealous.errors import NotPublished, UsageError
from zealous.items import queries, query_pairs
from zealous.release.bundle import Release, read_release
from zealous.release.table import INTERVAL, Table


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return made(tmp_path_factory.mktemp("log"), kinds=[queries(3), query_pairs(2)])


def test_a_table_gives_the_count_of_an_item(release: Release) -> None:
    table = release["queries"]
    items, counts = table.arrow["query"].to_pylist(), table.arrow["count"].to_pylist()
    assert list(table) == items
    assert list(table.items()) == list(zip(items, counts, strict=True))
    assert "green tea" in table
    assert table["green tea"] == counts[items.index("green tea")]
    assert "coffee" not in table
    assert table.get("coffee") is None
    assert len(table) == len(items)


def test_an_item_of_several_columns_is_a_tuple(release: Release) -> None:
    table = release["query-pairs"]
    assert ("green tea", "shoes") in table
    assert table.columns == ("query", "next_query")
    with pytest.raises(NotPublished, match="a tuple of query, next_query"):
        table["green tea"]
    assert ["green tea", "shoes"] not in table


def test_what_is_not_there_is_said_without_quoting_it(release: Release) -> None:
    with pytest.raises(KeyError, match=r"it has queries, query-pairs\. Did you mean queries\?"):
        release["querys"]
    assert "clicks" not in release
    with pytest.raises(NotPublished, match="may be rare") as missing:
        release["queries"]["a secret wish"]
    assert "secret" not in str(missing.value)
    assert not str(missing.value).startswith("'")


def test_a_release_is_a_mapping_of_its_tables(release: Release) -> None:
    assert list(release) == ["queries", "query-pairs"]
    assert len(release) == 2
    assert release.arrow == {kind: table.arrow for kind, table in release.items()}
    assert release.to_polars()["queries"].columns == ["query", "count", *INTERVAL]
    assert list(release.to_pandas()["query-pairs"]) == ["query", "next_query", "count", *INTERVAL]


def test_intervals_are_those_that_the_readme_states(release: Release) -> None:
    table = release["queries"]
    assert table.part is not None
    error = table.part.forecast.error_95
    rows = table.intervals().to_pylist()
    assert [row["count"] for row in rows] == list(table.values())
    top = rows[0]
    assert (top["count_low"], top["count_high"]) == (top["count"] - error, top["count"] + error)
    assert table.intervals().schema.types[1:] == [pa.int64()] * 3
    empty = replace(table, arrow=table.arrow.slice(0, 0))
    assert empty.intervals().num_rows == 0
    with pytest.raises(UsageError, match="of a release"):
        Table(arrow=table.arrow).intervals()


def test_a_release_tells_where_it_is_once_written(release: Release, tmp_path: Path) -> None:
    fresh = replace(release, directory=None)
    assert "In memory alone" in repr(fresh)
    fresh.write(tmp_path / "out")
    assert f"It is in {tmp_path / 'out'}" in repr(fresh)
    assert repr(read_release(fresh)) == repr(fresh)
    with pytest.raises(UsageError, match="in memory alone"):
        read_release(replace(release, directory=None))


def test_a_release_tells_what_it_was_charged(release: Release) -> None:
    tracked = replace(release, record=changed(release.record, ledger=TRACKED))
    charged = tracked.charged
    assert (charged.entry, charged.epsilon, charged.delta) == (7, 400, Fraction(1, 2))
    whole, period = charged.accounts
    assert (whole.left.epsilon, whole.left.delta) == (10, Fraction(5, 1000))
    assert (period.left.epsilon, period.left.delta) == (None, None)
    assert str(charged) == (
        "Charged as entry 7 of the ledger: epsilon 400, delta 0.5. "
        "Left over all releases: epsilon 10 of 24, delta 0.005 of 0.012."
    )
    assert str(charged) in repr(tracked)
    assert "Charged to no ledger" in str(release.charged)


def test_no_repr_holds_an_item(release: Release) -> None:
    table = release["queries"]
    assert repr(table) == f"Table(queries: {len(table)} rows of query, count)"
    assert "tea" not in repr(release)
