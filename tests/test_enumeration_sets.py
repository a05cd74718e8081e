"""Sets made of published things: the exact law of a whole release, table after table.

What each person counts with is asked of the program: all tiny logs are packed into one, and drawn
by the real pipeline once for each way in which the first table can come out. The rest shares
nothing with the code under test but the definitions: noise comes from scipy, logs, neighbours and
outputs are listed.

The first table tells the later ones which things were published and in which order of their counts,
and no more. So an output is the noisy counts of things, and for each such order the noisy counts
of single things and of sets, which are independent.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from scipy.stats import dlaplace
from test_enumeration import NEIGHBORS, bad
from test_enumeration_mechanisms import merged

from zealous.engines.duckdb import DuckDB
from zealous.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP
from zealous.histogram import histogram
from zealous.items import itemsets
from zealous.items.sets import Itemsets, Things
from zealous.log import Columns, read_log
from zealous.mechanism import Calibrated
from zealous.mechanism.listed import Listed
from zealous.mechanism.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.noise import DiscreteLaplace
from zealous.plan import Part, Plan, plan
from zealous.publish import draw
from zealous.source import open_log

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


class Counted(NamedTuple):
    """What noise is added to: the counts of single things and of sets, all that there can be."""

    ones: dict[str, int]
    twos: dict[str, int]


@dataclass(frozen=True)
class _Given:
    """Stands for the mechanism of the first table: it published this."""

    table: pa.Table

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
    drawn_by = (given, Listed.calibrated(goal, MOST), OfSmaller.calibrated(goal, 1))
    parts = tuple(
        Part(kind=kind, goal=goal, mechanism=each, delta=Fraction(0))
        for kind, each in zip(_KINDS, drawn_by, strict=True)
    )
    loud = mock.patch.object(DiscreteLaplace, "sample", lambda _, size, __: np.full(size, LOUD))
    with DuckDB() as engine, loud:
        log = read_log(folder / "sets.csv", columns=Columns(user="user"))
        source = open_log(log, engine, ["item", "basket"])
        tables = draw(Plan(goal=goal, parts=parts), source, select="frequent", key=5)
    found = {each: Counted({}, {}) for each in copies}
    for row in zip(*_lists(tables[_KINDS[1].name()].arrow), strict=True):
        found[copies[int(row[0][:-1])]].ones[row[0][-1]] = row[1] - LOUD
    for one, two, count in zip(*_lists(tables[_KINDS[2].name()].arrow), strict=True):
        if one[:-1] == two[:-1]:  # sets of two copies are candidates too
            found[copies[int(one[:-1])]].twos[one[-1] + two[-1]] = count - LOUD
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


# What is counted


def expected(log: Log, order: str) -> Counted:
    """Each person's best published things, and those of them that she has in one basket."""
    ones = dict.fromkeys(order, 0)
    twos = {"".join(pair): 0 for pair in itertools.combinations(sorted(order), 2)}
    for held in log:
        hers = [thing for thing in order if any(thing in basket for basket in held)][:MOST]
        for thing in hers:
            ones[thing] += 1
        for pair in itertools.combinations(sorted(hers), 2):
            twos["".join(pair)] += any(set(pair) <= set(basket) for basket in held)
    return Counted(ones, twos)


@pytest.mark.parametrize("world", [TWO, THREE], ids=["two things", "three things"])
def test_everybody_counts_with_her_best_published_things(world: World, folder: Path) -> None:
    """All that can be made of published things gets noise, and nothing else does."""
    for (log, order), counted in sets_counted(world, folder).items():
        assert counted == expected(log, order), (log, order)


def test_the_same_count_is_an_order_too(folder: Path) -> None:
    """The one of their names: nothing of the log decides between things of the same count."""
    for (log, order), counted in sets_counted(THREE, folder, ties=True).items():
        assert counted == expected(log, "".join(sorted(order))), (log, order)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("world", [TWO, THREE], ids=["two things", "three things"])
def test_one_person_moves_as_many_sets_as_she_may(
    world: World, neighbors: Neighbors, folder: Path
) -> None:
    counted, most = sets_counted(world, folder), 0
    for log in world.logs():
        for other, order in itertools.product(world.neighbours(log, neighbors), world.orders()):
            tables = zip(counted[log, order], counted[other, order], (MOST, 1), strict=True)
            for one, two, bound in tables:
                assert one.keys() == two.keys()  # what there is does not tell who is there
                moved = [one[item] - two[item] for item in one if one[item] != two[item]]
                assert set(moved) <= {-1, 1}
                assert max(moved.count(1), moved.count(-1)) <= bound
                assert neighbors == "replace" or len(set(moved)) <= 1
                most = max(most, len(moved))
    assert most == MOST * (2 if neighbors == "replace" and world is THREE else 1)


# The law of what is published


