"""Clicks on the documents that a search is publicly known to show.

Guarantee:
    Only listed documents of published queries are counted, and all of those are published: the list
    is public, and which of its queries matter was published before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from zealous.engines.sql import comma_separated, identifier
from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, Queries, QueryClicks
from zealous.items.lists import read_listing
from zealous.libraries import np, pa
from zealous.mechanisms.descriptions import INTEGERS, Description, EveryItem
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.known_list import ItemTable
from zealous.mechanisms.protocol import register
from zealous.mechanisms.public_files import PublicInput, PublicTable, make_table
from zealous.privacy.guarantee import Guarantee

MOST_RESULTS = 100  # documents of one query


def read_results(path: str | Path, kind: Kind, *, roles: Collection[str] = ()) -> PublicTable:
    """The documents that a search shows: query, url, and perhaps rank.

    Of each query the first 100 are kept, by rank, or in the file's order where it has none.
    """
    given = read_listing(path, kind, ("rank",))
    item = comma_separated(map(identifier, kind.columns()))
    query = comma_separated(identifier(name) for name in kind.columns() if name != "url")
    order = '"order:best" desc nulls last, "order:row"'
    place = f"row_number() over (partition by {query} order by {order})"
    sql = f"select {item} from best qualify {place} <= {MOST_RESULTS} order by {query}, {order}"
    return make_table(given, kind, roles, sql, sign="-")


@register
@dataclass(frozen=True, kw_only=True)
class Results(Domain):
    """Every listed document of every published query, with a noisy count of those who clicked it.

    The list must be public, and which of its queries matter is known from what was published of
    the same log before. So these are counts over a known list: no threshold, and no delta.

    Guarantee:
        epsilon-differential privacy given the published queries, if scale >= M/epsilon with at
        most m (query, document) pairs of each user. With queries at (epsilon', delta') both
        together are (epsilon' + epsilon, delta')-indistinguishable.
    """

    name: ClassVar[str] = "results"
    proof_page: ClassVar[str] = "docs/proofs/clicks.md"
    public_input: ClassVar[PublicInput | None] = PublicInput(
        name="results",
        help="A public list of query, url and perhaps rank: clicks on these documents of "
        "published queries are published, for queries,query-clicks.",
        read=read_results,
    )
    description: ClassVar[Description] = EveryItem(
        how="Public results: count the units that clicked each document of a public list, for "
        f"published queries, {INTEGERS}publish all of them.",
        looked_at="clicks on the documents that a public list has for published queries",
        nothing="the public list has no document for a published query.",
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Always, where a public list of documents is given."""
        return "clicks are counted over a public list of documents, without a delta"

    @classmethod
    def required_kind(cls, kind: Kind) -> str | None:
        """Which queries matter is known from their table."""
        return Queries.label

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Clicks for queries, after queries whose columns they have."""
        if not isinstance(kind, QueryClicks):
            raise UsageError("results are for query-clicks")
        super().check_kinds(kind, before)
        if set(before[Queries.label].columns()) - set(kind.columns()):
            raise UsageError("results need queries without --by, or by what query-clicks are by")

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same with the documents of the published queries alone."""
        if item_list is None:
            return self
        if first is None:
            raise UsageError("the results mechanism needs the queries that were published before")
        asked = ItemTable.of(first).places(item_list) >= 0
        return replace(self, domain=item_list.take(np.flatnonzero(asked)))

    def decides_who_kept_what(self) -> bool:
        """Users kept some of what the published queries leave of the list."""
        return True

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Clicks are for published queries; the list of documents is not in the release."""
        if first is None:
            raise ReleaseError("the queries that it follows are not there")
        if (ItemTable.of(first).places(rows) < 0).any():
            raise ReleaseError("there are clicks for queries that are not published")
