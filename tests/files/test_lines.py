"""One physical line is one record, and no line can change another."""

from __future__ import annotations

import codecs
import csv
import gc
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from line_formats import FORMATS, NASTY, USERS, packed
from sampling import sampled

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError
from zealous.files import delimited, lines
from zealous.files.delimited import Delimited
from zealous.files.json_lines import JsonLines
from zealous.files.lines import Layout, Skipped, header, records, splitter
from zealous.logs.log import FORMATS as OF_LOGS
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log

Rows = list[tuple[Any, ...]]


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines over 4,000 bytes are too long, so that a test need not write megabytes."""
    for module in (lines, delimited):
        monkeypatch.setattr(module, "LINE_LIMIT", 4_000)


def read(path: Path, name: str, **changes: Any) -> tuple[Rows, Skipped]:
    """The (user, query) rows of a file in sorted order, and what was skipped."""
    columns, _, _ = FORMATS[name]
    return read_columns(path, OF_LOGS[name].layout, columns, **changes)


def read_columns(
    path: Path, layout: Layout | None, columns: tuple[str, ...], lists: tuple[str, ...] = ()
) -> tuple[Rows, Skipped]:
    assert layout is not None
    skipped = Skipped()
    batches = list(records(path, layout, columns, lists, skipped))
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    return sorted(rows, key=repr), +skipped


def others(rows: Rows) -> Rows:
    """The rows of everybody but those who wrote nasty lines."""
    return [row for row in rows if row[0] in USERS]


def spoiled(content: list[bytes], nasty: bytes) -> Iterator[bytes]:
    """The file with a nasty line at its beginning, in its middle and at its end."""
    half = len(content) // 2
    yield b"".join([nasty, b"\n", *content])
    yield b"".join([*content[:half], nasty, b"\n", *content[half:]])
    yield b"".join([*content, nasty, b"\n"])
    yield b"".join([*content, nasty])


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("nasty", NASTY, ids=lambda line: repr(line[:25]))
def test_no_line_changes_the_rows_of_others(name: str, nasty: bytes, tmp_path: Path) -> None:
    _, first, content = FORMATS[name]
    path = tmp_path / "log"
    path.write_bytes(first + b"".join(content))
    expected, skipped = read(path, name)
    assert len(expected) == len(content)
    assert others(expected) == expected
    assert not skipped
    for body in spoiled(content, nasty):
        path.write_bytes(first + body)
        assert others(read(path, name)[0]) == expected


@pytest.mark.parametrize("name", FORMATS)
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_bytes_change_the_rows_of_others(name: str, data: st.DataObject, tmp_path: Path) -> None:
    _, first, content = FORMATS[name]
    odd = st.sampled_from(
        [b'"', b",", b"\t", b"\r", b"\n", b"\0", b"\xff", b"{", b"}", b"\\", b"a"]
    )
    nasty = data.draw(st.one_of(st.binary(max_size=40), st.lists(odd).map(b"".join)))
    place = data.draw(st.integers(0, len(content)))
    body = b"".join([*content[:place], nasty, b"\n", *content[place:]])
    path = tmp_path / "log"
    path.write_bytes(first + b"".join(content))
    expected, _ = read(path, name)
    path.write_bytes(first + body)
    assert others(read(path, name)[0]) == expected


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("name", FORMATS)
def test_blocks_may_end_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first, content = FORMATS[name]
    nasty = [line + b"\n" for line in NASTY]
    path = tmp_path / "log"
    mixed = [line for pair in zip(nasty, content * 2, strict=False) for line in pair]
    path.write_bytes(b"\xef\xbb\xbf" + first + b"".join(mixed))
    rows, skipped = read(path, name)
    assert others(rows)
    for size in [*range(1, 24), 50, 101, 997, 4_001, 5_003, 12_000]:
        monkeypatch.setattr(lines, "_BLOCK", size)
        found = read(path, name)
        assert found[0] == rows
        assert found[1].total() == skipped.total()


@examples(400)
@given(st.lists(st.text('a",\r é', max_size=9), max_size=5))
def test_a_block_with_quotes_is_split_as_its_lines_are_one_by_one(written: list[str]) -> None:
    layout = Delimited(delimiter=",", quoted=True, names=("user", "query"))
    split = splitter(layout, ("user", "query"), ("user", "query"), ())

    def rows(text: str) -> Counter[tuple[str, ...]]:
        batches = split(text.encode(), Skipped()) if text else ()
        return Counter(tuple(row.values()) for batch in batches for row in batch.to_pylist())

    expected = Counter[tuple[str, ...]]()
    for line in written:
        with suppress(csv.Error):
            body = line.removesuffix("\r")
            found = next(csv.reader([body], strict=True), []) if '"' in body else body.split(",")
            if body and "\r" not in body and len(found) == 2:
                expected[tuple(found)] += 1
    assert rows("".join(f"{line}\n" for line in written)) == expected
    assert sum((rows(f"{line}\n") for line in written), Counter()) == expected


@examples(400)
@given(
    st.lists(st.text("a,\r\0 é", max_size=5) | st.sampled_from(["a,é", "é,a\r", ""]), max_size=5),
    st.sampled_from([(2, ()), (1, ()), (2, ("a", "é"))]),
)
def test_a_block_that_arrow_splits_as_it_is_has_the_rows_of_its_lines(
    written: list[str], how: tuple[int, tuple[str, ...]]
) -> None:
    least, names = how
    layout = Delimited(delimiter=",", names=names, least=least)
    split = splitter(layout, ("user", "query"), ("query", "user"), ())
    expected, reasons = Counter[tuple[str, ...]](), Skipped()
    for line in written:
        body = line.removesuffix("\r")
        fields = body.split(",")
        if "\0" in body or "\r" in body:
            reasons["odd"] += 1
        elif body and body != ",".join(names):
            if least <= len(fields) <= 2:
                expected[(*fields[1:], "")[0], fields[0]] += 1
            else:
                reasons["fields"] += 1
    skipped = Skipped()
    block = "".join(f"{line}\n" for line in written).encode()
    batches = list(split(block, skipped)) if block else []
    rows = (tuple(row.values()) for batch in batches for row in batch.to_pylist())
    assert Counter(rows) == expected
    assert skipped.total() == reasons.total()


def test_a_block_is_split_as_it_is_if_nothing_in_it_is_odd() -> None:
    """Else every log would take twice as long."""
    layout = Delimited(delimiter=",", quoted=True, names=("user", "query"))
    split = layout.splitter(("user", "query"), ("user", "query"), ())
    with mock.patch.object(delimited._Splitter, "_by_line", return_value=iter(())) as by_line:
        for block in (b"a,b\n\nc,\n", b"a,b\r\n\r\nc,d\n"):
            assert sum(len(batch) for batch in split(block, Skipped())) == 2
        assert not by_line.called
        for block in (
            b'"a",b\n',
            b"a\rb,c\n",
            b"a,b\nc\n",
            b"a,b,c\n",
            b"a\0,b\n",
            b"user,query\n",
        ):
            assert list(split(block, Skipped())) == []
        assert by_line.call_count == 6


@pytest.mark.parametrize("name", FORMATS)
def test_rows_stand_in_their_order_however_many_threads_split_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, first, content = FORMATS[name]
    layout = OF_LOGS[name].layout
    assert layout is not None
    path = tmp_path / "log"
    path.write_bytes(first + b"".join([*content, *(line + b"\n" for line in NASTY)] * 3))
    monkeypatch.setattr(lines, "_BLOCK", 101)
    found = []
    for threads in (1, 3):
        skipped = Skipped()
        batches = records(path, layout, columns, (), skipped, threads)
        found.append(([row for batch in batches for row in batch.to_pylist()], skipped))
    assert found[0] == found[1]
    assert len(found[0][0]) >= 3 * len(content)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("name", FORMATS)
def test_an_opened_log_holds_everybody_else(name: str, tmp_path: Path) -> None:
    _, first, content = FORMATS[name]
    clean, bad = tmp_path / "clean", tmp_path / "bad"
    clean.write_bytes(first + b"".join(content))
    nasty = [line + b"\n" for line in NASTY]
    bad.write_bytes(first + b"".join([*nasty, *content[:9], *nasty, *content[9:], *nasty]))
    found = []
    for path in (clean, bad):
        with DuckDB(threads=1, temporary=tmp_path) as engine:
            source = open_log(read_log(path, name), engine)
            everything = Step("everything", "select user, query from entries")
            found.append(sorted(map(repr, others(engine.rows([*source.entries, everything])))))
    assert found[0] == found[1]
    assert len(found[0]) == len(content)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"mallory,tea", "too few or too many columns"),
        (b"mallory,tea,1,2", "too few or too many columns"),
        (b'mallory,"tea,1', "quotes do not balance (text with line ends in it? use Parquet)"),
        (b'mallory,"te"a,1', "quotes do not balance (text with line ends in it? use Parquet)"),
        (b"mallory,\xff,1", "not valid utf-8"),
        (b"mallory,a\0b,1", "holds a NUL character"),
        (b"mallory,a\rb,1", "holds a carriage return"),
        (b"mallory," + b"x" * (1 << 20) + b",1", "longer than 1 MiB"),
    ],
)
def test_the_owner_learns_why_lines_are_skipped(line: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"user,query,time\nalice,tea,1\n" + line + b"\nbob,tea,1\n")
    rows, skipped = read(path, "csv")
    assert rows == [("alice", "tea"), ("bob", "tea")]
    assert skipped == Counter({reason: 1})


def test_a_line_of_just_one_mebibyte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    longest = b"a," + b"x" * (lines.LINE_LIMIT - 4) + b",1"
    assert len(longest) == lines.LINE_LIMIT
    path.write_bytes(b"user,query,time\n" + longest + b"\r\n" + longest + b"y\n")
    rows, skipped = read(path, "csv")
    assert [len(query) for _, query in rows] == [lines.LINE_LIMIT - 4]
    assert skipped.total() == 1


def test_a_line_over_many_blocks_is_skipped_in_any_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Four bytes of gb18030 are three of UTF-8: what is left of a line after most of it was thrown
    # away must not pass for a short line.
    for module in (lines, delimited):
        monkeypatch.setattr(module, "LINE_LIMIT", 40)
    monkeypatch.setattr(lines, "_BLOCK", 16)
    path = tmp_path / "log"
    text = "a\t1\ttea\nmallory\t1\t" + "ĉ" * 30 + "\nb\t1\ttea\n"
    path.write_bytes(text.encode("gb18030"))
    layout = Delimited(delimiter="\t", names=("user", "time", "query"), encoding="gb18030")
    rows, skipped = read_columns(path, layout, ("user", "query"))
    assert rows == [("a", "tea"), ("b", "tea")]
    assert skipped.total() == 1


@pytest.mark.parametrize("last", [b"\n", b""])
@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("utf-8", codecs.BOM_UTF8 * 60 + b"b\ttea"),
        ("gb18030", b"b\t" + "À".encode("gb18030") * 18),  # twice as long as in UTF-8
    ],
    ids=["marks", "gb18030"],
)
def test_where_a_line_stands_does_not_decide_whether_it_is_too_long(
    encoding: str, line: bytes, last: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else somebody's record would hang on how many bytes others have in front of it."""
    for module in (lines, delimited):
        monkeypatch.setattr(module, "LINE_LIMIT", 40)
    monkeypatch.setattr(lines, "_BLOCK", 40)
    layout = Delimited(delimiter="\t", names=("user", "query"), encoding=encoding)
    path = tmp_path / "log"
    for length in range(40):
        path.write_bytes(b"x" * length + b"\n" + line + last)
        rows, _ = read_columns(path, layout, ("user", "query"))
        assert [user for user, _ in rows] == ["b"], length


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_line_ends(name: str, end: bytes, last: bool, tmp_path: Path) -> None:
    _, first, content = FORMATS[name]
    path = tmp_path / "log"
    path.write_bytes(first + b"".join(content))
    expected = read(path, name)
    body = (first + b"".join(content)).replace(b"\n", end)
    path.write_bytes(body if last else body.removesuffix(end))
    assert read(path, name) == expected


