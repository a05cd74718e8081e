"""Clicks over a public list, queries of published keywords, and click rates."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from records import record_of
from scipy import stats

import zealous as z
from zealous.errors import UsageError
from zealous.mechanisms.of_keywords import OfKeywords, candidate_count
from zealous.mechanisms.results import Results
from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.noise.rare_events import rare_events
from zealous.planning.declared import PublicFile
from zealous.planning.plan import plan_with_files
from zealous.release.derived.rates import click_rates
from zealous.verification.verify import verify

PUBLIC = {"query-clicks": PublicFile(use="results", name="r", sha256="0" * 64)}
GOAL = z.Indistinguishability(epsilon=200, delta="1e-6", neighbors="add-remove")


@pytest.fixture
def log(tmp_path: Path) -> Any:
    """60 people ask for tea and half of them click a; 55 ask for coffee, all of them click c."""
    rows = [
        *((f"t{i}", "tea", "http://a" if i % 2 else "") for i in range(60)),
        *((f"t{i}", "tea", "http://hidden") for i in range(9)),
        *((f"c{i}", "Coffee", "http://c") for i in range(55)),
        ("alone", "my own name", "http://me"),
    ]
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("user", "query", "url"), *rows])
    return z.read_log(path)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(
        "query,url,rank\ntea,http://b,2\ntea,http://a,1\ncoffee,http://c,1\n"
        "my own name,http://me,1\nnever asked,http://n,1\n"
    )
    return path


def published(log: Any, goal: z.Indistinguishability = GOAL, **options: Any) -> Any:
    kinds = [z.queries(3), z.query_clicks(2, rates=options.pop("follow", False))]
    return z.publish(log, goal, kinds, account=None, **options)


def rows(release: Any, kind: str) -> dict[tuple[str, ...], int]:
    table = release[kind].arrow
    columns = [table[name].to_pylist() for name in table.column_names]
    return {row[:-1]: row[-1] for row in zip(*columns, strict=True)}


def test_clicks_are_those_of_listed_documents_of_published_queries(log: Any, results: Path) -> None:
    release = published(log, results=results)
    assert rows(release, "queries").keys() == {("tea",), ("coffee",)}
    clicks = rows(release, "query-clicks")
    # Not the hidden document, which no list has; nor the name, which was not published.
    assert clicks.keys() == {("tea", "http://a"), ("tea", "http://b"), ("coffee", "http://c")}
    assert abs(clicks["tea", "http://a"] - 30) < 5
    assert abs(clicks["tea", "http://b"]) < 5  # nobody clicked it: it is there all the same


def test_the_total_is_twice_what_each_has(log: Any, results: Path) -> None:
    record = published(log, results=results).record
    queries, clicks = record.plan
    assert (queries.epsilon, clicks.epsilon) == (100, 100)
    assert (queries.delta, clicks.delta) == (1e-6, 0)
    assert clicks.scale == 2 / 100  # m_c / epsilon', with a bound of its own
    assert record.guarantee.theorem == "docs/proofs/composition.md"
    assert any("results.csv" in each for each in record.assumptions)


def test_clicks_of_one_user_are_bounded_as_pairs(tmp_path: Path) -> None:
    """One query with many clicks: a bound on queries would let all of them count."""
    lines = [f"u{i},tea,http://{n}" for i in range(50) for n in range(10)]
    (tmp_path / "log.csv").write_text("user,query,url\n" + "\n".join(lines) + "\n")
    listed = "\n".join(f"tea,http://{n}" for n in range(10))
    (tmp_path / "results.csv").write_text(f"query,url\n{listed}\n")
    release = published(z.read_log(tmp_path / "log.csv"), results=tmp_path / "results.csv")
    total = sum(rows(release, "query-clicks").values())
    assert abs(total - 2 * 50) <= 5
    assert len(rows(release, "query-clicks")) == 10


@pytest.mark.parametrize("follow", [False, True])
def test_a_release_with_clicks_verifies(
    log: Any, results: Path, tmp_path: Path, follow: bool
) -> None:
    directory = tmp_path / "release"
    published(log, results=results, follow=follow).write(directory)
    assert {check.name: check.detail for check in verify(directory) if not check.ok} == {}
    assert (directory / "click-rates.csv").exists() is follow
    if follow:
        text = (directory / "click-rates.csv").read_text()
        assert text.startswith("query,url,asked,clicked,rate,low,high\n")
        assert "click-rates.csv" in (directory / "README.md").read_text()
        (directory / "click-rates.csv").write_text(text.replace("tea", "tee"))
        about = json.loads((directory / "release.json").read_text())
        import hashlib

        about["sha256"]["click-rates.csv"] = hashlib.sha256(
            (directory / "click-rates.csv").read_bytes()
        ).hexdigest()
        (directory / "release.json").write_text(json.dumps(about, indent=2))
        failed = {check.name for check in verify(directory) if check.ok is False}
        assert "rows" in failed


def test_rates_are_shares_of_those_who_asked(log: Any, results: Path) -> None:
    release = published(log, results=results, follow=True)
    tables = {kind: table.arrow for kind, table in release.tables.items()}
    found = {(r["query"], r["url"]): r for r in click_rates(release.record, tables).to_pylist()}
    assert abs(found["tea", "http://a"]["rate"] - 0.5) < 0.1
    assert found["coffee", "http://c"]["rate"] > 0.9
    for row in found.values():
        assert 0 <= row["low"] <= row["rate"] <= row["high"] <= 1


def test_clicks_follow_the_queries_that_count(tmp_path: Path) -> None:
    """Everybody asks and clicks two things, and one query of each counts."""
    lines = [f"u{i},{q},http://{q}" for i in range(400) for q in ("tea", "coffee")]
    (tmp_path / "log.csv").write_text("user,query,url\n" + "\n".join(lines) + "\n")
    log = z.read_log(tmp_path / "log.csv")
    for follow, most in ((True, 1.03), (False, 2.6)):
        kinds = [z.queries(1), z.query_clicks(2, rates=follow)]
        release = z.publish(log, GOAL, kinds, account=None)
        asked, clicked = rows(release, "queries"), rows(release, "query-clicks")
        ratios = [clicked[q, f"http://{q}"] / asked[(q,)] for q in ("tea", "coffee")]
        assert max(ratios) < most
        assert min(ratios) > (0.97 if follow else 1.5)


@pytest.mark.parametrize("mechanism", ["gaussian", "pooled"])
def test_rates_with_other_mechanisms(log: Any, results: Path, mechanism: str) -> None:
    release = published(
        log,
        results=results,
        follow=True,
        mechanism={"queries": mechanism, "query-clicks": "results"},
    )
    tables = {kind: table.arrow for kind, table in release.tables.items()}
    found = {(r["query"], r["url"]): r for r in click_rates(release.record, tables).to_pylist()}
    assert found["coffee", "http://c"]["high"] > 0.9


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Noise of both counts: 95 of 100 intervals at least hold the true rate."""
    goal = z.Indistinguishability(epsilon=2, delta="1e-6", neighbors="add-remove")
    planned = plan_with_files(goal, [z.queries(1), z.query_clicks(1, rates=True)], PUBLIC)
    size, asked, clicked = 4000, 200, 50
    noise = [
        DiscreteLaplace(scale=part.mechanism.scale).sample(size, seeded_bytes(n))
        for n, part in enumerate(planned.parts)
    ]
    names = [f"q{i}" for i in range(size)]
    tables = {
        "queries": pa.table({"query": names, "count": asked + noise[0]}),
        "query-clicks": pa.table({"query": names, "url": names, "count": clicked + noise[1]}),
    }
    found = click_rates(record_of(planned), tables)
    low, high = (found[name].to_numpy() for name in ("low", "high"))
    held = np.mean((low <= clicked / asked) & (clicked / asked <= high))
    assert 0.95 <= held < 0.9999


