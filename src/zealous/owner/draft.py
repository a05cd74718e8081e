"""A release that is being thought about: what it would need, and what would make more appear.

Everything here follows from public figures; no log is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

from zealous.errors import UsageError
from zealous.items import Kind, parse_kinds
from zealous.planning.part import forecast
from zealous.planning.plan import Plan, plan
from zealous.privacy.accounting.at_best import most_items
from zealous.privacy.guarantee import DEFINITIONS, Guarantee, format_number
from zealous.privacy.levels import LADDER, level_of, suspicion_after
from zealous.privacy.promise import promise

DELTA = Fraction(1, 1000)  # the chance that anybody at all is exposed
# Rules of thumb: hardly a thing is among the few that count of more than one person in a hundred.
_NOTHING = 100
_LITTLE = 1000
_FEWER = "fewer items of each person"
_CAVEATS = {
    _FEWER: "Fewer items of each person lower the threshold, but count each person for fewer "
    "items: where people have many, less may appear."
}

Outlook = Literal["nothing", "next to nothing", "only the most frequent", "a table"]


class Rung(NamedTuple):
    """One epsilon, what it means and what it asks for."""

    epsilon: Fraction
    level: str | None
    suspicion: float
    users_to_appear: int


class Remedy(NamedTuple):
    """What lowers the number of users that an item needs, and at what price."""

    words: str
    options: tuple[str, ...]
    users_to_appear: int
    caveat: str


class KindOutlook(NamedTuple):
    """What to expect of one kind of items."""

    kind: str
    items_per_user: int
    users_to_appear: int
    outlook: Outlook


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What is to be published at which guarantee.

    Attributes:
        goal: The guarantee of the whole release.
        items: By name, as --items takes it: how many of a user count.
        basket: The column that tells what is together, for sets.
        mechanism: Its name; None for the usual one.
    """

    goal: Guarantee
    items: Mapping[str, int]
    basket: str | None = None
    mechanism: str | None = None

    def kinds(self) -> list[Kind]:
        """What is counted."""
        return kinds_of(self.items, self.basket)

    @cached_property
    def planned(self) -> Plan:
        """The parameters that give the guarantee."""
        return plan(self.goal, self.kinds(), mechanism=self.mechanism)

    @cached_property
    def users_to_appear(self) -> int:
        """How many users an item needs to appear with 95 %, of the kind that needs most."""
        return users_to_appear(self.planned)

    def by_kind(self) -> list[KindOutlook]:
        """How many users an item of each kind needs, and what to expect of the kind."""
        found = []
        for part in self.planned.parts:
            needed = forecast(part).users_to_appear.high
            outlook = self.outlook(needed)
            found.append(KindOutlook(part.name(), part.kind.items_per_user, needed, outlook))
        return found

    def outlook(self, needed: int | None = None) -> Outlook:
        """What to expect where the bound on users is about their number.

        Args:
            needed: How many users an item needs; those of the kind that needs most if not given.
        """
        users, needed = self.goal.users or 0, needed or self.users_to_appear
        if needed > users:
            return "nothing"
        if _NOTHING * needed > users:
            return "next to nothing"
        return "only the most frequent" if _LITTLE * needed > users else "a table"

    def deciding_items_per_user(self) -> int | None:
        """How many items of one user have a part in what is published; None if nothing is known."""
        each = [part.mechanism.deciding_items_per_user() for part in self.planned.parts]
        return None if None in each else sum(filter(None, each))

    def most_items(self) -> int | None:
        """How many items the release can hold on average, whatever the mechanisms."""
        deciding, users = self.deciding_items_per_user(), self.goal.users
        if deciding is None or users is None:
            return None
        return most_items(self.goal, users * deciding)

    def ladder(self) -> list[Rung]:
        """Other choices of epsilon, from the most private on."""
        choices = sorted({*LADDER, self.goal.epsilon})
        return [epsilon_rung(self.with_epsilon(each).planned) for each in choices]

    def with_epsilon(self, epsilon: Fraction) -> Draft:
        """The same at another epsilon."""
        goal = self.goal.with_budget(type(self.goal), epsilon=epsilon, delta=self.goal.delta)
        return replace(self, goal=goal)

    def remedies(self) -> list[Remedy]:
        """Changes by which an item needs fewer users, each by itself, the most effective first."""
        found = [
            Remedy(words, options, draft.users_to_appear, _CAVEATS.get(words, ""))
            for words, options, draft in self._changes()
            if draft.users_to_appear < self.users_to_appear
        ]
        return sorted(found, key=lambda each: each.users_to_appear)

    def _changes(self) -> Iterator[tuple[str, tuple[str, ...], Draft]]:
        larger = next((each for each in LADDER if each > self.goal.epsilon), None)
        if larger is not None:
            level = level_of(larger)
            option = ("--privacy", level) if level else ("--epsilon", format_number(larger))
            yield "less privacy", option, self.with_epsilon(larger)
        if len(self.items) > 1:
            name, most = next(iter(self.items.items()))
            yield "one kind of items", ("--items", name), replace(self, items={name: most})
        fewer = {name: self._fewest(name) for name in self.items}
        if fewer != self.items:
            said = ",".join(f"{name}={most}" for name, most in fewer.items())
            option = ("--items-per-user", said if len(fewer) > 1 else said.rpartition("=")[2])
            yield _FEWER, option, replace(self, items=fewer)
        if self.goal.definition != "indistinguishable":
            goal = goal_with_definition("indistinguishable", self.goal)
            yield (
                "delta per person",
                ("--guarantee", "indistinguishable", "--mechanism", "auto"),
                replace(self, goal=goal, mechanism="auto"),
            )

    def _fewest(self, name: str) -> int:
        """The fewest items of a user of which such a kind can be made."""
        for most in range(1, self.items[name]):
            with suppress(UsageError):
                kinds_of({name: most}, self.basket)
                return most
        return self.items[name]

    def figures(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "unit": self.goal.unit,
            "items": dict(self.items),
            "guarantee": self.goal.definition,
            "epsilon": float(self.goal.epsilon),
            "delta": float(self.goal.delta),
            "users": self.goal.users,
            "in_words": promise(self.goal),
            "ladder": [
                {**rung._asdict(), "epsilon": float(rung.epsilon)} for rung in self.ladder()
            ],
            "users_to_appear": self.users_to_appear,
            "outlook": self.outlook(),
            "most_items": self.most_items(),
            "kinds": [each._asdict() for each in self.by_kind()],
            "remedies": [each._asdict() for each in self.remedies()],
        }

    def options(self) -> list[str]:
        """The options of the command line that ask for it."""
        goal = self.goal
        most = list(self.items.values())
        each = ",".join(f"{name}={number}" for name, number in self.items.items())
        said = ["--items", ",".join(self.items)]
        said += ["--items-per-user", str(most[0]) if len(most) == 1 else each]
        said += ["--basket", self.basket] if self.basket else []
        said += ["--users", str(goal.users), "--epsilon", format_number(goal.epsilon)]
        said += ["--delta", format_number(goal.delta)]
        said += [] if goal.definition == "probabilistic" else ["--guarantee", goal.definition]
        said += [] if goal.neighbors == "replace" else ["--neighbors", goal.neighbors]
        said += [] if goal.unit == "user" else ["--unit", goal.unit]
        return said + (["--mechanism", self.mechanism] if self.mechanism else [])


