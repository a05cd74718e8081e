"""What changed between two releases, from the releases alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import COMMAND, Forks

import zealous as z
from zealous.errors import UsageError
from zealous.release.bundle import Release
from zealous.series.changes_picture import picture

SURE = z.Indistinguishability(epsilon=60, delta="1e-6", neighbors="add-remove")
OLD = {"same": 300, "up": 100, "down": 400, "left": 200}
NEW = {"same": 300, "up": 300, "down": 100, "arrived <b>": 200}


def released(
    numbers: dict[str, int],
    items_per_user: int = 1,
    key: str | None = None,
    mechanism: str = "gaussian",
    **how: Any,
) -> Release:
    rows = [(f"{item} {n}", item) for item, number in numbers.items() for n in range(number)]
    users, queries = zip(*rows, strict=True)
    log = z.read_log(pa.table({"user": users, "query": queries}))
    return z.publish(
        log,
        SURE,
        z.queries(items_per_user),
        mechanism=mechanism,
        account=None,
        selection_key=key,
        **how,
    )


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("releases")
    old = released(OLD)
    old.write(folder / "old")
    released(NEW, key=old.record.selection_key).write(folder / "new")
    return folder / "old", folder / "new"


def test_new_gone_risen_and_fallen(places: tuple[Path, Path]) -> None:
    found = z.changes(*places)
    what = {row.item[0]: row.change for row in found}
    assert what == {"up": "risen", "down": "fallen", "left": "gone", "arrived <b>": "new"}
    assert found.tested == 8
    assert found.same_key
    assert {row.item[0]: row.below for row in found if row.below}.keys() == {"left", "arrived <b>"}
    assert all(row.p_value < 1e-6 for row in found)
    table = found.to_arrow()
    assert table.column_names[:3] == ["kind", "query", "change"]
    assert "changed beyond noise" in found.summary()
    drawn = picture(found)
    assert "arrived &lt;b&gt;" in drawn
    assert "<b>" not in drawn


def test_nothing_is_told_of_two_releases_of_one_log() -> None:
    found = z.changes(*(released(OLD) for _ in range(2)))
    assert not found
    assert not found.same_key
    assert "which items of each user" in found.meaning()


KEY = f"{7:016x}"


@pytest.mark.parametrize("mechanism", ["pooled"])
def test_of_what_noise_found_first_moves_that_others_do_not_explain(mechanism: str) -> None:
    """People count for items among those found: other items found, other counts of the same."""
    most = {**OLD, "up": 900, "down": 1500}
    old, new = (
        released(each, key=KEY, mechanism=mechanism)
        for each in (most, {**most, "up": 1500, "down": 900, "more": 250, "left": 0})
    )
    found = z.changes(old, new)
    assert {row.item[0]: row.change for row in found} == {"up": "risen", "down": "fallen"}
    assert found.not_judged == 2  # "more" and "left": noise found them once
    assert 240 < found.allowed["queries"] < 350
    assert "can move a count by" in found.meaning()
    smaller = z.changes(old, released({**most, "more": 250}, key=KEY, mechanism=mechanism))
    assert not smaller
    with pytest.raises(UsageError, match="have other selection keys"):
        z.changes(old, released({**most, "more": 250}, mechanism=mechanism))


def test_what_is_counted_decides_and_not_which_noise_it_got() -> None:
    assert z.changes(released(OLD, key=KEY), released(NEW, key=KEY, mechanism="laplace"))
    with pytest.raises(UsageError, match="those that were found first"):
        z.changes(released(OLD, key=KEY), released(OLD, key=KEY, mechanism="pooled"))


def test_tables_that_count_otherwise_are_not_compared() -> None:
    with pytest.raises(UsageError, match="at most 1 items a user before, and 2 after"):
        z.changes(released(OLD), released(OLD, items_per_user=2))


def test_a_key_must_be_one() -> None:
    for wrong in ("no key", " 0x_1", "-5", 40 * "0"):
        with pytest.raises(UsageError, match="sixteen hexadecimal digits"):
            released({"a": 3}, key=wrong)
    with pytest.raises(UsageError, match="between 0 and 1"):
        z.changes("a", "b", error_rate=5)


def test_the_command(places: tuple[Path, Path], tmp_path: Path, commands: Forks) -> None:
    def run(*arguments: object) -> str:
        done = commands(COMMAND, "changes", *places, *arguments, folder=tmp_path)
        assert done.code == 0, done.stderr
        return done.stdout

    assert len(json.loads(run("--json", "-o", "changes"))["changes"]) == 4
    csv = (tmp_path / "changes" / "changes.csv").read_text().splitlines()
    assert csv[0] == "kind,query,change,count_before,count_after,users_below,p_value"
    assert len(csv) == 5
    assert (tmp_path / "changes" / "changes.svg").read_text().startswith("<svg")
    assert "risen   queries  up" in run()
