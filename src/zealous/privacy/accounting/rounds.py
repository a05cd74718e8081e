"""The delta of keys that are found in rounds, and of the counts bought for them afterwards.

Every user spreads a fixed weight over the items she gives in a round; noise goes on the weight of
every item there could be; what passes a threshold is a key. Counts of the keys follow, with noise
and without a threshold. docs/proofs/rounds.md has the proofs.

Claims are computed with 260 decimal digits and rounded up; floats only shorten the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

from zealous.errors import UsageError
from zealous.privacy.guarantee import Guarantee, Indistinguishability, positive_integer

WEIGHT = 1000  # what a user gives in a round, as the length of her vector of weights
GRAIN = 101  # of a count's noise, in parts of one; odd, so that no half must be rounded
LARGEST_SCALE = 1 << 23  # that the exact sampler takes as a whole number
LEAST_DELTA = Fraction(1, 10**100)

_LARGEST_EPSILON = 100  # what holds there holds beyond
_MOST_GIVEN = 1000  # items of one user in a round: a weight is then no less than 31
_FAR = 30  # standard deviations, within which tails are computed
_CONTEXT = Context(prec=260, Emin=MIN_EMIN, Emax=MAX_EMAX)
_ERROR = Decimal("1e-150")  # above the error of a claim, which is that of its tails
_BEYOND = Decimal("1e-110")  # beta: the chance that some noise is too long to be compared


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


def upper_tail(x: Decimal) -> Decimal:
    """P(N(0, 1) > x), with an error below 1e-250; beyond 30 that of 30, which is larger.

    Below -30 it is too small by at most 1e-197.

    >>> f"{upper_tail(Decimal(6)):.12e}"
    '9.865876450377e-10'
    """
    with localcontext(_CONTEXT):
        if x < 0:
            return 1 - upper_tail(-x)
        x = min(x, Decimal(_FAR))
        # 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...). Terms end where they no longer change the sum;
        # by then each is less than half of the one before, so all the rest is less than that.
        term, total, odd = x, Decimal(0), 1
        while total + term != total:
            total += term
            odd += 2
            term = term * x * x / odd
        return Decimal("0.5") - total * (-x * x / 2).exp() / (2 * _pi()).sqrt()


def hockey_stick(square: Fraction, epsilon: Decimal) -> Decimal:
    """h(mu, epsilon) of Gaussian noise whose mean moves by mu deviations, mu^2 given; rounded up.

    >>> f"{hockey_stick(Fraction(1, 20), Decimal(1)):.6e}"
    '2.915321e-7'
    """
    if epsilon <= 0:
        return Decimal(1)
    with localcontext(_CONTEXT):
        mu = _decimal(square).sqrt()
        found = upper_tail(epsilon / mu - mu / 2)
        far = epsilon / mu + mu / 2
        if far <= _FAR:
            found -= epsilon.exp() * upper_tail(far)
        return min(max(found, Decimal(0)) + _ERROR, Decimal(1))


def exposure(each: Round) -> Decimal:
    """p: of the items that one user alone gives in a round so many become keys on average, at most.

    The worst is one item of the whole weight, or as many as she may give. Rounded up.

    >>> f"{exposure(Round(bound=50, scale=10_000, threshold=60_000)):.4g}"
    '5.380e-8'
    """
    with localcontext(_CONTEXT):
        one = _passing_probability(each, Decimal(WEIGHT))
        many = each.bound * _passing_probability(each, WEIGHT / Decimal(each.bound).sqrt())
        return min(max(one, many) + _ERROR, Decimal(1))


def noise_delta(
    rounds: Sequence[Round],
    scale: Fraction,
    items_per_user: int,
    goal: Guarantee,
    exposed: Decimal,
) -> Decimal:
    """What the noise of all rounds and counts tells, as a delta at the goal's epsilon; rounded up.

    Args:
        rounds: The rounds.
        scale: The standard deviation of a count's noise, drawn in parts of its denominator.
        items_per_user: The most keys of one user that count, m.
        goal: Whose epsilon and neighbours matter.
        exposed: The sum of the rounds' exposures, or more.
    """
    sides = goal.moved_counts(1)
    unit, m = scale.denominator, items_per_user
    # (how many weights or counts one user moves, by which square length, with noise of which scale)
    blocks = [(sides * each.bound, sides * WEIGHT**2, each.scale) for each in rounds]
    blocks.append((sides * m, sides * m * unit**2, scale.numerator))
    with localcontext(_CONTEXT):
        reach = (2 * (len(blocks) / _BEYOND).ln()).sqrt()
        raised, lowered, square = Decimal(0), Decimal(0), Fraction(0)
        for moved, length, deviation in blocks:
            root = Decimal(moved).sqrt()
            longest = root + reach + (Decimal(length).sqrt() + root / 2) / deviation
            raised += Decimal(moved) / (24 * deviation**2)
            lowered += longest**2 / (24 * deviation**2)
            square += Fraction(length, deviation**2)

        def at(epsilon: Decimal) -> Decimal:
            return raised.exp() * (hockey_stick(square, epsilon - raised - lowered) + _BEYOND)

        epsilon = _decimal(min(goal.epsilon, Fraction(_LARGEST_EPSILON)))
        if sides == 1 or exposed >= 1:
            return min(at(epsilon), Decimal(1))
        hidden = 1 - exposed
        return min(at(epsilon) + exposed, at(epsilon + hidden.ln()) / hidden, Decimal(1))


def rounds_delta(
    rounds: Sequence[Round], scale: Fraction, items_per_user: int, goal: Guarantee
) -> Fraction:
    """The delta that is proven at the goal's epsilon and neighbours, rounded up."""
    with localcontext(_CONTEXT):
        exposed = sum(map(exposure, rounds), Decimal(0))
        total = exposed + noise_delta(rounds, scale, items_per_user, goal, exposed)
        return Fraction(min(total, Decimal(1)))


