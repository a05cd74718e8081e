"""What generators refuse, what they leave when they fail, and how far they tell they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zealous.errors import UsageError
from zealous.synthetic import generate, generate_shop

Generator = Callable[..., object]
pytestmark = pytest.mark.parametrize("generator", [generate, generate_shop])


def fail(share: float) -> None:
    raise RuntimeError(f"stopped at {share}")


@pytest.mark.parametrize("wrong", [{"users": 0}, {"days": 0}, {"seed": -1}, {"users": 10**9}])
def test_wrong_parameters(tmp_path: Path, generator: Generator, wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        generator(tmp_path / "log.parquet", **{"users": 300, "seed": 1, "days": 3, **wrong})
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist(tmp_path: Path, generator: Generator) -> None:
    with pytest.raises(UsageError, match="folder"):
        generator(tmp_path / "absent" / "log.parquet", users=300, seed=1)


def test_failure_leaves_nothing_behind(tmp_path: Path, generator: Generator) -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        generator(tmp_path / "log.parquet", users=100, seed=1, progress=fail)
    assert not list(tmp_path.iterdir())


def test_failure_keeps_an_earlier_log(tmp_path: Path, generator: Generator) -> None:
    (tmp_path / "log.parquet").write_text("an earlier one")
    with pytest.raises(RuntimeError, match="stopped"):
        generator(tmp_path / "log.parquet", users=100, seed=1, progress=fail)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["an earlier one"]


def test_progress(tmp_path: Path, generator: Generator) -> None:
    seen: list[float] = []
    generator(tmp_path / "log.parquet", users=50, seed=1, days=4, progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]
