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
from zealous.release.bundle import Release, read_release
from zealous.release.table import Item
from zealous.series.comparable import Pair, comparable
from zealous.series.p_values import fall_p_values, significant

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

    def ends(self) -> tuple[int, int]:
        """Both counts; of an absent item, below how many users it is."""
        below = self.below or 1
        return (
            below if self.before is None else self.before,
            below if self.after is None else self.after,
        )

    def factor(self) -> float:
        """How many times as large one count is as the other."""
        low, high = sorted(max(each, 1) for each in self.ends())
        return high / low


@dataclass(frozen=True, kw_only=True, repr=False)
class Changes(Sequence[Change]):
    """All changes that are told: first the most certain ones, and of these the largest.

    Attributes:
        rows: The changes.
        error_rate: At most this share of them is by chance, on average.
        tested: How many counts were looked at.
        not_judged: How many items are in one release alone, and nothing tells why.
        not_compared: Why the tables of a kind are not compared, by kind.
        allowed: How far counts may move because each release found other items, by kind.
        columns: The item's columns of each kind that is compared.
        same_key: Whether the same items of each user were counted in both.
        since: The period of the old release, if it has one.
    """

    rows: tuple[Change, ...]
    error_rate: float
    tested: int
    not_judged: int
    not_compared: dict[str, str]
    allowed: dict[str, int]
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
            grid(names, [change_row(each) for each in self.rows[:_SHOWN]]),
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
                ", also by which items of each user were counted. That is checked by simulation: "
                "it is proven for releases of one series, which keep their selection key and tell "
                "smaller changes."
            )
        )
        for kind, most in self.allowed.items():
            said += (
                f" In {kind} each person counts for some of the items that were found, and each "
                f"release found others: that alone can move a count by {most:,}, so only larger "
                "moves are told."
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


def change_row(change: Change) -> tuple[str, str, str, str, str]:
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
    """List what changed between two releases beyond what their noise explains.

    Args:
        old: The earlier release, or where it is.
        new: The later release.
        error_rate: On average, at most this share of the listed changes is due to chance.

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
    pairs, refused = comparable(before, after, same_key=same_key)
    if not pairs:
        why = "; ".join(f"{kind}: {each}" for kind, each in refused.items())
        raise UsageError(f"no table of the two releases can be compared. {why}".strip())
    fallen = [falls_of(pair, same_key=same_key) for pair in pairs]
    risen = [falls_of(pair.reversed(), same_key=same_key) for pair in pairs]
    rows = [
        *_significant_changes(fallen, error_rate / 2, rise=False),
        *_significant_changes(risen, error_rate / 2, rise=True),
    ]
    return Changes(
        rows=tuple(sorted(rows, key=lambda row: (row.p_value, -row.factor(), row.kind, row.item))),
        error_rate=error_rate,
        tested=sum(len(each.items) for each in (*fallen, *risen)),
        not_judged=sum(each.not_judged for each in (*fallen, *risen)),
        not_compared=refused,
        allowed={
            pair.kind: most
            for pair in pairs
            if (most := max(pair.moved.users, pair.reversed().moved.users))
        },
        columns={pair.kind: pair.before.table.columns for pair in pairs},
        same_key=same_key,
        since=before.record.period,
    )


@dataclass(frozen=True, kw_only=True)
class Falls:
    """The items of a table that were tested, and how surprising the fall of each is."""

    pair: Pair
    items: list[Item]
    p_values: np.ndarray[tuple[int], np.dtype[np.float64]]
    not_judged: int


def falls_of(pair: Pair, *, same_key: bool) -> Falls:
    """Test every item of the first table for a fall."""
    before, after = pair.before.table, pair.after.table
    absent = pair.after.law.threshold if pair.after.absence_tells else None
    items = [item for item in before if item in after or absent is not None]
    first = np.array([before[item] for item in items], np.int64)
    then = np.array([after.get(item, absent) for item in items], np.int64)
    moved = pair.moved
    p_values = fall_p_values(
        pair.before.law,
        pair.after.law,
        np.maximum(first, then),
        first - then - moved.users,
        same_key=same_key,
    )
    p_values = np.minimum(p_values + moved.chance, 1.0)
    return Falls(pair=pair, items=items, p_values=p_values, not_judged=len(before) - len(items))


def _significant_changes(families: Sequence[Falls], rate: float, *, rise: bool) -> Iterator[Change]:
    """The changes of all kinds that are told at an error rate over all of them."""
    p_values = np.concatenate([each.p_values for each in families])
    told = significant(p_values, rate)
    place = 0
    for each in families:
        for item, p_value in zip(each.items, each.p_values, strict=True):
            if told[place]:
                yield _change(each.pair, item, float(p_value), rate / len(p_values), rise=rise)
            place += 1


def _change(pair: Pair, item: Item, p_value: float, chance: float, *, rise: bool) -> Change:
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
