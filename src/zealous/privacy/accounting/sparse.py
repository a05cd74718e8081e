"""The delta of any noise between two thresholds, and the least threshold that a delta allows.

A noise is known here by two figures: how far k counts, each moved by one, can be told apart through
it, and how often it lifts a single user's item above the second threshold. Scale and threshold are
chosen together. The proofs are in docs/proofs/gaussian.md and docs/proofs/exact.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.composition.normal import decimal
from zealous.privacy.guarantee import (
    SMALLEST,
    CannotGive,
    Guarantee,
    Indistinguishability,
    positive_integer,
)

_CONTEXT = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
_ONE = Decimal(1)
_TINY = Decimal("1e-20")
_ROUND_UP = 1 + Fraction(1, 10**30)
_MOST_STEPS = 100  # of a scan that takes about ten; then a bound takes the place of the rest
_MOST_SCALES = 1000  # of a scan that takes one or some dozens; beyond, scales are hardly better
_MOST_DOUBLED = 60
_OCTAVE = 512  # scales to each doubling


@dataclass(frozen=True, kw_only=True)
class NoiseFamily:
    """A family of noise, as accounting knows it: each figure is rounded up.

    Attributes:
        hockey_stick: (scale, k, epsilon) to how far k counts, each moved by one, exceed epsilon.
        tail: (scale, t) to the chance that the noise is above t.
        scales: The scales that are tried, in rising order, by their places from 0 on.
    """

    hockey_stick: Callable[[Fraction, int, Fraction], Fraction]
    tail: Callable[[Fraction, int], Fraction]
    scales: Callable[[int], Fraction]


@dataclass(frozen=True, kw_only=True)
class ScaleAndThreshold:
    """Scale and second threshold at tau = 1."""

    scale: Fraction
    tau_prime: int


class SparseHistogram:
    """The delta of one scale, for every threshold.

    Guarantee:
        `delta` is at least the least delta of (epsilon, delta)-indistinguishability: the largest
        1 - g^c (1 - h(M - c, epsilon)) for c = 0 .. m, where g is the chance that an item at tau is
        absent. It exceeds the least by a factor of at most 1 + P(the loss of M - c counts is above
        epsilon): next to nothing where delta is small, and never 2.
    """

    def __init__(self, noise: NoiseFamily, scale: Fraction, items_per_user: int, goal: Guarantee):
        # Items that rise to tau need no case of their own: where a fall and b rise, delta is at
        # most that of c = max(a, b) which fall (docs/proofs/composition.md, theorem 3).
        self.noise, self.scale, self.epsilon = noise, scale, goal.epsilon
        self.most = positive_integer(items_per_user, "items_per_user")
        self.moved = goal.moved_counts(items_per_user)
        self.known: dict[int, Decimal] = {}

    def shift_delta(self, at_tau: int = 0) -> Decimal:
        """H of all counts that can still shift when so many others stand at tau."""
        if at_tau not in self.known:
            found = self.noise.hockey_stick(self.scale, self.moved - at_tau, self.epsilon)
            with localcontext(_CONTEXT):
                self.known[at_tau] = decimal(found)
        return self.known[at_tau]

    def any_published_probability(self, t: int) -> Fraction:
        """The chance that one of m items at tau is published, the least that delta can be."""
        with localcontext(_CONTEXT):
            return Fraction(_any_published(self._tail(t), self.most)) * _ROUND_UP

    def delta(self, t: int) -> Fraction:
        """The delta with tau' = tau + t."""
        with localcontext(_CONTEXT):
            worst = self._worst(self._tail(t))
        return max(SMALLEST, min(Fraction(worst) * _ROUND_UP, Fraction(1)))

    def has_delta_at_most(self, t: int, most: Fraction) -> bool:
        """Whether the delta with tau' = tau + t is at most so large; sooner found than `delta`."""
        with localcontext(_CONTEXT):
            worst = self._worst(self._tail(t), decimal(most))
        return Fraction(worst) * _ROUND_UP <= most

    def _worst(self, tail: Decimal, enough: Decimal = _ONE) -> Decimal:
        """The largest case, or one that is above `enough`; stretches of c without it are skipped.

        From c to d no case is above 1 - g^d (1 - h(M - c)): g^c falls, and h(M - c) falls.
        """

        def case(upto: int, h: Decimal) -> Decimal:
            shown = _any_published(tail, upto)
            return shown + (1 - shown) * h

        worst = max(self.shift_delta(), case(self.most, self.shift_delta(self.most)))
        c = steps = 1
        while c < self.most and worst <= enough:
            h = self.shift_delta(c)
            if steps == _MOST_STEPS:
                return max(worst, case(self.most, h))
            worst = max(worst, case(c, h))
            low, high = c, self.most  # low is covered by the worst so far
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if case(middle, h) <= worst else (low, middle)
            c, steps = low + 1, steps + 1
        return worst

    def _tail(self, t: int) -> Decimal:
        return decimal(self.noise.tail(self.scale, t))


