"""Pure mathematics: a guarantee and m give lambda, tau and tau', and back.

With alpha = exp(-1/lambda), discrete Laplace noise eta has P(eta = z) = (1-alpha)/(1+alpha)
alpha^|z|. An item that stands at exactly tau users is published with probability T(tau' - tau),
T(t) = P(eta > t). The proofs are in docs/proofs/.

Every decision is taken on decimals that are rounded against us; floats only shorten the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from zealous.errors import UsageError
from zealous.privacy.guarantee import (
    SMALLEST,
    Guarantee,
    Indistinguishability,
    ProbabilisticDP,
    Unit,
    positive_integer,
)

_REMEMBERED = 4096  # results; planning, forecasts and checks ask for the same ones
_DIGITS = 60  # beyond the digits of K; see _context
_TINY = Decimal("1e-20")
# One part in 1e30: far above the error of _DIGITS digits, far below what matters. A literal, since
# arithmetic outside a context of our own would round it to 1.
_ROUND_UP = Decimal("1.000000000000000000000000000001")
_LEAST = Decimal(1) / Decimal(SMALLEST.denominator)
_MOST_SCANNED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The parameters of ZEALOUS, and the delta they achieve (an upper bound, nearly exact)."""

    scale: Fraction
    tau: int
    tau_prime: int
    delta: Fraction


def calibrate(goal: Guarantee, items_per_user: int) -> Calibration:
    """Find the parameters that publish the most under a guarantee.

    Guarantee:
        lambda is exactly 2m/epsilon (`replace`) or m/epsilon (`add-remove`), or a hair above where
        epsilon has more digits than the noise can be sampled with. The thresholds are the least
        tau' for which 1 - (1 - T(t))^K <= delta, t = tau' - tau >= 0. K counts the items that could
        stand at exactly tau and be breached: floor(U m / tau) for probabilistic differential
        privacy, which also asks T(t) <= 1 - alpha; m for indistinguishability, where tau = 1 is
        best.

    >>> calibrate(ProbabilisticDP(epsilon=1, delta="0.001", users=500_000), 2).tau_prime
    79
    >>> calibrate(Indistinguishability(epsilon=1, delta="1e-6"), 5).tau_prime
    148
    """
    if goal.pure:
        raise UsageError(
            "an item that one person alone has can only be protected with delta above 0, or over "
            "a public --domain"
        )
    m = positive_integer(items_per_user, "items_per_user")
    scale = scale_for(goal, m)
    taus = range(1, 2)
    if isinstance(goal, ProbabilisticDP):
        taus = _tau_range(scale, goal.users)
    search = _Search(scale, goal)
    _, _, tau, t = min(search.rank(tau, most_items_at_tau(goal, m, tau)) for tau in taus)
    while True:  # once, unless a float misled the search
        items = most_items_at_tau(goal, m, tau)
        if theorem_allows(goal, scale, t, items):
            delta = any_published_probability(scale, t, items)
            return Calibration(scale=scale, tau=tau, tau_prime=tau + t, delta=delta)
        t += 1


def scale_for(goal: Guarantee, items_per_user: int) -> Fraction:
    """M/epsilon, or a hair above it: at this scale the noise of M moved counts tells epsilon."""
    return _scale_for_sampler(goal.moved_counts(items_per_user) / goal.epsilon)


def most_items_at_tau(goal: Guarantee, items_per_user: int, tau: int) -> int:
    """K: how many items at exactly tau one bad output can be made of."""
    if isinstance(goal, ProbabilisticDP):
        return goal.users * items_per_user // tau
    return items_per_user


def theorem_allows(goal: Guarantee, scale: Fraction, t: int, items: int) -> bool:
    """Whether the theorem of a guarantee allows tau' = tau + t where K items can stand at tau."""
    if isinstance(goal, ProbabilisticDP) and not covers_absence(scale, t):
        return False
    return any_published_probability(scale, t, items) <= goal.delta


def satisfied_guarantees(
    *,
    scale: Fraction,
    tau: int,
    tau_prime: int,
    items_per_user: int,
    users: int | None = None,
    unit: Unit = "user",
) -> list[Guarantee]:
    """Say which guarantees given parameters satisfy: calibration the other way round.

    Where T(t) > 1 - alpha the absence of an item tells more than its noise would, and the epsilon
    of probabilistic differential privacy is raised to cover it. A guarantee whose delta would reach
    1 promises nothing and is left out.
    """
    positive_integer(tau, "tau")
    positive_integer(items_per_user, "items_per_user")
    if scale <= 0:
        raise UsageError("scale must be above 0")
    t = tau_prime - tau
    kinds: list[type[Guarantee]] = [Indistinguishability]
    if users is not None:
        kinds.insert(0, ProbabilisticDP)
    found: list[Guarantee] = []
    for kind in kinds:
        loss = 1 / scale
        if kind is ProbabilisticDP and not covers_absence(scale, t):
            loss = max(loss, _loss_of_absence(scale, t))
        for neighbors in ("replace", "add-remove"):
            asked = kind(epsilon=1, delta="0.5", users=users, neighbors=neighbors, unit=unit)
            delta = any_published_probability(
                scale, t, most_items_at_tau(asked, items_per_user, tau)
            )
            epsilon = loss * asked.moved_counts(items_per_user)
            if 0 < delta < 1:
                found.append(asked.with_budget(kind, epsilon=epsilon, delta=delta))
    return found


@lru_cache(maxsize=_REMEMBERED)
def tail(scale: Fraction, t: int) -> float:
    """T(t) = P(eta > t), for any integer t.

    >>> round(tail(Fraction(5), 39) * 2_000_000)
    369
    """
    return float(_tail(scale, t))


