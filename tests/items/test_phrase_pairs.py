"""Phrase pairs: what was changed between two queries, against a second implementation."""

from __future__ import annotations

import csv
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from oracle import Entry, Item, occurrences, words
from search_entries import counted, entries, write

import zealous as z
from zealous.cli.publish import publish
from zealous.cli.verify import verify
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import KINDS, kind_by_name

CASES = {
    ("cheap flights paris", "cheap hotels paris"): ("flights", "hotels"),
    ("new york weather", "new jersey weather"): ("york", "jersey"),
    ("flights to rome", "flights to south italy"): ("rome", "south italy"),
    ("old car", "used car"): ("old", "used"),
    # a word more or less keeps a neighbour
    ("cheap hotels", "cheap hotels paris"): ("hotels", "hotels paris"),
    ("cheap hotels paris", "cheap hotels"): ("hotels paris", "hotels"),
    ("red shoes", "cheap red shoes"): ("red", "cheap red"),
    ("cheap hotels", "cheap paris hotels"): ("hotels", "paris hotels"),
    ("hotels", "hotels paris"): ("hotels", "hotels paris"),
    ("a b a", "a b a b a"): ("a", "a b a"),
    ("la", "la la"): ("la", "la la"),
    # nothing at either end is the same: whole queries, as they are
    ("nyc", "new york"): ("nyc", "new york"),
    ("paris hotels", "hotels paris"): ("paris hotels", "hotels paris"),
    ("O'Brien  Pub", "c++"): ("o'brien pub", "c++"),
    ("big red apple", "small red pear"): ("big red apple", "small red pear"),
    # a part of a query is its words
    ('"green tea", cups', "Green-Tea pots"): ("cups", "pots"),
    ("東京 天気", "東京 地図"): ("天気", "地図"),
    # the same words: nothing was changed
    ("green tea", '"green tea"'): None,
    ("c++", "c#"): None,
}


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


def changed(query: str, following: str) -> Item | None:
    """The rule, word by word."""
    one, other = ([word for word in words(text) if word] for text in (query, following))
    if one == other:
        return None
    cut = False
    for end in (0, -1):
        while min(len(one), len(other)) > 1 and one[end] == other[end]:
            del one[end], other[end]
            cut = True
    return (" ".join(one), " ".join(other)) if cut else (query, following)


def expected(rows: list[Entry]) -> Counter[Item]:
    held = {
        (user, item)
        for user, pair, _ in occurrences("query-pairs", rows)
        if (item := changed(*pair)) is not None
    }
    return Counter(item for _, item in held)


@pytest.mark.parametrize("pair", CASES, ids=" > ".join)
def test_what_was_changed(pair: tuple[str, str], tmp_path: Path, engine: DuckDB) -> None:
    rows = [Entry("a", pair[0], 0), Entry("a", pair[1], 60)]
    found = counted(engine, write(tmp_path / "log.parquet", rows), z.phrase_pairs(9), m=9)
    wanted = CASES[pair]
    assert found == ({wanted: 1} if wanted else {})


texts = st.lists(st.sampled_from(["a", "b", "É", "c-d", "'a'", "+", "日本"]), max_size=5)
logs = st.lists(
    st.builds(
        Entry,
        user=st.sampled_from(["u", "v", ""]),
        query=texts.map(" ".join),
        time=st.none() | st.integers(0, 5).map(lambda t: t * 700),
    ),
    max_size=14,
)


@examples(80)
@given(rows=logs | entries)
def test_same_as_the_oracle(rows: list[Entry], tmp_path_factory, engine: DuckDB) -> None:
    folder = tmp_path_factory.mktemp("log")
    found = counted(engine, write(folder / "log.parquet", rows), z.phrase_pairs(99), m=99)
    assert found == expected(rows)
    assert all(phrase and other and phrase != other for phrase, other in found)
    other = counted(engine, write(folder / "back.parquet", rows[::-1]), z.phrase_pairs(99), m=99)
    assert found == other


@examples(25)
@given(rows=logs, own=logs, m=st.integers(1, 2))
def test_one_user_moves_only_her_own(rows, own, m, tmp_path_factory, engine: DuckDB) -> None:
    """With and without one user: at most m counts differ, each by one, none falls."""
    folder = tmp_path_factory.mktemp("log")
    more = rows + [row._replace(user="w") for row in own]
    without = counted(engine, write(folder / "a.parquet", rows), z.phrase_pairs(m), m=m)
    added = counted(engine, write(folder / "b.parquet", more), z.phrase_pairs(m), m=m)
    assert not without - added
    assert sum((added - without).values()) == len(added - without) <= m


