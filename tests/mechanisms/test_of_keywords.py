"""Queries of published keywords: each can be read in one way, or there is no release.

Keywords `new`, `york` and `new york` would spell "new york" at two places of the list, each with
noise of its own. Nobody asking it, it would then appear more often than a query of one place, and
once somebody asks it less often: at a claim of epsilon 0.05 a run measured at least 0.52.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.cli import cli
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.of_keywords import MOST_WORDS, MadeOf, OfKeywords, SpelledQueries
from zealous.planning.plan import plan

GOAL = z.Indistinguishability(epsilon=2, delta="1e-6", neighbors="add-remove")
OF_KEYWORDS = {"keywords": "zealous", "queries": "of-keywords"}
COMMAND = shlex.split(
    "--items keywords,queries --items-per-user 3 --epsilon 0.1 --delta 1e-6 "
    "--guarantee indistinguishable --mechanism keywords=zealous,queries=of-keywords "
    "--ledger ledger -o out"
)


def write_lists(path: Path) -> None:
    """A log whose keywords are in lists, one of them with a space."""
    words = ["new", "york", "new york"]
    rows = [{"user": f"u{n}", "query": "new york", "words": words} for n in range(400)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")


def test_keywords_from_lists_are_refused_and_nothing_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lists(Path("log.jsonl"))
    ran = CliRunner().invoke(cli, ["publish", "log.jsonl", "--keywords", "words", *COMMAND])
    assert isinstance(ran.exception, UsageError), ran.output
    assert "not a column of keywords: leave out --keywords" in str(ran.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl"]


def test_the_words_of_the_same_log_are_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the column, and at an epsilon that finds something."""
    monkeypatch.chdir(tmp_path)
    write_lists(Path("log.jsonl"))
    ran = CliRunner().invoke(cli, ["publish", "log.jsonl", *COMMAND, "--epsilon", "20"])
    assert ran.exit_code == 0, ran.output
    assert "new york" in Path("out/queries.csv").read_text()


def test_a_column_that_a_preset_takes_for_keywords_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    table = pa.table({"user": ["u"], "query": ["new york"], "keywords": [["new", "new york"]]})
    pq.write_table(table, "log.parquet")
    ran = CliRunner().invoke(cli, ["publish", "log.parquet", *COMMAND])
    assert isinstance(ran.exception, UsageError), ran.output
    assert "rename a column of that name" in str(ran.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.parquet"]


@pytest.mark.parametrize(
    "kinds",
    [
        [z.keywords(2, by="country"), z.queries(2)],
        [z.keywords(2), z.queries(2, by="country")],
        [z.keywords(2, by="country"), z.queries(2, by="country")],
        [z.keywords(2), z.queries(2, fold_words=True)],
    ],
)
def test_keywords_that_could_be_listed_twice_cannot_be_planned(kinds: Any) -> None:
    """The same keyword under two attributes is listed twice."""
    told = ""
    try:
        plan(GOAL, kinds, mechanism=OF_KEYWORDS)
    except UsageError as refused:
        told = str(refused)
    assert "both without by and fold_words=True" in told


def test_the_mechanism_refuses_what_was_not_planned_here() -> None:
    """Whoever calls it: no noise is drawn for such keywords."""
    for words in (["new", "york", "new york"], ["a", "b", "a"]):
        table = pa.table({"keyword": words, "count": [9] * len(words)})
        mechanism = OfKeywords.calibrate(GOAL, 1).with_inputs(first=table)
        told = ""
        try:
            mechanism.release(lambda **_: [])
        except UsageError as refused:
            told = str(refused)
        assert "different keywords of one word each" in told


# What is counted, and what is a candidate

# Letters that `lower` changes, some of them into two, or twice; marks; what ends a word; blanks.
LETTERS = "abAB1İıſẞßǅΣςσÅÅéE\u0301K\u0130\u0307日本\u00a0\u2028\u3000\t \t'-_.,\u200b\u00ad"


@pytest.fixture(scope="module")
def engine() -> Any:
    with DuckDB(threads=1) as running:
        yield running


@given(queries=st.lists(st.text(st.sampled_from(LETTERS), max_size=9), min_size=1, max_size=12))
@examples(60)
def test_what_counts_is_what_the_places_spell(
    queries: list[str], engine: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However a query was written: it is counted as the text of one candidate, or not at all."""
    import pyarrow.parquet as pq

    path = tmp_path_factory.mktemp("log") / "log.parquet"
    users = [f"u{number}" for number in range(len(queries))]
    pq.write_table(pa.table({"user": users, "query": pa.array(queries, pa.string())}), path)
    source = open_log(read_log(path), engine)
    counts = [
        pa.Table.from_batches(
            [
                *histogram(kind, source, bound=99, at_least=1, select="random", key=1),
            ]
            or [pa.record_batch({kind.item[0]: pa.array([], pa.string())})]
        )
        for kind in (z.keywords(99), z.queries(99))
    ]
    words = counts[0].select(["keyword"])
    made = SpelledQueries.of(words["keyword"])  # never refused: a word is one word
    counted = list(
        histogram(
            z.queries(99),
            source,
            bound=99,
            at_least=1,
            select="random",
            key=1,
            only=[MadeOf(words)],
        )
    )
    found = [text for batch in counted for text in batch["query"].to_pylist()]
    places = made.places(pa.table({"query": pa.array(found, pa.string())}))
    assert (places >= 0).all()
    assert made.items(places)["query"].to_pylist() == found
    # Of all queries of the log those are counted that the engine reads as the words they spell.
    every = counts[1]["query"].to_pylist()
    short = [text for text in every if len(text.split(" ")) <= MOST_WORDS]
    candidates = [
        text
        for text, place in zip(every, made.places(counts[1].select(["query"])), strict=True)
        if place >= 0
    ]
    assert set(found) == set(candidates) <= set(short)


def test_clicks_follow_those_who_were_counted_for_a_query(tmp_path: Path) -> None:
    """Also where what they kept did not pass: nobody clicks in place of another query of hers."""
    lines = ["user,query,url"]
    for user in range(60):
        rare = " ".join(f"w{user // 10**place % 10}" for place in range(3))
        lines += [f"u{user},tea,http://a.com", f"u{user},{rare},"]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    planned = z.plan(
        z.Indistinguishability(epsilon=900, delta="1e-4"),
        [z.keywords(4), z.queries(1), z.query_clicks(1, rates=True)],
        mechanism={"queries": "of-keywords"},
        seed=1,
    )
    release = z.publish(read_log(tmp_path / "log.csv"), planned, account=None)
    (asked,) = release["queries"].arrow.to_pylist()
    (clicked,) = release["query-clicks"].arrow.to_pylist()
    assert asked["query"] == clicked["query"] == "tea"
    assert asked["count"] == clicked["count"] < 60
