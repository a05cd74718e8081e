"""Logs of known formats: access logs, AOL, Excite, Sogou, a shop."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from log_entries import NOON, Entries

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import WITHOUT_ID, count_users, extra_column, unreadable_lines


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    """The chosen columns of a log's entries, in sorted order."""

    def select(log: Log, *names: str, extra: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(log, engine, extra)
            chosen = Step("chosen", f"select {', '.join(names)} from entries")
            return sorted(engine.rows([*source.entries, chosen]), key=repr)

    return select


def test_an_access_log(tmp_path: Path, entries: Entries) -> None:
    line = '{} - {} [31/Jan/2026:13:00:00 +0100] "GET {} HTTP/1.1" 200 12 "-" "{}"\n'
    browser, robot = (
        r"Mozilla/5.0 (\"x\"; CUBOT) Firefox",
        "Mozilla/5.0 (compatible; Googlebot/2.1)",
    )
    (tmp_path / "access.log").write_text(
        line.format("203.0.113.7", "ann", "/tea?secret=1", browser)
        + line.format("203.0.113.8", "-", "/robots.txt", robot)
        + line.format("203.0.113.9", "-", "/tea", "-")
        + '203.0.113.7 - - [31/Jan/2026:13:00:00 +0100] "\\x16\\x03" 400 0 "-" "-"\nbroken\n'
        + '1 - - [x] "GET /'
        + "a?" * 400_000
        + "\n"  # tried in one way alone
    )
    log = read_log(tmp_path / "access.log", "combined")
    noon = datetime(2026, 1, 31, 12)
    assert entries(log, "user", "time", extra_column("path"), extra=("path",)) == [
        ("203.0.113.7", noon, "/tea")
    ]
    log = read_log(tmp_path / "access.log", "combined", columns=Columns(user="account"))
    assert entries(log, "user") == [("ann",)]
    with DuckDB(threads=1) as engine:
        skipped = open_log(log, engine).skipped
    assert skipped["not a request in the combined format"] == 3
    assert skipped[WITHOUT_ID] == 2


def test_sogou(tmp_path: Path, entries: Entries) -> None:
    lines = "00:00:00\t29\t[绿茶]\t8 3\ta.example\n20111230000005\tu\t绿茶\t1\t2\tb.example\nx\n"
    (tmp_path / "log").write_text(lines, encoding="gb18030")
    assert entries(read_log(tmp_path / "log", "sogou"), "user", "query", "url") == [
        ("29", "绿茶", "a.example"),
        ("u", "绿茶", "b.example"),
    ]


@pytest.mark.parametrize("preset", [None, "csv"])
def test_a_spreadsheet_is_to_be_converted(tmp_path: Path, preset: str | None) -> None:
    (tmp_path / "shop.XLSX").write_bytes(b"PK")
    with pytest.raises(UsageError, match="save its sheet as CSV in UTF-8"):
        read_log(tmp_path / "shop.XLSX", preset)


def test_aol(tmp_path: Path, entries: Entries) -> None:
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    (tmp_path / "a.txt").write_text(
        head + "1\tTea\t2006-03-01 12:00:00\t\t\n"
        "1\ttea\t2006-03-01 12:00:00\t1\thttp://a.example\n"
        "1\ttea\t2006-03-01 12:00:00\t2\thttp://b.example\n"
    )
    (tmp_path / "b.txt").write_text(head + "2\ttea\t2006-03-01 12:00:00\n")
    log = read_log(sorted(tmp_path.glob("*.txt")), "aol")
    assert entries(log, "user", "query", "time", "url") == [
        ("1", "Tea", NOON, ""),
        ("1", "tea", NOON, "http://a.example"),
        ("1", "tea", NOON, "http://b.example"),
        ("2", "tea", NOON, ""),
    ]


def test_excite(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "excite.log"
    path.write_text('A1\t970916105432\t+md "foods\nA1\t970916\tx\nB2\t970916105432\t\n')
    assert entries(read_log(path, "excite"), "user", "time", "query") == [
        ("A1", None, "x"),
        ("A1", datetime(1997, 9, 16, 10, 54, 32), '+md "foods'),
        ("B2", datetime(1997, 9, 16, 10, 54, 32), ""),
    ]


@pytest.mark.real
def test_the_real_excite_log(real: Path, tmp_path: Path) -> None:
    with DuckDB(threads=1, temporary=tmp_path) as engine:
        source = open_log(read_log(real / "excite-small.log", "excite"), engine)
        assert count_users(source) == 891
        assert source.rows == 4_501
        assert source.skipped.total() == 0
        timed = Step("timed", "select count(time) from entries")
        assert engine.rows([*source.entries, timed]) == [(4_501,)]


@pytest.mark.real
def test_the_real_shop_has_many_rows_of_nobody(real: Path, tmp_path: Path) -> None:
    log = read_log(real / "online_retail.csv.gz", columns=Columns(user="CustomerID"))
    with DuckDB(temporary=tmp_path) as engine:
        source = open_log(log, engine, ["Description"])
        assert count_users(source) == 4_372
        assert source.rows == 406_829
        assert +source.skipped == {WITHOUT_ID: 135_080}
        assert unreadable_lines(source) == 0
