"""What to ask instead: by hand, and as a slow and plain program has it."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from slow_phrases import cut_slowly, joined_slowly, words_slowly

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.study.measures.association import log_likelihood_ratio
from zealous.study.measures.substitution import LEAST_SCORE, learn
from zealous.study.releases.original_histogram import count_original, read_original

Pairs = list[tuple[str, str, int]]
Histogram = list[tuple[str, int]]
Answer = list[tuple[str, float]]


def table(rows: Pairs | Histogram, *names: str) -> pa.Table:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in (*names, "")]
    types = [*(pa.string() for _ in names), pa.int64()]
    arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
    return pa.table(arrays, names=[*names, "count"])


def query_pairs(rows: Pairs) -> pa.Table:
    return table(rows, "query", "next_query")


def phrase_pairs(rows: Pairs) -> pa.Table:
    return table(rows, "phrase", "next_phrase")


def answers(
    pairs: pa.Table, asked: list[str], most: int = 5, queries: pa.Table | None = None
) -> list[Answer]:
    ranked = learn(pairs, queries).top(pa.array(asked, pa.string()), most)
    assert ranked.asked == len(asked)
    assert ranked.table.schema.names == ["place", "candidate", "score", "rank"]
    found: list[Answer] = [[] for _ in asked]
    for row in ranked.table.to_pylist():
        assert row["rank"] == len(found[row["place"]])
        found[row["place"]].append((row["candidate"], row["score"]))
    assert ranked.table["place"].to_pylist() == sorted(ranked.table["place"].to_pylist())
    return found


def texts(found: list[Answer]) -> list[list[str]]:
    return [[candidate for candidate, _ in answer] for answer in found]


# A slow and plain program


def ratio_slowly(both: int, first: int, second: int, total: int) -> float:
    """Dunning's ratio as four terms; 0 without attraction."""
    if both * total <= first * second:
        return 0.0
    cells = [
        (both, first, second),
        (first - both, first, total - second),
        (second - both, total - first, second),
        (total - first - second + both, total - first, total - second),
    ]
    return 2 * sum(n * math.log(n * total / (row * column)) for n, row, column in cells if n)


def units_slowly(pairs: Pairs, joined: set[tuple[str, str]] | None) -> dict[str, dict[str, float]]:
    """For each unit what to put in its place, with scores."""
    both: dict[tuple[str, str], int] = defaultdict(int)
    for one, other, often in pairs:
        if often <= 0:
            continue
        found = {(one, other)}
        if joined is not None:
            a, b = cut_slowly(one, joined), cut_slowly(other, joined)
            differ = [two for two in zip(a, b, strict=False) if two[0] != two[1]]
            if len(a) == len(b) and len(differ) == 1:
                found.add(differ[0])
        for pair in found:
            both[pair] += often
    firsts: dict[str, int] = defaultdict(int)
    seconds: dict[str, int] = defaultdict(int)
    for (one, other), often in both.items():
        firsts[one] += often
        seconds[other] += often
    learned: dict[str, dict[str, float]] = defaultdict(dict)
    for (one, other), often in both.items():
        score = ratio_slowly(often, firsts[one], seconds[other], sum(both.values()))
        if one != other and score > LEAST_SCORE:
            learned[one][other] = score
    return learned


def slots_slowly(query: str, joined: set[tuple[str, str]] | None) -> list[tuple[str, str, str]]:
    """Before, unit, after."""
    if joined is not None:
        parts = cut_slowly(query, joined)
        spans = [(i, i + 1) for i in range(len(parts))]
    else:
        parts = words_slowly(query)
        spans = [(i, j) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)]
    whole = ("", query, "")
    return [
        whole,
        *((" ".join(parts[:i]), " ".join(parts[i:j]), " ".join(parts[j:])) for i, j in spans),
    ]


