"""k-session anonymity: every session's set of keywords is also that of k - 1 other users."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zealous.engines.sql import Step
from zealous.items import has_word, is_visible, tidy, words
from zealous.logs.source import Source, count_users
from zealous.study.anonymity.groups import group
from zealous.study.anonymity.method import (
    BySession,
    Changed,
    Say,
    Shows,
    new_id,
    new_secret,
    register,
)
from zealous.study.anonymity.numbered import drop_numbers, number_sets, select_numbers_as
from zealous.study.anonymity.session_steps import lacks_session, session_steps
from zealous.study.anonymity.set_arrays import Held, Ints, Sets, count_held
from zealous.study.curve_look import Look


@register
@dataclass(frozen=True, kw_only=True)
class KSession(BySession):
    """Add and delete keywords until each session looks like those of k - 1 other users.

    Similar sessions form groups of k to 2k - 1. Each publishes, in place of its own keywords, those
    that at least half of its group has: no other choice takes fewer edits. A group may have no such
    keyword; its sessions stay, as empty lists, which tell nothing but their number.
    """

    name: ClassVar[str] = "k-session"
    summary: ClassVar[str] = "each session holds the keywords of k users' sessions (Motwani, Nabar)"
    shows: ClassVar[Shows | None] = "similar sessions"
    look: ClassVar[Look | None] = Look("#009E73", "^", "-.")
    promises: ClassVar[str] = (
        "the set of keywords of each session is also that of sessions of at least k - 1 other "
        "users, and the ids cannot be traced back to those of the log."
    )
    lacks: ClassVar[str] = (
        "what the sessions of a group have in common is published, however private it is: whoever "
        "knows that a person is in the group learns it of her. An attacker whose accounts plant "
        "k sessions like the one he guesses makes a group of them, and sees whether it has one "
        "session more."
    )
    origin: ClassVar[str] = (
        "Rajeev Motwani and Shubha U. Nabar, Anonymizing unstructured data, arXiv, 2008"
    )

    def published_columns(self, roles: Collection[str]) -> tuple[str, ...]:
        """The columns of the log it gives: no times, since a session is a set of keywords."""
        return ("id", "keywords")

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, keywords), one row a session."""
        engine = source.engine
        try:
            steps = [*source.entries, *self._held(source)]
            sets = number_sets(engine, steps, ("user", "session"))
            say("grouping similar sessions")
            groups = group(sets, self.k)
            found = count_held(sets, groups)
            shared = found.majority
            select_numbers_as(engine, "grouped", number=np.arange(len(sets)), chosen=groups)
            select_numbers_as(
                engine, "shared", chosen=found.group[shared], number=found.item[shared]
            )
            self._store(source)
        finally:
            drop_numbers(engine)
        users, *changed = _count_changes(count_users(source), sets, groups, found)
        return [users, *_count_left_out(source), *changed]

    def _held(self, source: Source) -> list[Step]:
        """The steps to `held`: (user, session, item), where an item is a keyword."""
        cut = session_steps(source, self.session_gap, by_similarity=self.by_similarity)
        if "keywords" not in source.roles:
            each = f"select user, session, unnest({words('query')}) as item from sessions"
            return [*cut, Step("held", each)]
        asked = has_word("query")
        if "session" in source.roles:
            cut, where = [], f"from entries where not ({lacks_session(source)})"
        else:
            # All that a user asked at one moment is of one session.
            cut = [*cut, Step("moments", "select distinct user, session, time from sessions")]
            where = "from entries join moments using (user, time) where true"
        each = f"select user, session, lower(unnest(keywords)) as item {where} and {asked}"
        tidied = (
            f"select user, session, {tidy('item')} as item from each where {is_visible('item')}"
        )
        return [*cut, Step("each", each), Step("held", tidied)]

    def _store(self, source: Source) -> None:
        lists = (
            "select chosen, list(item order by item) as keywords "
            "from shared join numbered_items using (number) group by chosen"
        )
        ids = new_id(new_secret(), "user", "session")
        rows = (
            f"select user, {ids} as id, coalesce(keywords, []::varchar[]) as keywords "
            "from numbered_sets join grouped using (number) left join lists using (chosen) "
            "where chosen >= 0"
        )
        source.engine.append_rows("anonymous", [Step("lists", lists), Step("anonymous", rows)])


def _count_left_out(source: Source) -> list[Changed]:
    """The queries that are in no set: no session is known, or the log has no keywords of them."""
    unknown = lacks_session(source)
    # A missing list, an empty one and one of blanks are alike.
    own = "keywords" in source.roles
    text = is_visible("array_to_string(keywords, ' ')")
    listed = f"coalesce({text}, false)" if own else "true"
    select = (
        f"select count(*), count(*) filter ({unknown}), "
        f"count(*) filter (not ({unknown}) and not {listed}) from entries where {has_word('query')}"
    )
    ((queries, lost, bare),) = source.engine.rows([*source.entries, Step("n", select)])
    left_out = [Changed(what="queries without a session", number=lost, of=queries)]
    if own:
        left_out.append(Changed(what="queries without keywords", number=bare, of=queries))
    return left_out


def _count_changes(users: int, sets: Sets, groups: Ints, found: Held) -> list[Changed]:
    kept = len(np.unique(sets.owners[groups >= 0]))
    shared = found.majority
    empty = np.setdiff1d(groups[groups >= 0], found.group[shared])
    size = np.bincount(groups[groups >= 0], minlength=1)
    deleted = len(sets.items) - int(found.count[shared].sum())
    added = int((found.size - found.count)[shared].sum())
    return [
        Changed(what="users suppressed", number=users - kept, of=users),
        Changed(what="sessions suppressed", number=int((groups < 0).sum()), of=len(sets)),
        Changed(what="sessions emptied", number=int(size[empty].sum()), of=len(sets)),
        Changed(what="keywords deleted", number=deleted, of=len(sets.items)),
        Changed(what="keywords added", number=added, of=len(sets.items)),
    ]
