"""What one person can bring is limited, by rules that look at her own rows alone."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import zealous as z
from zealous.cli import cli
from zealous.counting.histogram import histogram
from zealous.engines import duckdb
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import LogError, Refused, UsageError
from zealous.files import parquet, text_sizes
from zealous.logs.open_log import open_log
from zealous.logs.source import count_everyone, count_users, extra_column
from zealous.record.record import LimitsRecord
from zealous.verification.verify import verify

Row = dict[str, Any]
GOAL = z.Indistinguishability(epsilon=1, delta="1e-6")
ROLES = z.Columns(user="user", query="query", time="time", url="url", session="session")
WHOLE = {
    "user": "ann",
    "query": "tea",
    "time": "2026-01-01 10:00:00",
    "url": "u.example",
    "session": "s1",
    "land": "at",
}
LONG = "x" * 31


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDB]:
    with DuckDB(memory="1GB", threads=2, temporary=tmp_path) as running:
        yield running


def write(path: Path, rows: list[Row]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        lines = [",".join(row.values()) for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *lines, ""]))
    return path


def limited(path: Path, columns: z.Columns | None = None, **limits: int) -> Any:
    return z.read_log(path, columns=columns, cleaning=z.Cleaning(limits=z.Limits(**limits)))


def entries(engine: DuckDB, log: Any, *names: str, key: int = 0, **how: Any) -> list[Any]:
    source = open_log(log, engine, ["land"] if '"column:land"' in names else [], key=key, **how)
    wanted = Step("wanted", f"select {comma_separated(names)} from entries")
    return sorted(engine.rows([*source.entries, wanted]), key=repr)


# Texts


@pytest.mark.parametrize("bulky", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("role", ["query", "time", "url", "session", "land"])
def test_a_text_over_the_limit_is_as_if_it_were_not_there(
    role: str, suffix: str, bulky: bool, tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    monkeypatch.setattr(DuckDB, "_is_bulky", lambda *_: bulky)
    longest = WHOLE["time"] if role == "time" else "é" + "x" * 17
    assert len(longest.encode()) == 19
    rows = [WHOLE | {role: longest}, WHOLE | {role: f"{longest}.0"}]
    listed = role == "url" and suffix == "jsonl"  # where the one element counts too
    log = limited(write(tmp_path / f"log.{suffix}", rows), ROLES, text=19 + listed)
    name = extra_column("land") if role == "land" else identifier(role)
    found = entries(engine, log, "user", f"{name}::varchar", '"column:land"')
    assert [each[0] for each in found] == ["ann", "ann"]
    assert {each[1] for each in found} == {f"[{longest}]" if listed else longest, None}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_entry_with_an_id_over_the_limit_is_nobodys(
    suffix: str, tmp_path: Path, engine: DuckDB
) -> None:
    rows = [WHOLE, WHOLE | {"user": LONG}, WHOLE | {"user": LONG[1:]}]
    log = limited(write(tmp_path / f"log.{suffix}", rows), text=30)
    assert entries(engine, log, "user") == [("ann",), (LONG[1:],)]


@pytest.mark.parametrize("bulky", [False, True])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_list_counts_with_all_its_texts_and_elements(
    suffix: str, bulky: bool, tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    monkeypatch.setattr(DuckDB, "_is_bulky", lambda *_: bulky)
    lists = [["abcd", "efgh"], ["abcd", "efghi"], [""] * 10, [""] * 11, ["123456789"], []]
    rows = [{"user": f"u{n}", "urls": each} for n, each in enumerate(lists)]
    log = limited(write(tmp_path / f"log.{suffix}", rows), z.Columns(url="urls"), text=10)
    found = dict(entries(engine, log, "user", "url"))
    kept = {f"u{n}": lists[n] for n in (0, 2, 4)}
    assert {user: each for user, each in found.items() if each} == kept


def test_a_list_of_nothing_but_nulls_is_limited_too(tmp_path: Path, engine: DuckDB) -> None:
    rows = [{"user": "u", "urls": [None] * 11}, {"user": "v", "urls": [None] * 10}]
    table = pa.Table.from_pylist(
        rows, pa.schema([("user", pa.string()), ("urls", pa.list_(pa.string()))])
    )
    pq.write_table(table, tmp_path / "log.parquet")
    log = limited(tmp_path / "log.parquet", z.Columns(url="urls"), text=10)
    assert dict(entries(engine, log, "user", "url"))["u"] is None


@pytest.mark.parametrize("word", ["w", "É"])
def test_the_first_words_of_a_query_count(word: str, tmp_path: Path, engine: DuckDB) -> None:
    """Lists of words are made for many rows at once."""
    for number in (255, 256, 257, 400):
        text = " ".join(f"{word}{n}" for n in range(number))
        path = write(tmp_path / f"{number}.csv", [{"user": "u", "query": text}])
        source = open_log(z.read_log(path), engine)
        found = histogram(z.keywords(500), source, bound=500, at_least=1, select="random", key=1)
        words = {each for batch in found for each in batch["keyword"].to_pylist()}
        assert words == {f"{word.lower()}{n}" for n in range(min(number, 256))}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_first_elements_of_a_list_count(suffix: str, tmp_path: Path, engine: DuckDB) -> None:
    """A person's lists could otherwise hold thousands of items for each of her entries."""
    rows = [{"user": "u", "urls": ["a", "b", "c"]}, {"user": "v", "urls": ["d", "e"]}]
    path = write(tmp_path / f"log.{suffix}", rows)
    for columns in (z.Columns(url="urls"), z.Columns(keywords="urls")):
        log = limited(path, columns, words=2)
        source = open_log(log, engine)
        role = "url" if columns.url else "keywords"
        assert dict(entries(engine, log, "user", role)) == {"u": ["a", "b"], "v": ["d", "e"]}
        assert (
            source.skipped["a query or list of more than 2 words (where words count, its first do)"]
            == 1
        )


