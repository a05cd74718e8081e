"""What is claimed for selection twice, against the truth of tiny logs.

The truth is exact but for noise that no float would notice: all that the noise of the first time
can be is listed, with what everybody then chooses, and the second time is a product of laws.
Everything that was drawn the first time counts as seen, also what is not published; so does which
items were held to one more. Nothing is shared with the code under test but the definitions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import dlaplace

from zealous.mechanisms.selection import Selection
from zealous.mechanisms.selection_twice import SelectionTwice
from zealous.privacy.composition import delta_at
from zealous.privacy.guarantee import Indistinguishability, Neighbors

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
History = tuple[int, ...]  # items in the order of the key: the first one is chosen first
Log = tuple[History, ...]

EQUAL = 1e-9


def selection(scale: Any, tau_prime: int, longer: Any) -> Selection:
    return Selection(
        items_per_user=1,
        scale=Fraction(scale),
        tau=1,
        tau_prime=tau_prime,
        raised_probability=Fraction(longer),
    )


def twice(first: Selection, second: Selection) -> SelectionTwice:
    return SelectionTwice(items_per_user=3, first=first, second=second)


MECHANISMS = [
    twice(selection(1, 1, 0), selection(1, 1, "1/4")),
    twice(selection(2, 2, "1/2"), selection("1/2", 1, "1/4")),
    twice(selection("1/2", 3, 0), selection("1/2", 0, 0)),
]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A mechanism as it is, which a fault may have made another than it says."""

    says: SelectionTwice
    by_true_counts: bool = False  # users choose by them the second time
    only_chosen: bool = False  # what nobody chose the first time has no noise, and is never chosen
    votes: int = 1  # for so many items each user counts the second time


@cache
def noise(scale: Fraction, most: int) -> tuple[Ints, Floats]:
    """Discrete Laplace noise that is at most `most`: its values and their chances."""
    values = np.arange(-math.ceil(30 * scale), most + 1)
    chances = dlaplace(1 / float(scale)).pmf(values)
    return values, chances / chances.sum()


@cache
def drawn(made: Selection, highest: int) -> tuple[Ints, Ints, Floats]:
    """Noisy counts, what they must be above, and the chances of both for each true count."""
    rows = []
    for more, part in ((0, 1 - made.raised_probability), (1, made.raised_probability)):
        if not part:
            continue
        most = made.tau_prime + more
        values, chances = noise(made.scale, most)
        seen = np.arange(values[0], values[-1] + highest + 1)
        law = np.zeros((highest + 1, len(seen)))
        for count in range(highest + 1):
            law[count, count : count + len(values)] = float(part) * chances
        rows.append((seen, np.full(len(seen), most), law))
    seen, held_to, law = (np.concatenate(each, axis=-1) for each in zip(*rows, strict=True))
    return seen, held_to, law


@cache
def second_law(made: Selection, count: int, highest: int) -> Floats:
    """The chances that an item is absent, and of each published count."""
    seen, held_to, law = drawn(made, highest)
    shown = seen > held_to
    places = np.where(shown, seen, 0)
    return np.bincount(places, law[count], minlength=int(seen.max()) + 1).astype(np.float64)


def chosen(log: Log, score: Sequence[Ints], votes: int) -> list[Ints]:
    """How many users choose each item, by scores for everything that was drawn; least is chosen."""
    found = [np.zeros(score[0].shape, np.int64) for _ in score]
    for history in log:
        if not history:
            continue
        # Ties are broken by the key: a history stands in its order.
        own = np.stack([score[item] * 10 + place for place, item in enumerate(history)])
        order = np.argsort(own, axis=0)
        for vote in range(min(votes, len(history))):
            for place, item in enumerate(history):
                takes = (order[vote] == place) & (score[item] < _OUT)
                found[item] += takes
    return found


_OUT = 10**6


def seen_first(made: Made, log: Log, items: int) -> tuple[Floats, list[Ints]]:
    """The chance of all that can be drawn the first time, and what is chosen then."""
    says, highest = made.says, 3
    first = [sum(history[:1] == (item,) for history in log) for item in range(items)]
    seen, held_to, law = drawn(says.first, highest)
    shape = [len(seen)] * items
    chance = reduce(np.multiply.outer, [law[count] for count in first]).ravel()
    places = np.indices(shape).reshape(items, -1)
    scores = []
    for item in range(items):
        noisy, above = seen[places[item]], seen[places[item]] > held_to[places[item]]
        steering = np.full_like(noisy, first[item]) if made.by_true_counts else noisy
        score = np.abs(steering - says.second.tau_prime)
        out = above | (made.only_chosen and first[item] == 0)
        scores.append(np.where(out, _OUT, score))
    return chance, chosen(log, scores, made.votes)


def true_delta(made: Made, log: Log, other: Log, items: int, epsilon: float) -> float:
    """The least delta for which this log is not told from the other, one way."""
    (p, ours), (q, theirs) = (seen_first(made, each, items) for each in (log, other))
    # Equal choices and equal odds are one outcome: what follows has the same law in all of them.
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(p > 0, np.round(np.log(q) - np.log(p), 9), 0)
    code = reduce(lambda so_far, each: so_far * 8 + each, [*ours, *theirs])
    kept = p > 0
    both = np.stack([code[kept].astype(np.float64), odds[kept]])
    _, place, group = np.unique(both, axis=1, return_index=True, return_inverse=True)
    group = group.ravel()
    p_sum, q_sum = (np.bincount(group, each[kept]) for each in (p, q))
    total = 0.0
    for number, at in enumerate(place):
        counts = [(int(a[kept][at]), int(b[kept][at])) for a, b in zip(ours, theirs, strict=True)]
        differ = [pair for pair in counts if pair[0] != pair[1]]
        law, near = np.ones(1), np.ones(1)
        for mine, other_count in differ:
            law = np.outer(law, second_law(made.says.second, mine, 4)).ravel()
            near = np.outer(near, second_law(made.says.second, other_count, 4)).ravel()
        told = p_sum[number] * law - math.exp(epsilon) * q_sum[number] * near
        total += float(np.maximum(told, 0).sum())
    return total


