"""Which events tell two logs apart, where nothing is known of the mechanism.

An item is absent or has a count. Counts are cut into levels, levels are weighed by how much more
often they were seen on one log than on the other, and a run's outcome is the sum of the weights of
its items. All of that is learned from one half of the runs and measured on the other, so that the
bounds hold however well it was learned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zealous.audit.confidence_bounds import Claim, Counts, EventCounts, choose_events
from zealous.audit.custom_counts import Values
from zealous.audit.trials import Tally

TESTS = 4  # that `evidence_against` makes: two directions, epsilon and delta
_LEAST_LEVELS, _MOST_LEVELS = 8, 64
_RUNS_A_LEVEL = 100


def evidence_against(
    values: Values, claim: Claim, alpha: float
) -> tuple[list[EventCounts], list[EventCounts]]:
    """Find what speaks against a claim.

    Args:
        values: What was published: by log, run, group of items and place.
        claim: What must hold.
        alpha: The chance of error of one test.

    Returns:
        The events against epsilon and those against delta, one for each direction.
    """
    tallies = [
        _tally(outcome) for outcome in (_likelihood_outcomes(values), _difference_outcomes(values))
    ]
    by_epsilon, by_delta = [], []
    for here in (0, 1):
        chosen = [_choose_events(tally, here, claim, alpha) for tally in tallies]
        best = max(chosen, key=lambda each: each[0].promised.epsilon(claim.delta))[0]
        by_epsilon.append(best.found)
        best = max(chosen, key=lambda each: each[1].promised.delta(claim.epsilon))[1]
        by_delta.append(best.found)
    return by_epsilon, by_delta


def impossible_without_user(values: Values, alpha: float) -> list[EventCounts]:
    """How often items of one user appear, which without her could not: each time is a breach.

    Args:
        values: As for `evidence_against`; nobody else holds what is held on one of the logs.
        alpha: The chance of error of one test.
    """
    appears = (~np.isnan(values)).any(axis=(2, 3)).sum(axis=1)
    return [
        EventCounts(here=int(each), there=None, trials=values.shape[1], alpha=alpha)
        for each in appears
    ]


class _Event(NamedTuple):
    """How often an event was seen in the half that chose it, and in the other."""

    promised: EventCounts
    found: EventCounts


def _choose_events(tally: Tally, here: int, claim: Claim, alpha: float) -> tuple[_Event, _Event]:
    """The events that promise most against epsilon and against delta."""
    by_epsilon, by_delta = (
        _Event(
            *(_count_event(half, event, here, alpha) for half in (tally.choosing, tally.testing))
        )
        for event in choose_events(tally.choosing[here], tally.choosing[1 - here], claim, alpha)
    )
    return by_epsilon, by_delta


def _count_event(half: Counts, event: Counts, here: int, alpha: float) -> EventCounts:
    counts = half[:, event].sum(axis=1)
    return EventCounts(
        here=int(counts[here]),
        there=int(counts[1 - here]),
        trials=int(half[0].sum()),
        alpha=alpha,
    )


def _tally(outcome: Counts) -> Tally:
    """Even runs choose, odd ones test."""
    size = int(outcome.max()) + 1
    choosing, testing = (
        np.stack([np.bincount(each, minlength=size) for each in outcome[:, half::2]])
        for half in (0, 1)
    )
    return Tally(choosing=choosing, testing=testing)


def _likelihood_outcomes(values: Values) -> Counts:
    """The sum of the items' weights, which is the log-likelihood ratio if items are independent."""
    total = np.zeros(values.shape[:2])
    for group in range(values.shape[2]):
        level = _levels(values[:, :, group])
        size = int(level.max()) + 1
        one, other = (np.bincount(each[::2].ravel(), minlength=size) for each in level)
        weight = np.log((one + 0.5) / (other + 0.5))
        total += weight[level].sum(axis=-1)
    return _levels(total)


def _difference_outcomes(values: Values) -> Counts:
    """By how much her items exceed the others: noise that several items share is lost in it."""
    return _levels(values[:, :, 0].sum(axis=-1) - values[:, :, 1].sum(axis=-1))


def _levels(values: npt.NDArray[np.float64]) -> Counts:
    """0 for what is absent, else which of some ranges a value is in; single values if few."""
    known = values[:, ::2]
    known = known[~np.isnan(known)]
    most = int(np.clip(values.shape[1] // _RUNS_A_LEVEL, _LEAST_LEVELS, _MOST_LEVELS))
    edges = np.unique(known)
    if len(edges) > most:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, most + 1)[1:-1]))
    level = 1 + np.searchsorted(edges, values, side="right")
    return np.where(np.isnan(values), 0, level)
