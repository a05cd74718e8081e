"""Every tiny log, every neighbour and every output of the paper's algorithm.

This shares nothing with the code under test but the algorithm's definition: noise comes from
scipy, logs, neighbours and outputs are listed. Only the claims are asked of zealous.

An output says of each item that it is absent, or its noisy count. Two counts differ in the odds of
a noisy count v only where v lies below the larger of them, so all v from the highest possible count
on are one outcome with one likelihood ratio, and the list of outputs is finite without cutting
anything off.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import dlaplace

from zealous.privacy.calibrate import covers_absence
from zealous.privacy.guarantee import Neighbors

Counts = tuple[int, ...]
Law = npt.NDArray[np.float64]  # the probability of each output
EQUAL = 1e-9
same = partial(pytest.approx, rel=EQUAL, abs=1e-13)
NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


@dataclass(frozen=True, kw_only=True)
class World:
    """All logs of at most so many users; a user who is missing has an empty history."""

    users: int
    items: int
    most: int  # m
    neighbors: Neighbors

    def moved(self) -> int:
        return 2 * self.most if self.neighbors == "replace" else self.most


@dataclass(frozen=True, kw_only=True)
class Parameters:
    scale: Fraction
    tau: int
    tau_prime: int


def histories(items: int, most: int) -> list[Counts]:
    """Every set of at most so many items, as zeros and ones."""
    return [held for held in itertools.product((0, 1), repeat=items) if sum(held) <= most]


def add(logs: Iterable[Sequence[int]]) -> Counts:
    return tuple(sum(column) for column in zip(*logs, strict=True))


def changes(held: Counts, to: Counts, neighbors: Neighbors) -> bool:
    """Whether one user's step from one history to another is a neighbouring step."""
    return held != to and (neighbors == "replace" or not any(held) or not any(to))


@cache
def neighborhoods(world: World) -> list[tuple[Counts, frozenset[Counts]]]:
    """For every log its counts, and the counts of each of its neighbours."""
    possible = histories(world.items, world.most)
    found = set()
    for log in itertools.combinations_with_replacement(possible, world.users):
        others = [(held, add([*log[:i], *log[i + 1 :]])) for i, held in enumerate(log)]
        near = frozenset(
            add([rest, to])
            for held, rest in others
            for to in possible
            if changes(held, to, world.neighbors)
        )
        found.add((add(log), near))
    return sorted(found, key=lambda each: (each[0], sorted(each[1])))


@cache
def outcome(count: int, highest: int, release: Parameters) -> Law:
    """The chances that one item is absent, shown at tau' + 1, ..., and shown at `highest` or more.

    `highest` is the largest count that any log has, or more: beyond it nothing changes.
    """
    noise, least = dlaplace(1 / float(release.scale)), release.tau_prime + 1
    last = max(highest, least)
    if count < release.tau:
        return np.array([1.0] + [0.0] * (last - least + 1))
    shown = noise.pmf(np.arange(least, last) - count)
    # By symmetry, P(eta >= x) = P(eta <= -x): scipy's own upper tail loses its digits.
    return np.array([noise.cdf(release.tau_prime - count), *shown, noise.cdf(count - last)])


def laws(every: Iterable[Counts], highest: int, release: Parameters) -> dict[Counts, Law]:
    """The probability of every output, for each vector of counts."""
    single = [outcome(count, highest, release) for count in range(highest + 1)]
    found = {}
    for counts in every:
        law = np.ones(1)
        for count in counts:
            law = np.outer(law, single[count]).ravel()
        found[counts] = law
    return found


def bad(law: Law, others: Law, epsilon: float) -> npt.NDArray[np.bool_]:
    """The outputs that tell this log from some neighbour by more than exp(epsilon), either way."""
    most = np.exp(epsilon) * (1 + EQUAL)
    return ((law > most * others) | (others > most * law)).any(axis=0)


def in_all_logs(world: World, release: Parameters) -> Iterator[tuple[Law, Law]]:
    """For every log, the law of its output and those of its neighbours."""
    near = neighborhoods(world)
    law_of = laws({counts for counts, _ in near}, world.users, release)
    for counts, others in near:
        if others:
            yield law_of[counts], np.stack([law_of[other] for other in others])


def probabilistic_delta(world: World, release: Parameters, epsilon: float) -> float:
    """The least delta with which (epsilon, delta)-probabilistic differential privacy holds."""
    return max(law[bad(law, near, epsilon)].sum() for law, near in in_all_logs(world, release))


def indistinguishable_delta(world: World, release: Parameters, epsilon: float) -> float:
    """The least delta' with which (epsilon, delta')-indistinguishability holds."""
    return max(
        np.maximum(law - np.exp(epsilon) * near, 0).sum(axis=1).max()
        for law, near in in_all_logs(world, release)
    )


def covered(release: Parameters) -> bool:
    return covers_absence(release.scale, release.tau_prime - release.tau)


def merged(one: Law, other: Law) -> tuple[Law, Law]:
    """Outputs of the same likelihood ratio as one output, which loses nothing."""
    odds = np.round(one[one + other > 0] / (one + other)[one + other > 0], 12)
    _, place = np.unique(odds, return_inverse=True)
    return (
        np.bincount(place, one[one + other > 0]).astype(np.float64),
        np.bincount(place, other[one + other > 0]).astype(np.float64),
    )
