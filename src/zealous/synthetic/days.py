"""What people do in a day: sessions, in which a query is followed by a related one."""

from enum import IntEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from zealous.synthetic import topics, words
from zealous.synthetic.behaviour import Popularity
from zealous.synthetic.chance import Ints
from zealous.synthetic.people import ACQUAINTANCES, TEMPLATES, People
from zealous.synthetic.topics import BLANK, QUERY, SUBJECT_COUNT, Queries

ENTRY = np.dtype([("user", np.int64), ("time", np.int64), ("query", QUERY)])  # time: milliseconds
Entries = npt.NDArray[np.void]

DAY, HOUR = 86_400_000, 3_600_000
_LONGEST_GAP = 1_500_000  # between two queries of a session, below the 30 minutes of a pair
_HOURS = np.array(
    [18, 11, 7, 5, 4, 6, 12, 22, 35, 45, 50, 53, 54, 55, 55, 56, 57, 57, 58, 62, 66, 63, 50, 32]
)

_PERSONAL, _MISSPELLED = 0.035, 0.03  # chances that a need is personal, and of a misspelling


class Step(IntEnum):
    """How a query follows another in a session."""

    SAME = 0  # the next page of results
    REWORD = 1  # a word more, less or other, within the topic's queries of the pool
    IMPROVISE = 2  # a word more that leaves the pool
    MOVE = 3  # to a near topic
    NEW = 4  # another need
    CORRECT = 5  # the misspelling


_CORRECTS = 0.75  # chance that a misspelling is corrected next
_NEAR_TOPICS = 10
_SUGGESTED = 0.85  # who rewords takes what many take: the rarest additions are never suggested


def day_entries(people: People, day: int) -> Entries:
    """All entries of the sessions that begin on the day, in no order; a few end on the next."""
    rng = np.random.default_rng([people.seed, 1, day])
    sessions = rng.poisson(people.rates) + people.certain_sessions(day)
    user = np.repeat(np.arange(len(people.rates)), sessions)
    hour = rng.choice(24, len(user), p=_HOURS / _HOURS.sum())
    time = day * DAY + hour * HOUR + rng.integers(HOUR, size=len(user))
    queries = _first_queries(people, user, rng)
    made = [_make_entries(user, time, queries)]
    while user.size:
        on = rng.random(len(user)) < people.behaviour.continues
        user, time, queries = user[on], time[on], queries[on]
        gap = 1000 * np.exp(rng.normal(3.8, 1.2, len(user)))
        time = time + np.clip(gap, 2000, _LONGEST_GAP).astype(np.int64)
        queries = next_queries(people, user, queries, rng)
        made.append(_make_entries(user, time, queries))
    return np.concatenate(made)


def _make_entries(user: Ints, time: Ints, queries: Queries) -> Entries:
    entries = np.empty(len(user), ENTRY)
    entries["user"], entries["time"], entries["query"] = user, time, queries
    return entries


def _first_queries(people: People, user: Ints, rng: np.random.Generator) -> Queries:
    """How needs begin: a favourite of the user, something personal, otherwise any topic."""
    queries = _topic_queries(people, user, rng)
    kind = rng.random(len(user))
    for chosen, make in (
        (kind < people.behaviour.habitual, _habitual_queries),
        (kind > 1 - _PERSONAL, _personal_queries),
    ):
        queries[chosen] = make(people, user[chosen], rng)
    return queries


def _topic_queries(people: People, user: Ints, rng: np.random.Generator) -> Queries:
    """Any topic, more often of a subject that the user cares about."""
    size = len(user)
    own = people.subject(user, rng.integers(3, size=size))
    any_subject = topics.some_subjects(rng.random(size))
    subject = np.where(rng.random(size) < 0.6, own, any_subject)
    queries = np.full(size, BLANK)
    queries["topic"] = topics.popular_topics(rng.random(size), subject, people.behaviour.topics)
    added, (one, two) = rng.random(size), people.behaviour.added
    queries["slot"] = np.where(added < one, topics.popular_slots(rng.random(size)), words.NONE)
    queries["slot2"] = np.where(added < two, topics.popular_slots(rng.random(size)), words.NONE)
    typo = rng.integers(1, words.TYPOS + 1, size=size)
    queries["typo"] = np.where(rng.random(size) < _MISSPELLED, typo, 0)
    return queries