def publication_probability(calibration: Calibration, count: int) -> float:
    """The chance that an item of this many users (after bounding) is published."""
    if count < calibration.tau:
        return 0.0
    return tail(calibration.scale, calibration.tau_prime - count)


def least_count(calibration: Calibration, probability: float) -> int:
    """The fewest users with which an item is published with at least this probability."""
    low, high = calibration.tau, calibration.tau + 1
    while publication_probability(calibration, high) < probability:
        high += high
    while low < high:
        middle = (low + high) // 2
        if publication_probability(calibration, middle) < probability:
            low = middle + 1
        else:
            high = middle
    return low


def noise_quantile(scale: Fraction, confidence: float) -> int:
    """The least x with P(|eta| <= x) >= confidence."""
    alpha = math.exp(-1 / scale)
    x = scale * math.log(2 / ((1 + alpha) * (1 - confidence))) - 1
    return max(0, math.ceil(x - 1e-9))


@lru_cache(maxsize=_REMEMBERED)
def any_published_probability(scale: Fraction, t: int, items: int) -> Fraction:
    """1 - (1 - T(t))^K, rounded up: the chance that one of K items at tau is published."""
    with localcontext(_context(items)):
        published = _tail(scale, t)
        if items * published < _TINY:
            union = items * published  # an upper bound, too large by less than one part in 1e20
        else:
            union = 1 - (_absence(scale, t).ln() * items).exp()
        if union < _LEAST:
            return SMALLEST
        return Fraction(min(union * _ROUND_UP, Decimal(1)))


@lru_cache(maxsize=_REMEMBERED)
def covers_absence(scale: Fraction, t: int) -> bool:
    """T(t) <= 1 - alpha: an item's absence tells no more than a unit shift of its noise."""
    with localcontext(_context(1)):
        alpha = _exp_minus(1, scale)
        return _tail(scale, t) * _ROUND_UP <= 1 - alpha


def float_rounded_up(value: Fraction) -> float:
    """The least float that is not below an exact bound, so that a printed claim stays true."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def _scale_for_sampler(scale: Fraction) -> Fraction:
    """The scale, or the next one above it whose terms the exact sampler can hold."""
    if max(scale.numerator, scale.denominator) > 2**40:
        scale = Fraction(math.ceil(scale * 2**20), 2**20)
    if scale > 2**28:
        raise UsageError("epsilon is too small for this many items per user: raise it")
    return scale


def _loss_of_absence(scale: Fraction, t: int) -> Fraction:
    with localcontext(_context(1)):
        return Fraction(-_absence(scale, t).ln() * _ROUND_UP)


def _tail(scale: Fraction, t: int) -> Decimal:
    if t < 0:
        return 1 - _absence(scale, t)
    return _exp_minus(t + 1, scale) / (1 + _exp_minus(1, scale))


def _absence(scale: Fraction, t: int) -> Decimal:
    """1 - T(t), also where T(t) is so near 1 that the difference would be lost."""
    if t >= 0:
        return 1 - _tail(scale, t)
    return _exp_minus(-t, scale) / (1 + _exp_minus(1, scale))


def _exp_minus(x: int, scale: Fraction) -> Decimal:
    return (Decimal(-x * scale.denominator) / Decimal(scale.numerator)).exp()


def _context(items: int) -> Context:
    """Enough digits that 1 - (1 - T)^K keeps more than 30 of them when K T is above _TINY."""
    return Context(
        prec=_DIGITS + 2 * len(str(items)), rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX
    )


def _tau_range(scale: Fraction, users: int) -> range:
    """The optimum is near lambda; beyond U nothing could ever be published."""
    last = min(users, math.floor(4 * scale) + 5)
    if last <= _MOST_SCANNED:
        return range(1, last + 1)
    # A scale near a million: every tau gives a valid plan, so look around the optimum only.
    centre, reach = min(users, math.floor(scale)), _MOST_SCANNED // 2
    return range(max(1, centre - reach), min(users, centre + reach) + 1)


class _Search:
    """The least t for each tau in floating-point logarithms; exact where a float cannot tell."""

    def __init__(self, scale: Fraction, goal: Guarantee) -> None:
        self.scale, self.goal = scale, goal
        self.rate = float(1 / scale)
        self.log_one_plus_alpha = math.log1p(math.exp(-self.rate))
        self.log_most = math.inf  # of T(t)
        if isinstance(goal, ProbabilisticDP):
            self.log_most = math.log(-math.expm1(-self.rate))
        with localcontext(_context(1)):  # log(-log(1 - delta)), for a delta that no float can hold
            small = Decimal(goal.delta.numerator) / Decimal(goal.delta.denominator)
            loss = small if small < _TINY else -(1 - small).ln()
            self.log_loss = float(loss.ln())

    def rank(self, tau: int, items: int) -> tuple[int, float, int, int]:
        """(tau', log of -log(1 - delta), tau, t), to be minimised."""
        t = self._least_t(items)
        log_tail = -(t + 1) * self.rate - self.log_one_plus_alpha
        # -log(1 - delta) = -K log(1 - T), which orders as delta does.
        log_each = log_tail if log_tail < -30 else math.log(-math.log1p(-math.exp(log_tail)))
        return tau + t, math.log(items) + log_each, tau, t

    def _least_t(self, items: int) -> int:
        share = self.log_loss - math.log(items)
        log_each = share if share < -30 else math.log(-math.expm1(-math.exp(share)))
        most = min(log_each, self.log_most)
        real = (-most - self.log_one_plus_alpha) / self.rate - 1
        t = max(0, math.ceil(real))
        if abs(real - round(real)) < 1e-6:
            t = max(0, round(real))
            if not theorem_allows(self.goal, self.scale, t, items):
                t += 1
        return t