def test_the_number_of_words_can_be_set(tmp_path: Path, engine: DuckDB) -> None:
    path = write(tmp_path / "log.csv", [{"user": "u", "query": "d c; b a"}])
    source = open_log(limited(path, words=3), engine)

    def counted(kind: Any) -> set[str]:
        found = histogram(kind, source, bound=9, at_least=1, select="random", key=1)
        return {each for batch in found for each in batch.column(0).to_pylist()}

    assert counted(z.keywords(9)) == {"b", "c", "d"}
    assert counted(z.queries(9, fold_words=True)) == {"b c d"}
    assert counted(z.queries(9)) == {"d c; b a"}


@pytest.mark.parametrize("bulky", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_owner_is_told_how_much_was_left_out(
    suffix: str, bulky: bool, tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    monkeypatch.setattr(DuckDB, "_is_bulky", lambda *_: bulky)
    rows = [
        WHOLE,
        WHOLE | {"query": LONG, "url": LONG},
        WHOLE | {"url": LONG},
        WHOLE | {"user": LONG},
        WHOLE | {"query": "a b c"},
        WHOLE | {"query": "a; b"},
    ]
    log = limited(write(tmp_path / f"log.{suffix}", rows), ROLES, text=30, words=2, entries=3)
    assert +open_log(log, engine).skipped == {
        "no user id": 1,
        "a text of more than 30 bytes (only that text is left out)": 3,
        "a query or list of more than 2 words (where words count, its first do)": 1,
        "entries of somebody with more than 3 (the first of them count)": 2,
    }


LIMITS = {"text": 30, "words": 12}
LONG_TEXT = "a text of more than 30 bytes (only that text is left out)"
MANY_WORDS = "a query or list of more than 12 words (where words count, its first do)"


@pytest.mark.parametrize(
    ("query", "urls", "told"),
    [
        ("é" * 15, None, {}),
        ("é" * 15 + "e", None, {LONG_TEXT: 1}),
        (" ".join("abcdefghijkl") + "  ", None, {}),
        (" ".join("abcdefghijklm"), None, {MANY_WORDS: 1}),
        ("tea", ["é" * 7, "x" * 14], {}),
        ("tea", ["é" * 7, "x" * 15], {LONG_TEXT: 1}),
        ("tea", [""] * 12, {}),
        ("tea", [""] * 30, {MANY_WORDS: 1}),
        ("tea", [None] * 31, {LONG_TEXT: 1}),
    ],
)
def test_the_owner_is_told_of_what_is_just_over_a_limit(
    query: str, urls: list[str | None] | None, told: dict[str, int], tmp_path: Path, engine: DuckDB
) -> None:
    """Of a Parquet file the longest value is known, and decides whether any is counted."""
    table = {
        "user": ["ann", "bob", "cid"],
        "query": ["tea", query, None],
        "url": pa.array([["u"], urls, []], pa.list_(pa.string())),
    }
    pq.write_table(pa.table(table), tmp_path / "log.parquet")
    columns = z.Columns(user="user", query="query", url="url")
    assert +open_log(limited(tmp_path / "log.parquet", columns, **LIMITS), engine).skipped == told


def unchecked(texts: list[bytes | None]) -> pa.Array:
    """As programs write them that do not look."""
    return pa.Array.from_buffers(pa.string(), len(texts), pa.array(texts, pa.binary()).buffers())


def test_a_text_that_is_not_utf8_is_as_if_it_were_not_there(tmp_path: Path, engine: DuckDB) -> None:
    """Nobody ends a run by one byte."""
    texts = unchecked([b"tea", b"caf\xe9", None, b"\xff\xfet\0"])
    urls = unchecked([b"a", b"\xff", b"b"])
    table = pa.table(
        {
            "user": ["ann", "bob", "cid", "dee"],
            "query": texts,
            "url": pa.ListArray.from_arrays(pa.array([0, 2, 3, 3, 3], pa.int32()), urls),
            "land": pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 0, None], pa.int32()), unchecked([b"at", b"\xff"]), safe=False
            ),
        }
    )
    pq.write_table(table, tmp_path / "log.parquet")
    log = z.read_log(tmp_path / "log.parquet", columns=z.Columns(query="query", url="url"))
    try:
        source = open_log(log, engine, ["land"])
    except z.ZealousError as why:
        raise AssertionError("one byte ended the run") from why
    wanted = Step("wanted", f"select user, query, url, {extra_column('land')} from entries")
    assert sorted(engine.rows([*source.entries, wanted])) == [
        ("ann", "tea", ["a", None], "at"),
        ("bob", None, ["b"], None),
        ("cid", None, [], "at"),
        ("dee", None, [], None),
    ]
    assert +source.skipped == {"a text that is not UTF-8 (only that text is left out)": 4}