def answers_slowly(
    pairs: Pairs,
    asked: list[str],
    most: int,
    joined: set[tuple[str, str]] | None,
    whole: bool = True,
) -> list[Answer]:
    learned = units_slowly(pairs, joined if whole else None)
    found = []
    for query in asked:
        best: dict[str, float] = {}
        for before, unit, after in slots_slowly(query, joined):
            for instead, score in learned.get(unit, {}).items():
                candidate = " ".join(part for part in (before, instead, after) if part)
                if candidate != query:
                    best[candidate] = max(score, best.get(candidate, 0))
        found.append(sorted(best.items(), key=lambda each: (-each[1], each[0]))[:most])
    return found


def own_queries(pairs: Pairs) -> Histogram:
    return [(query, n) for one, other, n in pairs if n > 0 for query in (one, other)]


def rounded(found: list[Answer]) -> list[Answer]:
    return [[(text, round(score, 6)) for text, score in answer] for answer in found]


# The log-likelihood ratio


def ratio(both: int, left: int, right: int, total: int) -> float:
    counts = (np.array([n]) for n in (both, left, right))
    (found,) = log_likelihood_ratio(next(counts), next(counts), next(counts), total)
    return float(found)


def test_the_ratio_by_hand() -> None:
    # Two pairs that never mix: 2 * (10 log 2 + 10 log 2).
    assert ratio(10, 10, 10, 20) == pytest.approx(40 * math.log(2))
    assert ratio(5, 10, 10, 20) == 0.0
    assert ratio(1, 10, 10, 20) == 0.0


@pytest.mark.parametrize("cells", [(30, 5, 7, 400), (3, 1, 2, 50), (12, 40, 9, 100)])
def test_the_ratio_as_scipy_has_it(cells: tuple[int, int, int, int]) -> None:
    a, b, c, d = cells
    expected = chi2_contingency([[a, b], [c, d]], correction=False, lambda_="log-likelihood")[0]
    found = log_likelihood_ratio(np.array([a]), np.array([a + b]), np.array([a + c]), sum(cells))
    assert found[0] == pytest.approx(expected)


@given(st.tuples(*(st.integers(-5, 50) for _ in range(4))))
def test_the_ratio_is_a_number_whatever_the_counts(cells: tuple[int, ...]) -> None:
    both, left, right, total = cells
    found = ratio(both, left, right, total)
    assert np.isfinite(found)
    assert found >= 0


# By hand. The last row is there so that other things happen too.

OTHER = ("something", "else", 1000)
APART = table([("something", 1)], "query")  # joins no words


def test_whole_queries() -> None:
    pairs = query_pairs([("weather", "weather report", 20), ("weather", "rain", 30), OTHER])
    assert texts(answers(pairs, ["weather", "rain", "weather report", "unknown"])) == [
        ["rain", "weather report"],
        [],
        [],
        [],
    ]


def test_one_phrase_is_replaced_in_other_queries() -> None:
    pairs = query_pairs([("hotels paris", "hotels rome", 20), OTHER])
    asked = ["hotels paris", "cheap flights paris", "hotels", "paris"]
    assert texts(answers(pairs, asked, queries=APART)) == [
        ["hotels rome"],
        ["cheap flights rome"],
        [],
        ["rome"],
    ]


def test_two_changed_phrases_are_no_phrase_pair() -> None:
    pairs = query_pairs([("hotels paris", "flights rome", 20), OTHER])
    asked = ["hotels paris", "flights paris"]
    assert texts(answers(pairs, asked, queries=APART)) == [["flights rome"], []]


def test_another_number_of_phrases_is_no_phrase_pair() -> None:
    pairs = query_pairs([("hotels paris", "hotels paris rome", 20), OTHER])
    asked = ["hotels paris", "flights paris"]
    assert texts(answers(pairs, asked, queries=APART)) == [["hotels paris rome"], []]


def test_a_phrase_is_replaced_as_a_whole() -> None:
    pairs = query_pairs([("hotels new york", "hotels rome", 20), OTHER])
    queries = table([("new york", 5), ("hotels", 5000), ("york", 1)], "query")
    asked = ["flights new york", "flights york"]
    assert texts(answers(pairs, asked, queries=queries)) == [["flights rome"], []]
    assert texts(answers(pairs, asked, queries=APART)) == [[], []]