def test_an_attribute_may_be_called_as_the_queries_are(tmp_path: Path, engine: DuckDB) -> None:
    path = tmp_path / "log.csv"
    columns = z.Columns(user="user", time="time", query="asked", session="session")
    for name in ("query", "next_query"):
        path.write_text(
            f"user,time,asked,{name},session\n"
            "1,2026-01-01 10:00,red hat,de,s\n1,2026-01-01 12:00,red shoe,uk,s\n"
            "1,2026-01-01 12:01,blue shoe,uk,t\n"
        )
        kind = z.phrase_pairs(9, by=name)
        assert counted(engine, path, kind, m=9, columns=columns) == {("hat", "shoe", "uk"): 1}
    with pytest.raises(UsageError, match="clash"):
        z.phrase_pairs(9, by="next_phrase")


def test_lists_of_keywords_play_no_role(tmp_path: Path, engine: DuckDB) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"user": "a", "time": "2026-01-01 10:00", "query": "red hat", "keywords": ["x"]}\n'
        '{"user": "a", "time": "2026-01-01 10:01", "query": "red shoe", "keywords": ["x"]}\n'
    )
    columns = z.Columns(keywords="keywords")
    assert counted(engine, path, z.phrase_pairs(1), m=1, columns=columns) == {("hat", "shoe"): 1}


def test_a_query_of_as_many_words_as_are_looked_at(tmp_path: Path, engine: DuckDB) -> None:
    many = "x " * 127
    rows = [Entry("a", f"{many}hat {many}x", 0), Entry("a", f"{many}shoe {many}x", 1)]
    path = write(tmp_path / "log.parquet", rows)
    assert counted(engine, path, z.phrase_pairs(1), m=1) == {("hat", "shoe"): 1}
    rows.append(Entry("a", f"{many}shoe {many}x y z", 2))  # the rest is not looked at
    path = write(tmp_path / "more.parquet", rows)
    assert counted(engine, path, z.phrase_pairs(2), m=2) == {("hat", "shoe"): 1}


def test_the_name_and_its_settings() -> None:
    kind = kind_by_name("phrase-pairs", 2, {"by": "land", "fold": True, "session_gap": 5})
    assert kind == z.phrase_pairs(2, by="land", session_gap=5)
    assert kind.settings() == {"by": "land", "session_gap": 5}
    assert kind.columns() == ("phrase", "next_phrase", "land")
    assert "phrase-pairs" in KINDS
    with pytest.raises(UsageError, match="session_gap"):
        z.phrase_pairs(1, session_gap=0)
    with pytest.raises(UsageError, match="time"):
        kind.check(["query"])


def test_rare_query_pairs_publish_what_they_share(tmp_path: Path, monkeypatch) -> None:
    """Everybody asks about her own town, so no query pair is frequent; what was changed is."""
    monkeypatch.chdir(tmp_path)
    lines = ["user,time,query"]
    for n in range(100):
        lines.append(f"u{n},2026-01-01 10:00:00,Flights town{n}")
        lines.append(f"u{n},2026-01-01 10:05:00,hotels town{n}")
    Path("log.csv").write_text("\n".join(lines) + "\n")
    arguments = shlex.split(
        "log.csv --items query-pairs,phrase-pairs --items-per-user 1 --users 200 --epsilon 40 "
        "--delta 0.01 --no-ledger -o out"
    )
    ran = CliRunner().invoke(publish, arguments)
    assert ran.exit_code == 0, ran.output
    found = {
        name: list(csv.reader(Path(f"out/{name}.csv").read_text("utf-8").splitlines()))
        for name in ("query-pairs", "phrase-pairs")
    }
    assert [row[:3] for row in found["query-pairs"]] == [["query", "next_query", "count"]]
    header, (*item, count, _, _) = found["phrase-pairs"]
    assert header[:3] == ["phrase", "next_phrase", "count"]
    assert item == ["flights", "hotels"]
    assert 90 <= int(count) <= 110
    ran = CliRunner().invoke(verify, ["out"])
    assert ran.exit_code == 0, ran.output
