"""What must hold for every event on a pair of logs: the sharpest that theory says of it.

The exact delta, not the rounded one that was asked for: slack would hide a fault. Nor the delta of
the whole plan where a pair is no worst case: what the noise on counts tells, or how often what one
user alone has appears, is less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from zealous.audit.confidence_bounds import Claim
from zealous.audit.pairs import Pair
from zealous.audit.recompute import follows_from_theorems, whole_follows
from zealous.audit.theorems import noise_delta, unique_item_probability
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.release.provenance import plan_record

Claimed: TypeAlias = Callable[[Plan, Pair], Claim]
Recomputed: TypeAlias = Callable[[Plan], bool]
NO_LEAKAGE = Claim(epsilon=0.0, delta=0.0)


def least_delta(part: Part) -> float:
    """The delta of a table: what its parameters achieve."""
    return float(min(part.delta, part.goal.delta))


def parameters_follow(planned: Plan) -> bool:
    """Whether the parameters of a plan are what the theorems about its noise give."""
    goal, parts = planned.goal, plan_record(planned)
    return all(follows_from_theorems(part, goal.users) for part in parts) and whole_follows(
        parts, goal.epsilon, goal.delta
    )


def claim_by_theorems(planned: Plan, pair: Pair) -> Claim:
    """By the theorems about the last table's noise, derived a second time."""
    if pair.same:
        return NO_LEAKAGE
    part, said = planned.parts[-1], plan_record(planned)[-1]
    epsilon, delta = float(part.goal.epsilon), least_delta(part)
    if pair.pure and pair.at < 1:
        return Claim(epsilon=pair.at * epsilon, delta=noise_delta(said, pair.at))
    if pair.pure:
        delta = min(delta, noise_delta(said))
    elif pair.right is None:
        (items,) = pair.watch
        delta = min(delta, unique_item_probability(said, len(items)))
    return Claim(epsilon=epsilon, delta=delta)
