"""Does a release hold what it says, and does what it promises follow from its parameters?

Nothing here trusts release.json: it is read as a stranger's. All of it is about whether a release
agrees with itself, and with what the program can make; see `SHOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import overload

from msgspec.structs import asdict

from zealous.errors import LedgerError, ReleaseError, UsageError, ZealousError
from zealous.files.places import Place, place_of
from zealous.files.strict_json import parse
from zealous.ledger import Ledger
from zealous.ledger.budgets import check_label
from zealous.ledger.location import find_ledger
from zealous.ledger.signatures import NoSigningProgram
from zealous.notebook import block, grid, line, note
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import positive_integer
from zealous.privacy.period import Period
from zealous.record.record import LedgerStamp, Record
from zealous.release.assumptions import OTHERS
from zealous.release.build import build_hash
from zealous.release.bundle import (
    FIRST_TEXTS,
    TEXTS,
    Release,
    excel_name,
    release_folder,
    sha256,
)
from zealous.release.charging import losses_of
from zealous.release.derived.files import derived_files
from zealous.release.publisher import check_lines
from zealous.release.schema import read_record
from zealous.verification.accounts import check_accounts
from zealous.verification.anonymous import (
    check_anonymized_files,
    fail_as_not_private,
    holds_anonymized,
)
from zealous.verification.child import check_parent, check_review
from zealous.verification.claimed_guarantee import (
    CheckFailed,
    Unchecked,
    check_guarantee,
    check_plan,
    check_stated,
    check_texts,
)
from zealous.verification.errata import ERRATA, errata
from zealous.verification.published_tables import check_excel_files, check_rows, check_tables
from zealous.version import EARLIER, VERSION

SHOWN = (
    "The checks show whether the release is consistent: whether this program could have made it, "
    "and what it would then guarantee. They cannot show that noise was drawn."
)
_FIRST_DAY = date(2020, 1, 1)  # no version is older, whatever a clock says
STATES = {True: "passed", False: "FAILED", None: "not checked"}


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


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Sequence[Check]):
    """The checks of a release and their results; true if none failed.

    A sequence of checks, each with a name, a result (`ok` is None if it was not checked) and an
    explanation.

    Attributes:
        where: The directory of the release.
        checks: The checks, in order.
    """

    where: Path
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(check.ok is not False for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def __len__(self) -> int:
        return len(self.checks)

    @overload
    def __getitem__(self, index: int) -> Check: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Check]: ...

    def __getitem__(self, index: int | slice) -> Check | Sequence[Check]:
        return self.checks[index]

    def summary(self) -> str:
        """The result in one sentence."""
        if not self.ok:
            return "FAILED: do not rely on this release."
        if any(check.ok is None for check in self.checks):
            return "Passed, except for what was not checked."
        return "All checks passed."

    def __repr__(self) -> str:
        failed = [f"{check.name}: {check.detail}" for check in self.checks if check.ok is False]
        return f"Verdict({'; '.join([self.summary(), *failed])})"

    def _repr_html_(self) -> str:
        rows = [(each.name, STATES[each.ok], each.detail) for each in self.checks]
        return block(
            self.summary(),
            grid(["check", "", "what was found"], rows),
            line(SHOWN if self.ok else ""),
            note(f"The release is in {self.where}."),
        )


def verify(
    release: str | Path | Place | Release,
    ledger: str | Path | Place | Ledger | None = None,
    parent: str | Path | Place | Release | None = None,
) -> Verdict:
    """Check a release from its files alone, or also against its ledger and its parent.

    The result is true if nothing is wrong: `assert zealous.verify("release")`.

    Args:
        release: The release, or where it is.
        ledger: The ledger that was charged for it, or a log or folder whose ledger it is. Without
            it, the charge is not checked.
        parent: For a reviewed release, the release that it was made from. Without it, the review is
            not checked.
    """
    path = release_folder(release)
    file = ledger.path if isinstance(ledger, Ledger) else _ledger_file(ledger)
    above = None if parent is None else release_folder(parent)
    return Verdict(where=path, checks=tuple(_checks(path, file, above)))


def _ledger_file(named: str | Path | Place | None) -> Path | None:
    """The ledger that is named: a name that leads to none says nothing about a release."""
    if named is None:
        return None
    try:
        file = find_ledger(place_of(named))
    except LedgerError as error:
        raise UsageError(str(error)) from None
    if not file.is_file():
        raise UsageError(f"there is no ledger at {file}: name a ledger, a log or a folder")
    return file


def _checks(path: Path, ledger: Path | None, parent: Path | None) -> list[Check]:
    if holds_anonymized(path):
        return [
            _run_check("differential privacy", fail_as_not_private),
            _run_check("files", lambda: check_anonymized_files(path)),
        ]
    if not (path / "release.json").exists():
        raise ReleaseError(_no_release_text(path))
    if _is_of_another_program(path / "release.json"):
        raise ReleaseError(f"{path} is no release: its release.json is not of zealous.")
    try:
        record = _read_checked_record(path)
    except CheckFailed as why:
        return [Check(name="release.json", ok=False, detail=str(why))]
    checks = [
        Check(name="release.json", ok=True, detail="well-formed, with nothing missing or unknown"),
        _run_check("private", lambda: _check_private(record)),
        _run_check("files", lambda: _check_files(path, record)),
        _run_check("tables", lambda: check_tables(path, record)),
        _run_check("rows", lambda: check_rows(path, record, by_parent=parent is not None)),
        _run_check("plan", lambda: check_plan(record, by_parent=parent is not None)),
        _run_check("guarantee", lambda: check_guarantee(record)),
        _run_check("words", lambda: _check_texts_of_this_version(path, record)),
        _run_check("budget", lambda: _check_budget(path, record, ledger)),
    ]
    if (told := errata(path)) is not None:
        detail = f"{ERRATA}, which anybody can have written, says: {told}"
        checks.append(Check(name="errata", ok=None, detail=detail))
    if record.review is not None or parent is not None:
        checks.append(_run_check("review", lambda: _check_review(path, record, parent)))
    return checks


def _no_release_text(path: Path) -> str:
    """What is wrong with a place where nothing is to be verified."""
    if not path.exists():
        return f"there is no {path}"
    near = sorted(each.parent.name for each in path.glob("*/release.json"))[:5]
    below = f" There are releases below it: {', '.join(near)}" if near else ""
    return f"{path} is no release: it has no release.json.{below}"


def _is_of_another_program(file: Path) -> bool:
    """Whether it is JSON that does not even claim to be a release; what is damaged is checked."""
    try:
        found = parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not {"format", "guarantee"} & found.keys()


def _run_check(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, detail=look())
    except Unchecked as why:
        return Check(name=name, ok=None, detail=str(why))
    except (CheckFailed, ZealousError) as why:
        return Check(name=name, ok=False, detail=str(why))
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        # A stranger's file can fail in many ways; their messages may quote it.
        detail = f"cannot be checked: {type(error).__name__}"
        return Check(name=name, ok=False, detail=detail)


def _read_checked_record(path: Path) -> Record:
    try:
        record = read_record((path / "release.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise CheckFailed("there is no readable release.json") from None
    except ReleaseError as why:
        raise CheckFailed(str(why)) from None
    _check_values(record)
    return record


def _check_values(record: Record) -> None:
    """What has the right type and can still not be."""
    period, most = record.period, record.cleaning.max_entries_per_user
    if record.software.version not in (*EARLIER, VERSION):
        raise CheckFailed(
            f"it says that a version wrote it which zealous {VERSION} does not know: if there is "
            "a later one, check with that"
        )
    if record.planner is not None and record.cleaning.limits is None:
        raise CheckFailed("cleaning.limits is missing")  # 0.1.0 wrote neither
    try:
        if period is not None and str(Period.parse(period)) != period:
            raise CheckFailed("period is not written as zealous writes it")
        created, today = date.fromisoformat(record.created), datetime.now(UTC).date()
        # A day of grace, for clocks that differ.
        if not _FIRST_DAY <= created <= today + timedelta(days=1):
            raise CheckFailed(
                "created lies in the future, or before there was any version of zealous"
            )
        for name, label in _labels(record).items():
            if label is not None and check_label(label, name) != label:
                raise CheckFailed(f"{name} is not written as zealous writes it")
        if record.ledger is not None:
            positive_integer(record.ledger.entry, "ledger.entry")
        if record.publisher is not None:
            check_lines(asdict(record.publisher), "publisher")
        if record.software.audit is not None:
            positive_integer(record.software.audit.pairs, "software.audit.pairs")
            positive_integer(record.software.audit.runs, "software.audit.runs")
        if most is not None:
            positive_integer(most, "cleaning.max_entries_per_user")
        limits = asdict(record.cleaning.limits) if record.cleaning.limits is not None else {}
        for name, limit in limits.items():
            positive_integer(limit, f"limits: {name}")
    except ZealousError as why:
        raise CheckFailed(str(why)) from None
    except ValueError:
        raise CheckFailed("created is no date") from None


def _labels(record: Record) -> dict[str, str | None]:
    """What is a line of a publisher's choice, and is shown to people."""
    stamp = record.ledger
    of_ledger = {"ledger": stamp.ledger, "ledger.dataset": stamp.dataset} if stamp else {}
    of_reviews = {
        f"review[{number}].parent_id": each.parent_id
        for number, each in enumerate(record.reviews())
    }
    return {"id": record.id, **of_ledger, **of_reviews}


