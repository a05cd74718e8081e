"""k-keyword against a second implementation that cuts one character at a time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from anonymity_checks import is_k_keyword_anonymous
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, UsageError
from zealous.logs.open_log import open_log
from zealous.study.anonymity import Changed, KKeyword, anonymize

Held = set[tuple[str, str]]


def write(path: Path, held: Iterable[tuple[str, str]]) -> Path:
    """A log whose lists of keywords are these, one keyword an entry."""
    rows = list(held)
    columns = {
        "user": pa.array([user for user, _ in rows], pa.string()),
        "keywords": pa.array([[word] for _, word in rows], pa.list_(pa.string())),
    }
    pq.write_table(pa.table(columns), path)
    return path


def applied(path: Path, k: int) -> tuple[list[tuple[str, str]], dict[str, tuple[int, int]]]:
    """The rows (user, keyword) and what the owner is told."""
    with DuckDB(threads=1, memory="1GB") as engine:
        changed = KKeyword(k=k).apply(open_log(z.read_log(path), engine))
        rows = engine.rows([Step("all", "select user, keyword from anonymous")])
        left = engine.rows([Step("t", "select table_name from duckdb_tables()")])
    assert left == [("anonymous",)]
    return rows, {each.what: (each.number, each.of) for each in changed}


def shortened(held: Held, k: int) -> dict[str, str]:
    """What each keyword is published as; nothing for those that are suppressed."""
    members = defaultdict(set)
    for _, word in held:
        members[word].add(word)
    found: dict[Any, Any] = {}
    for length in range(max((len(word) for word in members), default=0), 0, -1):
        for text in [text for text in members if len(text) == length]:
            words = members.pop(text)
            if len({user for user, word in held if word in words}) >= k:
                found |= dict.fromkeys(words, text)
            else:
                members[text[:-1]] |= words
    return found


def compare(held: Held, k: int, path: Path) -> Mapping[str, str]:
    """Both implementations give the same rows and the same figures."""
    rows, told = applied(write(path, held), k)
    target = shortened(held, k)
    assert Counter(rows) == Counter((user, target[word]) for user, word in held if word in target)
    assert is_k_keyword_anonymous(rows, k)
    words = {word for _, word in held}
    gone = {word for word in words if word not in target}
    short = {word for word, text in target.items() if word != text}
    users = {user for user, _ in held}
    assert told == {
        "users suppressed": (len(users - {user for user, _ in rows}), len(users)),
        "keywords suppressed": (sum(word in gone for _, word in held), len(held)),
        "keywords shortened": (sum(word in short for _, word in held), len(held)),
        "distinct keywords suppressed": (len(gone), len(words)),
        "distinct keywords shortened": (len(short), len(words)),
    }
    return target


users = st.sampled_from(["u1", "u2", "u3", "u4", "u5", "u6"])
# Letters of one, two, three and four bytes, marks, and joined signs that look like one.
scripts = st.text("éж\u0301日नम\u094d👩\u200d🇩😀", min_size=1, max_size=5)


@examples(25)
@given(
    held=st.sets(st.tuples(users, st.text("ab", min_size=1, max_size=5)), min_size=6, max_size=40),
    k=st.integers(2, 5),
)
def test_few_letters(held: Held, k: int, tmp_path_factory) -> None:
    compare(held, k, tmp_path_factory.mktemp("log") / "log.parquet")


@examples(15)
@given(held=st.sets(st.tuples(users, scripts), max_size=30), k=st.integers(2, 3))
def test_other_scripts(held: Held, k: int, tmp_path_factory) -> None:
    compare(held, k, tmp_path_factory.mktemp("log") / "log.parquet")


def test_by_hand(tmp_path) -> None:
    held = {
        *((user, "tea") for user in "abc"),  # frequent, and absorbs what is cut to it
        ("d", "teapot"),
        ("a", "teas"),
        ("a", "cups"),
        ("b", "cupboard"),
        ("c", "cuba"),
        ("a", "zen"),
        ("b", "zoo"),
        ("b", "y"),
    }
    rows, told = applied(write(tmp_path / "log.parquet", held), 3)
    counts = Counter(keyword for _, keyword in set(rows))
    # "cup" has two users, so all three go to "cu"; "z" has two, and "y" is as short as can be.
    assert counts == {"tea": 4, "cu": 3}
    assert told == {
        "users suppressed": (0, 4),
        "keywords suppressed": (3, 11),
        "keywords shortened": (5, 11),
        "distinct keywords suppressed": (3, 9),
        "distinct keywords shortened": (5, 9),
    }


def test_what_is_published_deeper_is_not_counted_above(tmp_path) -> None:
    held = {("a", "abc"), ("b", "abd"), ("c", "ax")}
    # "ab" has its two users; "ax" alone is cut to "a", where nobody else is left.
    assert compare(held, 2, tmp_path / "log.parquet") == {"abc": "ab", "abd": "ab"}


def test_what_a_frequent_keyword_absorbs_is_not_counted_above(tmp_path) -> None:
    held = {("a", "ab"), ("b", "ab"), ("c", "abc"), ("d", "ax")}
    # "abc" stays at "ab", so that "ax" finds nobody at "a".
    assert compare(held, 2, tmp_path / "log.parquet") == {"ab": "ab", "abc": "ab"}


def test_a_user_of_merged_keywords_counts_once(tmp_path) -> None:
    held = {("a", "cup"), ("a", "cut"), ("a", "cub"), ("b", "pot")}
    assert compare(held, 2, tmp_path / "log.parquet") == {}


def test_k_users_are_enough(tmp_path) -> None:
    held = {("a", "cup"), ("b", "cup"), ("a", "pots"), ("b", "pott")}
    found = {"cup": "cup", "pots": "pot", "pott": "pot"}
    assert compare(held, 2, tmp_path / "log.parquet") == found
    assert compare(held, 3, tmp_path / "log.parquet") == {}


def test_one_letter(tmp_path) -> None:
    held = {("a", "x"), ("b", "xy"), ("a", "日"), ("b", "日本"), ("a", "q")}
    found = {"x": "x", "xy": "x", "日": "日", "日本": "日"}
    assert compare(held, 2, tmp_path / "log.parquet") == found


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("e\u0301t", "e\u0302t", "e"),  # a prefix may end between a letter and its mark
        ("नमस्ते", "नमस्कार", "नमस\u094d"),
        ("東京都", "東京駅", "東京"),
        ("😀a", "😀b", "😀"),
        ("👩\u200d👧", "👩\u200d👦", "👩\u200d"),
        ("ab\U0001f600", "ab\U0001f601", "ab"),  # three bytes in common, but no character
    ],
)
def test_prefixes_are_of_code_points(one: str, other: str, shared: str, tmp_path) -> None:
    held = {("a", one), ("b", other)}
    assert compare(held, 2, tmp_path / "log.parquet") == {one: shared, other: shared}


def test_thousands_of_letters_are_cut_at_once(tmp_path) -> None:
    long = "ab" * 2_000
    held = {("a", long), ("b", long + "x"), ("c", long[:-2] + "xx"), ("c", "abba"), ("a", "xyz")}
    rows, told = applied(write(tmp_path / "log.parquet", held), 3)
    assert Counter(keyword for _, keyword in rows) == {long[:-2]: 3}
    assert told["keywords suppressed"] == (2, 5)


def test_a_long_frequent_keyword_beside_a_long_rare_one(tmp_path) -> None:
    # What is published deeper still tells where the rare one branches off.
    long = "a" * 4_000
    held = {("a", long + "x"), ("b", long + "x"), ("a", long + "y"), ("b", "abc")}
    rows, _ = applied(write(tmp_path / "log.parquet", held), 2)
    assert Counter(rows) == {(user, long + "x"): 1 for user in "ab"} | {
        ("a", "a"): 1,
        ("b", "a"): 1,
    }


def test_words_of_queries_without_times(tmp_path) -> None:
    (tmp_path / "log.csv").write_text(
        "user,query\na,Green Tea!\na,green\nb,GREEN tees\nb,teapot\nc,greens\n", "utf-8"
    )
    made = anonymize(tmp_path / "out", z.read_log(tmp_path / "log.csv"), KKeyword(k=2))
    counts = {row["keyword"]: row["count"] for row in made.bundle["keywords"].arrow.to_pylist()}
    assert counts == {"green": 3, "tea": 2}  # of "tees" even "te" is one user's
    assert made.bundle.log() is None
    assert made.bundle.record.counts == "users who hold the item"
    assert Changed(what="keywords suppressed", number=1, of=6) in made.changed
    assert len(made.bundle["queries"]) == 0


def test_lists_of_keywords_are_taken_as_they_are(tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        {"user": "a", "query": "x", "keywords": ["New York", "東京"]},
        {"user": "b", "query": "x", "keywords": [" new  YORKSHIRE", None, ""]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    columns = z.Columns(keywords="keywords")
    made = anonymize(tmp_path / "out", z.read_log(path, columns=columns), KKeyword(k=2))
    assert made.bundle["keywords"].arrow.to_pylist() == [{"keyword": "new york", "count": 2}]


def test_bad_input(tmp_path) -> None:
    for k in (1, 0, -3):
        with pytest.raises(UsageError, match="k must be"):
            KKeyword(k=k)
    log = z.read_log(write(tmp_path / "log.parquet", {("a", "tea"), ("b", "tea")}))
    with pytest.raises(UsageError, match="k is larger than the number of users"):
        anonymize(tmp_path / "out", log, KKeyword(k=3))
    with pytest.raises(LogError, match="no entry with a user id"):
        anonymize(tmp_path / "out", z.read_log(write(tmp_path / "none.parquet", [])), KKeyword(k=2))
    (tmp_path / "log.csv").write_text("user,time\na,2026-01-01\n")
    with pytest.raises(UsageError, match="query="):
        anonymize(tmp_path / "out", z.read_log(tmp_path / "log.csv"), KKeyword(k=2))
    assert not (tmp_path / "out").exists()


def test_no_keyword_at_all(tmp_path) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,???\nb,!\n")
    made = anonymize(tmp_path / "out", z.read_log(tmp_path / "log.csv"), KKeyword(k=2))
    assert len(made.bundle["keywords"]) == 0
    assert Changed(what="users suppressed", number=2, of=2) in made.changed


@pytest.mark.real
def test_a_real_log(real) -> None:
    with DuckDB(threads=1, memory="1GB") as engine:
        log = z.read_log(real / "excite-small.log", "excite")
        KKeyword(k=5).apply(open_log(log, engine))
        rows = engine.rows([Step("all", "select user, keyword from anonymous")])
    assert rows
    assert is_k_keyword_anonymous(rows, 5)