def test_every_aol_file_has_a_header_and_none_is_a_record(tmp_path: Path) -> None:
    _, first, content = FORMATS["aol"]
    path = tmp_path / "log"
    for header_line in (first, first.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + first, b""):
        path.write_bytes(header_line + b"".join(content) + header_line)
        rows, _ = read(path, "aol")
        assert len(others(rows)) == len(content)
        assert all(user != "AnonID" for user, _ in rows)


def test_aol_rows_are_one_a_click_and_may_be_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "1\ttea\t2006-03-01 07:17:12\n"
        "1\ttea\t2006-03-01 07:17:12\t1\thttp://a.example\n"
        "1\ttea\t2006-03-01 07:17:12\t2\thttp://b.example\n"
        "1\ttea\n"
        "1\ttea\t2006-03-01 07:17:12\t2\thttp://b.example\tsurplus\n"
    )
    rows, skipped = read_columns(path, OF_LOGS["aol"].layout, ("AnonID", "ClickURL"))
    assert rows == [("1", ""), ("1", "http://a.example"), ("1", "http://b.example")]
    assert skipped.total() == 2


def test_a_single_name_may_be_a_value(tmp_path: Path) -> None:
    path = tmp_path / "ids"
    path.write_text("id\nalice\n")
    layout = Delimited(delimiter="\x1f", names=("id",))
    assert read_columns(path, layout, ("id",))[0] == [("alice",), ("id",)]


