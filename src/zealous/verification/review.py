"""Removing rows from a release before it is handed over: what many have can still be sensitive.

A review removes rows of a release and writes what is left as a release of its own, a child. It
looks at published rows alone, so it costs no budget.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_plus

from msgspec.structs import replace

from zealous.errors import Refused, UsageError, reason
from zealous.files.folder import check_new
from zealous.files.places import Place, place_of
from zealous.items.personal import fold_text, looks_personal
from zealous.ledger import fingerprint
from zealous.libraries import pa
from zealous.planning.from_record import guarantee_from_record
from zealous.planning.plan import Plan, theorem
from zealous.privacy.guarantee import Indistinguishability, positive_integer
from zealous.record.record import Record, ReviewRecord
from zealous.release.bundle import Release, read_release, release_folder
from zealous.release.provenance import software, today
from zealous.release.table import Table
from zealous.release.text.readme import FILTERED
from zealous.verification.claimed_guarantee import (
    possible_assumptions,
    stated_guarantee,
    stated_other_guarantee,
)
from zealous.verification.verify import verify

Item = tuple[str, ...]
_BLOCKED = "on the block list"
_REMOVED = "chosen to be removed"


@dataclass(frozen=True, kw_only=True)
class FlaggedRow:
    """A row that a rule has caught.

    Attributes:
        kind: The table it is in.
        item: Its columns but the count.
        count: Its published count.
        why: What it looks like, or that it is blocked.
        kept: Whether it stays, since it is on the allow list.
    """

    kind: str
    item: Item
    count: int
    why: str
    kept: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class ReviewResult:
    """What a review came to.

    Attributes:
        release: The child.
        flagged: The rows that a rule caught, in the order of the tables.
        before: The rows of the parent by kind.
        directory: Where the child was written, if it was.
    """

    release: Release
    flagged: list[FlaggedRow]
    before: dict[str, int]
    directory: Place | None

    def __repr__(self) -> str:
        removed = sum(before - len(self.release[kind]) for kind, before in self.before.items())
        return f"ReviewResult({removed:,} of {sum(self.before.values()):,} rows removed)"


@dataclass(frozen=True, kw_only=True)
class TermList:
    """A list of terms or items, and what a release may say of it.

    Never the list itself, nor its hash: whoever guesses a short list would know that it is right.
    """

    values: frozenset[Item]
    description: str


def review(
    release: str | Path | Place | Release,
    *,
    block: str | Path | None = None,
    remove: str | Path | None = None,
    allow: str | Path | None = None,
    flag_pii: bool = False,
    top: int | None = None,
    output: str | Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ReviewResult:
    """Remove rows from a release and write the rest as a child of it.

    Guarantee:
        The child is a function of the release and of lists that are made without the log, so it
        keeps every (epsilon, delta)-indistinguishability that the release has, and not its
        probabilistic differential privacy (docs/proofs/composition.md); where no row is removed it
        is the release itself, and keeps all of it. Nothing is charged.

    Args:
        release: The release, or where it is. It is read and never changed.
        block: A file with a term on each line. Rows that contain one as whole words are removed.
        remove: A file with an item on each line, its columns separated by tabs. These are removed.
        allow: A file of the same form. These stay, whatever the other rules say.
        flag_pii: Whether rows that look like personal data are removed.
        top: How many rows of each table stay, the most frequent by published counts. Of rows with
            equal counts, those that come first in the table stay.
        output: A new directory for the child; None to look without writing.
        say: Receives progress.
    """
    if block is None and remove is None and not flag_pii and top is None:
        raise UsageError(
            "no rule to review by: give --block FILE with terms or --remove FILE with items that "
            "must go, --flag-pii to find what looks like personal data, --top to keep the most "
            "frequent rows alone, or several of them"
        )
    if top is not None:
        positive_integer(top, "top")
    parent = release_folder(release)
    blocked = _read_terms(Path(block), "--block") if block is not None else None
    removed = _read_terms(Path(remove), "--remove") if remove is not None else None
    allowed = _read_terms(Path(allow), "--allow") if allow is not None else None
    if output is not None:
        _check_output_elsewhere(parent, Path(output))
    say(f"verifying {parent}")
    _check_sound(parent)
    whole = read_release(parent)
    reason_to_flag = _flagging_rule(blocked, flag_pii, removed)
    flagged: list[FlaggedRow] = []
    tables: dict[str, Table] = {}
    for kind, table in whole.items():
        say(f"looking at {kind}")
        found, tables[kind] = _filter_table(kind, table, reason_to_flag, allowed, top)
        flagged += found
    for items in filter(None, (removed, allowed)):
        _tell_of_absent(items, whole, say)
    rules = _rule_texts(blocked, removed, allowed, flag_pii, top)
    child = Release(record=_child_record(whole, fingerprint(parent), tables, rules), tables=tables)
    return ReviewResult(
        release=child,
        flagged=flagged,
        before={kind: len(table) for kind, table in whole.items()},
        directory=child.write(place_of(output)) if output is not None else None,
    )


def split_words(text: str) -> list[str]:
    """The words of a text as keywords have them: runs of letters, marks and digits.

    >>> split_words("Ｊosé's re-union, 2024")
    ['josé', 's', 're', 'union', '2024']
    """
    folded = fold_text(text)
    if folded.isascii():
        return re.findall("[a-z0-9]+", folded)
    kept = (each if unicodedata.category(each)[0] in "LMN" else " " for each in folded)
    return "".join(kept).split()


def _check_output_elsewhere(parent: Path, output: Path) -> None:
    if output.resolve().is_relative_to(parent.resolve()):
        raise UsageError("-o is the reviewed release or inside it: name a new directory elsewhere")
    check_new(output)


def _check_sound(parent: Path) -> None:
    failed = [check for check in verify(parent) if check.ok is False]
    if failed:
        raise Refused(
            f"only a release that `zealous verify` passes can be reviewed; {failed[0].name}: "
            f"{failed[0].detail}"
        )


def _read_terms(path: Path, option: str) -> TermList:
    """Read a list: one a line, `#` begins a comment; an item with that sign has a backslash."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{option}: {path} cannot be read: {reason(error)}") from None
    except UnicodeError:
        raise UsageError(f"{option}: {path} is not a UTF-8 text file") from None
    values = set()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        text = text.removeprefix("\\") if text.startswith("\\#") else text
        value = (
            tuple(split_words(text)) if option == "--block" else _normalized_item(text.split("\t"))
        )
        if not value:
            raise UsageError(f"{option}: line {number} of {path.name} holds no letter or digit")
        values.add(value)
    if not values:
        raise UsageError(f"{option}: {path.name} holds no term; one a line")
    what = f"{'term' if option == '--block' else 'item'}{'s' if len(values) > 1 else ''}"
    return TermList(values=frozenset(values), description=f"{path.name} ({len(values):,} {what})")


