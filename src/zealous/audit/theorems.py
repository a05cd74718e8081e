"""What a plan's numbers promise, once more, in floats and straight from definitions.

Noise is a table of chances, and a delta is a sum over it: nothing is bounded, searched for or
rounded, and no code is shared with what plans. A table is known by its record, as release.json has
it: the types are shared, and no formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, convert

from zealous.record.record import PartRecord

CAPPED = "capped-discrete-laplace"  # noise that never exceeds a threshold
_WEIGHT = 1000  # what a user gives in a round, as the length of her vector of weights
_FAR = 40  # scales of Laplace noise, beyond which nothing is left that a float could tell
_DEVIATIONS = 12  # the same for Gaussian noise
_UNITS = 1 << 15  # in which losses of Laplace noise are added, to the largest there can be
_UNHEARD = 1e-30


class Law(NamedTuple):
    """A distribution on whole numbers: the chances of `first`, `first` + 1, and so on."""

    first: int
    chances: npt.NDArray[np.float64]

    def tail_above(self, t: float) -> float:
        """P(X > t)."""
        return float(self.chances[max(0, math.floor(t) + 1 - self.first) :].sum())

    def sum_of(self, times: int) -> Law:
        """The sum of so many independent draws."""
        found = Law(0, np.ones(1))
        for _ in range(times):
            found = Law(found.first + self.first, np.convolve(found.chances, self.chances))
        return found


class _Round(Struct, frozen=True):
    """A round in which keys are found."""

    scale: int
    part: int
    threshold: int


class _Rounds(Struct, frozen=True):
    """What a record says of the rounds, under `parameters`."""

    kept_items_per_user: int
    rounds: tuple[_Round, ...]


def noise(part: PartRecord) -> Law:
    """The noise on a published count."""
    scale = Fraction(part.exact.scale)
    if finds_keys(part):  # drawn in parts of one, and rounded to whole ones
        unit = scale.denominator
        first, chances = _gaussian_law(scale.numerator)
        whole = (np.arange(first, first + len(chances)) + unit // 2) // unit
        return Law(int(whole[0]), np.bincount(whole - whole[0], chances).astype(np.float64))
    if part.noise == "discrete-gaussian":
        return _gaussian_law(float(scale))
    if part.noise == CAPPED:
        longer, least = _cap(part)
        short, long = (_laplace_law(float(scale), least + step).chances for step in (0, 1))
        short = np.append(short, 0.0)
        return Law(least + 2 - len(long), (1 - longer) * short[-len(long) :] + longer * long)
    return _laplace_law(float(scale))


def finds_keys(part: PartRecord) -> bool:
    """Whether keys were found first, in rounds, and counted then."""
    return "rounds" in (part.parameters or {})


def _rounds(part: PartRecord) -> _Rounds:
    return convert(part.parameters, _Rounds)


def _cap(part: PartRecord) -> tuple[float, int]:
    """Of noise that never exceeds a threshold: how probably that is one more, and which it is."""
    if part.longer is None or part.tau_prime is None:
        raise ValueError("capped noise without its cap")
    return float(Fraction(part.longer)), part.tau_prime


def unique_item_probability(part: PartRecord, items: int) -> float:
    """The chance that any of so many items is published which one user alone has.

    In pooled rounds it is at most so much.
    """
    if finds_keys(part):
        return _pooled_exposure(part, min(items, _rounds(part).kept_items_per_user))
    if part.noise == CAPPED:
        return _selection_probability(part, 1)
    if part.tau_prime is None:
        raise ValueError("a table without a threshold holds its whole list")
    absent = 1 - noise(part).tail_above(part.tau_prime - part.tau)
    return 1 - math.pow(absent, min(items, part.items_per_user))


def noise_delta(part: PartRecord, share: float = 1.0) -> float:
    """What the noise on counts alone tells, as a delta at a part of the plan's epsilon.

    All counts that one user can move are moved by one, and all these items are published anyway.
    """
    if part.noise == CAPPED:
        return _selection_probability(part, 1)  # the largest noise there can be, on one more user
    return _shift_delta(part, _counts_moved(part), (share - 1) * part.epsilon)


def deltas(part: PartRecord, tau_prime: int | None = None) -> tuple[float, float]:
    """The least delta that is true of these parameters, and the delta of the theorem about them."""
    if finds_keys(part):
        return _rounds_deltas(part)
    if part.tau_prime is None or part.noise == CAPPED:
        return noise_delta(part), noise_delta(part)
    second = part.tau_prime if tau_prime is None else tau_prime
    absent = 1 - noise(part).tail_above(second - part.tau)
    cases = list(_case_deltas(part, absent))
    bound = max(
        1 - absent**c * (1 - _shift_delta(part, _counts_moved(part) - c))
        for c in range(part.items_per_user + 1)
    )
    return max(cases), bound


def least_delta_together(parts: Sequence[PartRecord], epsilon: float) -> float:
    """A delta that tables need together at least: all counts shift, or all that can is exposed.

    Gaussian noise is taken for continuous, and losses of Laplace noise are rounded down.
    """
    square, absent, rates = 0.0, 1.0, []
    for part in parts:
        if finds_keys(part):
            square += _square_of_weights(part)
        absent *= 1 - _exposure(part)
        if part.noise == "discrete-gaussian":
            square += _counts_moved(part) / part.scale**2
        else:
            rates += [1 / part.scale] * _counts_moved(part)
    unit = (sum(rates) or 1.0) / _UNITS
    chances = np.ones(1)
    for rate in rates:  # from the least loss on, in units: a truth adds 2 rate
        right, step = 1 / (1 + math.exp(-rate)), math.floor(2 * rate / unit)
        chances = np.pad(chances * (1 - right), (0, step)) + np.pad(chances * right, (step, 0))
    losses = np.arange(len(chances)) * unit - sum(rates)
    if not square:
        told = float(chances @ -np.expm1(np.minimum(epsilon - losses, 0)))
        return max(told, 1 - absent)
    heard = chances > _UNHEARD
    told = sum(
        chance * _gaussian_delta(math.sqrt(square), epsilon - loss)
        for chance, loss in zip(chances[heard], losses[heard], strict=True)
    )
    return max(float(told), 1 - absent)


def _exposure(part: PartRecord) -> float:
    """The chance that something is published which one user alone has, at its largest or less."""
    if finds_keys(part):
        return max(_passing_alone(part))
    if part.tau_prime is None:
        return 0.0
    return unique_item_probability(part, part.items_per_user)


def _case_deltas(part: PartRecord, absent: float) -> Iterator[float]:
    """The exact delta where some of her items stand at tau; docs/proofs/exact.md."""
    m, shown = part.items_per_user, math.log(absent)
    if part.neighbors == "replace":
        for here in range(m + 1):
            for there in range(m + 1):
                moved = 2 * m - here - there
                hidden = absent**here
                yield 1 - hidden + hidden * _shift_delta(part, moved, (there - here) * shown)
        return
    for c in range(m + 1):
        yield 1 - absent**c + absent**c * _shift_delta(part, m - c, -c * shown)
        yield _shift_delta(part, m - c, c * shown)


def _rounds_deltas(part: PartRecord) -> tuple[float, float]:
    """What she alone gives and becomes a key, and what the noise of weights and counts tells."""
    exposed = _pooled_exposure(part, _rounds(part).kept_items_per_user)
    sides = _counts_moved(part) // part.items_per_user
    square = _counts_moved(part) / part.scale**2 + _square_of_weights(part)
    mu, epsilon = math.sqrt(square), part.epsilon
    found = exposed + _gaussian_delta(mu, epsilon)
    if sides == 1:
        return found, found
    hidden = 1 - exposed
    later = _gaussian_delta(mu, epsilon + math.log(hidden)) / hidden
    found = exposed + min(_gaussian_delta(mu, epsilon) + exposed, later)
    return found, found


def _shift_delta(part: PartRecord, moved: int, more: float = 0.0) -> float:
    """How far the noise of so many counts, each moved by one, exceeds epsilon + more."""
    epsilon, scale = part.epsilon + more, part.scale
    if moved == 0:
        return max(0.0, 1 - math.exp(epsilon))
    if finds_keys(part):
        return _gaussian_delta(math.sqrt(moved) / scale, epsilon)
    if part.noise == "discrete-gaussian":
        total, middle = _gaussian_law(scale).sum_of(moved), epsilon * scale**2
        far = math.exp(epsilon) * total.tail_above(middle + moved / 2)
        return max(0.0, total.tail_above(middle - moved / 2) - far)
    right = 1 / (1 + math.exp(-1 / scale))  # a count moved by one is randomised response
    found = 0.0
    for said in range(moved + 1):
        here = right**said * (1 - right) ** (moved - said)
        there = right ** (moved - said) * (1 - right) ** said
        found += math.comb(moved, said) * max(0.0, here - math.exp(epsilon) * there)
    return found if moved > epsilon * scale * (1 + 1e-12) else 0.0


def _counts_moved(part: PartRecord) -> int:
    """How many counts one user moves, who is there or not, or is replaced."""
    return int(part.items_per_user) * (2 if part.neighbors == "replace" else 1)


def _selection_probability(part: PartRecord, users: int) -> float:
    """The chance that an item of so many users is published by selection."""
    longer, least = _cap(part)
    short, long = (
        _laplace_law(part.scale, bound).tail_above(bound - users) for bound in (least, least + 1)
    )
    return (1 - longer) * short + longer * long


def _square_of_weights(part: PartRecord) -> float:
    """By how many deviations, squared, one user moves the weights of all rounds."""
    sides = _counts_moved(part) // part.items_per_user
    return float(sum(sides * (_WEIGHT / each.scale) ** 2 for each in _rounds(part).rounds))


def _pooled_exposure(part: PartRecord, items: int) -> float:
    """Of so many items that a user alone keeps, at most so many become keys on average.

    With all her weight on each of them in every round; noise is rounded by one half at most.
    """
    return items * sum(_passing_alone(part, _WEIGHT + 0.5))


def _passing_alone(part: PartRecord, weight: float = _WEIGHT - 1) -> Iterator[float]:
    """The chance that an item passes in each round, with such a weight, by continuous noise."""
    given, variance = 0.0, 0
    for each in _rounds(part).rounds:
        given += each.part * weight
        variance += (each.part * each.scale) ** 2
        yield math.erfc((each.threshold + 1 - given) / math.sqrt(2 * variance)) / 2


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """How far a normal distribution exceeds another, mu deviations away."""
    near, far = (math.erfc((epsilon / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1))
    return near - math.exp(epsilon) * far


def _gaussian_law(scale: float) -> Law:
    reach = math.ceil(_DEVIATIONS * scale)
    chances = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * scale**2))
    return Law(-reach, chances / chances.sum())


def _laplace_law(scale: float, most: int | None = None) -> Law:
    reach = math.ceil(_FAR * scale) + 10
    last = reach if most is None else most
    chances = np.exp(-np.abs(np.arange(-reach, last + 1)) / scale)
    return Law(-reach, chances / chances.sum())
