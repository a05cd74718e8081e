"""The exact delta of noise between two thresholds, at any epsilon.

`calibrate` says which delta holds at epsilon = M/lambda, the most that the noise of M moved counts
can tell. For indistinguishability a smaller epsilon holds too, with a larger delta; here is how
large, exactly. The proofs are in docs/proofs/exact.md.

Decimals carry enough digits that their error stays below one part in 1e30 of the result, and the
result is raised by that part: every delta is an upper bound, and hardly above the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Protocol

from zealous.errors import UsageError
from zealous.privacy.calibrate import any_published_probability, satisfied_guarantees
from zealous.privacy.composition.normal import decimal
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    Number,
    exact_fraction,
    positive_integer,
)

_DIGITS = 100  # beyond those that the smallest number of interest takes
_MOST_TERMS = 10_000  # of an exact sum: enough for as many items per user
_MOST_PLACES = 1000  # of a sum
_ROUND_UP = 1 + Fraction(1, 10**30)
_MOST_EXACT = 200  # items per user; beyond, a bound that takes no square of them


class ThresholdParameters(Protocol):
    """The parameters of one published histogram."""

    @property
    def items_per_user(self) -> int:
        """The most items of one user, m."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, lambda."""

    @property
    def tau(self) -> int:
        """The first threshold, on true counts."""

    @property
    def tau_prime(self) -> int:
        """The second threshold, on noisy counts."""


