"""Rows as CSV: the same bytes as the csv module's, whose cells were made inert one by one."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import sys

import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.files import csv_cells as sheet
from zealous.files.csv_cells import write_rows

RUNNABLE = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")
AFTER_SEMICOLON = re.compile(r";(?=\s*[=+\-@\t\r\n＝＋－＠])")


def inert(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = AFTER_SEMICOLON.sub(";'", value).replace("\r", " ")
    return f"'{text}" if RUNNABLE.match(value) else text


def one_by_one(table: pa.Table) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([inert(name) for name in table.column_names])
    writer.writerows([inert(value) for value in row.values()] for row in table.to_pylist())
    return file.getvalue()


def written(table: pa.Table) -> str:
    file = io.StringIO(newline="")
    write_rows(table, file)
    return file.getvalue()


characters = st.sampled_from("ab=+-@＝－,;\"'\t\r\n \u00a0\u3000\x1c\x85\0é日🙂") | st.characters(
    exclude_categories=["Cs"]
)
texts = st.none() | st.text(characters, max_size=5)


@examples(60)
@given(
    rows=st.lists(st.tuples(texts, texts, st.none() | st.integers(-(2**63), 2**63 - 1))),
    names=st.lists(st.text(characters, max_size=3), min_size=3, max_size=3, unique=True),
    kind=st.sampled_from([pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]),
    chunk=st.integers(1, 4),
)
def test_same_as_one_by_one(rows, names, kind, chunk) -> None:
    first, second, count = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [
        pa.array(first, pa.string()).cast(kind),
        pa.array(second, pa.string()),
        pa.array(count, pa.int64()),
    ]
    table = pa.table(columns, names=names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheet, "_ROWS", chunk)
        assert written(table) == one_by_one(table)
        alone = table.select([0])
        assert written(alone) == one_by_one(alone)
        late = table.slice(len(rows) // 2)
        assert written(late) == one_by_one(late)


def test_every_blank_and_sign_in_the_first_and_second_place() -> None:
    """Python knows no blank beyond these characters, and the wide signs are among the last."""
    known = [chr(code) for code in (*range(0x3100), *range(0xFE00, 0x10000))]
    assert not any(chr(code).isspace() for code in range(0x3100, sys.maxunicode + 1))
    table = pa.table({"a": known, "b": [f"{character}=" for character in known]})
    assert written(table) == one_by_one(table)


def test_no_formula_follows_a_semicolon() -> None:
    """Where spreadsheets split lines at semicolons, quotation marks between commas do not help."""
    cells = ["a;=1+1", "x; @SUM(A1)", 'say "b;+1"', ";;-1", "fine; here", "a;b=c"]
    lines = written(pa.table({"query": cells, "count": [1] * 6})).splitlines()[1:]
    parts = [part.strip(" ") for line in lines for part in line.split(";")[1:]]
    assert len(parts) == 7
    assert not any(RUNNABLE.match(part) for part in parts)
    file = io.StringIO(newline="")
    write_rows(pa.table({"query": cells[:1]}), file, semicolons=False)
    assert file.getvalue() == "query\na;=1+1\n"


def test_values_that_are_no_text() -> None:
    moments = [dt.datetime(2011, 3, 1, 0, 0, 1, 393000), dt.datetime(1, 1, 1), None]
    table = pa.table(
        {
            "time": pa.array(moments, pa.timestamp("us")),
            "share": pa.array([1e-5, -0.5, None]),
            "whole": pa.array([True, False, None]),
            "urls": pa.array([["a", "b"], [], None], pa.list_(pa.string())),
            "less": pa.array([-1, 2, None], pa.int8()),
        }
    )
    assert written(table) == one_by_one(table)
    for name in table.column_names:
        assert written(table.select([name])) == one_by_one(table.select([name]))


def test_a_table_without_rows_has_a_header() -> None:
    table = pa.table({"=a": pa.array([], pa.string()), "count": pa.array([], pa.int64())})
    assert written(table) == "'=a,count\n"
