"""What columns mean: roles, lists, and who the person is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_entries import Entries, roles, written

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError, ZealousError
from zealous.logs.log import Cleaning, Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import extra_column


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    """The chosen columns of a log's entries, in sorted order."""

    def select(log: Log, *names: str, extra: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(log, engine, extra)
            chosen = Step("chosen", f"select {', '.join(names)} from entries")
            return sorted(engine.rows([*source.entries, chosen]), key=repr)

    return select


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


@pytest.mark.parametrize("listed", [b"ann\n\xff\n", b"\xfe\xffann\n", b"ann\nbob\xe9\n"])
def test_a_list_of_ids_that_is_not_utf8_leaves_nobody_in(
    listed: bytes, tmp_path: Path, entries: Entries
) -> None:
    """An id of it that is not read could be anybody's."""
    (tmp_path / "l.csv").write_bytes("user,query\nann,tea\nbobé,tea\n".encode())
    (tmp_path / "ids.txt").write_bytes(listed)
    log = replace(
        read_log(tmp_path / "l.csv"), cleaning=Cleaning(exclude_users=tmp_path / "ids.txt")
    )
    with pytest.raises(LogError, match="ids that cannot be read, whose users would not be left"):
        entries(log, "user")


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