def least_threshold(noise: NoiseFamily, goal: Guarantee, items_per_user: int) -> ScaleAndThreshold:
    """The least tau' that some scale allows at tau = 1, and the least scale that allows it.

    Raises:
        UsageError: No scale of the family is large enough.
    """
    first = least_integer(
        lambda place: _histogram_at(noise, place, goal, items_per_user).shift_delta() <= goal.delta,
        0,
    )
    if first is None:
        raise UsageError("epsilon is too small for this many items per user: raise it")
    best: ScaleAndThreshold | None = None
    for place in range(first, first + _MOST_SCALES):
        at = _histogram_at(noise, place, goal, items_per_user)
        if best is not None:
            lower = best.tau_prime - 2
            # A larger scale shows a single user's item more often: no lower threshold will do.
            if lower < 0 or at.any_published_probability(lower) > goal.delta:
                break
            if not at.has_delta_at_most(lower, goal.delta):
                continue
        t = threshold_at_scale(at, goal)
        if t is not None:
            best = ScaleAndThreshold(scale=at.scale, tau_prime=1 + t)
    if best is None:
        raise UsageError("no threshold keeps delta: raise delta")
    return best


def threshold_at_scale(at: SparseHistogram, goal: Guarantee) -> int | None:
    """The least t = tau' - tau of at least 0 that keeps the goal, if one does."""
    if at.shift_delta() > goal.delta:
        return None
    start = least_integer(lambda t: at.any_published_probability(t) <= goal.delta, 0)
    return (
        None
        if start is None
        else least_integer(lambda t: at.has_delta_at_most(t, goal.delta), start)
    )


def grid_number(place: int) -> int:
    """The place-th of whole numbers that rise by 1 up to 1024, then by 2 up to 2048, and so on.

    >>> [grid_number(place) for place in (0, 1, 1023, 1024, 1025, 1535, 1536)]
    [0, 1, 1023, 1024, 1026, 2046, 2048]
    """
    if place < _OCTAVE:
        return place
    return (_OCTAVE + place % _OCTAVE) << (place // _OCTAVE - 1)


def check_indistinguishability(goal: Guarantee, name: str) -> None:
    """Refuse the guarantees that none of these mechanisms gives.

    Raises:
        UsageError: The goal is probabilistic differential privacy, or has no delta.
    """
    if goal.pure:
        raise UsageError(
            "an item that one person alone has can only be protected with delta above 0, or over "
            "a public --domain"
        )
    if not isinstance(goal, Indistinguishability):
        raise CannotGive(
            f"the {name} mechanism cannot give the {goal.definition} guarantee: use the zealous "
            "mechanism, or ask for the indistinguishable guarantee"
        )


def _histogram_at(
    noise: NoiseFamily, place: int, goal: Guarantee, items_per_user: int
) -> SparseHistogram:
    return SparseHistogram(noise, noise.scales(place), items_per_user, goal)


def least_integer(holds: Callable[[int], bool], start: int) -> int | None:
    """The least integer from `start` on for which something holds that then holds for ever."""
    if holds(start):
        return start
    low, step = start, 1
    while not holds(low + step):
        low, step = low + step, 2 * step
        if step >> _MOST_DOUBLED:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _any_published(tail: Decimal, items: int) -> Decimal:
    """1 - (1 - q)^c; where that would lose its digits c q, larger by less than 1 in 1e20."""
    return items * tail if items * tail < _TINY else 1 - (1 - tail) ** items
