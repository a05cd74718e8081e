"""Small worlds of baskets, and what people count with in them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.stats import dlaplace
from tiny_worlds import merged

from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.items import itemsets
from zealous.logs.log import Columns, read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.listed import Listed
from zealous.mechanisms.of_smaller import OfSmaller
from zealous.noise import DiscreteLaplace
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import Indistinguishability, Neighbors
from zealous.release.drawing import draw

Law = npt.NDArray[np.float64]
History = tuple[str, ...]  # baskets, and the things in each
Log = tuple[History, ...]


MOST = 2  # things that a person counts with
LOUD = 1_000_000  # noise that lifts everything above every threshold, and tells what it is added to
ROWS = {"a": 3, "b": 2, "c": 1}  # of a thing in a basket: so she has `a` most often
EQUAL = 1e-9
SETS = ("of-smaller", "of-smaller-gaussian")
_KINDS = itemsets("item", max_size=2, items_per_user=MOST, basket="basket")[1:]


@dataclass(frozen=True, kw_only=True)
class World:
    """All logs of at most so many users, each with one of some histories."""

    things: str
    users: int
    histories: tuple[History, ...]

    def logs(self) -> list[Log]:
        return list(itertools.combinations_with_replacement(self.histories, self.users))

    def orders(self) -> list[str]:
        """The things that are published, the one of the largest count first."""
        sizes = range(len(self.things) + 1)
        return ["".join(each) for n in sizes for each in itertools.permutations(self.things, n)]

    def neighbours(self, log: Log, neighbors: Neighbors) -> Iterator[Log]:
        for place, held in enumerate(log):
            for to in self.histories:
                if to != held and (neighbors == "replace" or not held or not to):
                    changed = [*log[:place], *log[place + 1 :], to]
                    yield tuple(sorted(changed, key=self.histories.index))


TWO = World(
    things="ab",
    users=3,
    histories=((), ("a",), ("b",), ("ab",), ("a", "b"), ("ab", "ab", "ab", "b")),
)
THREE = World(
    things="abc",
    users=2,
    histories=((), ("a",), ("b",), ("c",), ("ab",), ("ac",), ("bc",), ("abc",), ("ab", "bc")),
)


Table = tuple[tuple[str, int], ...]  # what there can be, in order, and how many people have it


class Counted(NamedTuple):
    """What noise is added to in the second table, and in the third."""

    ones: Table
    twos: Table


@dataclass(frozen=True)
class _Given:
    """Stands for the mechanism of a table: it published this."""

    table: pa.Table

    def required_kind(self, kind: Any) -> None:
        del kind

    def with_inputs(self, item_list: Any, released: Any) -> _Given:
        del item_list, released
        return self

    def release(self, count: Any, random_bytes: Any) -> list[pa.RecordBatch]:
        del count, random_bytes
        return list(self.table.to_batches())


def _written(world: World, path: Path, copies: Sequence[tuple[int, Log]]) -> None:
    """All copies of logs in one, with users and things of their own."""
    lines = (
        f"{copy:05d}-{user},{copy:05d}{thing},{basket}\n"
        for copy, log in copies
        for user, held in enumerate(log)
        for basket, things in enumerate(held)
        for thing in things
        for _ in range(ROWS[thing])
    )
    path.write_text("user,item,basket\n" + "".join(lines))


@cache
def things_counted(world: World, folder: Path) -> dict[Log, tuple[int, ...]]:
    """How many people keep each thing, by the first table's own bound."""
    logs = world.logs()
    _written(world, folder / "things.csv", list(enumerate(logs)))
    with DuckDB() as engine:
        log = read_log(folder / "things.csv", columns=Columns(user="user"))
        source = open_log(log, engine, ["item", "basket"])
        counted = histogram(_KINDS[0], source, bound=MOST, at_least=1, select="frequent", key=5)
        rows = {name: n for batch in counted for name, n in zip(*_lists(batch), strict=True)}
    return {
        log: tuple(rows.get(f"{copy:05d}{thing}", 0) for thing in world.things)
        for copy, log in enumerate(logs)
    }


def _lists(batch: pa.RecordBatch) -> list[list[Any]]:
    return [column.to_pylist() for column in batch.columns]


