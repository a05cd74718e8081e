"""A correction, an earlier month, another plan: each costs what was said before."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from conftest import COMMAND, Forks
from monthly_series import GOAL, LATE, a_series, periods

import zealous as z
from zealous.cli.series.price import find_price
from zealous.errors import Refused, UsageError
from zealous.items.items_per_user import ItemsPerUser
from zealous.ledger import Ledger
from zealous.planning.plan_file import write_plan
from zealous.series.budget_picture import budget_picture, budget_steps
from zealous.series.drafts import Drafts
from zealous.series.run import publish_again, run_series
from zealous.series.series import Series

COLUMNS = z.Columns(user="user", query="query", time="time")
ENDED = 'last = "2026-03"'
BEFORE_APRIL = date(2026, 4, 5)


def spent(series: Series) -> object:
    return Ledger.open(series.ledger).book().standing().epsilon


def test_a_correction_costs_what_was_said_and_is_beside_the_first(tmp_path: Path) -> None:
    series = a_series(tmp_path, more=ENDED, cap="[total]\nepsilon = 3\ndelta = 1e-4\n")
    run_series(series, today=date(2026, 3, 5))
    asked = find_price(series, again=("2026-01",))
    assert asked.releases == ("2026-01 again",)
    assert str(asked.lasted_until) == "2026-03"
    january = series.period_named("2026-01")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Drafts, "put_in_place", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            publish_again(series, january)
    assert publish_again(series, january).name == "2026-01.2"  # the one that was begun
    assert periods(tmp_path) == ["2026-01", "2026-01.2", "2026-02"]
    assert asked.after is not None
    assert spent(series) == asked.after.epsilon
    assert (tmp_path / "releases/2026-01.2.changes/changes.csv").exists()
    assert z.verify(tmp_path / "releases/2026-01.2", ledger=series.ledger)
    done = run_series(series, today=BEFORE_APRIL)
    assert asked.lasts_until == done.status.lasts_until
    assert done.status.periods[0].editions == 2
    with pytest.raises(Refused):
        publish_again(series, january)


def test_a_price_that_no_cap_allows_is_said_too(tmp_path: Path) -> None:
    series = a_series(tmp_path, more=ENDED, cap="[total]\nepsilon = 3\ndelta = 1e-4\n")
    run_series(series, today=BEFORE_APRIL)
    asked = find_price(series, again=("2026-01",))
    assert asked.granted == 0
    assert asked.after.order() > asked.before.order()
    assert f"The cap does not allow 1 release more (2026-01 again): with that, {asked.after}." in (
        asked.text()
    )
    some = find_price(series, again=("2026-01",), first="2025-11")
    assert some.granted < len(some.releases)


def test_a_release_that_is_gone_is_told(tmp_path: Path, commands: Forks) -> None:
    series = a_series(tmp_path, more=ENDED)
    run_series(series, today=BEFORE_APRIL)
    shutil.rmtree(tmp_path / "releases/2026-02")
    said = commands(COMMAND, "series", "status", "series.toml", folder=tmp_path).stdout
    assert "The release of 2026-02 is paid for, and is not where it was" in " ".join(said.split())


def test_what_has_no_release_is_not_corrected(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=1)
    with pytest.raises(Refused, match="has no release yet"):
        publish_again(series, series.period_named("2026-01"))
    with pytest.raises(UsageError, match="is no month of this series"):
        series.period_named("2025-01")


def test_an_earlier_month_has_the_key_of_the_series(tmp_path: Path) -> None:
    series = a_series(tmp_path, more=ENDED)
    later = series.path.read_text().replace('first = "2026-01"', 'first = "2026-02"')
    series.path.write_text(later)
    run_series(Series.read(series.path), today=LATE)
    asked = find_price(Series.read(series.path), first="2026-01")
    assert asked.releases == ("2026-01",)
    series.path.write_text(later.replace('first = "2026-02"', 'first = "2026-01"'))
    run_series(series, today=LATE)
    assert asked.after is not None
    assert spent(series) == asked.after.epsilon
    keys = {z.read_release(path).record.selection_key for path in tmp_path.glob("releases/2026-0?")}
    assert len(keys) == 1
    assert (tmp_path / "releases/2026-02.changes/changes.csv").exists()


def test_another_plan_in_the_middle_costs_what_was_said(tmp_path: Path) -> None:
    series = a_series(tmp_path, more=ENDED)
    run_series(series, today=date(2026, 3, 5))
    goal = z.Indistinguishability(epsilon=4, delta="1e-6", neighbors="add-remove", users=1_000)
    other = z.plan(goal, [z.queries(1), z.keywords(2)], mechanism="gaussian").for_log(COLUMNS)
    write_plan(other, tmp_path / "new.json")
    asked = find_price(series, plan_file=tmp_path / "new.json")
    series.path.write_text(series.path.read_text().replace("plan.json", "new.json"))
    run_series(Series.read(series.path), today=LATE)
    assert asked.after is not None
    assert spent(series) == asked.after.epsilon
    told = (tmp_path / "releases/2026-03.changes/changes.csv").read_text()
    assert told.startswith("kind,query,change")  # the kind that both have


def test_a_look_and_a_prior_are_refused_before_the_first_month(tmp_path: Path) -> None:
    kind = z.queries(10)
    plan = z.plan(GOAL, [ItemsPerUser(of=kind), kind], mechanism="auto").for_log(COLUMNS)
    write_plan(plan, tmp_path / "plan.json")
    series = a_series(tmp_path, months=2, more="prior = true")
    with pytest.raises(UsageError, match="leave prior out"):
        run_series(series, today=LATE)
    assert not periods(tmp_path)


def test_the_curve_goes_on_until_the_budget_ends(tmp_path: Path) -> None:
    series = a_series(tmp_path, cap="[total]\nepsilon = 3\ndelta = 1e-4\n")
    run_series(series, today=date(2026, 3, 5))
    book = Ledger.open(series.ledger).book()
    steps = budget_steps(series, book, series.read_plan())
    assert [(each.name, each.planned) for each in steps][:3] == [
        *(("2026-01", False), ("2026-02", False), ("2026-03", True))
    ]
    assert steps[-1].epsilon <= 3 < steps[-1].total
    assert [each.epsilon for each in steps] == sorted(each.epsilon for each in steps)
    assert f"lasts until {steps[-1].name}" in budget_picture(series, steps, 3.0)


def test_the_commands(tmp_path: Path, commands: Forks) -> None:
    a_series(tmp_path, months=1, more='last = "2026-01"')
    run = ("series", "run", "series.toml")
    assert commands(COMMAND, *run, folder=tmp_path).code == 0
    asked = commands(
        COMMAND, "series", "price", "series.toml", "--again", "2026-01", folder=tmp_path
    )
    assert "With 1 release more (2026-01 again)" in " ".join(asked.stdout.split())
    refused = commands(COMMAND, *run, "--again", "2026-01", folder=tmp_path)
    assert refused.code != 0
    assert "say --yes" in refused.stderr
    done = commands(COMMAND, *run, "--again", "2026-01", "--yes", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["release"].endswith("2026-01.2")
    assert (
        "2026-01.2" in commands(COMMAND, "series", "status", "series.toml", folder=tmp_path).stdout
    )