def _normalized_item(columns: Sequence[str]) -> Item:
    return tuple(fold_text(each).strip() for each in columns)


def _flagging_rule(
    blocked: TermList | None, flag_pii: bool, removed: TermList | None = None
) -> Callable[[Item], str | None]:
    """What is wrong with an item, if anything."""
    terms = blocked.values if blocked else frozenset()
    chosen = removed.values if removed else frozenset()
    lengths = sorted({len(term) for term in terms})

    def holds_term(text: str) -> bool:
        found = split_words(text)
        return any(
            tuple(found[start : start + length]) in terms
            for length in lengths
            for start in range(len(found) - length + 1)
        )

    def reason_to_flag(item: Item) -> str | None:
        if chosen and _normalized_item(item) in chosen:
            return _REMOVED
        if terms:
            texts = {text for each in item for text in (each, unquote_plus(each))}
            if any(map(holds_term, texts)):
                return _BLOCKED
        if flag_pii:
            return next(filter(None, map(looks_personal, item)), None)
        return None

    return reason_to_flag


def _filter_table(
    kind: str,
    table: Table,
    reason_to_flag: Callable[[Item], str | None],
    allowed: TermList | None,
    top: int | None,
) -> tuple[list[FlaggedRow], Table]:
    """The rows that a rule catches, and what stays, of a table that begins with the largest."""
    flagged: list[FlaggedRow] = []
    stays: list[bool] = []
    left = len(table) if top is None else top
    for row in zip(*(column.to_pylist() for column in table.arrow.columns), strict=True):
        item, count = row[:-1], row[-1]
        why = reason_to_flag(item)
        always = allowed is not None and _normalized_item(item) in allowed.values
        if why is not None:
            flagged.append(FlaggedRow(kind=kind, item=item, count=count, why=why, kept=always))
        stays.append(always or (why is None and left > 0))
        left -= stays[-1]
    rows = table.arrow.filter(pa.array(stays, pa.bool_())).combine_chunks()
    return flagged, Table(arrow=rows)