def _check_private(record: Record) -> str:
    if not record.private:
        raise CheckFailed("NOT PRIVATE: made with a fixed noise seed, it protects nobody")
    key = record.selection_key
    if len(key) != 16 or set(key) - set("0123456789abcdef"):
        raise CheckFailed("the key that selected each user's items is not there")
    return "random noise; the key that selected each user's items is published"


def _check_files(path: Path, record: Record) -> str:
    tables = {name for each in record.files.values() for name in (each.parquet, each.csv)}
    csvs = [*(each.csv for each in record.files.values())]
    csvs += [each.file for each in derived_files(record)]
    expected = {*tables, *csvs, *_texts(record)}
    expected |= record.sha256.keys() & set(map(excel_name, csvs))
    if len(tables) < 2 * len(record.files) or record.sha256.keys() != expected:
        raise CheckFailed("release.json does not list each file once with its SHA-256")
    there = {each.name for each in path.iterdir()}
    if there - expected - {"release.json", ERRATA}:
        raise CheckFailed("there are files that are no part of the release")
    if expected - there:
        raise CheckFailed(f"missing: {', '.join(sorted(expected - there))}")
    if any(each.is_symlink() or not each.is_file() for each in path.iterdir()):
        raise CheckFailed("not everything there is a file of its own")
    found = {name: sha256(path / name) for name in expected}
    changed = [name for name, value in record.sha256.items() if found[name] != value]
    if changed:
        raise CheckFailed(f"changed since they were written: {', '.join(sorted(changed))}")
    check_excel_files(path, record, csvs)
    return f"{len(expected)} files, each with its SHA-256, and no other"


