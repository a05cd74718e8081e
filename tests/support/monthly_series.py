"""A small series of monthly logs to publish."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import zealous as z
from zealous.planning.plan import Plan
from zealous.planning.plan_file import write_plan
from zealous.series.series import Series

GOAL = z.Indistinguishability(epsilon=2, delta="1e-6", neighbors="add-remove", users=1_000)
TOML = """
name = "shop"
log = "logs/{period}.csv"
every = "month"
first = "2026-01"
plan = "plan.json"
ledger = "ledger.sqlite"
releases = "releases"
"""
CAP = "[total]\nepsilon = 12\ndelta = 1e-4\n"
LATE = date(2026, 4, 20)


def write_logs(folder: Path, months: int, users: int = 150) -> None:
    chance = random.Random(3)
    (folder / "logs").mkdir(exist_ok=True)
    for month in range(1, months + 1):
        rows = [
            f"u{user},q{int(4 * chance.random() ** 2)},2026-{month:02}-{chance.randint(1, 28):02}"
            for user in range(users)
        ]
        text = "user,query,time\n" + "\n".join(rows) + "\n"
        (folder / f"logs/2026-{month:02}.csv").write_text(text)


def a_series(folder: Path, *, months: int = 3, more: str = "", cap: str = CAP) -> Series:
    write_logs(folder, months)
    if not (folder / "plan.json").exists():
        plan = plan_without_times()
        columns = z.Columns(user="user", query="query", time="time")
        write_plan(plan.for_log(columns), folder / "plan.json")
    (folder / "series.toml").write_text(f"{TOML}{more}\n{cap}")
    return Series.read(folder / "series.toml")


def plan_without_times() -> Plan:
    """Of logs whose columns are user and query."""
    plan = z.plan(GOAL, z.queries(1), mechanism="gaussian")
    return plan.for_log(z.Columns(user="user", query="query"))


def periods(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("releases/*/release.json"))


def seen(folder: Path) -> dict[str, bytes]:
    """All releases that were drawn whole, in place or not, by their names."""
    found = [*folder.glob("releases/*/release.json"), *folder.glob("*.drafts/*/*/*/release.json")]
    return {path.parent.name: path.read_bytes() for path in found}
