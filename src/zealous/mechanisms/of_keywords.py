"""Queries made of keywords that were published before: a known list, too long to write down.

Guarantee:
    Every query of one to three published keywords gets noise, whether or not somebody asked it, and
    stands at one place of the list. The threshold follows from the number of keywords alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from zealous.counting.restriction import Restriction, rows_found_in
from zealous.engines.engine import Engine, table_name
from zealous.engines.sql import Step
from zealous.errors import ReleaseError, UsageError
from zealous.items import Keywords, Kind, Queries, words
from zealous.libraries import np, pa, pc
from zealous.mechanisms.descriptions import INTEGERS, AmongCandidates, Description
from zealous.mechanisms.known_list import Whole, above_with_noise
from zealous.mechanisms.over_known_list import KnownListMechanism
from zealous.mechanisms.protocol import Count, register
from zealous.noise import DiscreteLaplace, RandomBytes
from zealous.privacy.accounting.intervals import Interval

MOST_WORDS = 3  # of a query
MOST_KEYWORDS = 1000  # that are used, from the most frequent on


@register
@dataclass(frozen=True, kw_only=True)
class OfKeywords(KnownListMechanism):
    """Queries of up to three published keywords, with noise on every one that there could be.

    Of K keywords there are N = K + K^2 + K^3 such queries. Each gets noise, those that nobody asked
    too, and what is above lambda ln N is published: of those that nobody asked, one on average. How
    many these are is drawn as a number, and then which: drawing each of a billion would be the
    same.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise, lambda.
        keywords: (keyword, count) as they were published. None until `with_inputs` gives them.

    Guarantee:
        epsilon-differential privacy given the published keywords, if scale >= M/epsilon: counts
        over a list that follows from what was published. The threshold follows from it too.
    """

    keywords: pa.Table | None = field(default=None, compare=False, repr=False)

    name: ClassVar[str] = "of-keywords"
    proof_page: ClassVar[str] = "docs/proofs/clicks.md"
    description: ClassVar[Description] = AmongCandidates(
        how="Queries of published keywords: count the units that asked each query of up to three "
        f"published keywords, {INTEGERS}on every such query, publish those above the scale times "
        "the logarithm of their number.",
        made_of="published keywords",
        points_of=f"Only queries of one to three of the {MOST_KEYWORDS:,} most frequent published "
        "keywords are counted, and the limit for {each} applies to these alone. Every such query "
        "gets noise, and those above the scale of the noise times the logarithm of their number "
        "are published: on average at most one that nobody asked.",
    )

    @classmethod
    def required_kind(cls, kind: Kind) -> str | None:
        """Queries are made of published keywords."""
        return Keywords.label

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Queries that are spelled by keywords, each in one way."""
        super().check_kinds(kind, before)
        keywords = before[Keywords.label]
        if not (isinstance(kind, Queries) and kind.is_plain() and keywords.by is None):
            raise UsageError(
                "of-keywords is for queries alone, after keywords, both without --by and "
                "--fold-words"
            )

    def check_roles(self, roles: Collection[str]) -> None:
        """Refuse a log whose keywords are not the words of its queries.

        Those of a column of lists may have spaces, and then queries can be read in several ways.
        """
        if "keywords" in roles:
            raise UsageError(
                "of-keywords takes the words of the queries themselves, not a column of keywords: "
                "leave out --keywords, or rename a column of that name"
            )

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same with the most frequent of the published keywords."""
        if item_list is not None:
            raise UsageError("the of-keywords mechanism uses no public file")
        if first is None:
            return self
        keywords = first.sort_by([("count", "descending"), ("keyword", "ascending")])
        return replace(self, keywords=keywords.slice(0, MOST_KEYWORDS))

    def restrictions(self, published: pa.Table) -> Sequence[Restriction]:
        """Queries had to be made of its keywords, also those that did not pass."""
        return [] if self.keywords is None else [MadeOf(self.keywords)]

    def threshold(self, keywords: int) -> int:
        """What a noisy count must be above: noise alone passes with a chance of at most 1/N.

        >>> from fractions import Fraction
        >>> OfKeywords(items_per_user=1, scale=Fraction(2)).threshold(1000)
        42
        """
        return math.ceil(self.scale * math.log(max(1, candidate_count(keywords))))

    def publication_probability(self, count: int) -> float:
        """The chance that a query of this many users is published if it is made of keywords."""
        return self.noise_above(self.threshold(MOST_KEYWORDS) - count)

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        del candidates  # of a billion or so: how many exactly hardly matters
        most = self.threshold(MOST_KEYWORDS)
        passed = most if lowest is None else min(lowest - 1, most)
        return Interval(
            error=self.noise_quantile(confidence),
            missed=1 - confidence,
            chance=lambda count, t: self.noise_above(t - count),
            threshold=passed,
        )

    def expected_unique_items(self, users: int) -> float:
        """At most how many queries that one user alone asked are published on average."""
        return users * (self.items_per_user * self.publication_probability(1))

    def threshold_text(self) -> str:
        """What an item must pass."""
        return (
            f"made of up to {MOST_WORDS} published keywords; noisy count above "
            f"{self.threshold(MOST_KEYWORDS)} for {MOST_KEYWORDS} of them, less for fewer"
        )

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: the queries above the threshold with their noisy counts."""
        if self.keywords is None:
            raise UsageError("the of-keywords mechanism needs published keywords: see with_inputs")
        queries = SpelledQueries.of(self.keywords["keyword"])
        counted = count(bound=self.items_per_user, at_least=1, only=[MadeOf(self.keywords)])
        above = self.threshold(len(queries.words))
        noise = DiscreteLaplace(scale=self.scale)
        return above_with_noise(queries, counted, noise, random_bytes, above=above)

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Queries are made of the published keywords, and above the threshold for their number."""
        used = self.with_inputs(first=first).keywords
        if used is None:
            raise ReleaseError("the keywords that it follows are not there")
        try:
            queries = SpelledQueries.of(used["keyword"])
        except UsageError:
            raise ReleaseError(
                "the keywords that it follows are not single words, each there once"
            ) from None
        if (queries.places(rows) < 0).any():
            raise ReleaseError(f"there are queries not made of up to {MOST_WORDS} keywords of it")
        above = self.threshold(used.num_rows)
        if any(count <= above for count in rows["count"].to_pylist()):
            raise ReleaseError("there are counts at or below the threshold for so many keywords")


@dataclass(frozen=True)
class MadeOf:
    """A query may count only if it is one to three of some keywords, with single spaces between.

    Whether it is follows from the query and the keywords: no step but the last reads who asked it.

    Attributes:
        keywords: (keyword, ...), public or already published.
    """

    keywords: pa.Table

    def steps(self, items: str, kind: Kind, engine: Engine) -> list[Step]:
        del kind  # queries alone: see `check_kinds`
        keywords = table_name(engine, self.keywords)
        split = f'select query, {words("query")} as "made:words" from different_queries'
        few = (
            f'select query, "made:words" from split where array_length("made:words") between 1 and '
            f"{MOST_WORDS} and array_to_string(\"made:words\", ' ') = query"
        )
        each = (
            'select query, array_length("made:words") as "made:size", '
            'unnest("made:words") as "made:word" from few'
        )
        known = (
            f"select each_word.* from each_word semi join {keywords} as known "
            'on each_word."made:word" = known.keyword'
        )
        made = (
            'select query from known_words group by query, "made:size" '
            'having count(*) = "made:size"'
        )
        return [
            Step("different_queries", f"select distinct query from {items}"),
            Step("split", split),
            Step("few", few),
            Step("each_word", each),
            Step("known_words", known),
            Step("made", made),
            Step("items_made_of_keywords", rows_found_in("made", items, ["query"])),
        ]


@dataclass(frozen=True, eq=False)
class SpelledQueries:
    """All queries of one to three keywords, with single spaces between: candidates.

    Attributes:
        words: The keywords: different, and without a space in any. So a query can be read in one
            way alone, and stands at one place.
    """

    words: pa.Array

    @classmethod
    def of(cls, keywords: pa.ChunkedArray) -> SpelledQueries:
        """The queries that can be made of some keywords.

        Raises:
            UsageError: Two ways to put keywords together would spell the same query.
        """
        words = keywords.cast(pa.string()).combine_chunks()
        blank = pc.or_(pc.equal(words, ""), pc.match_substring(words, " "))
        if words.null_count or pc.any(blank).as_py() or len(words.unique()) < len(words):
            raise UsageError(
                "of-keywords needs different keywords of one word each: two ways to put others "
                "together could spell one query"
            )
        return cls(words)

    def __len__(self) -> int:
        return candidate_count(len(self.words))

    def items(self, places: Whole) -> pa.RecordBatch:
        """The queries at some places."""
        spelled = [" ".join(self._words_at(place)) for place in places.tolist()]
        return pa.record_batch({"query": pa.array(spelled, pa.string())})

    def places(self, items: pa.Table) -> Whole:
        """The places of some queries; -1 for what is not made of one to three keywords."""
        split = pc.split_pattern(items["query"].cast(pa.string()), " ")
        lengths = pc.list_value_length(split).to_numpy()
        found, before = np.full(len(lengths), -1, np.int64), 0
        for length in range(1, MOST_WORDS + 1):
            mine = np.flatnonzero(lengths == length)
            rows, place, known = split.take(mine), np.full(len(mine), before), True
            for number in range(length):
                word = pc.index_in(pc.list_element(rows, number), value_set=self.words)
                code = pc.fill_null(word, -1).to_numpy().astype(np.int64)
                place, known = place + code * len(self.words) ** number, known & (code >= 0)
            found[mine] = np.where(known, place, -1)
            before += len(self.words) ** length
        return found

    def _words_at(self, place: int) -> Iterator[str]:
        """The words of the query at a place."""
        length = 1
        while place >= len(self.words) ** length:
            place -= len(self.words) ** length
            length += 1
        for _ in range(length):
            place, word = divmod(place, len(self.words))
            yield self.words[word].as_py()


def candidate_count(keywords: int) -> int:
    """N: how many queries of one to three words can be made of some keywords.

    >>> candidate_count(10)
    1110
    """
    return sum(keywords**words for words in range(1, MOST_WORDS + 1))
