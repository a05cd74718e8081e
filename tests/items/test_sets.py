"""Who counts for which sets and sequences: against a second implementation, and what follows."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sets_oracle as oracle
from families import FAMILIES
from oracle import md5_place, md5_rank
from sampling import sampled
from sets_oracle import NAMES, Names, Published, Row, people, write

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines import duckdb
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import CombinedKind, People, Things, itemsets, sequences
from zealous.logs.open_log import open_log

LARGEST = 4
KEY = 2**64 - 3


class Case(NamedTuple):
    family: str
    basket: bool
    timed: bool = False
    columns: int = 1

    def __str__(self) -> str:
        given = ["basket"] * self.basket + ["time"] * self.timed
        return "-".join([self.family, *given, f"{self.columns}-columns"])


CASES = [
    Case(family, basket, timed, columns)
    for family in FAMILIES
    for basket in (False, True)
    for timed in (False, True)
    for columns in (1, 3)
    if basket or timed or family == "itemsets"
    if family == "sequences" or not timed  # which sets do not look at
] + [Case("itemsets", basket=True, timed=True)]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


@pytest.fixture(autouse=True)
def known_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "rank_key", lambda _, key, columns: md5_rank(key, columns))
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))


def kinds(case: Case, most: int, largest: int = LARGEST) -> list[CombinedKind]:
    """One for each size, from single things on."""
    names = [f"thing_{n}" for n in range(case.columns)]
    basket = "basket" if case.basket else None
    made = FAMILIES[case.family](*names, max_size=largest, items_per_user=most, basket=basket)
    return [kind for kind in made if isinstance(kind, CombinedKind)]


def after(kind: CombinedKind, levels: Sequence[Published]) -> CombinedKind:
    """The kind that knows what was published; single things were counted again in between."""
    again = {item: -count for item, count in levels[0].items()}
    smaller = [levels[0], again, *levels[1 : kind.size - 1]]
    sizes = [1, *range(1, len(smaller))]
    tables = [oracle.table(each, size) for each, size in zip(smaller, sizes, strict=True)]
    return kind.with_inputs(dict(zip(kind.builds_on(), tables, strict=False)))


def counted(
    engine: DuckDB, path: Path, case: Case, kind: CombinedKind, select: str = "random"
) -> Counter[Names]:
    columns = z.Columns(user="user", time="when" if case.timed else None)
    source = open_log(z.read_log(path, columns=columns), engine, kind.extra_columns())
    found: Counter[Names] = Counter()
    how: dict[str, Any] = {"select": select, "key": KEY, "at_least": 1}
    for batch in histogram(kind, source, bound=kind.items_per_user, **how):
        for row in kind.as_published(batch).to_pylist():
            count = row.pop("count")
            assert tuple(row) == kind.columns()
            assert tuple(row.values()) not in found
            found[tuple(row.values())] = count
    return found


def expected(
    case: Case, own: dict[str, list[set[str]]], kind: CombinedKind, levels: Sequence[Published]
) -> Counter[Names]:
    how = {"size": kind.size, "things": kind.things, "m": kind.items_per_user, "key": KEY}
    return oracle.counts(case.family, own, levels, **how)


@pytest.mark.parametrize("case", sampled(CASES, str, share=3))
def test_same_as_the_oracle(case: Case, tmp_path: Path, engine: DuckDB) -> None:
    total: Counter[int] = Counter()
    for seed, most in enumerate((5, 7, 9)):
        chance = random.Random(f"{case} {seed}")
        rows = people(chance, case.columns)
        path = write(tmp_path / f"{seed}.parquet", rows)
        own = oracle.histories(case.family, rows, basket=case.basket, timed=case.timed)
        names = chance.sample(NAMES, 9)
        levels = oracle.released(chance, case.family, names, LARGEST - 1)
        largest = LARGEST if most < 9 else 3
        for kind in kinds(case, most, largest):
            found = counted(engine, path, case, after(kind, levels))
            right = expected(case, own, kind, levels)
            assert found - right == right - found == Counter(), (seed, kind.size)
            total[kind.size] += right.total()
    assert min(total.values()) > 9, total


def some(case: Case, tmp_path: Path) -> tuple[list[Row], Path, list[Published]]:
    """A table, and what was published of it."""
    chance = random.Random(str(case))
    rows = people(chance, case.columns)
    levels = oracle.released(chance, case.family, chance.sample(NAMES, 9), LARGEST - 1)
    return rows, write(tmp_path / "table.parquet", rows), levels


@pytest.mark.parametrize("case", CASES[::2], ids=str)
def test_neither_the_order_of_lines_nor_how_items_are_selected(
    case: Case, tmp_path: Path, engine: DuckDB
) -> None:
    rows, path, levels = some(case, tmp_path)
    mixed = write(tmp_path / "mixed.parquet", random.Random(1).sample(rows, len(rows)))
    for kind in kinds(case, 5, 3):
        known = after(kind, levels)
        one = counted(engine, path, case, known)
        assert one == counted(engine, mixed, case, known, "frequent")
        if case.timed:
            assert one == counted(engine, mixed, case, known, "first")


@pytest.mark.parametrize("case", CASES[1::3], ids=str)
def test_buckets_of_users_give_the_same(
    case: Case, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, path, levels = some(case, tmp_path)
    whole = {kind: counted(engine, path, case, after(kind, levels)) for kind in kinds(case, 5, 3)}
    monkeypatch.setattr(duckdb, "_BYTES_PER_ROW", engine.working_memory * 4 // len(rows))
    assert engine.buckets(len(rows), 0) in (4, 5)
    for kind, wanted in whole.items():
        assert counted(engine, path, case, after(kind, levels)) == wanted


@pytest.mark.parametrize("family", FAMILIES)
def test_one_person_changes_little(family: str, tmp_path: Path, engine: DuckDB) -> None:
    """Counts move by one each, and no more of them than are her part, whatever she has."""
    case = Case(family, basket=True, timed=True)
    chance = random.Random(family)
    names = NAMES[:6]
    levels = oracle.released(chance, family, names, 3, share=1)
    others = [row for row in people(chance, 1, 12) if visible(row)]
    # All things in each of many baskets: as much as one can have.
    greedy = [Row("u0", (name,), str(number), number) for number in range(40) for name in names * 2]
    without = [row for row in others if row.user != "u0"]
    tables = {"hers": others, "greedy": [*without, *greedy], "gone": without}
    paths = {name: write(tmp_path / f"{name}.parquet", rows) for name, rows in tables.items()}
    for kind in kinds(case, 4):
        known = after(kind, levels)
        found = {name: counted(engine, path, case, known) for name, path in paths.items()}
        for rows in ("hers", "greedy"):
            more, less = found[rows] - found["gone"], found["gone"] - found[rows]
            assert not less
            assert set(more.values()) <= {1}
            assert more.total() <= math.comb(4, kind.size)
        one, other = found["greedy"] - found["hers"], found["hers"] - found["greedy"]
        assert max((one | other).values(), default=0) <= 1
        assert one.total() <= math.comb(4, kind.size)
        assert other.total() <= math.comb(4, kind.size)
        most = found["greedy"] - found["gone"]  # the bound is not one that nobody reaches
        assert most.total() == math.comb(4, kind.size)


def visible(row: Row) -> bool:
    return bool(row.user.strip())


@pytest.mark.parametrize("case", [case for case in CASES if case.family == "itemsets"], ids=str)
def test_no_set_has_more_people_than_its_parts(case: Case, tmp_path: Path, engine: DuckDB) -> None:
    _, path, levels = some(case, tmp_path)
    counts: Counter[Names] = Counter()
    for kind in kinds(case, 5):
        counts |= counted(engine, path, case, after(kind, levels))
    assert max(map(len, counts)) == LARGEST
    for item, count in counts.items():
        for size in range(1, len(item)):
            assert all(count <= counts[part] for part in combinations(item, size))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_limits_a_set(family: str) -> None:
    """Pairs by single things as they were counted again; larger sets by the smaller ones."""
    names: Published = {("a",): 9, ("b",): 8, ("c",): 7}
    pairs = dict.fromkeys(oracle.possible("itemsets", "abc", 2), 3)
    case = Case(family, basket=True)
    _, two, three = (after(kind, [names, pairs]).grown for kind in kinds(case, 3, 3))
    assert two is not None
    assert two.limit is not None
    assert three is not None
    again = np.array([-9, -8, -7])
    assert two.limit.tolist() == np.minimum(again[two.parent], again[two.last]).tolist()
    assert (three.limit is None) == (family == "sequences")


def test_a_sequence_may_have_more_people_than_its_parts(tmp_path: Path, engine: DuckDB) -> None:
    """Of four pairs a person keeps three, and not the last, which is in all she has of three."""
    history = ["a", "b", "c", "rare", "a", "a", "rare", "b", "b"]
    rows = [Row(f"u{n}", (name,), str(b)) for n in range(9) for b, name in enumerate(history)]
    path = write(tmp_path / "table.parquet", rows)
    case = Case("sequences", basket=True)
    things: Published = {("a",): 9, ("b",): 8, ("c",): 1}
    pairs: Published = {("a", "b"): 9, ("b", "c"): 1}
    _, two, three = (
        counted(engine, path, case, after(kind, [things, pairs])) for kind in kinds(case, 3, 3)
    )
    assert two == {("a", "a"): 9, ("a", "b"): 9, ("b", "b"): 9}
    assert three == {("a", "b", "c"): 9}


# Single cases, by hand


def sequences_of(
    engine: DuckDB, path: Path, lines: Sequence[str], *, size: int = 2, **how: Any
) -> Counter[Names]:
    """Of a table, where each of a, b, c, d was published."""
    path.write_text("\n".join(lines) + "\n")
    *_, kind = sequences(*how.pop("columns", ["thing"]), max_size=size, items_per_user=4, **how)
    levels: list[Published] = [{(name,): 1 for name in "abcd"}]
    for number in range(2, size):
        levels.append(dict.fromkeys(oracle.possible("sequences", "abcd", number), 1))
    case = Case("sequences", basket="basket" in how, timed="when" in lines[0])
    assert isinstance(kind, CombinedKind)
    return counted(engine, path, case, after(kind, levels))


def test_all_of_one_moment_is_together(tmp_path: Path, engine: DuckDB) -> None:
    """Nobody can tell which of two things of one moment came first, whatever their names are."""
    lines = [
        "user,thing,when",
        "1,a,2026-01-01 10:00",
        "1,b,2026-01-01 10:00",
        "1,c,2026-01-01 10:01",
        "1,d,",
    ]
    found = sequences_of(engine, tmp_path / "log.csv", lines)
    assert found == {("a", "c"): 1, ("b", "c"): 1}


def test_things_of_one_row_do_not_follow_each_other(tmp_path: Path, engine: DuckDB) -> None:
    lines = ["user,x,y,when", "1,a,a,2026-01-01", "1,b,c,2026-01-02", "2,b,a,2026-01-01"]
    found = sequences_of(engine, tmp_path / "log.csv", lines, columns=["x", "y"])
    assert found == {("a", "b"): 1, ("a", "c"): 1}


@pytest.mark.parametrize(
    ("baskets", "first"),
    [
        (["9", "10"], "9"),
        (["9.0", "10.0"], "9.0"),
        (["009", "10"], "009"),
        (["99999999999999999999999", "100000000000000000000000"], "99999999999999999999999"),
        (["10", "9x"], "10"),
        (["a9", "a10"], "a10"),
        (["-3", "-"], "-"),
    ],
)
def test_baskets_without_a_time_are_in_the_order_of_their_numbers(
    baskets: list[str], first: str, tmp_path: Path, engine: DuckDB
) -> None:
    lines = ["user,thing,basket", *(f"1,{'a' if b == first else 'b'},{b}" for b in baskets)]
    found = sequences_of(engine, tmp_path / "log.csv", lines, basket="basket")
    assert found == {("a", "b"): 1}


def test_a_basket_of_things_that_are_not_published_lies_between(
    tmp_path: Path, engine: DuckDB
) -> None:
    """And one in which there is no thing at all is none."""
    lines = ["user,thing,basket", "1,a,1", "1,rare,2", "1,b,3", "2,a,1", "2,?,2", "2,b,3"]
    found = sequences_of(engine, tmp_path / "log.csv", lines, basket="basket")
    assert found == {("a", "b"): 1}


def test_a_basket_that_went_on_is_where_it_began(tmp_path: Path, engine: DuckDB) -> None:
    lines = ["user,thing,basket,when", "1,a,z,2026-01-01", "1,c,y,2026-01-02", "1,b,z,2026-01-03"]
    found = sequences_of(engine, tmp_path / "log.csv", lines, basket="basket")
    assert found == {("a", "c"): 1, ("b", "c"): 1}


def test_the_same_thing_again(tmp_path: Path, engine: DuckDB) -> None:
    lines = ["user,thing,basket", *(f"1,a,{number}" for number in range(5)), "2,a,1", "2,a,1"]
    for size, users in ((1, 2), (2, 1), (3, 1)):
        found = sequences_of(engine, tmp_path / "log.csv", lines, size=size, basket="basket")
        assert found == {("a",) * size: users}


def test_of_a_large_basket_the_most_frequent_things(tmp_path: Path, engine: DuckDB) -> None:
    """Of two baskets with 30 things each 22 times 22 pairs are looked at, and not 900."""
    names = [f"thing {n:02}" for n in range(30)]
    rows = [Row("u", (name,), str(b), b) for b in range(2) for name in names]
    path = write(tmp_path / "table.parquet", rows)
    *_, kind = sequences("thing_0", max_size=2, items_per_user=40, basket="basket")
    assert isinstance(kind, CombinedKind)
    levels: list[Published] = [{(name,): n for n, name in enumerate(names)}]
    found = counted(engine, path, Case("sequences", basket=True), after(kind, levels))
    assert set(found) == {(one, other) for one in names[-22:] for other in names[-22:]}
    assert len(found) == 484 < kind.items_per_user == 780


def test_who_has_more_keeps_what_was_published_most(tmp_path: Path, engine: DuckDB) -> None:
    rows = [Row("u", (name,), str(b), b) for b in range(2) for name in "abc"]
    path = write(tmp_path / "table.parquet", rows)
    *_, kind = sequences("thing_0", max_size=2, items_per_user=3, basket="basket")
    assert isinstance(kind, CombinedKind)
    levels: list[Published] = [{("a",): 1, ("b",): 3, ("c",): 2}]
    case = Case("sequences", basket=True)
    found = counted(engine, path, case, after(kind, levels))
    assert ("b", "b") in found  # its least part has 3; of the three with 2 two are left
    assert len(found) == 3
    assert set(found) <= {("b", "b"), ("b", "c"), ("c", "b"), ("c", "c")}


# Kinds


def test_the_kinds_of_a_family() -> None:
    made = itemsets("x", "y", max_size=3, items_per_user=5, basket="b")
    assert [kind.name() for kind in made] == [
        "people",
        "things:x/y",
        "itemsets-1:x/y",
        "itemsets-2:x/y",
        "itemsets-3:x/y",
    ]
    assert [kind.items_per_user for kind in made] == [1, 5, 5, 10, 10]
    assert [kind.columns() for kind in made[:4]] == [
        ("who",),
        ("item_1",),
        ("item_1",),
        ("item_1", "item_2"),
    ]
    assert made[3].builds_on() == ("things:x/y", "itemsets-1:x/y")
    assert isinstance(made[0], People)
    assert isinstance(made[1], Things)
    assert made[3].settings() == {"by": None, "basket": "b", "things": 5}
    assert set(made[3].extra_columns()) == {"x", "y", "b"}


def test_a_set_is_not_counted_before_its_parts(tmp_path: Path, engine: DuckDB) -> None:
    path = write(tmp_path / "table.parquet", [Row("u", ("a",), "1", 1)])
    for kind in kinds(Case("itemsets", basket=True), 4):
        with pytest.raises(UsageError, match="publish those first"):
            counted(engine, path, Case("itemsets", basket=True), kind)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_size": 6}, "up to 5 things"),
        ({"max_size": 0}, "max_size must be a whole number of at least 1"),
        ({"max_size": 2.0}, "max_size must be a whole number"),
        ({"max_size": 5, "items_per_user": 4}, "no set of 5 can be made"),
        ({"items_per_user": 0}, "items_per_user must be a whole number"),
        ({"items_per_user": 142, "max_size": 2}, "more than 10,000 sets of 2"),
        ({"items_per_user": 41, "max_size": 3}, "more than 10,000 sets of 3"),
    ],
)
def test_what_cannot_be(given: dict[str, Any], told: str) -> None:
    for family in (itemsets, sequences):
        with pytest.raises(UsageError, match=told):
            family("x", **{"max_size": 3, "items_per_user": 5, **given})


@pytest.mark.parametrize("names", [[], [""], ["x", ""], ["x", "x"]])
def test_columns_that_cannot_be(names: list[str]) -> None:
    with pytest.raises(UsageError, match=r"columns that hold things: itemsets:A/B"):
        itemsets(*names, max_size=2, items_per_user=3)
