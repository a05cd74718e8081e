"""What changed between two releases beyond what their noise explains, from the releases alone.

Guarantee:
    Of all changes that are told, at most the stated share is by chance on average: by the noise of
    both releases, by which items of each user were counted, and by what a threshold hides. Nothing
    but the releases is read, so no budget is spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from zealous.errors import UsageError
from zealous.files.places import Place
from zealous.libraries import np, pa
from zealous.notebook import block, grid, line, note
from zealous.planning.part import Part
from zealous.record.record import PartRecord, Record
from zealous.release.bundle import Release, read_release
from zealous.release.table import Item, Table
from zealous.release.text.method_wording import count_interval
from zealous.series.p_values import CountLaw, fall_p_values, significant

What = Literal["new", "risen", "fallen", "gone"]
ERROR_RATE = 0.05
_SHOWN = 10  # rows in a notebook


@dataclass(frozen=True, kw_only=True)
class Change:
    """An item whose count moved by more than noise explains.

    Attributes:
        kind: The kind of items.
        item: The item's columns.
        change: What became of it.
        before: Its count in the old release; None where it is not there.
        after: Its count in the new release; None where it is not there.
        below: For one that is absent from a release: it had fewer counted users there than about
            this.
        p_value: How likely so large a move would be at most if nothing had changed.
    """

    kind: str
    item: tuple[str, ...]
    change: What
    before: int | None
    after: int | None
    below: int | None
    p_value: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Changes(Sequence[Change]):
    """All changes that are told, the most certain ones first.

    Attributes:
        rows: The changes.
        error_rate: At most this share of them is by chance, on average.
        tested: How many counts were looked at.
        not_judged: How many items are in one release alone, and nothing tells why.
        not_compared: Why the tables of a kind are not compared, by kind.
        columns: The item's columns of each kind that is compared.
        same_key: Whether the same items of each user were counted in both.
        since: The period of the old release, if it has one.
    """

    rows: tuple[Change, ...]
    error_rate: float
    tested: int
    not_judged: int
    not_compared: dict[str, str]
    columns: dict[str, tuple[str, ...]]
    same_key: bool
    since: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Change]: ...

    def __getitem__(self, index: int | slice) -> Change | Sequence[Change]:
        return self.rows[index]

    def __repr__(self) -> str:
        return f"Changes({self.summary()})"

    def _repr_html_(self) -> str:
        names = ["change", "kind", "item", "before", "after"]
        return block(
            self.summary(),
            grid(names, [shown(each) for each in self.rows[:_SHOWN]]),
            *(note(f"{kind}: {why}") for kind, why in self.not_compared.items()),
            line(self.meaning()),
        )

    def summary(self) -> str:
        """How many there are of each sort, in one sentence."""
        numbers = dict.fromkeys(("new", "risen", "fallen", "gone"), 0)
        for each in self.rows:
            numbers[each.change] += 1
        told = ", ".join(f"{number:,} {what}" for what, number in numbers.items())
        since = f" since {self.since}" if self.since else ""
        return f"Of {self.tested:,} counts, {len(self):,} changed beyond noise{since}: {told}."

    def meaning(self) -> str:
        """What the figures cover."""
        said = f"At most {self.error_rate:.0%} of these changes are by chance, on average"
        said += (
            "."
            if self.same_key
            else (
                ", also by which items of each user were counted: releases of one series that keep "
                "their selection key tell smaller changes."
            )
        )
        if self.not_judged:
            said += (
                f" {self.not_judged:,} items are in one release alone, and nothing tells whether "
                "they changed: they are not listed."
            )
        return said

    def to_arrow(self) -> pa.Table:
        """The changes as a table: kind, the columns of items, and what became of each."""
        names = list(dict.fromkeys(name for each in self.columns.values() for name in each))
        cells = {name: [self._cell(row, name) for row in self.rows] for name in names}
        rows = self.rows
        return pa.table(
            {
                "kind": pa.array([row.kind for row in rows], pa.string()),
                **{name: pa.array(values, pa.string()) for name, values in cells.items()},
                "change": pa.array([row.change for row in rows], pa.string()),
                "count_before": pa.array([row.before for row in rows], pa.int64()),
                "count_after": pa.array([row.after for row in rows], pa.int64()),
                "users_below": pa.array([row.below for row in rows], pa.int64()),
                "p_value": pa.array([row.p_value for row in rows], pa.float64()),
            }
        )

    def _cell(self, row: Change, name: str) -> str | None:
        columns = self.columns[row.kind]
        return row.item[columns.index(name)] if name in columns else None


def shown(change: Change) -> tuple[str, str, str, str, str]:
    """A change as a row for people."""
    before, after = (
        f"below {change.below:,}" if count is None else f"{count:,}"
        for count in (change.before, change.after)
    )
    return change.change, change.kind, " | ".join(change.item), before, after


def changes(
    old: str | Path | Place | Release,
    new: str | Path | Place | Release,
    *,
    error_rate: float = ERROR_RATE,
) -> Changes:
    """Say what changed between two releases beyond what their noise explains.

    Args:
        old: The earlier release, or where it is.
        new: The later release.
        error_rate: At most this share of the changes that are told is by chance, on average.

    Raises:
        UsageError: No table of the releases can be compared.
    """
    if not 0 < error_rate < 1:
        raise UsageError("the error rate is a share between 0 and 1, such as 0.05")
    before, after = (
        each if isinstance(each, Release) else read_release(each) for each in (old, new)
    )
    one, two = before.record, after.record
    # The moments of a day or a session are part of its name, by which its items are chosen.
    same_key = one.selection_key == two.selection_key and one.guarantee.unit == "user"
    pairs, refused = _comparable(before, after)
    if not pairs:
        why = "; ".join(f"{kind}: {each}" for kind, each in refused.items())
        raise UsageError(f"no table of the two releases can be compared. {why}".strip())
    fallen = [_falls(pair, same_key=same_key) for pair in pairs]
    risen = [_falls(pair.reversed(), same_key=same_key) for pair in pairs]
    rows = [
        *_told(fallen, error_rate / 2, rise=False),
        *_told(risen, error_rate / 2, rise=True),
    ]
    return Changes(
        rows=tuple(sorted(rows, key=lambda row: (row.p_value, row.kind, row.item))),
        error_rate=error_rate,
        tested=sum(len(each.items) for each in (*fallen, *risen)),
        not_judged=sum(each.not_judged for each in (*fallen, *risen)),
        not_compared=refused,
        columns={pair.kind: pair.before.table.columns for pair in pairs},
        same_key=same_key,
        since=before.record.period,
    )


@dataclass(frozen=True, kw_only=True)
class _Side:
    """The table of one release, and how its counts come about.

    Attributes:
        table: The published rows.
        law: How a number of users becomes a count.
        absence_tells: Whether an item that is not there did not pass the threshold.
    """

    table: Table
    law: CountLaw
    absence_tells: bool

    @classmethod
    def of(cls, release: Release, part: PartRecord) -> _Side:
        law = CountLaw(interval=count_interval(part))
        whole = law.threshold is not None and not release.record.is_filtered()
        return cls(table=release[part.kind], law=law, absence_tells=whole)


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """The tables of one kind."""

    kind: str
    before: _Side
    after: _Side

    def reversed(self) -> _Pair:
        return _Pair(kind=self.kind, before=self.after, after=self.before)


@dataclass(frozen=True, kw_only=True)
class _Falls:
    """The items of a table that were tested, and how surprising the fall of each is."""

    pair: _Pair
    items: list[Item]
    p_values: np.ndarray[tuple[int], np.dtype[np.float64]]
    not_judged: int


def _comparable(before: Release, after: Release) -> tuple[list[_Pair], dict[str, str]]:
    """The tables that count the same in both, and why others do not."""
    pairs, refused = [], {}
    parts = {part.kind: part for part in before.record.plan}
    others = {part.kind: part for part in after.record.plan}
    for kind in dict.fromkeys([*parts, *others]):
        if kind not in others or kind not in parts:
            refused[kind] = f"it is in the {'new' if kind in others else 'old'} release alone"
        elif why := _difference(before.record, parts[kind], after.record, others[kind]):
            refused[kind] = why
        else:
            sides = _Side.of(before, parts[kind]), _Side.of(after, others[kind])
            pairs.append(_Pair(kind=kind, before=sides[0], after=sides[1]))
    return pairs, refused


def _difference(
    record: Record, part: PartRecord, other_record: Record, other: PartRecord
) -> str | None:
    """Why counts of two tables do not mean the same; None where they do."""
    if part.items_per_user != other.items_per_user:
        return (
            f"it counts at most {part.items_per_user} items a {part.unit} before, and "
            f"{other.items_per_user} after"
        )
    one, two = _counted_by(record, part), _counted_by(other_record, other)
    differ = [name for name, value in one.items() if value != two[name]]
    if differ:
        return f"the releases differ in {' and '.join(differ)}"
    made = Part.from_record(part, record.files[part.kind].columns)
    if made.kind.builds_on() or made.kind.restricting_kind() or made.mechanism.requires_kind:
        return "what counts in it follows from other tables"
    if made.mechanism.decides_who_kept_what():
        return "each person counts for items that noise found first, and so not for the same ones"
    return None


def _counted_by(record: Record, part: PartRecord) -> dict[str, object]:
    """What counts depend on beside the log, in words."""
    return {
        "what one person is": (record.columns.user, part.unit),
        "what an item is": (part.settings, record.files[part.kind].columns),
        "how items are counted": (part.mechanism, part.public and part.public.sha256),
        "how each person's items are chosen": part.select,
        "who is left out": record.cleaning,
    }


def _falls(pair: _Pair, *, same_key: bool) -> _Falls:
    """Test every item of the first table for a fall."""
    before, after = pair.before.table, pair.after.table
    absent = pair.after.law.threshold if pair.after.absence_tells else None
    items = [item for item in before if item in after or absent is not None]
    first = np.array([before[item] for item in items], np.int64)
    then = np.array([after.get(item, absent) for item in items], np.int64)
    p_values = fall_p_values(
        pair.before.law,
        pair.after.law,
        np.maximum(first, then),
        first - then,
        same_key=same_key,
    )
    return _Falls(pair=pair, items=items, p_values=p_values, not_judged=len(before) - len(items))


def _told(families: Sequence[_Falls], rate: float, *, rise: bool) -> Iterator[Change]:
    """The changes of all kinds that are told at an error rate over all of them."""
    p_values = np.concatenate([each.p_values for each in families])
    told = significant(p_values, rate)
    place = 0
    for each in families:
        for item, p_value in zip(each.items, each.p_values, strict=True):
            if told[place]:
                yield _change(each.pair, item, float(p_value), rate / len(p_values), rise=rise)
            place += 1


def _change(pair: _Pair, item: Item, p_value: float, chance: float, *, rise: bool) -> Change:
    """One change; a rise is a fall from the new release to the old one.

    Args:
        pair: The tables, the one with the item first.
        item: The item.
        p_value: How surprising its fall is.
        chance: With at most this one, an absent item has more users than is said.
        rise: Whether the first table is the new one.
    """
    first, law = pair.before.table[item], pair.after.law
    other = pair.after.table.get(item)
    what: What = "risen" if rise else "fallen"
    below = None
    if other is None:
        assert law.threshold is not None  # noqa: S101 - else it was not tested
        what, below = "new" if rise else "gone", law.threshold + law.least_bound(chance) + 1
    return Change(
        kind=pair.kind,
        item=(item,) if isinstance(item, str) else item,
        change=what,
        before=other if rise else first,
        after=first if rise else other,
        below=below,
        p_value=p_value,
    )