def test_evidence_adds_up() -> None:
    # Twice 10 for paris, rome in different queries; 15 for paris, oslo in one.
    pairs = [("a paris", "a rome", 10), ("b paris", "b rome", 10), ("c paris", "c oslo", 15), OTHER]
    (found,) = answers(query_pairs(pairs), ["d paris"], queries=APART)
    assert [text for text, _ in found] == ["d rome", "d oslo"]
    # 35 units start with paris, 35 + 35 + 1000 are all there are: (20, 35, 20).
    assert found[0][1] == pytest.approx(ratio_slowly(20, 35, 20, 1070))


def test_what_goes_together_by_chance_is_not_learned() -> None:
    pairs = [(a, b, 10) for a in ("x", "y") for b in ("u", "v")]
    assert texts(answers(query_pairs(pairs), ["x", "y"])) == [[], []]


def test_equal_scores_are_in_order_of_text_even_beyond_the_cut() -> None:
    pairs = phrase_pairs([("x", other, 5) for other in ("d", "c", "a b", "a")] + [OTHER])
    assert texts(answers(pairs, ["x", "x z"], most=2)) == [["a", "a b"], ["a b z", "a z"]]


def test_any_known_run_of_words_is_replaced_where_phrases_were_published() -> None:
    pairs = phrase_pairs([("york", "jersey", 9), ("new york", "rome", 20), OTHER])
    assert texts(answers(pairs, ["hotels new york", "old york inn", "yorks"])) == [
        ["hotels rome", "hotels new jersey"],
        ["old jersey inn"],
        [],
    ]


def test_published_phrases_take_the_place_of_whole_phrases_where_queries_tell_them() -> None:
    pairs = phrase_pairs([("york", "jersey", 9), ("new york", "rome", 20), OTHER])
    queries = table([("new york", 5), ("hotels", 5000)], "query")
    asked = ["hotels new york", "old york inn", "new york"]
    assert texts(answers(pairs, asked, queries=queries)) == [
        ["hotels rome"],
        ["old jersey inn"],
        ["rome"],
    ]


def test_punctuation_counts_in_whole_queries_alone() -> None:
    pairs = query_pairs([("o'neil store", "o'neil shop", 20), OTHER])
    asked = ["o'neil store", "o neil store", "levi's store"]
    assert texts(answers(pairs, asked, queries=APART)) == [
        ["o neil shop", "o'neil shop"],
        ["o neil shop"],
        ["levi s shop"],
    ]


def test_counts_below_one_teach_nothing() -> None:
    pairs = query_pairs([("a", "b", 0), ("a", "c", -3), ("a", "d", 9), OTHER])
    assert texts(answers(pairs, ["a"])) == [["d"]]


@pytest.mark.parametrize("make", [query_pairs, phrase_pairs])
def test_empty_tables(make: Any) -> None:
    assert answers(make([]), ["a b", ""]) == [[], []]
    assert answers(make([]), ["a"], queries=table([], "query")) == [[]]
    assert answers(make([("a", "b", 9), OTHER]), []) == []
    assert texts(answers(make([("a", "b", 9), OTHER]), ["", "?!", "a"])) == [[], [], ["b"]]


def test_further_columns_are_added_up() -> None:
    pairs = query_pairs([("a", "b", 4), ("a", "b", 5), OTHER])
    pairs = pairs.append_column("country", pa.array(["de", "fr", "de"]))
    assert answers(pairs, ["a"]) == answers(query_pairs([("a", "b", 9), OTHER]), ["a"])


def test_other_tables_are_refused_by_name_of_column() -> None:
    with pytest.raises(UsageError, match="next_query is missing"):
        learn(table([("a", 1)], "query"))
    with pytest.raises(UsageError, match="query is missing"):
        learn(query_pairs([]), table([], "keyword"))


# As the slow program has it

_QUERIES = st.lists(st.sampled_from(["a", "b", "c", "d", "e'f"]), min_size=1, max_size=4).map(
    " ".join
)
_PAIRS = st.lists(st.tuples(_QUERIES, _QUERIES, st.integers(-1, 30)), max_size=12)


