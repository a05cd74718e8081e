"""Keys in rounds: the claimed delta against the truth of tiny logs and all their neighbours.

The mechanism itself is run, over the count of counting.py, once for each way its noise can fall: an
item's noisy weight is above the threshold or not, and below it two items lie in one order or the
other. The chance of each way is a sum over the discrete Gaussian. The last noise, that of counts,
is left out, so that a run ends in its keys and their true counts; what noisy counts tell of these
is summed over all that there can be.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial, reduce
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from counting import Counting, Log, published

import zealous.mechanisms.rounds as steering
from zealous.mechanisms.rounds import Rounds, Sips
from zealous.privacy.accounting.rounds import GRAIN, WEIGHT, Round, rounds_delta
from zealous.privacy.guarantee import Indistinguishability, Neighbors

Floats = npt.NDArray[np.float64]
Keys = tuple[str, ...]
Law = Mapping[Keys, tuple[float, tuple[int, ...]]]  # the chance of some keys, and their true counts
Values = tuple[int, ...]  # noisy weights, one for each item

HISTORIES = ["", "a", "b", "ab"]
NEAR: dict[Neighbors, list[tuple[str, str]]] = {
    "replace": list(itertools.permutations(HISTORIES, 2)),
    "add-remove": [pair for h in HISTORIES[1:] for pair in (("", h), (h, ""))],
}
LITTLE = 1e-10  # what is lost in sums and beyond ten deviations
in_order = partial(Counting, rank=lambda _, item: item, parts=1)


# The truth


@cache
def noise(scale: int) -> Floats:
    """Discrete Gaussian, from -10 deviations to 10."""
    z = np.arange(-10 * scale, 10 * scale + 1)
    found = np.exp(-((z / scale) ** 2) / 2)
    return found / found.sum()


@cache
def below(scale: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(noise(scale))])


def under(scale: int, z: Any) -> Any:
    """P(noise < z)."""
    return below(scale)[np.clip(np.asarray(z) + 10 * scale, 0, 20 * scale + 1)]


@cache
def orders(first: int, second: int, scale: int, threshold: int) -> tuple[float, float, float]:
    """P(the first of two weights is smaller, equal, larger), with none above the threshold."""
    y = first + np.arange(-10 * scale, 10 * scale + 1)
    chance = np.where(y <= threshold, noise(scale), 0)
    larger, upto = under(scale, y - second), under(scale, y + 1 - second)
    most = under(scale, threshold + 1 - second)
    below, at, above = (chance * part for part in (most - upto, upto - larger, larger))
    return float(below.sum()), float(at.sum()), float(above.sum())


def ways(weights: Values, each: Round, steers: bool) -> Iterator[tuple[Values, float]]:
    """All ways in which noise can fall. What nobody gave does not pass: it is drawn again."""
    short, over = each.threshold, each.threshold + 1
    stays = [float(under(each.scale, over - weight)) for weight in weights]
    may = [(short, over) if weight else (short,) for weight in weights]
    whole = math.prod(stay for stay, weight in zip(stays, weights, strict=True) if not weight)
    for values in itertools.product(*may):
        chances = (stay if v == short else 1 - stay for stay, v in zip(stays, values, strict=True))
        if steers and values == (short, short):
            found = orders(*weights, each.scale, each.threshold)
            pairs = ((short - 1, short), (short, short), (short, short - 1))
            yield from ((pair, p / whole) for pair, p in zip(pairs, found, strict=True))
        else:
            yield values, math.prod(chances) / whole


class Unwritten(Exception):
    """The script ends here."""


class Script:
    """In place of DiscreteGaussian: noise that falls as it is written."""

    def __init__(self, count: Counting, written: list[Values]) -> None:
        self.count, self.written = count, written

    def __call__(self, *, scale: Fraction) -> "Script":
        return self

    def sample(self, size: int, _: Any) -> npt.NDArray[np.int64]:
        number = len(self.count.asked) - 1
        if "only" in self.count.asked[-1] or not size:
            return np.zeros(size, np.int64)
        if number >= len(self.written):
            raise Unwritten
        return np.array(self.written[number]) - list(self.count.answered.values())


def law_of(mechanism: Rounds, log: Log, counting: Callable[[Log], Counting]) -> Law:
    """The chance of every set of keys."""
    found: dict[Keys, float] = defaultdict(float)
    counts: dict[Keys, tuple[int, ...]] = {}
    todo: list[tuple[list[Values], float]] = [([], 1.0)]
    while todo:
        written, chance = todo.pop()
        count = counting(log)
        try:
            with (
                patch("zealous.mechanisms.rounds.DiscreteGaussian", Script(count, written)),
                patch("zealous.mechanisms.key_counts.DiscreteGaussian", Script(count, written)),
            ):
                result = dict(sorted(published(mechanism.release(count)).items()))
        except Unwritten:
            number = len(count.asked) - 1
            steers = mechanism.steered and number < len(mechanism.rounds) - 1
            weights = tuple(count.answered.values())
            for values, p in ways(weights, mechanism.rounds[number], steers):
                if chance * p > 1e-14:
                    padded = [*written, *[()] * (number - len(written)), values]
                    todo.append((padded, chance * p))
        else:
            found[tuple(result)] += chance
            assert counts.setdefault(tuple(result), tuple(result.values())) == (*result.values(),)
    assert sum(found.values()) == pytest.approx(1, abs=LITTLE)
    return {keys: (found[keys], counts[keys]) for keys in found}


@cache
def rounded(scale: Fraction) -> Floats:
    """Noise on counts."""
    grains, unit = scale.as_integer_ratio()
    whole = (np.arange(-10 * grains, 10 * grains + 1) + unit // 2) // unit
    return np.bincount(whole - whole.min(), noise(grains)).astype(np.float64)


@cache
def noisy(scale: Fraction, moves: tuple[int, ...]) -> Floats:
    """The noisy counts of keys whose counts have moved by one or not at all."""
    each = {move: np.pad(rounded(scale), (1 + move, 1 - move)) for move in (-1, 0, 1)}
    return reduce(np.multiply.outer, (each[move] for move in moves), np.ones(()))


def least_delta(law: Law, other: Law, scale: Fraction, epsilon: float) -> float:
    """The least delta at epsilon of two logs, in this direction."""
    total = 0.0
    for keys, (chance, counts) in law.items():
        against, moved = other.get(keys, (0.0, counts))
        moves = tuple(b - a for a, b in zip(counts, moved, strict=True) if a != b)
        still = (0,) * len(moves)
        odds = chance * noisy(scale, still) - math.exp(epsilon) * against * noisy(scale, moves)
        total += float(np.maximum(odds, 0).sum())
    return total


# Worlds


def rounds(*each: tuple[int, int, int]) -> tuple[Round, ...]:
    return tuple(Round(bound=bound, scale=scale, threshold=most) for bound, scale, most in each)


def crowd(**held: int) -> dict[str, str]:
    """So many users who have the same."""
    return {f"{items}{n}": items for items, number in held.items() for n in range(number)}


CALM, CLEAR = Fraction(5051, GRAIN), Fraction(303 + 1, GRAIN)
ONCE = Rounds(items_per_user=1, scale=CALM, rounds=rounds((1, 2000, 13_700)))
BOTH = Rounds(items_per_user=2, scale=CLEAR, rounds=rounds((2, 1500, 9_500)))
LED = Rounds(items_per_user=2, scale=CALM, rounds=rounds((1, 1500, 7_800), (1, 1200, 6_500)))
WIDE = Rounds(items_per_user=1, scale=CLEAR, rounds=rounds((2, 1500, 7_800), (1, 1500, 7_000)))
TWICE = Sips(items_per_user=2, scale=CALM, rounds=rounds((2, 1500, 7_800), (2, 1500, 7_000)))
LOW = Rounds(items_per_user=1, scale=CALM, rounds=rounds((1, 1500, 2_500), (1, 1500, 3_000)))


def claim(mechanism: Rounds, epsilon: float, neighbors: Neighbors, m: int | None = None) -> float:
    goal = Indistinguishability(epsilon=epsilon, delta="1e-6", neighbors=neighbors)
    most = m or mechanism.items_per_user
    return float(rounds_delta(mechanism.rounds, mechanism.scale, most, goal))


def worst(
    mechanism: Rounds,
    others: dict[str, str],
    epsilon: float,
    neighbors: Neighbors,
    counting: Callable[[Log], Counting] = in_order,
) -> float:
    """The largest delta that one more user can need."""
    laws = {held: law_of(mechanism, {**others, "u": held}, counting) for held in HISTORIES}
    pairs = NEAR[neighbors]
    return max(least_delta(laws[a], laws[b], mechanism.scale, epsilon) for a, b in pairs)


@pytest.mark.parametrize("other", ["", "a", "ab"])
@pytest.mark.parametrize(
    ("mechanism", "others"),
    [
        (ONCE, crowd(a=13)),
        (ONCE, crowd(a=13, b=13)),
        (BOTH, crowd(ab=13)),
        (BOTH, crowd(ab=30)),
        (LED, {}),
        (LED, crowd(a=6, b=1)),
        (LED, crowd(ab=6)),
        (LED, crowd(ab=4, b=2)),
        (WIDE, crowd(ab=10)),
        (WIDE, crowd(a=5, ab=3)),
        (TWICE, crowd(ab=9)),
        (LOW, crowd(a=1)),
        (LOW, crowd(ab=2)),
        (LOW, {}),
    ],
)
def test_no_neighbours_need_more_than_is_claimed(
    mechanism: Rounds, others: dict[str, str], other: str
) -> None:
    log = {**others, "v": other}
    laws = {held: law_of(mechanism, {**log, "u": held}, in_order) for held in HISTORIES}
    for neighbors, pairs in NEAR.items():
        for epsilon in (0.02, 0.3, 1.0, 3.0):
            most = claim(mechanism, epsilon, neighbors)
            for a, b in pairs:
                found = least_delta(laws[a], laws[b], mechanism.scale, epsilon)
                assert found <= most + LITTLE


def test_some_neighbours_need_nearly_what_is_claimed() -> None:
    shares: dict[Neighbors, float] = {"add-remove": 0.95, "replace": 0.7}
    for neighbors, share in shares.items():
        found = worst(ONCE, crowd(a=13, b=13), 0.05, neighbors)
        assert share * claim(ONCE, 0.05, neighbors) < found
    alone = Rounds(items_per_user=1, scale=CALM, rounds=rounds((2, 1500, 6_000)))
    assert 0.9 * claim(alone, 3, "add-remove") < worst(alone, {}, 3, "add-remove")


# Faults


def test_a_lower_threshold_is_caught() -> None:
    def at(threshold: int) -> Rounds:
        return Rounds(items_per_user=1, scale=CALM, rounds=rounds((1, 1000, threshold)))

    most = claim(at(5000), 8, "add-remove")
    assert 0.999 * most < worst(at(5000), {}, 8, "add-remove") <= most
    for lower in (4999, 4000):  # `>=` in place of `>`, and a whole deviation
        assert worst(at(lower), {}, 8, "add-remove") > most


def test_weights_without_the_square_root_are_caught() -> None:
    class Full(Counting):
        def __call__(self, **asked: Any) -> list[pa.RecordBatch]:
            if "weights" in asked:
                asked["weights"] = [WEIGHT] * asked["bound"]
            return super().__call__(**asked)

    mechanism = Rounds(items_per_user=1, scale=CALM, rounds=rounds((4, 2000, 13_700)))
    counting = partial(Full, rank=lambda _, item: item, parts=1)
    most = claim(mechanism, 0.05, "add-remove")
    for number, right, how in ((13, False, counting), (27, True, in_order)):
        others = crowd(abcd=number)
        one, other = (law_of(mechanism, {**others, "u": held}, how) for held in ("abcd", ""))
        assert (least_delta(one, other, CALM, 0.05) <= most) == right


def test_the_square_root_of_two_forgotten_under_replace_is_caught() -> None:
    assert worst(ONCE, crowd(a=13, b=13), 0.05, "replace") > claim(ONCE, 0.05, "add-remove")


def test_the_sensitivity_of_counts_forgotten_is_caught() -> None:
    sharp = Rounds(items_per_user=2, scale=CLEAR, rounds=rounds((2, 8000, 60_000)))
    found = worst(sharp, crowd(ab=200), 0.3, "add-remove")
    assert claim(sharp, 0.3, "add-remove", m=1) < found <= claim(sharp, 0.3, "add-remove")


def test_noise_on_given_items_alone_is_caught() -> None:
    class Given(Counting):
        def __call__(self, **asked: Any) -> list[pa.RecordBatch]:
            return super().__call__(**{**asked, "at_least": 1 if "weights" in asked else 0})

    # All but one user have both items and give a: only she can put b on the list.
    mechanism = Rounds(
        items_per_user=1, scale=CALM, rounds=rounds((1, 3000, 15_000), (1, 3000, 15_000))
    )
    others, most = crowd(ab=5), claim(mechanism, 4, "add-remove")
    assert worst(mechanism, others, 4, "add-remove") <= most
    counting = partial(Given, rank=lambda _, item: item, parts=1)
    assert worst(mechanism, others, 4, "add-remove", counting) > most


def test_steering_by_true_weights_is_caught() -> None:
    def bare(each: Round, steers: bool, random: Any, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch if steers else noised(each, steers, random, batch)

    noised = steering._noisy_rows
    others, most = crowd(ab=6, b=6), claim(LED, 0.3, "add-remove")
    assert worst(LED, others, 0.3, "add-remove") <= most
    with patch.object(steering, "_noisy_rows", bare):
        assert worst(LED, others, 0.3, "add-remove") > most
