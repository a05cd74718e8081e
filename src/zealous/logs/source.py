"""The entries of a log on an engine, cleaned and named by role.

Guarantee:
    What is counted comes from `entries` alone, which hold the users of the log after cleaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from zealous.engines.engine import Engine
from zealous.engines.sql import Step, identifier
from zealous.files.limits import Limits
from zealous.files.lines import Skipped

WITHOUT_ID = "no user id"  # why a line is left out that is nobody's; also where the id is too long
FIRST_STEPS = ("known", "looked_at")  # the steps with which a log's entries begin


class IdCounts(NamedTuple):
    """What the ids of a log come to; never published.

    Attributes:
        number: How many there are.
        entries: Of all together.
        most: Of the one with most.
        odd: How many may have another spelling; see `is_odd_id`.
    """

    number: int
    entries: int
    most: int
    odd: int


@dataclass(frozen=True, kw_only=True)
class Source:
    """The entries of a log, ready to be selected from.

    Attributes:
        engine: Where the entries are.
        entries: The steps that yield them, one row an entry, with a column for each role.
        everyone: The steps to `entries` of all users, also of those who are left out.
        users: How many these are, where they were counted; never published.
        ids: What the ids of the whole log came to, where they were counted; likewise.
        id_hashes: What a sketch of them is made of, where it was asked for then; likewise.
        rows: How many entries there are at most; only sizes work by it.
        text: The bytes of the column of each role, and of extra columns; likewise.
        roles: The roles that have a column.
        lists: Those whose column is a list of texts.
        skipped: Lines that were left out, by reason; for the owner's eyes.
        limits: The most that is looked at of one user.
    """

    engine: Engine
    entries: tuple[Step, ...]
    rows: int
    roles: frozenset[str]
    lists: frozenset[str]
    everyone: tuple[Step, ...] = ()
    users: int | None = None
    ids: IdCounts | None = None
    id_hashes: tuple[str, ...] | None = None
    text: Mapping[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    limits: Limits = field(default_factory=Limits)

    def bucket(self, number: int, buckets: int) -> Source:
        """The entries of one bucket of users: all of a user's entries are in the same one."""
        return self._with_condition(f"{self.engine.bucket('user', buckets)} = {number}")

    def without_entries(self) -> Source:
        """The same log with nobody in it: the steps are the same, and cost next to nothing."""
        return replace(self._with_condition("false"), rows=0, text={})

    def _with_condition(self, condition: str) -> Source:
        parts = (
            step._replace(sql=f"select * from ({step.sql}) where {condition}")
            if step.name in FIRST_STEPS
            else step
            for step in self.entries
        )
        return replace(self, entries=tuple(parts))

    def buckets(self, columns: Iterable[str]) -> int:
        """In how many buckets it must be worked through, where some columns are worked on."""
        text = sum(self.text.get(name, 0) for name in {"user", *columns})
        return self.engine.buckets(self.rows, text)


def extra_column(name: str) -> str:
    """What an extra column is called among the entries: no role's name can clash with it."""
    return identifier(f"column:{name}")


def count_users(source: Source) -> int:
    """How many user ids the entries hold; for the owner's eyes."""
    return _count(source.engine, source.entries)


def count_everyone(source: Source) -> int:
    """How many users the log has, to be checked against the declared bound; never published.

    Also those who are left out by a list or for their many entries: else the check would tell
    whether an id that somebody puts on a list is in the log.
    """
    if source.users is not None:
        return source.users
    return _count(source.engine, source.everyone)


def _count(engine: Engine, entries: Sequence[Step]) -> int:
    count = Step("counted", "select count(distinct user) from entries")
    return int(engine.rows([*entries, count])[0][0])


def count_ids(source: Source) -> IdCounts:
    """How many ids the whole log has, and how many entries; for the owner's eyes."""
    if source.ids is not None:
        return source.ids
    each = Step("each_id", "select user, count(*) as n from known group by user")
    total = "select count(*), coalesce(sum(n), 0)::bigint, coalesce(max(n), 0)"
    total += f", count(case when {is_odd_id()} then 1 end) from each_id"
    found = source.engine.rows([*known_entries(source), each, Step("counted", total)])[0]
    return IdCounts(*map(int, found))


def is_odd_id() -> str:
    """SQL: whether the id `user` has zeros in front, or capitals: another may be it without them.

    `.0` behind is never read.
    """
    text = "user::varchar"
    return f"({text} like '0%' or {text} <> lower({text})) and {text} <> '0'"


def known_entries(source: Source) -> tuple[Step, ...]:
    """The steps to `known`: all entries that have an id, of whatever day, each by its own id."""
    names = [step.name for step in source.everyone]
    return source.everyone[: names.index("known") + 1]


def unreadable_lines(source: Source) -> int:
    """How many lines were left out since they could not be read; for the owner's eyes."""
    limits = source.limits
    readable = {
        WITHOUT_ID,
        limits.long_text(),
        limits.many_words(),
        limits.many_entries(),
    }
    return sum(lines for why, lines in source.skipped.items() if why not in readable)


def has_users(source: Source) -> bool:
    """Whether anybody is in the entries at all; for the owner's eyes."""
    some = Step("some", "select 1 as one from entries limit 1")
    return bool(source.engine.rows([*source.entries, some]))
