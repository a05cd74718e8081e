"""An honest attempt to break the program through its real pipeline.

settings/ says which plans and which logs, a file for each mechanism; trials runs the pipeline on
them, claims says what must hold, statistics turns what came out into bounds, small_releases
draws many of them, recompute and theorems derive parameters, deltas and selection a second
time, bundle and others look at all the rest of a release. own does to a custom mechanism what
can be done without knowing it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from zealous.audit.confidence_bounds import EventCounts, choose_events
from zealous.audit.custom_mechanism import MechanismAudit, audit_mechanism
from zealous.audit.measurement import BY_ACCIDENT, FALSE_ALARMS, Audit, Measurement
from zealous.audit.other_mechanisms import check_other_mechanisms
from zealous.audit.pairs import Pair
from zealous.audit.setting import Setting, settings
from zealous.audit.trials import Tally, run_trials
from zealous.audit.whole_releases import Check, check_bundle
from zealous.errors import UsageError
from zealous.files.scratch import working_directory

Part: TypeAlias = Literal["pairs", "small", "whole"]
_LEAST_TRIALS = 100


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
    alpha = alpha_per_test(settings())
    plans = settings() if plans is None else plans
    measurements: list[Measurement] = []
    checks: list[Check] = []
    for number, setting in enumerate(plans if "pairs" in parts else ()):
        say(f"{setting.name}: {len(setting.pairs)} pairs of logs ({number + 1} of {len(plans)})")
        checks.append(_check_parameters(setting))
        try:
            tallies = run_trials(setting, trials)
        except Exception as error:  # these logs are ours: what stops the program may be told
            say(f"the program stopped: {type(error).__name__}: {error}")
            tallies = []
        name = f"every log is published, each item once ({setting.name})"
        checks.append(Check(name=name, passed=bool(tallies)))
        measurements += [
            measure_pair(setting, pair, tally, alpha)
            for pair, tally in zip(setting.pairs, tallies, strict=False)
        ]
    if "small" in parts:
        say("many small releases")
        checks += [check for plan in plans for check in _check_small_releases(plan, alpha)]
    if "whole" in parts:
        say("whole releases of neighbouring logs")
        for check in (check_bundle, check_other_mechanisms):
            with working_directory() as directory:
                checks += check(directory)
    return Audit(trials=trials, measurements=measurements, checks=checks)


def alpha_per_test(plans: Sequence[Setting]) -> float:
    """The chance of error of one test, so that all of them together stay below FALSE_ALARMS."""
    pairs = [pair for plan in plans for pair in plan.pairs]
    tests = [1 if pair.right is None else 2 if pair.same else 4 for pair in pairs]
    drawn = [test.bounds for plan in plans for test in plan.small]
    return (FALSE_ALARMS - BY_ACCIDENT) / sum([*tests, *drawn])


def _check_small_releases(plan: Setting, alpha: float) -> list[Check]:
    """What releases show that are as small as no packed log is."""
    checks = [each for test in plan.small for each in test.checks.items()]
    return [
        Check(name=f"{name} ({plan.name})", passed=holds(plan.planned, alpha))
        for name, holds in checks
    ]


def _check_parameters(setting: Setting) -> Check:
    """A plan's numbers against the theorems, derived a second time."""
    return Check(
        name=f"tau, tau' and scale follow from the theorems ({setting.name})",
        passed=setting.recomputed(setting.planned),
    )


def measure_pair(setting: Setting, pair: Pair, tally: Tally, alpha: float) -> Measurement:
    """Choose events on one half of the runs and measure them on the other."""
    claim = setting.claimed(setting.planned, pair)
    by_epsilon: list[EventCounts] = []
    by_delta: list[EventCounts] = []
    trials = int(tally.testing[0].sum())
    if pair.right is None:  # outcome 0 is that no item appears
        seen = EventCounts(
            here=trials - int(tally.testing[0][0]), there=None, trials=trials, alpha=alpha
        )
        by_delta.append(seen)
    for here in (0, 1) if pair.right is not None else ():
        events = choose_events(tally.choosing[here], tally.choosing[1 - here], claim, alpha)
        for event, chosen in zip(events, (by_epsilon, by_delta), strict=True):
            if pair.same and chosen is by_epsilon:
                continue  # at epsilon 0 and delta 0 both ask for the same
            counts = np.asarray(tally.testing[:, event].sum(axis=1))
            chosen.append(
                EventCounts(
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


__all__ = [
    "FALSE_ALARMS",
    "Audit",
    "Check",
    "Measurement",
    "MechanismAudit",
    "audit",
    "audit_mechanism",
]
