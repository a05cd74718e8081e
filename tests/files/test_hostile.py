"""A person who writes as much as she can does not decide whether a release is there.

Each log is an ordinary one with the lines of one more person, who wants the run to fail for want of
memory. At each commit every way to write much has small logs; the large ones are marked `soak`:
each way of reading, each kind of items and each family of mechanisms meets one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import (
    CASES,
    LARGE,
    SMALL,
    Text,
    at_all_times,
    huge,
    in_all_years,
    just_under,
    many_words,
    published,
    the_same,
    tiny,
)
from sampling import sampled

from zealous.engines.duckdb import DuckDB


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDB]:
    with DuckDB(memory="1GB", threads=2, temporary=tmp_path) as engine:
        yield engine


WITH_LITTLE: list[tuple[str, Text]] = [
    ("phrase-pairs", huge),
    *(("phrase-pairs", text) for text in (just_under, many_words)),
    *((name, just_under) for name in ("query-pairs", "sessions", "pooled", "sets")),
    ("tail", many_words),
    ("sessions", at_all_times),
    ("sessions", in_all_years),
]


def _case(case: tuple[str, Text]) -> str:
    return f"{case[0]}-{case[1].__name__}"


@pytest.mark.parametrize(("name", "text"), sampled(WITH_LITTLE, _case, share=5))
def test_one_person_does_not_stop_a_run(
    text: Text, name: str, engine: DuckDB, tmp_path: Path
) -> None:
    # What is made of each line takes longest of words, and then of times.
    shares: dict[Text, int] = {many_words: 16, at_all_times: 4, in_all_years: 4}
    assert published(tmp_path / "log.csv", text, name, SMALL // shares.get(text, 1), engine)


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "parquet"])
def test_one_person_does_not_stop_a_run_in_other_formats(
    suffix: str, engine: DuckDB, tmp_path: Path
) -> None:
    assert published(tmp_path / f"log.{suffix}", just_under, "queries", SMALL // 4, engine)


WITH_MUCH = [
    ("phrase-pairs", huge, "csv"),
    ("queries", huge, "parquet"),
    ("sets", just_under, "csv"),
    ("gaussian", just_under, "parquet"),
    ("phrase-pairs", many_words, "tsv"),
    ("keywords", many_words, "parquet"),
    ("tail", many_words, "parquet"),
    ("query-pairs", tiny, "csv"),
    ("columns", tiny, "jsonl"),
    ("pooled", tiny, "parquet"),
    ("sequences", at_all_times, "parquet"),
    ("sessions", at_all_times, "tsv"),
    ("sessions", in_all_years, "parquet"),
    ("pooled", the_same, "parquet"),
    ("pooled", just_under, "csv"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "text", "suffix"), WITH_MUCH)
def test_one_person_with_much_does_not_stop_a_run(
    name: str, text: Text, suffix: str, engine: DuckDB, tmp_path: Path
) -> None:
    assert published(tmp_path / f"log.{suffix}", text, name, LARGE, engine)


def test_every_case_meets_one_person_with_much() -> None:
    assert {name for name, _, _ in WITH_MUCH} == set(CASES)