@dataclass(frozen=True)
class Made:
    """A mechanism as it is, which a fault may have made another than it says."""

    says: Any
    factor: Fraction = Fraction(1)  # of the noise's scale
    held_alone: bool = False  # no noise on what nobody has
    on_counts: bool = False  # the threshold is for counts before noise

    def reach(self) -> int:
        """What noise exceeds with a chance that no float would notice."""
        return math.ceil((9 if "gaussian" in self.says.noise else 36) * self.says.scale)

    def noise(self) -> Law:
        z, scale = np.arange(-self.reach(), self.reach() + 1), float(self.says.scale * self.factor)
        if "gaussian" in self.says.noise:
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
    def told(self, one: int, other: int, candidates: int, users: int) -> tuple[Law, Law]:
        """An item of one count in one log and of another in the other, as far as they differ."""
        return merged(self.law(one, candidates, users), self.law(other, candidates, users))


class Release(NamedTuple):
    """The mechanisms of the three tables."""

    things: Made
    ones: Made
    twos: Made


def release_of(planned: Plan, **fault: Any) -> Release:
    things, ones, twos = (part.mechanism for part in planned.parts)
    return Release(Made(things), Made(ones), Made(twos, **fault))


def planned_of(goal: Guarantee, mechanism: str, things: int = 4, ones: int = 1) -> Plan:
    names = [kind.name() for kind in _KINDS]
    split = dict(zip(names, (things, ones, 2), strict=True))
    return plan(goal, _KINDS, split=split, mechanism={names[2]: mechanism})


def together(pairs: Iterable[tuple[Law, Law]]) -> tuple[Law, Law]:
    """Independent items, as far as they tell two logs apart."""

    def add(one: tuple[Law, Law], other: tuple[Law, Law]) -> tuple[Law, Law]:
        return merged(np.outer(one[0], other[0]).ravel(), np.outer(one[1], other[1]).ravel())

    return reduce(add, pairs, (np.ones(1), np.ones(1)))


def later(release: Release, users: int, one: Counted, two: Counted) -> tuple[Law, Law]:
    """The second and third table of two logs, where the first said the same."""
    pairs = [
        made.told(here[item], there[item], len(here), users)
        for made, here, there in zip(release[1:], one, two, strict=True)
        for item in here
        if here[item] != there[item]
    ]
    return together(pairs)


@cache
def cells(things: str, shown: tuple[int, ...]) -> dict[str, npt.NDArray[np.int64]]:
    """By order of things, which noisy counts of them (-1 for one that is absent) give it."""
    found: dict[str, list[int]] = {}
    for place, counts in enumerate(itertools.product((-1, *shown), repeat=len(things))):
        there = [(-n, thing) for n, thing in zip(counts, things, strict=True) if n >= 0]
        found.setdefault("".join(thing for _, thing in sorted(there)), []).append(place)
    return {order: np.array(places) for order, places in found.items()}


def first(world: World, made: Made, counts: Sequence[int]) -> Law:
    """The chances of the first table, cell by cell."""
    laws = (made.law(count, 0, world.users) for count in counts)
    least = 1 + made.reach() + made.says.tau_prime + 1
    short = (np.append(law[0], law[least:]) for law in laws)
    return reduce(lambda a, b: np.outer(a, b).ravel(), short)


def excess(one: Law, other: Law, epsilon: float) -> float:
    return float(np.maximum(one - np.exp(epsilon) * other, 0).sum())


def true_delta(
    world: World, release: Release, epsilon: float, neighbors: Neighbors, folder: Path
) -> float:
    """The least delta for which all neighbours of a world are indistinguishable."""
    things, counted = things_counted(world, folder), sets_counted(world, folder)
    made = release.things
    shown = tuple(range(made.says.tau_prime + 1, world.users + made.reach() + 1))
    orders, worst = cells(world.things, shown), 0.0
    laws = {counts: first(world, made, counts) for counts in set(things.values())}
    for log in world.logs():
        for other in set(world.neighbours(log, neighbors)):
            here, there = laws[things[log]], laws[things[other]]
            total = 0.0
            for order, places in orders.items():
                begun = merged(here[places], there[places])
                rest = later(release, world.users, counted[log, order], counted[other, order])
                both = (np.outer(a, b) for a, b in zip(begun, rest, strict=True))
                total += excess(*both, epsilon)
            worst = max(worst, total)
    return worst


@cache
def steps(world: World, neighbors: Neighbors, folder: Path) -> list[tuple[Counted, Counted]]:
    """What the later tables of two neighbours can count where the first one said the same."""
    counted = sets_counted(world, folder)
    found = {}
    for log in world.logs():
        for other, order in itertools.product(world.neighbours(log, neighbors), world.orders()):
            pair = counted[log, order], counted[other, order]
            found[str(pair)] = pair
    return list(found.values())


def given_the_first(
    world: World, release: Release, epsilon: float, neighbors: Neighbors, folder: Path
) -> float:
    """The least delta of the later tables alone, whatever the first one said."""
    pairs = steps(world, neighbors, folder)
    return max(excess(*later(release, world.users, *pair), epsilon) for pair in pairs)


