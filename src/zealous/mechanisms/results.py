"""Clicks on the documents that a search is publicly known to show.

Guarantee:
    Only listed documents of published queries are counted, and all of those are published: the list
    is public, and which of its queries matter was published before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, Queries, QueryClicks
from zealous.libraries import np, pa
from zealous.mechanisms.descriptions import INTEGERS, Description, EveryItem
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.known_list import ItemTable
from zealous.mechanisms.protocol import PublicInput, register
from zealous.privacy.guarantee import Guarantee


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
    public_input: ClassVar[PublicInput | None] = "results"
    requires_kind: ClassVar[str | None] = Queries.label
    description: ClassVar[Description] = EveryItem(
        how="Public results: count the units that clicked each document of a public list, for "
        f"published queries, {INTEGERS}publish all of them.",
        looked_at="clicks on the documents that a public list has for published queries",
        nothing="the public list has no document for a published query.",
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Always, where a public list of documents is given."""
        del goal, items_per_user
        return "clicks are counted over a public list of documents, without a delta"

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Clicks for queries, after queries that they can be told by."""
        if not isinstance(kind, QueryClicks):
            raise UsageError("results are for query-clicks")
        if set(before[Queries.label].columns()) - set(kind.columns()):
            raise UsageError("results need queries without --by, or by what query-clicks are by")

    def with_inputs(
        self,
        item_list: pa.Table | None = None,
        released: Mapping[str, pa.Table] | None = None,
    ) -> Self:
        """The same with the documents of the published queries alone."""
        if item_list is None:
            return self
        if released is None or Queries.label not in released:
            raise UsageError("the results mechanism needs the queries that were published before")
        asked = ItemTable.of(released[Queries.label]).places(item_list) >= 0
        return replace(self, domain=item_list.take(np.flatnonzero(asked)))

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Clicks are for published queries; the list of documents is not in the release."""
        del whole
        if first is None:
            raise ReleaseError("the queries that it follows are not there")
        if (ItemTable.of(first).places(rows) < 0).any():
            raise ReleaseError("there are clicks for queries that are not published")
