"""How many pages of the web contain a word: an invented corpus for the index of a search engine.

A model, not a crawl. It looks at the word alone, never at a log, and is the same in every run:

- It has as many pages as GOV2, the web crawl on which retrieval was tested from 2004 to 2008. The
  lists of the 5,700 most frequent words are then longer than the 200,000 postings at which index
  caching cuts them. All lists take 59 GB, or 24 GB once cut: a gigabyte cannot hold them.
- A word has a rank in the language. Its share of the running text follows from it by the law that
  Gerlach and Altmann (2013) fitted to English books: Zipf's among the first words of the
  language, a steeper one beyond, here with Mandelbrot's shift, which tames the first few words.
- Pages have 500 words on average and very different lengths (geometrically distributed), so that
  a word that stands `often` times on an average page is on often / (1 + often) of all pages.
- The words that stand on every page come first, in the order of the list below. Other everyday
  words of the generated logs lie anywhere between rank 200 and 20,000, whatever people search for.
  Brands and words of the tail lie near three times the rank that they have in the generated logs
  (then each rank has about one word), up to ten times before or behind that: what is written about
  and what is searched for are only loosely the same.
- Of a word that is not known (a name, a misspelling, a word of another language) only the length
  speaks: longer ones are rarer, most stand on few pages. Longer numbers are rarer, too.

On a real log the last rule decides for too many words: give the true document frequencies there.
"""

import re
import zlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.synthetic import words
from zealous.synthetic.chance import Floats, Ints, uniform
from zealous.synthetic.vocabulary import ABOUT_A_PERSON, FIRST_NAMES, GENERIC, ROADS, SUBJECTS

PAGES = 25_000_000
_PAGE_LENGTH = 500
_SHARE, _CORE, _STEEPER, _SHIFT = 0.0922, 7873, 1.77, 2.7

# Most frequent first: the words without which there is no sentence, or no page.
_COMMON = (
    "the of and to a in for is on that by this with i you it not or be are from at as your all "
    "have new more an was we will home can us about if page my has search free but our one other "
    "do no information time they site he up may what which their news out use any there see only "
    "so his when contact here business who web also now help get view online first am been would "
    "how were services some these click its like service than find price date back top people had "
    "list name just over state year day into email two health world next used go work last most "
    "products music buy make them should product system post her city add policy number such "
    "please available copyright support message after best software then good video well where "
    "info rights public books high school through each links she review years order very privacy "
    "book items company read group need many user said does set under general research university "
    "mail full map reviews program life know games way days management part could great united "
    "real item international center must store travel comments made development report off member "
    "details line terms before hotels did send right type because local those using results "
    "office education national car design take posted internet address community within states "
    "area want phone shipping reserved subject between forum family long based code show even "
    "black check special prices website index being women much sign file link open today "
    "technology south case project same pages version section own found sports house related "
    "security both county american photo game members power while care network down computer "
    "systems three total place end following download him without per access think north "
    "resources current posts big media law control water history pictures size art personal since "
    "including guide shop directory board location change white text small rating rate government "
    "children during return students shopping account times sites level digital profile previous"
)
_TAIL, _BRANDS = 150_000, 72_000  # of the generated words; rarer ones count as unknown
_YEARS = [str(year) for year in range(1990, 2012)]


class _Range(NamedTuple):
    """Where in the language a word lies: decimal logarithms of the lowest and highest rank."""

    low: float
    high: float


_EVERYDAY = _Range(np.log10(200), np.log10(20_000))
_RAREST = 8.0


def document_frequencies(keywords: pa.Array) -> Ints:
    """The number of pages that contain each keyword: at least 1, at most all `PAGES`.

    >>> document_frequencies(pa.array(["the", "weather", "chuplobenax"])).tolist()
    [23142570, 147639, 1]
    """
    often = _PAGE_LENGTH * _share(language_ranks(keywords))
    pages = np.rint(PAGES * often / (1 + often))
    return np.maximum(1, pages).astype(np.int64)


def language_ranks(keywords: pa.Array) -> Floats:
    """The rank of each keyword in the language, 1 being the most frequent word; not rounded."""
    texts = keywords.to_pylist()
    low, high = _ranges(keywords, texts)
    chance = uniform([zlib.crc32(word.encode()) for word in texts])
    ranks: Floats = 10 ** (low + chance * (high - low))
    return ranks


def invented_vocabulary() -> list[str]:
    """The words of generated logs whose rank is known, those of the language among them."""
    return list(_known_words()[0])


def _share(rank: Floats) -> Floats:
    """The share of all running text that is the word of this rank, counted from 1."""
    core = _SHARE / (rank + _SHIFT)
    return core * np.minimum(1, _CORE / rank) ** (_STEEPER - 1)


def _ranges(keywords: pa.Array, texts: Sequence[str]) -> tuple[Floats, Floats]:
    length = pc.utf8_length(keywords).to_numpy(zero_copy_only=False)
    number = pc.match_substring_regex(keywords, "^[0-9]+$").to_numpy(zero_copy_only=False)
    digits = np.minimum(length, _RAREST)
    low = np.where(number, digits, np.minimum(4 + length / 4, 7))
    high = np.where(number, digits + 1, _RAREST)
    places, lows, highs = _known_words()
    place = np.fromiter((places.get(word, -1) for word in texts), np.int64, len(texts))
    known = place >= 0
    return np.where(known, lows[place], low), np.where(known, highs[place], high)


@cache
def _known_words() -> tuple[dict[str, int], Floats, Floats]:
    """The words whose place in the language is known, numbered, and their ranges."""
    found: dict[str, _Range] = {}
    for place, word in enumerate(_COMMON.split()):
        found[word] = _Range(*[np.log10(place + 1)] * 2)
    for word in (*_everyday_words(), *_YEARS):
        found.setdefault(word, _EVERYDAY)
    for first, size in ((words.TAIL, _TAIL), (words.BRAND, _BRANDS)):
        ranks = np.arange(size)
        texts = words.spell(first + ranks).to_pylist()
        for word, middle in zip(texts, np.log10(3 * (1000 + ranks)).tolist(), strict=True):
            found.setdefault(word, _Range(middle - 1, middle + 1))
    bounds = np.array(list(found.values()))
    return {word: n for n, word in enumerate(found)}, bounds[:, 0], bounds[:, 1]


def _everyday_words() -> list[str]:
    lists = (*(text for subject in SUBJECTS for text in subject), GENERIC, FIRST_NAMES)
    return re.findall(r"\w+", " ".join((*lists, ABOUT_A_PERSON, ROADS)))
