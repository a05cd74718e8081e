"""A person who writes as much as she can does not decide whether Spark publishes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hostile import (
    LARGE,
    Text,
    at_all_times,
    huge,
    in_all_years,
    just_under,
    many_words,
    published,
    tiny,
)
from spark import SPARK

import zealous as z

pytest_plugins = ("spark",)
pytestmark = [SPARK, pytest.mark.soak]
COMPILED = {
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.adaptive.enabled": "true",
}


@pytest.mark.false_alarm(1e-99, "a thousand people hold what needs a few")
@pytest.mark.parametrize(
    ("name", "text", "suffix"),
    [
        ("queries", just_under, "csv"),
        ("phrase-pairs", huge, "csv"),
        ("pooled", just_under, "parquet"),
        ("phrase-pairs", many_words, "parquet"),
        ("query-pairs", tiny, "parquet"),
        ("sequences", at_all_times, "parquet"),
        ("sets", just_under, "parquet"),
        ("sessions", in_all_years, "parquet"),
        ("keywords", many_words, "parquet"),
        ("tail", many_words, "parquet"),
        ("query-clicks", just_under, "parquet"),
        ("listed-keywords", many_words, "parquet"),
        ("selection", tiny, "parquet"),
        ("auto", tiny, "csv"),
        ("of-keywords", many_words, "parquet"),
        ("of-queries", tiny, "parquet"),
        ("of-listed-words", many_words, "parquet"),
    ],
)
def test_one_person_with_much_does_not_stop_a_run(
    name: str, text: Text, suffix: str, spark: z.Spark, tmp_path: Path
) -> None:
    with spark, compiled(spark.session):
        assert published(tmp_path / f"log.{suffix}", text, name, LARGE // 4, spark)


@contextmanager
def compiled(session: Any) -> Iterator[None]:
    """As Spark is outside of tests, which interpret each row: small logs are done sooner so."""
    usual = {name: session.conf.get(name) for name in COMPILED}
    for name, value in COMPILED.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in usual.items():
            session.conf.set(name, value)
