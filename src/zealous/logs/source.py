"""The entries of a log on an engine, cleaned and named by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zealous.engines.engine import Engine
from zealous.engines.sql import Step, identifier
from zealous.files.lines import Skipped

FIRST_STEPS = ("known", "looked_at")  # the steps with which a log's entries begin


@dataclass(frozen=True, kw_only=True)
class Source:
    """The entries of a log, ready to be selected from.

    Attributes:
        engine: Where the entries are.
        entries: The steps that yield them, one row an entry, with a column for each role.
        everyone: The steps to `entries` of all users, also of those who are left out.
        users: How many these are, where they were counted; never published.
        rows: How many entries there are at most; only sizes work by it.
        text: The bytes of the column of each role, and of extra columns; likewise.
        roles: The roles that have a column.
        lists: Those whose column is a list of texts.
        skipped: Lines that were left out, by reason; for the owner's eyes.
    """

    engine: Engine
    entries: tuple[Step, ...]
    rows: int
    roles: frozenset[str]
    lists: frozenset[str]
    everyone: tuple[Step, ...] = ()
    users: int | None = None
    text: Mapping[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    def bucket(self, number: int, buckets: int) -> Source:
        """The entries of one bucket of users: all of a user's entries are in the same one."""
        chosen = f"{self.engine.bucket('user', buckets)} = {number}"
        parts = (
            step._replace(sql=f"select * from ({step.sql}) where {chosen}")
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


def has_users(source: Source) -> bool:
    """Whether anybody is in the entries at all; for the owner's eyes."""
    some = Step("some", "select 1 as one from entries limit 1")
    return bool(source.engine.rows([*source.entries, some]))
