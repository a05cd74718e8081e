"""What one part of a release tells of one person, as a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Self

from zealous.errors import UsageError
from zealous.privacy.composition.normal import (
    any_shown,
    gaussian_square,
    response_square,
    round_up,
)
from zealous.privacy.guarantee import exact_fraction


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What one part of a release tells, for one relation of neighbours.

    It tells in two ways: an item that one person alone brings is published (*exposure*), and counts
    that both neighbours have are moved under noise (*shifts*). Each shift tells what Gaussian noise
    tells whose mean moves by mu deviations, or what randomised response tells whose answers have
    odds of exp(rate); one of the two is 0.

    Attributes:
        exposure: The chance p that an item of one person alone is published.
        items: Of how many items of one person this is the chance, each shown independently of the
            others and of all that was published before; 0 where earlier outputs may steer it. Only
            such exposure falls under the maximum rule: an item that can be exposed does not shift.
        hidden: How much of the law of what is not shown may be missing since it was kept from being
            shown: then an output has up to 1/(1 - hidden) times its probability.
        shifts: How many counts move.
        mu_squared: mu^2 of each shift.
        rate: The rate of each shift.

    Raises:
        UsageError: No part tells this.

    >>> Loss.thresholded(shown=Fraction(1, 10**7), items=5, shifts=10, scale=Fraction(13))
    Loss(exposure=~5e-07, items=5, shifts=10, mu_squared=~0.00592008)
    >>> Loss.stated(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    Loss(exposure=~1e-06, shifts=1, rate=~1)
    """

    exposure: Fraction = Fraction(0)
    items: int = 0
    hidden: Fraction = Fraction(0)
    shifts: int = 0
    mu_squared: Fraction = Fraction(0)
    rate: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        counts = (self.items, self.shifts)
        numbers = (self.exposure, self.hidden, self.mu_squared, self.rate)
        if any(type(each) is not int or each < 0 for each in counts):
            raise UsageError("a loss counts items and shifts in whole numbers of at least 0")
        if any(not isinstance(each, Fraction) or each < 0 for each in numbers):
            raise UsageError("a loss is told in fractions of at least 0")
        if (
            max(self.exposure, self.hidden) > 1
            or (self.mu_squared and self.rate)
            or self.items > self.shifts
        ):
            raise UsageError(
                "a loss has an exposure of at most 1, one law of noise, and no more items that can "
                "be exposed than counts that move"
            )

    def __repr__(self) -> str:
        """Rounded: exact numbers have dozens of digits."""
        shown = []
        for name in _FIELDS:
            value = getattr(self, name)
            if value:
                exact = isinstance(value, int)
                shown.append(f"{name}={value}" if exact else f"{name}=~{float(value):g}")
        return f"Loss({', '.join(shown)})"

    @classmethod
    def thresholded(
        cls,
        *,
        shown: Fraction,
        items: int,
        shifts: int,
        scale: Fraction | None = None,
        rate: Fraction = Fraction(0),
    ) -> Self:
        """A histogram between two thresholds: noise on counts, and what passes is published.

        Args:
            shown: The chance that an item which stands at the first threshold is published.
            items: The most items of one user, m.
            shifts: How many counts one neighbouring step moves, M.
            scale: The standard deviation of discrete Gaussian noise, or
            rate: 1/lambda of discrete Laplace noise.
        """
        square = Fraction(0) if scale is None else gaussian_square(scale)
        return cls(
            exposure=min(round_up(any_shown(shown, items)), Fraction(1)),
            items=items,
            shifts=shifts,
            mu_squared=square,
            rate=rate,
        )

    @classmethod
    def moved(
        cls, *, exposure: Fraction, mu_squared: Fraction, hidden: Fraction = Fraction(0)
    ) -> Self:
        """Gaussian noise of mu^2 in all, and exposure that earlier outputs may steer."""
        return cls(
            exposure=min(round_up(exposure), Fraction(1)),
            hidden=min(round_up(hidden), Fraction(1)),
            shifts=1,
            mu_squared=round_up(mu_squared),
        )

    @classmethod
    def stated(cls, *, epsilon: Fraction, delta: Fraction) -> Self:
        """Of what nothing is known but that it is (epsilon, delta)-indistinguishable."""
        return cls(exposure=delta, shifts=1, rate=epsilon)

    def steered(self) -> Loss:
        """The same where earlier outputs decide which items can be exposed: exposures add."""
        return replace(self, items=0)

    @property
    def total_mu_squared(self) -> Fraction:
        """mu^2 of all its noise, in Gaussian terms, whatever its law: what a filter adds up."""
        each = response_square(self.rate) if self.rate else self.mu_squared
        return self.shifts * each

    def as_json(self) -> dict[str, Any]:
        """For a ledger or a record: exact numbers as text, and what is 0 left out."""
        values = ((key, getattr(self, name)) for name, key in _KEYS.items())
        return {
            key: value if isinstance(value, int) else str(value) for key, value in values if value
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """Read back exactly.

        >>> loss = Loss(exposure=Fraction(1, 3), shifts=2, rate=Fraction(2, 7))
        >>> loss.as_json(), Loss.from_json(loss.as_json()) == loss
        ({'exposure': '1/3', 'shifts': 2, 'rate': '2/7'}, True)
        """
        if set(said) - set(_KEYS.values()):
            raise UsageError("a loss has no such part")
        numbers = {
            name: exact_fraction(said.get(_KEYS[name], 0), _KEYS[name])
            for name in ("exposure", "hidden", "mu_squared", "rate")
        }
        return cls(items=said.get("items", 0), shifts=said.get("shifts", 0), **numbers)


_FIELDS = tuple(each.name for each in fields(Loss))
_KEYS = {name: {"mu_squared": "square"}.get(name, name) for name in _FIELDS}  # as ledgers have it


def across_releases(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The losses of several releases, or of parts that steer each other, in few values.

    What is exposed may depend on what was published before, so exposures add.

    >>> one = Loss.thresholded(shown=Fraction(1, 10**7), items=5, shifts=5, scale=Fraction(13))
    >>> across_releases([one] * 12)
    (Loss(exposure=~6e-06, shifts=60, mu_squared=~0.00592008),)
    """
    exposure, hidden = Fraction(0), Fraction(0)
    shifts = defaultdict[tuple[Fraction, Fraction], int](int)
    for loss in losses:
        exposure, hidden = exposure + loss.exposure, hidden + loss.hidden
        if loss.mu_squared or loss.rate:
            shifts[loss.mu_squared, loss.rate] += loss.shifts
    found = [
        Loss(shifts=count, mu_squared=square, rate=rate)
        for (square, rate), count in sorted(shifts.items())
        if count
    ] or [Loss()]
    exposure, hidden = (min(round_up(each), Fraction(1)) for each in (exposure, hidden))
    found[0] = replace(found[0], exposure=exposure, hidden=hidden)
    return tuple(found)
