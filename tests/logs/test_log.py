"""Where a log is and what its columns mean; and its entries once it is opened."""

from __future__ import annotations

import functools
import gzip
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, Refused, UsageError, ZealousError
from zealous.files.standard_input import _kept
from zealous.logs.log import FORMATS, Cleaning, Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import WITHOUT_ID, count_users, extra_column

Entries = Callable[..., list[tuple[Any, ...]]]
NOON = datetime(2006, 3, 1, 12)


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    """The chosen columns of a log's entries, in sorted order."""

    def select(log: Log, *names: str, extra: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(log, engine, extra)
            chosen = Step("chosen", f"select {', '.join(names)} from entries")
            return sorted(engine.rows([*source.entries, chosen]), key=repr)

    return select


def roles(log: Log) -> dict[str, str]:
    return log.columns.assigned()


# Presets


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
        assert source.unreadable_lines() == 0


# Formats


ROWS: list[dict[str, Any]] = [
    {"user": "ann", "query": "tea", "time": "2006-03-01 12:00:00", "url": "http://a.example"},
    {"user": "bob", "query": "größe, 鞋", "time": "2006-03-01T12:00:00", "url": ""},
]


def written(path: Path) -> Path:
    """ROWS in the format and compression that the path's name says."""
    names = list(ROWS[0])
    kind = path.name.split(".")[1].lower()
    if kind in ("parquet", "pq"):
        pq.write_table(pa.Table.from_pylist(ROWS), path)
        return path
    if kind in ("jsonl", "ndjson", "json"):
        text = "".join(json.dumps(row) + "\n" for row in ROWS)
    else:
        mark = {"csv": ",", "tsv": "\t"}[kind]
        cells = [names, *([row[name] for name in names] for row in ROWS)]
        quoted = [[f'"{cell}"' if mark in cell else cell for cell in line] for line in cells]
        text = "".join(mark.join(line) + "\n" for line in quoted)
    if path.suffix.lower() == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix in (".bz2", ".zst"):
        with pa.CompressedOutputStream(
            str(path), {".bz2": "bz2", ".zst": "zstd"}[path.suffix]
        ) as f:
            f.write(text.encode())
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    [
        "l.csv",
        "l.tsv",
        "l.jsonl",
        "l.ndjson",
        "l.json",
        "l.parquet",
        "l.pq",
        "l.csv.gz",
        "l.CSV.GZ",
        "l.tsv.zst",
        "l.jsonl.bz2",
        "l.TSV",
    ],
)
def test_formats_follow_from_the_ending(name: str, tmp_path: Path, entries: Entries) -> None:
    log = read_log(written(tmp_path / name))
    assert roles(log) == {each: each for each in ("user", "query", "time", "url")}
    urls: list[Any] = ["http://a.example", ""]
    if "js" in name:
        urls = [[url] for url in urls]  # in JSON any of them may be a list
    assert entries(log, "user", "query", "time", "url") == [
        ("ann", "tea", NOON, urls[0]),
        ("bob", "größe, 鞋", NOON, urls[1]),
    ]


def test_a_stated_format_wins(tmp_path: Path, entries: Entries) -> None:
    path = written(tmp_path / "l.csv").rename(tmp_path / "l.dat")
    with pytest.raises(UsageError, match="say preset"):
        read_log(path)
    assert len(entries(read_log(path, "csv"), "user")) == 2
    with pytest.raises(UsageError, match=f"format must be one of {', '.join(FORMATS)}"):
        read_log(path, "xml")


def test_headerless_files(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text('ann,tea\nbob,"tea, too"\n')
    log = read_log(path, names=["who", "what"], columns=Columns(user="who", query="what"))
    assert entries(log, "user", "query") == [("ann", "tea"), ("bob", "tea, too")]
    path.write_text("ann;tea\n")
    log = read_log(path, names=["user", "query"], delimiter=";")
    assert entries(log, "user", "query") == [("ann", "tea")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "gb18030", "shift_jis", "utf-8-sig"])
