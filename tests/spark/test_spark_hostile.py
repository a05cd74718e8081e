"""A person who writes as much as she can does not decide whether Spark publishes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile import LARGE, Text, just_under, published, tiny
from spark import SPARK

import zealous as z

pytest_plugins = ("spark",)
pytestmark = [SPARK, pytest.mark.soak]


@pytest.mark.parametrize(
    ("name", "text", "suffix"), [("queries", just_under, "csv"), ("sessions", tiny, "parquet")]
)
def test_one_person_with_much_does_not_stop_a_run(
    name: str, text: Text, suffix: str, spark: z.Spark, tmp_path: Path
) -> None:
    with spark:
        assert published(tmp_path / f"log.{suffix}", text, name, LARGE // 4, spark)
