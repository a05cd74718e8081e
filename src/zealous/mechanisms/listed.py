"""Counts of all possible items: no threshold, and no delta.

Guarantee:
    The list follows from a public rule or from what was published before; every item of it gets its
    own noise and is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zealous.mechanisms.descriptions import INTEGERS, Description, EveryPossibleItem
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.protocol import register
from zealous.mechanisms.public_files import PublicInput
from zealous.privacy.guarantee import Guarantee


@register
@dataclass(frozen=True, kw_only=True)
class Listed(Domain):
    """Every possible item with a noisy count, also those that nobody has.

    As `Domain`, over a list that nobody has to give: it follows from a public rule (the hours of a
    day), or from what was published of the same log before.

    Guarantee:
        epsilon-differential privacy given what was published before, if scale >= M/epsilon.
    """

    name: ClassVar[str] = "listed"
    family: ClassVar[str | None] = "listed"
    proof_page: ClassVar[str] = "docs/proofs/sets.md"
    public_input: ClassVar[PublicInput | None] = None
    description: ClassVar[Description] = EveryPossibleItem(
        how="Known list: count the units that hold each item of a list that follows from a public "
        f"rule or from what was published before, {INTEGERS}publish all of them.",
        looked_at="items of {origin}",
        of="a known list",
        nothing="it has the items of {origin}, which is empty too.",
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Always: it serves only kinds of which all possible items are known."""
        return "all there can be is known, so no threshold is needed, and no delta"

    def decides_who_kept_what(self) -> bool:
        """The list may follow from what was published before."""
        return True
