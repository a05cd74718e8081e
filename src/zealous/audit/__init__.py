"""An honest attempt to break the program through its real pipeline.

neighbours says which pairs of logs, trials runs the pipeline on them, statistics turns what came
out into bounds, small draws many small releases, recompute derives parameters and selection a
second time, bundle looks at all the rest of a release.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from zealous.audit import small
from zealous.audit.bundle import Check, check_bundle
from zealous.audit.neighbours import Pair, Setting, settings
from zealous.audit.recompute import follows
from zealous.audit.statistics import Claim, Seen, choose, unseen_delta, unseen_epsilon
from zealous.audit.trials import Tally, run
from zealous.errors import UsageError
from zealous.guarantee import ProbabilisticDP
from zealous.plan import also, figures

FALSE_ALARMS = 5e-4  # the chance that a faultless program fails an audit
Part: TypeAlias = Literal["pairs", "small", "whole"]
_LEAST_TRIALS = 100
_IN_SMALL_RELEASES = ("indistinguishable, m = 1", "probabilistic, m = 1")


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
    by_epsilon: list[Seen]
    by_delta: list[Seen]

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
    def would_see_epsilon(self) -> float | None:
        """An epsilon that the audit would have seen with 95 % probability; None where none is.

        A pair that proves no epsilon at all is no test of it, whatever its events might do.
        """
        excess = unseen_epsilon(self.by_epsilon, self.claim) if self.epsilon else math.inf
        return self.claim.epsilon + excess if excess < math.inf else None

    @property
    def power(self) -> float | None:
        """By which share epsilon could be too large and be seen with 95 % probability."""
        if not self.claim.epsilon or self.would_see_epsilon is None:
            return None
        return self.would_see_epsilon / self.claim.epsilon - 1

    @property
    def would_see_delta(self) -> float | None:
        """A delta that the audit would have seen with 95 % probability; None where none is."""
        excess = unseen_delta(self.by_delta, self.claim)
        return self.claim.delta + excess if excess < math.inf else None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit found.

    Attributes:
        trials: The runs on each log.
        measurements: Claims about probabilities.
        checks: What either holds or not.
    """

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


def audit(
    trials: int = 20_000,
    *,
    parts: Collection[Part] = get_args(Part),
    plans: Sequence[Setting] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Try to break the program.

    Guarantee:
        A program that keeps its promises fails with a chance of at most `FALSE_ALARMS`.

    Args:
        trials: How often each log is published; half of the runs choose what to look at, the
            other half test it.
        parts: What to try: `pairs` of neighbouring logs, many `small` releases, `whole` releases
            of which everything is compared.
        plans: Which plans to try; all where not given.
        say: Receives progress.
    """
    if trials < _LEAST_TRIALS:
        raise UsageError(f"trials must be at least {_LEAST_TRIALS}")
    trials += trials % 2
    alpha = per_test(settings())
    plans = settings() if plans is None else plans
    measurements: list[Measurement] = []
    checks: list[Check] = []
    for number, setting in enumerate(plans if "pairs" in parts else ()):
        say(f"{setting.name}: {len(setting.pairs)} pairs of logs ({number + 1} of {len(plans)})")
        checks.append(_parameters(setting))
        try:
            tallies = run(setting, trials)
        except Exception as error:  # these logs are ours: what stops the program may be told
            say(f"the program stopped: {type(error).__name__}: {error}")
            tallies = []
        checks.append(Check(name=f"every log is published ({setting.name})", passed=bool(tallies)))
        measurements += [
            measure(setting, pair, tally, alpha)
            for pair, tally in zip(setting.pairs, tallies, strict=False)
        ]
    if "small" in parts:
        say("many small releases")
        checks += [check for plan in drawn_small(plans) for check in _small(plan, alpha)]
    if "whole" in parts:
        say("whole releases of neighbouring logs")
        with tempfile.TemporaryDirectory(prefix="zealous-audit-") as directory:
            checks += check_bundle(Path(directory))
    return Audit(trials=trials, measurements=measurements, checks=checks)


def per_test(plans: Sequence[Setting]) -> float:
    """The chance of error of one test, so that all of them together stay below FALSE_ALARMS."""
    pairs = [pair for plan in plans for pair in plan.pairs]
    tests = [1 if pair.right is None else 2 if pair.same else 4 for pair in pairs]
    return FALSE_ALARMS / (sum(tests) + small.TESTS * len(drawn_small(plans)))


def drawn_small(plans: Sequence[Setting]) -> list[Setting]:
    """The plans with which small releases are drawn: one of each guarantee, with other noise."""
    return [plan for plan in plans if plan.name in _IN_SMALL_RELEASES]


def _small(plan: Setting, alpha: float) -> list[Check]:
    """The noise of releases as small as no packed log is."""
    checks = {
        "the noise of small releases is exact": small.noise_is_exact(plan, alpha),
        "the same key does not give the same noise": small.noise_ignores_the_key(plan),
    }
    return [Check(name=f"{name} ({plan.name})", passed=ok) for name, ok in checks.items()]


def _parameters(setting: Setting) -> Check:
    """A plan's numbers against the theorems, derived a second time."""
    (part,) = setting.planned.parts
    return Check(
        name=f"tau, tau' and scale follow from the theorems ({setting.name})",
        passed=follows(figures(part), part.goal.users),
    )


def _claims(setting: Setting, pair: Pair) -> Claim:
    """The exact delta, not the rounded one that was asked for: slack would hide a fault."""
    (part,) = setting.planned.parts
    if pair.same:
        return Claim(epsilon=0.0, delta=0.0)
    if pair.pure:
        return Claim(epsilon=float(part.goal.epsilon), delta=0.0)
    delta = min(part.delta, part.goal.delta)
    if pair.right is not None and isinstance(part.goal, ProbabilisticDP):
        other = also(setting.planned)  # between two logs the same parameters promise more
        delta = min(delta, other.delta) if other else delta
    return Claim(epsilon=float(part.goal.epsilon), delta=float(delta))


def measure(setting: Setting, pair: Pair, tally: Tally, alpha: float) -> Measurement:
    """Choose events on one half of the runs and measure them on the other."""
    claim = _claims(setting, pair)
    by_epsilon: list[Seen] = []
    by_delta: list[Seen] = []
    trials = int(tally.testing[0].sum())
    if pair.right is None:  # outcome 0 is that no item appears
        seen = Seen(here=trials - int(tally.testing[0][0]), there=None, trials=trials, alpha=alpha)
        by_delta.append(seen)
    for here in (0, 1) if pair.right is not None else ():
        events = choose(tally.choosing[here], tally.choosing[1 - here], claim, alpha)
        for event, chosen in zip(events, (by_epsilon, by_delta), strict=True):
            if pair.same and chosen is by_epsilon:
                continue  # at epsilon 0 and delta 0 both ask for the same
            counts = np.asarray(tally.testing[:, event].sum(axis=1))
            chosen.append(
                Seen(
                    here=int(counts[here]),
                    there=int(counts[1 - here]),
                    trials=trials,
                    alpha=alpha,
                )
            )
    return Measurement(
        guarantee=setting.planned.goal.definition,
        setting=setting.name,
        pair=pair.name,
        claim=claim,
        by_epsilon=by_epsilon,
        by_delta=by_delta,
    )


__all__ = ["FALSE_ALARMS", "Audit", "Check", "Measurement", "audit"]