def calibrate_rounds(
    goal: Guarantee, items_per_user: int, shape: Shape
) -> tuple[tuple[Round, ...], Fraction]:
    """The rounds, and the scale of the noise on counts, that a guarantee leaves room for.

    Raises:
        UsageError: The guarantee is not one that such rounds can give, or epsilon is too small.
    """
    m = positive_integer(items_per_user, "items_per_user")
    if not isinstance(goal, Indistinguishability):
        raise UsageError(
            "keys in rounds cannot give the probabilistic guarantee: ask for the indistinguishable "
            "one, or use the zealous mechanism"
        )
    if goal.delta < LEAST_DELTA:
        raise UsageError("keys in rounds need a delta of at least 1e-100: raise delta")
    mu = _largest_shift(
        float(min(goal.epsilon, Fraction(_LARGEST_EPSILON))), float(goal.delta * shape.noise_share)
    )
    with localcontext(_CONTEXT):
        keys = _decimal(goal.delta * (1 - shape.noise_share))
        while True:  # once, unless integers cost more than they should
            rounds, scale = _rounds_for_shift(goal, m, shape, mu)
            left = min(keys, _decimal(goal.delta) - noise_delta(rounds, scale, m, goal, keys))
            if left >= keys * Decimal("0.9"):
                break
            mu *= 0.99
        found = tuple(
            _least_threshold(each, left * _decimal(part))
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
    grains = math.ceil(GRAIN * deviation)
    if grains > LARGEST_SCALE:  # then whole numbers are fine enough
        return rounds, Fraction(math.ceil(deviation))
    return rounds, Fraction(grains + (grains % GRAIN == 0), GRAIN)  # no fraction to be reduced


def _least_threshold(each: Round, most: Decimal) -> Round:
    """The round with the least threshold whose exposure is at most that."""

    def at(threshold: int) -> Round:
        return Round(bound=each.bound, scale=each.scale, threshold=threshold)

    low, high = 2 * WEIGHT - 1, 2 * WEIGHT + _FAR * each.scale  # exposure falls as it rises
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exposure(at(middle)) <= most else (middle, high)
    return at(high)


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
    return (1 / Decimal(24 * each.scale**2)).exp() * upper_tail(x)


@cache
def _pi() -> Decimal:
    """Machin's formula."""
    with localcontext(_CONTEXT):
        return 4 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))


def _arctan_of_inverse(x: int) -> Decimal:
    power, total, odd = Decimal(1) / x, Decimal(0), 1
    while total + power / odd != total:
        total += power / odd
        power, odd = -power / (x * x), odd + 2
    return total


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
