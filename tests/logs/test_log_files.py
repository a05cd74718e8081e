"""Which files are a log, and which format they have."""

from __future__ import annotations

import functools
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_entries import NOON, Entries, roles, written

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, Refused, UsageError
from zealous.files.standard_input import _private_copy
from zealous.logs.log import FORMATS, Columns, Log, read_log
from zealous.logs.open_log import open_log


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    """The chosen columns of a log's entries, in sorted order."""

    def select(log: Log, *names: str, extra: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(log, engine, extra)
            chosen = Step("chosen", f"select {', '.join(names)} from entries")
            return sorted(engine.rows([*source.entries, chosen]), key=repr)

    return select


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
    monkeypatch.setattr(
        "zealous.files.standard_input._private_copy", functools.cache(_private_copy.__wrapped__)
    )
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
