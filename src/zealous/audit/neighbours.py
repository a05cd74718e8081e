"""The plans that must keep what they promise, and the pairs of neighbouring logs they are tried on.

Small m and little noise: there a fault shows soonest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from zealous.audit import pairs
from zealous.audit import pairs_followed as follows
from zealous.audit import pairs_rounds as keys
from zealous.audit import pairs_sets as sets
from zealous.audit.pairs import VICTIM, Builder, Lines, Pair, Shape, named
from zealous.counting.bound import Select
from zealous.items import Itemsets, Kind, QueryClicks, itemsets, keywords, queries, query_clicks
from zealous.mechanisms import Calibrated
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.of_keywords import MOST_KEYWORDS, OfKeywords
from zealous.mechanisms.of_smaller import USUAL, OfSmaller
from zealous.mechanisms.prior import Prior
from zealous.mechanisms.protocol import Needs
from zealous.mechanisms.results import Results
from zealous.mechanisms.rounds import Rounds
from zealous.planning.declared import PublicFile
from zealous.planning.part import Part
from zealous.planning.plan import Plan, plan, plan_with_files
from zealous.privacy.accounting.rounds import Round
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP

_SURE = 4  # deviations of the noise on weights: what is so far above a threshold is a key
_WEIGHT = 1000  # of a user who gives one item
# Where nobody may give much, few people are enough to be steered; where noise hides a user well,
# she must have much that is listed to be seen. No calibrated plan is like that.
_TWO_ROUNDS = Rounds(
    items_per_user=1,
    scale=Fraction(152, 101),
    rounds=(Round(bound=2, scale=1000, threshold=2500), Round(bound=1, scale=1000, threshold=3500)),
)
_ONE_ROUND = Prior(
    items_per_user=1,
    scale=Fraction(1011, 101),
    rounds=(Round(bound=64, scale=2000, threshold=10_000),),
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A plan, and the pairs of logs that are published under it together.

    Attributes:
        name: What it is called.
        planned: The plan.
        pairs: The pairs.
        popular: How many users hold what is popular in them, without the one in question.
        edges: A published count is looked at by how many of these numbers it is not below.
    """

    name: str
    planned: Plan
    pairs: tuple[Pair, ...]
    popular: int
    edges: tuple[int, ...]

    @property
    def part(self) -> Part:
        """The table that is looked at, the last one: those before are what it is made of."""
        return self.planned.parts[-1]

    @property
    def of_sets(self) -> bool:
        """Whether items are sets of things."""
        return isinstance(self.part.kind, Itemsets)

    @property
    def of_clicks(self) -> bool:
        """Whether items are clicked documents."""
        return isinstance(self.part.kind, QueryClicks)

    @property
    def of_keywords(self) -> bool:
        """Whether items are made of published keywords."""
        return isinstance(self.part.mechanism, OfKeywords)

    @property
    def header(self) -> str:
        """The columns of its logs."""
        if self.of_clicks:
            return "user,url,query"
        if self.of_sets:
            return ",".join(["user", *sets.COLUMNS, sets.BASKET])
        return "user,query" if self.planned.goal.unit == "user" else "user,query,time"

    @property
    def levels(self) -> int:
        """An item is absent, below the first edge, or not below it, or the second, and so on."""
        return len(self.edges) + 2


@cache
def settings() -> tuple[Setting, ...]:
    """Everything that is tried."""
    return (*_zealous(), *_thresholds(), *_rounds(), *_listed(), *_of_things(), *_of_published())


def _zealous() -> list[Setting]:
    return [
        _setting(
            "indistinguishable, m = 1",
            Indistinguishability(epsilon=3, delta="0.05"),
            1,
            [
                pairs.arrives,
                pairs.replaced,
                pairs.unique,
                pairs.alone,
                pairs.repeats,
                pairs.ids,
                pairs.quotes,
                pairs.permuted,
                pairs.many,
                pairs.swayed,
            ],
        ),
        _setting(
            "indistinguishable, m = 1, user-day",
            Indistinguishability(epsilon=3, delta="0.05", unit="user-day"),
            1,
            [pairs.replaced, pairs.many],
        ),
        _setting(
            "indistinguishable, m = 2",
            Indistinguishability(epsilon=4, delta="0.2"),
            2,
            [pairs.replaced, pairs.unique, pairs.alone, pairs.spellings, pairs.many],
        ),
        _setting(
            "indistinguishable, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.2", neighbors="add-remove"),
            2,
            [pairs.arrives, pairs.joins],
        ),
        _setting(
            "probabilistic, m = 1",
            ProbabilisticDP(epsilon=1, delta="0.3", users=14),
            1,
            [pairs.replaced, pairs.reaches_tau, pairs.every_at_tau, pairs.below_tau],
        ),
        _setting(
            "probabilistic, m = 2",
            ProbabilisticDP(epsilon=2, delta="0.4", users=15),
            2,
            [pairs.replaced, pairs.reaches_tau, pairs.every_at_tau],
        ),
        _setting(
            "probabilistic, m = 1, add-remove",
            ProbabilisticDP(epsilon="0.5", delta="0.3", users=8, neighbors="add-remove"),
            1,
            [pairs.rare_beside_frequent, pairs.joins, pairs.every_at_tau],
            select="frequent",
        ),
    ]


