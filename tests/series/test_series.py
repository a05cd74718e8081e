"""A release every month: what is due and missing, each period once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import COMMAND, Forks
from monthly_series import LATE, TOML, a_series, periods, plan_without_times, seen, write_logs

import zealous as z
from zealous.errors import Refused, UsageError, ZealousError, speaking_options
from zealous.ledger import Ledger
from zealous.planning.plan_file import write_plan
from zealous.privacy.composition import Filter, across_releases
from zealous.release.charging import losses_of
from zealous.series.run import run_series
from zealous.series.series import Series
from zealous.series.status import status


def test_what_is_due_is_published_once(tmp_path: Path) -> None:
    series = a_series(tmp_path)
    first = run_series(series, today=date(2026, 3, 1))
    assert [*map(str, first.published)] == ["2026-01"]  # the next is due on the day after
    (tmp_path / "logs/2026-02.csv").rename(tmp_path / "kept.csv")
    second = run_series(series, today=LATE)
    assert [*map(str, second.published)] == ["2026-03"]
    assert [*map(str, second.failed)] == ["2026-02"]
    (tmp_path / "kept.csv").rename(tmp_path / "logs/2026-02.csv")
    third = run_series(series, today=LATE)
    assert [*map(str, third.published)] == ["2026-02"]
    assert not run_series(series, today=LATE).published
    ledger = Ledger.open(series.ledger)
    assert len(ledger.history()) == 3
    releases = [z.read_release(series.release_path(each)) for each in series.due_periods(LATE)]
    assert len({each.record.selection_key for each in releases}) == 1
    assert all(z.verify(each, ledger=series.ledger) for each in releases)
    assert (tmp_path / "releases/2026-03.changes/changes.csv").exists()
    assert (tmp_path / "releases/2026-02.changes/changes.svg").exists()


def test_a_plan_without_times_is_refused_where_entries_of_a_period_are_told_by_them(
    tmp_path: Path,
) -> None:
    series = a_series(tmp_path, months=1)
    series.plan.unlink()
    write_plan(plan_without_times(), series.plan)
    with pytest.raises(UsageError, match="plan again with --time COLUMN"), speaking_options():
        run_series(series, today=LATE)
    assert not series.ledger.exists()
    declared = a_series(tmp_path, months=1, more="all_in_period = true")
    assert run_series(declared, today=LATE).published


def test_what_is_wrong_with_a_log_is_said_in_the_keys_of_the_file(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=1)
    (tmp_path / "logs/2026-01.csv").write_text("user;query;time\na;b;2026-01-01\n")
    with speaking_options():
        (why,) = run_series(series, today=date(2026, 2, 5)).failed.values()
    assert "`zealous start` finds out delimiter and encoding" in why


def test_a_plan_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=1)
    series.plan.unlink()
    before = {*tmp_path.rglob("*")}
    with pytest.raises(ZealousError):
        run_series(series, today=LATE)
    assert {*tmp_path.rglob("*")} == before


def test_a_clock_that_jumps_publishes_nothing_twice(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=2)
    run_series(series, today=LATE)
    for day in (date(1999, 1, 1), date(2026, 2, 2), date(2026, 5, 3)):
        assert not run_series(series, today=day).published
    assert len(Ledger.open(series.ledger).history()) == 2


def test_it_stops_before_the_cap(tmp_path: Path) -> None:
    series = a_series(tmp_path, cap="[total]\nepsilon = 2.5\ndelta = 1e-4\n")
    with speaking_options():
        done = run_series(series, today=LATE)
    assert periods(tmp_path) == ["2026-01", "2026-02"]
    assert "does not allow it" in next(iter(done.failed.values()))
    assert "--ledger" not in next(iter(done.failed.values()))
    assert str(done.status.lasts_until) == "2026-02"
    assert [*map(str, done.status.missing)] == ["2026-03"]


def test_the_forecast_is_what_the_ledger_grants(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=3, cap="[total]\nepsilon = 3.5\ndelta = 1e-4\n")
    assert status(series, today=LATE).spent is None
    last = run_series(series, today=date(2026, 2, 5)).status.lasts_until
    write_logs(tmp_path, 6)
    run_series(series, today=date(2026, 7, 20))
    assert periods(tmp_path)[-1] == str(last)


def test_the_last_release_is_the_prior_of_the_next(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=2, more="prior = true")
    run_series(series, today=LATE)
    used = [
        z.read_release(series.release_path(each)).record.plan[0].mechanism
        for each in series.due_periods(date(2026, 3, 3))
    ]
    assert used == ["gaussian", "prior"]
    assert all(z.verify(series.release_path(each)) for each in series.due_periods(date(2026, 3, 3)))


def test_an_empty_month_is_published_and_charged(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=1)
    (tmp_path / "logs/2026-01.csv").write_text("user,query,time\n")
    run_series(series, today=date(2026, 2, 5))
    assert len(z.read_release(tmp_path / "releases/2026-01")["queries"]) == 0
    assert len(Ledger.open(series.ledger).history()) == 1


def test_who_attends_is_asked_about_times_that_cannot_be_read_before_they_cost(
    tmp_path: Path,
) -> None:
    series = a_series(tmp_path, months=1)
    log = tmp_path / "logs/2026-01.csv"
    log.write_text(log.read_text().replace("2026-01-", "January "))
    asked = run_series(series, today=date(2026, 2, 5), attendance="attended")
    ((period, why),) = asked.failed.items()
    assert str(period) == "2026-01"
    assert "No time of the log can be read" in why
    assert "Nothing was charged" in why
    assert Ledger.open(series.ledger).history() == ()
    done = run_series(series, today=date(2026, 2, 5))
    assert [each.rows for each in done.status.periods] == [0]
    assert len(Ledger.open(series.ledger).history()) == 1


def test_a_month_of_more_people_than_declared_holds_back_no_other(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=2)
    text = "".join(f"u{user},q,2026-01-03\n" for user in range(1_001))
    (tmp_path / "logs/2026-01.csv").write_text("user,query,time\n" + text)
    done = run_series(series, today=date(2026, 3, 5))
    assert [*map(str, done.published)] == ["2026-02"]
    assert [*map(str, done.failed)] == ["2026-01"]
    assert len(Ledger.open(series.ledger).history()) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("", "must also say"),
        ('naem = "x"', 'did you mean "name"|name'),
        ('name = "s"\nlog = "a.csv"', "must hold {period}"),
        ('every = "moon"', "every is one of day"),
        ('first = "2026-Q1"', "first is no month"),
        ("due_after_days = 1.5", "whole number"),
        ("[total]\ndelta = 1", "epsilon and delta"),
    ],
)
def test_bad_files(tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "series.toml"
    known = dict(line.split(" = ", 1) for line in TOML.strip().splitlines())
    if change and not change.startswith("naem"):
        top = [line for line in change.splitlines() if not line.startswith("[")]
        given = {} if "[" in change.split("\n")[0] else dict(each.split(" = ", 1) for each in top)
        rest = "\n".join(f"{name} = {value}" for name, value in (known | given).items())
        change = rest if given else f"{rest}\n{change}"
    path.write_text(change)
    with pytest.raises(UsageError, match=told):
        Series.read(path)


def test_a_ledger_that_was_left_without_its_cap_gets_it(tmp_path: Path) -> None:
    """As if the first run had been killed right after it made the ledger."""
    series = a_series(tmp_path, months=1)
    Ledger.open(series.ledger, create=True, dataset=series.name)
    assert [*map(str, run_series(series, today=LATE).published)] == ["2026-01"]
    assert Ledger.open(series.ledger).book().caps.all == series.total


def test_another_cap_than_the_ledger_has_is_refused(tmp_path: Path) -> None:
    run_series(a_series(tmp_path, months=1), today=LATE)
    changed = a_series(tmp_path, months=1, cap="[total]\nepsilon = 99\ndelta = 1e-4\n")
    with pytest.raises(Refused, match="another cap"):
        run_series(changed, today=LATE)


PROGRAM = """
import sys
from datetime import date
from zealous.series.run import run_series
from zealous.series.series import Series
from zealous.errors import Refused
print("ready", flush=True)
try:
    run_series(Series.read(sys.argv[1]), today=date(2027, 2, 1))
