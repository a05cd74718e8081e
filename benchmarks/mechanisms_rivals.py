"""Set unions of the literature, written again for mechanisms.py, with counts bought afterwards.

Each but one finds keys with four fifths of mu^2 and counts at most ten keys of each user with the
rest, as pooled rounds do, at half of delta for exposure; in keys.py with all of mu^2, and nothing
is counted. Noise is continuous here. Neighbours: add-remove.

- *Weighted Gaussian* (Gopi et al. 2020; WGM of Google's dp_mm_domain): a user of n items gives
  1/sqrt(n) to each.
- *Policy Gaussian*, L2 descent (the same paper): users come one after the other, in an order that
  nobody's data decides, and each moves the weights of her items by 1 towards a cap. With y the
  distances to the cap of her items, she makes of y the vector y (1 - 1/|y|), or 0 within 1: the
  proximal map of the norm, which brings no two vectors further apart. So one user more or less
  moves all weights by at most 1 together. tests/project/test_benchmarks.py tries it.
- *DP-SIPS* (Swanberg et al. 2023): the weighted Gaussian three times, with 0.065, 0.216 and 0.719
  of the budget, each time over what is no key yet.
- *Repeated selection* (ours; `selection-twice` took its place): the optimal key selection with one
  item of each user, two or three times, each time over what is no key yet. Each time is
  (epsilon_i, delta_i) given what was published before (docs/proofs/selection.md), so both add up.
  Its counts are those of the time at which an item was found, and come at no further cost. Noise is
  exact.
- *Steered rounds*: what zealous 0.1.0 had before pooled rounds: three rounds in which users give
  at most 100, 6 and 2 items, those of the largest noisy weight so far.

The greedy policy (Carvalho et al. 2022, also in dp_mm_domain) is left out: its delta is for one
item that the person alone has, but without her other people's weight moves on too. It may go to
two items of theirs by one half each, at 2 exp(-epsilon/2) of the claimed delta: 1.21 at epsilon 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.mechanisms.selection import Selection
from zealous.privacy.guarantee import Indistinguishability

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.bool_]
Random = np.random.Generator
Find = Callable[[], Keys]

COUNTED = 10  # keys of each user
KEYS = 0.8  # of mu^2
BOUNDS = (10, 30, 100, 300)
REPEATED = ("0.15 0.85", "0.06 0.14 0.8")  # shares of epsilon and of delta
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

    def kept(
        self, bound: int, only: Keys | None = None, first: Floats | None = None
    ) -> tuple[Ints, Ints]:
        """(users, items): at most `bound` items of each user.

        Args:
            bound: How many.
            only: Which items; all where not given.
            first: The larger here, the sooner an item is kept; by chance where not given.
        """
        if only is None:
            chosen = self.places < bound
            return self.users[chosen], self.items[chosen]
        users, items = self.users[only[self.items]], self.items[only[self.items]]
        if first is not None:
            order = np.lexsort((-first[items], users))
            users, items = users[order], items[order]
        chosen = np.arange(len(users)) - np.searchsorted(users, users) < bound
        return users[chosen], items[chosen]


Finder = Callable[[Pairs, int, float, float, Random], Find]


def weights_of(pairs: Pairs, users: Ints, items: Ints) -> Floats:
    """The weight of each item where a user of n items gives 1/sqrt(n) to each."""
    given = 1 / np.sqrt(np.bincount(users, minlength=1))
    return np.asarray(np.bincount(items, given[users], pairs.number), np.float64)


def descend(pairs: Pairs, bound: int, cap: float) -> Floats:
    """The weight of each item after all users, in the order of their codes, moved towards a cap."""
    users, items = pairs.kept(bound)
    weights = np.zeros(pairs.number)
    for held in np.split(items, np.flatnonzero(np.diff(users)) + 1):
        left = cap - weights[held]
        length = math.sqrt(left @ left)
        weights[held] += left if length <= 1 else left / length
    return weights


def threshold_for(bound: int, sigma: float, delta: float) -> float:
    """What none of the items passes that one user alone gives, but with that chance."""
    return max(
        1 / math.sqrt(t) - sigma * _NORMAL.inv_cdf(-math.expm1(math.log1p(-delta) / t))
        for t in range(1, bound + 1)
    )


def _one_round(weigh: Callable[[Pairs, int, float], Floats]) -> Finder:
    def finder(pairs: Pairs, bound: int, mu: float, delta: float, random: Random) -> Find:
        threshold = threshold_for(bound, 1 / mu, delta)
        weights = weigh(pairs, bound, threshold + _ABOVE / mu)
        held = np.zeros(pairs.number, np.bool_)
        held[pairs.kept(bound)[1]] = True
        return lambda: held & (weights + random.normal(0, 1 / mu, pairs.number) > threshold)

    return finder


def _rounds(
    bounds: Sequence[int | None], shares: Sequence[float], exposed: Sequence[float], steered: bool
) -> Finder:
    """Several rounds, each over what is no key yet; None for the bound that is asked for."""

    def finder(pairs: Pairs, bound: int, mu: float, delta: float, random: Random) -> Find:
        def find() -> Keys:
            keys = np.zeros(pairs.number, np.bool_)
            noisy = np.zeros(pairs.number)
            for most, share, part in zip(bounds, shares, exposed, strict=True):
                most, sigma = most or bound, 1 / (mu * math.sqrt(share))
                users, items = pairs.kept(most, ~keys, noisy if steered else None)
                noisy = weights_of(pairs, users, items) + random.normal(0, sigma, pairs.number)
                held = np.zeros(pairs.number, np.bool_)
                held[items] = True
                keys |= held & (noisy > threshold_for(most, sigma, part * delta))
            return keys

        return find

    return finder


_SIPS = (0.065, 0.216, 0.719)
RIVALS: dict[str, Finder] = {
    "weighted Gaussian": _one_round(lambda pairs, bound, _: weights_of(pairs, *pairs.kept(bound))),
    "policy Gaussian": _one_round(descend),
    "DP-SIPS": _rounds((None,) * 3, _SIPS, _SIPS, steered=False),
    "steered rounds": _rounds(
        (100, 6, 2), (0.25, 0.3125, 0.4375), (1 / 3, 1 / 3, 1 / 3), steered=True
    ),
}


def draw(
    name: str, pairs: Pairs, bound: int, epsilon: float, delta: float, random: Random
) -> Callable[[], tuple[Ints, Ints]]:
    """What draws (items, counts), again and again."""
    find = find_keys(name, pairs, bound, epsilon, delta, random, share=KEYS)
    mu = _largest_mu(epsilon, delta / 2)

    def release() -> tuple[Ints, Ints]:
        keys = find()
        items = np.flatnonzero(keys)
        counted = np.bincount(pairs.kept(COUNTED, keys)[1], minlength=pairs.number)[items]
        noise: Any = random.normal(0, math.sqrt(COUNTED / (1 - KEYS)) / mu, len(items))
        return items, counted + np.rint(noise).astype(np.int64)

    return release


def find_keys(
    name: str,
    pairs: Pairs,
    bound: int,
    epsilon: float,
    delta: float,
    random: Random,
    *,
    share: float = 1,
) -> Find:
    """What finds keys, again and again, with such a share of mu^2."""
    mu = _largest_mu(epsilon, delta / 2) * math.sqrt(share)
    return RIVALS[name](pairs, bound, mu, delta / 2, random)


def repeat_selection(
    pairs: Pairs, shares: Sequence[Fraction], epsilon: int, delta: str
) -> Callable[[], tuple[Ints, Ints]]:
    """What draws (items, counts) of repeated selection, with such shares of epsilon and delta."""
    goals = [
        Indistinguishability(
            epsilon=epsilon * each, delta=Fraction(delta) * each, neighbors="add-remove"
        )
        for each in shares
    ]
    passes = [Selection.calibrate(each, 1) for each in goals]

    def release() -> tuple[Ints, Ints]:
        keys, counts = np.zeros(pairs.number, np.bool_), np.zeros(pairs.number, np.int64)
        for each in passes:
            counted = np.bincount(pairs.kept(1, ~keys)[1], minlength=pairs.number)
            found = _published(each, counted)
            keys[found["item"]], counts[found["item"]] = True, found["count"]
        return np.flatnonzero(keys), counts[keys]

    return release


def _published(mechanism: Selection, counted: Ints) -> pa.Table:
    """What the mechanism publishes of such counts."""
    held = np.flatnonzero(counted)
    batch = pa.record_batch({"item": held, "count": counted[held]})
    return pa.Table.from_batches(mechanism.release(lambda **_: [batch]))


def _largest_mu(epsilon: float, delta: float) -> float:
    """Of Gaussian noise, by its exact hockey stick."""
    low, high = 1e-6, 10.0
    while high - low > 1e-9:
        mu = (low + high) / 2
        told = _NORMAL.cdf(mu / 2 - epsilon / mu)
        told -= math.exp(epsilon) * _NORMAL.cdf(-mu / 2 - epsilon / mu)
        low, high = (mu, high) if told <= delta else (low, mu)
    return low