@pytest.mark.parametrize(
    "words", ["interrupt", "INTERRUPT Error", "Out of Memory", "No space left"]
)
def test_a_text_that_reads_like_another_error_stops_nobody(
    words: str, tmp_path: Path, engine: DuckDB
) -> None:
    """DuckDB quotes it in the error by which a text that is not UTF-8 is noticed."""
    texts = unchecked([b"tea", words.encode() + b"\xff"])
    pq.write_table(pa.table({"user": ["ann", "bob"], "query": texts}), tmp_path / "log.parquet")
    log = z.read_log(tmp_path / "log.parquet")
    try:
        found = entries(engine, log, "user", "query")
    except (z.ZealousError, KeyboardInterrupt) as why:
        raise AssertionError("one text ended the run") from why
    assert found == [("ann", "tea"), ("bob", None)]


@pytest.mark.parametrize("indices", [pa.int8(), pa.uint16(), pa.int32(), pa.int64()], ids=str)
def test_a_text_in_a_dictionary_that_is_not_utf8_stops_nobody(
    indices: pa.DataType, tmp_path: Path, engine: DuckDB
) -> None:
    """pandas writes categories so, with indices as short as it can."""
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0], indices), unchecked([b"tea", b"caf\xe9"]), safe=False
    )
    times = pa.array([3, 1, 2], pa.timestamp("us", "Europe/Vienna"))
    listed = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3], pa.int32()), texts)
    table = pa.table(
        {"user": ["ann", "bob", "cid"], "query": texts, "time": times, "keywords": listed}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    columns = z.Columns(user="user", query="query", time="time", keywords="keywords")
    log = z.read_log(tmp_path / "log.parquet", columns=columns)
    try:
        found = entries(engine, log, "user", "query", "epoch_us(time)", "keywords")
    except (z.ZealousError, pa.ArrowException) as why:
        raise AssertionError("one byte ended the run") from why
    assert found == [
        ("ann", "tea", 3, ["tea", None]),
        ("bob", None, 1, []),
        ("cid", "tea", 2, ["tea"]),
    ]


def test_a_text_in_a_view_that_is_not_utf8_stops_nobody(tmp_path: Path, engine: DuckDB) -> None:
    """Arrow picks no rows of such columns, which Polars writes."""
    texts = pa.array([b"tea", b"caf\xe9", b"a long text that is not in the view \xff"], pa.binary())
    views = texts.cast(pa.binary_view())
    query = pa.Array.from_buffers(pa.string_view(), len(views), views.buffers())
    pq.write_table(
        pa.table({"user": ["ann", "bob", "cid"], "query": query}), tmp_path / "log.parquet"
    )
    log = z.read_log(tmp_path / "log.parquet")
    try:
        found = entries(engine, log, "user", "query")
    except (z.ZealousError, pa.ArrowException) as why:
        raise AssertionError("one byte ended the run") from why
    assert found == [("ann", "tea"), ("bob", None), ("cid", None)]


@pytest.mark.parametrize("odd", [-1, 86_400 * 10**6, 2**63 - 1])
def test_a_time_that_is_not_within_a_day_stops_nobody(
    odd: int, tmp_path: Path, engine: DuckDB
) -> None:
    """And changes no other's: whether a file is staged hangs on all of its values."""
    micros = [3_600 * 10**6, 86_400 * 10**6, odd]
    times = pa.array(micros, pa.int64()).view(pa.time64("us"))
    pq.write_table(pa.table({"user": ["ann", "bob", "cid"], "at": times}), tmp_path / "log.parquet")
    log = z.read_log(tmp_path / "log.parquet", columns=z.Columns(user="user"))
    try:
        source = open_log(log, engine, ["at"])
        wanted = Step("wanted", f"select user, {extra_column('at')} from entries")
        found = sorted(engine.rows([*source.entries, wanted]))
    except z.ZealousError as why:
        raise AssertionError("one time ended the run") from why
    assert found == [("ann", "01:00:00"), ("bob", None), ("cid", None)]


# Entries


def at(second: int, query: str, user: str = "ann") -> Row:
    return {
        "user": user,
        "query": query,
        "time": f"2026-01-01 10:{second // 60:02}:{second % 60:02}",
    }


OTHERS = [at(n, f"o{n}", f"user{n % 9}") for n in range(30)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_first_entries_in_time_count(suffix: str, tmp_path: Path, engine: DuckDB) -> None:
    rows = [at(n, f"q{n}") for n in range(20)]
    rows += [{"user": "ann", "query": f"never {n}", "time": ""} for n in range(3)]
    random.Random(1).shuffle(rows)
    log = limited(write(tmp_path / f"log.{suffix}", [*rows, *OTHERS]), entries=5)
    found = entries(engine, log, "user", "query")
    assert [query for user, query in found if user == "ann"] == [f"q{n}" for n in range(5)]
    assert len(found) == 5 + len(OTHERS)  # all others have fewer, and keep them


def test_whoever_has_as_many_as_count_keeps_repeats(tmp_path: Path, engine: DuckDB) -> None:
    rows = [at(0, "same")] * 5
    log = limited(write(tmp_path / "log.csv", [*rows, *OTHERS]), entries=5)
    assert entries(engine, log, "query").count(("same",)) == 5
    rows = [at(0, "same")] * 4 + [at(n, f"later {n}") for n in (3, 4)]
    log = limited(write(tmp_path / "more.csv", [*rows, *OTHERS]), entries=5)
    found = [query for user, query in entries(engine, log, "user", "query") if user == "ann"]
    assert found == ["later 3", "same"]


@pytest.mark.parametrize("timed", [True, False])
def test_neither_other_people_nor_the_order_of_lines_choose(
    timed: bool, tmp_path: Path, engine: DuckDB
) -> None:
    columns = None if timed else z.Columns(user="user", query="query", time=None)
    hers = [at(n % 3, f"q{n}") for n in range(40)]
    robots = [at(n % 3, f"q{n}", "bob") for n in range(25)]
    crowd = [at(n % 3, f"q{n % 7}", f"user{n % 9}") for n in range(45)]
    chosen = set()
    for number, rows in enumerate([hers, [*robots, *hers], [*hers[::-1], *crowd, *robots]]):
        if not timed:
            rows = [{name: row[name] for name in ("user", "query")} for row in rows]
        log = limited(write(tmp_path / f"{number}.csv", rows), columns, entries=20)
        for key in (1, 2):
            found = entries(engine, log, "user", "query", key=key)
            kept = frozenset(query for user, query in found if user == "ann")
            assert len(kept) == 20
            chosen.add((key, kept))
    assert len(chosen) == 2  # one for each key


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ranks", [None, 3], ids=["hashes", "the same hashes"])
def test_looking_ahead_changes_nothing(
    ranks: int | None, seed: int, tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    """Where few moments, entries and users make many of them the same; some have no moment."""
    if ranks is not None:
        few = f"(hash(user, query) % {ranks})::ubigint"
        monkeypatch.setattr(DuckDB, "rank_key", lambda *_: few)
    chance = random.Random(seed)
    rows = [
        at(chance.randrange(5), f"q{chance.randrange(9)}", f"user{chance.randrange(3)}")
        | ({"time": ""} if chance.random() < 0.4 else {})
        for _ in range(150)
    ]
    for columns in (None, z.Columns(user="user", query="query", time=None)):
        log = limited(write(tmp_path / "log.csv", rows), columns, entries=chance.randrange(1, 45))
        names = ["user", "query", *(["time"] if columns is None else [])]
        ahead = entries(engine, log, *names, key=seed)
        with monkeypatch.context() as patch:
            patch.setattr(DuckDB, "kth_smallest", lambda *_: None)
            assert ahead == entries(engine, log, *names, key=seed)
        assert len(ahead) < len(rows)


def test_it_is_looked_ahead_for_those_with_the_most_entries(
    tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    """What is held of all users together is bounded; the others' entries are sorted."""
    stored: dict[str, list[Any]] = {}
    store = DuckDB.append_rows

    def watched(self: DuckDB, name: str, steps: Any) -> None:
        store(self, name, steps)
        stored[steps[-1].name] = self.rows([Step("stored", f"select * from {name}")])

    monkeypatch.setattr(DuckDB, "append_rows", watched)
    monkeypatch.setattr("zealous.logs.entry_limits._LOOKED_AHEAD", 14)
    rows = [at(n, f"q{n}", user) for user in "abcd" for n in range(9 + ord(user) - ord("a"))]
    log = limited(write(tmp_path / "log.csv", rows), entries=5)
    assert len(entries(engine, log, "user")) == 4 * 5
    assert sorted(user for user, _ in stored["each_end"]) == ["c", "d"]
    assert len(stored["first_ones"]) == 4 * 5


def test_it_is_the_unit_of_privacy_whose_entries_are_counted(
    tmp_path: Path, engine: DuckDB
) -> None:
    rows = [at(n, f"q{n}") for n in range(9)]
    rows += [{"user": "ann", "query": f"r{n}", "time": "2026-01-02 10:00:00"} for n in range(4)]
    log = limited(write(tmp_path / "log.csv", rows), entries=4)
    found = entries(engine, log, "user", "query", unit="user-day")
    assert sum(user == "ann 2026-01-02" for user, _ in found) == 4
    assert [query for user, query in found if user == "ann 2026-01-01"] == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("unit", ["user", "user-day", "session"])
def test_buckets_of_users_have_the_same_entries(
    unit: Any, tmp_path: Path, engine: DuckDB, monkeypatch: Any
) -> None:
    rows = [at(n, f"q{n}", f"robot{n % 4}") for n in range(80)]
    source = open_log(
        limited(write(tmp_path / "log.csv", [*rows, *OTHERS]), entries=7), engine, unit=unit
    )
    monkeypatch.setattr(duckdb, "_BYTES_PER_ROW", engine.working_memory // 10)
    assert source.rows == 4 * 7 + len(OTHERS)
    number = source.buckets(["query"])
    assert number > 5
    wanted = Step("wanted", "select user, query from entries")
    parts = [engine.rows([*source.bucket(n, number).entries, wanted]) for n in range(number)]
    whole = engine.rows([*source.entries, wanted])
    assert sorted(row for part in parts for row in part) == sorted(whole)
    assert len(whole) == source.rows
    users = [{user for user, _ in part} for part in parts]
    assert sum(map(len, users)) == len(set.union(*users))


def test_buckets_go_by_bytes(tmp_path: Path, engine: DuckDB, monkeypatch: Any) -> None:
    monkeypatch.setattr(duckdb, "_LEAST_MEMORY", 2 * 10**6)
    monkeypatch.setattr(duckdb, "_OVERHEAD", engine.memory)  # leaves a megabyte
    chance = random.Random(3)
    rows = [{"user": f"u{n}", "query": "q", "url": chance.randbytes(999).hex()} for n in range(999)]
    source = open_log(z.read_log(write(tmp_path / "log.parquet", rows)), engine)
    assert source.buckets(["query"]) == 1
    assert source.buckets(["url"]) >= 4


# What a release says


def test_a_release_tells_its_limits(tmp_path: Path) -> None:
    log = limited(write(tmp_path / "log.csv", OTHERS), entries=7)
    release = z.publish(log, GOAL, [z.queries(items_per_user=1)], account=None)
    assert release.record.cleaning.limits == LimitsRecord(text=4096, entries=7, words=256)
    release.write(tmp_path / "release")
    assert all(check.ok is not False for check in verify(tmp_path / "release"))
    assert "at most 7 entries" in (tmp_path / "release" / "README.md").read_text()


def test_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", OTHERS)
    asked = [
        "publish",
        str(path),
        "--items",
        "queries",
        "--items-per-user",
        "1",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--guarantee",
        "indistinguishable",
        "--no-ledger",
    ]
    given = ["--limits", "text=99,entries=8,words=20", "-o", str(tmp_path / "release")]
    assert CliRunner().invoke(cli, [*asked, *given]).exit_code == 0
    about = json.loads((tmp_path / "release" / "release.json").read_text())
    assert about["cleaning"]["limits"] == {"text": 99, "entries": 8, "words": 20}


@pytest.mark.parametrize(("name", "value"), [("text", 0), ("words", -1), ("entries", 1.5)])
def test_limits_are_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"limits: {name} must be a whole number"):
        z.Limits(**{name: value})


@pytest.mark.parametrize("name", ["text", "entries", "words"])
def test_limits_are_numbers_that_an_engine_takes(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"limits: {name} must be at most 2,147,483,647"):
        z.Limits(**{name: 2**31})
    log = limited(write(tmp_path / "log.csv", OTHERS), None, **{name: 2**31 - 1})
    kinds = [z.keywords(items_per_user=1), z.queries(items_per_user=1, fold_words=True)]
    assert z.publish(log, GOAL, kinds, account=None)


def test_limits_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="some of text, entries, words"):
        z.Limits.from_options({"lines": 3})


# Who is counted


def test_users_are_counted_before_any_is_left_out(tmp_path: Path, engine: DuckDB) -> None:
    path = write(tmp_path / "log.csv", [at(0, "q", f"u{n}") for n in range(4)] + [at(1, "r", "u0")])
    (tmp_path / "ids.txt").write_text("u2\n")
    cleaning = z.Cleaning(exclude_users=tmp_path / "ids.txt", max_entries_per_user=1)
    log = z.read_log(path, cleaning=cleaning)
    source = open_log(log, engine)
    assert (count_users(source), count_everyone(source)) == (2, 4)
    for users, refused in ((4, False), (3, True)):
        goal = z.ProbabilisticDP(epsilon=1, delta="1e-3", users=users)
        try:
            z.publish(log, goal, [z.queries(1)], account=None, attendance="proceed")
        except Refused:
            assert refused
        else:
            assert not refused


# What the engine would hold


def test_an_id_beyond_signed_numbers_may_have_many_entries(tmp_path: Path, engine: DuckDB) -> None:
    users = pa.array([2**63 + 5] * 5 + [1] * 2, pa.uint64())
    pq.write_table(pa.table({"user": users, "query": [*"abcdeab"]}), tmp_path / "log.parquet")
    log = limited(tmp_path / "log.parquet", entries=3)
    source = open_log(log, engine)
    each = Step("each", "select user, count(*) from entries group by user order by user")
    assert engine.rows([*source.entries, each]) == [(1, 2), (2**63 + 5, 3)]


def test_a_text_in_a_dictionary_is_not_copied_for_each_list(tmp_path: Path) -> None:
    """A file has it once, and the engine would make a copy of it for every row."""
    texts = pa.array(["x" * 900_000, "http://a.example/"])
    places = pa.array([0] * 3_000 + [1] * 60, pa.int32())
    lists = pa.ListArray.from_arrays(
        pa.array(range(3_061), pa.int32()), pa.DictionaryArray.from_arrays(places, texts)
    )
    users = ["robot"] * 3_000 + [f"u{n}" for n in range(60)]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": users, "urls": lists}), path, store_schema=False)
    assert path.stat().st_size < 100_000
    assert parquet.sizes([path], ["urls"]).largest > 10**9
    with DuckDB(memory="1GB", threads=2, temporary=tmp_path) as engine:
        release = z.publish(
            z.read_log(path), GOAL, [z.clicks(items_per_user=1)], account=None, engine=engine
        )
    assert release["clicks"].arrow["url"].to_pylist() == ["http://a.example/"]


def test_elements_of_lists_are_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """One list may have more of them than there is memory for numbers about each."""
    lists = [["tea", "", None], None, [], ["é" * n for n in range(9)], ["x"] * 40, ["y"]]
    sizes = [sum(len((text or "").encode()) + 1 for text in each or []) for each in lists]
    seen: list[int] = []
    whole = text_sizes.text_sizes

    def watched(column: pa.Array) -> Any:
        seen.append(len(column))
        return whole(column)

    monkeypatch.setattr(text_sizes, "_AT_ONCE", 7)
    monkeypatch.setattr(text_sizes, "text_sizes", watched)
    for kind in (pa.string(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array([None, ["over"], *lists], pa.list_(pa.string())).cast(pa.list_(kind))
        found = whole(column.slice(2))
        assert found is not None
        assert found.tolist() == sizes
    assert max(seen) == 7
    assert whole(pa.array([[1, 2]])) is None


def test_a_list_beyond_all_memory_is_told_before_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": ["u"], "words": [["tea"]]}), path)

    def iter_batches(*_: object, **__: object) -> Iterator[pa.RecordBatch]:
        raise pa.ArrowMemoryError("malloc of size 8589934592 failed")

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", iter_batches)
    log = z.read_log(path, columns=z.Columns(user="user", keywords="words"))
    with pytest.raises(LogError, match="takes more memory than there is"):
        z.publish(log, GOAL, [z.keywords(1)], account=None)