@pytest.mark.parametrize("mechanism", ["zealous", "gaussian", "selection"])
@pytest.mark.parametrize("below", [4, 0, -2])
def test_the_interval_holds_for_queries_near_the_threshold(mechanism: str, below: int) -> None:
    """Of the rows that are published: queries above their threshold alone are there.

    The draws are always the same, so that nothing is left to chance.
    """
    goal = z.Indistinguishability(epsilon=2, delta="1e-3", neighbors="add-remove")
    kinds = [z.queries(1), z.query_clicks(1, rates=True)]
    planned = plan_with_files(goal, kinds, PUBLIC, mechanism={"queries": mechanism})
    queries, clicks = (part.mechanism for part in planned.parts)
    asked = max(1, (queries.tau_prime or 0) - below * math.ceil(queries.scale))
    clicked = math.ceil(asked / 2)
    size = math.ceil(1500 / queries.publication_probability(asked))
    names = [f"q{i}" for i in range(size)]

    def count(**_: Any) -> list[pa.RecordBatch]:
        return [pa.record_batch({"query": names, "count": pa.array([asked] * size, pa.int64())})]

    shown = pa.Table.from_batches(queries.release(count, seeded_bytes(1)))
    noise = DiscreteLaplace(scale=clicks.scale).sample(shown.num_rows, seeded_bytes(2))
    tables = {
        "queries": shown,
        "query-clicks": pa.table(
            {"query": shown["query"], "url": shown["query"], "count": clicked + noise}
        ),
    }
    found = click_rates(record_of(planned), tables)
    low, high = (found[name].to_numpy() for name in ("low", "high"))
    rate = clicked / asked
    held = np.mean((low <= rate + 1e-9) & (rate - 1e-9 <= high))
    assert found.num_rows > 1100
    assert held >= 0.95
    off = queries.noise_quantile(0.975)
    ignoring = np.mean(np.abs(found["asked"].to_numpy() - asked) <= off)
    assert below <= 0 or ignoring < 0.95  # what would be seen otherwise


