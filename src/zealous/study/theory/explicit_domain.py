"""Differential privacy over an explicit domain: noise on everything that could be there.

With delta = 0 an item that nobody has must be as possible in the output as one that somebody has,
so the noise goes on every element of a public domain, and elements of count zero pass the threshold
by chance. It works where the domain is small and public. The figures below show what happens as it
grows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TypeVar, get_args

import numpy as np

from zealous.errors import UsageError
from zealous.noise import DiscreteLaplace, RandomBytes
from zealous.privacy.calibrate import tail
from zealous.privacy.guarantee import Neighbors, Number, exact_fraction, positive_integer

Item = TypeVar("Item", bound=Hashable)
_AT_A_TIME = 1 << 20
_LARGEST = 10**300


@dataclass(frozen=True, kw_only=True)
class DomainHistogram:
    """A noisy count for every element of a public domain; what is above a threshold is shown.

    Guarantee:
        epsilon-differential privacy with delta = 0, if scale >= M/epsilon, where M = 2m (`replace`)
        or m (`add-remove`) counts move by one between neighbours: every vector of noisy counts
        changes its probability by a factor of at most exp(M/scale), and the threshold only forgets
        part of it. The threshold may be any number fixed without looking at the log, and the domain
        must be public: a list made from the log itself voids the guarantee.

    Attributes:
        scale: lambda, the scale of the noise.
        threshold: An element is shown where its noisy count is above it.
    """

    scale: Fraction
    threshold: int

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction) or self.scale <= 0:
            raise UsageError("scale must be a positive fractions.Fraction: floats are not exact")

    def release(
        self,
        counts: Mapping[Item, int],
        domain: Iterable[Item],
        random_bytes: RandomBytes = os.urandom,
    ) -> dict[Item, int]:
        """Publish: the elements whose noisy count is above the threshold, in the domain's order.

        Args:
            counts: Users per item after bounding; what is not listed has none, what is not in the
                domain is left out.
            domain: Everything that could be shown, public. About a second for a million elements.
            random_bytes: Where randomness comes from. Anything but the default is for tests.
        """
        noise = DiscreteLaplace(scale=self.scale)
        # Listed twice, an element would show its count under two noises: twice the epsilon.
        elements = iter(dict.fromkeys(domain))
        shown: dict[Item, int] = {}
        while chunk := list(islice(elements, _AT_A_TIME)):
            true = np.fromiter((counts.get(element, 0) for element in chunk), np.int64, len(chunk))
            noisy = true + noise.sample(len(chunk), random_bytes)
            for place in np.flatnonzero(noisy > self.threshold):
                shown[chunk[place]] = int(noisy[place])
        return shown

    def expected(self, counts: Mapping[int, int], domain_size: int) -> ExpectedCounts:
        """How many elements are shown on average.

        Args:
            counts: From a number of users to how many items have it.
            domain_size: How many elements the domain has. One that cannot hold all the items
                holds the most frequent.
        """
        room, held = positive_integer(domain_size, "domain_size"), 0.0
        if room > _LARGEST:
            raise UsageError("domain_size must be at most 1e300 for expected numbers")
        for count in sorted((count for count in counts if count > 0), reverse=True):
            items = min(counts[count], room)
            held += items * tail(self.scale, self.threshold - count)
            room -= items
        return ExpectedCounts(held=held, empty=room * tail(self.scale, self.threshold))


@dataclass(frozen=True, kw_only=True)
class ExpectedCounts:
    """The expected numbers of elements shown.

    Attributes:
        held: Items that somebody has.
        empty: Elements of the domain that nobody has.
    """

    held: float
    empty: float


def scale_for(epsilon: Number, items_per_user: int, neighbors: Neighbors = "replace") -> Fraction:
    """The scale at which `DomainHistogram` is epsilon-differentially private.

    >>> scale_for("0.5", 3), scale_for("0.5", 3, "add-remove")
    (Fraction(12, 1), Fraction(6, 1))
    """
    budget = exact_fraction(epsilon, "epsilon")
    if budget <= 0:
        raise UsageError("epsilon must be above 0: try a value between 0.1 and 10")
    if neighbors not in get_args(Neighbors):
        raise UsageError("neighbors must be 'replace' or 'add-remove'")
    moved = positive_integer(items_per_user, "items_per_user") * (
        2 if neighbors == "replace" else 1
    )
    return moved / budget


def threshold_for(scale: Fraction, domain_size: int, empty: Number = 1) -> int:
    """The least threshold at which at most this many elements of count zero are expected.

    >>> [threshold_for(Fraction(20), 10**digits) for digits in (3, 12, 36)]
    [124, 539, 1644]
    """
    most = exact_fraction(empty, "empty")
    if most <= 0:
        raise UsageError("empty must be above 0: without any, nothing can be shown at all")
    positive_integer(domain_size, "domain_size")
    # T(t) = alpha^(t+1)/(1 + alpha) <= empty/|D|, in logarithms: no float holds a large domain.
    log_share = math.log(domain_size) - math.log(most.numerator) + math.log(most.denominator)
    return max(0, math.ceil(scale * (log_share - math.log1p(math.exp(-1 / scale))) - 1))
