"""Counts of everything in a public list: no threshold, and no delta.

Guarantee:
    Every item of a public list gets its own noise and is published, also if nobody has it. Nothing
    else of the log leaves. epsilon covers the noise of all counts that one user moves.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.counting.restriction import InTable
from zealous.errors import ReleaseError, UsageError
from zealous.mechanisms.descriptions import INTEGERS, Description, EveryItem
from zealous.mechanisms.known_list import ItemTable, with_noise_on_each
from zealous.mechanisms.over_known_list import KnownListMechanism
from zealous.mechanisms.protocol import Count, register
from zealous.mechanisms.public_files import PublicInput
from zealous.noise import RandomBytes
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa


@register
@dataclass(frozen=True, kw_only=True)
class Domain(KnownListMechanism):
    """Every item of a public list with a noisy count, those that nobody has too.

    What is not in the list is dropped before each user keeps some of her items, so that none of
    them takes the place of one that counts. Counts may come out negative.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise.
        domain: The list; a column `count` is ignored. None until `with_inputs` gives it.

    Guarantee:
        epsilon-differential privacy with delta = 0, which is both definitions at once, for every
        number of users and whether or not the key is known, if scale >= M/epsilon. The list must
        be public or released: one made from the log voids it.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> goal = Indistinguishability(epsilon=1, delta=0, neighbors="add-remove")
    >>> Domain.calibrate(goal, 5)
    Domain(items_per_user=5, scale=Fraction(5, 1))
    """

    domain: pa.Table | None = field(default=None, compare=False, repr=False)

    name: ClassVar[str] = "domain"
    proof_page: ClassVar[str] = "docs/proofs/domain.md"
    public_input: ClassVar[PublicInput | None] = PublicInput(
        name="domain",
        help="A public list of the items: all of them are published, and no others. "
        "KIND=FILE if there are several kinds.",
    )
    description: ClassVar[Description] = EveryItem(
        how="Public domain: count the units that hold each item of a public list, "
        f"{INTEGERS}publish all of them.",
        looked_at="items of a public list",
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Always: it needs a public list, and where one is given nothing does better."""
        return "with a public list of the items no threshold is needed, and no delta"

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same with its list."""
        return self if item_list is None else replace(self, domain=item_list)

    def decides_who_kept_what(self) -> bool:
        """What users kept was chosen among the items of a public list, not by what is published."""
        return False

    def publication_probability(self, count: int) -> float:
        """The chance that an item of the list is published: all of them are."""
        return 1.0

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        del lowest, candidates  # nothing is left out for its count
        return Interval(
            error=self.noise_quantile(confidence),
            missed=1 - confidence,
            chance=lambda count, t: self.noise_above(t - count),
        )

    def expected_unique_items(self, users: int) -> float:
        """No item is published because somebody has it: all that is shown was public before."""
        return 0.0

    def threshold_text(self) -> str:
        """What an item must pass."""
        return "none: every item of the list is published"

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: every item of the list once, in its order, with its noisy count."""
        if self.domain is None:
            raise UsageError(f"the {self.name} mechanism needs its list: see with_inputs")
        listed = ItemTable.of(self.domain)
        counted = count(bound=self.items_per_user, at_least=1, only=[InTable(listed.table)])
        noise = self.noise_sampler()
        return with_noise_on_each(listed, counted, noise, random_bytes)

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Every item of the list is there, and no other. A public list is not in the release."""
        if self.domain is None:
            return
        names = [name for name in self.domain.column_names if name != "count"]
        items = self.domain.group_by(names).aggregate([])
        if rows.join(items, names, join_type="left anti").num_rows:
            raise ReleaseError("there are rows that are none of all that there can be")
        if whole and rows.num_rows < items.num_rows:
            raise ReleaseError("rows are missing: all that there can be is published")