def orders(items: int) -> list[History]:
    """Every history, in every order that the key can give it."""
    return [
        order for size in range(items + 1) for order in itertools.permutations(range(items), size)
    ]


def neighbours(items: int, others: int, relation: Neighbors) -> list[tuple[Log, Log]]:
    """Each log and what it may become by one user, under one key for both.

    A key that orders her items one way in one history may order them otherwise in another: it
    ranks all of her items, so her histories must agree in the order of what both have.
    """
    found = []
    for rest in itertools.combinations_with_replacement(orders(items)[1:], others):
        for mine, then in itertools.permutations(orders(items), 2):
            shared = [item for item in mine if item in then]
            if shared != [item for item in then if item in mine]:
                continue
            if relation == "add-remove" and mine and then:
                continue
            found.append(((*rest, mine), (*rest, then)))
    return found


def epsilon_of(made: SelectionTwice, relation: Neighbors) -> Fraction:
    return (2 if relation == "replace" else 1) * (1 / made.first.scale + 1 / made.second.scale)


def goal_of(made: SelectionTwice, relation: Neighbors) -> Indistinguishability:
    epsilon = epsilon_of(made, relation)
    return Indistinguishability(epsilon=epsilon, delta="0.5", neighbors=relation)


def worst(
    made: Made, relation: Neighbors, worlds: Sequence[tuple[int, int]], epsilon: Any
) -> float:
    return max(
        true_delta(made, log, other, items, float(epsilon))
        for items, others in worlds
        for log, other in neighbours(items, others, relation)
    )


RELATIONS: tuple[Neighbors, ...] = ("add-remove", "replace")
TINY = ((2, 0), (1, 1), (2, 1), (2, 2))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("made", MECHANISMS, ids=["even", "steered", "narrow"])
def test_no_neighbours_need_more_than_is_claimed(made: SelectionTwice, relation: Neighbors) -> None:
    goal = goal_of(made, relation)
    claim = float(made.delta(goal))
    truth = worst(Made(says=made), relation, TINY, goal.epsilon)
    assert truth <= claim * (1 + EQUAL)
    # She may be published alone the first time or, if not, the second: nearly the whole claim.
    both = [float(each.publication_probability(1)) for each in (made.first, made.second)]
    assert truth >= (1 - (1 - both[0]) * (1 - both[1])) * (1 - EQUAL)
    told = delta_at([made.loss(relation)], goal.epsilon)
    assert truth <= float(told) * (1 + EQUAL)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("part", ["1/4", "1/2", "3/4"])
def test_the_loss_covers_every_smaller_epsilon(relation: Neighbors, part: str) -> None:
    made = MECHANISMS[0]
    epsilon = epsilon_of(made, relation) * Fraction(part)
    truth = worst(Made(says=made), relation, TINY[:2], epsilon)
    assert truth <= float(delta_at([made.loss(relation)], epsilon)) * (1 + EQUAL)


@pytest.mark.parametrize("relation", RELATIONS)
def test_three_items_need_no_more(relation: Neighbors) -> None:
    made = twice(selection("1/3", 1, 0), selection("1/3", 1, 0))
    goal = goal_of(made, relation)
    near = neighbours(3, 1, relation)[:: 7 if relation == "replace" else 3]
    truth = max(true_delta(Made(says=made), *pair, 3, float(goal.epsilon)) for pair in near)
    assert truth <= float(made.delta(goal)) * (1 + EQUAL)


# Planted faults are seen


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "fault",
    [{"by_true_counts": True}, {"only_chosen": True}, {"votes": 2}],
    ids=["chosen by true counts", "no noise for what nobody chose", "two votes"],
)
def test_a_fault_is_caught(relation: Neighbors, fault: dict[str, Any]) -> None:
    found = []
    for made in MECHANISMS[:2]:
        goal = goal_of(made, relation)
        truth = worst(Made(says=made, **fault), relation, TINY, goal.epsilon)
        found.append(truth > 1.02 * made.delta(goal))
    assert any(found)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_forgotten_delta_is_caught(relation: Neighbors) -> None:
    made = MECHANISMS[1]
    goal = goal_of(made, relation)
    truth = worst(Made(says=made), relation, TINY[:2], goal.epsilon)
    assert truth > 1.1 * max(_delta_of(each, relation) for each in (made.first, made.second))


def test_a_forgotten_epsilon_is_caught() -> None:
    """Where a user is added: under `replace` so few others hide nothing but what is exposed."""
    made = MECHANISMS[1]
    claim = made.delta(goal_of(made, "add-remove"))
    for each in (made.first, made.second):
        assert worst(Made(says=made), "add-remove", TINY[:2], 1 / each.scale) > 1.1 * claim


def _delta_of(made: Selection, relation: Neighbors) -> Fraction:
    epsilon = (2 if relation == "replace" else 1) / made.scale
    return made.delta(Indistinguishability(epsilon=epsilon, delta="0.5", neighbors=relation))