def hockey_stick(scale: Fraction, shifts: int, epsilon: Fraction) -> Fraction:
    """h(k, epsilon): how far the noise of k counts, each moved by one, exceeds epsilon.

    The sum over all outputs of what is left of P(o) after subtracting exp(epsilon) P'(o). A count
    moved by one is randomised response at 1/lambda: the noisy count lies on the far side of it with
    odds of exp(1/lambda), and where exactly it lies says no more. Rounded up; to 1, where the sum
    would have so many terms that a stranger's release could keep `verify` busy for days.

    >>> hockey_stick(Fraction(5), 10, Fraction(2))  # all ten losses of 1/5 are covered
    Fraction(0, 1)
    >>> round(float(hockey_stick(Fraction(5), 10, Fraction(1))), 4)
    0.0247
    """
    gap = shifts / _positive_scale(scale) - epsilon
    if gap <= 0:
        return Fraction(0)
    first = max(0, (shifts + scale * epsilon) // 2 + 1)  # the least l whose loss is above epsilon
    if shifts - first > _MOST_TERMS:
        return Fraction(1)
    with localcontext(_context(_DIGITS + len(str(math.ceil(1 / gap))))):
        alpha = (-decimal(1 / scale)).exp()
        # From l = k downwards: the chance of l far sides among k, and exp(epsilon - loss).
        chance, over, total = (1 + alpha) ** -shifts, (-decimal(gap)).exp(), Decimal(0)
        for far in range(shifts, first - 1, -1):
            total += chance * (1 - over)
            chance = chance * far * alpha / (shifts - far + 1)
            over /= alpha * alpha
        if total.adjusted() < -_MOST_PLACES:  # as a fraction it could have millions of digits
            return Fraction(1, 10**_MOST_PLACES)
        return min(Fraction(total) * _ROUND_UP, Fraction(1))


def exact_delta(
    *,
    scale: Fraction,
    tau: int,
    tau_prime: int,
    items_per_user: int,
    epsilon: Number,
    neighbors: Neighbors = "replace",
) -> Fraction:
    """The least delta of (epsilon, delta)-indistinguishability for one histogram.

    Guarantee:
        No log, neighbour and set of outputs exceeds it, and logs with enough users attain it (up to
        the last of thirty digits). It needs no condition on tau' and holds at every epsilon. Beyond
        200 items per user and below epsilon = M/lambda it is an upper bound, at most twice the
        least delta; beyond 10,000 shifts it may be 1 there.

    >>> parameters = {"scale": Fraction(5), "tau": 1, "tau_prime": 40, "items_per_user": 5}
    >>> [f"{float(exact_delta(**parameters, epsilon=e)):.3g}" for e in ("2", "1.5", "1")]
    ['0.000922', '0.00296', '0.0247']
    """
    curve = _Exact(scale, tau, tau_prime, items_per_user, neighbors)
    return curve.delta(_check_epsilon(epsilon))


def delta_curve(
    goal: Guarantee, parts: Sequence[ThresholdParameters], epsilons: Iterable[Number]
) -> list[tuple[Fraction, Fraction]]:
    """The least delta that is proven at each epsilon, for all histograms of a release together.

    Only the definition, the neighbours and the users of the goal matter. 1 stands where nothing is
    proven: under probabilistic differential privacy at every epsilon below the loss that the noise
    can realise, since of many users nearly always one realises it.

    Each histogram gets a share of epsilon in proportion to its own loss, and deltas add. That is
    the least for one histogram, and an upper bound for several.
    """
    curve = _Sum(goal, parts)
    return [(epsilon, curve.delta(epsilon)) for epsilon in map(_check_epsilon, epsilons)]


def proven_guarantee(goal: Guarantee, part: ThresholdParameters) -> Guarantee | None:
    """What one histogram guarantees, for the goal's definition and neighbours."""
    found = satisfied_guarantees(
        scale=part.scale,
        tau=part.tau,
        tau_prime=part.tau_prime,
        items_per_user=part.items_per_user,
        users=goal.users,
    )
    same = [each for each in found if type(each) is type(goal) and each.neighbors == goal.neighbors]
    return same[0] if same else None


class _Step:
    """Probabilistic differential privacy: one delta from the loss on, and nothing below it."""

    def __init__(self, goal: Guarantee, part: ThresholdParameters) -> None:
        found = proven_guarantee(goal, part)
        self.loss = found.epsilon if found else goal.moved_counts(part.items_per_user) / part.scale
        self.least = found.delta if found else Fraction(1)

    def delta(self, epsilon: Fraction) -> Fraction:
        return self.least if epsilon >= self.loss else Fraction(1)


class _Exact:
    """Indistinguishability: the least delta at every epsilon."""

    def __init__(
        self, scale: Fraction, tau: int, tau_prime: int, items_per_user: int, neighbors: Neighbors
    ) -> None:
        t = tau_prime - positive_integer(tau, "tau")
        asked = Indistinguishability(epsilon=1, delta="0.5", neighbors=neighbors)
        self.scale, self.most = (
            _positive_scale(scale),
            positive_integer(items_per_user, "items_per_user"),
        )
        self.moved = asked.moved_counts(items_per_user)
        self.loss = self.moved / scale
        self.least = any_published_probability(
            scale, t, items_per_user
        )  # at any epsilon, and from the loss on
        published = any_published_probability(
            scale, t, 1
        )  # rounded up: that only makes logs easier to tell
        # delta is at least this chance, so digits that resolve it resolve delta.
        self.context = _context(_DIGITS + len(str(published.denominator // published.numerator)))
        with localcontext(self.context):
            self.absent = 1 - decimal(published)
        self.worst: _WorstCase | None = None  # made when first needed

    def delta(self, epsilon: Fraction) -> Fraction:
        if epsilon >= self.loss or self.least == 1:
            return self.least
        if self.most > _MOST_EXACT:
            shifted = hockey_stick(self.scale, self.moved, epsilon)
            return self.least + (1 - self.least) * shifted
        with localcontext(self.context):
            self.worst = self.worst or _WorstCase(self.scale, self.absent, self.most, self.moved)
            found = Fraction(self.worst.case(epsilon))
        return max(self.least, min(found * _ROUND_UP, Fraction(1)))


class _WorstCase:
    """The worst case over how many items fall from tau and rise to it, while all others shift.

    Lives in a decimal context of its maker's. `absent` is the chance that an item at tau is not
    published.
    """

    def __init__(self, scale: Fraction, absent: Decimal, most: int, moved: int) -> None:
        self.scale, self.most, self.moved = scale, most, moved
        self.log_absent = absent.ln()
        self.absent = [absent**count for count in range(most + 1)]
        self.shown = [1 - each for each in self.absent]
        self.cases = [
            (falls, rises)
            for falls in range(most + 1)
            for rises in range(most + 1)
            if moved > most or not (falls and rises)  # add-remove moves all the same way
        ]
        alpha = (-decimal(1 / scale)).exp()
        self.far = _tails(1 / (1 + alpha), alpha / (1 + alpha), moved)
        self.near = _tails(alpha / (1 + alpha), 1 / (1 + alpha), moved)

    def case(self, epsilon: Fraction) -> Decimal:
        # Where none of the fallen items is shown, l far sides among k have a loss of
        # (2l - k)/lambda + (falls - rises) ln(absent). The least l whose loss is above epsilon, for
        # an even and an odd k:
        first = {}
        for more in range(-self.most, self.most + 1):
            above = decimal(self.scale) * (decimal(epsilon) + more * self.log_absent)
            first[more] = [_floor((above + odd) / 2) + 1 for odd in (0, 1)]
        factor = decimal(epsilon).exp()
        weight = [factor * each for each in self.absent]
        worst = Decimal(0)
        for falls, rises in self.cases:
            shifts = self.moved - falls - rises
            least = first[rises - falls][shifts % 2] + shifts // 2
            least = min(max(least, 0), shifts + 1)
            hidden = self.absent[falls] * self.far[shifts][least]
            hidden -= weight[rises] * self.near[shifts][least]
            worst = max(worst, self.shown[falls] + hidden)
        return worst


class _Sum:
    """The histograms of one release, each at its share of epsilon."""

    def __init__(self, goal: Guarantee, parts: Sequence[ThresholdParameters]) -> None:
        if not parts:
            raise UsageError("there must be at least one histogram")
        self.parts: list[_Step] | list[_Exact]
        if isinstance(goal, Indistinguishability):
            self.parts = [
                _Exact(each.scale, each.tau, each.tau_prime, each.items_per_user, goal.neighbors)
                for each in parts
            ]
        else:
            self.parts = [_Step(goal, each) for each in parts]
        self.loss = sum((each.loss for each in self.parts), Fraction(0))

    def delta(self, epsilon: Fraction) -> Fraction:
        deltas = (each.delta(epsilon * each.loss / self.loss) for each in self.parts)
        return min(sum(deltas, Fraction(0)), Fraction(1))


def _tails(chance: Decimal, other: Decimal, most: int) -> list[list[Decimal]]:
    """P(at least l of k) for every k <= most and l = 0 .. k+1, each of k having this chance."""
    rows = [[Decimal(1), Decimal(0)]]
    for _ in range(most):
        last = [*rows[-1], Decimal(0)]
        rest = [chance * last[i - 1] + other * last[i] for i in range(1, len(last))]
        rows.append([Decimal(1), *rest])
    return rows


def _positive_scale(scale: Fraction) -> Fraction:
    if scale <= 0:
        raise UsageError("scale must be above 0")
    return scale


def _check_epsilon(epsilon: Number) -> Fraction:
    number = exact_fraction(epsilon, "epsilon")
    if number < 0:
        raise UsageError("epsilon must be at least 0")
    return number


def _context(digits: int) -> Context:
    return Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))
