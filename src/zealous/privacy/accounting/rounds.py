"""The delta of keys that are found in rounds, and of the counts bought for them afterwards.

Every user spreads a fixed weight over the items she gives in a round; noise goes on the weight of
every item there could be; what passes a threshold is a key. Counts of the keys follow, with noise
and without a threshold. docs/proofs/rounds.md has the proofs.

Claims are computed with 80 decimal digits and rounded up; floats only shorten the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from zealous.errors import UsageError
from zealous.privacy.composition.loss import Loss
from zealous.privacy.composition.normal import (
    CONTEXT,
    decimal,
    gaussian_square,
    hockey_stick,
    normal_tail,
)
from zealous.privacy.guarantee import (
    CannotGive,
    Guarantee,
    Indistinguishability,
    Neighbors,
    moved_counts,
    positive_integer,
)

WEIGHT = 1000  # what a user gives in a round, as the length of her vector of weights
GRAIN = 101  # of a count's noise, in parts of one; odd, so that no half must be rounded
LARGEST_SCALE = 1 << 23  # that the exact sampler takes as a whole number
LEAST_DELTA = Fraction(1, 10**100)

_LARGEST_EPSILON = 100  # what holds there holds beyond
_MOST_GIVEN = 1000  # items of one user in a round: a weight is then no less than 31
_FAR = 30  # standard deviations, within which thresholds are looked for
_LOGARITHM = Fraction(1, 10**70)  # above the error of one
NEARLY_ALL = Fraction(9, 10)


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of finding keys.

    Attributes:
        bound: The most items that each user gives.
        scale: The standard deviation of the noise, in units of weight.
        threshold: An item is a key where its noisy weight is strictly above.

    Raises:
        UsageError: It cannot be drawn, or nothing is proven for it.
    """

    bound: int
    scale: int
    threshold: int

    def __post_init__(self) -> None:
        """Refuse what `exposure` and the sampler do not cover."""
        if positive_integer(self.bound, "items_per_user of a round") > _MOST_GIVEN:
            raise UsageError(f"items_per_user of a round may not exceed {_MOST_GIVEN}")
        if positive_integer(self.scale, "scale of a round") > LARGEST_SCALE:
            raise UsageError(f"scale of a round may not exceed {LARGEST_SCALE}")
        if positive_integer(self.threshold, "threshold of a round") < 2 * WEIGHT:
            raise UsageError(f"threshold of a round must be at least {2 * WEIGHT}")

    def weights(self) -> list[int]:
        """What an item counts for, by how many its user gives."""
        return [weight(given) for given in range(1, self.bound + 1)]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How a budget is divided; the same for every log.

    Attributes:
        bounds: The most items that each user gives, for each round; None for m, but at least 50.
        shares: What each round gets of mu^2; the rest is for counts.
        exposed: What each round gets of the delta that is meant for keys.
        noise_share: What noise gets of delta; the rest is meant for keys.
    """

    bounds: tuple[int | None, ...]
    shares: tuple[Fraction, ...]
    exposed: tuple[Fraction, ...]
    noise_share: Fraction


def weight(given: int) -> int:
    """The weight of each item of a user who gives so many: their vector is no longer than WEIGHT.

    >>> weight(1), weight(2), weight(50)
    (1000, 707, 141)
    """
    return math.isqrt(WEIGHT**2 // given)


def exposure(each: Round) -> Decimal:
    """p: of the items that one user alone gives in a round so many become keys on average, at most.

    The worst is one item of the whole weight, or as many as she may give. Rounded up.

    >>> f"{exposure(Round(bound=50, scale=10_000, threshold=60_000)):.4g}"
    '5.380e-8'
    """
    with localcontext(CONTEXT):
        one = _passing_probability(each, Decimal(WEIGHT))
        many = each.bound * _passing_probability(each, WEIGHT / Decimal(each.bound).sqrt())
        return min(max(one, many), Decimal(1))


def noise_delta(
    rounds: Sequence[Round],
    scale: Fraction,
    items_per_user: int,
    goal: Guarantee,
    exposed: Fraction,
) -> Fraction:
    """What the noise of all rounds and counts tells, as a delta at the goal's epsilon; rounded up.

    Args:
        rounds: The rounds.
        scale: The standard deviation of a count's noise, drawn in parts of its denominator.
        items_per_user: The most keys of one user that count, m.
        goal: Whose epsilon and neighbours matter.
        exposed: The sum of the rounds' exposures, or more.
    """
    return told_by_noise(_mu_squared(rounds, scale, items_per_user, goal.neighbors), goal, exposed)


def told_by_noise(moved: Fraction, goal: Guarantee, exposed: Fraction) -> Fraction:
    """What noise tells of one user who moves so much, as a delta at the goal's epsilon; rounded up.

    Args:
        moved: The mu^2 of all that she moves.
        goal: Whose epsilon and neighbours matter.
        exposed: The chance that items of hers alone show, or more.
    """
    told = hockey_stick(moved, goal.epsilon)
    if goal.neighbors == "add-remove" or exposed >= 1:
        return told
    hidden = 1 - exposed
    with localcontext(CONTEXT):
        less = goal.epsilon + Fraction(decimal(hidden).ln()) - _LOGARITHM
    return min(told + exposed, hockey_stick(moved, less) / hidden, Fraction(1))


def rounds_delta(
    rounds: Sequence[Round], scale: Fraction, items_per_user: int, goal: Guarantee
) -> Fraction:
    """The delta that is proven at the goal's epsilon and neighbours, rounded up."""
    exposed = _exposed(rounds)
    return min(exposed + noise_delta(rounds, scale, items_per_user, goal, exposed), Fraction(1))


