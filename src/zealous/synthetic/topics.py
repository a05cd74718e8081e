"""The pool of queries that people share: topics, and what they add to them.

A topic is a number: its subject is the remainder, its popularity falls with the quotient. It has
a name of one to three words (or a brand) and endless slots, each holding a word that people add to
the name. A query of the pool is a topic with none, one or two of its slots, so that dropping,
adding or replacing a word leads from one query of the pool to another.
"""

import numpy as np
import numpy.typing as npt

from zealous.synthetic import words
from zealous.synthetic.behaviour import Popularity
from zealous.synthetic.chance import Bools, Floats, Ints, integers_below, uniform, zipf
from zealous.synthetic.vocabulary import GENERIC, SUBJECTS

SUBJECT_COUNT = len(SUBJECTS)
WORDS = 8  # at most in a query

# What is asked, whoever asks it. NONE where a field does not apply; a query of the pool has a
# topic, no extra word and no person (see `people` for those).
QUERY = np.dtype(
    [
        ("topic", np.int64),
        ("slot", np.int64),
        ("slot2", np.int64),
        ("extra", np.int64),  # a word that is in none of the topic's slots
        ("person", np.int64),
        ("typo", np.int64),  # 0 or the way in which the first word is misspelled
        ("page", np.int64),  # of results, from 0
    ]
)
BLANK = np.array((*[words.NONE] * 5, 0, 0), QUERY)
Queries = npt.NDArray[np.void]

_NAME, _LENGTH, _BRAND, _SLOT, _KIND, _TURN, _NEAR = range(7)  # streams of hashes
_COMMON = words.word_numbers(GENERIC)
_THINGS, _ADDED = words.THINGS.shape[1], words.ADDED.shape[1]


def some_subjects(u: Floats) -> Ints:
    """Subjects, the first ones more often."""
    return zipf(u, power=0.8, shift=6.0, size=SUBJECT_COUNT)


def popular_topics(u: Floats, subject: Ints, law: Popularity) -> Ints:
    """Topics of the subjects, the popular ones more often."""
    return zipf(u, **law._asdict()) * SUBJECT_COUNT + subject


def near_topic(topic: Ints, which: Ints, law: Popularity) -> Ints:
    """A related topic: of the same subject, and always the same few."""
    u = uniform(_NEAR, topic, which)
    return popular_topics(u, topic % SUBJECT_COUNT, law)


def is_brand(topic: Ints) -> Bools:
    """Whether the topic is a brand, whose own site nearly everybody wants."""
    block = topic // SUBJECT_COUNT
    may_be: Bools = (topic >= 0) & (block < 3000) & (block % 4 != 0)
    return may_be & (integers_below(100, _BRAND, topic) < 40)


def popular_slots(u: Floats) -> Ints:
    """Slots of a topic, the first ones more often."""
    return zipf(u, power=1.6, shift=2.0, size=1e4)


def subject_words(u: Floats, subject: Ints, law: Popularity) -> Ints:
    """Words of the subjects: its things first, then its own share of the tail."""
    rank = zipf(u, **law._asdict())
    thing: Ints = words.THINGS[subject, np.minimum(rank, _THINGS - 1)]
    tail = words.TAIL + (rank - _THINGS) * SUBJECT_COUNT + subject
    return np.where(rank < _THINGS, thing, tail)


def name_words(topic: Ints, law: Popularity) -> Ints:
    """The words of the topics' names: (topics, 3), NONE at the end of shorter ones."""
    block, subject = np.divmod(topic, SUBJECT_COUNT)
    places = np.arange(3)
    u = uniform(_NAME, topic[:, None], places)
    found = subject_words(u, np.repeat(subject[:, None], 3, 1), law)
    head = block < _THINGS
    brand = is_brand(topic)
    found[:, 0] = np.where(head, words.THINGS[subject, np.minimum(block, _THINGS - 1)], found[:, 0])
    found[:, 0] = np.where(brand, words.BRAND + topic, found[:, 0])
    length = np.searchsorted([2, 22], integers_below(100, _LENGTH, topic), side="right") + 1
    length = np.where(head | brand, 1, length)
    return np.where(places < length[:, None], found, words.NONE)


def slot_word(topic: Ints, slot: Ints, law: Popularity) -> Ints:
    """The word in the topic's slot: the usual additions first, then rarer and rarer ones."""
    subject = topic % SUBJECT_COUNT
    turn = integers_below(1 << 20, _TURN, topic)
    added = words.ADDED[subject, (slot + turn) % _ADDED]
    common = _COMMON[(slot + turn) % len(_COMMON)]
    rare = subject_words(uniform(_SLOT, topic, slot), subject, law)
    kind = integers_below(100, _KIND, topic, slot)
    found = np.where(slot < 4, added, np.where((slot < 8) | (kind < 30), common, rare))
    return np.where(slot >= 0, found, words.NONE)


def query_words(queries: Queries, law: Popularity) -> Ints:
    """The words of queries that have a topic: (queries, WORDS), NONE where there is no word."""
    topic = queries["topic"]
    named = name_words(topic, law)
    named[:, 0] += queries["typo"] * words.TYPO
    slots = (queries["slot"], queries["slot2"])
    added = np.stack([slot_word(topic, slot, law) for slot in slots], 1)
    known = (added >= 0) & (added < words.HEAD_SIZE)
    before = known & words.STANDS_BEFORE[np.where(known, added, 0)]
    parts = [
        np.where(before, added, words.NONE),
        named,
        np.where(before, words.NONE, added),
        queries["extra"][:, None],
    ]
    found = np.concatenate(parts, axis=1)
    for place in range(1, WORDS):  # nobody types a word twice
        twice = (found[:, :place] == found[:, place, None]).any(axis=1)
        found[twice, place] = words.NONE
    return found
