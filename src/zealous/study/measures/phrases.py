"""Cutting queries into phrases: neighbouring words that belong together stay together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from zealous.study.releases.original_histogram import Ints

Bools = npt.NDArray[np.bool_]

# In bits: neighbours belong together that stand side by side more than 256 times as often as two
# independent words would.
KAPPA = 8.0
_NO_WORD = r"[^\p{L}\p{M}\p{N}]+"  # what stands between words, as in the kinds of items


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of many texts, one after the other.

    Attributes:
        flat: The words of the first text, then those of the second, and so on.
        start: Where the words of each text start in `flat`, and at last where they end.
    """

    flat: pa.Array
    start: Ints

    def lengths(self) -> Ints:
        """How many words each text has."""
        return np.diff(self.start)

    def text(self) -> Ints:
        """For each word, which text it is of."""
        return np.repeat(np.arange(len(self.start) - 1), self.lengths())

    def first(self) -> Bools:
        """For each word, whether its text starts with it."""
        found = np.zeros(len(self.flat), bool)
        found[self.start[:-1][self.lengths() > 0]] = True
        return found

    def join(self, low: Ints, high: Ints) -> pa.Array:
        """The words from `low` to before `high`, joined by spaces; without any, an empty text."""
        lengths = high - low
        ends = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.arange(ends[-1]) + np.repeat(low - ends[:-1], lengths)
        runs = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), self.flat.take(pa.array(rows)))
        return pc.binary_join(runs, " ")


def words(texts: pa.Array) -> Words:
    """The words of texts: runs of letters, marks and digits of the lower-cased text."""
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), pattern=_NO_WORD, replacement=" ")
    lists = pc.split_pattern(pc.utf8_trim(plain, characters=" "), pattern=" ")
    flat = lists.flatten()
    some = pc.not_equal(flat, "")  # a text without words is split into one empty one
    lengths = pc.list_value_length(lists).to_numpy().astype(np.int64)
    empty = ~some.to_numpy(zero_copy_only=False)
    if empty.any():
        ends = np.cumsum(lengths)
        lengths[np.searchsorted(ends, np.flatnonzero(empty), side="right")] = 0
        flat = flat.filter(some)
    return Words(flat=flat, start=np.concatenate([[0], np.cumsum(lengths)]))


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Which neighbouring words belong together.

    Attributes:
        known: The words that belong together with another.
        joined: The pairs of them that do, ascending, each as first * len(known) + second.
    """

    known: pa.Array
    joined: Ints

    def starts(self, cut: Words) -> Bools:
        """For each word, whether a phrase starts with it."""
        starts = np.ones(len(cut.flat), bool)
        if not len(self.joined) or len(starts) < 2:
            return starts
        found = pc.index_in(cut.flat, value_set=self.known).fill_null(-1)
        codes = found.to_numpy().astype(np.int64)
        second = np.flatnonzero((codes[:-1] >= 0) & (codes[1:] >= 0) & ~cut.first()[1:]) + 1
        pair = codes[second - 1] * len(self.known) + codes[second]
        place = np.minimum(np.searchsorted(self.joined, pair), len(self.joined) - 1)
        starts[second] = self.joined[place] != pair
        return starts


def find_phrases(texts: pa.Array, counts: Ints) -> Phrases:
    """Find the neighbours that belong together in a histogram of queries.

    Words w1, w2 do if log2(p(w1 w2) / (p(w1) p(w2))) > `KAPPA`, where p(w) is the share of w among
    all words and p(w1 w2) the share of w1 followed by w2 among all neighbours, counts being
    weights. Rows whose count is not positive are left aside.
    """
    used = counts > 0
    texts, counts = texts.filter(pa.array(used)), counts[used]
    cut = words(texts)
    if not len(cut.flat):
        return Phrases(known=cut.flat, joined=np.zeros(0, np.int64))
    coded = cut.flat.dictionary_encode()
    codes, known = coded.indices.to_numpy().astype(np.int64), coded.dictionary
    weights = np.repeat(counts, cut.lengths()).astype(np.float64)
    single = np.bincount(codes, weights, len(known)) / weights.sum()
    second = np.flatnonzero(~cut.first())
    pairs, which = np.unique(codes[second - 1] * len(known) + codes[second], return_inverse=True)
    side_by_side = np.bincount(which, weights[second], len(pairs)) / max(weights[second].sum(), 1)
    apart = single[pairs // len(known)] * single[pairs % len(known)]
    return _compact(known, pairs[np.log2(side_by_side / apart) > KAPPA])


def _compact(known: pa.Array, pairs: Ints) -> Phrases:
    """Only the words that a pair needs."""
    first, second = pairs // len(known), pairs % len(known)
    needed = np.zeros(len(known), bool)
    needed[first] = needed[second] = True
    number = np.cumsum(needed) - 1
    joined = number[first] * int(needed.sum()) + number[second]
    return Phrases(known=known.filter(pa.array(needed)), joined=joined)
