"""From numbers to text: what was typed, and the addresses of what was clicked."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.synthetic.chance import Ints
from zealous.synthetic.clicks import ENDS, addresses, clicks
from zealous.synthetic.days import Entries
from zealous.synthetic.people import People, personal_words
from zealous.synthetic.topics import WORDS, query_words
from zealous.synthetic.words import spell

_TITLE, _UPPER = 0.015, 0.005  # people who type Like This, or LIKE THIS
_SLIP = 0.005  # chance of each slip of a finger


def query_texts(people: People, entries: Entries, rng: np.random.Generator) -> pa.Array:
    """The queries as typed: some people use capitals, anybody's finger slips now and then."""
    text = _plain_texts(people, entries)
    habit, slip = people.typing_habit(entries["user"]), rng.random(len(entries)) / _SLIP
    for chosen, change in (
        (habit < _TITLE, pc.utf8_title),
        ((habit >= _TITLE) & (habit < _TITLE + _UPPER), pc.utf8_upper),
        (slip < 1, lambda some: pc.replace_substring(some, " ", "  ", max_replacements=1)),
        ((slip >= 1) & (slip < 2), lambda some: pc.binary_join_element_wise(some, "?", "")),
        ((slip >= 2) & (slip < 3), lambda some: pc.binary_join_element_wise(some, ".", "")),
    ):
        mask = pa.array(chosen)
        text = pc.replace_with_mask(text, mask, change(pc.filter(text, mask)))
    return text


def _plain_texts(people: People, entries: Entries) -> pa.Array:
    queries = entries["query"]
    personal = queries["person"] >= 0
    found = np.empty((len(queries), WORDS), np.int64)
    found[~personal] = query_words(queries[~personal], people.behaviour.words)
    found[personal] = personal_words(queries[personal])
    return pc.binary_join_element_wise(*_spell_columns(*found.T), " ", null_handling="skip")


def clicked_urls(people: People, entries: Entries, rng: np.random.Generator) -> pa.Array:
    """The clicked urls of each entry, as a list."""
    entry, rank = clicks(entries, rng, people)
    first, second, end, page = addresses(people, entries[entry], rank)
    site, site2, path = _spell_columns(first, second, page)
    url = pc.binary_join_element_wise(
        "http://www.",
        site,
        site2,
        pc.take(pa.array(ENDS), pa.array(end)),
        path,
        "",
        null_handling="skip",
    )
    starts = np.searchsorted(entry, np.arange(len(entries) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(starts), url)


def _spell_columns(*columns: Ints) -> list[pa.Array]:
    """Columns of words spelled together, which spells each distinct word once."""
    text, size = spell(np.concatenate(columns)), len(columns[0])
    return [text.slice(place * size, size) for place in range(len(columns))]