# Queries of published keywords


def test_queries_of_published_keywords(tmp_path: Path) -> None:
    lines = [f"u{i},green tea" for i in range(80)]
    lines += [f"u{i},Green  TEA!" for i in range(80, 160)]  # punctuation: no list of words
    lines += [f"v{i},tea" for i in range(70)]
    lines += [f"w{i},tea {rest}" for i, rest in enumerate("abcdefg")]
    (tmp_path / "log.csv").write_text("user,query\n" + "\n".join(lines) + "\n")
    release = z.publish(
        z.read_log(tmp_path / "log.csv"),
        GOAL,
        [z.keywords(2), z.queries(2)],
        account=None,
        mechanism={"keywords": "zealous", "queries": "of-keywords"},
    )
    assert rows(release, "keywords").keys() == {("tea",), ("green",)}
    found = rows(release, "queries")
    assert {("green tea",), ("tea",)} <= found.keys()
    assert abs(found[("green tea",)] - 80) < 5
    release.write(tmp_path / "release")
    assert all(check.ok for check in verify(tmp_path / "release"))


def _count(counts: dict[str, int]) -> Any:
    def count(**_: Any) -> list[pa.RecordBatch]:
        held = {query: number for query, number in counts.items() if number}
        return [pa.record_batch({"query": [*held], "count": pa.array(held.values(), pa.int64())})]

    return count


def test_every_candidate_gets_noise_asked_or_not() -> None:
    """The chance to be published is that of the noise, for queries of no users and of one."""
    words = pa.table({"keyword": ["a", "b"], "count": [9, 8]})
    mechanism = OfKeywords(items_per_user=1, scale=Fraction(2)).with_inputs(first=words)
    every = [" ".join(made) for n in (1, 2, 3) for made in itertools.product("ab", repeat=n)]
    assert candidate_count(2) == len(every) == 14
    above, runs = mechanism.threshold(2), 1500
    seen: Counter[str] = Counter()
    values: list[int] = []
    source = seeded_bytes(5)
    for _ in range(runs):
        for batch in mechanism.release(_count({"a": 1, "a b": 3}), source):
            names = batch["query"].to_pylist()
            seen.update(names)
            counts = batch["count"].to_pylist()
            assert min(counts, default=above + 1) > above
            values += [n for name, n in zip(names, counts, strict=True) if name not in ("a", "a b")]
    assert set(seen) <= set(every)
    alpha = math.exp(-1 / 2)

    def is_as_likely(times: int, draws: int, true: int) -> bool:
        chance = alpha ** (above - true + 1) / (1 + alpha)
        low, high = stats.binom.ppf([1e-6, 1 - 1e-6], draws, chance)
        return bool(low <= times <= high)

    held = {"a": 1, "a b": 3}
    assert all(is_as_likely(seen[query], runs, held.get(query, 0)) for query in every)
    nobody = [query for query in every if query not in held]
    assert is_as_likely(sum(seen[query] for query in nobody), runs * len(nobody), 0)
    # Beyond the threshold the noise falls geometrically.
    beyond = np.array(values) - above - 1
    assert abs(beyond.mean() - 1 / (math.exp(1 / 2) - 1)) < 0.2