@cache
def sets_counted(
    world: World, folder: Path, *, ties: bool = False
) -> dict[tuple[Log, str], Counted]:
    """What the later tables count, for every log and everything that the first one can say.

    With `ties` all published things have the same count.
    """
    copies = [(log, order) for log in world.logs() for order in world.orders()]
    _written(world, folder / "sets.csv", [(copy, log) for copy, (log, _) in enumerate(copies)])
    first = [
        (f"{copy:05d}{thing}", 10 if ties else 10 - place)
        for copy, (_, order) in enumerate(copies)
        for place, thing in enumerate(order)
    ]
    names, counts = zip(*first, strict=True)
    given: Any = _Given(pa.table({"item_1": names, "count": pa.array(counts, pa.int64())}))
    goal = Indistinguishability(epsilon=1, delta="0.1")
    drawn_by = (given, Listed.calibrate(goal, MOST), OfSmaller.calibrate(goal, 1))
    parts = tuple(
        Part(kind=kind, goal=goal, mechanism=each, delta=Fraction(0))
        for kind, each in zip(_KINDS, drawn_by, strict=True)
    )
    loud = mock.patch.object(DiscreteLaplace, "sample", lambda _, size, __: np.full(size, LOUD))
    with DuckDB() as engine, loud:
        log = read_log(folder / "sets.csv", columns=Columns(user="user"))
        source = open_log(log, engine, ["item", "basket"])
        tables = draw(Plan(goal=goal, parts=parts, select="frequent"), source, key=5)
    ones: dict[str, dict[str, int]] = defaultdict(dict)
    twos: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in zip(*_lists(tables[_KINDS[1].name()].arrow), strict=True):
        ones[name[:-1]][name[-1]] = count - LOUD
    for one, two, count in zip(*_lists(tables[_KINDS[2].name()].arrow), strict=True):
        if one[:-1] == two[:-1]:  # sets of two copies are candidates too
            twos[one[:-1]][one[-1] + two[-1]] = count - LOUD
    return {
        each: Counted(*(tuple(sorted(rows[f"{copy:05d}"].items())) for rows in (ones, twos)))
        for copy, each in enumerate(copies)
    }


@dataclass(frozen=True)
class Made:
    """A mechanism as it is, which a fault may have made another than it says."""

    says: Any
    factor: Fraction = Fraction(1)  # of the noise's scale
    held_alone: bool = False  # no noise on what nobody has
    on_counts: bool = False  # the threshold is for counts before noise

    def reach(self) -> int:
        """What noise exceeds with a chance that no float would notice."""
        return math.ceil((9 if "gaussian" in self.says.noise_law else 36) * self.says.scale)

    def noise(self) -> Law:
        z, scale = np.arange(-self.reach(), self.reach() + 1), float(self.says.scale * self.factor)
        if "gaussian" in self.says.noise_law:
            weights = np.exp(-((z / scale) ** 2) / 2)
            return np.asarray(weights / weights.sum())
        return np.asarray(dlaplace(1 / scale).pmf(z))

    @cache  # noqa: B019
    def law(self, count: int, candidates: int, users: int) -> Law:
        """The chances that an item is absent, and of each noisy count from the least on."""
        noisy = count + np.arange(-self.reach(), self.reach() + 1)
        found = np.zeros(1 + users + 2 * self.reach() + 1)
        shown = np.ones(len(noisy), bool)
        if isinstance(self.says, OfSmaller):
            above = self.says.threshold(candidates)
            shown = noisy > above
            if self.on_counts:
                shown = np.full(len(noisy), count > above)
            if self.held_alone and not count:
                shown[:] = False
        elif not isinstance(self.says, Listed):  # ZEALOUS
            shown = (noisy > self.says.tau_prime) & (count >= self.says.tau)
        found[1 + self.reach() + noisy[shown]] = self.noise()[shown]
        found[0] = self.noise()[~shown].sum()
        return found

    @cache  # noqa: B019
    def told(
        self, one: int, other: int, candidates: int, users: int, above: bool | None, t: int
    ) -> tuple[Law, Law]:
        """An item of one count in one log and of another in the other, as far as they differ.

        Where `above` is given, those outcomes alone that are above t, or the others.
        """
        laws = [self.law(count, candidates, users) for count in (one, other)]
        if above is not None:
            laws = [
                law[t + 2 + self.reach() :] if above else law[: t + 2 + self.reach()]
                for law in laws
            ]
        return merged(*laws)


def first(world: World, made: Made, counts: Sequence[int]) -> Law:
    """The chances of the first table, cell by cell."""
    laws = (made.law(count, 0, world.users) for count in counts)
    least = 1 + made.reach() + made.says.tau_prime + 1
    short = (np.append(law[0], law[least:]) for law in laws)
    return reduce(lambda a, b: np.outer(a, b).ravel(), short)


def moved(neighbors: Neighbors, folder: Path) -> set[tuple[Counted, Counted]]:
    """What the later tables of two neighbours can count where the first one said the same."""
    counted = sets_counted(THREE, folder)
    return {
        (counted[log, order], counted[other, order])
        for log in THREE.logs()
        for other, order in itertools.product(THREE.neighbours(log, neighbors), THREE.orders())
    }
