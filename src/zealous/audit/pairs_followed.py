"""Neighbouring logs for tables over lists that follow from a table before them.

Clicks on the documents of published queries: each copy has one query, and an item is a document.
Queries of published keywords: there are a thousand keywords for all copies together, and an item is
a query of three of them, which spell the number of the item and of its copy. In both the table
before has all that a public list names, whoever asked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.audit.confidence_bounds import Counts
from zealous.audit.layout import PublishedCopies
from zealous.audit.pairs import VICTIM, Lines, Pair, Shape, item_name, lines_of_others
from zealous.mechanisms.of_keywords import MOST_KEYWORDS, MOST_WORDS

ASKED = "a@"  # the query of a copy whose clicks are looked at
_DIGITS = 3  # of a keyword
_ITEMS = 10  # of a copy, at most
_PAIRS = 10  # of a plan, at most
_COPIES = MOST_KEYWORDS**MOST_WORDS // (_ITEMS * _PAIRS * 2)


def as_clicks(pair: Pair) -> Pair:
    """The same with each item a document that was clicked for the copy's query."""

    def as_click_lines(lines: Lines) -> Lines:
        return tuple(f"{line},{ASKED}" for line in lines)

    right = None if pair.right is None else as_click_lines(pair.right)
    return pair._replace(left=as_click_lines(pair.left), right=right)


def not_of_keywords(shape: Shape) -> Pair:
    """What is not made of keywords alone does not count, nor does it take the place of another."""
    rest = lines_of_others([0], shape.popular) + lines_of_others([1], shape.popular)
    ways = (f"{item_name(0)}!", f"{item_name(0)} {item_name(1)}", f"{item_name(0)}-x")
    hers = tuple(f"{VICTIM},{way}" for way in ways)
    alone = (f"{VICTIM},{item_name(1)}",)
    return Pair(
        "a query that is not made of keywords alone",
        rest + hers + alone,
        rest + alone,
        ((0,), (1,)),
        same=True,
    )


def keyword_alphabet() -> list[str]:
    """All keywords that items are spelled with."""
    return [f"{number:0{_DIGITS}d}" for number in range(MOST_KEYWORDS)]


class KeywordNames(NamedTuple):
    """How items are spelled by keywords.

    Attributes:
        sides: How many copies there are of each side of each pair.
    """

    sides: Sequence[int]

    def item_names(self, pair: int, side: int) -> list[pa.Array]:
        """The names of the items of all copies, item by item."""
        copies = np.arange(self.sides[2 * pair + side])
        return [
            _spell_numbers(((item * _PAIRS + pair) * 2 + side) * _COPIES + copies)
            for item in range(_ITEMS)
        ]

    def published_copies(self, table: pa.Table) -> PublishedCopies:
        """The rows of a table of queries that belong to a copy; all others are nobody's."""
        words = pc.split_pattern(table["query"], " ")
        ours = pc.list_value_length(words).to_numpy() == MOST_WORDS
        numbers = np.zeros(int(ours.sum()), np.int64)
        for number in range(MOST_WORDS):
            word = pc.list_element(words.filter(pa.array(ours)), number)
            numbers = numbers * MOST_KEYWORDS + pc.cast(word, pa.int64()).to_numpy()
        rest, copy = np.divmod(numbers, _COPIES)
        rest, side = np.divmod(rest, 2)
        item, pair = np.divmod(rest, _PAIRS)
        there = pair * 2 + side < len(self.sides)
        there[there] = copy[there] < np.array(self.sides)[(pair * 2 + side)[there]]
        counts = table["count"].to_numpy()[ours]
        return PublishedCopies(*(each[there] for each in (item, pair, side, copy, counts)))


def _spell_numbers(numbers: Counts) -> pa.Array:
    """Numbers as three keywords each."""
    text = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), _DIGITS * MOST_WORDS, "0")
    starts = range(0, _DIGITS * MOST_WORDS, _DIGITS)
    words = [pc.utf8_slice_codeunits(text, start, start + _DIGITS) for start in starts]
    return pc.binary_join_element_wise(*words, " ")
