"""What a release tells of the queries that it does not publish, measured twice."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tail_completion import Completion
from tail_measures import Share, completion, coverage, distances, total_variation
from tail_queries import Asked, keys, read_asked

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import ReleaseError, UsageError
from zealous.items.rare_queries import Lengths, Questions
from zealous.logs.open_log import open_log
from zealous.logs.source import Source

Rows = Mapping[str, int]
Entries = Sequence[tuple[str, str]]

LOG: Entries = (
    ("ann", "cheap flights"),
    ("ann", "Cheap  FLIGHTS"),
    ("ann", "cheap flights to paris"),
    ("bob", "cheap flights to oslo"),
    ("bob", "hotels in paris"),
    ("bob", "?!"),
    ("eve", "my aunt's hotels in paris"),
    ("eve", "hotels in paris"),
    ("eve", "weather"),
)
QUERIES = {"cheap flights": 40, "weather": 30}
KEYWORDS = {"cheap": 50, "flights": 45, "paris": 40, "hotels": 35, "in": 34, "to": 20}
NGRAMS_2 = {"hotels in": 30, "flights to": 25}
NGRAMS_3 = {"cheap flights to": 20}


def named(column: str, rows: Rows) -> pa.Table:
    counts = pa.array(rows.values(), pa.int64())
    return pa.table({column: pa.array(rows.keys(), pa.string()), "count": counts})


def tables(queries: Rows, keywords: Rows, **phrases: Rows) -> dict[str, pa.Table]:
    """A release; `ngrams_2` stands for ngrams-2."""
    found = {"queries": named("query", queries), "keywords": named("keyword", keywords)}
    return found | {name.replace("_", "-"): named("phrase", rows) for name, rows in phrases.items()}


@contextmanager
def opened(folder: Path, entries: Entries) -> Iterator[Source]:
    path = folder / "log.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("user", "query"), *entries])
    with DuckDB(threads=1) as engine:
        yield open_log(z.read_log(path), engine)


def asked(folder: Path, entries: Entries) -> Asked:
    with opened(folder, entries) as source:
        return read_asked(source)


def asked_plainly(texts: Sequence[str]) -> Asked:
    """From normalised queries, without an engine."""
    counts = Counter(texts)
    split = [text.split() for text in counts]
    vocabulary = sorted({word for words in split for word in words})
    return Asked(
        queries=pa.array(counts, pa.string()),
        entries=np.array(list(counts.values()), np.int64),
        vocabulary=pa.array(vocabulary, pa.string()),
        words=np.array([vocabulary.index(w) for words in split for w in words], np.int64),
        start=np.cumsum([0, *map(len, split)]),
    )


# By hand.


def test_queries_are_read_as_they_are_published(tmp_path: Path) -> None:
    found = asked(tmp_path, LOG)
    assert dict(zip(found.queries.to_pylist(), found.entries.tolist(), strict=True)) == {
        "cheap flights": 2,
        "cheap flights to paris": 1,
        "cheap flights to oslo": 1,
        "hotels in paris": 2,
        "my aunt's hotels in paris": 1,
        "weather": 1,
    }
    words = found.vocabulary.take(pa.array(found.words)).to_pylist()
    place = found.queries.to_pylist().index("my aunt's hotels in paris")
    low, high = found.start[place : place + 2]
    assert words[low:high] == ["my", "aunt", "s", "hotels", "in", "paris"]


def test_what_is_covered(tmp_path: Path) -> None:
    release = tables(QUERIES, KEYWORDS, ngrams_2=NGRAMS_2, ngrams_3=NGRAMS_3)
    found = coverage(release, release["queries"], asked(tmp_path, LOG))
    # Dropped: to paris (4 words), to oslo (4), hotels in paris (3) twice, my aunt's (6).
    assert found == {
        "dropped": Share(5 / 8, 4 / 6),
        "of-keywords": Share(3 / 5, 2 / 4),
        "queries-2": Share(2 / 5, 2 / 4),  # cheap flights
        "words-queries-2": Share(4 / 20, 4 / 17),
        "ngrams-2": Share(1, 1),
        "words-ngrams-2": Share(10 / 20, 8 / 17),
        "either-2": Share(1, 1),
        "words-either-2": Share(12 / 20, 10 / 17),
        "queries-3": Share(0, 0),
        "words-queries-3": Share(0, 0),
        "ngrams-3": Share(2 / 5, 2 / 4),
        "words-ngrams-3": Share(6 / 20, 6 / 17),
        "either-3": Share(2 / 5, 2 / 4),
        "words-either-3": Share(6 / 20, 6 / 17),
    }


def test_two_releases_are_measured_on_the_same_tail() -> None:
    log = asked_plainly(["a b", "c d", "c d", "e"])
    fewer, more = (tables(rows, {"a": 9, "b": 9}) for rows in ({"e": 9}, {"e": 9, "c d": 9}))
    assert coverage(more, more["queries"], log)["dropped"] == Share(1 / 4, 1 / 3)
    assert coverage(more, more["queries"], log)["of-keywords"] == Share(1, 1)
    found = coverage(more, fewer["queries"], log)
    assert found["dropped"] == Share(1 / 4, 1 / 3)
    assert found["of-keywords"] == Share(1 / 3, 1 / 2)
    assert found["queries-2"] == Share(2 / 3, 1 / 2)


def test_an_n_gram_does_not_reach_into_the_next_query() -> None:
    log = asked_plainly(["a b", "c d"])
    release = tables({}, {}, ngrams_2={"b c": 9, "d a": 9}, ngrams_3={"a b c": 9})
    found = coverage(release, release["queries"], log)
    assert found["ngrams-2"] == found["ngrams-3"] == Share(0, 0)


def test_suggestions_come_from_the_longest_that_matches() -> None:
    queries = {"cheap flights": 5, "cheap hotels paris": 9, "very cheap rooms": 50, "oslo": 99}
    keywords = {"news": 90, "cheap": 80, "maps": 80, "never": -1}
    model = Completion.learn(tables(queries, keywords))
    assert model.suggest("cheap") == ["hotels", "flights", "rooms", "news", "cheap"]
    assert model.suggest("very", "cheap") == ["rooms", "hotels", "flights", "news", "cheap"]
    assert model.suggest("nobody") == ["news", "cheap", "maps"]  # of equal ones by text
    assert model.suggest("nobody", "cheap", most=2) == ["rooms", "hotels"]


def test_the_tail_adds_to_the_suggestions() -> None:
    prefixes = {"cheap flights": 5, "cheap trains": 9, "cheap cars": -4, "cheap boats": 0}
    release = tables(
        {"cheap flights": 5, "cheap hotels": 9},
        {"news": 90},
        prefixes_2=prefixes,
        prefixes_3={"cheap trains oslo": 3},
        ngrams_2={"cheap rooms": 70, "trains rome": 60},
        ngrams_3={"cheap trains paris": 40, "cheap trains oslo": 2},
    )
    model = Completion.learn(release)
    # Ten begin with cheap flights, whole or not; boats and cars were counted, and are noise.
    assert model.suggest("cheap") == ["flights", "hotels", "trains", "rooms", "news"]
    assert model.suggest("cheap", "trains") == ["oslo", "paris", "rome", "news"]


def test_a_word_is_suggested_once_and_all_places_are_filled() -> None:
    """Each level begins with what the one before has suggested already."""
    followers = [f"w{n}" for n in range(5)]
    queries = {f"a {word}": 50 - n for n, word in enumerate(followers[:4])}
    ngrams = {f"a {word}": 90 - n for n, word in enumerate(followers)}
    model = Completion.learn(tables(queries, {"w0": 9, "z": 8}, ngrams_2=ngrams))
    assert model.suggest("a") == followers
    assert model.suggest("a", most=7) == [*followers, "z"]


def test_how_often_the_next_word_is_found() -> None:
    release = tables({"a b": 9, "x": 8}, {"c": 5}, ngrams_2={"a d": 3}, ngrams_3={"a b e": 3})
    others = asked_plainly(["a b"] * 4 + ["a d e"] * 2 + ["a q", "x", "a b e", "q r s"])
    found = completion(release, release["queries"], others)
    # Of nine that go on all but a q and q r s; without the published a b, of five.
    assert found["after-1"] == Share(7 / 9, 3 / 5)
    assert found["dropped-after-1"] == Share(3 / 5, 2 / 4)
    assert found["after-2"] == found["dropped-after-2"] == Share(1 / 4, 1 / 3)
    without = {name: release[name] for name in ("queries", "keywords")}
    assert completion(without, release["queries"], others)["after-2"] == Share(0, 0)


def test_distributions(tmp_path: Path) -> None:
    """Ann has one query of the tail, of four words; bob one of four, one of three; eve a 3, a 6."""
    lengths = named("value", {"3": 10, "4": 10, "6": -3})
    release = tables(QUERIES, KEYWORDS) | {"lengths": lengths}
    with opened(tmp_path, [*LOG, *LOG[5:]]) as source:  # bob and eve ask some once more
        facts = [Lengths(items_per_user=1), Questions(items_per_user=1)]
        found = distances(release, facts, source)
    people = {"3": 1.0, "4": 1.5, "6": 0.5}  # of 3
    queries = {"3": 2, "4": 2, "6": 1}
    assert found == {
        "lengths": (
            pytest.approx(total_variation({"3": 1, "4": 1}, people)),
            pytest.approx(total_variation({"3": 1, "4": 1}, queries)),
        )
    }
    assert found["lengths"].people == pytest.approx(1 / 6)
    assert found["lengths"].queries == pytest.approx(1 / 5)


# By a second way.


def _runs(text: str, size: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def covered_slowly(release: Mapping[str, Rows], texts: Sequence[str]) -> dict[str, Share]:
    """The shares, text by text."""
    counts = Counter(texts)
    tail = {text: often for text, often in counts.items() if text not in release["queries"]}

    def share(part: Mapping[str, int], of: Mapping[str, int], often: Mapping[str, int]) -> Share:
        sums = [
            [sum(each[text] * weight[text] for text in each) for each in (part, of)]
            for weight in (often, dict.fromkeys(often, 1))
        ]
        one, two = (part / of if of else None for part, of in sums)
        return Share(one, two)

    found = {"dropped": share(dict.fromkeys(tail, 1), dict.fromkeys(counts, 1), counts)}
    ones = dict.fromkeys(tail, 1)
    only = {text: int(set(text.split()) <= release["keywords"].keys()) for text in tail}
    found["of-keywords"] = share(only, ones, tail)
    for size in (2, 3):
        asked = {
            run for text, n in release["queries"].items() if n > 0 for run in _runs(text, size)
        }
        rows = release.get(f"ngrams_{size}", {})
        own = {tuple(text.split()) for text, n in rows.items() if n > 0}
        for name, known in (("queries", asked), ("ngrams", own), ("either", asked | own)):
            places = {
                text: len(
                    {
                        i + k
                        for i, run in enumerate(_runs(text, size))
                        if run in known
                        for k in range(size)
                    }
                )
                for text in tail
            }
            lengths = {text: len(text.split()) for text in tail}
            some = {text: int(bool(n)) for text, n in places.items()}
            found[f"{name}-{size}"] = share(some, ones, tail)
            found[f"words-{name}-{size}"] = share(places, lengths, tail)
    return found


def suggested_slowly(release: Mapping[str, Rows], first: Sequence[str], most: int) -> list[str]:
    """The suggestions, one list after the other."""
    levels: list[Counter[str]] = []
    size = len(first) + 1
    for start in range(-1, size):  # -1: at the beginning; then with fewer and fewer words
        begins, before = start < 0, tuple(first[max(start, 0) :])
        level: Counter[str] = Counter()
        if not before:
            level.update({word: n for word, n in release["keywords"].items() if n > 0})
        else:
            for text, n in release["queries"].items():
                found = _runs(text, len(before) + 1)
                for run in (found[:1] if begins else found) if n > 0 else ():
                    level[run[-1]] += n if run[:-1] == before else 0
            name = f"{'prefixes' if begins else 'ngrams'}_{len(before) + 1}"
            for text, n in release.get(name, {}).items():
                if n > 0 and tuple(text.split())[:-1] == before:
                    level[text.split()[-1]] += n
        levels.append(+level)
    ranked: list[str] = []
    for level in levels:
        for word in sorted(level, key=lambda word: (-level[word], word)):
            if word not in ranked:
                ranked.append(word)
    return ranked[:most]


def completed_slowly(
    release: Mapping[str, Rows], texts: Sequence[str], given: int
) -> dict[str, Share]:
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: {"right": [], "often": []})
    for text, often in Counter(texts).items():
        words = text.split()
        if len(words) > given:
            right = words[given] in suggested_slowly(release, words[:given], 5)
            for name in ("", "dropped-")[: 1 + (text not in release["queries"])]:
                found[name]["right"].append(int(right))
                found[name]["often"].append(often)
    shares = {}
    for name in ("", "dropped-"):
        rights, times = found[name]["right"], found[name]["often"]
        traffic = sum(r * o for r, o in zip(rights, times, strict=True))
        shares[f"{name}after-{given}"] = (
            Share(traffic / sum(times), sum(rights) / len(rights)) if rights else Share(None, None)
        )
    return shares


WORDS = st.sampled_from(["a", "b", "c", "ä", "zz"])


def _texts(least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(WORDS, min_size=least, max_size=most).map(" ".join)


def _rows(least: int, most: int) -> st.SearchStrategy[Rows]:
    return st.dictionaries(_texts(least, most), st.integers(-3, 9), max_size=8)


RELEASES = st.fixed_dictionaries(
    {"queries": _rows(1, 5), "keywords": _rows(1, 1)},
    optional={
        "ngrams_2": _rows(2, 2),
        "ngrams_3": _rows(3, 3),
        "prefixes_2": _rows(2, 2),
        "prefixes_3": _rows(3, 3),
    },
)


@settings(deadline=None)
@given(RELEASES, st.lists(_texts(1, 6), max_size=12))
def test_both_ways_agree(release: Mapping[str, Rows], texts: list[str]) -> None:
    made, log = tables(**release), asked_plainly(texts)
    assert coverage(made, made["queries"], log) == covered_slowly(release, texts)
    slowly = {
        name: share
        for words in (1, 2)
        for name, share in completed_slowly(release, texts, words).items()
    }
    assert completion(made, made["queries"], log) == slowly


@settings(deadline=None)
@given(RELEASES, st.lists(WORDS, min_size=1, max_size=2), st.integers(1, 4))
def test_suggestions_agree(release: Mapping[str, Rows], first: list[str], most: int) -> None:
    model = Completion.learn(tables(**release))
    assert model.suggest(*first, most=most) == suggested_slowly(release, first, most)


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(st.sampled_from("uv"), _texts(0, 4)), min_size=1, max_size=10))
def test_the_engine_and_plain_python_read_alike(tmp_path: Path, entries: Entries) -> None:
    texts = [text for _, text in entries if text]
    release = tables({"a b": 5}, {"a": 5, "b": 3}, ngrams_2={"b c": 2})
    assert coverage(release, release["queries"], asked(tmp_path, entries)) == coverage(
        release, release["queries"], asked_plainly(texts)
    )


# Where there is little or nothing.


def test_an_empty_release() -> None:
    log = asked_plainly(["a b c", "a"])
    found = coverage(tables({}, {}), tables({}, {})["queries"], log)
    assert found.pop("dropped") == Share(1, 1)
    assert set(found.values()) == {Share(0, 0)}
    shares = completion(tables({}, {}), tables({}, {})["queries"], log)
    assert set(shares.values()) == {Share(0, 0)}
    assert Completion.learn(tables({}, {})).suggest("a") == []


def test_nothing_is_dropped() -> None:
    release = tables({"a b c": 9}, {"a": 9}, ngrams_2={"a b": 9})
    log = asked_plainly(["a b c"])
    found = coverage(release, release["queries"], log)
    assert found.pop("dropped") == Share(0, 0)
    assert set(found.values()) == {Share(None, None)}
    shares = completion(release, release["queries"], log)
    assert shares["after-1"] == Share(1, 1)
    assert shares["dropped-after-1"] == Share(None, None)


def test_nobody_asked_anything(tmp_path: Path) -> None:
    log = asked(tmp_path, [("ann", "?"), ("bob", "")])
    assert len(log) == 0
    release = tables({"a b": 9}, {"a": 9}, ngrams_2={"a b": 9})
    found = coverage(release, release["queries"], log)
    assert set(found.values()) == {Share(None, None)}


def test_a_distribution_of_noise_alone(tmp_path: Path) -> None:
    with opened(tmp_path, LOG) as source:
        release = tables({}, {}) | {"lengths": named("value", {"1": -2, "2": 0})}
        facts = [Lengths(items_per_user=1)]
        assert distances(release, facts, source)["lengths"] == (None, None)
    assert total_variation({}, {"a": 1}) is None
    assert total_variation({"a": 2, "b": -1}, {"a": 1}) == 0
    assert total_variation({"a": 1}, {"b": 7}) == 1


def test_phrases_of_another_length_are_refused() -> None:
    with pytest.raises(ReleaseError, match="2 words"):
        Completion.learn(tables({}, {}, ngrams_2={"a b": 3, "a b c": 3}))


def test_too_many_words_are_refused() -> None:
    with pytest.raises(UsageError, match="too many"):
        keys([np.zeros(1, np.int64)] * 3, 3_000_000, 1)
