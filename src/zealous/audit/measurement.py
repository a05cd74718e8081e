"""What an audit found: claims beside what was seen, and what either holds or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from zealous.audit.confidence_bounds import (
    Claim,
    EventCounts,
    detectable_delta_excess,
    detectable_epsilon_excess,
)
from zealous.audit.whole_releases import Check

FALSE_ALARMS = 1e-7  # the chance that a faultless program fails an audit
BY_ACCIDENT = 5e-9  # of it: that draws agree which should differ (test_false_alarms.py)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What was claimed for a pair of logs beside what was seen.

    Attributes:
        guarantee: The definition that the plan is for.
        setting: The plan's name.
        pair: The pair's name.
        claim: What must hold for every event.
        by_epsilon: The events that speak against epsilon, one for each direction.
        by_delta: Those that speak against delta.
    """

    guarantee: str
    setting: str
    pair: str
    claim: Claim
    by_epsilon: list[EventCounts]
    by_delta: list[EventCounts]

    @property
    def passed(self) -> bool:
        """Whether nothing contradicts the claim."""
        return not any(seen.violates(self.claim) for seen in [*self.by_epsilon, *self.by_delta])

    @property
    def epsilon(self) -> float | None:
        """The largest epsilon that is proven, beside the claimed delta."""
        return max((seen.epsilon(self.claim.delta) for seen in self.by_epsilon), default=None)

    @property
    def delta(self) -> float:
        """The largest delta that is proven, beside the claimed epsilon."""
        return max(seen.delta(self.claim.epsilon) for seen in self.by_delta)

    @property
    def detectable_epsilon(self) -> float | None:
        """An epsilon that the audit would have seen with 95 % probability; None where none is.

        A pair that proves no epsilon at all is no test of it, whatever its events might do.
        """
        excess = (
            detectable_epsilon_excess(self.by_epsilon, self.claim) if self.epsilon else math.inf
        )
        return self.claim.epsilon + excess if excess < math.inf else None

    @property
    def power(self) -> float | None:
        """By which share epsilon could be too large and be seen with 95 % probability."""
        if not self.claim.epsilon or self.detectable_epsilon is None:
            return None
        return self.detectable_epsilon / self.claim.epsilon - 1

    @property
    def detectable_delta(self) -> float | None:
        """A delta that the audit would have seen with 95 % probability; None where none is."""
        excess = detectable_delta_excess(self.by_delta, self.claim)
        return self.claim.delta + excess if excess < math.inf else None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit found."""

    trials: int
    measurements: list[Measurement]
    checks: list[Check]
    false_alarms: ClassVar[float] = FALSE_ALARMS

    def power(self) -> dict[str, tuple[Measurement, Measurement]]:
        """For each guarantee the pairs that test its epsilon best and worst."""
        found = {}
        for guarantee in dict.fromkeys(each.guarantee for each in self.measurements):
            able = [
                each
                for each in self.measurements
                if each.guarantee == guarantee and each.power is not None
            ]
            if able:
                able.sort(key=lambda each: each.power or 0.0)
                found[guarantee] = (able[0], able[-1])
        return found

    @property
    def passed(self) -> bool:
        """Whether no violation was found."""
        return not self.failures()

    def failures(self) -> list[str]:
        """What was found, by name."""
        return [
            *(f"{each.setting}: {each.pair}" for each in self.measurements if not each.passed),
            *(each.name for each in self.checks if not each.passed),
        ]
