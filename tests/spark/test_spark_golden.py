"""On Spark a seeded release is the one that tests/golden keeps, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden import kept, releases
from golden.logs import write_logs
from sampling import sampled
from spark import SPARK

import zealous as z

pytest_plugins = ("spark",)
pytestmark = SPARK


NAMES = [name for name, case in releases.CASES.items() if not case.only_duckdb]


@pytest.mark.parametrize("name", sampled(NAMES, str, share=len(NAMES)))
def test_releases_on_spark(
    name: str, spark: z.Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_logs(tmp_path)
    kept.Golden(write=False).check(f"releases/{name}.txt", releases.published(name, spark))
