"""Which results people click, and what the addresses of these are."""

import numpy as np

from zealous.synthetic import topics, words
from zealous.synthetic.chance import Ints, integers_below, mix, uniform
from zealous.synthetic.days import Entries
from zealous.synthetic.people import People

ENDS = (".example/", ".test/", ".invalid/")  # reserved: nobody has such an address

_RESULTS = 10  # a page
_FIRST = np.array([0.34, 0.16, 0.12, 0.09, 0.07, 0.06, 0.05, 0.04, 0.03, 0.04])  # click, by rank
_BEST = 200  # popularity down to which a topic has a site that most people want
_REGIONS, _LOCAL = 1000, 60  # beyond that popularity even first results differ by region
_URL, _TRIES = 200, 201  # streams of hashes
_NAMES = 100_000  # of the tail's words, so that they are short


def clicks(entries: Entries, rng: np.random.Generator, people: People) -> tuple[Ints, Ints]:
    """The clicks of the people on results of their entries.

    Returns:
        For each click, the index of its entry, ascending, and the rank of the result from 0.
    """
    behaviour = people.behaviour
    topic, page = entries["query"]["topic"], entries["query"]["page"]
    size = len(entries)
    count = rng.choice(len(behaviour.clicks), size, p=behaviour.clicks)
    first = rng.choice(_RESULTS, size, p=_FIRST)
    wish = rng.random(size)
    brand, popularity = topics.is_brand(topic), topic // topics.SUBJECT_COUNT
    wants_site = (page == 0) & brand & (wish < behaviour.wants_brand)
    popular = (page == 0) & (topic >= 0) & (popularity < _BEST)
    wants_best = popular & (wish < behaviour.wants_best)
    tries = uniform(_TRIES, people.seed, entries["user"], entries["time"])
    count[(tries >= people.clicking(entries["user"])) & ~wants_best] = 0
    count[wants_site] = 1
    first[wants_site | wants_best] = 0
    entry = np.repeat(np.arange(size), count)
    # People read downwards: the second click is below the first.
    further = np.arange(len(entry)) - np.repeat(np.cumsum(count) - count, count)
    return entry, first[entry] + further + _RESULTS * page[entry]


def addresses(people: People, entries: Entries, rank: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The url at that rank for each entry: two words of the site, its end (of ENDS), the page.

    The list of a query is its own, but a third of it is shared with the whole topic, and below
    the second result, or throughout for rarer topics, it differs by region.
    """
    query = entries["query"]
    topic = np.maximum(query["topic"], 0)
    popularity, subject = np.divmod(topic, topics.SUBJECT_COUNT)
    own = mix(_URL, query["slot"], query["slot2"], query["extra"], query["person"])
    personal = query["person"] >= 0
    of_topic = ~personal & (integers_below(100, _URL, topic, rank) < 30)
    local = (rank > 1) | (popularity > _LOCAL)
    region = np.where(local, people.region(entries["user"], _REGIONS), 0)
    key = mix(_URL, query["topic"], np.where(of_topic, 0, own), rank, region)
    first = topics.name_words(topic, people.behaviour.words)[:, 0]
    first = np.where(personal, words.TAIL + integers_below(_NAMES, key, 1), first)
    second = words.TAIL + integers_below(
        _NAMES, key, 2
    )  # hardly anybody's real site has such a name
    end = integers_below(len(ENDS), key, 3)
    thing = words.THINGS[subject, integers_below(words.THINGS.shape[1], key, 4)]
    page = np.where(personal | (integers_below(10, key, 5) < 2), words.NONE, thing)
    site = topics.is_brand(query["topic"]) & (rank == 0)
    slot = np.where(query["slot"] < 4, query["slot"], words.NONE)
    return (
        first,
        np.where(site, words.NONE, second),
        np.where(site, 0, end),
        np.where(site, topics.slot_word(topic, slot, people.behaviour.words), page),
    )
