"""Pages of a published table, as Explore and Review show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zealous.web.table_pages import FoundRows, find_rows

ROWS = [("tea", "cup", 9), ("Tea", "pot", 7), ("a%b", "'", 7), ("shoes", "tea", 3)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "[pairs]*.parquet"  # no pattern
    first, second, counts = zip(*ROWS, strict=True)
    pq.write_table(pa.table({"a b": first, "count of": second, "count": counts}), path)
    return path


def found(path: Path, **asked: Any) -> FoundRows:
    usual: dict[str, Any] = {"search": "", "sort": "most", "page": 0, "size": 3}
    return find_rows(path, ["a b", "count of"], **usual | asked)


def items(path: Path, **asked: Any) -> list[str]:
    return [item[0] for item, _ in found(path, **asked).rows]


def test_pages_in_their_order(table: Path) -> None:
    first = found(table)
    assert first.rows[0] == (("tea", "cup"), 9)
    assert (first.found, first.least, first.most) == (4, 3, 9)
    assert items(table) + items(table, page=1) == ["tea", "Tea", "a%b", "shoes"]
    assert items(table, page=2) == []
    assert items(table, sort="item", size=9) == ["Tea", "a%b", "shoes", "tea"]


def test_rows_that_are_looked_for(table: Path) -> None:
    assert items(table, search="TEA") == ["tea", "Tea", "shoes"]  # in either column
    assert items(table, search="%") == ["a%b"]
    among = [("shoes", "tea"), ("a%b", "'"), ("tea", "pot"), ("tea",), ("none", "such")]
    assert items(table, among=among) == ["a%b", "shoes"]  # both columns are as they are named
    assert items(table, among=among, search="tea") == ["shoes"]
    assert found(table, among=among, size=1).found == 2
    assert found(table, among=[]).rows == []
