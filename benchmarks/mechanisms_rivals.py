"""Set unions of the literature, written again for mechanisms.py, with counts bought afterwards.

Each finds keys with four fifths of mu^2 and counts at most ten keys of each user with the rest, as
pooled rounds do, at half of delta for exposure. Noise is continuous here. Neighbours: add-remove.

- *Weighted Gaussian* (Gopi et al. 2020; WGM of Google's dp_mm_domain): a user of n items gives
  1/sqrt(n) to each.
- *Policy Gaussian*, L2 descent (the same paper): users come one after the other and each moves the
  weights of her items by 1 towards a cap. The map is a contraction, so the sensitivity is 1.

The greedy policy (Carvalho et al. 2022, also in dp_mm_domain) is left out: its delta is for one
item that the person alone has, but without her other people's weight moves on too. It may go to
two items of theirs by one half each, at 2 exp(-epsilon/2) of the claimed delta: 1.21 at epsilon 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

COUNTED = 10  # keys of each user
KEYS = 0.8  # of mu^2
BOUNDS = (10, 30, 100, 300)
_ABOVE = 3  # deviations that the policy's cap is above the threshold
_NORMAL = NormalDist()


class Pairs:
    """Who has what, in the order of users: each user's items stand together, in random order.

    Args:
        users: A code for each pair.
        items: Likewise.
        random: Where randomness comes from.
    """

    def __init__(self, users: Ints, items: Ints, random: np.random.Generator) -> None:
        order = np.lexsort((random.random(len(users)), users))
        self.users, self.items = users[order], items[order]
        self.places = np.arange(len(users)) - np.searchsorted(self.users, self.users)
        self.number = int(items.max()) + 1

    def kept(self, bound: int, only: npt.NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """(users, items): at most `bound` items of each user, of those that `only` marks."""
        if only is None:
            chosen = self.places < bound
            return self.users[chosen], self.items[chosen]
        users, items = self.users[only[self.items]], self.items[only[self.items]]
        chosen = np.arange(len(users)) - np.searchsorted(users, users) < bound
        return users[chosen], items[chosen]


def weighted_gaussian(pairs: Pairs, bound: int, _: float) -> Floats:
    """The weight of each item."""
    users, items = pairs.kept(bound)
    given = 1 / np.sqrt(np.bincount(users))
    return np.asarray(np.bincount(items, given[users], pairs.number), np.float64)


def policy_gaussian(pairs: Pairs, bound: int, cap: float) -> Floats:
    """The weight of each item after all users, in the order of their codes, moved towards a cap."""
    users, items = pairs.kept(bound)
    weights = np.zeros(pairs.number)
    for held in np.split(items, np.flatnonzero(np.diff(users)) + 1):
        left = cap - weights[held]
        length = math.sqrt(left @ left)
        weights[held] += left if length <= 1 else left / length
    return weights


RIVALS: dict[str, Callable[[Pairs, int, float], Floats]] = {
    "weighted Gaussian": weighted_gaussian,
    "policy Gaussian": policy_gaussian,
}


def draw(
    name: str, pairs: Pairs, bound: int, epsilon: float, delta: float, random: np.random.Generator
) -> Callable[[], tuple[Ints, Ints]]:
    """What draws (items, counts), again and again: weights are made once, noise every time."""
    mu = _largest_mu(epsilon, delta / 2)
    sigma = 1 / (mu * math.sqrt(KEYS))
    threshold = max(
        1 / math.sqrt(t) - sigma * _NORMAL.inv_cdf(-math.expm1(math.log1p(-delta / 2) / t))
        for t in range(1, bound + 1)
    )
    weights = RIVALS[name](pairs, bound, threshold + _ABOVE * sigma)
    held = np.zeros(pairs.number, np.bool_)
    held[pairs.kept(bound)[1]] = True

    def release() -> tuple[Ints, Ints]:
        keys = held & (weights + random.normal(0, sigma, pairs.number) > threshold)
        items = np.flatnonzero(keys)
        counted = np.bincount(pairs.kept(COUNTED, keys)[1], minlength=pairs.number)[items]
        noise: Any = random.normal(0, math.sqrt(COUNTED / (1 - KEYS)) / mu, len(items))
        return items, counted + np.rint(noise).astype(np.int64)

    return release


def _largest_mu(epsilon: float, delta: float) -> float:
    """Of Gaussian noise, by its exact hockey stick."""
    low, high = 1e-6, 10.0
    while high - low > 1e-9:
        mu = (low + high) / 2
        told = _NORMAL.cdf(mu / 2 - epsilon / mu)
        told -= math.exp(epsilon) * _NORMAL.cdf(-mu / 2 - epsilon / mu)
        low, high = (mu, high) if told <= delta else (low, mu)
    return low