def _habitual_queries(people: People, user: Ints, rng: np.random.Generator) -> Queries:
    """What the user asks again and again, by its bare name."""
    queries = np.full(len(user), BLANK)
    queries["topic"] = people.favourite_topic(user, rng.integers(5, size=len(user)))
    return queries


def _personal_queries(people: People, user: Ints, rng: np.random.Generator) -> Queries:
    """Somebody the user knows, the user first."""
    queries = np.full(len(user), BLANK)
    which = np.minimum(rng.geometric(0.35, len(user)) - 1, ACQUAINTANCES - 1)
    template = rng.integers(TEMPLATES, size=len(user))
    queries["person"] = people.acquaintance(user, which) * TEMPLATES + template
    return queries


def next_queries(people: People, user: Ints, before: Queries, rng: np.random.Generator) -> Queries:
    """What each user asks next in the session."""
    personal = before["person"] >= 0
    steps = people.behaviour.steps
    step = rng.choice(len(steps), len(user), p=steps)
    step[(before["typo"] > 0) & (rng.random(len(user)) < _CORRECTS)] = Step.CORRECT
    step[personal & np.isin(step, (Step.IMPROVISE, Step.MOVE))] = Step.NEW
    after = before.copy()
    after["page"] = np.where(step == Step.SAME, before["page"] + 1, 0)
    after["typo"][step == Step.CORRECT] = 0
    for chosen, change in (
        ((step == Step.REWORD) & ~personal, _reword),
        ((step == Step.REWORD) & personal, _ask_otherwise),
        (step == Step.IMPROVISE, partial(_word_of_no_slot, law=people.behaviour.words)),
        (step == Step.MOVE, partial(_move_to_near_topic, law=people.behaviour.topics)),
    ):
        after[chosen] = change(after[chosen], rng)
    new = step == Step.NEW
    after[new] = _first_queries(people, user[new], rng)
    return after


def _reword(queries: Queries, rng: np.random.Generator) -> Queries:
    """Drop, add or replace a word, to another query that the topic has in the pool."""
    suggested = _SUGGESTED * rng.random(len(queries))
    slot, way = topics.popular_slots(suggested), rng.random(len(queries))
    had, had2 = queries["slot"], queries["slot2"]
    improvised = queries["extra"] >= 0
    none, two = had < 0, had2 >= 0
    add = ~improvised & (none | (~two & (way < 0.3)))
    drop = ~improvised & ~none & (way > 0.6)
    replace = ~improvised & ~add & ~drop
    queries["slot"] = np.where((add & none) | replace, slot, had)
    queries["slot"][drop & ~two] = words.NONE
    queries["slot2"] = np.where(add & ~none, slot, had2)
    queries["slot2"][drop & two] = words.NONE
    queries["extra"] = words.NONE
    return queries


def _ask_otherwise(queries: Queries, rng: np.random.Generator) -> Queries:
    """The same person, looked up in another way."""
    person, template = np.divmod(queries["person"], TEMPLATES)
    template = (template + rng.integers(1, TEMPLATES, size=len(queries))) % TEMPLATES
    queries["person"] = person * TEMPLATES + template
    return queries


def _word_of_no_slot(queries: Queries, rng: np.random.Generator, law: Popularity) -> Queries:
    """A word of the subject that is in none of the topic's slots."""
    subject = queries["topic"] % SUBJECT_COUNT
    queries["extra"] = topics.subject_words(rng.random(len(queries)), subject, law)
    return queries


def _move_to_near_topic(queries: Queries, rng: np.random.Generator, law: Popularity) -> Queries:
    """One of the few topics that are near this one, with the same words added."""
    which = rng.integers(_NEAR_TOPICS, size=len(queries))
    queries["topic"] = topics.near_topic(queries["topic"], which, law)
    queries["extra"], queries["typo"] = words.NONE, 0
    return queries
