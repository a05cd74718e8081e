"""Kinds that a plan adds to those that are named: looks for `auto`, statistics of rare queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from zealous.errors import UsageError
from zealous.items import Kind, tail_of
from zealous.items.items_per_user import LOOK_PRICE, ItemsPerUser, look_name
from zealous.mechanisms.after_look import UNKNOWN
from zealous.privacy.guarantee import Guarantee, Number, exact_fraction


class WithTail(NamedTuple):
    """What is planned where rare queries are told about too.

    Attributes:
        kinds: All kinds.
        goal: The guarantee of all of them.
        split: The share of each.
    """

    kinds: list[Kind]
    goal: Guarantee
    split: dict[str, Fraction]


def with_tail(
    kinds: Sequence[Kind],
    goal: Guarantee,
    epsilon: Number,
    *,
    split: Mapping[str, Number] | None = None,
    roles: Collection[str] | None = None,
) -> WithTail:
    """The kinds with those of the tail, at an epsilon of their own.

    Args:
        kinds: What is published besides, queries and keywords among them.
        goal: The guarantee of these kinds.
        epsilon: What the tail costs besides.
        split: The weights of these kinds.
        roles: The roles that have a column in the log, where it is known.
    """
    extra = exact_fraction(epsilon, "--tail")
    if extra <= 0:
        raise UsageError("--tail must be above 0: it is the epsilon that it costs")
    about = tail_of(kinds, roles)
    settings = [kind.settings() for kind in kinds]
    if any(each.get("by") is not None or each.get("fold") for each in settings):
        raise UsageError("--tail goes with neither --by nor --fold-words")
    own: Mapping[str, Number] = split or {kind.name(): kind.budget_weight() for kind in kinds}
    if set(own) != {kind.name() for kind in kinds}:
        raise UsageError("--split must name the --items, each once: --tail has its own epsilon")
    shares: dict[str, Fraction] = {}
    for budget, weights in (
        (goal.epsilon, {name: exact_fraction(weight, "split") for name, weight in own.items()}),
        (extra, {kind.name(): kind.budget_weight() for kind in about}),
    ):
        total = sum(weights.values(), Fraction(0))
        if total <= 0:
            raise UsageError("the weights of --split must be above 0")
        shares |= {name: budget * weight / total for name, weight in weights.items()}
    whole = goal.with_budget(type(goal), epsilon=goal.epsilon + extra, delta=goal.delta)
    return WithTail([*kinds, *about], whole, shares)


def with_looks(
    kinds: Sequence[Kind],
    goal: Guarantee,
    *,
    mechanism: str | Mapping[str, str] | None,
    split: Mapping[str, Number] | None,
    files: Collection[str],
) -> tuple[list[Kind], Mapping[str, Number] | None]:
    """The kinds, and before each that `auto` may look at, how many items of it users have.

    Kinds that others are made of, or that have a public file, are left as they are.

    Args:
        kinds: What is published.
        goal: The guarantee.
        mechanism: As for `plan`.
        split: The weights of the kinds.
        files: The kinds that have a public file.

    Returns:
        The kinds, and the weights of all of them.
    """
    followed = {name for kind in kinds for name in (*kind.builds_on(), kind.restricting_kind())}
    named = {kind.name() for kind in kinds}
    looks: dict[str, Kind] = {}
    unbound: dict[str, Kind] = {}
    for kind in kinds if goal.composes else ():
        name = kind.name()
        asked = mechanism.get(name) if isinstance(mechanism, Mapping) else mechanism
        if asked == "auto" and name not in {*followed, *files} and look_name(kind) not in named:
            with suppress(UsageError):  # of what is made of others, or counts once, there is none
                unbound[name] = replace(kind, items_per_user=UNKNOWN.items_per_user)
                looks[name] = ItemsPerUser(of=kind)
    if not looks:
        return [*kinds], split
    weights: dict[str, Number] = {kind.name(): kind.budget_weight() for kind in kinds}
    if split is not None:
        weights = dict(split)
    found = [
        each
        for kind in kinds
        for each in (
            (looks[kind.name()], unbound[kind.name()]) if kind.name() in looks else (kind,)
        )
    ]
    for name, look in looks.items():
        if name in weights:
            weights[look.name()] = LOOK_PRICE * exact_fraction(weights[name], "split")
    return found, weights