def test_encodings(encoding: str, tmp_path: Path, entries: Entries) -> None:
    word = {"gb18030": "鞋子", "shift_jis": "靴表"}.get(encoding, "größe")
    path = tmp_path / "l.tsv"
    path.write_bytes(f"user\tquery\nann\t{word}\n".encode(encoding))
    stated = None if encoding == "utf-8-sig" else encoding
    assert entries(read_log(path, encoding=stated), "user", "query") == [("ann", word)]


@pytest.mark.parametrize(
    ("name", "settings", "what"),
    [
        ("l.parquet", {"encoding": "latin-1"}, "Parquet"),
        ("l.parquet", {"names": ["a", "b"]}, "Parquet"),
        ("l.parquet", {"delimiter": ","}, "Parquet"),
        ("l.jsonl", {"delimiter": ","}, "JSON"),
        ("l.jsonl", {"names": ["a", "b"]}, "JSON"),
        ("l.csv", {"names": ["user", "user"]}, "different names"),
        ("l.csv", {"delimiter": ':"'}, "delimiter"),
        ("l.csv", {"encoding": "klingon"}, "encoding"),
        (
            "l.csv",
            {"columns": Columns(user="nobody")},
            "no column 'nobody' .given as columns=",
        ),
        (
            "l.csv",
            {"columns": Columns(url="nothing")},
            "no column 'nothing' .given as columns=",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    name: str, settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=what):
        read_log(written(tmp_path / name), **settings)


def test_a_log_without_a_user_column(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    for header, what in (
        ("who,query", r"Columns\(user=\.\.\.\)$"),
        ("CustomerID,query", r"Columns.user=.*Did you mean CustomerID\?"),
        ("userId,User", "'userId' and 'User' may each hold the user's id"),
    ):
        path.write_text(f"{header}\nann,tea\n")
        with pytest.raises(UsageError, match=what):
            read_log(path)


def test_columns_are_recognised_in_any_spelling_of_their_names(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("userId,Query,Timestamp,SessionID,clicks\nann,tea,2026-01-01,4,5\n")
    log = read_log(path)
    found = {"user": "userId", "query": "Query", "time": "Timestamp", "session": "SessionID"}
    assert (log.columns.assigned(), log.recognised) == (found, {*found})
    assert log.without_recognised(["user"]).columns == Columns(user="userId")
    log = read_log(path, columns=Columns(time="clicks"))
    assert (log.columns.time, log.recognised) == ("clicks", found.keys() - {"time"})
    path.write_text("user,userId,Time,Timestamp\nann,7,2026-01-01,2026-01-01\n")
    assert read_log(path).columns == Columns(user="user")


# Files, folders and patterns


def test_several_files_folders_and_patterns(tmp_path: Path, entries: Entries) -> None:
    (tmp_path / "day" / "deep").mkdir(parents=True)
    for place in ("day/a.csv", "day/deep/b.csv.gz", "c.csv"):
        written(tmp_path / place)
    for place in ("day/.hidden.csv", "day/_marker.csv.gz", "day/notes.txt"):
        (tmp_path / place).write_text("not part of the log\n")
    for paths, files in (
        (tmp_path / "day", 2),
        (str(tmp_path / "day" / "*.csv"), 1),
        (str(tmp_path / "**" / "*.csv"), 2),
        ([tmp_path / "c.csv", tmp_path / "day"], 3),
        ([str(tmp_path / "c.csv")], 1),
    ):
        log = read_log(paths)
        assert len(log.paths) == files
        assert len(entries(log, "user")) == 2 * files


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l[1].csv"
    path.write_text("user,query\nright,tea\n")
    (tmp_path / "l1.csv").write_text("user,query\nwrong,tea\n")
    assert entries(read_log(path), "user") == [("right",)]


def test_a_parquet_file_whose_name_looks_like_a_pattern(tmp_path: Path, entries: Entries) -> None:
    for name, user in (("l[1].parquet", "right"), ("l1.parquet", "wrong")):
        pq.write_table(pa.table({"user": [user], "query": ["tea"]}), tmp_path / name)
    assert entries(read_log(tmp_path / "l[1].parquet"), "user") == [("right",)]


def test_a_folder_name_is_no_column(tmp_path: Path, entries: Entries) -> None:
    folder = tmp_path / "user=everybody"
    folder.mkdir()
    pq.write_table(pa.table({"user": ["ann", "bob"], "query": ["a", "b"]}), folder / "l.parquet")
    assert entries(read_log(folder), "user") == [("ann",), ("bob",)]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_files_with_different_columns_are_refused(suffix: str, tmp_path: Path) -> None:
    first, second = written(tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"user": ["secret"], "question": ["secret"]}), second)
    else:
        mark = "," if suffix == "csv" else "\t"
        second.write_text(f"user{mark}question\nsecret{mark}secret\n")
    with pytest.raises(LogError, match=r"b\.\w+ does not have the same columns as a\.") as raised:
        read_log([first, second])
    assert "secret" not in str(raised.value)


def test_files_of_different_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="different formats"):
        read_log([written(tmp_path / "a.csv"), written(tmp_path / "b.tsv")])


def test_what_is_left_out_of_a_folder_is_said(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv.gz.txt", "c.tsv", "d", "sheet.xlsx", ".hidden.csv", "_tmp"):
        (tmp_path / name).write_text("user,query\nann,tea\n")
    with pytest.raises(UsageError, match="different formats"):
        read_log(tmp_path)
    log = read_log(tmp_path, "csv")
    assert [each.name for each in log.paths] == ["a.csv"]
    assert log.left_out == ("b.csv.gz.txt", "c.tsv", "d", "sheet.xlsx")
    assert log.files_left_out() == "b.csv.gz.txt, c.tsv, d, sheet.xlsx"
    assert "sheet.xlsx" in log._repr_html_()
    others = replace(log, left_out=tuple("abcdefg")).files_left_out()
    assert others == "a, b, c, d, e and 2 more"
    log = read_log(tmp_path, "aol")  # which no ending tells
    assert [each.name for each in log.paths] == ["b.csv.gz.txt", "d"]


def test_standard_input_is_kept_for_all_who_read_it(
    tmp_path: Path, entries: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = io.TextIOWrapper(io.BytesIO(b"user,query\nann,tea\n"))
    monkeypatch.setattr("sys.stdin", piped)
    monkeypatch.setattr("zealous.files.standard_input._kept", functools.cache(_kept.__wrapped__))
    ended: list[Any] = []
    monkeypatch.setattr("atexit.register", ended.append)
    with pytest.raises(UsageError, match="does not tell its format"):
        read_log("-")
    engine = DuckDB(threads=1, temporary=tmp_path)
    for _ in range(2):
        assert entries(read_log("-", "csv", engine=engine), "query") == [("tea",)]
    (kept,) = tmp_path.glob("zealous-*/files/*")
    assert kept.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Refused, match="beside standard input"):
        read_log("-", "csv", engine=engine).paths[0].ledger_place()
    (end,) = ended
    end()
    assert not list(tmp_path.iterdir())


def test_parquet_files_of_different_types_are_refused(tmp_path: Path, entries: Entries) -> None:
    pq.write_table(pa.table({"user": [1], "query": ["tea"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"user": ["1"], "query": ["tea"]}), tmp_path / "b.parquet")
    with pytest.raises(LogError, match="different types"):
        entries(read_log(tmp_path / "*.parquet"), "user")


@pytest.mark.parametrize("paths", ["nothing.csv", "none*.csv", "empty", []])
def test_nothing_there(paths: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises((LogError, UsageError), match=r"no log (found|given)"):
        read_log(tmp_path / paths if paths else paths)


# Columns and roles


def test_columns_may_have_any_name(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text('query,user,"odd ""name""; --",time\nann,tea,x,y\n')
    log = read_log(path, columns=Columns(user="query", query="user", session='odd "name"; --'))
    assert roles(log)["user"] == "query"
    found = entries(log, "user", "query", "session", extra_column("time"), extra=("time",))
    assert found == [("ann", "tea", "x", "y")]


def test_a_session_column(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text("user,query,session,visit\nann,tea,1,2\n")
    assert entries(read_log(path), "session") == [("1",)]
    assert entries(read_log(path, columns=Columns(session="visit")), "session") == [("2",)]


def test_lists_of_urls_and_keywords(tmp_path: Path, entries: Entries) -> None:
    row = {
        "user": "ann",
        "query": "鞋子",
        "urls": ["http://a", "http://b"],
        "keywords": ["鞋", "子"],
    }
    for kind in (pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.string(), 2)):
        schema = pa.schema(
            [("user", "string"), ("query", "string"), ("urls", kind), ("keywords", kind)]
        )
        pq.write_table(pa.Table.from_pylist([row], schema), tmp_path / "l.parquet")
        log = read_log(tmp_path / "l.parquet")
        assert roles(log)["url"] == "urls"
        assert roles(log)["keywords"] == "keywords"
        assert entries(log, "url", "keywords") == [(row["urls"], row["keywords"])]
    (tmp_path / "l.jsonl").write_text(json.dumps(row) + '\n{"user": "bob", "urls": "http://c"}\n')
    log = read_log(tmp_path / "l.jsonl", columns=Columns(url="urls", keywords="keywords"))
    assert entries(log, "user", "url", "keywords") == [
        ("ann", row["urls"], row["keywords"]),
        ("bob", ["http://c"], []),
    ]


def test_a_text_column_that_happens_to_be_called_keywords(tmp_path: Path, entries: Entries) -> None:
    (tmp_path / "l.csv").write_text("user,query,keywords\nann,tea,drink\n")
    pq.write_table(
        pa.table({"user": ["ann"], "query": ["tea"], "keywords": ["drink"]}), tmp_path / "l.parquet"
    )
    for name in ("l.csv", "l.parquet"):
        log = read_log(tmp_path / name)
        assert "keywords" not in roles(log)
        assert entries(log, "query") == [("tea",)]
        log = read_log(tmp_path / name, columns=Columns(keywords="keywords"))
        with pytest.raises(UsageError, match="must hold lists"):
            entries(log, "query")


def test_no_json_line_decides_what_the_columns_mean(tmp_path: Path, entries: Entries) -> None:
    # A session or keywords column changes the items of everybody: it has to be said.
    path = tmp_path / "l.jsonl"
    path.write_text('{"user": "ann", "query": "tea"}\n{"user": "mallory", "keywords": ["x"]}\n')
    log = read_log(path)
    assert roles(log) == {each: each for each in ("user", "query", "time", "url")}
    assert entries(log, "user", "query") == [("ann", "tea"), ("mallory", None)]


def test_names_that_differ_only_in_case(tmp_path: Path, entries: Entries) -> None:
    # The engine would take the number of the row for the user's id.
    table = pa.table({"ID": [1, 2], "id": ["ann", "ann"], "query": ["a", "b"]})
    pq.write_table(table, tmp_path / "l.parquet")
    with pytest.raises(LogError, match="differ in case"):
        read_log(tmp_path / "l.parquet", columns=Columns(user="id"))
    twice = pa.Table.from_arrays(table.columns, ["id", "id", "query"])
    pq.write_table(twice, tmp_path / "l.parquet")
    with pytest.raises(LogError, match="differ in case"):
        read_log(tmp_path / "l.parquet", columns=Columns(user="id"))
    (tmp_path / "l.csv").write_text("ID,id,query\n1,ann,tea\n")
    assert entries(read_log(tmp_path / "l.csv", columns=Columns(user="id")), "user") == [("ann",)]
    log = read_log(tmp_path / "l.csv", columns=Columns(user="id", query="ID"))
    with pytest.raises(UsageError, match="differ only in case"):
        entries(log, "user")


def test_an_unknown_extra_column(tmp_path: Path, entries: Entries) -> None:
    with pytest.raises(UsageError, match="no column 'nothing'"):
        entries(read_log(written(tmp_path / "l.csv")), "user", extra=("nothing",))


# Users


@pytest.mark.parametrize("blank", ["", " ", "   ", "\u00a0", "\u3000", "\u2003 ", "\x0b", "\x1f"])
def test_a_blank_user_is_nobody(blank: str, tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"user,query\n{blank},tea\nann,tea\n鞋,tea\n~,tea\n{blank}x,tea\n")
    users = [user for (user,) in entries(read_log(path), "user")]
    last = (
        f"{blank}x" if blank in ("\x0b", "\x1f") else "x"
    )  # spaces around an id are no part of it
    assert users == sorted(["ann", "~", "鞋", last], key=lambda user: repr((user,)))


@pytest.mark.parametrize(
    ("values", "kind", "users"),
    [
        ([7, None, 7], pa.int64(), [7, 7]),
        ([0, -1, None], pa.int32(), [-1, 0]),
        ([2**64 - 1], pa.uint64(), [2**64 - 1]),
        (["7", None, "", " "], pa.string(), ["7"]),
        (["7", None, "\t"], pa.large_string(), ["7"]),
        ([17850.0, None, float("nan"), float("inf"), 0.5], pa.float64(), ["0.5", "17850"]),
        ([17850.0, 1e30], pa.float32(), ["17850", "1e30"]),
        ([None, None], pa.null(), []),
    ],
)
def test_typed_users(
    values: list[Any], kind: pa.DataType, users: list[Any], tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": pa.array(values, kind), "query": ["tea"] * len(values)})
    pq.write_table(table, tmp_path / "l.parquet")
    found = [user for (user,) in entries(read_log(tmp_path / "l.parquet"), "user")]
    assert found == users


SAME = ["17850", "007", "7", "1.05", "1.0.0", "10.0.0.1", "1.0e3", "1e3", "a.0", ".0", "5.", "١.0"]
SAME += ["1.0 x", "1\n2.0", "1.0\n"]
SPELLED = {"17850.0": "17850", " 17850.00 ": "17850", "-3.0": "-3", "0.0": "0", "007.0": "007"}
SPELLED |= {text: text for text in SAME}


def test_a_whole_number_is_one_id_with_and_without_a_point(
    tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": [*SPELLED], "query": [*SPELLED], "session": [*SPELLED]})
    pq.write_table(table, tmp_path / "l.parquet")
    found = entries(read_log(tmp_path / "l.parquet"), "query", "user", "session")
    assert {query: user for query, user, _ in found} == SPELLED
    assert {query: session for query, _, session in found} == SPELLED


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_a_person_is_one_in_files_that_write_her_number_differently(
    ending: str, tmp_path: Path, entries: Entries
) -> None:
    """As a program does for one table with gaps in the ids, and one without."""
    for name, user in (("a", "17850"), ("b", "17850.0")):
        lines = {
            ".csv": f"user,query\n{user},tea\n",
            ".tsv": f"user\tquery\n{user}\ttea\n",
            ".jsonl": f'{{"user": {user}, "query": "tea"}}\n',
        }
        (tmp_path / f"{name}{ending}").write_text(lines[ending])
    log = read_log([tmp_path / f"a{ending}", tmp_path / f"b{ending}"])
    assert entries(log, "user") == [("17850",), ("17850",)]
    for listed in (b"17850\n", b"17850.0\n", b'"17850.00"\n'):
        (tmp_path / "ids.txt").write_bytes(listed)
        without = replace(log, cleaning=Cleaning(exclude_users=tmp_path / "ids.txt"))
        assert entries(without, "user") == []


def test_dictionary_columns_are_text(tmp_path: Path, entries: Entries) -> None:
    words = pa.array(["ann", "bob", None]).dictionary_encode()
    pq.write_table(pa.table({"user": words, "query": words}), tmp_path / "l.parquet")
    found = entries(read_log(tmp_path / "l.parquet"), "user", "query")
    assert found == [("ann", "ann"), ("bob", "bob")]


@pytest.mark.parametrize("role", ["user", "query"])
@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.binary(),
        pa.large_binary(),
        pa.binary(2),
        pa.struct({"a": pa.string(), "b": pa.string()}),
    ],
)
def test_what_is_no_text_is_refused(
    kind: pa.DataType, role: str, tmp_path: Path, entries: Entries
) -> None:
    """As a user's id two structs could be written alike, and two people would be one."""
    columns = {"user": ["ann"], "query": ["tea"]} | {role: pa.array([None], kind)}
    pq.write_table(pa.table(columns), tmp_path / "l.parquet")
    with pytest.raises(UsageError, match="not text"):
        entries(read_log(tmp_path / "l.parquet"), "user")


def test_the_same_person_in_a_dictionary_and_as_text(tmp_path: Path, entries: Entries) -> None:
    users = pa.array([" ann ", "ann", "bob"]).dictionary_encode()
    pq.write_table(pa.table({"user": users, "query": ["tea"] * 3}), tmp_path / "l.parquet")
    found = entries(read_log(tmp_path / "l.parquet"), "user")
    assert found == [("ann",), ("ann",), ("bob",)]


def test_a_time_that_is_no_number_stops_nobody(tmp_path: Path, entries: Entries) -> None:
    """The engine knows the least and the greatest number of a column, and NaN is neither."""
    times = [1.0, float("nan"), 2.0, float("inf")]
    table = pa.table({"user": [*"abcd"], "query": ["tea"] * 4, "time": times})
    for some in (table, table.slice(0, 3)):
        pq.write_table(some, tmp_path / "l.parquet")
        log = read_log(tmp_path / "l.parquet", time_format="epoch")
        try:
            found: dict[Any, Any] = dict(entries(log, "user", "time"))
        except ZealousError:
            found = {}
        assert {user for user, time in found.items() if time is not None} == {"a", "c"}
        assert len(found) == len(some)


def test_one_way_to_write_a_number(tmp_path: Path) -> None:
    plain = ("0.5", "10000000", "12345678.5", f"{10**17}", "0.001", "0.0001", "0.000015")
    powers = ("1e19", "-2.5e300", "1e-7", "1.25e-10")
    written: dict[float, str | None] = {
        float(text): text for text in (*plain, *powers, "123456789012345.6")
    }
    written |= {-0.0: "0", math.inf: None, -math.inf: None, math.nan: None}
    numbers = pa.array(list(written))
    path = tmp_path / "l.parquet"
    table = {"user": [*"abcdefghijklmnop"], "n": numbers, "url": pa.array([[n] for n in written])}
    pq.write_table(pa.table(table), path)
    with DuckDB(threads=1, temporary=tmp_path) as engine:
        source = open_log(read_log(path), engine, ["n"])
        sql = 'select "column:n", url from entries order by user'
        found = engine.rows([*source.entries, Step("all", sql)])
    assert [text for text, _ in found] == list(written.values())
    assert [texts for _, texts in found] == [[text] for text in written.values()]


# Times


@pytest.mark.parametrize(
    ("values", "kind", "form"),
    [
        ([NOON], pa.timestamp("s"), None),
        ([NOON], pa.timestamp("us"), None),
        ([NOON], pa.timestamp("ns"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("us", "America/New_York"), None),
        ([datetime(2006, 3, 1, 12, tzinfo=UTC)], pa.timestamp("ns", "UTC"), None),
        ([1141214400], pa.int64(), "epoch"),
        ([1141214400], pa.int32(), "epoch"),
        ([1141214400.0], pa.float64(), "epoch"),
        ([1141214400_000], pa.int64(), "epoch-ms"),
        (["1141214400"], pa.string(), "epoch"),
        (["2006-03-01 12:00:00"], pa.string(), None),
        (["01/03/2006 12:00"], pa.string(), "%d/%m/%Y %H:%M"),
        ([20060301120000], pa.int64(), "%Y%m%d%H%M%S"),
    ],
)
def test_typed_times(
    values: list[Any], kind: pa.DataType, form: str | None, tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": ["a", "b"], "time": pa.array([*values, None], kind)})
    pq.write_table(table, tmp_path / "l.parquet")
    found = entries(read_log(tmp_path / "l.parquet", time_format=form), "user", "time")
    assert found == [("a", NOON), ("b", None)]


def test_dates_are_times(tmp_path: Path, entries: Entries) -> None:
    table = pa.table({"user": ["a"], "time": pa.array([date(2006, 3, 1)], pa.date32())})
    pq.write_table(table, tmp_path / "l.parquet")
    assert entries(read_log(tmp_path / "l.parquet"), "time") == [(datetime(2006, 3, 1),)]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_moment_beyond_all_years_stops_nobody(
    unit: str, zone: str | None, tmp_path: Path, entries: Entries
) -> None:
    """As a time, as an item and as an id, which is nobody's then."""
    most = 2**63 - 1
    beyond = [most, most - 1, -most, -most - 1, -most + 1, 10**18, -(10**18)]
    noon = 1_141_214_400 * (1000 if unit == "ms" else 10**6)
    moments = pa.array([noon, *beyond]).cast(pa.timestamp(unit, zone))
    table = {"user": [*"abcdefgh"], "time": moments, "moment": moments, "url": [*"abcdefgh"]}
    table["unused"] = moments
    pq.write_table(pa.table(table), tmp_path / "l.parquet")
    log = read_log(tmp_path / "l.parquet")
    try:
        found = entries(log, "user", "time", extra_column("moment"), extra=("moment",))
        known = entries(read_log(tmp_path / "l.parquet", columns=Columns(user="moment")), "url")
    except ZealousError as why:
        raise AssertionError("one moment ended the run") from why
    text = "2006-03-01 12:00:00" + ("+00" if zone else "")
    assert found == [("a", NOON, text), *((user, None, None) for user in "bcdefgh")]
    assert known == [("a",)]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(19, 0)])
def test_numbers_are_times_only_when_it_is_said(
    kind: pa.DataType, tmp_path: Path, entries: Entries
) -> None:
    table = pa.table({"user": ["a"], "time": pa.array([1141214400]).cast(kind)})
    pq.write_table(table, tmp_path / "l.parquet")
    with pytest.raises(UsageError, match="time_format=epoch"):
        entries(read_log(tmp_path / "l.parquet"), "time")


@pytest.mark.parametrize(
    "time",
    [
        "",
        "yesterday",
        "2006-13-01",
        "294247-01-10 04:00:54",
        "20000-01-01",
        "infinity",
        "-infinity",
        "1000-01-01 (BC)",
        "9999-12-31 23:59:59",
    ],
)
def test_what_is_no_time_stops_nobody(time: str, tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"user,time\nann,2006-03-01 12:00:00\nmallory,{time}\n")
    later = "time + interval 10 year"
    assert entries(read_log(path), "user", "time", later) == [
        ("ann", NOON, datetime(2016, 3, 1, 12)),
        ("mallory", None, None),
    ]


@pytest.mark.parametrize("time", ["", "x", "nan", "inf", "-1e300", "1e300", "9" * 40, "3e11"])
@pytest.mark.parametrize("form", ["epoch", "epoch-ms"])
def test_numbers_that_are_no_times_stop_nobody(
    time: str, form: str, tmp_path: Path, entries: Entries
) -> None:
    path = tmp_path / "l.csv"
    path.write_text(f"user,time\nann,0\nmallory,{time}\n")
    found: dict[Any, Any] = dict(entries(read_log(path, time_format=form), "user", "time"))
    assert found["ann"] == datetime(1970, 1, 1)
    assert found["mallory"] is None or time == "3e11"


def test_a_pattern_that_is_none(tmp_path: Path, entries: Entries) -> None:
    path = written(tmp_path / "l.csv")
    with pytest.raises(UsageError, match="time_format must be epoch"):
        entries(read_log(path, time_format="%Q"), "time")
    assert entries(read_log(path, time_format="it's"), "time") == [(None,), (None,)]


# Cleaning


def cleaned(path: Path, ids: bytes, tmp_path: Path) -> Log:
    (tmp_path / "ids.txt").write_bytes(ids)
    return read_log(path, cleaning=Cleaning(exclude_users=tmp_path / "ids.txt"))


@pytest.mark.parametrize(
    "ids",
    [
        b"bob",
        b"bob\n",
        b"bob\r\n",
        b"\xef\xbb\xbfbob\n",
        b"  bob  \n",
        b"bob\t\n",
        b"\xc2\xa0bob\n",
        b"\n\nuser\nbob\n",
        b"nobody\nbob\n\n",
    ],
)
def test_users_on_the_list_are_left_out(ids: bytes, tmp_path: Path, entries: Entries) -> None:
    log = cleaned(written(tmp_path / "l.csv"), ids, tmp_path)
    assert entries(log, "user") == [("ann",)]


def test_a_user_called_id_can_be_left_out(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text("user,query\nid,tea\nann,tea\n")
    assert entries(cleaned(path, b"id\n", tmp_path), "user") == [("ann",)]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_numbers_can_be_left_out(kind: pa.DataType, tmp_path: Path, entries: Entries) -> None:
    users = pa.array([17850, 17851]).cast(kind)
    pq.write_table(pa.table({"user": users, "query": ["a", "b"]}), tmp_path / "l.parquet")
    log = cleaned(tmp_path / "l.parquet", b"17850\n", tmp_path)
    assert entries(log, "query") == [("b",)]


@pytest.mark.parametrize("ids", [b"zoe\nb\xf6b\n", b"zoe\nb\0b\n", b"zoe\nbo\rb\n", b"zoe\x1fb\n"])
def test_a_list_that_cannot_be_read_whole_is_refused(
    ids: bytes, tmp_path: Path, entries: Entries
) -> None:
    log = cleaned(written(tmp_path / "l.csv"), ids, tmp_path)
    with pytest.raises(LogError, match="would not be left out") as raised:
        entries(log, "user")
    assert "zoe" not in str(raised.value)


def test_a_list_that_is_missing() -> None:
    with pytest.raises(UsageError, match="exclude_users="):
        Cleaning(exclude_users=Path("nothing"))


def test_users_with_too_many_entries_are_left_out_whole(tmp_path: Path, entries: Entries) -> None:
    path = tmp_path / "l.csv"
    path.write_text("user,query\n" + "robot,x\n" * 3 + "ann,tea\nann,tea\n")
    log = read_log(path, cleaning=Cleaning(max_entries_per_user=2))
    assert entries(log, "user") == [("ann",), ("ann",)]
    with pytest.raises(UsageError, match="max_entries_per_user"):
        Cleaning(max_entries_per_user=0)


def test_no_message_quotes_the_first_line_of_a_text(tmp_path: Path) -> None:
    text = tmp_path / "log.csv"
    text.write_text("user17,hiv tests\nuser18,flu\n")
    parquet = tmp_path / "log.parquet"
    schema = ["user17", "hiv tests", "hiv test\x1b[2J"]
    pq.write_table(pa.table({name: ["flu"] for name in schema}), parquet)
    for path, names, near in (
        (text, (), ""),
        (text, ("user17", "hiv tests"), "hiv tests"),
        (parquet, (), "hiv tests"),
    ):
        with pytest.raises(UsageError) as of_a_role:
            read_log(path, names=names, columns=Columns(user="user"))
        log = read_log(path, names=names, columns=Columns(user="user17"))
        with DuckDB() as engine, pytest.raises(UsageError) as of_an_item:
            open_log(log, engine, ["hiv test"])
        assert ("user17" in str(of_a_role.value)) == bool(near)
        assert str(of_an_item.value).partition(". Did you mean ")[2].rstrip("?") == near


def test_the_person_is_said_by_itself_or_among_the_roles(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("Kd,item\n1,tea\n")
    path = tmp_path / "shop.csv"
    assert read_log(path, user="Kd") == read_log(path, columns=Columns(user="Kd"))
    with pytest.raises(ZealousError, match="leave one of them out"):
        read_log(path, user="Kd", columns=Columns(user="item"))


def test_a_file_with_another_delimiter_is_told_from_a_missing_column(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("Card No.;Titel\n000441;tea\n")
    with pytest.raises(UsageError, match=r"it has only one\. `zealous start` finds out") as told:
        read_log(path, columns=Columns(user="Card No."))
    assert "Titel" not in str(told.value)  # which may be data
    path.write_text("Card No.,Titel\n000441,tea\n")
    with pytest.raises(UsageError, match="`zealous start` lists its columns"):
        read_log(path, columns=Columns(user="Card"))
