"""Who is left out of a log, and what is said of a log that does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_entries import Entries, written

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError, ZealousError
from zealous.logs.log import Cleaning, Columns, Log, read_log
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
