"""A series of releases, as its file says it: which log of each period is published, and how."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self, get_args

from zealous.errors import UsageError, did_you_mean, reason
from zealous.ledger import Cap
from zealous.ledger.budgets import check_label
from zealous.logs.log import Cleaning, Log, read_log
from zealous.planning.plan import Plan
from zealous.planning.plan_file import read_plan
from zealous.privacy.guarantee import exact_fraction
from zealous.privacy.period import Period

Every = Literal["day", "week", "month", "quarter", "year"]
_PERIOD = "{period}"
_NEXT = {
    "day": lambda day: f"{day}",
    "week": lambda day: "{:04}-W{:02}".format(*day.isocalendar()[:2]),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day:%Y}",
}


@dataclass(frozen=True, kw_only=True)
class Series:
    """What a series.toml says. Paths in it are relative to its folder.

    Attributes:
        path: The file.
        name: What its releases are called in the ledger: NAME PERIOD.
        log: Where the log of a period is; holds `{period}`.
        every: How long a period is.
        first: The first period.
        plan: The plan that every release is made by.
        ledger: The ledger that they are charged to.
        releases: The folder that they are written to, each under its period.
        last: The last period; None for a series without an end.
        due_after_days: How many days after its end a period is published.
        prior: Whether each release is what is known to be frequent for the next.
        total: The cap that the ledger must have; None for whatever it has.
        publisher: A publisher.toml.
        format: The format of the logs.
        delimiter: What stands between fields, where it is not the format's.
        encoding: The encoding of the logs.
        time_format: How times are written.
        names: The names of the columns, for logs without a header.
        all_in_period: Declares that a log without times holds entries of its period alone.
        approval: The signature of the plan, where the ledger has approvers.
    """

    path: Path
    name: str
    log: str
    every: Every
    first: Period
    plan: Path
    ledger: Path
    releases: Path
    last: Period | None = None
    due_after_days: int = 1
    prior: bool = False
    total: Cap | None = None
    publisher: Path | None = None
    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    time_format: str | None = None
    names: tuple[str, ...] = ()
    all_in_period: bool = False
    approval: Path | None = None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a series.toml.

        Raises:
            UsageError: It cannot be read; or what is missing, unknown or wrong in it.
        """
        path = Path(path)
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {reason(error)}") from None
        except ValueError as error:
            where = re.search(r"\(at line \d+, column \d+\)", str(error))
            raise UsageError(
                f"{path} is not valid TOML{' ' + where[0] if where else ''}: see "
                "docs/guide/series.md"
            ) from None
        known = [each.name for each in fields(cls) if each.name != "path"]
        for name in found:
            if name not in known:
                raise UsageError(f"{path} says {name!r}, unknown{did_you_mean(name, known)}")
        needed = ["name", "log", "every", "first", "plan", "ledger", "releases"]
        if missing := [name for name in needed if name not in found]:
            raise UsageError(f"{path} must also say {', '.join(missing)}: see docs/guide/series.md")
        try:
            return cls(path=path, **_values(found, path.parent))
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        if _PERIOD not in self.log:
            raise UsageError(f'log must hold {_PERIOD}, as in "logs/{_PERIOD}.csv"')
        if self.first != self._period_of(self.first.first):
            raise UsageError(f"first is no {self.every}: {self._period_of(self.first.first)}")
        if not 0 <= self.due_after_days <= 365:
            raise UsageError("due_after_days lies between 0 and 365")

    def release_id(self, period: Period, edition: int = 1) -> str:
        """What the release of a period is called in the ledger; later editions correct it."""
        return f"{self.name} {_edition_name(period, edition)}"

    def release_path(self, period: Period, edition: int = 1) -> Path:
        """Where the release of a period is written to."""
        return self.releases / _edition_name(period, edition)

    def changes_path(self, period: Period, edition: int = 1) -> Path:
        """Where it is told what changed in that release since the one before."""
        return self.releases / f"{_edition_name(period, edition)}.changes"

    def last_edition(self, period: Period) -> int:
        """The latest edition of a period's release that is there; 0 for none."""
        for edition in itertools.count(1):
            if not (self.release_path(period, edition) / "release.json").exists():
                return edition - 1
        raise AssertionError

    def period_named(self, text: str) -> Period:
        """One of the series' periods, by its name.

        Raises:
            UsageError: It has no such period.
        """
        period = Period.parse(text, all_in_period=self.all_in_period)
        after = self.last is not None and period.end > self.last.end
        if period != self._period_of(period.first) or period.first < self.first.first or after:
            last = f" to {self.last}" if self.last else " on"
            raise UsageError(f"{text} is no {self.every} of this series, from {self.first}{last}")
        return period

    def log_path(self, period: Period) -> str:
        """Where the log of a period is."""
        return str(self.path.parent / self.log.replace(_PERIOD, str(period)))

    def read_plan(self) -> Plan:
        """The plan of every release.

        Raises:
            UsageError: It cannot be read, or does not say which entries are of a period.
        """
        plan = read_plan(self.plan)
        dated = plan.log is None or "time" in plan.log.columns.assigned()
        if not (dated or self.all_in_period):
            raise UsageError(
                f"{self.plan} names no column with the time, which tells the entries of a period: "
                "plan again with --time COLUMN; or, if each log holds entries of its own period "
                f"alone, write all_in_period = true into {self.path}"
            )
        return plan

    def read_log(self, period: Period, plan: Plan) -> Log:
        """The log of a period, read as the plan says."""
        binding = plan.log
        if binding is None:
            raise UsageError(f"{self.plan} does not say which column is the person: plan again")
        if binding.excludes_listed:
            raise UsageError("a series has no list of people to leave out: plan without one")
        cleaning = Cleaning(
            max_entries_per_user=binding.max_entries_per_user, limits=binding.limits
        )
        log = read_log(
            self.log_path(period),
            self.format,
            columns=binding.columns,
            names=self.names,
            delimiter=self.delimiter,
            encoding=self.encoding,
            time_format=self.time_format,
            cleaning=cleaning,
        )
        return log.without_recognised(binding.columns.assigned())

    def periods(self) -> Iterator[Period]:
        """All periods in order."""
        period = self.first
        while self.last is None or period.end <= self.last.end:
            yield period
            period = self._period_of(period.end)

    def due_periods(self, today: date) -> list[Period]:
        """The periods that should have their release by now, in order."""
        found = []
        for period in self.periods():
            if period.end + timedelta(days=self.due_after_days) > today:
                break
            found.append(period)
        return found

    def _period_of(self, day: date) -> Period:
        return Period.parse(_NEXT[self.every](day), all_in_period=self.all_in_period)


