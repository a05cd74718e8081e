"""A plan that must keep what it promises, and the pairs of neighbouring logs it is tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from zealous.audit.layout import Layout
from zealous.audit.pairs import Builder, Pair, Shape
from zealous.audit.sharpest_bounds import Claimed, Recomputed, claim_by_theorems, parameters_follow
from zealous.audit.small_releases import SmallTest
from zealous.mechanisms import CalibratedMechanism
from zealous.planning.declared import PublicFile
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A plan, and the pairs of logs that are published under it together.

    Attributes:
        name: What it is called.
        planned: The plan.
        pairs: The pairs.
        popular: How many users hold what is popular in them, without the one in question.
        edges: A published count is looked at by how many of these numbers it is not below.
        layout: How the logs of all copies are written, and found in what is published.
        tables: How many tables are looked at together, the last ones.
        claimed: What must hold on a pair.
        recomputed: Whether the parameters of the plan are right, computed a second time.
        small: The tests of small releases that are drawn by the plan too.
    """

    name: str
    planned: Plan
    pairs: tuple[Pair, ...]
    popular: int
    edges: tuple[int, ...]
    layout: Layout = field(default_factory=Layout)
    tables: int = 1
    claimed: Claimed = claim_by_theorems
    recomputed: Recomputed = parameters_follow
    small: tuple[SmallTest, ...] = ()

    @property
    def part(self) -> Part:
        """The table that is looked at, the last one: those before are what it is made of."""
        return self.planned.parts[-1]

    @property
    def levels(self) -> int:
        """An item is absent, below the first edge, or not below it, or the second, and so on."""
        return len(self.edges) + 2


class SettingsMaker(NamedTuple):
    """What is tried of one mechanism, or of several that are alike."""

    name: str
    settings: Callable[[], Iterable[Setting]]


SETTINGS: Registry[SettingsMaker] = Registry(
    "zealous.audit.settings",
    lambda tried: tried.name,
    first=(
        "zealous",
        "thresholds",
        "selection-twice",
        "pooled",
        "domain",
        "of-smaller",
        "results",
        "of-keywords",
        "several-kinds",
        "look",
    ),
)


def register(
    name: str,
) -> Callable[[Callable[[], Iterable[Setting]]], Callable[[], Iterable[Setting]]]:
    """Have `zealous audit` try settings; a decorator of the function that makes them."""

    def add(make: Callable[[], Iterable[Setting]]) -> Callable[[], Iterable[Setting]]:
        SETTINGS.register(SettingsMaker(name, make))
        return make

    return add


@cache
def settings() -> tuple[Setting, ...]:
    """Everything that is tried."""
    return tuple(setting for tried in SETTINGS.values() for setting in tried.settings())


def build_pairs(
    planned: Plan, builders: Sequence[Builder], popular: int, given: tuple[int, ...] = ()
) -> tuple[Pair, ...]:
    """Pairs around the numbers of a plan.

    Args:
        planned: The plan.
        builders: Make them.
        popular: How many users hold what is popular.
        given: The most items that a user may give, round by round.
    """
    made = planned.parts[-1].mechanism
    shape = Shape(made.items_per_user, made.tau, popular, planned.goal.users or 0, given)
    return tuple(build(shape) for build in builders)


def popular_count_and_edges(mechanism: CalibratedMechanism) -> tuple[int, tuple[int, ...]]:
    """How many people hold what is popular, and the edges between which counts are looked at.

    For Laplace noise, which tells nothing but which of two counts is nearer.
    """
    if mechanism.tau_prime is None:
        return 1, (1, 2)
    return mechanism.tau_prime, (mechanism.tau_prime + 2, mechanism.tau_prime + 3)


def public_file(use: str) -> PublicFile:
    """What a plan is told of a public file."""
    return PublicFile(use=use, name="public.txt", sha256="0" * 64)


def with_watched_items_listed(pair: Pair) -> Pair:
    """The same with what is looked at on a public list."""
    return pair._replace(listed=sum(pair.watch, ()))