@pytest.mark.parametrize("pack", [".gz", ".bz2", ".zst", ".GZ", ""])
def test_compressed_files(pack: str, tmp_path: Path) -> None:
    _, first, content = FORMATS["csv"]
    plain = tmp_path / "log.csv"
    plain.write_bytes(first + b"".join(content))
    path = tmp_path / f"packed.csv{pack}"
    path.write_bytes(packed(plain.read_bytes(), pack))
    assert read(path, "csv") == read(plain, "csv")
    assert header(path, Delimited(delimiter=",", quoted=True)) == ("user", "query", "time")


TINY_LINES = [b"{}\n", b"\n", b"x\n", b'{"user":1}\n', b"\xff\n{}\n"]


@pytest.mark.parametrize("line", sampled(TINY_LINES, repr, share=5))
def test_a_block_of_tiny_lines_takes_little_memory(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line)
    list(records(path, JsonLines(), ["user", "query"], [], Skipped()))  # loads what reading needs
    path.write_bytes(line * 200_000)
    skipped, sizes = Skipped(), []
    tracemalloc.start()
    try:
        for batch in records(path, JsonLines(), ["user", "query"], [], skipped):
            sizes.append(batch.num_rows)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert max(sizes, default=0) <= 1 << 15
    assert sum(sizes) == (200_000 if b"{" in line else 0)
    assert most < 24 << 20  # a list of these lines alone is no less than 8 MB


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("is_on", [True, False])
def test_a_line_of_many_lists_is_not_searched_for_garbage_again_and_again(
    is_on: bool, threads: int, tmp_path: Path
) -> None:
    path, here, searches = tmp_path / "log.jsonl", threading.get_ident(), []
    path.write_bytes((b'{"user":[' + b"[]," * 100_000 + b'"ann"]}\n') * 6)

    def count(phase: str, _: object) -> None:
        if phase == "start" and threading.get_ident() != here:
            searches.append(phase)

    gc.callbacks.append(count)
    try:
        (gc.enable if is_on else gc.disable)()
        found = list(records(path, JsonLines(), ["user"], ["user"], Skipped(), threads))
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
        gc.callbacks.remove(count)
    assert [row["user"] for each in found for row in each.to_pylist()] == [["ann"]] * 6
    if threads == 1:  # of several one may leave it on for another that has just begun
        assert len(searches) < 50  # and not one for every 700 lists


