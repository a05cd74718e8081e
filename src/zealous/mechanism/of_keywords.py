"""Queries made of keywords that were published before: a known list, too long to write down.

What a privacy reviewer must read.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.calibrate import tail
from zealous.errors import ReleaseError, UsageError
from zealous.mechanism.domain import Domain
from zealous.mechanism.protocol import Count, Needs
from zealous.mechanism.thresholds import kept, with_noise
from zealous.mechanism.words import INTEGERS, Candidates, Words
from zealous.theory.intervals import Interval

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.noise import RandomBytes

MOST_WORDS = 3  # of a query
MOST_KEYWORDS = 1000  # that are used, from the most frequent on


@dataclass(frozen=True, kw_only=True)
class OfKeywords(Domain):
    """Queries of up to three published keywords, with noise on every one that there could be.

    Of K keywords there are N = K + K^2 + K^3 such queries. Each gets noise, those that nobody asked
    too, and what is above lambda ln N is published: of those that nobody asked, one on average. How
    many these are is drawn as a number, and then which: drawing each of a billion would be the
    same.

    Attributes:
        items_per_user: m.
        scale: The scale of the noise, lambda.
        domain: (keyword, count) as they were published. None until `after` gives them.

    Guarantee:
        epsilon-differential privacy given the published keywords, if scale >= M/epsilon: counts
        over a list that follows from what was published. The threshold follows from it too.
    """

    name: ClassVar[str] = "of-keywords"
    theorem: ClassVar[str] = "docs/proofs/clicks.md"
    needs: ClassVar[Needs | None] = None
    words: ClassVar[Words] = Candidates(
        how="Queries of published keywords: count the units that asked each query of up to three "
        f"published keywords, {INTEGERS}on every such query, publish those above the scale times "
        "the logarithm of their number.",
        made_of="published keywords",
        such="such queries",
        points_of=f"Only queries of one to three of the {MOST_KEYWORDS:,} most frequent published "
        "keywords were looked at, before {each} kept some. Every such query got noise, and those "
        "above the scale of the noise times the logarithm of their number are here: of all that "
        "nobody asked, one on average.",
        cut="the second threshold",
    )

    def using(self, known: pa.Table) -> Self:
        """No public file is needed."""
        raise UsageError("the of-keywords mechanism uses no public file")

    def after(self, released: pa.Table) -> Self:
        """The same with the most frequent of the published keywords."""
        order = [("count", "descending"), ("keyword", "ascending")]
        return replace(self, domain=released.sort_by(order).slice(0, MOST_KEYWORDS))

    def threshold(self, keywords: int) -> int:
        """What a noisy count must be above with so many keywords: at most 1/N pass by noise alone.

        >>> OfKeywords(items_per_user=1, scale=Fraction(2)).threshold(1000)
        42
        """
        return math.ceil(self.scale * math.log(max(1, candidates(keywords))))

    def appears(self, count: int) -> float:
        """The chance that a query of this many users is published if it is made of keywords."""
        return tail(self.scale, self.threshold(MOST_KEYWORDS) - count)

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        """Which numbers of users a published count can stand for, with such a probability."""
        del candidates  # of a billion or so: how many exactly hardly matters
        most = self.threshold(MOST_KEYWORDS)
        passed = most if lowest is None else min(lowest - 1, most)
        return replace(super().interval(confidence), threshold=passed)

    def alone(self) -> float:
        """Of one user's own queries so many are published, made of what was public, at most."""
        return self.items_per_user * self.appears(1)

    def thresholds(self) -> str:
        """What an item must pass."""
        return (
            f"made of up to {MOST_WORDS} published keywords; noisy count above "
            f"{self.threshold(MOST_KEYWORDS)} for {MOST_KEYWORDS} of them, less for fewer"
        )

    def release(self, count: Count, random_bytes: RandomBytes = os.urandom) -> list[pa.RecordBatch]:
        """Publish: the queries above the threshold with their noisy counts."""
        from zealous.noise import DiscreteLaplace

        if self.domain is None:
            raise UsageError("the of-keywords mechanism needs keywords: call after(table) first")
        words = self.domain["keyword"].to_pylist()
        above = self.threshold(len(words))
        noise = DiscreteLaplace(scale=self.scale)
        unasked = self._unasked(words, above, random_bytes)
        published = []
        for batch in count(bound=self.items_per_user, at_least=1, made_of=self.domain):
            unasked -= set(batch["query"].to_pylist()) if unasked else set()  # these are asked
            noisy = with_noise(batch, noise, random_bytes)
            published.append(kept(batch, noisy, noisy > above))
        return [*published, *self._by_noise(sorted(unasked), above, random_bytes)]

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Queries are made of the published keywords, and above the threshold for so many."""
        del whole
        used = self.after(first).domain if first is not None else None
        if used is None:
            raise ReleaseError("the keywords that it follows are not there")
        words = set(used["keyword"].to_pylist())
        if len(words) < used.num_rows or any(" " in word for word in words):
            raise ReleaseError("the keywords that it follows are not single words, each there once")
        parts = [query.split(" ") for query in rows["query"].to_pylist()]
        if any(len(each) > MOST_WORDS or not words.issuperset(each) for each in parts):
            raise ReleaseError(f"there are queries not made of up to {MOST_WORDS} keywords of it")
        above = self.threshold(used.num_rows)
        if any(count <= above for count in rows["count"].to_pylist()):
            raise ReleaseError("there are counts at or below the threshold for so many keywords")

    def _unasked(self, words: list[str], above: int, random_bytes: RandomBytes) -> set[str]:
        """Of all queries that there could be, those whose noise alone is above the threshold.

        Of those that somebody asked the count is looked at instead, with noise of its own.
        """
        from zealous.noise.rare import rare_events
        from zealous.noise.uniform import uniform

        size = candidates(len(words))
        if not size:
            return set()
        number = rare_events(size, lambda digits: _chance(self.scale, above, digits), random_bytes)
        chosen: set[int] = set()
        while len(chosen) < number:
            chosen.update(uniform(size, number - len(chosen), random_bytes).tolist())
        return {_query(words, place) for place in chosen}

    def _by_noise(
        self, queries: list[str], above: int, random_bytes: RandomBytes
    ) -> list[pa.RecordBatch]:
        """Noise on condition that it is above: beyond the threshold it falls as beyond 0."""
        import pyarrow as pa

        from zealous.noise import DiscreteLaplace

        if not queries:
            return []
        beyond: list[int] = []
        while len(beyond) < len(queries):
            more = DiscreteLaplace(scale=self.scale).sample(4 * len(queries), random_bytes)
            beyond += more[more >= 0].tolist()
        counts = [above + 1 + each for each in beyond[: len(queries)]]
        return [pa.record_batch({"query": queries, "count": pa.array(counts, pa.int64())})]


def candidates(keywords: int) -> int:
    """N: how many queries of one to three words can be made of so many.

    >>> candidates(10)
    1110
    """
    return sum(keywords**words for words in range(1, MOST_WORDS + 1))


def _query(words: list[str], place: int) -> str:
    """The query at a place in the list of all."""
    length = 1
    while place >= len(words) ** length:
        place -= len(words) ** length
        length += 1
    chosen = []
    for _ in range(length):
        place, word = divmod(place, len(words))
        chosen.append(words[word])
    return " ".join(chosen)


def _chance(scale: Fraction, above: int, digits: int) -> Decimal:
    """P(noise > above), to so many digits."""
    with localcontext(Context(prec=digits + 10, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        rate = Decimal(scale.denominator) / Decimal(scale.numerator)
        return (-(above + 1) * rate).exp() / (1 + (-rate).exp())
