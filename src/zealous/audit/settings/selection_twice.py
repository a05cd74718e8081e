"""Selection twice: what is drawn the first time steers what users count for the second time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import msgspec
from msgspec import structs

from zealous.audit import pairs
from zealous.audit.confidence_bounds import Claim
from zealous.audit.pairs import Builder, Pair, Shape, lines_of_others, lines_of_user
from zealous.audit.recompute import RECOMPUTATIONS, Recomputation
from zealous.audit.setting import Setting, build_pairs, register
from zealous.audit.sharpest_bounds import claim_by_theorems
from zealous.audit.theorems import unique_item_probability
from zealous.items import queries
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.selection_twice import SelectionTwice
from zealous.planning.part import Part, part_record
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.record import PartRecord

_UNDECIDED = 6  # people
_ROWS = 16
_CLOSE = 1e-6  # relative: floats here, and roundings up there


@register("selection-twice")
def settings() -> list[Setting]:
    """What a plan gives; little noise the first time, so that one user's vote steers others."""
    joining = partial(Indistinguishability, neighbors="add-remove")
    sharp = SelectionTwice(
        items_per_user=3, first=_selection("1/2", 2), second=_selection("1/2", 1)
    )
    goal = joining(epsilon=4, delta="0.5")
    kind, delta = queries(sharp.items_per_user), sharp.delta(goal)
    part = Part(kind=kind, goal=goal, mechanism=sharp, delta=delta)
    return [
        _setting(
            "selection twice, m = 2",
            plan(
                Indistinguishability(epsilon=2, delta="0.1"),
                [queries(2)],
                mechanism="selection-twice",
            ),
            [pairs.popular_items_replaced, pairs.m_items_of_one_user, items_in_many_rows],
        ),
        _setting(
            "selection twice, add-remove",
            Plan(goal=goal, parts=(part,)),
            [
                pairs.user_joins,
                pairs.m_items_of_one_user,
                items_in_many_rows,
                votes_tipped,
                votes_called_off,
                chosen_by_nobody_else,
            ],
        ),
    ]


def items_in_many_rows(_: Shape) -> Pair:
    """She has one vote each time, however many rows she has."""
    return Pair(
        "items in many rows, alone", lines_of_user([0, 1], rows=_ROWS), None, ((0, 1),), every=2
    )


def votes_tipped(_: Shape) -> Pair:
    """One user's first vote moves the noisy count by which others choose between two items."""
    rest = tuple(line for user in range(_UNDECIDED) for line in lines_of_user([0, 1], f"w{user}-@"))
    name = "one user tips what others choose"
    return Pair(name, rest, rest + lines_of_user([0]), ((0,), (1,)), every=2)


def votes_called_off(_: Shape) -> Pair:
    """Her vote publishes an item the first time, so that others count for their second one."""
    rest = tuple(
        line for user in range(_UNDECIDED) for line in lines_of_user([0, 1 + user], f"w{user}-@")
    )
    alone = tuple(range(1, 1 + _UNDECIDED))
    return Pair(
        "one user frees what others hold", rest, rest + lines_of_user([0]), (alone,), every=2
    )


def chosen_by_nobody_else(shape: Shape) -> Pair:
    """An item beside popular ones has her second vote, once these are published."""
    rest = lines_of_others([1], shape.popular) + lines_of_others([2], shape.popular)
    name = "unique item beside popular ones, alone"
    return Pair(name, rest + lines_of_user([0, 1, 2]), None, ((0,),), every=4)


def _selection(scale: str, tau_prime: int) -> Selection:
    return Selection(
        items_per_user=1,
        scale=Fraction(scale),
        tau=1,
        tau_prime=tau_prime,
        raised_probability=Fraction(0),
    )


def _setting(name: str, planned: Plan, builders: Sequence[Builder]) -> Setting:
    found = planned.parts[-1].mechanism.parameters()["parameters"]["first_tau_prime"] + 4
    return Setting(
        name=name,
        planned=planned,
        pairs=build_pairs(planned, builders, found),
        popular=found,
        edges=tuple(range(found, found + 3)),
        claimed=_claim,
    )


def _claim(planned: Plan, pair: Pair) -> Claim:
    """What one user alone has appears the first time or the second; all else by the whole claim."""
    if pair.right is not None and pair.same:
        return claim_by_theorems(planned, pair)
    part = part_record(planned.parts[-1], planned.select)
    return Claim(epsilon=float(part.epsilon), delta=_delta(part))


class _First(msgspec.Struct, frozen=True):
    """What a record has under `parameters`: the noise and the threshold of the first time."""

    first_scale: str
    first_tau_prime: int
    first_longer: str


def _first(part: PartRecord) -> PartRecord:
    """The first time, as a record has a selection."""
    own = msgspec.convert(part.parameters, _First)
    return structs.replace(
        part,
        scale=float(Fraction(own.first_scale)),
        exact=structs.replace(part.exact, scale=own.first_scale),
        tau_prime=own.first_tau_prime,
        longer=own.first_longer,
    )


def _delta(part: PartRecord) -> float:
    """The sum over both times of the chance that what one user alone has is published."""
    return sum(unique_item_probability(each, 1) for each in (_first(part), part))


def _follows(part: PartRecord, _: int | None) -> bool:
    """Whether both epsilons and both deltas add up to no more than the part's."""
    moved = 2 if part.neighbors == "replace" else 1
    epsilon = sum(moved / Fraction(each.exact.scale) for each in (_first(part), part))
    allowed = min(float(part.delta), float(part.delta_achieved)) * (1 + _CLOSE)
    return epsilon <= Fraction(part.exact.epsilon) and _delta(part) <= allowed


RECOMPUTATIONS.register(Recomputation("selection-twice", _follows))
