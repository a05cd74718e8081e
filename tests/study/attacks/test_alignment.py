"""Tokens turned back into words."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.study.anonymity import Bundle, Pseudonym, TokenHash, anonymize
from zealous.study.attacks.alignment import BY_COMPANY, BY_FREQUENCY, Alignment, align_tokens
from zealous.study.attacks.staged_log import split_users, stage_log
from zealous.synthetic import generate

START = datetime(2026, 1, 1)
Rows = list[tuple[str, str]]


def written(path: Path, rows: Rows, apart: timedelta = timedelta(hours=1)) -> Log:
    times = [START + n * apart for n in range(len(rows))]
    users, queries = [user for user, _ in rows], [query for _, query in rows]
    pq.write_table(pa.table({"user": users, "time": times, "query": queries}), path)
    return z.read_log(path)


def asking(words: dict[str, int], often: int = 1) -> Rows:
    """Each word by so many users, by each so often."""
    return [
        (f"u{n}", word) for word, users in words.items() for n in range(users) for _ in range(often)
    ]


def tokens(folder: Path, log: Log) -> Bundle:
    return anonymize(folder, log, TokenHash(), engine=DuckDB(threads=1, memory="1GB")).bundle


def figures(found: list[Alignment], how: str) -> dict[int | None, tuple[int, int, float | None]]:
    return {
        each.top: (each.recovered.successes, each.recovered.trials, each.weighted)
        for each in found
        if each.how == how
    }


def test_by_frequency_the_ranks_are_compared(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", asking({"a": 4, "b": 3, "c": 2, "d": 1}, often=2))
    reference = written(tmp_path / "r.parquet", asking({"a": 9, "c": 7, "b": 5, "d": 3, "e": 2}))
    found = figures(align_tokens(log, tokens(tmp_path / "o", log), reference), BY_FREQUENCY)
    # a and d are right: 4 + 1 users of 10, each twice
    assert found == {100: (2, 4, 0.5), 1000: (2, 4, 0.5), None: (2, 4, 0.5)}


def test_users_are_counted_not_rows(tmp_path: Path) -> None:
    rows = [*asking({"a": 2}), *[("u9", "b")] * 5]
    log = written(tmp_path / "log.parquet", rows)
    reference = written(tmp_path / "r.parquet", asking({"a": 4, "b": 2}))
    found = figures(align_tokens(log, tokens(tmp_path / "o", log), reference), BY_FREQUENCY)
    assert found[None] == (2, 2, 1.0)


def test_a_token_whose_word_is_not_in_the_reference_is_a_miss(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", asking({"a": 3, "b": 2, "c": 1}))
    reference = written(tmp_path / "r.parquet", asking({"a": 3, "x": 2}))
    found = align_tokens(log, tokens(tmp_path / "o", log), reference)
    assert figures(found, BY_FREQUENCY)[None] == (1, 3, 0.5)
    other = written(tmp_path / "s.parquet", asking({"x": 3, "y": 2, "z": 1}))
    found = align_tokens(log, tokens(tmp_path / "p", log), other)
    assert {each.recovered.successes for each in found} == {0}


def test_what_shares_its_moment_is_not_scored(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", asking({"a": 3, "b": 2}), apart=timedelta(0))
    found = align_tokens(log, tokens(tmp_path / "o", log), log)
    assert {(each.recovered.trials, each.weighted) for each in found} == {(0, None)}


def test_company_tells_apart_what_frequency_cannot(tmp_path: Path) -> None:
    """Four words as frequent as each other in the log, in another order in the reference."""
    queries = {"sun moon": 6, "moon tea": 5, "sun": 2, "tea": 3, "tea kiwi": 3, "kiwi": 8}
    swapped = {**queries, "sun": 3, "kiwi": 7, "moon": 1}
    log = written(tmp_path / "log.parquet", asking(queries))
    reference = written(tmp_path / "r.parquet", asking(swapped))
    found = align_tokens(log, tokens(tmp_path / "o", log), reference)
    assert figures(found, BY_COMPANY)[None][0] == 4


def test_what_cannot_be_attacked_is_refused(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", [("u1", "a b")])
    with pytest.raises(UsageError, match="token-hash"):
        align_tokens(log, anonymize(tmp_path / "p", log, Pseudonym()).bundle, log)
    with pytest.raises(UsageError, match="most"):
        align_tokens(log, tokens(tmp_path / "o", log), log, most=1)
    timeless = tmp_path / "timeless.csv"
    timeless.write_text("user,query\nu1,a b\n")
    with pytest.raises(UsageError, match="times"):
        align_tokens(log, tokens(tmp_path / "q", z.read_log(timeless)), log)


def test_tiny_logs_do_not_stop_it(tmp_path: Path) -> None:
    one = written(tmp_path / "one.parquet", [("u1", "a")])
    some = written(tmp_path / "some.parquet", [("u1", "a b"), ("u2", "a b c")])
    for name, log, reference in (("x", one, some), ("y", some, one), ("z", one, one)):
        assert len(align_tokens(log, tokens(tmp_path / name, log), reference)) == 6


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Alignment]]:
    """One half of the users read by the other half, and by another log altogether."""
    folder = tmp_path_factory.mktemp("alignment")
    generate(folder / "log.parquet", users=3_000, seed=6)
    generate(folder / "other.parquet", users=3_000, seed=7)
    log, reference = split_users(
        stage_log(z.read_log(folder / "log.parquet"), folder / "s.parquet"), folder
    )
    bundle = tokens(folder / "o", log)
    other = z.read_log(folder / "other.parquet")
    return {
        "half": align_tokens(log, bundle, reference, most=600),
        "again": align_tokens(log, bundle, reference, most=600),
        "other": align_tokens(log, bundle, other, most=600),
    }


@pytest.mark.extended
def test_company_recovers_far_more_than_frequency(found: dict[str, list[Alignment]]) -> None:
    for name in ("half", "other"):
        frequency, company = (figures(found[name], how) for how in (BY_FREQUENCY, BY_COMPANY))
        for top in (100, 1000, None):
            assert company[top][1] == frequency[top][1]
            # Tokens are drawn anew in each run and break ties: 4 to 23 times as many were seen.
            assert company[top][0] > 2 * frequency[top][0] > 0
            assert (company[top][2] or 0) > 2 * (frequency[top][2] or 0)


@pytest.mark.extended
def test_the_same_output_gives_the_same_figures(found: dict[str, list[Alignment]]) -> None:
    assert found["half"] == found["again"]


@pytest.mark.extended
def test_nearly_every_token_is_scored(found: dict[str, list[Alignment]]) -> None:
    top, all_tokens = (figures(found["half"], BY_COMPANY)[top] for top in (1000, None))
    assert top[1] == 1000
    assert all_tokens[1] > 5_000
    assert np.isclose(all_tokens[0] / all_tokens[1], 0, atol=0.1)  # only the first 600 are tried
