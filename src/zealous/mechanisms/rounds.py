"""Keys first, in rounds of weights; then honest counts of the keys, out of the same budget.

Guarantee:
    The weight of every item gets noise before it steers or decides anything, and an item that
    nobody gave never becomes a key. Counts get noise of their own, over keys that are known by
    then.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.engines.engine import Counted, Each, Stored
from zealous.errors import UsageError
from zealous.libraries import np, pa, pc
from zealous.mechanisms.descriptions import INTEGERS, Description, FoundKeys
from zealous.mechanisms.key_counts import CountedKeys
from zealous.mechanisms.laws import Noise
from zealous.mechanisms.protocol import Count, register
from zealous.mechanisms.thresholds import select_rows, with_noise
from zealous.noise import DiscreteGaussian, RandomBytes
from zealous.privacy.accounting.rounds import (
    Round,
    Shape,
    calibrate_rounds,
    exposure,
    rounds_delta,
    rounds_loss,
    weight,
)
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    exact_fraction,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from zealous.record.record import PartRecord


def method_text(title: str) -> str:
    """How keys are found in rounds, for a registry."""
    return (
        f"{title}: each unit spreads a weight of length 1000 over the items it gives, {INTEGERS}"
        "items whose noisy weight passes are keys; then count the units that hold each key, add "
        "noise, publish all keys."
    )


@register
@dataclass(frozen=True, kw_only=True)
class Rounds(CountedKeys):
    """Rounds that find keys, each steered by the last, and counts of the keys.

    In a round every user gives at most so many of her items that are no keys yet, each at a weight
    of 1000/sqrt(d) where she gives d. Items whose noisy weight passes a threshold become keys. In
    the next round she gives those of her other items whose noisy weight was largest.

    Attributes:
        rounds: The rounds.

    Guarantee:
        With parameters from `calibrate` the keys and their counts together are
        (epsilon, delta)-indistinguishable. An item that nobody gives is never published. Noisy
        weights are not published either, but those of *all* items get noise before they steer
        anything, also those that nobody gave.

    Raises:
        UsageError: The noise cannot be drawn.
    """

    rounds: tuple[Round, ...]

    name: ClassVar[str] = "rounds"
    proof_page: ClassVar[str] = "docs/proofs/rounds.md"
    description: ClassVar[Description] = FoundKeys(how=method_text("Steered rounds"))
    steered: ClassVar[bool] = True
    shape: ClassVar[Shape] = Shape(
        bounds=(100, 6, 2),
        shares=(Fraction(20, 100), Fraction(25, 100), Fraction(35, 100)),
        exposed=(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
        noise_share=Fraction(1, 2),
    )

    def __post_init__(self) -> None:
        """Refuse noise that cannot be drawn."""
        super().__post_init__()
        if not self.rounds:
            raise UsageError(f"{self.name} needs a round")

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The parameters that a guarantee leaves room for, by shares that are always the same.

        >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
        >>> found = Rounds.calibrate(goal, 5)
        >>> [(each.bound, each.scale, each.threshold) for each in found.rounds]
        [(100, 9761, 57829), (6, 8731, 47840), (2, 7379, 39322)]
        >>> round(float(found.scale), 2), found.delta(goal) <= goal.delta
        (21.83, True)
        """
        rounds, scale = calibrate_rounds(goal, items_per_user, cls.shape)
        return cls(items_per_user=items_per_user, scale=scale, rounds=rounds)

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it."""
        rounds = tuple(
            Round(bound=each.items_per_user, scale=each.scale, threshold=each.threshold)
            for each in part.rounds or ()
        )
        return cls(
            items_per_user=part.items_per_user,
            scale=exact_fraction(part.exact.scale, "scale"),
            rounds=rounds,
        )

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        return rounds_delta(self.rounds, self.scale, self.items_per_user, goal)

    def loss(self, neighbors: Neighbors) -> Loss:
        """Rounds and counts move by their lengths; what is exposed, they may steer."""
        return rounds_loss(self.rounds, self.scale, self.items_per_user, neighbors)

    def publication_probability(self, count: int) -> float:
        """About the chance that an item of this many users is published.

        Taken for the last round alone, with users who all give it among as many items as they may:
        then each counts for 1000/sqrt(d). Users with fewer items count for more, users who give
        others instead for nothing, and an earlier round may have found it.
        """
        last = self.rounds[-1]
        if count < self.tau:
            return 0.0
        short = last.threshold + 0.5 - count * weight(last.bound)
        return math.erfc(short / (last.scale * math.sqrt(2))) / 2

    def expected_unique_items_per_user(self) -> float:
        """Of one user's items that nobody else has, at most so many are published on average."""
        return float(sum(map(exposure, self.rounds)))

    def threshold_text(self) -> str:
        """What an item must pass: its weight in one of the rounds, where a user gives 1000."""
        passed = ", ".join(str(each.threshold) for each in self.rounds)
        return f"a noisy weight above {passed}"

    def parameters(self) -> dict[str, Any]:
        """The rounds."""
        return {
            "rounds": [
                {
                    "items_per_user": each.bound,
                    "scale": each.scale,
                    "threshold": each.threshold,
                }
                for each in self.rounds
            ]
        }

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: every key with its noisy count, in no particular order."""
        keys: pa.Table | None = None
        noisy_weights: Stored | pa.Table | None = None
        for number, each in enumerate(self.rounds, 1):
            steers = self.steered and number < len(self.rounds)
            weighed = count(
                bound=each.bound,
                at_least=0 if steers else 1,  # also those that nobody gave may steer
                weights=each.weights(),
                without=keys,
                steered_by=[] if noisy_weights is None else [noisy_weights],
            )
            draw = partial(_noisy_rows, each, steers, random_bytes)
            if steers:
                noisy_weights = store_weights(weighed, draw)
                keys = add_keys(keys, rows_above(noisy_weights, each.threshold))
            else:
                keys = add_keys(keys, _draw_batches(weighed, draw))
        if keys is None:
            return []
        return self.count_keys(keys, count, random_bytes)


@register
class SetUnion(Rounds):
    """One round, by chance: the weighted Gaussian set union; and counts of its keys."""

    name: ClassVar[str] = "set-union"
    description: ClassVar[Description] = FoundKeys(how=method_text("Weighted set union"))
    steered: ClassVar[bool] = False
    shape: ClassVar[Shape] = Shape(
        bounds=(None,),
        shares=(Fraction(7, 10),),
        exposed=(Fraction(1),),
        noise_share=Fraction(6, 10),
    )


@register
class Sips(Rounds):
    """Three rounds by chance, in the shares of DP-SIPS; and counts of their keys."""

    name: ClassVar[str] = "sips"
    description: ClassVar[Description] = FoundKeys(how=method_text("Iterated set union (DP-SIPS)"))
    steered: ClassVar[bool] = False
    shape: ClassVar[Shape] = Shape(
        bounds=(None, None, None),
        shares=tuple(Fraction(7, 10) * Fraction(part, 1000) for part in (65, 216, 719)),
        exposed=tuple(Fraction(part, 1000) for part in (65, 216, 719)),
        noise_share=Fraction(6, 10),
    )


def _noisy_rows(
    each: Round, steers: bool, random_bytes: RandomBytes, batch: pa.RecordBatch
) -> pa.RecordBatch:
    """Of some weighed items the keys; or all of them with their noise, where it is to steer.

    An item that nobody gave may steer as any other, but never passes: that it is in the log at all
    is a secret of those who have it. Its noise is drawn again until it does not.
    """
    noise = DiscreteGaussian(scale=Fraction(each.scale))
    noisy = with_noise(batch, noise, random_bytes)
    if not steers:
        return select_rows(batch, noisy, noisy > each.threshold)
    must_not_pass = np.from_dlpack(batch["count"]) == 0
    noisy = redraw_passing(noisy, must_not_pass, each.threshold, noise, random_bytes)
    return select_rows(batch, noisy, np.ones(batch.num_rows, np.bool_))


def redraw_passing(
    noisy: npt.NDArray[np.int64],
    must_not_pass: npt.NDArray[np.bool_],
    threshold: int,
    noise: Noise,
    random_bytes: RandomBytes,
) -> npt.NDArray[np.int64]:
    """Noisy weights; the noise on what nobody gave is drawn again until it is not above."""
    while (over := np.flatnonzero(must_not_pass & (noisy > threshold))).size:
        noisy[over] = noise.sample(over.size, random_bytes)
    return noisy


def _draw_batches(counted: Iterable[pa.RecordBatch], draw: Each) -> Iterable[pa.RecordBatch]:
    """What is counted as `draw` leaves it, which runs where it is counted if that can be."""
    return counted.map_batches(draw) if isinstance(counted, Counted) else map(draw, counted)


def store_weights(weighed: Iterable[pa.RecordBatch], draw: Each) -> Stored | pa.Table | None:
    """Noisy weights, drawn once, where they were weighed if that can be."""
    if isinstance(weighed, Counted):
        return weighed.store(draw)
    batches = [draw(batch) for batch in weighed]
    return pa.Table.from_batches(batches) if batches else None


def rows_above(noisy_weights: Stored | pa.Table | None, threshold: int) -> Iterable[pa.RecordBatch]:
    """The rows of noisy weights that pass."""
    if noisy_weights is None:
        return []
    if isinstance(noisy_weights, pa.Table):
        return list(
            noisy_weights.filter(pc.greater(noisy_weights["count"], threshold)).to_batches()
        )
    return noisy_weights.rows_above(threshold)


def add_keys(keys: pa.Table | None, found: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """The keys so far and those of one more round, without their weights; None for none."""
    batches = [batch for batch in found if batch.num_rows]
    if not batches:
        return keys
    more = pa.Table.from_batches(batches).drop_columns(["count"])
    return more if keys is None else pa.concat_tables([keys, more])
