"""`zealous series init` writes a file that the other commands read."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from zealous.cli.series.init import init
from zealous.errors import UsageError
from zealous.series.new_file import write_series_file
from zealous.series.series import Series

LOG = "logs/{period}.csv"


def written(path: Path, *options: str) -> str:
    arguments = [str(path), "--log", LOG, *options]
    CliRunner().invoke(init, arguments, catch_exceptions=False, standalone_mode=False)
    return path.read_text()


def test_a_new_file_is_a_series(tmp_path: Path) -> None:
    path = tmp_path / "shop" / "series.toml"
    path.parent.mkdir()
    written(path, "--first", "2026-01-05", "--every", "day")
    series = Series.read(path)
    assert (series.name, series.every, str(series.first)) == ("shop", "day", "2026-01-05")
    assert series.log_path(series.first) == str(path.parent / "logs/2026-01-05.csv")


def test_it_names_every_key_and_what_is_a_comment_can_be_used(tmp_path: Path) -> None:
    text = written(tmp_path / "series.toml", "--first", "2026-01", "--name", 'a "b" \\ é')
    named = set(re.findall(r"^(?:# )?\[?(\w+)(?:\]| = )", text, re.MULTILINE))
    named |= {"delimiter", "encoding", "names", "time_format"}
    assert {each.name for each in fields(Series)} - {"path"} <= named
    used = tmp_path / "used.toml"
    used.write_text(re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE))
    series = Series.read(used)
    assert series.name == 'a "b" \\ é'
    assert series.last == series.first
    assert series.total is not None


def test_it_is_called_as_the_folder_however_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop" / "logs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop" / "logs")
    written(Path("..", "series.toml"), "--first", "2026-01")
    assert Series.read(tmp_path / "shop" / "series.toml").name == "shop"


def test_what_is_not_written_whole_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "series.toml"
    with pytest.raises(UnicodeEncodeError):
        write_series_file(path, name="shop", log=f"\ud800{LOG}", every="month", first="2026-01")
    assert not path.exists()


@pytest.mark.parametrize("first", ["2026", "2026-01-01", 'x"\nlog = "y', "\n"])
def test_what_would_be_no_series_leaves_no_file(tmp_path: Path, first: str) -> None:
    path = tmp_path / "series.toml"
    with pytest.raises(UsageError):
        written(path, "--first", first)
    assert not path.exists()


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "series.toml"
    path.write_text("mine")
    with pytest.raises(UsageError, match="cannot be written"):
        written(path, "--first", "2026-01")
    assert path.read_text() == "mine"
