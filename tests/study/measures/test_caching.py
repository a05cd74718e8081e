"""Index caching: small caches worked out by hand, and a second implementation in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.study.measures.caching import Caching
from zealous.study.measures.document_frequencies import documents_from
from zealous.study.releases import original_histogram as counted
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import (
    Released,
    original_as_release,
    released_by_index,
    released_by_text,
)

NONE = np.zeros(0, np.int64)


def histogram(rows: Mapping[str, tuple[int, int]], kind: str = "keywords") -> Original:
    """From item to (users, times), in this order."""
    column = {"keywords": "keyword", "queries": "query", "clicks": "url"}[kind]
    users, times = (np.array([row[i] for row in rows.values()], np.int64) for i in (0, 1))
    items = pa.table({column: pa.array(list(rows), pa.string())})
    return Original(kind=kind, items=items, users=users, times=times, kept={}, people=99)


def released(original: Original, counts: Mapping[str, int]) -> Released:
    table = {"keyword": pa.array(list(counts), pa.string()), "count": list(counts.values())}
    return released_by_text(
        original, pa.table(table, schema=pa.schema([("keyword", "string"), ("count", "int64")]))
    )


def looked_up(documents: Mapping[str, int]) -> Callable[[pa.Array], Ints]:
    return lambda keywords: np.array([documents[word] for word in keywords.to_pylist()], np.int64)


MOST_HITS = "lists-for-most-hits"
BY_MEMORY, ANSWERED = "hit-probability-by-memory", "answered-from-memory"


def figures(measure: Caching, original: Original, release: Released) -> dict[str, float]:
    found = list(measure(original, release))
    assert all(figure.at is None for figure in found)
    others = (MOST_HITS, BY_MEMORY, ANSWERED)
    found = [figure for figure in found if figure.measure not in others]
    return {figure.measure: figure.value for figure in found}


# users, times and documents; a list has at most 5 postings of 8 bytes
#   a: 6, 10, 2   score 3     16 bytes
#   b: 4,  5, 4   score 1     32 bytes
#   c: 3,  3, 1   score 3      8 bytes
#   d: 1,  2, 10  score 0.1   40 bytes
FOUR = histogram({"a": (6, 10), "b": (4, 5), "c": (3, 3), "d": (1, 2)})
DOCUMENTS = looked_up({"a": 2, "b": 4, "c": 1, "d": 10})


@pytest.mark.parametrize(
    ("memory", "lists", "hit"),
    [
        (7, 0, 0),
        (8, 1, 3 / 20),
        (23, 1, 3 / 20),
        (24, 2, 13 / 20),
        (55, 2, 13 / 20),
        (56, 3, 18 / 20),
        (95, 3, 18 / 20),
        (96, 4, 1),
        (10**9, 4, 1),
    ],
)
def test_lists_are_added_until_memory_ends(memory: int, lists: int, hit: float) -> None:
    measure = Caching(documents=DOCUMENTS, memory=memory, longest=5)
    assert figures(measure, FOUR, original_as_release(FOUR)) == {
        "hit-probability": hit,
        "lists": lists,
    }


@pytest.mark.parametrize(("memory", "needed"), [(7, 0), (8, 1), (56, 3), (96, 3)])
def test_how_many_lists_have_nine_tenths_of_the_hits(memory: int, needed: int) -> None:
    """With all four in memory the fourth has the last tenth of the hits."""
    measure = Caching(documents=DOCUMENTS, memory=memory, longest=5)
    found = {each.measure: each.value for each in measure(FOUR, original_as_release(FOUR))}
    assert found[MOST_HITS] == needed


def test_the_first_that_does_not_fit_ends_it() -> None:
    original = histogram({"x": (3, 3), "y": (20, 20), "z": (1, 1)})
    measure = Caching(documents=looked_up({"x": 1, "y": 10, "z": 1}), memory=16)
    assert figures(measure, original, original_as_release(original)) == {
        "hit-probability": 3 / 24,
        "lists": 1,
    }


def test_the_score_knows_the_whole_list_and_memory_the_cut_one() -> None:
    original = histogram({"long": (100, 100), "short": (9, 9)})
    measure = Caching(documents=looked_up({"long": 1000, "short": 10}), memory=160, longest=20)
    assert figures(measure, original, original_as_release(original))["hit-probability"] == 9 / 109
    measure = Caching(documents=looked_up({"long": 1000, "short": 10}), memory=240, longest=20)
    assert figures(measure, original, original_as_release(original))["hit-probability"] == 1


def named(measure: Caching, original: Original, name: str) -> float:
    found = {each.measure: each.value for each in measure(original, original_as_release(original))}
    return found[name]


def test_a_score_by_memory_knows_what_memory_holds_of_a_list() -> None:
    original = histogram({"long": (100, 100), "short": (9, 9)})
    documents = looked_up({"long": 1000, "short": 10})
    measure = Caching(documents=documents, memory=160, longest=20)
    assert named(measure, original, "hit-probability") == 9 / 109
    assert named(measure, original, BY_MEMORY) == 100 / 109


def test_uncut_lists_have_the_same_score_by_memory() -> None:
    for memory in (8, 24, 56, 96):
        measure = Caching(documents=DOCUMENTS, memory=memory, longest=10)
        hit = named(measure, FOUR, "hit-probability")
        assert named(measure, FOUR, BY_MEMORY) == hit


@pytest.mark.parametrize(
    ("query", "chance"),
    [
        ("the", 1),  # one list has a document, though it was cut
        ("the the", 1),
        ("rare word", 1),  # none in common: the whole answer, since neither list was cut
        ("the of", 1 - math.exp(-(20**2) / 100)),
        ("the rare", 1 - math.exp(-20 * 5 / 100)),
        ("the of rare", 1 - math.exp(-20 * 20 * 5 / 100**2)),
        ("the unknown", 0),
    ],
)
def test_lists_that_were_cut_and_have_nothing_in_common_are_read_on_from_disk(
    query: str, chance: float
) -> None:
    words = histogram({"the": (9, 9), "of": (8, 8), "rare": (2, 2), "word": (1, 1)})
    documents = looked_up({"the": 100, "of": 50, "rare": 5, "word": 5})
    queries = histogram({query: (1, 3), "?": (1, 1)}, "queries")
    measure = Caching(documents=documents, queries=queries, longest=20)
    assert named(measure, words, ANSWERED) == pytest.approx(0.75 * chance)
    assert named(measure, words, "whole-queries") == (0.75 if chance else 0)


def test_searches_are_counted_not_users_and_the_release_decides() -> None:
    original = histogram({"a": (5, 5), "b": (4, 95)})
    measure = Caching(documents=looked_up({"a": 1, "b": 1}), memory=8)
    assert figures(measure, original, original_as_release(original))["hit-probability"] == 0.05
    noisy = released(original, {"a": 3, "b": 4})
    assert figures(measure, original, noisy)["hit-probability"] == 0.95
    assert figures(measure, original, released(original, {"b": 1}))["hit-probability"] == 0.95
    assert figures(measure, original, released_by_index(original, NONE, NONE)) == {
        "hit-probability": 0,
        "lists": 0,
    }


def test_a_keyword_beyond_the_original_takes_memory_and_is_never_hit() -> None:
    original = histogram({"a": (5, 5), "b": (4, 4)})
    documents = looked_up({"a": 1, "b": 1, "scrubbed": 1})
    release = released(original, {"a": 5, "b": 4, "scrubbed": 7})
    for memory, hit, lists in ((8, 0, 1), (16, 5 / 9, 2), (24, 1, 3)):
        measure = Caching(documents=documents, memory=memory)
        assert figures(measure, original, release) == {"hit-probability": hit, "lists": lists}


def test_equal_scores_go_by_length_and_alphabet_not_by_the_truth() -> None:
    original = histogram({"z": (9, 90), "m": (8, 80), "a": (7, 7)})
    even = released(original, {"z": 5, "m": 5, "a": 5})
    measure = Caching(documents=looked_up({"z": 1, "m": 1, "a": 1}), memory=8)
    assert figures(measure, original, even)["hit-probability"] == 7 / 177
    uneven = released(original, {"z": 5, "m": 10, "a": 10})
    measure = Caching(documents=looked_up({"z": 1, "m": 2, "a": 2}), memory=8)
    assert figures(measure, original, uneven)["hit-probability"] == 90 / 177


def test_what_nobody_asks_for_is_not_kept() -> None:
    original = histogram({"a": (5, 5), "b": (4, 4)})
    release = released(original, {"a": 0, "b": -2})
    measure = Caching(documents=looked_up({"a": 1, "b": 1}))
    assert figures(measure, original, release) == {"hit-probability": 0, "lists": 0}


ROWS = st.dictionaries(
    st.text("abcé", min_size=1, max_size=3),
    st.tuples(
        st.integers(1, 6),  # users
        st.integers(1, 9),  # times
        st.integers(1, 8),  # documents
        st.integers(0, 5),  # in the release; 0: not there
        st.booleans(),  # only in the release
    ),
    max_size=12,
)


def by_hand(
    counts: Mapping[str, int], documents: Mapping[str, int], memory: int, longest: int
) -> set[str]:
    kept: set[str] = set()

    def place(word: str) -> tuple[Fraction, int, bytes]:
        return Fraction(-counts[word], documents[word]), documents[word], word.encode()

    for word in sorted(counts, key=place):
        memory -= 8 * min(documents[word], longest)
        if memory < 0:
            break
        kept.add(word)
    return kept


@examples(300)
@given(rows=ROWS, memory=st.integers(1, 400), longest=st.integers(1, 9), shuffle=st.randoms())
def test_against_plain_python_in_any_order_of_rows(
    rows: dict[str, tuple[int, int, int, int, bool]], memory: int, longest: int, shuffle: object
) -> None:
    counts = {word: row[3] for word, row in rows.items() if row[3]}
    documents = {word: row[2] for word, row in rows.items()}
    true = {word: row[:2] for word, row in rows.items() if not row[4]}
    kept = by_hand(counts, documents, memory, longest)
    searches = sum(times for _, times in true.values())
    hits = sum(times for word, (_, times) in true.items() if word in kept)
    names = list(true)
    shuffle.shuffle(names)  # type: ignore[attr-defined]
    measure = Caching(documents=looked_up(documents), memory=memory, longest=longest)
    for order in (list(true), names):
        original = histogram({word: true[word] for word in order})
        found = figures(measure, original, released(original, counts))
        assert found["lists"] == len(kept)
        assert found["hit-probability"] == pytest.approx(hits / searches if searches else 0)


@examples(50)
@given(rows=ROWS, sizes=st.lists(st.integers(1, 400), min_size=2, max_size=5))
def test_more_memory_never_hurts(
    rows: dict[str, tuple[int, int, int, int, bool]], sizes: list[int]
) -> None:
    original = histogram({word: row[:2] for word, row in rows.items()})
    documents = looked_up({word: row[2] for word, row in rows.items()})
    hits = [
        figures(
            Caching(documents=documents, memory=memory), original, original_as_release(original)
        )
        for memory in sorted(sizes)
    ]
    assert hits == sorted(hits, key=lambda found: (found["hit-probability"], found["lists"]))


# Whole queries


def test_a_query_is_answered_where_all_of_its_words_are() -> None:
    words = histogram({"red": (9, 9), "car": (5, 5), "café": (2, 2)})
    queries = histogram(
        {
            "red car": (1, 1),
            "red": (1, 2),
            "red café": (1, 4),
            "red, red; cars?": (1, 8),  # cars is no keyword of the original
            "red-car!": (1, 16),
            "car": (1, 32),
            "?": (1, 64),  # no words at all
        },
        "queries",
    )
    documents = looked_up({"red": 1, "car": 1, "café": 1})
    for memory, answered in ((7, 0), (8, 2), (16, 1 + 2 + 16 + 32), (24, 1 + 2 + 4 + 16 + 32)):
        measure = Caching(documents=documents, queries=queries, memory=memory)
        found = figures(measure, words, original_as_release(words))
        assert found["whole-queries"] == answered / 127
        assert list(found) == ["hit-probability", "whole-queries", "lists"]


def test_one_measure_serves_several_originals() -> None:
    documents = looked_up({"a": 1, "b": 2})
    queries = histogram({"a b": (1, 3), "b": (1, 1)}, "queries")
    measure = Caching(documents=documents, queries=queries, memory=16)
    one, other = histogram({"a": (1, 1), "b": (9, 9)}), histogram({"b": (9, 4), "a": (1, 1)})
    for _ in range(2):
        assert figures(measure, one, original_as_release(one))["hit-probability"] == 9 / 10
        found = figures(measure, other, original_as_release(other))
        assert found == {"hit-probability": 4 / 5, "whole-queries": 1 / 4, "lists": 1}


def test_the_queries_are_cut_once_for_all_releases() -> None:
    asked: list[int] = []

    def documents(keywords: pa.Array) -> Ints:
        asked.append(len(keywords))
        return np.ones(len(keywords), np.int64)

    measure = Caching(documents=documents)
    for _ in range(3):
        figures(measure, FOUR, original_as_release(FOUR))
    figures(measure, FOUR, released(FOUR, {"new": 1}))
    assert asked == [4, 1]


def originals(path: Path, folder: Path) -> tuple[Original, Original]:
    """The true keywords and queries of a log."""
    with DuckDB(threads=1, memory="1GB") as engine:
        source = open_log(z.read_log(path), engine)
        people = count_users(source)
        found = []
        for kind in (z.keywords(1), z.queries(1)):
            file = folder / f"{kind.name()}.parquet"
            counted.count_original(kind, source, file, bounds=[1], key=7)
            found.append(counted.read_original(kind, file, people, [1]))
    return found[0], found[1]


def test_queries_are_cut_as_keywords_are(tmp_path: Path) -> None:
    asked = ["Cheap  flights!", "İstanbul café", "ΟΔΟΣ", "हिन्दी गीत", "a-b_c 2x", "e\u0301t\u00a0b"]
    log = pa.table({"user": [str(i) for i in range(len(asked))], "query": asked})
    pq.write_table(log, tmp_path / "log.parquet")
    words, queries = originals(tmp_path / "log.parquet", tmp_path)
    measure = Caching(documents=lambda some: np.ones(len(some), np.int64), queries=queries)
    found = figures(measure, words, original_as_release(words))
    assert found == {"hit-probability": 1, "whole-queries": 1, "lists": len(words)}
    assert words.items["keyword"][0].as_py() == "b"  # of two of the six queries
    without = released_by_index(words, np.arange(1, len(words)), words.users[1:])
    assert figures(measure, words, without)["whole-queries"] == 4 / 6


@pytest.mark.real
def test_real_queries_are_answered_by_their_keywords(real: Path, tmp_path: Path) -> None:
    path = tmp_path / "excite.parquet"
    with (real / "excite-small.log").open(encoding="utf-8", errors="replace") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    rows = [row for row in fields if len(row) == 3]
    pq.write_table(pa.table({"user": [r[0] for r in rows], "query": [r[2] for r in rows]}), path)
    words, queries = originals(path, tmp_path)
    measure = Caching(documents=lambda some: np.ones(len(some), np.int64), queries=queries)
    found = figures(measure, words, original_as_release(words))
    assert (found["hit-probability"], found["whole-queries"]) == (1, 1)


def test_only_keywords_have_lists() -> None:
    clicks = histogram({"http://a": (1, 1)}, "clicks")
    assert figures(Caching(documents=looked_up({})), clicks, original_as_release(clicks)) == {}


def test_nothing_searched() -> None:
    empty, none = histogram({}), histogram({}, "queries")
    measure = Caching(documents=looked_up({}), queries=none)
    expected = {"hit-probability": 0, "whole-queries": 0, "lists": 0}
    assert figures(measure, empty, original_as_release(empty)) == expected


@pytest.mark.parametrize("name", ["memory", "posting", "longest"])
def test_sizes_are_whole_numbers(name: str) -> None:
    sizes: dict[str, Any] = {name: 0}
    with pytest.raises(UsageError, match=name):
        Caching(documents=DOCUMENTS, **sizes)


@pytest.mark.parametrize("given", [[1, 2, 3], [1, 2, 3, 0], [1.5, 2, 3, 4], [[1, 2, 3, 4]]])
def test_own_documents_are_checked(given: Sequence[float]) -> None:
    measure = Caching(documents=lambda _: np.array(given))
    with pytest.raises(UsageError, match="documents must give"):
        list(measure(FOUR, original_as_release(FOUR)))


# Document frequencies from a file


def asked_of(path: Path, *keywords: str) -> list[int]:
    found: list[int] = documents_from(path)(pa.array(keywords, pa.string())).tolist()
    return found


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_documents_from_a_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"documents.{ending}"
    rows = [("Weather", 5), ("weather", 2), ("null", 7), ("café", 3_000_000_000), ("42", 1)]
    if ending == "parquet":
        columns = {"other": [1] * 5, "documents": [n for _, n in rows]}
        pq.write_table(pa.table({**columns, "keyword": [word for word, _ in rows]}), path)
    else:
        tab = {"csv": ",", "tsv": "\t"}[ending]
        lines = [tab.join(("other", "documents", "keyword"))]
        path.write_text("\n".join([*lines, *(f"x{tab}{n}{tab} {word}" for word, n in rows)]))
    found = asked_of(path, "weather", "null", "missing", "café", "42", "Weather")
    assert found == [7, 7, 1, 3_000_000_000, 1, 1]


def test_no_rows_is_no_documents(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("keyword,documents\n")
    assert asked_of(tmp_path / "d.csv", "a", "b") == [1, 1]


def test_other_types_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    keywords = pa.array(["a", "b", "a"]).dictionary_encode()
    for documents in ([1.0, 2.0, 3.0], ["1", " 2", "3"], pa.array([1, 2, 3], pa.uint8())):
        pq.write_table(pa.table({"keyword": keywords, "documents": documents}), path)
        assert asked_of(path, "a", "b") == [4, 2]


SECRET = "hush"


@pytest.mark.parametrize("count", ["0", "-3", "2.5", "many", "", "0x10", "1e3", "9" * 30])
def test_counts_that_are_none(tmp_path: Path, count: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"keyword,documents\nfine,3\n{SECRET},{count}\n")
    with pytest.raises(UsageError, match="whole number of at least 1") as caught:
        documents_from(path)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("documents", [[2.5], [None], [True], [float("nan")], [1e30]])
def test_counts_of_parquet_that_are_none(tmp_path: Path, documents: list[object]) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"keyword": [SECRET], "documents": documents}), path)
    with pytest.raises(UsageError, match="whole number of at least 1"):
        documents_from(path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("d.csv", "word,documents\nhush,1\n", "columns keyword and documents"),
        ("d.csv", "keyword,documents,keyword\nhush,1,hush\n", "each once"),
        ("d.tsv", "keyword,documents\nhush,1\n", "columns keyword and documents"),
        ("d.csv", "keyword,documents\nhush,1,hush,2\n", "cannot be read as csv"),
        ("d.csv", "", "cannot be read as csv"),
        ("d.csv", b"keyword,documents\nhush\xff,1\n", "cannot be read as csv"),
        ("d.parquet", "hush", "cannot be read as parquet"),
        ("d.txt", "hush", "must be a .csv, .tsv or .parquet"),
        ("d.csv", None, "No such file"),
        ("d.parquet", None, "No such file"),
    ],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, name: str, content: str | bytes | None, says: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=says) as caught:
        documents_from(path)
    assert SECRET not in str(caught.value)
