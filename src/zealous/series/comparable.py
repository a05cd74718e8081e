"""Which tables of two releases count alike, so that their counts can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from zealous.planning.from_record import kind_of_table
from zealous.planning.part import Part, part_select
from zealous.record.record import PartRecord, Record
from zealous.release.bundle import Release
from zealous.release.table import Table
from zealous.release.text.method_wording import count_interval
from zealous.series.p_values import UNLIKELY, CountLaw


@dataclass(frozen=True, kw_only=True)
class Side:
    """The table of one release, and how its counts come about.

    Attributes:
        table: The published rows.
        law: How a number of users becomes a count.
        listed: Whether each user counts for some of the published items alone: those of a list, or
            that noise found first.
        whole: Whether no row was taken out.
    """

    table: Table
    law: CountLaw
    listed: bool
    whole: bool

    @classmethod
    def of(cls, release: Release, part: PartRecord) -> Side:
        """That of one part of a release."""
        table = release[part.kind]
        made = Part.from_record(part, release.record.files[part.kind].columns)
        return cls(
            table=table,
            law=CountLaw(interval=count_interval(part)),
            listed=bool(made.mechanism.restrictions(table.arrow)),
            whole=not release.record.is_filtered(),
        )

    @property
    def absence_tells(self) -> bool:
        """Whether an item that is not there did not pass the threshold."""
        return self.law.threshold is not None and self.whole


@dataclass(frozen=True, kw_only=True)
class CountShift:
    """How far a count of the same people can move because other items are listed.

    Attributes:
        users: By at most so many,
        chance: but for such a chance.
    """

    users: int = 0
    chance: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The tables of one kind."""

    kind: str
    before: Side
    after: Side

    def reversed(self) -> Pair:
        """The same, the other way round."""
        return Pair(kind=self.kind, before=self.after, after=self.before)

    @cached_property
    def moved(self) -> CountShift:
        """How many users less may count for an item because of what else is listed after.

        Of the same people with the same key, who counts for an item before and not after counts
        after for one that is listed there alone. They are no more than those counts and their noise
        allow.
        """
        if not self.after.listed:
            return CountShift()
        other = self.before.table
        alone = [count for item, count in self.after.table.items() if item not in other]
        if not alone:
            return CountShift()
        law, number = self.after.law, len(alone)
        return CountShift(
            users=max(0, sum(alone) + law.sum_bound(number, UNLIKELY)),
            chance=UNLIKELY + law.beyond_reach(number),
        )


def comparable(
    before: Release, after: Release, *, same_key: bool
) -> tuple[list[Pair], dict[str, str]]:
    """The tables that count alike in both, and why others do not, by kind.

    Args:
        before: The old release.
        after: The new one.
        same_key: Whether of the same people the same items count in both.
    """
    pairs, refused = [], {}
    parts = {part.kind: part for part in before.record.plan}
    others = {part.kind: part for part in after.record.plan}
    for kind in dict.fromkeys([*parts, *others]):
        if kind not in others or kind not in parts:
            refused[kind] = f"it is in the {'new' if kind in others else 'old'} release alone"
            continue
        part, other = parts[kind], others[kind]
        why = _difference(before.record, part, after.record, other)
        why = why or _follows_from_others(before, part) or _follows_from_others(after, other)
        if why is None:
            pair = Pair(kind=kind, before=Side.of(before, part), after=Side.of(after, other))
            why = _cannot_count_alike(pair, same_key=same_key)
        if why is None:
            pairs.append(pair)
        else:
            refused[kind] = why
    return pairs, refused


def _difference(
    record: Record, part: PartRecord, other_record: Record, other: PartRecord
) -> str | None:
    """Why counts of two tables do not mean the same by their settings; None where they do."""
    if part.items_per_user != other.items_per_user:
        return (
            f"it counts at most {part.items_per_user} items a {part.unit} before, and "
            f"{other.items_per_user} after"
        )
    one, two = _counted_by(record, part), _counted_by(other_record, other)
    differ = [name for name, value in one.items() if value != two[name]]
    return f"the releases differ in {' and '.join(differ)}" if differ else None


def _counted_by(record: Record, part: PartRecord) -> dict[str, object]:
    """What counts depend on beside the log and the list of items, in words."""
    return {
        "what one person is": (record.columns.user, part.unit),
        "what an item is": (part.settings, record.files[part.kind].columns),
        "how each person's items are chosen": part_select(kind_of_table(part, record), part.select),
        "who is left out": record.cleaning,
    }


def _follows_from_others(release: Release, part: PartRecord) -> str | None:
    made = Part.from_record(part, release.record.files[part.kind].columns)
    table, settled = release.arrow[part.kind], made.with_inputs(release.arrow)
    if settled.mechanism.chooses_by_noise:
        return "noise decided for which of the items each person counts"
    before, after = (each.mechanism.restrictions(table) for each in (made, settled))
    if made.kind.builds_on() or made.kind.restricting_kind() or before != after:
        return "what counts in it follows from other tables"
    return None


def _cannot_count_alike(pair: Pair, *, same_key: bool) -> str | None:
    """Why users do not count for the same of their items; None where they do, or nearly."""
    if pair.before.listed != pair.after.listed:
        return (
            "in one release each person counts for some of all items, and in the other for some "
            "of those that were found first"
        )
    if not pair.before.listed or _same_items(pair.before.table, pair.after.table):
        return None
    if not (pair.before.whole and pair.after.whole):
        return (
            "each person counts for some of the items that were found, and rows were taken out, so "
            "that nothing tells which those were"
        )
    if not same_key:
        return (
            "each person counts for some of the items that were found, other items were found "
            "in each release, and the releases have other selection keys: releases of one series "
            "keep theirs"
        )
    return None


def _same_items(one: Iterable[object], other: Iterable[object]) -> bool:
    return set(one) == set(other)
