"""How often an attack succeeds, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from zealous.audit.confidence_bounds import clopper_pearson_lower, clopper_pearson_upper

_WRONG = 0.05  # the chance that an interval misses the truth


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many successes in so many trials.

    >>> Rate(successes=0, trials=0).share is None
    True
    """

    successes: int
    trials: int

    @property
    def share(self) -> float | None:
        """The share of successes; None where nothing was tried."""
        return self.successes / self.trials if self.trials else None

    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's interval: it holds the true rate with 95 % confidence."""
        if not self.trials:
            return 0.0, 1.0
        return (
            clopper_pearson_lower(self.successes, self.trials, _WRONG / 2),
            clopper_pearson_upper(self.successes, self.trials, _WRONG / 2),
        )
