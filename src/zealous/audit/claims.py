"""What must hold for every event on a pair of logs: the sharpest that theory says of it."""

from __future__ import annotations

from zealous.audit.neighbours import Setting
from zealous.audit.pairs import Pair
from zealous.audit.statistics import Claim
from zealous.audit.theorems import alone, told
from zealous.mechanisms import Zealous
from zealous.planning.part import figures
from zealous.planning.plan import also
from zealous.privacy.guarantee import ProbabilisticDP


def claim(setting: Setting, pair: Pair) -> Claim:
    """The exact delta, not the rounded one that was asked for: slack would hide a fault.

    Nor the delta of the whole plan where this pair is no worst case: what the noise on counts
    tells, or how often what one user alone has appears, is less.
    """
    part = setting.part
    epsilon, delta = float(part.goal.epsilon), float(min(part.delta, part.goal.delta))
    if pair.same:
        return Claim(epsilon=0.0, delta=0.0)
    if isinstance(part.mechanism, Zealous):
        if pair.pure:
            return Claim(epsilon=epsilon, delta=0.0)
        if pair.right is not None and isinstance(part.goal, ProbabilisticDP):
            other = also(setting.planned)  # between two logs the same parameters promise more
            delta = min(delta, float(other.delta)) if other else delta
        return Claim(epsilon=epsilon, delta=delta)
    if pair.pure and pair.at < 1:
        return Claim(epsilon=pair.at * epsilon, delta=told(figures(part), pair.at))
    if pair.pure:
        delta = min(delta, told(figures(part)))
    elif pair.right is None:
        (items,) = pair.watch
        delta = min(delta, alone(figures(part), len(items)))
    return Claim(epsilon=epsilon, delta=delta)
