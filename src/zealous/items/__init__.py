"""Kinds of items: what one is, and the SQL that yields (user, item) from a log's entries.

How many of a user's items count belongs in counting/, who a user is in logs/. This file has the
kinds by their names.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from zealous.errors import UsageError, did_you_mean
from zealous.items.bands import bands_text
from zealous.items.kind import KINDS, Kind, register
from zealous.items.rare_queries import (
    LONGEST,
    Hours,
    Lengths,
    Ngrams,
    Prefixes,
    Questions,
    Scripts,
    TailKind,
    WithKeywords,
)
from zealous.items.searches import (
    Clicks,
    Keywords,
    Pairs,
    PhrasePairs,
    Queries,
    QueryClicks,
    QueryPairs,
)
from zealous.items.sets import (
    CombinedKind,
    Itemsets,
    Sequences,
    Things,
)
from zealous.items.table_columns import AnyColumns, People, UnknownKind
from zealous.logs.normalization import has_word, is_visible, normalized_query, tidy, words
from zealous.privacy.guarantee import SESSION_GAP, Number
from zealous.privacy.units import Unit

__all__ = [
    "KINDS",
    "AnyColumns",
    "Clicks",
    "CombinedKind",
    "Itemsets",
    "Keywords",
    "Kind",
    "Kinds",
    "Pairs",
    "People",
    "PhrasePairs",
    "Queries",
    "QueryClicks",
    "QueryPairs",
    "Sequences",
    "TailKind",
    "Things",
    "UnknownKind",
    "clicks",
    "columns",
    "default_items_per_user",
    "has_word",
    "is_visible",
    "itemsets",
    "keywords",
    "kind_by_name",
    "list_kinds",
    "normalized_query",
    "parse_kinds",
    "phrase_pairs",
    "possible_kinds",
    "queries",
    "query_clicks",
    "query_pairs",
    "register",
    "sequences",
    "tail",
    "tidy",
    "words",
]

T = TypeVar("T")
# What is published, as somebody names it: one kind, or several, of which some come in lists.
Bands: TypeAlias = Mapping[str, Iterable[Number]]  # limits, by column
Kinds: TypeAlias = "Kind | Iterable[Kind | Iterable[Kind]]"


def queries(items_per_user: int, *, by: str | None = None, fold_words: bool = False) -> Queries:
    """Queries.

    Args:
        items_per_user: How many different queries of one user are counted at most.
        by: A column with a public attribute, such as the country: items are counted separately for
            each of its values.
        fold_words: Treats queries with the same words, in whatever order, as one.
    """
    return Queries(items_per_user=items_per_user, by=by, fold=fold_words)


def keywords(items_per_user: int, *, by: str | None = None) -> Keywords:
    """The words of queries.

    Args:
        items_per_user: How many different words of one user are counted at most.
        by: As for `queries`.
    """
    return Keywords(items_per_user=items_per_user, by=by)


def clicks(items_per_user: int, *, by: str | None = None) -> Clicks:
    """Clicked addresses.

    Args:
        items_per_user: How many different addresses of one user are counted at most.
        by: As for `queries`.
    """
    return Clicks(items_per_user=items_per_user, by=by)


def query_clicks(
    items_per_user: int, *, by: str | None = None, fold_words: bool = False, rates: bool = False
) -> QueryClicks:
    """Pairs of a query and an address that was clicked for it.

    Args:
        items_per_user: How many different pairs of one user are counted at most.
        by: As for `queries`.
        fold_words: As for `queries`.
        rates: Counts clicks only for queries that count for their user among the `queries` of the
            same release, and adds a table of click rates to the release.
    """
    return QueryClicks(items_per_user=items_per_user, by=by, fold=fold_words, follow=rates)


def query_pairs(
    items_per_user: int,
    *,
    by: str | None = None,
    fold_words: bool = False,
    session_gap: int = SESSION_GAP,
) -> QueryPairs:
    """Pairs of different queries that follow each other in a session.

    Args:
        items_per_user: How many different pairs of one user are counted at most.
        by: As for `queries`.
        fold_words: As for `queries`.
        session_gap: The minutes without an entry that end a session, if the log has no column with
            sessions.
    """
    return QueryPairs(
        items_per_user=items_per_user, by=by, fold=fold_words, session_gap=session_gap
    )


def phrase_pairs(
    items_per_user: int, *, by: str | None = None, session_gap: int = SESSION_GAP
) -> PhrasePairs:
    """What a user replaced in a query to make the next query of the session.

    Args:
        items_per_user: How many different replacements of one user are counted at most.
        by: As for `queries`.
        session_gap: As for `query_pairs`.
    """
    return PhrasePairs(items_per_user=items_per_user, by=by, session_gap=session_gap)


def columns(
    *names: str, items_per_user: int, by: str | None = None, bands: Bands | None = None
) -> AnyColumns:
    """The values of one or more columns of any table.

    Args:
        names: The columns. Several columns make one item of their values in the same row.
        items_per_user: How many different values of one user are counted at most.
        by: As for `queries`.
        bands: Public limits that divide the numbers of a column into ranges, each of which is one
            value: `{"price": [5, 10, 20]}`.
    """
    return AnyColumns(items_per_user=items_per_user, by=by, names=names, bands=bands_text(bands))


def itemsets(
    *names: str,
    max_size: int,
    items_per_user: int,
    basket: str | None = None,
    bands: Bands | None = None,
) -> list[Kind]:
    """Sets of things that people have together, in one basket or at any time.

    Returns a list with one kind for each size, from single things on. All of them must be
    published, in this order.

    Args:
        names: The columns that hold things, such as a product or three diagnoses. `product+price`
            makes one thing of the values of both columns.
        max_size: The most things in a set.
        items_per_user: How many things of one user are counted at most, with all sets that these
            make: 5 things make 10 pairs and 10 triples.
        basket: The column that says which things are together, such as an invoice. Without it, all
            things of a user are together.
        bands: As for `columns`.
    """
    how = {"max_size": max_size, "things": items_per_user}
    return Itemsets.all_sizes(names, **how, basket=basket, bands=bands_text(bands))


def sequences(
    *names: str,
    max_size: int,
    items_per_user: int,
    basket: str | None = None,
    bands: Bands | None = None,
) -> list[Kind]:
    """Sequences of things that follow each other, in the order of time or of baskets.

    The arguments and what is returned are as for `itemsets`.
    """
    how = {"max_size": max_size, "things": items_per_user}
    return Sequences.all_sizes(names, **how, basket=basket, bands=bands_text(bands))


def tail(items_per_user: int) -> list[Kind]:
    """Facts about rare queries, which are not published themselves.

    Returns a list of kinds to publish after `queries` and `keywords`: phrases of rare queries that
    consist of published words, the words that rare queries begin with, and facts about one rare
    query of each user, such as its length and script. A log without times has no `hours`: leave
    that kind out. These kinds share the budget with all others, by `split` or their own weights.
    `tail` of a plan gives them an epsilon of their own.

    Args:
        items_per_user: How many phrases of each length are counted at most for one user.
    """
    return [
        *(Ngrams(size=size, items_per_user=items_per_user) for size in range(2, LONGEST + 1)),
        *(Prefixes(size=size, items_per_user=items_per_user) for size in range(1, LONGEST + 1)),
        *(fact(items_per_user=1) for fact in (Lengths, Questions, Scripts, Hours, WithKeywords)),
    ]


def tail_of(kinds: Sequence[Kind], roles: Collection[str] | None) -> list[Kind]:
    """The kinds of `tail` for a release of these kinds and a log of such columns.

    Raises:
        UsageError: Queries or keywords are not among them.
    """
    most = {kind.name(): kind.items_per_user for kind in kinds}
    if not {Queries.label, Keywords.label} <= set(most):
        raise UsageError("--tail needs queries and keywords among the --items")
    has_time = roles is None or "time" in roles
    return [
        kind for kind in tail(most[Keywords.label]) if has_time or "time" not in kind.required_roles
    ]


def list_kinds(given: Kinds) -> list[Kind]:
    """The kinds that somebody names: one by itself, or several.

    >>> sets = itemsets("x", max_size=2, items_per_user=3)
    >>> [kind.name() for kind in list_kinds([queries(2), sets])]
    ['queries', 'people', 'things:x', 'itemsets-1:x', 'itemsets-2:x']
    """
    if isinstance(given, Kind):
        return [given]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError("a kind of items is a value such as z.queries(5), or a list of them")
    return [kind for each in given for kind in list_kinds(each)]


def possible_kinds(kinds: Iterable[Kind], roles: Collection[str]) -> list[Kind]:
    """Those of the kinds that a log's columns allow."""
    allowed = []
    for kind in kinds:
        with suppress(UsageError):
            kind.check(roles)
            allowed.append(kind)
    return allowed


