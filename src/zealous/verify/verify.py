"""Does a release hold what it says, and does what it promises follow from its parameters?

Nothing here trusts release.json: it is read as a stranger's. All of it is about whether a release
agrees with itself, and with what the program can make; see `SHOWN`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from msgspec.structs import asdict

from zealous.errors import ReleaseError, ZealousError
from zealous.ledger import Ledger
from zealous.ledger.budgets import Charge, Measure, periods_overlap
from zealous.planning.from_record import goal_from_record
from zealous.privacy.guarantee import exact_fraction, positive_integer
from zealous.privacy.period import Period
from zealous.record.record import LedgerStamp, Record
from zealous.release.bundle import derived_files, file_hashes
from zealous.release.charging import OTHERS
from zealous.release.schema import read_record
from zealous.verify.anonymous import check_anonymized_files, fail_as_not_private, holds_anonymized
from zealous.verify.child import check_parent, check_review
from zealous.verify.claim import Failed, Unchecked, check_guarantee, check_plan, check_texts
from zealous.verify.tables import check_rows, check_tables
from zealous.version import VERSION

SHOWN = (
    "The checks show whether the release is consistent: whether this program could have made it, "
    "and what it would then guarantee. They cannot show that noise was drawn."
)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        ok: Whether it is as it should be; None if that was not checked.
        detail: What was found, without quoting any row.
    """

    name: str
    ok: bool | None
    detail: str


def verify(
    directory: str | Path, ledger: str | Path | None = None, parent: str | Path | None = None
) -> list[Check]:
    """Check a release from its files alone, or also against its ledger and its parent.

    Args:
        directory: The release.
        ledger: The ledger that was charged for it. Without one, only what the release says of its
            entry is looked at.
        parent: For a filtered child, the release that it was made from. Without it, only what the
            child says of its review is looked at.
    """
    path = Path(directory)
    if holds_anonymized(path):
        return [
            _run_check("differential privacy", fail_as_not_private),
            _run_check("files", lambda: check_anonymized_files(path)),
        ]
    try:
        record = _read_checked_record(path)
    except Failed as why:
        return [Check(name="release.json", ok=False, detail=str(why))]
    checks = [
        Check(name="release.json", ok=True, detail="well-formed, with nothing missing or unknown"),
        _run_check("private", lambda: _check_private(record)),
        _run_check("files", lambda: _check_files(path, record)),
        _run_check("tables", lambda: check_tables(path, record)),
        _run_check("rows", lambda: check_rows(path, record, by_parent=parent is not None)),
        _run_check("plan", lambda: check_plan(record)),
        _run_check("guarantee", lambda: check_guarantee(record)),
        _run_check("words", lambda: _check_texts_of_this_version(path, record)),
        _run_check("budget", lambda: _check_budget(path, record, ledger)),
    ]
    if record.review is not None or parent is not None:
        checks.append(_run_check("review", lambda: _check_review(path, record, parent)))
    return checks


def _run_check(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, detail=look())
    except Unchecked as why:
        return Check(name=name, ok=None, detail=str(why))
    except (Failed, ZealousError) as why:
        return Check(name=name, ok=False, detail=str(why))
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        # A stranger's file can fail in many ways; their messages may quote it.
        detail = f"cannot be checked: {type(error).__name__}"
        return Check(name=name, ok=False, detail=detail)


