"""Counts of neighbouring logs, given to a mechanism, and what it makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.audit.confidence_bounds import Counts
from zealous.errors import UsageError
from zealous.mechanisms import Mechanism
from zealous.mechanisms.protocol import check_only_bound_and_threshold

Values: TypeAlias = npt.NDArray[np.float64]  # published counts; NaN where an item is absent


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two neighbouring histograms: a user's m items at c users on one, at c - 1 on the other.

    Attributes:
        name: What they are about.
        users: c.
        moves: Whether m other items take the opposite way, the user being replaced; else these
            stay at c - 1, to be compared with.
        apart: Whether the m others are in a second batch, at the same places.
    """

    name: str
    users: int
    moves: bool
    apart: bool = False


@dataclass(frozen=True)
class Histogram:
    """A histogram, item by item.

    Attributes:
        others: How many users hold it, apart from one.
        hers: Whether she holds it too.
        place: Which of her items it is; she keeps those below the bound.
        batches: In how many it is given.
    """

    others: Counts
    hers: npt.NDArray[np.bool_]
    place: Counts
    batches: int = 1


class WatchedMechanism:
    """A mechanism, and what it did that none may do."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.bound = 0  # the largest that it asked for
        self.invented = False
        self.repeated = False

    def release(self, given: Histogram) -> Values:
        """What it publishes of each item."""
        counted = np.zeros(len(given.others), bool)

        def count(*, bound: int, at_least: int, **more: Any) -> Iterator[pa.RecordBatch]:
            check_only_bound_and_threshold(more)
            self.bound = max(self.bound, bound)
            users = given.others + (given.hers & (given.place < bound))
            for rows in np.array_split(np.arange(len(users)), given.batches):
                kept = rows[users[rows] >= max(1, at_least)]  # an item of nobody does not exist
                counted[kept] = True
                yield pa.record_batch({"item": kept, "count": users[kept]})

        values = np.full(len(given.others), np.nan)
        for item, published in self._columns(self.mechanism.release(count, os.urandom)):
            known = item[(item >= 0) & (item < len(values))]
            self.invented |= len(known) < len(item) or not counted[known].all()
            self.repeated |= len(np.unique(item)) < len(item)
            self.repeated |= not np.isnan(values[known]).all()
            if len(known) == len(item):
                values[known] = published
        return values

    def _columns(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Counts, Values]]:
        for batch in batches:
            try:
                item, published = (batch[name].to_numpy(False) for name in ("item", "count"))
                item, published = item.astype(np.int64, casting="safe"), published.astype(float)
            except (KeyError, TypeError, ValueError):
                item, published = np.zeros(0, np.int64), np.array([np.nan])
            if np.isnan(published).any():
                raise UsageError(
                    f"release of {self.mechanism.name} must yield batches with all columns of "
                    "what it counted, as they were, and a number as count"
                )
            yield item, published


def plain_histogram(others: Counts) -> Histogram:
    """A histogram in which nobody in particular is looked for."""
    return Histogram(others, np.zeros(len(others), bool), np.zeros(len(others), np.int64))


def run_cases(
    watched: WatchedMechanism, cases: Sequence[Case], trials: int, releases: int
) -> Values:
    """Run each case so many times on each of its two logs.

    A coin decides for each copy of a case which of its logs it is, so that what else is in a
    release tells nothing about it; its twin is the other log.

    Args:
        watched: What to run.
        cases: The cases; either all or none of them are `apart`.
        trials: How many copies on each log.
        releases: Over how many releases the copies of both are spread.

    Returns:
        What was published: by log, trial, case, group (her items, the m others) and place.
    """
    coins = np.frombuffer(os.urandom(trials * len(cases)), np.uint8).reshape(trials, -1) & 1
    sides = np.stack([coins, 1 - coins], axis=1)  # trial, twin, case
    flat = sides.reshape(2 * trials, len(cases))
    values = np.concatenate(
        [_release_copies(watched, cases, part) for part in np.array_split(flat, releases)]
    )
    values = values.reshape(trials, 2, *values.shape[1:])
    found = np.take_along_axis(values, sides[..., None, None].astype(np.int64), axis=1)
    return np.moveaxis(found, 1, 0)


def _release_copies(
    watched: WatchedMechanism, cases: Sequence[Case], sides: npt.NDArray[np.uint8]
) -> Values:
    """One release of copies of all cases: by copy, case, group and place."""
    m = watched.mechanism.items_per_user
    apart = cases[0].apart
    shape = (*sides.shape, 2, m)
    moves = np.array([case.moves for case in cases])
    hers = np.stack([sides == 0, (sides == 1) & moves], axis=2)[..., None]
    others = np.array([case.users - 1 for case in cases])[:, None, None]

    def flatten(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        column = np.broadcast_to(column, shape)
        return (np.moveaxis(column, 2, 0) if apart else column).ravel()

    given = Histogram(
        flatten(others), flatten(hers), flatten(np.arange(m)), batches=2 if apart else 1
    )
    values = watched.release(given)
    if apart:
        return np.moveaxis(values.reshape(2, *sides.shape, m), 0, 2)
    return values.reshape(shape)