def _thresholds() -> list[Setting]:
    """One histogram, with other noise."""
    return [
        _setting(
            "laplace, m = 2",
            Indistinguishability(epsilon=2, delta="0.3"),
            2,
            [pairs.replaced, pairs.alone, pairs.many],
            mechanism="laplace",
        ),
        _setting(
            "gaussian, m = 1",
            Indistinguishability(epsilon=1, delta="0.1"),
            1,
            [pairs.replaced, pairs.alone, pairs.swayed],
            mechanism="gaussian",
        ),
        _setting(
            "gaussian, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.1", neighbors="add-remove"),
            2,
            [pairs.joins, pairs.alone],
            mechanism="gaussian",
        ),
        _setting(
            "selection",
            Indistinguishability(epsilon=2, delta="0.1"),
            1,
            [pairs.replaced, pairs.unique, pairs.alone],
            mechanism="selection",
        ),
    ]


def _rounds() -> list[Setting]:
    """Keys, and counts of them."""
    joining = partial(Indistinguishability, neighbors="add-remove")
    return [
        _setting(
            "set-union, m = 1",
            Indistinguishability(epsilon=1, delta="0.3"),
            1,
            [pairs.replaced, pairs.alone, keys.in_many_rows, keys.more_than_any_bound],
            mechanism="set-union",
        ),
        _setting(
            "sips, m = 2, add-remove",
            joining(epsilon=1, delta="0.3"),
            2,
            [pairs.joins, pairs.alone],
            mechanism="sips",
        ),
        _setting(
            "rounds, m = 1, add-remove",
            joining(epsilon=1, delta="0.3"),
            1,
            [pairs.joins, pairs.alone, keys.found_last],
            mechanism="rounds",
        ),
        _setting(
            "two short rounds, add-remove",
            joining(epsilon=2, delta="0.3"),
            1,
            [keys.tips, keys.several_popular, keys.more_than_any_bound],
            select="frequent",
            mechanism=_TWO_ROUNDS,
        ),
    ]


def _listed() -> list[Setting]:
    """With a public file."""
    return [
        _setting(
            "one round with a prior, add-remove",
            Indistinguishability(epsilon=1, delta="0.02", neighbors="add-remove"),
            1,
            [pairs.alone, keys.all_listed, keys.listed_many_times],
            mechanism=_ONE_ROUND,
        ),
        _setting(
            "domain, m = 1",
            Indistinguishability(epsilon=1, delta=0),
            1,
            [pairs.arrives, pairs.replaced, pairs.repeats, keys.several_listed],
            mechanism="domain",
        ),
    ]


def _of_things() -> list[Setting]:
    """Sets, made of published things."""
    return [
        _setting(
            "of-smaller, 2 things",
            Indistinguishability(epsilon=15, delta="0.001"),
            2,
            [sets.replaced, sets.many_baskets, sets.apart],
            mechanism="of-smaller",
        ),
        _setting(
            "of-smaller-gaussian, 4 things, add-remove",
            Indistinguishability(epsilon=5, delta="0.3", neighbors="add-remove"),
            4,
            [sets.all_more],
            mechanism="of-smaller-gaussian",
        ),
    ]


def _of_published() -> list[Setting]:
    """Over a list that follows from the table before."""
    return [
        _setting(
            "results, m = 1",
            Indistinguishability(epsilon=2, delta=0),
            1,
            [pairs.arrives, pairs.replaced, pairs.repeats, keys.several_listed],
            mechanism="results",
        ),
        _setting(
            "of-keywords, m = 1",
            Indistinguishability(epsilon=4, delta=0),
            1,
            [pairs.replaced, pairs.repeats, keys.several_listed, follows.not_spelled],
            mechanism="of-keywords",
        ),
    ]