@pytest.mark.parametrize("empty", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("name", ["a.csv", "z.csv"])
def test_an_empty_file_among_others_has_no_entries(name: str, empty: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_bytes(b"user,query\nann,tea\n")
    (tmp_path / name).write_bytes(empty)
    log = read_log(tmp_path)
    assert log.names() == ("user", "query")
    with DuckDB(threads=1, temporary=tmp_path) as engine:
        source = open_log(log, engine)
        all_of_them = Step("all", "select user from entries")
        assert engine.rows([*source.entries, all_of_them]) == [("ann",)]
    (tmp_path / "m.csv").write_bytes(b"")
    with pytest.raises(LogError, match="does not name the columns"):
        read_log(tmp_path)


@pytest.mark.parametrize("ending", [".lz4", ".snappy", ".XZ", ".zip"])
def test_other_compression_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.csv{ending}"
    path.write_bytes(b"user,query\nann,tea\n")
    with pytest.raises(LogError, match="compressed in a way that is not read"):
        read_log(path, "csv")
    with DuckDB(threads=1, temporary=tmp_path) as engine, pytest.raises(LogError, match="not read"):
        open_log(read_log(path, "jsonl"), engine)


@pytest.mark.parametrize("pack", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_damaged_files_are_refused(pack: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.csv{pack}"
    whole = packed(b"user,query,time\n" + b"secret,secret,1\n" * 5_000, pack)
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"secret" * 100)
    with pytest.raises(LogError, match=r"damaged or cut short") as raised:
        read(path, "csv")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("latin-1", "größe"),
        ("cp1252", "„größe“ €"),
        ("gb18030", "鞋子 ĉ 🥿"),
        ("gbk", "鞋子"),
        ("shift_jis", "靴ソ表"),  # the second bytes of these are a backslash
        ("euc_kr", "신발"),
        ("big5", "鞋子功"),
        ("koi8-r", "обувь"),
        ("utf-8", "鞋子 🥿"),
        ("utf-8-sig", "鞋子 🥿"),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 24])
def test_encodings(
    encoding: str, word: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", block)
    path = tmp_path / "log.csv"
    path.write_bytes(f'user,query\r\nalice,{word}\r\nbob,"{word}, {word}"\r\n'.encode(encoding))
    layout = Delimited(delimiter=",", quoted=True, encoding=encoding)
    assert header(path, layout) == ("user", "query")
    rows, skipped = read_columns(path, layout, ("user", "query"))
    assert rows == [("alice", word), ("bob", f"{word}, {word}")]
    assert not skipped


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_a_byte_order_mark_is_no_text(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes("\ufeffuser,query\nalice,tea\n".encode(encoding))
    assert header(path, Delimited(delimiter=",", encoding=encoding)) == ("user", "query")
    path.write_bytes("\ufeffalice,tea\n\ufeffalice,tea\n".encode(encoding))
    named = Delimited(delimiter=",", encoding=encoding, names=("user", "query"))
    assert set(read_columns(path, named, ("user",))[0]) == {("alice",)}


@pytest.mark.parametrize(
    ("encoding", "bad"),
    [
        ("gb18030", b"mallory\t\x81\x30\x81"),
        ("gb18030", b"mallory\t\xff"),
        ("shift_jis", b"mallory\t\x81"),
        ("cp1252", b"mallory\t\x81"),
        ("big5", b"mallory\t\xa4"),
    ],
)
@pytest.mark.parametrize("block", [1, 5, 1 << 24])
def test_what_is_invalid_in_an_encoding_is_skipped_alone(
    encoding: str, bad: bytes, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", block)
    end = "\n".encode(encoding)
    alice, bob = "alice\ttea".encode(encoding), "bob\ttea".encode(encoding)
    path = tmp_path / "log"
    layout = Delimited(delimiter="\t", names=("user", "query"), encoding=encoding)
    for order in ([bad, alice, bob], [alice, bad, bob], [alice, bob, bad]):
        path.write_bytes(b"".join(line + end for line in order))
        rows, skipped = read_columns(path, layout, ("user",))
        assert rows == [("alice",), ("bob",)]
        assert skipped == Counter({f"not valid {encoding}": 1})


@pytest.mark.parametrize(
    "encoding", ["utf-16", "UTF16", "utf-16-le", "utf_16_be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_encodings_that_one_odd_byte_would_shift_are_refused(encoding: str) -> None:
    with pytest.raises(UsageError, match=r"iconv -f utf-(16|32)\S* -t utf-8"):
        Delimited(delimiter=",", encoding=encoding)


@pytest.mark.parametrize(
    "encoding", ["klingon", "hex", "rot13", "utf-7", "iso2022_jp", "hz", "cp500", "unicode_escape"]
)
def test_encodings_in_which_lines_do_not_stand_alone_are_refused(encoding: str) -> None:
    with pytest.raises(UsageError, match="encoding"):
        Delimited(delimiter=",", encoding=encoding)


@pytest.mark.parametrize("delimiter", ["", '"', "\n", "\r", "\0", "é", "，"])
def test_delimiters_that_cannot_be_split_by_are_refused(delimiter: str) -> None:
    with pytest.raises(UsageError, match="delimiter"):
        Delimited(delimiter=delimiter)


def test_delimiters_of_several_characters(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    good = [b"1::tea::a:b", b'2::"x::', b"3::coffee::c\r"]
    bad = [b"4::x", b"5::a::b::c", b"6::\0::c", b"7::a\rb::c"]
    path.write_bytes(b"\n".join([b"user::query::genre", *good, *bad, b""]))
    skipped = Skipped()
    layout = Delimited(delimiter="::", quoted=True)
    read = records(path, layout, ["genre", "user"], [], skipped)
    rows = [tuple(row.values()) for batch in read for row in batch.to_pylist()]
    assert rows == [("a:b", "1"), ("", "2"), ("c", "3")]
    assert skipped.total() == len(bad)


def test_a_name_that_stands_twice_is_told_apart_by_its_place(tmp_path: Path) -> None:
    path, layout = tmp_path / "log.csv", Delimited(delimiter=",", quoted=True)
    path.write_bytes(b"user,,secret,,secret\nann,1,2,3,4\n")
    names = header(path, layout)
    assert names == ("user", "(column 2)", "secret (column 3)", "(column 4)", "secret (column 5)")
    (batch,) = records(path, layout, [names[4], names[0]], [], Skipped())
    assert batch.to_pylist() == [{"secret (column 5)": "4", "user": "ann"}]
    path.write_bytes(b"secret,secret,secret (column 1)\n")
    with pytest.raises(LogError, match="one name for several columns") as raised:
        header(path, layout)
    assert "secret" not in str(raised.value)


def test_names_must_differ() -> None:
    with pytest.raises(UsageError, match="different names"):
        Delimited(delimiter=",", names=("user", "user"))


@pytest.mark.parametrize("first", [b"", b"\n", b"\r\n", b"us\xffer,query\n", b'"user,query\n'])
def test_a_first_line_that_names_nothing_is_refused(first: bytes, tmp_path: Path) -> None:
    # In particular the second line, which is somebody's, is not taken for the header.
    path = tmp_path / "log.csv"
    path.write_bytes(first + (b"secret,secret2\n" if first else b""))
    with pytest.raises(LogError, match="not name the columns: `zealous start` finds") as raised:
        header(path, Delimited(delimiter=",", quoted=True))
    assert "secret" not in str(raised.value)


def test_a_header_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    for content in (b"user,query,time", b"user,query,time\n", b"user,query,time\r\n\r\n"):
        path.write_bytes(content)
        assert read(path, "csv") == ([], Counter())


@pytest.mark.parametrize("delimiter", [";", "|", " ", "\x01", "a"])
def test_other_delimiters(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f'u{delimiter}q\n1{delimiter}tee\n2{delimiter}"x{delimiter}y"\n')
    layout = Delimited(delimiter=delimiter, quoted=True)
    assert read_columns(path, layout, ("u", "q"))[0] == [("1", "tee"), ("2", f"x{delimiter}y")]


def test_columns_may_be_taken_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('a,b,c\n1,2,3\n4,"5",6\n')
    layout = Delimited(delimiter=",", quoted=True)
    assert read_columns(path, layout, ("c", "a"))[0] == [("3", "1"), ("6", "4")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1"),
        ('"1"', "1"),
        ("-12345678901234567890123", "-12345678901234567890123"),
        ("1.50", "1.50"),
        ("1e999", "1e999"),
        ("true", "true"),
        ("null", None),
        ("NaN", None),
        ("[1]", None),
        ('{"a": 1}', None),
        ('"\\u00e9\\ud83e\\udd7f"', "é🥿"),
    ],
)
def test_json_values_stay_the_text_they_are(value: str, text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"user": {value}}}\n{{}}\n')
    rows, skipped = read_columns(path, JsonLines(), ("user",))
    assert rows == sorted([(text,), (None,)], key=repr)
    assert not skipped


def test_json_lists(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"u": ["a", null, 1, ["x"]]}\n{"u": "b"}\n{"u": []}\n{"u": null}\n{}\n')
    rows, _ = read_columns(path, JsonLines(), ("u",), ("u",))
    assert rows == [(["a", "1"],), (["b"],), ([],), ([],), ([],)]


def test_whether_a_json_line_is_read_does_not_depend_on_the_columns_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"user": "a", "query": "\\ud800", "url": "x"}\n{"user": "b"}\n')
    for columns in (("user",), ("user", "query"), ("url", "user")):
        rows, skipped = read_columns(path, JsonLines(), columns)
        assert len(rows) == 1
        assert skipped == Counter({"not a JSON object": 1})
