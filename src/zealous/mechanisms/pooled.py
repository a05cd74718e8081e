"""Keys first, in many small rounds whose evidence is pooled; then counts of the keys.

Why this is private: in each round one person adds a vector of weights whose Euclidean length is at
most 1000, and Gaussian noise hides a vector of that length. What noise cannot hide is an item that
she alone keeps. There are at most D of them, fixed before the first round, and however she spreads
her weight, their pooled weight is bounded; delta bounds the chance that one of them passes.

Guarantee:
    Every weight that is used got noise first, once. What users give in a round follows from their
    own items and from noisy weights alone. An item that nobody keeps never becomes a key, unless
    it is on a public list (mechanisms/prior.py).
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from msgspec import ValidationError, convert

from zealous.counting.kept import STRENGTH
from zealous.engines.engine import Each
from zealous.errors import UsageError
from zealous.libraries import np, pa
from zealous.mechanisms.descriptions import INTEGERS, Description, cost_text, too_rare
from zealous.mechanisms.key_counts import CountedKeys
from zealous.mechanisms.protocol import Count, CountsKept, register
from zealous.noise import DiscreteGaussian, RandomBytes
from zealous.privacy.accounting.keys import WEIGHT
from zealous.privacy.accounting.pooled import (
    MOST_KEPT,
    MOST_ROUNDS,
    PERCENT,
    PooledRound,
    PooledShape,
    calibrate_pooled,
    evidence_variance,
    pooled_delta,
    pooled_exposure,
    pooled_loss,
)
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    exact_fraction,
    positive_integer,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from zealous.record.record import PartRecord

_STEPS = 64  # to a deviation of the evidence's noise: within a step all evidence steers alike
_LOWEST = -10  # deviations: less evidence than that steers as that does
_WEAKEST = 32  # the least strength of what is no key: rounding changes a root by 3 % at most
_FORECAST = 2  # a forecast takes it that each user gives an item 1/2 of her weight
R = TypeVar("R", bound="RecordedRounds")


@dataclass(frozen=True, kw_only=True)
class RecordedRound:
    """A round as release.json has it, which calls the multiplier `part`."""

    scale: int
    part: int
    threshold: int
    steepness: int
    cap: int

    @classmethod
    def of(cls, made: PooledRound) -> Self:
        """That of a round."""
        said = asdict(made)
        return cls(part=said.pop("multiplier"), **said)

    def pooled_round(self) -> PooledRound:
        """The round."""
        said = asdict(self)
        return PooledRound(multiplier=said.pop("part"), **said)


@dataclass(frozen=True, kw_only=True)
class RecordedRounds:
    """What release.json has under `parameters`."""

    kept_items_per_user: int
    rounds: tuple[RecordedRound, ...]


def recorded_parameters(part: PartRecord, kind: type[R]) -> R:
    """What a record says of pooled rounds.

    Raises:
        UsageError: It lacks something of it.
    """
    try:
        return convert(part.parameters, kind)
    except ValidationError:
        raise UsageError(
            f"{part.mechanism} needs {', '.join(each.name for each in fields(kind))}"
        ) from None


@dataclass(frozen=True, kw_only=True)
class PooledKeys(Description):
    """Of a table of keys that rounds found together, and that were counted then."""

    def threshold(self, part: PartRecord) -> str:
        """The evidence."""
        return "evidence of all rounds so far"

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """The rounds, and who appears."""
        appear, said = part.forecast.users_to_appear, recorded_parameters(part, RecordedRounds)
        return [
            f"- The items were selected first, in {len(said.rounds)} rounds in which {each} gave "
            f"weight to at most {said.kept_items_per_user} items, the same in every round, and "
            "then counted with separate noise. So a count does not show whether an item was nearly "
            "left out, and can be below zero.",
            f"- An item of {appear.low} / {appear.half} / {appear.high} {units} is published with "
            f"probability 5 / 50 / 95 %, if {units} that hold it give it half of their weight.",
            f"- {cost_text(part)} Noise on weights: of scale {said.rounds[0].scale:,}. "
            "The thresholds stand in release.json.",
        ]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """Nothing was frequent enough."""
        return too_rare(part, units)


@register
@dataclass(frozen=True, kw_only=True)
class Pooled(CountedKeys):
    """Rounds that find keys by all their evidence together, and counts of the keys.

    Each user keeps a set of her items, the same in all rounds. In a round she spreads a weight over
    those that are no keys yet, a vector of Euclidean length 1000 at most: at first evenly, then
    more to items of more evidence. An item's evidence is the sum of its noisy weights so far, each
    times the multiplier of its round. Items whose evidence passes a threshold become keys.

    Attributes:
        kept_items_per_user: D: the most items that each user keeps.
        rounds: The rounds.

    Guarantee:
        With parameters from `calibrate` the keys and their counts together are
        (epsilon, delta)-indistinguishable. An item that nobody keeps is never published. A noisy
        weight is drawn once: what makes keys and what steers are the same draw.

    Raises:
        UsageError: The noise cannot be drawn.
    """

    kept_items_per_user: int
    rounds: tuple[PooledRound, ...]

    name: ClassVar[str] = "pooled"
    proof_page: ClassVar[str] = "docs/proofs/pooled.md"
    description: ClassVar[Description] = PooledKeys(
        how="Pooled rounds: each unit spreads a weight of length 1000 over the items it keeps, in "
        f"several rounds, more on what earlier rounds saw, {INTEGERS}items whose noisy weights "
        "together pass are keys; then count the units that hold each key, add noise, publish all "
        "keys."
    )
    shape: ClassVar[PooledShape] = PooledShape(
        rounds=8,
        kept_per_counted=8,
        share=Fraction(4, 5),
        noise_share=Fraction(3, 5),
        growth=Fraction(12, 5),
    )

    def __post_init__(self) -> None:
        """Refuse noise that cannot be drawn, and sums that are too large."""
        super().__post_init__()
        if positive_integer(self.kept_items_per_user, "kept_items_per_user") > MOST_KEPT:
            raise UsageError(f"kept_items_per_user may not exceed {MOST_KEPT}")
        if not 1 <= len(self.rounds) <= MOST_ROUNDS:
            raise UsageError(f"{self.name} needs 1 to {MOST_ROUNDS} rounds")

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """For several items of each user, under indistinguishability."""
        if not isinstance(goal, Indistinguishability) or items_per_user == 1:
            return None
        return "rounds whose evidence is pooled find the most items; their counts come after"

    @classmethod
    def calibrate(
        cls, goal: Guarantee, items_per_user: int, *, kept_items_per_user: int | None = None
    ) -> Self:
        """The parameters that a guarantee leaves room for, by shares that are always the same.

        Args:
            goal: The guarantee.
            items_per_user: m.
            kept_items_per_user: D, where more is known of how many items users have than m tells.

        >>> goal = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
        >>> found = Pooled.calibrate(goal, 5)
        >>> found.kept_items_per_user, len(found.rounds), found.rounds[-1].threshold
        (40, 8, 16533497)
        >>> round(float(found.scale), 2), found.delta(goal) <= goal.delta
        (21.64, True)
        """
        rounds, scale, kept = calibrate_pooled(goal, items_per_user, cls.shape, kept_items_per_user)
        return cls(
            items_per_user=items_per_user, scale=scale, kept_items_per_user=kept, rounds=rounds
        )

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it."""
        said = recorded_parameters(part, RecordedRounds)
        return cls(
            items_per_user=part.items_per_user,
            scale=exact_fraction(part.exact.scale, "scale"),
            kept_items_per_user=said.kept_items_per_user,
            rounds=tuple(each.pooled_round() for each in said.rounds),
        )

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta of the theorem; 1 for the probabilistic guarantee, which this cannot give."""
        if not isinstance(goal, Indistinguishability):
            return Fraction(1)
        kept = self.kept_items_per_user
        return pooled_delta(self.rounds, self.scale, kept, self.items_per_user, goal)

    def loss(self, neighbors: Neighbors) -> Loss:
        """Rounds and counts move by their lengths; what is exposed, they may steer."""
        kept = self.kept_items_per_user
        return pooled_loss(self.rounds, self.scale, kept, self.items_per_user, neighbors)

    def deciding_items_per_user(self) -> int | None:
        """Those that she keeps, of which m count in the end."""
        return self.kept_items_per_user

    def publication_probability(self, count: int) -> float:
        """About the chance that an item of this many users is published.

        Taken for all rounds together, with users who give it half of their weight in each.
        """
        if count < self.tau:
            return 0.0
        multipliers = sum(each.multiplier for each in self.rounds)
        short = self.rounds[-1].threshold + 0.5 - count * multipliers * WEIGHT / _FORECAST
        return math.erfc(short / math.sqrt(2 * evidence_variance(self.rounds))) / 2

    def expected_unique_items(self, users: int) -> float:
        return users * float(pooled_exposure(self.rounds, self.kept_items_per_user))

    def threshold_text(self) -> str:
        """What an item must pass: its evidence in the last round."""
        return f"evidence of {len(self.rounds)} rounds above {self.rounds[-1].threshold}"

    def parameters(self) -> dict[str, Any]:
        """How many items are kept, and the rounds."""
        rounds = [asdict(RecordedRound.of(each)) for each in self.rounds]
        return {"parameters": {"kept_items_per_user": self.kept_items_per_user, "rounds": rounds}}

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: every key with its noisy count, in no particular order."""
        if not isinstance(count, CountsKept):
            raise UsageError(
                f"{self.name} weighs what each user keeps, which counts that were made before do "
                "not tell: use another mechanism here"
            )
        keys: list[pa.RecordBatch] = []  # (item...)
        with count.kept_items(self.kept_items_per_user, self.listed_items()) as kept:
            for number in range(len(self.rounds)):
                new_keys = kept.weigh(WEIGHT, self._draw_round(number, random_bytes))
                keys += [batch for batch in new_keys if batch.num_rows]
        if not keys:
            return []
        return self.count_keys(pa.Table.from_batches(keys), count, random_bytes)

    def listed_items(self) -> pa.Table | None:
        """Public items, each once, that get noise also where nobody keeps them: none."""
        return None

    def head_start_evidence(self, deviation: int) -> int:
        """By how much the evidence of listed items is taken for more than it is.

        Args:
            deviation: That of the noise in the evidence.
        """
        del deviation  # there are no listed items
        return 0

    def _draw_round(self, number: int, random_bytes: RandomBytes) -> Each:
        """What gives the weights of a round their noise, and says what the next one gives."""
        rounds, later = self.rounds[: number + 1], self.rounds[number + 1 : number + 2]
        deviation = math.isqrt(evidence_variance(rounds)) + 1
        strengths = strength_table(later[0]) if later else np.ones(1, np.int64)
        ahead = self.head_start_evidence(deviation)
        return partial(_noisy_rows, rounds[-1], deviation, strengths, ahead, random_bytes)


