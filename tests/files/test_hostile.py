"""A person who writes as much as she can does not decide whether a release is there.

Each log is an ordinary one with the lines of one more person, who wants the run to fail for want of
memory. At each commit every way to write much has small logs; the large ones are marked `soak`:
each way of reading, each kind of items and each family of mechanisms meets one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import hostile
import pytest
from hostile import (
    CASES,
    FULL,
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
    write,
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
    *((name, just_under) for name in ("clicks", "query-clicks", "domain", "prior", "results")),
    *((name, many_words) for name in ("of-keywords", "of-words")),
    *((name, tiny) for name in ("selection", "auto", "of-queries")),
    ("user-days", in_all_years),
]


def _case(case: tuple[str, Text]) -> str:
    return f"{case[0]}-{case[1].__name__}"


@pytest.mark.parametrize(("name", "text"), sampled(WITH_LITTLE, _case, share=7))
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


@pytest.mark.parametrize(
    ("name", "text", "suffix"),
    sampled(
        [
            *product(("listed-keywords", "of-listed-words"), (huge, many_words), ("parquet",)),
            ("listed-keywords", many_words, "jsonl"),
        ],
        lambda case: f"{case[0]}-{case[1].__name__}-{case[2]}",
        share=5,
    ),
)
def test_one_person_does_not_stop_a_run_with_lists(
    name: str, text: Text, suffix: str, engine: DuckDB, tmp_path: Path
) -> None:
    assert published(tmp_path / f"log.{suffix}", text, name, SMALL // 4, engine)


MANY = "mallory-{}-#"  # of each line another person
TIMES = 4  # so much longer it may take on a machine that does other things besides


@pytest.mark.parametrize(
    ("name", "text"),
    sampled(
        [
            *product(("queries", "query-pairs", "pooled"), (tiny,)),
            *product(("tail", "of-keywords"), (many_words,)),
            ("sessions", at_all_times),
        ],
        _case,
        share=6,
    ),
)
def test_lines_of_one_person_take_no_longer_than_those_of_many(
    name: str, text: Text, tmp_path: Path
) -> None:
    """In processor time, of which others on the machine take nothing."""
    seconds = {}
    for user in ("mallory", MANY):
        path = tmp_path / "log.csv"
        write(path, text, SMALL, name, user)
        command = [sys.executable, hostile.__file__, str(path), name]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        seconds[user] = used.ru_utime + used.ru_stime
    assert seconds["mallory"] < TIMES * seconds[MANY]


WITH_MUCH: list[Any] = [
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
    ("query-clicks", just_under, "parquet"),
    ("clicks", tiny, "csv"),
    ("listed-keywords", many_words, "parquet"),
    ("domain", just_under, "csv"),
    ("prior", tiny, "parquet"),
    ("results", just_under, "parquet"),
    ("of-keywords", many_words, "parquet"),
    ("selection", tiny, "parquet"),
    ("auto", tiny, "csv"),
    ("user-days", in_all_years, "parquet"),
    ("of-queries", tiny, "parquet"),
    ("of-words", many_words, "parquet"),
    ("of-listed-words", many_words, "parquet"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "text", "suffix"), WITH_MUCH)
def test_one_person_with_much_does_not_stop_a_run(
    name: str, text: Text, suffix: str, engine: DuckDB, tmp_path: Path
) -> None:
    assert published(tmp_path / f"log.{suffix}", text, name, LARGE, engine)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "text", "suffix"), [("queries", just_under, "csv"), ("query-pairs", tiny, "parquet")]
)
def test_one_person_with_a_gigabyte_does_not_stop_a_run(
    name: str, text: Text, suffix: str, engine: DuckDB, tmp_path: Path
) -> None:
    assert published(tmp_path / f"log.{suffix}", text, name, FULL, engine)


def test_every_case_meets_one_person_with_much() -> None:
    assert {getattr(each, "values", each)[0] for each in WITH_MUCH} == set(CASES)