def kind_by_name(
    name: str,
    items_per_user: int,
    settings: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
) -> Kind:
    """The kind that is called so in a release; settings that it does not have are ignored.

    Args:
        name: Its name.
        items_per_user: m.
        settings: What else defines an item.
        columns: The columns of an item, where they are known.
    """
    found = (
        each.from_name(name, items_per_user, settings or {}, columns) for each in KINDS.values()
    )
    return _only_answer(name, [kind for kind in found if kind is not None])


def parse_kinds(text: str, items_per_user: int, **settings: Any) -> list[Kind]:
    """The kinds that `--items TEXT` asks for, in the order in which they must be published."""
    found = (each.parse_kinds(text, items_per_user, settings) for each in KINDS.values())
    return _only_answer(text, [kinds for kinds in found if kinds])


def _only_answer(text: str, answers: list[T]) -> T:
    """The one answer to a name: no kind may take the place of another."""
    if not answers:
        raise _unknown_kind(text)
    if len(answers) > 1:
        raise UsageError(
            f"several kinds of items answer to {text!r}: remove the package that adds one of them"
        )
    return answers[0]


def default_items_per_user(text: str, unit: Unit = "user") -> int:
    """How many items of a unit count, where nobody says otherwise, by what `--items` asks for.

    >>> default_items_per_user("queries"), default_items_per_user("itemsets:product")
    (2, 4)
    >>> default_items_per_user("queries", unit="query")
    1
    """
    found = {each.label: each for each in KINDS.values() if each.usage}.get(text.partition(":")[0])
    if found is None:
        raise _unknown_kind(text)
    return min(found.default_items_per_user, found.in_weak_units.get(unit) or sys.maxsize)


def _unknown_kind(text: str) -> UsageError:
    known = [each for each in KINDS.values() if each.usage]
    *most, last = (each.usage.format(label=each.label) for each in known)
    near = did_you_mean(text.partition(":")[0], [each.label for each in known])
    return UsageError(f"--items takes {', '.join(most)} and {last}{near}")