def _noisy_rows(
    now: PooledRound,
    deviation: int,
    strengths: npt.NDArray[np.int64],
    ahead: int,
    random_bytes: RandomBytes,
    batch: pa.RecordBatch,
) -> pa.RecordBatch:
    """Rows of (item, listed, evidence, strength, weight) with noise; a key has a strength of 0.

    Args:
        now: The round.
        deviation: That of the noise in the evidence, with this round's.
        strengths: What users give in proportion to in the next round, by evidence.
        ahead: By how much the evidence of listed items is taken for more than it is.
        random_bytes: Where randomness comes from.
        batch: True weights, and the evidence of earlier rounds.
    """
    names = ("listed", "evidence", "weight")
    listed, before, weight = (np.asarray(np.from_dlpack(batch[name]), np.int64) for name in names)
    noise = DiscreteGaussian(scale=Fraction(now.scale))
    noisy = weight + noise.sample(batch.num_rows, random_bytes)
    evidence = before + now.multiplier * noisy
    tested = evidence + ahead * listed
    place = tested * _STEPS // deviation - _LOWEST * _STEPS
    strength = strengths[np.clip(place, 0, len(strengths) - 1)]
    next_strength = np.where(tested > now.threshold, 0, strength)
    columns = {"evidence": evidence, "strength": next_strength, "weight": noisy}
    for name, values in columns.items():
        batch = batch.set_column(batch.schema.get_field_index(name), name, pa.array(values))
    return batch


def strength_table(coming: PooledRound) -> npt.NDArray[np.int64]:
    """The strength of items in a round, by their evidence in steps from the lowest on.

    Users give weight in proportion to it. The table is made before anything is counted, so a float
    is rounded alike for everybody.
    """
    cap, steepness = coming.cap / PERCENT, coming.steepness / PERCENT
    steps = range(_LOWEST * _STEPS, math.floor(cap * _STEPS) + 1)
    found = (math.floor(STRENGTH * math.exp(steepness * (step / _STEPS - cap))) for step in steps)
    return np.array([max(strength, _WEAKEST) for strength in found], np.int64)
