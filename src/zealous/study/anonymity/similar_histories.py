"""Similar histories: each user's set of queries is close to that of k - 1 other users."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query
from zealous.logs.source import Source, count_users
from zealous.privacy.guarantee import exact_fraction
from zealous.study.anonymity.groups import group
from zealous.study.anonymity.method import AmongK, Changed, Say, Shows, new_id, new_secret, register
from zealous.study.anonymity.numbered import drop_numbers, number_sets, select_numbers_as
from zealous.study.anonymity.set_arrays import (
    Held,
    Ints,
    Sets,
    consecutive_runs,
    count_held,
    join_numbers,
    occurrence_number,
)

if TYPE_CHECKING:
    import numpy.typing as npt


_FINEST = 10**9  # a finer tolerance times the length of a history would not fit in 64 bits


@register
@dataclass(frozen=True, kw_only=True)
class SimilarHistories(AmongK):
    """Suppress and add queries until each user's history is like that of k - 1 others.

    Similar histories form groups of k to 2k - 1 users. A group's representative holds the queries
    that at least half of it has. Each user keeps as much of her own history as leaves her within
    half the tolerance of the representative, so that any two of a group are within the whole of
    it: Jaccard's distance, the share of two sets' union that they do not have in common, is a
    metric. Users whose group has no query in common are suppressed.

    Attributes:
        tolerance: The largest distance between two histories that are alike; with 0 they are equal.
    """

    tolerance: str | float = "0.2"

    name: ClassVar[str] = "similar-histories"
    summary: ClassVar[str] = "each history is close to those of k-1 others (Hong et al.)"
    shows: ClassVar[Shows | None] = "similar histories"
    promises: ClassVar[str] = (
        "the set of queries of each user is close to those of at least k - 1 other users, and the "
        "ids cannot be traced back to those of the log."
    )
    lacks: ClassVar[str] = (
        "what a group has in common is published, however private it is, and so is what the "
        "tolerance leaves each user of her own, which may be a query that nobody else asked. An "
        "attacker whose accounts plant k histories like the one he guesses makes a group of them, "
        "and sees whether it has one history more."
    )
    origin: ClassVar[str] = (
        "Yuan Hong, Xiaoyun He, Jaideep Vaidya, Nabil Adam and Vijayalakshmi Atluri, Effective "
        "anonymization of query logs, CIKM 2009"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self._tolerance() < 1:
            raise UsageError("tolerance must be at least 0 and less than 1, such as 0.2")
        if self._tolerance().denominator > _FINEST:
            raise UsageError("tolerance must be written with at most nine decimals, such as 0.2")

    def _tolerance(self) -> Fraction:
        return exact_fraction(self.tolerance, "tolerance")

    def published_columns(self, roles: Collection[str]) -> tuple[str, ...]:
        """The columns of the log it gives: no times, since added queries have none."""
        return ("id", "query")

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, query), one row for each different query of a user."""
        engine = source.engine
        each = (
            f"select user, {normalized_query(False)} as item from entries where {has_word('query')}"
        )
        rows = (
            f"select user, {new_id(new_secret(), 'user')} as id, item as query "
            "from given join numbered_sets using (number) "
            "join numbered_items i on i.number = given.query"
        )
        try:
            sets = number_sets(engine, [*source.entries, Step("held", each)], ("user",))
            say("grouping similar histories")
            users, queries, own = published_histories(sets, group(sets, self.k), self._tolerance())
            select_numbers_as(engine, "given", number=users, query=queries)
            engine.append_rows("anonymous", [Step("anonymous", rows)])
        finally:
            drop_numbers(engine)
        everybody, kept, pairs = count_users(source), len(np.unique(users)), len(sets.items)
        return [
            Changed(what="users suppressed", number=everybody - kept, of=everybody),
            Changed(what="queries suppressed", number=pairs - own, of=pairs),
            Changed(what="queries added", number=len(users) - own, of=pairs),
        ]


def published_histories(sets: Sets, groups: Ints, tolerance: Fraction) -> tuple[Ints, Ints, int]:
    """The history that each user publishes: (user, query), and how many of these are her own.

    With r queries in the representative, a own ones kept beside it and b of it left out, the
    distance is (a + b) / (r + a). It is at most t / 2 where a (2 - t) + 2 b <= t r. To keep an own
    query thus takes less of the tolerance than to leave one out: as many as possible are kept, then
    as many as possible left out, and no other choice takes fewer edits.
    """
    found = count_held(sets, groups)
    sizes = np.bincount(found.group[found.majority], minlength=int(groups.max(initial=0)) + 1)
    size = np.where(groups >= 0, sizes[groups], 0)

    numbers = sets.numbers()
    published = size[numbers] > 0
    users, queries = numbers[published], sets.items[published]
    place = found.places(groups[users], queries)
    common = found.majority[place]
    surplus = users[~common], queries[~common], -found.count[place[~common]]
    missing = _missing_queries(users[common], queries[common], found, groups)

    top, bottom = tolerance.numerator, tolerance.denominator
    many = len(sets)
    kept = np.minimum(np.bincount(surplus[0], minlength=many), top * size // (2 * bottom - top))
    left_out = (top * size - kept * (2 * bottom - top)) // (2 * bottom)
    popular = np.bincount(sets.items, minlength=1)
    own = _mark_first(*surplus, -popular, kept)
    out = _mark_first(*missing, popular, left_out)
    given = [
        (users[common], queries[common]),
        (surplus[0][own], surplus[1][own]),
        (missing[0][~out], missing[1][~out]),
    ]
    users, queries = (np.concatenate(column) for column in zip(*given, strict=True))
    return users, queries, int(common.sum() + own.sum())


def _missing_queries(
    users: Ints, queries: Ints, found: Held, groups: Ints
) -> tuple[Ints, Ints, Ints]:
    """What users lack of their representatives: (user, query, how many of the group have it).

    Args:
        users: The users of `queries`, ascending.
        queries: What each has of her representative, ascending.
        found: The queries of each group.
        groups: The group of each user.
    """
    shared = found.majority
    sizes = np.bincount(found.group[shared], minlength=int(groups.max(initial=0)) + 1)
    lengths = np.where(groups >= 0, sizes[groups], 0)
    place = np.flatnonzero(shared)[consecutive_runs((np.cumsum(sizes) - sizes)[groups], lengths)]
    all_users = np.repeat(np.arange(len(groups)), lengths)
    has = np.isin(
        join_numbers(all_users, found.item[place]), join_numbers(users, queries), assume_unique=True
    )
    return all_users[~has], found.item[place][~has], found.count[place][~has]


def _mark_first(
    users: Ints, queries: Ints, first: Ints, then: Ints, most: Ints
) -> npt.NDArray[np.bool_]:
    """Mark the first few queries of each user: by two figures, then as their texts are ordered."""
    order = np.lexsort((queries, then[queries], first, users))
    marked = np.zeros(len(users), np.bool_)
    marked[order] = occurrence_number(users[order]) < most[users[order]]
    return marked
