"""One charge, one release: what a run that ends at some step leaves, and what the next one does."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from monthly_series import LATE, a_series, seen

from zealous.errors import Refused
from zealous.ledger import Ledger
from zealous.ledger.copies import back_up, restore
from zealous.release import publish as publishing
from zealous.release.drawing import draw
from zealous.series import drafts
from zealous.series.run import run_series
from zealous.series.series import Series


class Ended(BaseException):
    """As if the run had been killed here."""


def ended(*_: Any, **__: Any) -> Any:
    raise Ended


def ends_after(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Any:
        function(*arguments, **named)
        raise Ended

    return run


def run_that_ends(series: Series, where: Any, name: str, instead: Callable[..., Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, instead)
        with pytest.raises(Ended):
            run_series(series, today=LATE)


STEPS = {
    "charged": (publishing, "draw", ended),
    "drawn": (publishing, "draw", ends_after(draw)),
    "whole": (drafts._DraftPayment, "mark_written", ended),
    "written": (drafts.Drafts, "put_in_place", ended),
    "copied": (Ledger, "mark_released", ended),
    "marked": (Ledger, "mark_released", ends_after(Ledger.mark_released)),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_ends_anywhere_is_gone_on_with(step: str, tmp_path: Path) -> None:
    """One entry in the end, and what was drawn whole is what is published."""
    series = a_series(tmp_path, months=1)
    run_that_ends(series, *STEPS[step])
    before = seen(tmp_path)
    assert bool(before) == (step not in ("charged", "drawn"))
    if before:  # neither the log nor the plan is needed for what was drawn
        os.remove(tmp_path / "logs/2026-01.csv")
    run_series(series, today=LATE)
    assert seen(tmp_path) == {**seen(tmp_path), **before}
    ledger = Ledger.open(series.ledger)
    assert [each.state for each in ledger] == ["released"]
    assert ledger.verify([tmp_path / "releases/2026-01"]) == []
    assert not [*tmp_path.glob("*.drafts/*/drawn/*")]


def test_a_charge_that_is_the_last_one_possible_is_gone_on_with(tmp_path: Path) -> None:
    """A cap that leaves room for one release does not refuse to finish it."""
    series = a_series(tmp_path, months=1, cap="[total]\nepsilon = 2\ndelta = 1e-4\n")
    run_that_ends(series, publishing, "draw", ended)
    assert [*map(str, run_series(series, today=LATE).published)] == ["2026-01"]


def test_another_charge_or_another_folder_is_charged_anew(tmp_path: Path) -> None:
    """What nobody can say to be unseen stays charged: a run by hand, or a lost folder."""
    series = a_series(tmp_path, months=1)
    run_that_ends(series, publishing, "draw", ended)
    (kept,) = tmp_path.glob("*.drafts/*/ids/*")
    kept.unlink()
    run_that_ends(series, publishing, "draw", ended)
    ledger = Ledger.open(series.ledger)
    first, *others = ledger.history()
    assert len(others) == 1
    ledger.reserve(first.release, first.charge)  # as `publish --id` does, perhaps still drawing
    run_series(series, today=LATE)
    assert [each.state for each in ledger] == ["reserved", "released", "reserved"]


def test_what_has_left_is_not_drawn_again_for_an_older_copy_of_the_ledger(tmp_path: Path) -> None:
    """A backup of the moment between charge and release says that nothing was published yet."""
    series = a_series(tmp_path, months=1)
    run_that_ends(series, publishing, "draw", ended)
    back_up(series.ledger, tmp_path / "backup.sqlite")
    run_series(series, today=LATE)
    (tmp_path / "releases/2026-01").rename(tmp_path / "archived")
    for file in tmp_path.glob("ledger.sqlite*"):
        if file.is_file():
            file.unlink()
    restore(tmp_path / "backup.sqlite", series.ledger, reason="the disk was lost")
    assert [*map(str, run_series(series, today=LATE).published)] == ["2026-01"]
    assert [each.state for each in Ledger.open(series.ledger)] == ["reserved", "released"]


def test_what_was_voided_is_never_published(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=1)
    run_that_ends(series, *STEPS["written"])
    ledger = Ledger.open(series.ledger)
    ledger.void(1, reason="nobody saw it", by="owner")
    drawn = seen(tmp_path)
    run_series(series, today=LATE)
    assert [each.state for each in ledger] == ["voided", "released"]
    assert seen(tmp_path) != drawn


def test_a_draft_that_the_ledger_does_not_know_is_neither_removed_nor_drawn_again(
    tmp_path: Path,
) -> None:
    series = a_series(tmp_path, months=1)
    run_that_ends(series, *STEPS["written"])
    drawn = seen(tmp_path)
    for file in tmp_path.glob("ledger.sqlite*"):
        if file.is_file():
            file.unlink()
    done = run_series(series, today=date(2026, 2, 5))
    assert ["has no charge for it" in why for why in done.failed.values()] == [True]
    assert seen(tmp_path) == drawn


def test_two_machines_with_one_folder_of_releases_publish_a_period_once(tmp_path: Path) -> None:
    """Each has its own ledger, as no ledger is shared: the folder's names are taken once."""
    first = a_series(tmp_path, months=2)
    text = first.path.read_text().replace("ledger.sqlite", "other.sqlite")
    (tmp_path / "other.toml").write_text(text)
    other = Series.read(tmp_path / "other.toml")
    run_that_ends(other, *STEPS["written"])  # it has drawn, and the first one is faster
    run_series(first, today=LATE)
    before = [path.read_bytes() for path in sorted(tmp_path.glob("releases/*/release.json"))]
    done = run_series(other, today=date(2026, 3, 5))
    assert not done.published
    assert ["exists already" in why for why in done.failed.values()] == [True, True]
    after = [path.read_bytes() for path in sorted(tmp_path.glob("releases/*/release.json"))]
    assert after == before


def test_one_run_at_a_time(tmp_path: Path) -> None:
    """Also of two files that name other folders, if they charge the same releases."""
    series = a_series(tmp_path, months=1)
    with drafts.opened_drafts(series.ledger, series.name), pytest.raises(Refused, match="another"):
        run_series(series, today=LATE)
    assert [*map(str, run_series(series, today=LATE).published)] == ["2026-01"]
