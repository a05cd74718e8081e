"""A word is a number; here it is spelled.

The head of the vocabulary is a list; the tail, the brands and the family names are spelled from
their rank by a bijection (shorter words first), so a vocabulary of millions takes no room.
A number's upper bits say which of these it is, and whether it is misspelled.
"""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.synthetic.chance import Ints
from zealous.synthetic.vocabulary import (
    ABOUT_A_PERSON,
    BEFORE,
    FIRST_NAMES,
    GENERIC,
    ROADS,
    SUBJECTS,
)

NONE = -1
TAIL, BRAND, FAMILY, NUMBER, PHONE = (kind << 48 for kind in range(1, 6))
TYPO = 1 << 56  # times 1, 2 or 3: three ways to misspell a word
TYPOS = 3

# Words of the tail are syllables (consonants, vowel) and one of the codas; the codas of brands and
# the endings of family names can be none of these, which keeps the three apart. Now and then a word
# of the tail is one of the head, such as tomato: no harm.
_ONSETS = [*"bcdfghjklmnprstvwy", "br", "ch", "cl", "dr", "fl", "gl", "pl", "sh", "st", "tr"]
_SYLLABLES = pa.array([onset + vowel for onset, vowel in product(_ONSETS, "aeiou")])
_CODAS = ("", "n", "r", "s", "l", "t", "m", "d")
_BRAND_CODAS = ("x", "zz", "ck", "ff")
FAMILY_ENDINGS = ("quist", "thwaite", "snaith", "beigh", "wough")
_SHUFFLE = 1_000_000_007  # prime, hence a permutation of every class of words

_LISTS = (*(text for subject in SUBJECTS for text in subject), GENERIC, FIRST_NAMES)
_HEAD = dict.fromkeys(", ".join((*_LISTS, ABOUT_A_PERSON, ROADS, "acct")).split(", "))
_NUMBER_OF = {word: number for number, word in enumerate(_HEAD)}
HEAD_SIZE = len(_HEAD)


def word_numbers(listed: str) -> Ints:
    """The numbers of words of the head, listed with commas."""
    return np.array([_NUMBER_OF[word] for word in listed.split(", ")], np.int64)


# Each subject's words, (subjects, words of a subject), and whether a word stands before the thing.
THINGS = np.stack([word_numbers(things) for things, _ in SUBJECTS])
ADDED = np.stack([word_numbers(added) for _, added in SUBJECTS])
STANDS_BEFORE = np.isin(np.arange(HEAD_SIZE), word_numbers(BEFORE))


def spell(words: Ints) -> pa.Array:
    """The words as text; NONE becomes null."""
    distinct, where = np.unique(words, return_inverse=True)
    marks = [0, TAIL, BRAND, FAMILY, NUMBER, PHONE, TYPO]
    cuts = np.searchsorted(distinct, [*marks, np.iinfo(np.int64).max])
    kinds = [distinct[low:high] for low, high in pairwise(cuts)]
    head, tail, brand, family, number, phone, typo = kinds
    texts = [
        pa.nulls(cuts[0], pa.string()),
        pc.take(pa.array(list(_HEAD)), pa.array(head)),
        _syllables(tail - TAIL, _CODAS),
        _syllables(brand - BRAND, _BRAND_CODAS),
        _syllables(family - FAMILY, FAMILY_ENDINGS),
        pa.array(number - NUMBER).cast(pa.string()),
        pa.array([f"555-01{last:02d}" for last in (phone - PHONE).tolist()], pa.string()),
        _misspelled(typo),
    ]
    return pc.take(pa.concat_arrays(texts), pa.array(where.ravel()))


def _syllables(ranks: Ints, codas: Sequence[str]) -> pa.Array:
    """The words of these ascending ranks: all words of two syllables first, then of three, ..."""
    parts = [pa.array([], pa.string())]
    size, first, length = len(_SYLLABLES) * len(codas), 0, 1
    while ranks.size:
        length, size = length + 1, size * len(_SYLLABLES)
        cut = int(np.searchsorted(ranks, first + size))
        rest = (ranks[:cut] - first) * _SHUFFLE % size
        ranks, first = ranks[cut:], first + size
        rest, coda = np.divmod(rest, len(codas))
        pieces = [pc.take(pa.array(codas), pa.array(coda))]
        for _ in range(length):
            rest, syllable = np.divmod(rest, len(_SYLLABLES))
            pieces.insert(0, pc.take(_SYLLABLES, pa.array(syllable)))
        parts.append(pc.binary_join_element_wise(*pieces, ""))
    return pa.concat_arrays(parts)


def _misspelled(words: Ints) -> pa.Array:
    """A letter lost, doubled or exchanged with the next; few, hence one at a time."""
    way, word = np.divmod(words, TYPO)
    texts = spell(word).to_pylist() if words.size else []
    return pa.array(
        [_misspell(text, way) for text, way in zip(texts, way.tolist(), strict=True)], pa.string()
    )


def _misspell(text: str, way: int) -> str:
    at = 1 + (7 * len(text) + way) % max(1, len(text) - 2)
    if way == 1:
        return text[:at] + text[at + 1 :]
    if way == 2:
        return text[:at] + text[at : at + 1] + text[at:]
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