@examples(120)
@given(
    rows=_PAIRS,
    asked=st.lists(_QUERIES, max_size=4),
    most=st.integers(1, 4),
    queries=st.none() | st.lists(st.tuples(_QUERIES, st.integers(0, 5)), max_size=6),
    often=st.integers(0, 3000),
)
def test_query_pairs_as_the_slow_program(
    rows: Pairs, asked: list[str], most: int, queries: Histogram | None, often: int
) -> None:
    rows = [*rows, ("s", "t", often)]
    histogram = own_queries(rows) if queries is None else [*queries, ("s", often)]
    expected = answers_slowly(rows, asked, most, joined_slowly(histogram))
    given_too = None if queries is None else table(histogram, "query")
    assert rounded(answers(query_pairs(rows), asked, most, given_too)) == rounded(expected)


@examples(80)
@given(
    rows=_PAIRS,
    asked=st.lists(_QUERIES, max_size=4),
    most=st.integers(1, 4),
    queries=st.none() | st.lists(st.tuples(_QUERIES, st.integers(0, 5)), max_size=6),
)
def test_phrase_pairs_as_the_slow_program(
    rows: Pairs, asked: list[str], most: int, queries: Histogram | None
) -> None:
    rows = [*rows, ("s", "t", 50)]
    histogram = None if queries is None else [*queries, ("s", 100)]
    joined = None if histogram is None else joined_slowly(histogram)
    expected = answers_slowly(rows, asked, most, joined, whole=False)
    given_too = None if histogram is None else table(histogram, "query")
    assert rounded(answers(phrase_pairs(rows), asked, most, given_too)) == rounded(expected)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    """The true histograms of a generated log of 1,000 users."""
    from zealous.synthetic import generate

    folder = tmp_path_factory.mktemp("log")
    generate(folder / "log.parquet", users=1000, seed=5)
    found = {}
    with DuckDB(threads=1) as engine:
        source = open_log(z.read_log(folder / "log.parquet"), engine)
        for kind in (z.queries(1), z.query_pairs(1), z.phrase_pairs(1)):
            file = Path(folder / f"{kind.name()}.parquet")
            count_original(kind, source, file, bounds=[1], key=7)
            original = read_original(kind, file, 1000, [1])
            found[kind.name()] = original.items.append_column("count", pa.array(original.users))
    return found


@pytest.mark.parametrize("kind", ["query-pairs", "phrase-pairs"])
def test_a_generated_log_as_the_slow_program(generated: dict[str, pa.Table], kind: str) -> None:
    rows = [tuple(row.values()) for row in generated[kind].to_pylist()]
    histogram = [tuple(row.values()) for row in generated["queries"].to_pylist()]
    asked = [query for query, _ in histogram[:150]]
    joined = joined_slowly(histogram)
    expected = answers_slowly(rows, asked, 5, joined, whole=kind == "query-pairs")
    found = answers(generated[kind], asked, 5, generated["queries"])
    assert sum(map(bool, expected)) > 100
    # Scores that differ in the last bit alone may change places.
    assert [[s for _, s in each] for each in rounded(found)] == [
        [s for _, s in each] for each in rounded(expected)
    ]
    same = sum(a == b for a, b in zip(texts(found), texts(expected), strict=True))
    assert same > 0.98 * len(asked)


def test_the_order_of_rows_does_not_matter(generated: dict[str, pa.Table]) -> None:
    pairs, queries = generated["query-pairs"], generated["queries"]
    asked = queries["query"].slice(0, 2000)
    order = pa.array(np.argsort(np.arange(len(pairs)) * 7919 % len(pairs)))
    one = learn(pairs, queries).top(asked, 5)
    other = learn(pairs.take(order), queries).top(asked, 5)
    assert other.table.equals(one.table)


def test_the_query_itself_takes_no_place_from_another() -> None:
    """What a phrase is replaced by may give the query back."""
    rows: Pairs = [("new york", "new-york", 60), ("new york", "nyc", 40), ("tea", "milk", 900)]
    for most, expected in ((1, ["nyc"]), (2, ["nyc"])):
        assert texts(answers(phrase_pairs(rows), ["new-york"], most)) == [expected]