def _setting(
    name: str,
    goal: Guarantee,
    m: int,
    builders: Sequence[Builder],
    *,
    select: Select = "random",
    mechanism: str | Calibrated = "zealous",
) -> Setting:
    if isinstance(mechanism, str) and issubclass(MECHANISMS[mechanism], OfSmaller):
        planned = _sets_planned(goal, m, mechanism)
    elif mechanism in (Results.name, OfKeywords.name):
        planned = _two_planned(goal, m, mechanism)
    elif isinstance(mechanism, str):
        needs = MECHANISMS[mechanism].needs
        files = {"queries": _file(needs)} if needs else {}
        planned = plan_with_files(goal, [queries(m)], files, mechanism=mechanism)
    else:
        delta = mechanism.delta(goal)
        part = Part(kind=queries(m), goal=goal, mechanism=mechanism, delta=delta)
        planned = Plan(goal=goal, parts=(part,))
    made = planned.parts[-1].mechanism
    popular, edges = _looked_at(made)
    given = tuple(each["items_per_user"] for each in made.parameters().get("rounds", ()))
    shape = Shape(made.items_per_user, made.tau, popular, goal.users or 0, given)
    built = tuple(build(shape) for build in builders)
    if goal.unit == "user-day":
        built = tuple(_dated(pair) for pair in built)
    if given:  # their logs are large
        built = tuple(p._replace(every=2) if p.pure and p.every == 1 else p for p in built)
    if isinstance(made, OfKeywords):
        built = tuple(pair._replace(every=4) for pair in built)
    if made.needs == "results":
        built = tuple(map(follows.clicked, built))
    if made.needs in ("domain", "results"):
        built = tuple(pair._replace(listed=sum(pair.watch, ())) for pair in built)
    planned = replace(planned, select=select)
    return Setting(name=name, planned=planned, pairs=built, popular=popular, edges=edges)


def _file(use: Needs) -> PublicFile:
    return PublicFile(use=use, name="public.txt", sha256="0" * 64)


def _sets_planned(goal: Guarantee, things: int, mechanism: str) -> Plan:
    """Things, single things and sets of two; a fifth of epsilon is for these."""
    _, *kinds = itemsets(*sets.COLUMNS, max_size=2, items_per_user=things, basket=sets.BASKET)
    names = [kind.name() for kind in kinds]
    split = dict(zip(names, (3, 1, 1), strict=True))
    return plan(goal, kinds, split=split, mechanism={names[-1]: mechanism})


def _two_planned(goal: Guarantee, m: int, mechanism: str) -> Plan:
    """A table of all that a public list names, and one that is made of it."""
    kinds: list[Kind] = [queries(1), query_clicks(m)]
    if mechanism == OfKeywords.name:
        kinds = [keywords(1), queries(m)]
    first, second = (kind.name() for kind in kinds)
    files = {first: _file("domain")}
    if (needs := MECHANISMS[mechanism].needs) is not None:
        files[second] = _file(needs)
    return plan_with_files(goal, kinds, files, mechanism={first: "domain", second: mechanism})


def _looked_at(mechanism: Calibrated) -> tuple[int, tuple[int, ...]]:
    """How many people hold what is popular, and the edges between which counts are looked at.

    Laplace noise tells nothing but which of two counts is nearer. Gaussian noise tells more the
    farther away it is, and so items must be popular enough to be seen on either side.
    """
    rounds = mechanism.parameters().get("rounds")
    if rounds:
        last = rounds[-1]
        given = math.isqrt(_WEIGHT**2 // mechanism.items_per_user)
        popular = math.ceil((last["threshold"] + _SURE * last["scale"]) / given)
    elif isinstance(mechanism, OfSmaller):
        popular = mechanism.threshold(USUAL)
        if mechanism.noise == "discrete-gaussian":  # by what all of somebody's sets have together
            popular += math.ceil(mechanism.scale)
            return popular, tuple(range(popular, popular + 7))
    elif isinstance(mechanism, OfKeywords):
        above = mechanism.threshold(MOST_KEYWORDS)
        return above, (above + 2, above + 3)
    elif mechanism.tau_prime is None:
        return 1, (1, 2)
    elif mechanism.noise == "discrete-gaussian":
        popular = mechanism.tau_prime + math.ceil(2 * mechanism.scale)
    else:
        return mechanism.tau_prime, (mechanism.tau_prime + 2, mechanism.tau_prime + 3)
    return popular, tuple(range(popular, popular + 3))


def _dated(pair: Pair) -> Pair:
    """The same on one day, minute by minute; what the victim does on another day stays."""

    def day(lines: Lines) -> Lines:
        minutes = (f"{i // 60:02d}:{i % 60:02d}" for i in range(len(lines)))
        dated = (f"{line},2026-03-01 {at}" for line, at in zip(lines, minutes, strict=True))
        return (f"{VICTIM},{named(99)},2026-03-02 00:00", *dated)

    right = None if pair.right is None else day(pair.right)
    return pair._replace(left=day(pair.left), right=right)
