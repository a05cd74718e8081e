"""What each kind of a release may tell, so that the whole keeps its goal.

Each histogram gets its weight of epsilon, and of delta if it needs one: the shares add up to the
goal. Under indistinguishability several may use more each, by one factor for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from zealous.items import Kind
from zealous.mechanisms import CalibratedMechanism
from zealous.planning.together import largest_factor
from zealous.privacy.guarantee import Guarantee


class PartShare(NamedTuple):
    """What one kind guarantees by itself, and its mechanism with the parameters for that."""

    kind: Kind
    goal: Guarantee
    mechanism: CalibratedMechanism


def shares(
    goal: Guarantee,
    weights: Mapping[str, Fraction],
    chosen: Sequence[tuple[Kind, type[CalibratedMechanism]]],
) -> list[PartShare]:
    """What each kind guarantees by itself, and its mechanism with the parameters for that.

    Args:
        goal: The guarantee of the whole.
        weights: The share of each kind in the budget, by its name; they add up to one.
        chosen: The kinds in the order of publication, and the mechanism of each.

    Guarantee:
        The whole keeps the goal: by the sum at a factor of one, else by the composed losses.
    """
    exposed = sum((weights[kind.name()] for kind, each in chosen if not each.pure), Fraction(0))
    made: dict[tuple[Guarantee, type[CalibratedMechanism], int], CalibratedMechanism] = {}

    def parts_at(factor: Fraction) -> list[PartShare]:
        found = []
        for kind, each in chosen:
            weight, most = weights[kind.name()], kind.items_per_user
            share = goal.share(weight * factor, Fraction(0) if each.pure else weight / exposed)
            if (share, each, most) not in made:
                made[share, each, most] = each.calibrate(share, most)
            found.append(PartShare(kind, share, made[share, each, most]))
        return found

    if not goal.composes or goal.pure or len(chosen) == 1:
        return parts_at(Fraction(1))
    return parts_at(largest_factor(goal, weights, parts_at))