def least_users(needed: int) -> int:
    """With fewer users than this next to nothing will appear, where an item needs so many."""
    return _NOTHING * needed


def users_to_appear(planned: Plan) -> int:
    """How many users an item needs to appear with 95 %, of the kind that needs most."""
    return max(forecast(part).users_to_appear.high for part in planned.parts)


def epsilon_rung(planned: Plan) -> Rung:
    """What the epsilon of a plan means and asks for."""
    epsilon = planned.goal.epsilon
    return Rung(epsilon, level_of(epsilon), suspicion_after(epsilon), users_to_appear(planned))


def kinds_of(items: Mapping[str, int], basket: str | None = None) -> list[Kind]:
    """The kinds that names of --items ask for, each once.

    Args:
        items: By name: how many of a user count.
        basket: The column that tells what is together, for sets.
    """
    settings = {"by": None, "max_size": None, "basket": basket}
    found: dict[str, Kind] = {}
    for name, most in items.items():
        for kind in parse_kinds(name, most, **settings):
            found.setdefault(kind.name(), kind)
    return list(found.values())


def goal_with_definition(definition: str, like: Guarantee) -> Guarantee:
    """Another guarantee at the same epsilon, with the delta that is usual for it."""
    delta = default_delta(definition, like.users or 1)
    return like.with_budget(DEFINITIONS[definition], epsilon=like.epsilon, delta=delta)


def default_delta(definition: str, users: int) -> Fraction:
    """The usual delta: for everybody together one in a thousand, per person far less.

    >>> default_delta("probabilistic", 500_000), default_delta("indistinguishable", 500_000)
    (Fraction(1, 1000), Fraction(1, 10000000))
    """
    if not DEFINITIONS[definition].needs_users:
        return Fraction(1, 10 ** (len(str(users - 1)) + 1)) if users > 1 else Fraction(1, 10)
    return DELTA