def _edition_name(period: Period, edition: int) -> str:
    return str(period) if edition == 1 else f"{period}.{edition}"


def _values(found: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What a file says, as the fields of a series."""
    values = dict(found)
    for name in ("plan", "ledger", "releases", "publisher", "approval"):
        if name in values:
            values[name] = folder / _text(values[name], name)
    for name in ("name", "log", "format", "delimiter", "encoding", "time_format"):
        if name in values:
            values[name] = _text(values[name], name)
    if values["every"] not in get_args(Every):
        raise UsageError(f"every is one of {', '.join(get_args(Every))}")
    for name in ("prior", "all_in_period"):
        if not isinstance(values.get(name, False), bool):
            raise UsageError(f"{name} is true or false")
    if type(values.get("due_after_days", 0)) is not int:
        raise UsageError("due_after_days is a whole number")
    if "names" in values:
        listed = values["names"]
        values["names"] = tuple(_text(each, "names") for each in _list(listed, "names"))
    declared = values.get("all_in_period", False)
    for name in ("first", "last"):
        if name in values:
            text = _text(str(values[name]), name)
            values[name] = Period.parse(text, all_in_period=declared)
    if "total" in values:
        values["total"] = _total(values["total"])
    return values


def _total(value: Any) -> Cap:
    if not isinstance(value, dict) or set(value) - {"epsilon", "delta"} or "epsilon" not in value:
        raise UsageError("[total] says epsilon and delta")
    numbers: dict[str, Fraction] = {
        name: exact_fraction(str(each), f"{name} of [total]") for name, each in value.items()
    }
    return Cap(**numbers)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is a text")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"{name} is a list of texts")
    return value
