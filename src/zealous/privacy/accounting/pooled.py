"""The delta of keys that are found in rounds whose noisy weights are pooled, and of their counts.

Every user keeps a fixed set of her items, and in each round spreads a weight over those that are no
keys yet. An item's evidence is a sum of its noisy weights of all rounds so far; where it passes a
threshold the item is a key. docs/proofs/pooled.md has the proofs.

Claims are computed with 80 decimal digits and rounded up; floats only shorten the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from zealous.errors import UsageError
from zealous.privacy.accounting.keys import (
    LARGEST_SCALE,
    NEARLY_ALL,
    WEIGHT,
    count_scale,
    mu_for,
    mu_squared,
    told_by_noise,
)
from zealous.privacy.composition.loss import Loss
from zealous.privacy.composition.normal import CONTEXT, normal_tail
from zealous.privacy.guarantee import (
    Guarantee,
    Neighbors,
    moved_counts,
    positive_integer,
)

MOST_KEPT = 1000  # items of one user: the squares of their strengths then add up to below 2^53
MOST_ROUNDS = 100
LARGEST_MULTIPLIER = 1000
PERCENT = 100  # in which steepness and caps are written

_FEWEST_KEPT = 32
_MANY_KEPT = 512
_FAR = 40  # deviations that a threshold may be above what one user can give


@dataclass(frozen=True, kw_only=True)
class PooledRound:
    """One round of finding keys.

    Attributes:
        scale: The standard deviation of the noise, in units of weight.
        multiplier: What its noisy weights are multiplied by in the evidence; `part` in
            release.json.
        threshold: An item is a key where its evidence so far is strictly above.
        steepness: How strongly the evidence before it steers what users give, in hundredths: an
            item of one deviation more gets exp(steepness) times the weight.
        cap: Deviations, in hundredths, beyond which more evidence gets no more weight.

    Raises:
        UsageError: It cannot be drawn.
    """

    scale: int
    multiplier: int
    threshold: int
    steepness: int
    cap: int

    def __post_init__(self) -> None:
        """Refuse what the sampler and 64 bits do not cover."""
        if positive_integer(self.scale, "scale of a round") > LARGEST_SCALE:
            raise UsageError(f"scale of a round may not exceed {LARGEST_SCALE}")
        if positive_integer(self.multiplier, "part of a round") > LARGEST_MULTIPLIER:
            raise UsageError(f"part of a round may not exceed {LARGEST_MULTIPLIER}")
        positive_integer(self.threshold, "threshold of a round")
        if not (0 <= self.steepness <= 10 * PERCENT and 0 <= self.cap <= 10 * PERCENT):
            raise UsageError("steepness and cap of a round must be from 0 to 1000")


@dataclass(frozen=True, kw_only=True)
class PooledShape:
    """How a budget is divided; the same for every log.

    Attributes:
        rounds: How many.
        kept_per_counted: The most items that each user keeps, for each of the m keys of hers that
            count.
        share: What all rounds get of mu^2; the rest is for counts.
        noise_share: What noise gets of delta; the rest is meant for keys.
        growth: How many times as much of that rest a round gets as the one before.
    """

    rounds: int
    kept_per_counted: int
    share: Fraction
    noise_share: Fraction
    growth: Fraction


def evidence_variance(rounds: Sequence[PooledRound]) -> int:
    """The variance of the noise in the evidence after some rounds."""
    return sum((each.multiplier * each.scale) ** 2 for each in rounds)


def pooled_exposure(rounds: Sequence[PooledRound], kept_items_per_user: int) -> Fraction:
    """p: of the items that one user alone keeps so many become keys on average, at most.

    Whatever steers her, each gets no more than the whole weight in each round. Rounded up.
    """
    passing = (_passing_probability(rounds[: n + 1]) for n in range(len(rounds)))
    return min(kept_items_per_user * sum(passing, Fraction(0)), Fraction(1))


def pooled_delta(
    rounds: Sequence[PooledRound],
    scale: Fraction,
    kept_items_per_user: int,
    items_per_user: int,
    goal: Guarantee,
) -> Fraction:
    """The delta that is proven at the goal's epsilon and neighbours, rounded up.

    Args:
        rounds: The rounds.
        scale: The standard deviation of a count's noise, drawn in parts of its denominator.
        kept_items_per_user: The most items that each user keeps, D.
        items_per_user: The most keys of one user that count, m.
        goal: Whose epsilon and neighbours matter.
    """
    exposed = pooled_exposure(rounds, kept_items_per_user)
    moved = _mu_squared(rounds, scale, items_per_user, goal.neighbors)
    return min(exposed + told_by_noise(moved, goal, exposed), Fraction(1))


def pooled_loss(
    rounds: Sequence[PooledRound],
    scale: Fraction,
    kept_items_per_user: int,
    items_per_user: int,
    neighbors: Neighbors,
) -> Loss:
    """What the rounds and the counts of their keys tell, to be composed with other parts."""
    exposed = pooled_exposure(rounds, kept_items_per_user)
    return Loss.moved(
        exposure=exposed,
        hidden=exposed if neighbors == "replace" else Fraction(0),
        mu_squared=_mu_squared(rounds, scale, items_per_user, neighbors),
    )


def _mu_squared(
    rounds: Sequence[PooledRound], scale: Fraction, items_per_user: int, neighbors: Neighbors
) -> Fraction:
    """How far one user moves all weights and counts together, in deviations, squared."""
    scales = [each.scale for each in rounds]
    return moved_counts(1, neighbors) * mu_squared(scales, scale, items_per_user)


@cache  # planning, planning again and verifying ask for the same
def calibrate_pooled(
    goal: Guarantee,
    items_per_user: int,
    shape: PooledShape,
    kept_items_per_user: int | None = None,
) -> tuple[tuple[PooledRound, ...], Fraction, int]:
    """The rounds, the scale of the noise on counts, and how many items each user keeps.

    Args:
        goal: The guarantee.
        items_per_user: The most keys of one user that count, m.
        shape: How the budget is divided.
        kept_items_per_user: The most items that each user keeps, D; by m where not given.

    Raises:
        UsageError: The guarantee is not one that such rounds can give, or epsilon is too small.
    """
    m = positive_integer(items_per_user, "items_per_user")
    mu = mu_for(goal, shape.noise_share)
    kept = kept_items_per_user
    if kept is None:
        kept = min(max(_FEWEST_KEPT, shape.kept_per_counted * m), _MANY_KEPT)
    keys = goal.delta * (1 - shape.noise_share)
    while True:  # once, unless integers cost more than they should
        rounds, scale = _rounds_for_shift(goal, m, shape, mu)
        moved = _mu_squared(rounds, scale, m, goal.neighbors)
        left = min(keys, goal.delta - told_by_noise(moved, goal, keys))
        if left >= keys * NEARLY_ALL:
            break
        mu *= 0.99
    grown = [shape.growth**number for number in range(len(rounds))]
    for number, each in enumerate(grown):
        rounds[number] = _least_threshold(rounds[: number + 1], left * each / (sum(grown) * kept))
    found = tuple(rounds)
    if pooled_delta(found, scale, kept, m, goal) > goal.delta:
        raise AssertionError("unreachable: the parts of delta add up to no more than one")
    return found, scale, kept


def _rounds_for_shift(
    goal: Guarantee, m: int, shape: PooledShape, mu: float
) -> tuple[list[PooledRound], Fraction]:
    """The noise with which all rounds and counts together move by at most mu deviations."""
    sides, number = goal.moved_counts(1), shape.rounds
    scale = math.ceil(WEIGHT * math.sqrt(sides * number / shape.share) / mu)
    deviation = math.sqrt(sides * m / (1 - shape.share)) / mu
    if max(scale, math.ceil(deviation)) > LARGEST_SCALE:
        raise UsageError("epsilon is too small for keys in rounds with so many items: raise it")

    def between(first: int, last: int, place: int, places: int) -> int:
        return first + (last - first) * place // max(places, 1)

    rounds = [
        PooledRound(
            scale=scale,
            multiplier=between(40, 100, n, number - 1),  # later rounds are steered better
            threshold=1,
            steepness=between(70, 240, n - 1, number - 2) if n else 0,
            cap=between(90, 470, n - 1, number - 2) if n else 0,
        )
        for n in range(number)
    ]
    return rounds, count_scale(deviation)


def _least_threshold(rounds: Sequence[PooledRound], most: Fraction) -> PooledRound:
    """The last of some rounds with the least threshold that one item passes with such a chance."""
    *before, last = rounds

    def at(threshold: int) -> PooledRound:
        return replace(last, threshold=threshold)

    reach = sum(each.multiplier for each in rounds) * WEIGHT
    low, high = 0, 2 * reach + _FAR * math.isqrt(evidence_variance(rounds))
    while high - low > 1:
        middle = (low + high) // 2
        fits = _passing_probability([*before, at(middle)]) <= most
        low, high = (low, middle) if fits else (middle, high)
    return at(high)


def _passing_probability(rounds: Sequence[PooledRound]) -> Fraction:
    """P(the evidence of an item that one user alone keeps passes the last threshold), or more.

    She gives it all her weight in every round; rounding noise to whole numbers adds one half.
    """
    with localcontext(CONTEXT):
        multipliers = sum(each.multiplier for each in rounds)
        above = rounds[-1].threshold + 1 - multipliers * (WEIGHT + Decimal("0.5"))
        raised = sum((1 / Decimal(24 * each.scale**2) for each in rounds), Decimal(0))
        x = above / Decimal(evidence_variance(rounds)).sqrt()
        return Fraction(raised.exp() * normal_tail(x)[1])
