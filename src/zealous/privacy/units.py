"""Units of privacy: how much of a person's data is protected as one, and the words for it.

All that is said of a unit is said here. Which entries it has is in logs/smaller_units.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Neighbors = Literal["replace", "add-remove"]
Unit = Literal["user", "user-day", "session", "query", "keyword"]
Select = Literal["random", "first", "frequent"]  # of a unit's items, those that count


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """What is said of a unit.

    Attributes:
        one: One of them.
        whole: All that is protected as one.
        whoever: Any of them, of anybody.
        plural: What counts are numbers of.
        each: All of them, one by one.
        per: Of what delta is a chance where each has its own.
        odds: Between what no release moves the odds far, by the neighbours.
        contributor: Who holds items.
        repeats: How often a user counts for an item; empty if at most once.
        protected: Who is protected as a whole.
        assumed: What follows for a user who has several; empty where she has one.
        is_one_item: Whether it is one item by itself, so that no limit leaves out another.
        weak: What nobody may overlook of a unit that is only a part of what somebody does at once.
    """

    one: str
    whole: str
    whoever: str
    plural: str
    each: str
    per: str
    odds: Mapping[Neighbors, str]
    contributor: str
    protected: str
    repeats: str = ""
    assumed: str = ""
    is_one_item: bool = False
    weak: str = ""


PRIVACY_UNITS: Mapping[Unit, PrivacyUnit] = {
    "user": PrivacyUnit(
        one="one user",
        whole="the whole history of one user",
        whoever="anybody at all",
        plural="users",
        each="each person",
        per="person",
        odds={
            "replace": "between any two histories",
            "add-remove": "of being in the log rather than not",
        },
        contributor="each user",
        protected="Each user is protected as a whole, with all entries of that user in the log.",
    ),
    "user-day": PrivacyUnit(
        one="one user's day",
        whole="all that one user did on one day (UTC)",
        whoever="any single day of anybody",
        plural="user-days",
        each="each day of each person",
        per="person and day",
        odds={
            "replace": "between any two versions of a single day",
            "add-remove": "of being in the log on any single day rather than not",
        },
        contributor="each user on each day",
        repeats=" A user who held the item on three days counts three times.",
        protected="A user is protected for one day (UTC) at a time, with all entries of that day.",
        assumed="A user is protected for each day (UTC) by itself. Over n days epsilon is n times "
        "as large and delta grows too: what she alone does on many days can be published.",
    ),
    "session": PrivacyUnit(
        one="one session of one user",
        whole="one session of one user",
        whoever="any single session of anybody",
        plural="sessions",
        each="each session of each person",
        per="session",
        odds={
            "replace": "between any two versions of a single session",
            "add-remove": "of having had any single session rather than not",
        },
        contributor="each user in each session",
        repeats=" A user who held the item in three sessions counts three times.",
        protected="A user is protected for one session at a time, with all entries of that "
        "session.",
        assumed="A user is protected for each session by itself. Over n sessions epsilon is n "
        "times as large and delta grows too: what she alone does in many sessions can be "
        "published.",
    ),
    "query": PrivacyUnit(
        one="one query of one user",
        whole="one query of one user, with every time that she asked it and all clicks for it",
        whoever="any single query of anybody",
        plural="user-queries",
        each="each query of each person",
        per="person and query",
        odds={
            "replace": "between having asked any one query or another",
            "add-remove": "of having asked any single query rather than not",
        },
        contributor="each query of each user",
        repeats=" A user counts once for each of her different queries that hold the item, however "
        "often she asked them.",
        protected="A user is protected for one query at a time, however often she asked it. The "
        "user as a person is not protected.",
        assumed="A user is protected for each query by itself, however often she asked it. Over n "
        "different queries epsilon is n times as large and delta grows too: whoever asked many is "
        "not protected as a person, and what she alone asked in many wordings can be published.",
        weak="A weak unit of privacy: each query of a person is protected by itself, and the "
        "person is not. The release can reveal that somebody who asked much is in the log.",
    ),
    "keyword": PrivacyUnit(
        one="one keyword of one user",
        whole="one keyword of one user, with every time that she used it",
        whoever="any single keyword of anybody",
        plural="user-keywords",
        each="each keyword of each person",
        per="person and keyword",
        odds={
            "replace": "between having used any one keyword or another",
            "add-remove": "of having used any single keyword rather than not",
        },
        contributor="each keyword of each user",
        repeats=" A user counts once for a keyword, however often she used it.",
        protected="A user is protected for one keyword at a time, however often she used it. "
        "Neither her queries nor the user as a person are protected.",
        assumed="A user is protected for each keyword by itself, however often she used it. Over n "
        "different keywords epsilon is n times as large and delta grows too: a query of three "
        "words has three times the epsilon, and whoever used many words is not protected as a "
        "person.",
        is_one_item=True,
        weak="A weak unit of privacy: each keyword of a person is protected by itself, and neither "
        "her queries nor the person are. The release can reveal that somebody who asked much is "
        "in the log.",
    ),
}
UNITS: Mapping[Unit, str] = {name: unit.one for name, unit in PRIVACY_UNITS.items()}
UNIT_PLURALS: Mapping[Unit, str] = {name: unit.plural for name, unit in PRIVACY_UNITS.items()}
WHOEVER: Mapping[Unit, str] = {name: unit.whoever for name, unit in PRIVACY_UNITS.items()}


def unit_warning(unit: Unit) -> list[str]:
    """What nobody may overlook of a weak unit, a sentence or two; nothing for the others."""
    weak = PRIVACY_UNITS[unit].weak
    return [weak] if weak else []


def is_weak_unit(unit: Unit) -> bool:
    """Whether a unit is less than what somebody does at once.

    >>> [name for name in PRIVACY_UNITS if is_weak_unit(name)]
    ['query', 'keyword']
    """
    return bool(PRIVACY_UNITS[unit].weak)
