"""Keys in rounds, helped by what is publicly known to be frequent.

Guarantee:
    Every item of the public list gets noise in every round, whether or not somebody has it; of all
    other items one that nobody gave never passes. Delta covers the unlisted items of one user.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.engines.engine import Stored
from zealous.errors import UsageError
from zealous.libraries import np, pa
from zealous.mechanisms.descriptions import Description, FoundKeys
from zealous.mechanisms.known_list import ItemTable, above_by_noise_alone
from zealous.mechanisms.protocol import Count, PublicInput, register
from zealous.mechanisms.rounds import (
    Rounds,
    add_keys,
    method_text,
    redraw_passing,
    rows_above,
    store_weights,
)
from zealous.mechanisms.thresholds import select_rows, with_noise
from zealous.noise import DiscreteGaussian, RandomBytes
from zealous.privacy.accounting.rounds import Round
from zealous.privacy.guarantee import Guarantee, Indistinguishability

if TYPE_CHECKING:
    import numpy.typing as npt


DEVIATIONS = 3  # of its noise that the weight of a listed item must be above


@register
@dataclass(frozen=True, kw_only=True)
class Prior(Rounds):
    """Rounds in which a public list says what is worth giving, and what needs no hiding.

    In each round a user gives first those of her items that stand highest in the list, then those
    whose noisy weight was largest. That an item is on the list is known, so it becomes a key where
    its noisy weight is above three standard deviations of the noise, at no delta: noise goes on the
    weight of *every* item of the list, also where nobody has it. About one listed item in 740 that
    nobody gives becomes a key in a round, with a count of about zero.

    The list favours what is listed, so the counts are bought afterwards, over all keys alike.

    Attributes:
        prior: The list: (item..., count). None until `with_inputs` gives it.

    Guarantee:
        That of `Rounds`: of what passes by noise alone, only unlisted items need delta.
    """

    prior: pa.Table | None = field(default=None, compare=False, repr=False)

    name: ClassVar[str] = "prior"
    public_input: ClassVar[PublicInput | None] = "prior"
    description: ClassVar[Description] = FoundKeys(
        how=method_text("Rounds steered by a public prior")
    )

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """With a prior, under indistinguishability."""
        del items_per_user
        if not isinstance(goal, Indistinguishability):
            return None
        return "what is known to be frequent steers which of their items people give"

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same with its list."""
        del first
        return self if item_list is None else replace(self, prior=item_list)

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: every key with its noisy count, in no particular order."""
        if self.prior is None:
            raise UsageError("the prior mechanism needs its list: see with_inputs")
        left = ItemTable.of(self.prior)  # of the list: those that are no keys yet
        keys: pa.Table | None = None
        weights: Stored | pa.Table | None = None
        for each in self.rounds:
            weighed = count(
                bound=each.bound,
                at_least=0,  # also those that nobody gave may steer
                weights=each.weights(),
                without=keys,
                steered_by=[self.prior, *([] if weights is None else [weights])],
            )
            weights = store_weights(weighed, partial(_noisy_rows, each, left, random_bytes))
            found = _keys_in_log(each, weights, left)
            found += [
                batch.cast(self._counted_schema(batch))
                for batch in _keys_by_noise_alone(each, weights, left, random_bytes)
            ]
            keys = add_keys(keys, found)
            left = left.without(keys)
        return [] if keys is None else self.count_keys(keys, count, random_bytes)

    def _counted_schema(self, batch: pa.RecordBatch) -> pa.Schema:
        """Items are of the list's types, which are those that are counted: texts, or codes."""
        assert self.prior is not None  # noqa: S101 - it was looked at
        types = {field.name: field.type for field in self.prior.schema if field.name != "count"}
        return pa.schema([(name, types.get(name, pa.int64())) for name in batch.schema.names])


def _noisy_rows(
    each: Round, listed: ItemTable, random_bytes: RandomBytes, batch: pa.RecordBatch
) -> pa.RecordBatch:
    """Weights with their noise. Only what is neither listed nor given may not pass."""
    noise = DiscreteGaussian(scale=Fraction(each.scale))
    noisy = with_noise(batch, noise, random_bytes)
    must_not_pass = (np.from_dlpack(batch["count"]) == 0) & ~_is_listed(batch, listed)
    noisy = redraw_passing(noisy, must_not_pass, each.threshold, noise, random_bytes)
    return select_rows(batch, noisy, np.ones(batch.num_rows, np.bool_))


def _listed_threshold(each: Round) -> int:
    """What the noisy weight of a listed item must be above: never more than that of others."""
    return min(DEVIATIONS * each.scale, each.threshold)


def _keys_in_log(
    each: Round, weights: Stored | pa.Table | None, listed: ItemTable
) -> list[pa.RecordBatch]:
    """Of what the log holds, the keys: for what is listed less is enough."""
    found = []
    for batch in rows_above(weights, _listed_threshold(each)):
        noisy = np.asarray(np.from_dlpack(batch["count"]), np.int64)
        found.append(
            select_rows(batch, noisy, _is_listed(batch, listed) | (noisy > each.threshold))
        )
    return found


def _keys_by_noise_alone(
    each: Round, weights: Stored | pa.Table | None, listed: ItemTable, random_bytes: RandomBytes
) -> list[pa.RecordBatch]:
    """Of the listed items that nobody in the log has, those whose noise alone is enough.

    Noise is drawn for all of the list, and forgotten for what the log holds, which has its own.
    """
    noise = DiscreteGaussian(scale=Fraction(each.scale))
    lucky = above_by_noise_alone(listed, noise, _listed_threshold(each), random_bytes)
    if not lucky.num_rows:
        return []
    found = ItemTable(pa.Table.from_batches([lucky]))
    rows = list(weights.matching(found.table)) if isinstance(weights, Stored) else []
    if isinstance(weights, pa.Table):
        rows = weights.to_batches()
    unheld = found.without(pa.Table.from_batches(rows) if rows else None).table
    zeros = pa.array([0] * unheld.num_rows, pa.int64())
    return list(unheld.append_column("count", zeros).to_batches())


def _is_listed(batch: pa.RecordBatch, listed: ItemTable) -> npt.NDArray[np.bool_]:
    """Which rows of a batch are on a list."""
    return listed.places(pa.Table.from_batches([batch])) >= 0
