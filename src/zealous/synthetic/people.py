"""The people: how active each is, what each cares about, and whom each looks up.

Everything is a function of (seed, user), so nothing is stored but one rate a user.
"""

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from zealous.synthetic import words
from zealous.synthetic.behaviour import Behaviour
from zealous.synthetic.chance import Bools, Floats, Ints, integers_below, uniform, zipf
from zealous.synthetic.topics import WORDS, Queries, popular_topics, some_subjects
from zealous.synthetic.vocabulary import ABOUT_A_PERSON, FIRST_NAMES, ROADS

_SUBJECT, _FAVOURITE, _REGION, _HABIT, _HOME, _PERSON, _CERTAIN = range(100, 107)  # of hashes
_FIRST_DAYS = 30  # on one of which the certain session is

ACQUAINTANCES = 8  # people (the user first) whom one user may look up
TEMPLATES = 5  # ways to look someone up, see personal_words
_HOME_SIZE = 4
_FIRST, _ABOUT, _ROADS = (words.word_numbers(w) for w in (FIRST_NAMES, ABOUT_A_PERSON, ROADS))
_ACCT = int(words.word_numbers("acct")[0])

_PERSONAL = re.compile(
    rf"[a-z](?:{'|'.join(words.FAMILY_ENDINGS)})\b|\bacct +\d{{9}}\b|\b555\W?01\d\d\b"
)


def is_personal(query: str) -> bool:
    """Whether a generated query is about one invented person, and so must never be published.

    Such queries hold a family name (told by its ending), an account number or a telephone number,
    and each is asked by one user or, rarely, by the few of one household.

    >>> is_personal("Ada Bolicequist  obituary"), is_personal("acct 123456789")
    (True, True)
    >>> is_personal("cheap flights")
    False
    """
    return _PERSONAL.search(query.lower()) is not None


@dataclass(frozen=True, kw_only=True)
class People:
    """All users of a log; a user is an index from 0."""

    seed: int
    behaviour: Behaviour
    rates: Floats  # sessions a day of each user, besides the certain one

    @classmethod
    def draw(cls, users: int, seed: int, behaviour: Behaviour) -> Self:
        """A population of very different activity: log-normal."""
        normal = np.random.default_rng([seed, 0]).standard_normal(users)
        spread, least = behaviour.spread, behaviour.least
        activity = least + (1 - least) * np.exp(spread * normal - spread**2 / 2)
        rates = behaviour.sessions_a_day * np.minimum(activity, behaviour.most)
        return cls(seed=seed, behaviour=behaviour, rates=rates)

    def certain_sessions(self, day: int) -> Bools:
        """Who has a session on the day in any case."""
        if not self.behaviour.certain_session:
            return np.zeros(len(self.rates), bool)
        user = np.arange(len(self.rates))
        found: Bools = integers_below(_FIRST_DAYS, self.seed, _CERTAIN, user) == day
        return found

    def clicking(self, user: Ints) -> Floats:
        """The share of the usual clicks that the user makes: all of them if she comes often."""
        rates, least = self.rates[user], self.behaviour.newcomer_clicks
        found: Floats = least + (1 - least) * rates / (rates + self.behaviour.sessions_a_day)
        return found

    def subject(self, user: Ints, which: Ints) -> Ints:
        """The which-th subject that the user cares about."""
        return some_subjects(uniform(self.seed, _SUBJECT, user, which))

    def favourite_topic(self, user: Ints, which: Ints) -> Ints:
        """The which-th topic to which the user comes back."""
        chance = uniform(self.seed, _FAVOURITE, user, which)
        if self.behaviour.favourites is not None:
            return zipf(chance, **self.behaviour.favourites._asdict())
        return popular_topics(chance, self.subject(user, which % 3), self.behaviour.topics)

    def region(self, user: Ints, regions: int) -> Ints:
        """Where the user lives."""
        return integers_below(regions, self.seed, _REGION, user)

    def typing_habit(self, user: Ints) -> Floats:
        """A number in [0, 1) that decides how the user types."""
        return uniform(self.seed, _HABIT, user)

    def acquaintance(self, user: Ints, which: Ints) -> Ints:
        """The which-th person whom the user looks up.

        Nobody else looks that person up, except that in one home of twenty up to four users share
        the first.
        """
        home = user // _HOME_SIZE
        shared = (which == 0) & (integers_below(20, self.seed, _HOME, home) == 0)
        owner = np.where(shared, home * _HOME_SIZE, user)
        return owner * ACQUAINTANCES + which


def personal_words(queries: Queries) -> Ints:
    """The words of queries about a person: (queries, WORDS), NONE where there is no word."""
    person, template = np.divmod(queries["person"], TEMPLATES)
    first = _FIRST[integers_below(len(_FIRST), _PERSON, person, 0)]
    family = words.FAMILY + person
    about = _ABOUT[integers_below(len(_ABOUT), _PERSON, person, 1)]
    road = _ROADS[integers_below(len(_ROADS), _PERSON, person, 2)]
    house = words.NUMBER + 1 + integers_below(9999, _PERSON, person, 3)
    area = words.NUMBER + 200 + integers_below(800, _PERSON, person, 4)
    phone = words.PHONE + integers_below(100, _PERSON, person, 5)
    account = words.NUMBER + 100_000_000 + person * 1_000_003 % 900_000_000
    texts: list[tuple[Ints, ...]] = [
        (first, family),
        (first, family, about),
        (house, family, road),
        (first, family, area, phone),
        (np.full_like(person, _ACCT), account),
    ]
    found = np.full((len(person), WORDS), words.NONE)
    for way, parts in enumerate(texts):
        chosen = template == way
        for place, part in enumerate(parts):
            found[chosen, place] = part[chosen]
    return found