def _tell_of_absent(items: TermList, release: Release, say: Callable[[str], None]) -> None:
    """Tell of items that stand in no table: whoever lists one means a row that is there."""
    there = {
        _normalized_item(row[:-1])
        for table in release.values()
        for row in zip(*(column.to_pylist() for column in table.arrow.columns), strict=True)
    }
    absent = len(items.values - there)
    if absent:
        say(
            f"warning: {absent:,} of the list {items.description} "
            f"{'stands' if absent == 1 else 'stand'} in no table: compare how each is written there"
        )


def _rule_texts(
    blocked: TermList | None,
    removed: TermList | None,
    allowed: TermList | None,
    flag_pii: bool,
    top: int | None,
) -> list[str]:
    return [
        *([f"to be removed: items of the list {removed.description}"] if removed else []),
        *(
            [f"to be removed: rows that hold a term of the list {blocked.description}"]
            if blocked
            else []
        ),
        *(
            ["to be removed: rows that look like personal data, by zealous's patterns"]
            if flag_pii
            else []
        ),
        *(
            [
                f"kept of each table: the {top:,} most frequent rows that no other rule removes "
                "(the largest of many noisy counts are too large on average, so their intervals "
                "need not hold)"
            ]
            if top is not None
            else []
        ),
        *(
            [f"kept whatever the rules say: items of the list {allowed.description}"]
            if allowed
            else []
        ),
    ]


def _child_record(
    parent: Release, digest: str, tables: Mapping[str, Table], rules: list[str]
) -> Record:
    """The record of the child: what holds for it, and where it comes from."""
    above = parent.record
    removed = {kind: len(table) - len(tables[kind]) for kind, table in parent.tables.items()}
    child = replace(
        above,
        software=software(),
        created=today(),
        id=secrets.token_hex(8),
        review=ReviewRecord(
            parent=digest,
            parent_id=above.id,
            rules=tuple(rules),
            removed=removed,
            earlier=above.review,
        ),
        files={kind: replace(each, rows=len(tables[kind])) for kind, each in above.files.items()},
        sha256={},
    )
    definition = above.guarantee.definition
    if child.is_filtered():
        definition = Indistinguishability.definition
    goal = guarantee_from_record(above.guarantee, definition)
    child = replace(
        child,
        guarantee=stated_guarantee(goal, child, theorem(Plan.from_record(child))),
        also_guaranteed=stated_other_guarantee(child),
    )
    newly = child.is_filtered() and not above.is_filtered()
    kept = (*above.assumptions, FILTERED) if newly else above.assumptions
    if kept not in possible_assumptions(child):
        raise Refused(
            "the release was written by another version of zealous and rests on assumptions that "
            "this one does not know: review it with that version"
        )
    return replace(child, assumptions=kept)