def _texts(record: Record) -> set[str]:
    """The texts that a release has; another build's may lack those that came later."""
    software = record.software
    if software.version == VERSION and software.build in (None, build_hash()):
        return set(TEXTS)
    return set(FIRST_TEXTS) | (set(TEXTS) & record.sha256.keys())


def _check_texts_of_this_version(path: Path, record: Record) -> str:
    if record.software.version != VERSION:
        raise Unchecked("written by another version; the SHA-256 of each text was checked")
    check_stated(record)
    try:
        return check_texts(path, record)
    except CheckFailed as why:
        build = record.software.build
        if build in (None, build_hash()):
            raise
        raise Unchecked(
            f"{why} as this build of zealous {VERSION} would say it; another build wrote it, or so "
            f"it says ({build[:12]}): compare with that one. The SHA-256 of each text was checked"
        ) from None


def _check_review(path: Path, record: Record, parent: Path | None) -> str:
    if record.review is None:
        raise CheckFailed("it is no filtered child: it has no parent to be compared with")
    if parent is None:
        raise Unchecked(f"{check_review(record)}; not compared with its parent (--parent DIR)")
    for check in verify(parent):
        if check.ok is False:
            raise CheckFailed(f"the parent does not pass; {check.name}: {check.detail}")
    return check_parent(path, record, record.review, parent)


def _check_budget(path: Path, record: Record, ledger: Path | None) -> str:
    entry = record.ledger
    if entry is None:
        if ledger is not None:
            raise CheckFailed("the release says: budget not tracked; no ledger was charged for it")
        return "budget not tracked: no ledger was charged"
    check_accounts(record, entry)
    if ledger is None:
        approved = "" if entry.approver is None else f", and {entry.approver} signed its plan"
        raise Unchecked(
            f"it says that it was charged as entry {entry.entry}{approved}; not compared with the "
            "ledger (--ledger FILE)"
        )
    found = _compare_with_ledger(path, record, entry, ledger)
    if found:
        raise CheckFailed("; ".join(found[:3]))
    told = f"entry {entry.entry} of the ledger, which is sound"
    return told if entry.approver is None else f"{told}; {entry.approver} signed its plan"


def _compare_with_ledger(path: Path, record: Record, stamp: LedgerStamp, file: Path) -> list[str]:
    ledger = Ledger.open(file)
    unverified: NoSigningProgram | None = None
    found: list[str] = []
    try:
        found += ledger.verify(releases=[path])
    except NoSigningProgram as why:  # nothing else is wrong so far
        unverified = why
    entry = ledger.book().entry_hashed(stamp.hash)
    others = entry is not None and entry.charge.people is not None
    if not found and record.software.version == VERSION:
        if entry is not None and entry.approver != stamp.approver:
            found.append("the ledger knows of another approver than it names")
        losses = losses_of(Plan.from_record(record))
        if entry is not None and entry.charge.losses not in (None, losses):
            found.append("the ledger was charged other losses than its parameters have")
        if others and OTHERS not in record.assumptions:
            found.append("it does not say that it rests on whom the ledger takes its people for")
        elif not others and OTHERS in record.assumptions:
            found.append("its people are those of the other releases, as the ledger has it")
    if unverified is not None and not found:
        raise Unchecked(f"charged as entry {stamp.entry}; {unverified}")
    return found
