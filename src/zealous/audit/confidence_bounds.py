"""From samples of two neighbouring logs to bounds that hold with known confidence.

(epsilon, delta) means p <= exp(epsilon) q + delta for the probabilities p and q of any event under
the two logs. An event is chosen on one half of the samples and measured on the other, so that the
bounds on p and q are exact whatever the choice was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Counts: TypeAlias = npt.NDArray[np.int64]
_STEPS = 48  # of bisection: the bounds are good to 1e-14, and rounded outwards
_SEEN = 0.95
_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """p <= exp(epsilon) q + delta, for every event."""

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class EventCounts:
    """How often one event was seen in `trials` runs on each of two logs.

    Attributes:
        here: On the log whose users the event would betray.
        there: On its neighbour; None where the event is impossible there.
        trials: How many runs on each.
        alpha: The chance that `bounds` is wrong.
    """

    here: int
    there: int | None
    trials: int
    alpha: float

    def bounds(self) -> tuple[float, float]:
        """A lower bound on p and an upper bound on q."""
        if self.there is None:
            return clopper_pearson_lower(self.here, self.trials, self.alpha), 0.0
        return (
            clopper_pearson_lower(self.here, self.trials, self.alpha / 2),
            clopper_pearson_upper(self.there, self.trials, self.alpha / 2),
        )

    def epsilon(self, delta: float) -> float:
        """No smaller epsilon is true beside this delta."""
        return _epsilon(*self.bounds(), delta)

    def delta(self, epsilon: float) -> float:
        """No smaller delta is true beside this epsilon."""
        p, q = self.bounds()
        return max(0.0, p - math.exp(epsilon) * q)

    def violates(self, claim: Claim) -> bool:
        """Whether the claim is false, but for a chance of alpha."""
        p, q = self.bounds()
        return p > math.exp(claim.epsilon) * q + claim.delta


@cache  # many events were seen equally often
def clopper_pearson_lower(successes: int, trials: int, alpha: float) -> float:
    """Clopper and Pearson's lower bound on a probability: wrong with chance alpha at most."""
    if successes == 0:
        return 0.0
    low, high = 0.0, successes / trials
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _upper_tail(successes, trials, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def clopper_pearson_upper(successes: int, trials: int, alpha: float) -> float:
    """Clopper and Pearson's upper bound on a probability: wrong with chance alpha at most."""
    return 1.0 - clopper_pearson_lower(trials - successes, trials, alpha)


def _upper_tail(k: int, n: int, p: float) -> float:
    """P(X >= k) for X binomial and k above its mean, where each term is below the one before."""
    if p == 0.0:
        return 0.0
    log_ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    first = log_ways + k * math.log(p) + (n - k) * math.log1p(-p)
    term = total = 1.0
    odds = p / (1 - p)
    for i in range(k, n):
        term *= (n - i) / (i + 1) * odds
        total += term
        if term < 1e-16 * total:
            break
    return math.exp(min(0.0, first + math.log(total)))


def choose_events(here: Counts, there: Counts, claim: Claim, alpha: float) -> tuple[Counts, Counts]:
    """The two events that promise most against a claim, each as the outcomes it consists of.

    Outcomes are ordered by their estimated log-likelihood ratio, and an event is a beginning of
    that order (Neyman and Pearson: no other event of its size tells the logs apart better).

    Args:
        here: How often each outcome was seen on one log, in the half kept for choosing.
        there: The same on the other.
        claim: What the events are to contradict.
        alpha: The chance of error with which they will be measured.

    Returns:
        The event with the largest promised epsilon, and the one that exceeds the claim by most
        standard errors.
    """
    seen = np.flatnonzero(here + there)
    ratio = np.log((here[seen] + 0.5) / (there[seen] + 0.5))
    order = seen[np.argsort(-ratio, kind="stable")]
    z = _NORMAL.inv_cdf(1 - alpha / 2)
    p = _wilson(np.cumsum(here[order]), int(here.sum()), -z)
    q = _wilson(np.cumsum(there[order]), int(there.sum()), z)
    by_epsilon = np.maximum(p - claim.delta, 1e-300) / q
    by_delta = _excess(np.cumsum(here[order]), np.cumsum(there[order]), int(here.sum()), claim)
    return order[: int(np.argmax(by_epsilon)) + 1], order[: int(np.argmax(by_delta)) + 1]


def _excess(here: Counts, there: Counts, trials: int, claim: Claim) -> npt.NDArray[np.float64]:
    """By how many standard errors each event exceeds what the claim allows."""
    p, q = (here + 0.5) / (trials + 1), (there + 0.5) / (trials + 1)
    factor = math.exp(claim.epsilon)
    variance = (p * (1 - p) + factor**2 * q * (1 - q)) / trials
    return np.asarray((p - factor * q - claim.delta) / np.sqrt(variance))


def _wilson(successes: Counts | float, trials: int, z: float) -> npt.NDArray[np.float64]:
    """Wilson's score bound: near to Clopper and Pearson's, for whole arrays."""
    share = successes / trials
    spread = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return np.asarray((share + z * z / (2 * trials) + spread) / (1 + z * z / trials))


def detectable_epsilon_excess(events: list[EventCounts], claim: Claim) -> float:
    """The smallest excess of epsilon that one of these events shows with 95 % probability.

    Each event keeps the probability p with which it was seen here, and its probability q on the
    other log falls to (p - delta) / exp(epsilon + excess).
    """

    def powers(excess: float) -> list[float]:
        shares = [max(0.0, event.here / event.trials - claim.delta) for event in events]
        rarer = [share / math.exp(claim.epsilon + excess) for share in shares]
        return [
            _power(event, event.here / event.trials, q, claim)
            for event, q in zip(events, rarer, strict=True)
        ]

    return _smallest_detectable(powers)


def detectable_delta_excess(events: list[EventCounts], claim: Claim) -> float:
    """The smallest excess of delta that one of these events shows with 95 % probability.

    Each event keeps the probability q with which it was seen on the other log, and its probability
    here grows to exp(epsilon) q + delta + excess.
    """
    shares = [(event.there or 0) / event.trials for event in events]

    def powers(excess: float) -> list[float]:
        allowed = (math.exp(claim.epsilon) * q + claim.delta for q in shares)
        return [
            _power(event, most + excess, q, claim)
            for event, most, q in zip(events, allowed, shares, strict=True)
        ]

    return _smallest_detectable(powers)


def _smallest_detectable(powers: Callable[[float], list[float]]) -> float:
    """The first of ever larger excesses that is seen; each is 2 % larger than the one before."""
    for step in range(750):
        excess = 1e-5 * 1.02**step
        if math.prod(1 - power for power in powers(excess)) <= 1 - _SEEN:
            return excess
    return math.inf


def _power(event: EventCounts, p: float, q: float, claim: Claim) -> float:
    """The chance that the event contradicts the claim where its probabilities are p and q."""
    if p >= 1.0:
        return 0.0  # there is no such violation: nothing can become that likely
    n = event.trials
    z = _NORMAL.inv_cdf(1 - event.alpha / (1 if event.there is None else 2))
    low = float(_wilson(p * n, n, -z))
    high = float(_wilson(q * n, n, z)) if event.there is not None else 0.0
    gap = low - math.exp(claim.epsilon) * high - claim.delta
    spread = math.sqrt((p * (1 - p) + math.exp(2 * claim.epsilon) * q * (1 - q)) / n)
    return _NORMAL.cdf(gap / spread) if spread else float(gap > 0)


def _epsilon(p: float, q: float, delta: float) -> float:
    if p <= delta:
        return 0.0
    return max(0.0, math.log((p - delta) / q)) if q > 0 else math.inf
