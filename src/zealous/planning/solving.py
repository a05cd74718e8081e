"""The parts of a plan: the mechanism, the share and the parameters of each kind of items.

Guarantee:
    The shares of all parts keep the goal together. Nothing here looks at the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from zealous.errors import Refused, UsageError
from zealous.items import Kind
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.choose import MECHANISMS, choose_mechanism
from zealous.planning.declared import PublicFile
from zealous.planning.part import Part
from zealous.planning.shares import shares
from zealous.privacy.guarantee import (
    CannotGive,
    Guarantee,
    Number,
    exact_fraction,
    format_number,
)

_ONE_GUARANTEE = (
    ". A release keeps one guarantee for all its kinds: publish this one as a release of its own. "
    "The other kinds then keep the probabilistic guarantee; all of it together is indistinguishable"
)


def solve_parts(
    goal: Guarantee,
    kinds: Sequence[Kind],
    public: Mapping[str, PublicFile],
    *,
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
    mechanism: str | Mapping[str, str] | None = None,
) -> tuple[Guarantee, tuple[Part, ...]]:
    """The parts that keep a goal together, and the goal: without a delta where none is needed.

    Args:
        goal: The guarantee of all of them.
        kinds: What is published.
        public: The public file of each kind that has one.
        split: The weights of the kinds.
        accept_delta: Whether a large delta per person was confirmed.
        mechanism: As for `plan`.
    """
    chosen = choose_mechanisms(goal, kinds, mechanism=mechanism, public=public)
    weights = _weights({kind.name(): kind.budget_weight() for kind in kinds}, split)
    if all(each.pure for each, _ in chosen.values()):
        goal = goal.with_budget(type(goal), epsilon=goal.epsilon, delta=Fraction(0))
    check_delta(goal, accept_delta)
    try:
        solved = shares(goal, weights, [(kind, chosen[kind.name()][0]) for kind in kinds])
    except CannotGive as error:
        raise UsageError(f"{error}{_ONE_GUARANTEE if len(kinds) > 1 else ''}") from None
    parts = []
    for kind, share, made in solved:
        why, delta, file = chosen[kind.name()][1], made.delta(share), public.get(kind.name())
        parts.append(Part(kind=kind, goal=share, mechanism=made, delta=delta, public=file, why=why))
    return goal, tuple(parts)


def choose_mechanisms(
    goal: Guarantee,
    kinds: Sequence[Kind],
    *,
    mechanism: str | Mapping[str, str] | None = None,
    public: Mapping[str, PublicFile] | None = None,
) -> dict[str, tuple[type[CalibratedMechanism], str]]:
    """The mechanism of each kind, by its name, and why it is that one.

    Raises:
        UsageError: These kinds cannot be published, or not so, or not in this order.
    """
    names = [kind.name() for kind in kinds]
    if not kinds:
        raise UsageError("nothing to publish: name at least one kind of items")
    if len(set(names)) < len(names):
        raise UsageError("each kind of items can be named once")
    for option, given in (("--mechanism", mechanism), ("a public file", public)):
        if isinstance(given, Mapping) and set(given) - set(names):
            raise UsageError(f"{option} is given for a kind of items that is not published")
    files = public or {}
    chosen = {}
    for kind in kinds:
        if isinstance(mechanism, Mapping):
            asked = mechanism.get(kind.name())
        else:  # one name for all is not meant for what is made of others
            of_others = MECHANISMS[kind.default_mechanism()].family is not None
            asked = None if of_others else mechanism
        use = files[kind.name()].use if kind.name() in files else None
        before = {each.name(): each for each in kinds[: kinds.index(kind)]}
        chosen[kind.name()] = choose_mechanism(asked, goal, kind, use, before)
        kind.check_before(before)
        chosen[kind.name()][0].check_kinds(kind, before)
        _check_rates(kind, chosen)
        kind.check_unit(goal.unit)
    return chosen


def _check_rates(kind: Kind, chosen: Mapping[str, tuple[type[CalibratedMechanism], str]]) -> None:
    """Refuse to count for those who were counted before, where noise decides who that is."""
    first = kind.restricting_kind()
    for name in () if first is None else (first, kind.name()):
        if chosen[name][0].chooses_by_noise:
            raise UsageError(
                f"{kind.name()} are set beside {first}, which the {chosen[name][0].name} mechanism "
                f"does not allow: use another mechanism for {name}"
            )


def _weights(
    usual: Mapping[str, Fraction], split: Mapping[str, Number] | None
) -> dict[str, Fraction]:
    """The share of each kind in the budget."""
    weights = {name: exact_fraction(weight, "split") for name, weight in (split or {}).items()}
    if weights and set(weights) != set(usual):
        raise UsageError("--split must name the published kinds, each once: keywords=2,queries=1")
    if any(weight <= 0 for weight in weights.values()):
        raise UsageError("the weights of --split must be above 0")
    weights = weights or dict(usual)
    total = sum(weights.values(), Fraction(0))
    return {name: weights[name] / total for name in usual}


def check_delta(goal: Guarantee, accept_delta: bool) -> None:
    """Refuse a per-person delta that a whole population would notice."""
    if not goal.delta_per_person or goal.users is None or accept_delta:
        return
    if goal.delta > Fraction(1, 10 * goal.users):
        advised = Decimal(1) / Decimal(10 * goal.users)
        advised = advised.quantize(Decimal((0, (1,), advised.adjusted())), ROUND_FLOOR)
        raise Refused(
            f"delta is per person under this guarantee: {format_number(goal.delta)} is above "
            f"1/(10 x {goal.users:,} users). Lower it to {float(advised):g} or less, use the "
            "probabilistic guarantee, or confirm with --accept-delta"
        )
