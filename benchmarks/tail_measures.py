"""What a release tells of the tail, which is the queries that it does not publish.

Everything here compares with the truth, and is internal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from tail_completion import Completion, phrases, runs, split
from tail_queries import Asked, Bools, keys, one_piece, places

from zealous.engines.sql import Step
from zealous.items import Kind
from zealous.logs.source import Source
from zealous.study.releases.original_histogram import Ints

Tables = Mapping[str, pa.Table]
Counts = Mapping[str, float]


class Share(NamedTuple):
    """A share, None where there is nothing of which it would be one.

    Attributes:
        traffic: Of what was asked, every entry by itself.
        different: Of the different queries, however often each was asked.
    """

    traffic: float | None
    different: float | None


class Distance(NamedTuple):
    """Total variation distance from the truth, from 0 to 1; None where a side is empty.

    Attributes:
        people: From what is counted: each user once, spread evenly over her different queries of
            the tail.
        queries: From the same with each of those queries counting by itself.
    """

    people: float | None
    queries: float | None


def coverage(tables: Tables, published: pa.Table, log: Asked) -> dict[str, Share]:
    """How much a release tells of queries that are not published.

    Args:
        tables: The tables of the release: `queries`, `keywords` and perhaps `ngrams-2`, `ngrams-3`.
        published: Which queries are not of the tail: its own, or those of another release, so that
            both are measured on the same.
        log: What was asked in the log that it was made from.

    Returns:
        `dropped`, the share of the queries that the release does not publish. Of those of the tail
        the share that is made of published keywords alone (`of-keywords`); for n = 2, 3 the share
        that holds n words in a row which stand so in a published query (`queries-n`), in the table
        of n-grams (`ngrams-n`) or in either (`either-n`); and the share of their words that these
        cover (`words-queries-n` and so on).
    """
    found = {"dropped": _share(~log.within(tables["queries"]), np.ones(len(log), bool), log)}
    tail = log.only(~log.within(published))
    every = np.ones(len(tail), bool)
    known = tail.coded(one_piece(tables["keywords"]["keyword"])) >= 0
    found["of-keywords"] = _share(_in_each(known, tail) == tail.lengths, every, tail)
    for size in (2, 3):
        inside, own = runs(tables["queries"], size)[0], phrases(tables, f"ngrams-{size}")
        either = pa.concat_tables([inside, own])
        for name, table in (("queries", inside), ("ngrams", own), ("either", either)):
            covered = _in_each(_covered(one_piece(table["phrase"]), size, tail), tail)
            found[f"{name}-{size}"] = _share(covered > 0, every, tail)
            found[f"words-{name}-{size}"] = _share(covered, tail.lengths, tail)
    return found


def completion(tables: Tables, published: pa.Table, others: Asked) -> dict[str, Share]:
    """How often the next word of other people's queries is among the best five suggestions.

    Args:
        tables: The tables of a release, all or some; see `Completion.learn`.
        published: Which queries are not of the tail, so that releases are measured on the same.
        others: What people asked who had no part in the release.

    Returns:
        `after-1` and `after-2`, of the queries that have more words than that; `dropped-after-1`
        and `dropped-after-2`, of those among them that are not published.
    """
    model = Completion.learn(tables)
    dropped = ~others.within(published)
    found = {}
    for given in (1, 2):
        right = np.zeros(len(others), bool)
        longer, hit = model.hits(others, given)
        right[longer] = hit
        goes_on = others.lengths > given
        found[f"after-{given}"] = _share(right, goes_on, others)
        found[f"dropped-after-{given}"] = _share(right & dropped, goes_on & dropped, others)
    return found


def distances(tables: Tables, facts: Iterable[Kind], source: Source) -> dict[str, Distance]:
    """How far released distributions over the tail are from the truth.

    Args:
        tables: The tables of the release: what the facts build on, and (value, count) of each.
        facts: The kinds whose items are facts of one query of each user; those that the release
            does not have are left out.
        source: The log that it was made from.
    """
    found = {}
    for kind in facts:
        if kind.name() not in tables:
            continue
        steps = [
            *source.entries,
            *kind.with_inputs(tables).steps(source),
            Step("had", "select distinct user, query, value from items"),
            Step(
                "spread",
                "select value, count(*) as often, count(*) / sum(count(*)) over (partition by user)"
                " as people from had group by user, value",
            ),
            Step("truth", "select value, sum(people), sum(often) from spread group by value"),
        ]
        truth = source.engine.rows(steps)
        columns = (tables[kind.name()][each].to_pylist() for each in ("value", "count"))
        released = dict(zip(*columns, strict=True))
        people, queries = ({row[0]: float(row[side]) for row in truth} for side in (1, 2))
        found[kind.name()] = Distance(
            people=total_variation(released, people), queries=total_variation(released, queries)
        )
    return found


def total_variation(one: Counts, other: Counts) -> float | None:
    """Half the distance between two distributions; a count below zero is taken for none.

    >>> total_variation({"a": 3, "b": 1, "c": -1}, {"a": 1, "d": 1})
    0.5
    """
    sums = [sum(max(count, 0) for count in each.values()) for each in (one, other)]
    if not all(sums):
        return None
    return sum(
        abs(max(one.get(value, 0), 0) / sums[0] - max(other.get(value, 0), 0) / sums[1]) / 2
        for value in one.keys() | other.keys()
    )


def _share(part: Ints | Bools, of: Ints | Bools, log: Asked) -> Share:
    """A figure of each query over another, summed over entries and over queries."""
    weights = (log.entries, np.ones_like(log.entries))
    sums = [(int(part @ weight), int(of @ weight)) for weight in weights]
    traffic, different = (one / other if other else None for one, other in sums)
    return Share(traffic, different)


def _in_each(marked: Bools, log: Asked) -> Ints:
    """How many words of each query are marked."""
    sums = np.concatenate([[0], np.cumsum(marked)])
    return np.asarray(np.diff(sums[log.start]), np.int64)


def _covered(known: pa.Array, size: int, log: Asked) -> Bools:
    """For each word of queries, whether it is part of such a phrase."""
    flat = split(known, size)
    vocabulary = flat.unique()
    columns = list(places(flat, vocabulary).reshape(-1, size).T)
    coded, low = log.coded(vocabulary), log.runs(size)
    found = keys([coded[low + place] for place in range(size)], len(vocabulary), len(low))
    hit = low[np.isin(found, keys(columns, len(vocabulary), len(known)))]
    covered = np.zeros(len(coded), bool)
    for place in range(size):
        covered[hit + place] = True
    return covered