except Refused as error:
    assert "another run" in str(error)
"""


def start(series: Series) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PROGRAM, series.path], stdout=subprocess.PIPE)


@pytest.mark.parametrize(
    ("months", "kills"), [(1, 2), pytest.param(12, 50, marks=pytest.mark.soak)]
)
def test_killed_at_random_it_ends_with_every_release_and_the_account_of_theory(
    months: int, kills: int, tmp_path: Path
) -> None:
    """And what was drawn whole once stays as it is, whatever is killed."""
    total = "[total]\nepsilon = 90\ndelta = 1e-3\n"
    last = f'last = "2026-{months:02}"'
    series = a_series(tmp_path, months=months, more=last, cap=total)
    chance = random.Random(os.urandom(8))
    known: dict[str, bytes] = {}
    for _ in range(kills):
        with start(series) as run:
            assert run.stdout is not None
            run.stdout.readline()  # libraries are loaded
            time.sleep(chance.uniform(0, 0.9))
            run.send_signal(signal.SIGKILL)
        now = seen(tmp_path)
        assert now == {**now, **{name: known[name] for name in known if name in now}}
        assert known.keys() <= now.keys()
        known = now
    with start(series) as run:
        assert run.wait() == 0
    assert seen(tmp_path) == {**seen(tmp_path), **known}
    book = Ledger.open(series.ledger).book()
    states = [each.state for each in book.counted_entries()]
    assert states == months * ["released"]  # each charge was gone on with until its release
    assert len(periods(tmp_path)) == months
    losses = across_releases(losses_of(series.read_plan()).add_remove * months)
    theory = Filter(epsilon=Fraction(90), delta=Fraction(1, 1000)).spent(losses)
    assert book.standing().epsilon == theory.epsilon
    assert not Ledger.open(series.ledger).verify(
        [series.release_path(each) for each in series.periods()]
    )


def test_two_at_once_never_publish_a_period_twice(tmp_path: Path) -> None:
    series = a_series(tmp_path, months=2, more='last = "2026-02"')
    with start(series) as one, start(series) as other:
        assert (one.wait(), other.wait()) == (0, 0)
    run_series(series, today=LATE)
    assert len(Ledger.open(series.ledger).history()) == 2


def test_the_commands(tmp_path: Path, commands: Forks) -> None:
    series = a_series(tmp_path, months=1, more='last = "2026-01"')

    def run(*arguments: object) -> str:
        done = commands(COMMAND, "series", *arguments, folder=tmp_path)
        assert done.code == 0, done.stderr
        return done.stdout

    assert json.loads(run("status", series.path, "--json"))["periods"][0]["state"] == "due"
    table = run("run", series.path).splitlines()
    assert table[1].split() == ["period", "release", "rows", "charges"]
    (row,) = (line.split() for line in table if "released" in line)
    assert int(row[3]) == len(z.read_release(tmp_path / "releases/2026-01")["queries"]) > 0
    assert "The budget lasts until 2026-01." in run("status", series.path)
