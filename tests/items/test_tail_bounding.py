"""What one person moves in the tables of the tail, and which of her rare queries it is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tail_counts import NOBODY, counted, opened
from tail_oracle import FACTS, NAMES, Entry, published, write

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.logs.open_log import open_log
from zealous.logs.source import Source


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    """For one small log after the other: only the last that was opened is there."""
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


def history(chance: random.Random, user: str) -> list[Entry]:
    words = ["a", "b", "c", "d", "e", "how", "日本", "x?"]
    return [
        Entry(
            user, " ".join(chance.choices(words, k=chance.randint(1, 7))), chance.randrange(90000)
        )
        for _ in range(chance.randint(0, 8))
    ]


def test_what_one_person_moves(engine: DuckDB, tmp_path: Path) -> None:
    """At most m counts by one each; with another history in its place, at most 2m."""
    chance = random.Random(17)
    others = [entry for n in range(30) for entry in history(chance, f"u{n}")]
    tables = published(others, 5)
    tables["ngrams-3"] = {f"{a} {b} {c}": 1 for a in "abcde" for b in "abcde" for c in "abcde"}
    logs = [others, *([*others, *history(chance, "new")] for _ in range(3))]
    cases = [
        (name, bound, select)
        for name in NAMES
        for bound, select in ((1, "random"), (1, "first"), (3, "random"))
        if bound == 1 or name not in FACTS
    ]
    histograms = []
    for log in logs:
        source = opened(engine, tmp_path, log)
        histograms.append(
            [
                counted(source, name, tables, bound=bound, select=select, listed=True)
                for name, bound, select in cases
            ]
        )
    moved: Counter[str] = Counter()
    for (name, bound, _), without, *others_with in zip(cases, *histograms, strict=True):
        for found in others_with:
            more, less = found - without, without - found
            assert not less, (name, bound)
            assert more.total() <= bound
            assert set(more.values()) <= {1}
            moved[name] += more.total()
            apart = (found - others_with[0]) + (others_with[0] - found)
            assert apart.total() <= 2 * bound
            assert set(apart.values()) <= {1}
    assert set(moved) == set(NAMES)
    assert all(moved.values())


def test_a_user_keeps_the_phrases_of_frequent_words(engine: DuckDB, tmp_path: Path) -> None:
    """Those first whose least frequent part was published with the largest count."""
    keywords = {"a": 90, "b": 50, "c": 40, "d": 2, "e": 60}
    tables = NOBODY | {"keywords": keywords, "ngrams-2": {"a b": 9, "b c": 3, "b a": 8, "c a": 7}}
    rows = [Entry(f"u{n}", "d e a b c a", 0) for n in range(8)]
    source = opened(engine, tmp_path, rows + [Entry(f"u{n}", "b a b", 1) for n in range(8)])
    for key in range(4):
        found = counted(source, "ngrams-2", tables, bound=3, key=key)
        assert found == {"e a": 8, "a b": 8, "b a": 8}
        found = counted(source, "ngrams-3", tables, bound=1, key=key)
        assert found == {"b a b": 8}
        assert counted(source, "ngrams-3", tables, bound=2, key=key).keys() > {"b a b"}


# Which of her queries it is


def chosen(source: Source, name: str, keys: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for key in range(keys):
        found += counted(source, name, NOBODY, bound=1, key=random.getrandbits(64) ^ key)
    return found


def spread(found: Mapping[str, int], shares: Mapping[str, float]) -> float:
    """Chi-square per degree of freedom."""
    total = sum(found.values())
    assert set(found) <= set(shares)
    return sum(
        (found.get(value, 0) - total * share) ** 2 / (total * share)
        for value, share in shares.items()
    ) / (len(shares) - 1)


def test_every_rare_query_is_as_likely(engine: DuckDB, tmp_path: Path) -> None:
    """However often, in whatever spelling and at how many hours it was asked; over many keys."""
    rows = []
    for n in range(60):
        for length in range(1, 7):
            rows.append(Entry(f"u{n}", " ".join(["w"] * length), 0))
        rows += [Entry(f"u{n}", "  W  w ", hour * 3600) for hour in range(9)]
    source = opened(engine, tmp_path, rows)
    found = chosen(source, "lengths", 40)
    assert found.total() == 60 * 40
    even = {str(length): 1 / 6 for length in range(1, 7)}
    assert spread(found, even) < 5.2  # p < 1e-4
    weighed = {str(length): 1 / 15 + (length == 2) * 9 / 15 for length in range(1, 7)}
    assert spread(found, weighed) > 50


def test_every_hour_of_every_rare_query_is_as_likely(engine: DuckDB, tmp_path: Path) -> None:
    """A query of three hours is three times as likely as one of an hour, however often asked."""
    rows = []
    for n in range(60):
        rows += [Entry(f"u{n}", "a", 3600 * hour) for hour in (2, 3, 4)]
        rows += [Entry(f"u{n}", "b", 3600 * 7 + second) for second in range(9)]
        rows += [Entry(f"u{n}", "c", 3600 * 7), Entry(f"u{n}", "c", None)]
    source = opened(engine, tmp_path, rows)
    found = chosen(source, "hours", 40)
    assert found.total() == 60 * 40
    assert spread(found, {"0": 0.2, "1": 0.2, "2": 0.2, "5": 0.4}) < 7.1  # p < 1e-4


def test_every_beginning_is_as_likely(engine: DuckDB, tmp_path: Path) -> None:
    """However many of her queries begin so."""
    rows = []
    for n in range(60):
        rows += [Entry(f"u{n}", f"a {word}", 0) for word in "pqrstuvw"]
        rows += [Entry(f"u{n}", f"{word} x", 0) for word in "bcd"]
    found = chosen(opened(engine, tmp_path, rows), "prefixes-1", 40)
    assert spread(found, dict.fromkeys("abcd", 1 / 4)) < 7.1  # p < 1e-4


def test_the_first_and_the_most_frequent(engine: DuckDB, tmp_path: Path) -> None:
    rows = [
        Entry("u", "a b c", 50),
        Entry("u", "a b", 9),
        Entry("u", "x", None),
        Entry("u", "x", 80),
    ]
    rows += [Entry("u", "p q r s", 70 + second) for second in range(3)]
    source = opened(engine, tmp_path, rows)
    for key in range(3):
        how: dict[str, Any] = {"bound": 1, "key": key}
        assert counted(source, "lengths", NOBODY, select="first", **how) == {"2": 1}
        assert counted(source, "lengths", NOBODY, select="frequent", **how) == {"4": 1}
        assert counted(source, "prefixes-1", NOBODY, select="first", **how) == {"a": 1}
        assert counted(source, "prefixes-1", NOBODY, select="frequent", **how) == {"p": 1}


def test_a_day_or_a_session_counts_once(engine: DuckDB, tmp_path: Path) -> None:
    rows = [Entry("u", f"q {n}", n * 86_400) for n in range(4)] + [Entry("u", "z", 0)]
    path = write(tmp_path / "log.parquet", rows)
    source = open_log(z.read_log(path), engine, unit="user-day")
    assert counted(source, "lengths", NOBODY, bound=1).total() == 4
