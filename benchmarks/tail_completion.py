"""Query completion: the next word of a query, learned from a release alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tail_queries import Asked, Bools, keys, one_piece, places

from zealous.errors import ReleaseError
from zealous.study.measures.phrases import words
from zealous.study.releases.original_histogram import Ints

MOST = 5  # suggestions
LONGEST = 2  # so many words of a query are looked at
_PHRASES = pa.schema([("phrase", pa.string()), ("count", pa.int64())])


@dataclass(frozen=True, kw_only=True)
class Followers:
    """What follows some words, best first: by count from the top, then by text.

    Attributes:
        before: The words that something follows, as one number, ascending.
        start: Where the followers of each start, and at last where they end.
        words: The followers, as places in the vocabulary.
    """

    before: Ints
    start: Ints
    words: Ints

    def of(self, before: Ints) -> tuple[Ints, Ints]:
        """From where to where the followers of each stand."""
        if not len(self.before):
            return np.zeros_like(before), np.zeros_like(before)
        place = np.minimum(np.searchsorted(self.before, before), len(self.before) - 1)
        found = self.before[place] == before
        return self.start[place], np.where(found, self.start[place + 1], self.start[place])


@dataclass(frozen=True, kw_only=True)
class Completion:
    """Suggests how a query goes on after its first one or two words.

    First comes what follows these words at the beginning of published queries and prefixes; then
    what follows them anywhere in published queries and n-grams; then what follows the last of them
    alone; then the most frequent keywords. Within each of these the highest count comes first, of
    equal ones the text that sorts first. A count that is not positive is none.

    Attributes:
        vocabulary: The words of the release, in the order of text.
        beginning: By number of words, what follows them at the beginning of a query.
        anywhere: By number of words, what follows them anywhere; after no word, the keywords.
    """

    vocabulary: pa.Array
    beginning: Mapping[int, Followers]
    anywhere: Mapping[int, Followers]

    @classmethod
    def learn(cls, tables: Mapping[str, pa.Table]) -> Completion:
        """Learn from the tables of a release.

        Args:
            tables: By name: `queries` and `keywords`, and where a release is about the tail too,
                `prefixes-2`, `prefixes-3`, `ngrams-2` and `ngrams-3`. Others are not looked at.
        """
        beginning, anywhere = {}, {1: phrases(tables, "keywords", "keyword")}
        for size in range(2, LONGEST + 2):
            found, first = runs(tables["queries"], size)
            begins, prefixes = found.filter(pa.array(first)), phrases(tables, f"prefixes-{size}")
            beginning[size] = pa.concat_tables([begins, prefixes])
            anywhere[size] = pa.concat_tables([found, phrases(tables, f"ngrams-{size}")])
        sizes = [(size, each) for level in (beginning, anywhere) for size, each in level.items()]
        flat = [split(one_piece(each["phrase"]), size) for size, each in sizes]
        vocabulary = pc.unique(pa.concat_arrays(flat)).sort()
        return cls(
            vocabulary=vocabulary,
            beginning=_followers(beginning, vocabulary),
            anywhere=_followers(anywhere, vocabulary),
        )

    def suggest(self, *first: str, most: int = MOST) -> list[str]:
        """The best next words after the first one or two words of a query."""
        before = places(pa.array(first, pa.string()), self.vocabulary)
        (found,) = self.top([np.array([each]) for each in before], most)
        return list(self.vocabulary.take(pa.array(found[found >= 0])).to_pylist())

    def top(self, first: Sequence[Ints], most: int = MOST) -> Ints:
        """The best next words after many beginnings.

        Args:
            first: The first word of each, then perhaps the second of each, as places in the
                vocabulary, -1 for a word that is not in it.
            most: How many suggestions at most.

        Returns:
            A row for each beginning, as places in the vocabulary; -1 where there are no more.
        """
        found = np.full((len(first[0]), most), -1, np.int64)
        filled = np.zeros(len(found), np.int64)
        levels = [(self.beginning[len(first)], first)]
        levels += [(self.anywhere[len(first) - far], first[far:]) for far in range(len(first) + 1)]
        for followers, last in levels:
            low, high = followers.of(keys(last, len(self.vocabulary), len(found)))
            for step in range(most):  # one that is there already has taken a place
                rows = np.flatnonzero((low + step < high) & (filled < most))
                word = followers.words[low[rows] + step]
                new = ~(found[rows] == word[:, None]).any(axis=1)
                found[rows[new], filled[rows[new]]] = word[new]
                filled[rows[new]] += 1
        return found

    def hits(self, asked: Asked, given: int, most: int = MOST) -> tuple[Ints, Bools]:
        """Whether the next word of queries is suggested after their first one or two.

        Returns:
            The places of the queries that go on, and for each whether its next word is suggested.
        """
        longer = np.flatnonzero(asked.lengths > given)
        coded = asked.coded(self.vocabulary)
        *first, following = (coded[asked.start[longer] + place] for place in range(given + 1))
        # Most queries begin as another does.
        size = len(self.vocabulary) + 1
        begun, which = np.unique(
            keys([each + 1 for each in first], size, len(longer)), return_inverse=True
        )
        columns = [begun // size**power % size - 1 for power in reversed(range(given))]
        suggested = self.top(columns, most)[which]
        return longer, (suggested == following[:, None]).any(axis=1) & (following >= 0)


def phrases(tables: Mapping[str, pa.Table], name: str, column: str = "phrase") -> pa.Table:
    """The rows of a table as phrase and count, those whose count is positive; none without it."""
    if name not in tables:
        return _PHRASES.empty_table()
    found = tables[name].select([column, "count"]).rename_columns(_PHRASES.names).cast(_PHRASES)
    return found.filter(pc.greater(found["count"], 0))


def runs(queries: pa.Table, size: int) -> tuple[pa.Table, Bools]:
    """The runs of so many words in queries, each as often as it occurs, with the query's count.

    Returns:
        The runs as phrase and count, and for each whether its query begins with it.
    """
    known = phrases({"queries": queries}, "queries", "query")
    cut, counts = words(one_piece(known["phrase"])), known["count"].to_numpy()
    text = cut.text()
    low = np.arange(max(len(text) - size + 1, 0))
    low = low[text[low] == text[low + size - 1]]
    found = [cut.join(low, low + size), pa.array(counts[text[low]], pa.int64())]
    return pa.table(found, schema=_PHRASES), cut.first()[low]


def split(known: pa.Array, size: int) -> pa.Array:
    """The words of phrases that have so many each, one after the other."""
    if size == 1:
        return known
    found = pc.split_pattern(known, " ")
    if not pc.all(pc.equal(pc.list_value_length(found), size), min_count=0).as_py():
        raise ReleaseError(f"a table of phrases of {size} words holds others")
    return found.flatten()


def _followers(level: Mapping[int, pa.Table], vocabulary: pa.Array) -> dict[int, Followers]:
    """From phrases by their number of words: what follows all words but the last."""
    found = {}
    for size, table in level.items():
        flat = split(one_piece(table["phrase"]), size)
        columns = list(places(flat, vocabulary).reshape(-1, size).T)
        before, last = keys(columns[:-1], len(vocabulary), table.num_rows), columns[-1]
        found[size - 1] = _ranked(before, last, table["count"].to_numpy())
    return found


def _ranked(before: Ints, last: Ints, counts: Ints) -> Followers:
    """Add up what stands there several times, and put the best first."""
    order = np.lexsort((last, before))
    before, last = before[order], last[order]
    new = np.flatnonzero(np.diff(before, prepend=-1) | np.diff(last, prepend=-1))
    counts = np.add.reduceat(counts[order], new) if len(new) else counts
    before, last = before[new], last[new]
    order = np.lexsort((last, -counts, before))
    different, start = np.unique(before, return_index=True)
    return Followers(before=different, start=np.append(start, len(before)), words=last[order])
