"""Sets made of published things: the exact law of a whole release, table after table.

What each person counts with is asked of the program: all tiny logs are packed into one, and drawn
by the real pipeline once for each way in which the first table can come out. The rest shares
nothing with the code under test but the definitions: noise comes from scipy, logs, neighbours and
outputs are listed.

The first table tells the later ones which things were published and in which order of their counts,
and no more. The second tells the third of which things the noisy counts are so low that their sets
are left out. So an output is the noisy counts of things; for each such order those of single
things; and for each way in which these are low or not those of sets. Given what was before, all are
independent.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from tiny_worlds import NEIGHBORS, bad, merged

from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind, itemsets, sequences, tail
from zealous.logs.log import Columns, read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.choose import choose_mechanism
from zealous.mechanisms.listed import Listed
from zealous.mechanisms.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.noise import DiscreteLaplace
from zealous.planning.part import Part
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP
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
    return Counted(*(tuple(sorted(each.items())) for each in (ones, twos)))


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
                assert [item for item, _ in one] == [item for item, _ in two]
                moved = [a - b for (_, a), (_, b) in zip(one, two, strict=True) if a != b]
                assert set(moved) <= {-1, 1}
                assert max(moved.count(1), moved.count(-1)) <= bound
                assert neighbors == "replace" or len(set(moved)) <= 1
                most = max(most, len(moved))
    assert most == (3 if neighbors == "replace" and world is THREE else 2)  # no bound is idle


@pytest.mark.parametrize("mechanism", [OfSmaller, OfSmallerGaussian])
def test_sets_of_which_a_thing_is_low_are_left_out(
    mechanism: type[OfSmaller], folder: Path
) -> None:
    """By what was published of it alone, and to the last count; the others have less to pass."""
    _written(THREE, folder / "low.csv", [(0, (("abc",), ("ab",)))])
    goal = Indistinguishability(epsilon=1, delta="0.1")
    twos = mechanism(items_per_user=1, scale=Fraction(4))
    first, then = twos.threshold(3), twos.threshold(1)
    assert first > then + 1

    def shown(counts: Sequence[int], noise: int) -> list[tuple[str, str, int]]:
        names = [f"00000{thing}" for thing in "abc"]
        tables = [
            pa.table({"item_1": names, "count": pa.array(each, pa.int64())})
            for each in ([9, 8, 7], counts)
        ]
        drawn_by: list[Any] = [*map(_Given, tables), twos]
        parts = tuple(
            Part(kind=kind, goal=goal, mechanism=each, delta=Fraction(0))
            for kind, each in zip(_KINDS, drawn_by, strict=True)
        )
        source_of = mock.Mock(sample=lambda size, _: np.full(size, noise))
        known = mock.patch.object(mechanism, "noise_sampler", return_value=source_of)
        with DuckDB() as engine, known:
            log = read_log(folder / "low.csv", columns=Columns(user="user"))
            source = open_log(log, engine, ["item", "basket"])
            drawn = draw(Plan(goal=goal, parts=parts, select="frequent"), source, key=5)
        rows = zip(*_lists(drawn[_KINDS[2].name()].arrow), strict=True)
        return sorted((one[-1], two[-1], count) for one, two, count in rows)

    # Two people have a and b; c is nobody's best, and its sets are candidates all the same.
    every = [("a", "b", LOUD + 2), ("a", "c", LOUD), ("b", "c", LOUD)]
    assert shown([first + 1] * 3, LOUD) == every
    assert shown([first + 1, first + 1, first], LOUD) == every[:1]
    assert shown([first, LOUD, LOUD], LOUD) == every[2:]
    assert shown([first, first, LOUD], LOUD) == []
    assert shown([first + 1, first + 1, first], then - 1) == [("a", "b", then + 1)]
    assert shown([first + 1, first + 1, first], then - 2) == []
    assert shown([first + 1] * 3, first - 2) == []


# What one person moves, in every table that is made of others


def _released() -> dict[str, pa.Table]:
    """What was published before: things of equal counts, and words in an order of their own."""

    def table(columns: Sequence[str], counts: Mapping[str, int]) -> pa.Table:
        split = [name.split("|") for name in counts]
        texts = {
            name: list(each) for name, each in zip(columns, zip(*split, strict=True), strict=True)
        }
        return pa.table({**texts, "count": pa.array(list(counts.values()), pa.int64())})

    things = dict.fromkeys("abcde", 9_000)  # far above what noise reaches
    pairs = {f"{one}|{two}": 7_000 for one, two in itertools.combinations("abcde", 2)}
    steps = {f"{one}|{two}": 7_000 for one, two in itertools.product("abcd", repeat=2)}
    words = {"red": 50, "wine": 40, "cheap": 40, "how": 40, "to": 30, "buy": 30, "today": 20}
    phrases = {
        "red wine": 9,
        "cheap red": 9,
        "wine cheap": 9,
        "how to": 8,
        "to buy": 8,
        "buy red": 8,
        "wine today": 2,
    }
    return {
        "things:item": table(["item_1"], things),
        "itemsets-1:item": table(["item_1"], things),
        "itemsets-2:item": table(["item_1", "item_2"], pairs),
        "sequences-1:item": table(["item_1"], things),
        "sequences-2:item": table(["item_1", "item_2"], steps),
        "queries": table(["query"], {"red wine": 90}),
        "keywords": table(["keyword"], words),
        "ngrams-2": table(["phrase"], phrases),
        "ngrams-3": table(["phrase"], {"cheap red wine": 5, "how to buy": 5, "to buy red": 4}),
    }


UNDECIDED = 6  # people who have more than they may count with


def _people() -> dict[str, list[str]]:
    """Lines of query, item, basket and day; `many` has much, and `tips` decides what is popular."""
    many = [
        f"{query},{item},{basket},{day}"
        for day, (query, basket) in enumerate(
            itertools.product(
                (
                    "how to buy red wine cheap",
                    "buy red wine today",
                    "Cheap red wine today?",
                    "to buy",
                    "what is cheap red wine cheap red wine",
                    "blue cheese",
                ),
                "123",
            ),
            1,
        )
        for item in "abcdef"
    ]
    some = [
        "red wine,a,1,1",
        "cheap red wine,b,1,1",
        "how to buy wine,c,1,2",
        "blue cheese,d,2,2",
        "red wine cheap,b,3,3",
        "to buy red,c,3,3",
        "wine today,a,4,4",
    ]
    undecided = {f"u{number}": some for number in range(UNDECIDED)}
    return {**undecided, "many": many, "tips": ["blue cheese,c,1,1", "cheap red wine,c,2,2"]}


def _kinds() -> dict[str, Kind]:
    people, _, *sets = itemsets("item", max_size=3, items_per_user=3, basket="basket")
    found = [
        people,
        *sets,
        *sequences("item", max_size=3, items_per_user=3, basket="basket")[2:],
        *tail(2),
    ]
    loose = itemsets("item", max_size=3, items_per_user=3)[2:]
    timed = sequences("item", max_size=2, items_per_user=2)[3:]
    named = {kind.name(): kind for kind in found}
    return named | {f"{kind.name()}, no basket": kind for kind in [*loose, *timed]}


@cache
def all_counted(folder: Path, without: str) -> dict[str, dict[tuple[str, ...], int]]:
    """All that there can be of each kind, with how many people count for it."""
    path = folder / f"without-{without}.csv"
    lines = (
        f"{user},{line[:-2]},2026-03-{int(line.rpartition(',')[2]):02d} 10:00\n"
        for user, hers in _people().items()
        for line in hers
        if user != without
    )
    path.write_text("user,query,item,basket,time\n" + "".join(lines))
    goal = ProbabilisticDP(epsilon=1, delta="0.1", users=100)
    loud = mock.patch.object(DiscreteLaplace, "sample", lambda _, size, __: np.full(size, LOUD))
    found: dict[str, dict[tuple[str, ...], int]] = {}
    with DuckDB() as engine, loud:
        source = open_log(read_log(path), engine, ["item", "basket"])
        for name, kind in _kinds().items():
            kind = kind.with_inputs(_released()) if kind.builds_on() else kind
            drawn_by, _ = choose_mechanism(
                None, goal, kind.items_per_user, None, kind.default_mechanism()
            )
            mechanism, known = drawn_by.calibrate(goal, kind.items_per_user), kind.known_items()
            if known is not None:
                mechanism = mechanism.with_inputs(known)
            count: Any = partial(histogram, kind, source, select="random", key=3)
            batches = map(kind.as_published, mechanism.release(count, os.urandom))
            rows = [row for batch in batches for row in zip(*_lists(batch), strict=True)]
            found[name] = {row[:-1]: row[-1] - LOUD for row in rows}
            assert len(found[name]) == len(rows), "an item is there twice"
    return found


@pytest.mark.parametrize("without", ["tips", "many"])
def test_one_person_moves_as_many_counts_as_she_may(without: str, folder: Path) -> None:
    everybody, others = (all_counted(folder, each) for each in ("nobody", without))
    for name, kind in _kinds().items():
        assert sum(everybody[name].values()) > 0, f"{name}: nobody has any"
        if kind.known_items() is not None or kind.builds_on():
            assert everybody[name].keys() == others[name].keys(), name
        moved = [n - others[name].get(item, 0) for item, n in everybody[name].items()]
        assert set(moved) <= {0, 1}, name
        assert sum(moved) <= kind.items_per_user, name
        if without == "many" and name != "people":
            assert sum(moved) == kind.items_per_user, name  # the bound is what holds her


def test_nobody_counts_for_more_than_one_fact(folder: Path) -> None:
    people = len(_people())
    for name in ("lengths", "questions", "scripts", "hours", "with-keywords"):
        assert sum(all_counted(folder, "nobody")[name].values()) == people


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


def left(table: Table, low: Collection[str]) -> list[int]:
    """The places of those sets whose things are all not low."""
    return [place for place, (item, _) in enumerate(table) if not set(item) & set(low)]


@cache
def later(release: Release, users: int, one: Counted, two: Counted) -> tuple[Law, Law]:
    """The second and the third table of two logs, where the first said the same."""
    t = release.twos.says.threshold(len(one.twos))
    found = []
    for high in itertools.product((False, True), repeat=len(one.ones)):
        low = [item for (item, _), above in zip(one.ones, high, strict=True) if not above]
        single = [
            release.ones.told(here, there, 0, users, above, t)
            for (_, here), (_, there), above in zip(one.ones, two.ones, high, strict=True)
        ]
        found.append(together([*single, *_sets(release, users, one, two, low)]))
    ones, others = zip(*found, strict=True)
    return merged(np.concatenate(ones), np.concatenate(others))


def _sets(
    release: Release, users: int, one: Counted, two: Counted, low: Collection[str] = ()
) -> list[tuple[Law, Law]]:
    """Those sets that are left, as far as they differ."""
    places = left(one.twos, low)
    pairs = [(one.twos[place][1], two.twos[place][1]) for place in places]
    return [
        release.twos.told(here, there, len(places), users, None, 0)
        for here, there in pairs
        if here != there
    ]


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
    made, orders = release.things, world.orders()
    shown = tuple(range(made.says.tau_prime + 1, world.users + made.reach() + 1))
    laws = {counts: first(world, made, counts) for counts in set(things.values())}

    @cache
    def begun(one: tuple[int, ...], two: tuple[int, ...], order: str) -> tuple[Law, Law]:
        places = cells(world.things, shown)[order]
        return merged(laws[one][places], laws[two][places])

    different = {
        (
            things[log],
            things[other],
            *((counted[log, each], counted[other, each]) for each in orders),
        )
        for log in world.logs()
        for other in world.neighbours(log, neighbors)
    }
    worst = 0.0
    for one, two, *rest in different:
        total = 0.0
        for order, pair in zip(orders, rest, strict=True):
            tables = begun(one, two, order), later(release, world.users, *pair)
            left, right = (np.outer(*each) for each in zip(*tables, strict=True))
            total += excess(left, right, epsilon)
        worst = max(worst, total)
    return worst


def moved(neighbors: Neighbors, folder: Path) -> set[tuple[Counted, Counted]]:
    """What the later tables of two neighbours can count where the first one said the same."""
    counted = sets_counted(THREE, folder)
    return {
        (counted[log, order], counted[other, order])
        for log in THREE.logs()
        for other, order in itertools.product(THREE.neighbours(log, neighbors), THREE.orders())
    }


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
    for delta in ("0.4", "0.01") if world is TWO else ("0.05",):
        goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
        planned = planned_of(goal, mechanism)
        claim = float(planned.delta_achieved)
        assert claim <= float(goal.delta)
        truth = true_delta(world, release_of(planned), epsilon, neighbors, folder)
        assert truth <= claim * (1 + EQUAL)
        assert truth > 0.1 * claim  # the claim says something of this world


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("mechanism", SETS)
def test_whatever_the_first_table_says_the_others_keep_their_share(
    mechanism: str, neighbors: Neighbors, folder: Path
) -> None:
    goal = Indistinguishability(epsilon=8, delta="0.05", neighbors=neighbors)
    planned = planned_of(goal, mechanism, things=1)
    epsilon, delta = spent(planned, slice(1, None))
    release = release_of(planned)
    for pair in moved(neighbors, folder):
        truth = excess(*later(release, THREE.users, *pair), epsilon)
        assert truth <= delta * (1 + EQUAL) + 1e-12


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("mechanism", SETS)
def test_sets_alone_need_their_share(mechanism: str, neighbors: Neighbors, folder: Path) -> None:
    goal = Indistinguishability(epsilon=6, delta="0.05", neighbors=neighbors)
    planned = planned_of(goal, mechanism)
    epsilon, delta = spent(planned, slice(2, None))

    def truth(at: float, **fault: Any) -> float:
        release = release_of(planned, **fault)
        pairs = moved(neighbors, folder)
        return max(excess(*together(_sets(release, THREE.users, *pair)), at) for pair in pairs)

    assert truth(epsilon) <= delta * (1 + EQUAL) + 1e-12
    if mechanism == "of-smaller":
        assert truth(epsilon * 0.99) > 1e-4
    faults: list[dict[str, Any]] = [
        {"factor": Fraction(8, 10)},
        {"held_alone": True},
        {"on_counts": True},
    ]
    for fault in faults:
        assert truth(epsilon, **fault) > 1.5 * delta + 1e-3, fault


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
    assert release.twos.says.threshold(1) == 0  # so a thing is low where its outcome is the first
    found = []
    for shown in itertools.product((False, True), repeat=len(counts)):
        order = "".join(itertools.compress(world.things, shown))
        things = [
            outcomes(release.things, count, 0, users)[slice(1, None) if is_there else slice(1)]
            for count, is_there in zip(counts, shown, strict=True)
        ]
        counted = sets_counted(world, folder)[log, order]
        ones = [outcomes(release.ones, count, 0, users)[1:] for _, count in counted.ones]
        for high in itertools.product((False, True), repeat=len(ones)):
            single = [
                law[slice(1, None) if above else slice(1)]
                for law, above in zip(ones, high, strict=True)
            ]
            places = left(counted.twos, list(itertools.compress(order, np.logical_not(high))))
            sets = [outcomes(release.twos, counted.twos[n][1], len(places), users) for n in places]
            laws = [*things, *single, *sets]
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


def test_laws_are_whole(folder: Path) -> None:
    release = release_of(planned_of(Indistinguishability(epsilon=6, delta="0.05"), SETS[1]))
    for counts in itertools.product(range(THREE.users + 1), repeat=3):
        assert first(THREE, release.things, counts).sum() == pytest.approx(1, rel=1e-12)
    for pair in moved("add-remove", folder):
        for law in later(release, THREE.users, *pair):
            assert law.sum() == pytest.approx(1, rel=1e-12)


def test_the_order_of_two_things_is_no_matter(folder: Path) -> None:
    """So outputs can be listed by which of them are published."""
    counted = sets_counted(TWO, folder)
    for log in TWO.logs():
        assert counted[log, "ab"] == counted[log, "ba"]