def _read_checked_record(path: Path) -> Record:
    try:
        record = read_record((path / "release.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise Failed("there is no readable release.json") from None
    except ReleaseError as why:
        raise Failed(str(why)) from None
    _check_values(record)
    return record


def _check_values(record: Record) -> None:
    """What has the right type and can still not be."""
    period, most = record.period, record.cleaning.max_entries_per_user
    if record.planner is not None and record.cleaning.limits is None:
        raise Failed("cleaning.limits is missing")  # 0.1.0 wrote neither
    try:
        if period is not None and str(Period.parse(period)) != period:
            raise Failed("period is not written as zealous writes it")
        # A day of grace, for clocks that differ.
        if date.fromisoformat(record.created) > datetime.now(UTC).date() + timedelta(days=1):
            raise Failed("created lies in the future")
        if most is not None:
            positive_integer(most, "cleaning.max_entries_per_user")
        limits = asdict(record.cleaning.limits) if record.cleaning.limits is not None else {}
        for name, limit in limits.items():
            positive_integer(limit, f"limits: {name}")
    except ZealousError as why:
        raise Failed(str(why)) from None
    except ValueError:
        raise Failed("created is no date") from None


def _check_private(record: Record) -> str:
    if not record.private:
        raise Failed("NOT PRIVATE: made with a fixed noise seed, it protects nobody")
    key = record.selection_key
    if len(key) != 16 or set(key) - set("0123456789abcdef"):
        raise Failed("the key that selected each user's items is not there")
    return "random noise; the key that selected each user's items is published"


def _check_files(path: Path, record: Record) -> str:
    tables = {name for each in record.files.values() for name in (each.parquet, each.csv)}
    expected = {*tables, *derived_files(record), "README.md", "statement.html", "registry.yaml"}
    if len(tables) < 2 * len(record.files) or record.sha256.keys() != expected:
        raise Failed("release.json does not list each file once with its SHA-256")
    there = {each.name for each in path.iterdir()}
    if there - expected - {"release.json"}:
        raise Failed("there are files that are no part of the release")
    if expected - there:
        raise Failed(f"missing: {', '.join(sorted(expected - there))}")
    if any(each.is_symlink() or not each.is_file() for each in path.iterdir()):
        raise Failed("not everything there is a file of its own")
    found = file_hashes(path)
    changed = [name for name, value in record.sha256.items() if found[name] != value]
    if changed:
        raise Failed(f"changed since they were written: {', '.join(sorted(changed))}")
    return f"{len(expected)} files, each with its SHA-256, and no other"


def _check_texts_of_this_version(path: Path, record: Record) -> str:
    if record.software.version != VERSION:
        raise Unchecked("written by another version; the SHA-256 of each text was checked")
    return check_texts(path, record)


def _check_review(path: Path, record: Record, parent: str | Path | None) -> str:
    if record.review is None:
        raise Failed("it is no filtered child: it has no parent to be compared with")
    if parent is None:
        return f"{check_review(record)}; not compared with its parent (--parent DIR)"
    for check in verify(parent):
        if check.ok is False:
            raise Failed(f"the parent does not pass; {check.name}: {check.detail}")
    return check_parent(path, record, record.review, Path(parent))


def _check_budget(path: Path, record: Record, ledger: str | Path | None) -> str:
    entry = record.ledger
    if entry is None:
        if ledger is not None:
            raise Failed("the release says: budget not tracked; no ledger was charged for it")
        return "budget not tracked: no ledger was charged"
    _check_accounts(record, entry)
    if ledger is None:
        return f"charged as entry {entry.entry}; not compared with the ledger (--ledger FILE)"
    found = _compare_with_ledger(path, record, entry, Path(ledger))
    if found:
        raise Failed("; ".join(found[:3]))
    return f"entry {entry.entry} of the ledger, which is sound"


def _check_accounts(record: Record, entry: LedgerStamp) -> None:
    """The accounts hold at least this release. A cap may be lower: caps can be lowered later."""
    goal = goal_from_record(record)
    period = Period.parse(record.period) if record.period is not None else None
    measure = Measure(unit=entry.unit, neighbors=entry.neighbors)
    if goal.unit not in ("user", measure.unit):
        raise Failed("the ledger counts what another unit loses than the release protects")
    accounts = entry.accounts
    within = _account_period(accounts.period.within, period)
    for spent, change in ((accounts.all, None), (accounts.period, within)):
        cost = measure.cost(Charge.of(goal, period=period), change)
        for name, total, printed, least in (
            ("epsilon", spent.exact.epsilon, spent.epsilon, cost.epsilon),
            ("delta", spent.exact.delta, spent.delta, cost.delta),
        ):
            if exact_fraction(total, name) > Fraction(printed):
                raise Failed("an account is smaller in print than it is")
            if exact_fraction(total, name) < least:
                raise Failed("an account is smaller than what this release alone costs")
    if not 1 <= accounts.period.releases <= accounts.all.releases:
        raise Failed("the accounts count fewer releases than there are")
    if Fraction(accounts.delta_for_anybody) < goal.delta:
        raise Failed("the chance that anybody is breached is smaller than this release's delta")
    if accounts.definition not in (goal.definition, "indistinguishable"):
        raise Failed("the accounts amount to more than this release gives")


def _account_period(text: str, period: Period | None) -> Period | None:
    """The period that the account of one period is about; None for all days."""
    found = None if text == "all" else Period.parse(text)
    if found is None and period is None:
        return None
    if found is None or str(found) != text or not periods_overlap(period, found):
        raise Failed("the account of one period is about another period than the release")
    return found


def _compare_with_ledger(path: Path, record: Record, stamp: LedgerStamp, file: Path) -> list[str]:
    ledger = Ledger.open(file)
    found = ledger.verify(releases=[path])
    entry = ledger.book().entries.get(stamp.entry)
    others = entry is not None and entry.charge.people is not None
    if not found and record.software.version == VERSION:
        if others and OTHERS not in record.assumptions:
            found.append("it does not say that it rests on whom the ledger takes its people for")
        elif not others and OTHERS in record.assumptions:
            found.append("its people are those of the other releases, as the ledger has it")
    return found