def rounds_loss(
    rounds: Sequence[Round], scale: Fraction, items_per_user: int, neighbors: Neighbors
) -> Loss:
    """What the rounds and the counts of their keys tell, to be composed with other parts.

    Under `replace` one log may expose items while the other keeps as many from being shown.
    """
    exposed = _exposed(rounds)
    return Loss.moved(
        exposure=exposed,
        hidden=exposed if neighbors == "replace" else Fraction(0),
        mu_squared=_mu_squared(rounds, scale, items_per_user, neighbors),
    )


def _exposed(rounds: Sequence[Round]) -> Fraction:
    return sum((Fraction(exposure(each)) for each in rounds), Fraction(0))


def _mu_squared(
    rounds: Sequence[Round], scale: Fraction, items_per_user: int, neighbors: Neighbors
) -> Fraction:
    """How far one user moves all weights and counts together, in deviations, squared."""
    scales = [each.scale for each in rounds]
    return moved_counts(1, neighbors) * mu_squared(scales, scale, items_per_user)


def mu_squared(scales: Sequence[int], scale: Fraction, items_per_user: int) -> Fraction:
    """How far one user who comes or goes moves weights under such noise, and counts of keys."""
    grains, unit = scale.as_integer_ratio()
    found = items_per_user * unit**2 * gaussian_square(Fraction(grains))
    for each in scales:
        found += WEIGHT**2 * gaussian_square(Fraction(each))
    return found


@cache  # planning, planning again and verifying ask for the same
def calibrate_rounds(
    goal: Guarantee, items_per_user: int, shape: Shape
) -> tuple[tuple[Round, ...], Fraction]:
    """The rounds, and the scale of the noise on counts, that a guarantee leaves room for.

    Raises:
        UsageError: The guarantee is not one that such rounds can give, or epsilon is too small.
    """
    m = positive_integer(items_per_user, "items_per_user")
    mu = mu_for(goal, shape.noise_share)
    keys = goal.delta * (1 - shape.noise_share)
    while True:  # once, unless integers cost more than they should
        rounds, scale = _rounds_for_shift(goal, m, shape, mu)
        left = min(keys, goal.delta - noise_delta(rounds, scale, m, goal, keys))
        if left >= keys * NEARLY_ALL:
            break
        mu *= 0.99
    found = tuple(
        _least_threshold(each, left * part)
        for each, part in zip(rounds, shape.exposed, strict=True)
    )
    if rounds_delta(found, scale, m, goal) > goal.delta:
        raise AssertionError("unreachable: the parts of delta add up to no more than one")
    return found, scale


def _rounds_for_shift(
    goal: Guarantee, m: int, shape: Shape, mu: float
) -> tuple[list[Round], Fraction]:
    """The noise with which all rounds and counts together move by at most mu deviations."""
    sides = goal.moved_counts(1)
    bounds = [min(max(50, m), _MOST_GIVEN) if each is None else each for each in shape.bounds]
    scales = [math.ceil(WEIGHT * math.sqrt(sides / part) / mu) for part in shape.shares]
    deviation = math.sqrt(sides * m / (1 - sum(shape.shares))) / mu
    if max(*scales, math.ceil(deviation)) > LARGEST_SCALE:
        raise UsageError("epsilon is too small for keys in rounds with so many items: raise it")
    pairs = zip(bounds, scales, strict=True)
    rounds = [Round(bound=bound, scale=scale, threshold=2 * WEIGHT) for bound, scale in pairs]
    return rounds, count_scale(deviation)


def count_scale(deviation: float) -> Fraction:
    """The scale of the noise on counts: a standard deviation of at least that, in odd parts."""
    grains = math.ceil(GRAIN * deviation)
    if grains > LARGEST_SCALE:  # then whole numbers are fine enough
        return Fraction(math.ceil(deviation))
    return Fraction(grains + (grains % GRAIN == 0), GRAIN)  # no fraction to be reduced


def _least_threshold(each: Round, most: Fraction) -> Round:
    """The round with the least threshold whose exposure is at most that."""

    def at(threshold: int) -> Round:
        return Round(bound=each.bound, scale=each.scale, threshold=threshold)

    low, high = 2 * WEIGHT - 1, 2 * WEIGHT + _FAR * each.scale  # exposure falls as it rises
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if Fraction(exposure(at(middle))) <= most else (middle, high)
    return at(high)


def mu_for(goal: Guarantee, noise_share: Fraction) -> float:
    """About the largest mu that a share of the goal's delta leaves room for.

    Raises:
        UsageError: The guarantee is not one that keys in rounds can give.
    """
    if not isinstance(goal, Indistinguishability):
        raise CannotGive(
            "keys in rounds cannot give the probabilistic guarantee: ask for the indistinguishable "
            "one, or use the zealous mechanism"
        )
    if goal.delta < LEAST_DELTA:
        raise UsageError("keys in rounds need a delta of at least 1e-100: raise delta")
    epsilon = float(min(goal.epsilon, Fraction(_LARGEST_EPSILON)))
    return _largest_shift(epsilon, float(goal.delta * noise_share))


def _largest_shift(epsilon: float, delta: float) -> float:
    """About the largest mu with h(mu, epsilon) <= delta."""
    low, high = 0.0, 30.0
    for _ in range(60):
        mu = (low + high) / 2
        far = math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))
        over = (math.erfc((epsilon / mu - mu / 2) / math.sqrt(2)) - far) / 2 > delta
        low, high = (low, mu) if over else (mu, high)
    return low


def _passing_probability(each: Round, mean: Decimal) -> Decimal:
    """P(an item of this weight passes), or more."""
    x = (each.threshold + Decimal("0.5") - mean) / each.scale
    return (1 / Decimal(24 * each.scale**2)).exp() * normal_tail(x)[1]