def test_no_keyword_no_query() -> None:
    empty = pa.table({"keyword": pa.array([], pa.string()), "count": pa.array([], pa.int64())})
    mechanism = OfKeywords(items_per_user=1, scale=Fraction(2)).with_inputs(first=empty)
    assert sum(batch.num_rows for batch in mechanism.release(_count({}))) == 0


@pytest.mark.parametrize(
    ("size", "chance"), [(10, "0.3"), (10**9, "2e-9"), (1, "0.5"), (7, "1e-9")]
)
def test_rare_events_are_binomial(size: int, chance: str) -> None:
    source, runs = seeded_bytes(3), 8_000
    drawn = Counter(rare_events(size, lambda _: Decimal(chance), source) for _ in range(runs))
    assert max(drawn) <= size
    for number in range(6):
        expected = stats.binom.pmf(number, size, float(chance))
        low, high = stats.binom.ppf([1e-6, 1 - 1e-6], runs, expected)
        assert low <= drawn[number] <= high


def test_a_number_at_the_edge_is_worked_out_further() -> None:
    """The first digits equal the distribution function's: more are drawn, none is guessed."""
    asked: list[int] = []

    def bytes_at_the_edge(size: int) -> bytes:
        asked.append(size)
        # P(none) = 1/2 exactly, and the drawn number is one half to 160 bits, then above it.
        return (b"\x80" + bytes(size - 1)) if len(asked) == 1 else b"\xff" * size

    assert rare_events(1, lambda _: Decimal("0.5"), bytes_at_the_edge) == 1
    assert len(asked) == 2


# What goes wrong


@pytest.mark.parametrize(
    ("kinds", "options", "told"),
    [
        ([z.query_clicks(2)], {"results": "r.csv"}, "after queries"),
        ([z.query_clicks(2), z.queries(2)], {"results": "r.csv"}, "queries first"),
        ([z.queries(2)], {"results": "r.csv"}, "query-clicks"),
        (
            [z.queries(2, by="country"), z.query_clicks(2)],
            {"results": "r.csv"},
            "queries without by",
        ),
        ([z.queries(2)], {"mechanism": "of-keywords"}, "after keywords"),
        ([z.queries(2), z.keywords(2)], {"mechanism": {"queries": "of-keywords"}}, "first"),
        (
            [z.keywords(2), z.queries(2, fold_words=True)],
            {"mechanism": {"queries": "of-keywords"}},
            "without by and fold_words=True",
        ),
        ([z.query_clicks(2, rates=True)], {}, "click rates need"),
        ([z.query_clicks(2, rates=True), z.queries(2)], {}, "in this order"),
        ([z.queries(2), z.query_clicks(2, rates=True, by="land")], {}, "that are alike"),
        ([z.queries(2, by="land"), z.query_clicks(2, rates=True)], {}, "that are alike"),
        ([z.queries(2, fold_words=True), z.query_clicks(2, rates=True)], {}, "that are alike"),
        ([z.queries(2, by="land"), z.query_clicks(2)], {"results": "r.csv"}, "by what"),
        ([z.queries(2)], {"mechanism": "results"}, "say results"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: list[Any], options: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("query,url\ntea,http://a\n")
    Path("log.csv").write_text("user,query,url\nu,tea,http://a\n")
    with pytest.raises(UsageError, match=told):
        z.publish(z.read_log("log.csv"), GOAL, kinds, account=None, **options)


def test_results_without_their_list_are_a_mistake() -> None:
    mechanism = Results.calibrate(GOAL, 1)
    with pytest.raises(UsageError, match="needs its list"):
        mechanism.release(lambda **_: [], os.urandom)
    with pytest.raises(UsageError, match="queries that were published before"):
        mechanism.with_inputs(pa.table({"query": ["a"], "url": ["b"]}))