def spent(planned: Plan, parts: slice = slice(None)) -> tuple[float, float]:
    chosen = planned.parts[parts]
    epsilon = sum((part.goal.epsilon for part in chosen), Fraction(0))
    return float(epsilon), float(sum((part.delta for part in chosen), Fraction(0)))


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("mechanism", SETS)
@pytest.mark.parametrize("world", [TWO, THREE], ids=["two things", "three things"])
def test_the_whole_release_keeps_its_goal(
    world: World, mechanism: str, neighbors: Neighbors, folder: Path
) -> None:
    """Things, then single things, then sets: each by what was published before."""
    epsilon = 12 if neighbors == "replace" else 6
    for delta in ("0.4", "0.01"):
        goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
        planned = planned_of(goal, mechanism)
        claim = spent(planned)
        assert claim[0] == epsilon
        assert claim[1] <= float(goal.delta)
        truth = true_delta(world, release_of(planned), epsilon, neighbors, folder)
        assert truth <= claim[1] * (1 + EQUAL)
        assert truth > 0.1 * claim[1]  # the claim says something of this world


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("mechanism", SETS)
def test_whatever_the_first_table_says_the_others_keep_their_share(
    mechanism: str, neighbors: Neighbors, folder: Path
) -> None:
    goal = Indistinguishability(epsilon=8, delta="0.05", neighbors=neighbors)
    planned = planned_of(goal, mechanism, things=1)
    epsilon, delta = spent(planned, slice(1, None))
    truth = partial(given_the_first, THREE, neighbors=neighbors, folder=folder)
    right = release_of(planned)
    assert truth(right, epsilon) <= delta * (1 + EQUAL) + 1e-12
    # Nothing is wasted: people with two things move all the counts that are accounted for.
    if mechanism == "of-smaller":
        assert truth(right, epsilon * 0.99) > 1e-4
    faults: list[dict[str, Any]] = [
        {"factor": Fraction(8, 10)}, {"held_alone": True}, {"on_counts": True},
    ]  # fmt: skip
    for fault in faults:
        assert truth(release_of(planned, **fault), epsilon) > 2 * delta + 1e-3, fault


# The same for probabilistic differential privacy, where outputs are listed


def outcomes(made: Made, count: int, candidates: int, users: int) -> Law:
    """The chances that an item is absent, and of noisy counts that tell counts apart.

    All at or below 0 are one outcome, and all from the largest count that there can be.
    """
    law = made.law(count, candidates, users)
    zero = 1 + made.reach()
    low, middle, high = law[1 : zero + 1], law[zero + 1 : zero + users], law[zero + users :]
    return np.array([law[0], low.sum(), *middle, high.sum()])


def output(world: World, release: Release, log: Log, folder: Path) -> Law:
    """The chances of all that can be published of a log of two things."""
    users, counts = world.users, things_counted(world, folder)[log]
    found = []
    for shown in itertools.product((False, True), repeat=len(counts)):
        order = "".join(thing for thing, is_there in zip(world.things, shown, strict=True)
                        if is_there)  # fmt: skip
        laws = [
            outcomes(release.things, count, 0, users)[slice(1, None) if is_there else slice(1)]
            for count, is_there in zip(counts, shown, strict=True)
        ]
        counted = sets_counted(world, folder)[log, order]
        for made, table in zip(release[1:], counted, strict=True):
            laws += [outcomes(made, n, len(table), users) for n in table.values()]
        found.append(reduce(lambda a, b: np.outer(a, b).ravel(), laws, np.ones(1)))
    return np.concatenate(found)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_whole_release_keeps_the_probabilistic_guarantee(
    neighbors: Neighbors, folder: Path
) -> None:
    for delta, things in (("0.4", 4), ("0.4", 1), ("0.05", 4)):
        goal = ProbabilisticDP(epsilon=6, delta=delta, users=TWO.users, neighbors=neighbors)
        planned = planned_of(goal, "of-smaller", things=things)
        epsilon, claim = spent(planned)
        release = release_of(planned)
        law = {log: output(TWO, release, log, folder) for log in TWO.logs()}
        assert all(each.sum() == pytest.approx(1, rel=1e-12) for each in law.values())
        worst = 0.0
        for log in TWO.logs():
            near = np.stack([law[other] for other in TWO.neighbours(log, neighbors)])
            worst = max(worst, float(law[log][bad(law[log], near, epsilon)].sum()))
        assert worst <= claim * (1 + EQUAL)
        assert worst > 0.1 * claim


def test_the_order_of_two_things_is_no_matter(folder: Path) -> None:
    """So outputs can be listed by which of them are published."""
    counted = sets_counted(TWO, folder)
    for log in TWO.logs():
        assert counted[log, "ab"] == counted[log, "ba"]
