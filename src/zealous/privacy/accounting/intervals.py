"""Between which numbers of users a published count can lie, given that it is published.

Noise decides whether an item is shown, so among small published counts those are too many whose
noise was high. An interval here holds with its probability for what a recipient sees: on condition
that the item is shown, whatever its true count. The proofs are in docs/proofs/intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from zealous.libraries import np
from zealous.privacy.accounting.sparse import least_integer

if TYPE_CHECKING:
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.float64]"

Chance = Callable[[int, int], float]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """From a published count to the numbers of counted users that it can stand for.

    Attributes:
        error: e: without a threshold count - e .. count + e, with the probability that was asked.
        missed: The chance that remains, 1 - confidence.
        chance: From (users, t) to the chance that an item of so many users is shown with a count
            above t, for t from the threshold on. Its noise must have log-concave probabilities, as
            Laplace and Gaussian noise have, capped or not.
        fewest: The least number of users that an item can have.
        threshold: No count at or below it is shown; None where noise does not decide what is shown.

    Guarantee:
        For every number of users c that an item can have, P(low(Y) <= c <= high(Y) | Y is shown) is
        at least 1 - missed.

    >>> from zealous.privacy.guarantee import ProbabilisticDP
    >>> from zealous.mechanisms import Zealous
    >>> goal = ProbabilisticDP(epsilon=1, delta="0.001", users=500_000)
    >>> found = Zealous.calibrate(goal, 2).interval(0.95)
    >>> found.threshold, found.error, found.certain_from
    (79, 12, 92)
    >>> [(found.low(count), found.high(count)) for count in (80, 91, 92, 300)]
    [(4, 92), (4, 103), (80, 104), (288, 312)]
    """

    error: int
    missed: float
    chance: Chance
    fewest: int = 0
    threshold: int | None = None

    def low(self, count: int) -> int:
        """The fewest users."""
        if count >= self.certain_from:
            return max(count - self.error, self.fewest)
        few, many = self.fewest - 1, self._most_in_doubt(count)
        if many <= few or not self._in_doubt(many, count):
            return max(count - self.error, self.fewest)
        while many - few > 1:  # the more users, the less surprising is a high count
            middle = (few + many) // 2
            few, many = (few, middle) if self._in_doubt(middle, count) else (middle, many)
        return many

    def high(self, count: int) -> int:
        """The most users."""
        return max(count + self.error, self.fewest)

    @cached_property
    def certain_from(self) -> float:
        """From this count on the lower end is count - error; -inf where there is no threshold."""
        if self.threshold is None:
            return -math.inf
        start = max(self.threshold + 1, self.fewest + self.error + 1)
        found = least_integer(
            lambda count: not self._in_doubt(self._most_in_doubt(count), count), start
        )
        assert found is not None  # noqa: S101 - what is far above the threshold is always shown
        return found

    def endpoints(self, counts: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
        """The fewest and the most users for each of some counts."""
        values, places = np.unique(counts, return_inverse=True)
        low, high = (
            np.array([end(int(value)) for value in values], np.float64)[places]
            for end in (self.low, self.high)
        )
        return low, high

    def conditioned_on_above(self, above: int) -> Self:
        """The interval for counts that are here because they were above some number.

        Args:
            above: That number, or a larger one.
        """
        return replace(
            self, threshold=above if self.threshold is None else max(self.threshold, above)
        )

    def _most_in_doubt(self, count: int) -> int:
        """The most users below count - error for whom the threshold can matter."""
        assert self.threshold is not None  # noqa: S101 - asked only where there is one
        return min(count - self.error - 1, self.threshold + self.error + 1)

    def _in_doubt(self, users: int, count: int) -> bool:
        """Whether so high a count, or a higher one, is not unusual for so many users if shown."""
        assert self.threshold is not None  # noqa: S101 - asked only where there is one
        shown = self.chance(users, self.threshold)
        return self.chance(users, count - 1) >= self.missed * shown
