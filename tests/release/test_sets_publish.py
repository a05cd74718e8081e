"""Sets and sequences through the command line: strange tables, wrong usage, and nothing left."""

from __future__ import annotations

import csv
import gzip
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sets_oracle as oracle
from click.testing import CliRunner
from conftest import Ran, Run
from families import FAMILIES

from zealous.cli import cli
from zealous.errors import UsageError

USERS = 40
# All but exact: the noise is 0, and a thing of a few people appears.
GOAL = ["--users", 200, "--epsilon", 9000, "--delta", 0.5, "--items-per-user", 5]
Publish = Callable[..., Ran]
Rows = Iterable[tuple[object, ...]]


@pytest.fixture
def publish(run: Run, tmp_path: Path) -> Publish:
    """Publish into a directory; where that fails nothing is left, and no ledger is charged."""

    def command(table: str, items: str, *arguments: object, out: str = "out") -> Ran:
        before = {*tmp_path.iterdir(), tmp_path / "tmp"}
        ran = run(
            "publish", table, "--user", "customer", "--items", items, *GOAL, *arguments, "-o", out
        )
        assert "unforeseen" not in ran.said
        assert "Traceback" not in ran.said
        if ran.code:
            assert set(tmp_path.iterdir()) == before
            assert ran.stdout == ""
        assert list((tmp_path / "tmp").iterdir()) == []
        return ran

    return command


def write(path: Path, rows: Rows, columns: str = "customer,invoice,when,product") -> Path:
    names = columns.split(",")
    cells = [*zip(*rows, strict=True)] or [()] * len(names)
    if path.suffix == ".parquet":
        texts = [
            pa.array([None if c is None else str(c) for c in each], pa.string()) for each in cells
        ]
        pq.write_table(pa.table(dict(zip(names, texts, strict=True))), path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *zip(*cells, strict=True)])
    return path


def shop(users: int = USERS) -> list[tuple[object, ...]]:
    """All buy tea and milk at once; half of them bread next, and some tea once more."""
    rows: list[tuple[object, ...]] = []
    for user in range(users):
        rows += [(f"c{user}", f"i{user}-1", "2026-01-01 10:00", name) for name in ("tea", "milk")]
        if user % 2:
            rows.append((f"c{user}", f"i{user}-2", "2026-01-02 10:00", "bread"))
        if user % 4 == 3:
            rows.append((f"c{user}", f"i{user}-3", "2026-01-03 10:00", "tea"))
    return rows


def published(folder: Path, kind: str) -> dict[Any, int]:
    """A table of a release, read from Parquet; in CSV it is the same."""
    rows = pq.read_table(folder / f"{kind}.parquet").to_pylist()
    with (folder / f"{kind}.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{k: str(v) for k, v in row.items()} for row in rows]
    found = {tuple(row.values())[:-3]: row["count"] for row in rows}
    assert len(found) == len(rows)
    return found


def tables(
    folder: Path, family: str, largest: int, column: str = "product"
) -> list[dict[Any, int]]:
    return [published(folder, f"{family}-{size}-{column}") for size in range(1, largest + 1)]


SETS = [
    {("tea",): 40, ("milk",): 40, ("bread",): 20},
    {("milk", "tea"): 40, ("bread", "tea"): 20, ("bread", "milk"): 20},
    {("bread", "milk", "tea"): 20},
]
FOLLOWING = [
    {("tea",): 40, ("milk",): 40, ("bread",): 20},
    {("tea", "bread"): 20, ("milk", "bread"): 20, ("bread", "tea"): 10},
    {("tea", "bread", "tea"): 10, ("milk", "bread", "tea"): 10},
]


def test_sets_of_all_that_people_have(publish: Publish, tmp_path: Path) -> None:
    write(tmp_path / "shop.csv", shop())
    ran = publish("shop.csv", "itemsets:product")
    assert ran.code == 0, ran.stderr
    assert published(tmp_path / "out", "people") == {("everyone",): USERS}
    assert published(tmp_path / "out", "things-product") == SETS[0]
    assert tables(tmp_path / "out", "itemsets", 3) == SETS


def test_sets_of_baskets(publish: Publish, tmp_path: Path) -> None:
    write(tmp_path / "shop.csv", shop())
    assert publish("shop.csv", "itemsets:product", "--basket", "invoice").code == 0
    assert tables(tmp_path / "out", "itemsets", 3) == [SETS[0], {("milk", "tea"): 40}, {}]


@pytest.mark.parametrize(
    "order",
    [["--time", "when"], ["--basket", "invoice"], ["--time", "when", "--basket", "invoice"]],
)
def test_sequences(order: list[str], publish: Publish, tmp_path: Path) -> None:
    write(tmp_path / "shop.csv", shop())
    assert publish("shop.csv", "sequences:product", *order, "--select", "frequent").code == 0
    assert tables(tmp_path / "out", "sequences", 3) == FOLLOWING


def test_both_at_once_and_the_first_in_time(publish: Publish, tmp_path: Path) -> None:
    write(tmp_path / "shop.csv", shop())
    items = "itemsets:product,sequences:product"
    ran = publish("shop.csv", items, "--time", "when", "--select", "first", "--max-size", 2)
    assert ran.code == 0, ran.stderr
    assert ran.stderr.count("counting people") == ran.stderr.count("counting things") == 1
    assert tables(tmp_path / "out", "itemsets", 2) == SETS[:2]
    assert tables(tmp_path / "out", "sequences", 2) == FOLLOWING[:2]


def test_days_and_sessions(publish: Publish, tmp_path: Path) -> None:
    """A day of a user is then who has things: bread is bought on a day of its own."""
    write(tmp_path / "shop.csv", shop())
    for unit in ("user-day", "session"):
        how = ["--time", "when", "--unit", unit, "--max-size", 2, "--no-ledger"]
        ran = publish("shop.csv", "itemsets:product", *how, out=unit)
        assert ran.code == 0, ran.stderr
        assert published(tmp_path / unit, "people") == {("everyone",): 70}
        assert tables(tmp_path / unit, "itemsets", 2) == [
            {("tea",): 50, ("milk",): 40, ("bread",): 20},
            {("milk", "tea"): 40},
        ]
    ran = publish("shop.csv", "sequences:product", *how, out="in order")
    assert ran.code == 0, ran.stderr
    assert tables(tmp_path / "in order", "sequences", 2)[1] == {}


# Things


STRANGE = ["a,b", "a+b", "a + b", "a|b", "a;b", 'a"b', "'a'", "a\\b", "a/b", "日本", "x:y", "%s"]


def test_no_character_parts_things(publish: Publish, tmp_path: Path) -> None:
    """Each thing of a set has a column of its own, so that nothing stands between them."""
    rows = [(f"c{user}", "1", None, name) for user in range(9) for name in STRANGE]
    write(tmp_path / "shop.parquet", rows)
    goal = ["--items-per-user", len(STRANGE), "--max-size", 2]
    ran = publish("shop.parquet", "itemsets:product", *goal, "--basket", "invoice")
    assert ran.code == 0, ran.stderr
    single, pairs = tables(tmp_path / "out", "itemsets", 2)
    assert single == {(name,): 9 for name in STRANGE}
    names = sorted(STRANGE)
    assert pairs == {(one, other): 9 for one in names for other in names if one < other}


def test_lines_and_tabs_are_blanks_and_formulas_are_text(publish: Publish, tmp_path: Path) -> None:
    rows = [
        (f"c{user}", None, None, name)
        for user in range(9)
        for name in ("a\nb", "a \t b", "a\r\nb", "=1+1", "+x", " tidy ")
    ]
    write(tmp_path / "shop.parquet", rows)
    assert publish("shop.parquet", "itemsets:product", "--max-size", 2).code == 0
    found = pq.read_table(tmp_path / "out" / "itemsets-2-product.parquet").to_pylist()
    pairs = {(row["item_1"], row["item_2"]) for row in found}
    assert pairs == {
        ("+x", "=1+1"),
        ("+x", "a b"),
        ("+x", "tidy"),
        ("=1+1", "a b"),
        ("=1+1", "tidy"),
        ("a b", "tidy"),
    }
    text = (tmp_path / "out" / "itemsets-2-product.csv").read_text()
    assert "'+x,'=1+1,9,9,9\n" in text


def test_what_is_no_thing_and_what_is_one(publish: Publish, tmp_path: Path) -> None:
    """Of three columns the same thing is one, as is one that comes twice in a basket."""
    rows: list[tuple[object, ...]] = []
    for user in range(20):
        rows += [
            (user, 1, "flu", "flu", "?"),
            (user, 1, " flu", "-", ""),
            (user, 2, "cold", "?", ".."),
        ]
        rows += [(user, "", "flu", "gout", "gout"), (user, " ", "gout", "flu", "cold")]
    write(tmp_path / "visits.csv", rows, "customer,visit,diag_1,diag_2,diag_3")
    column = "diag_1/diag_2/diag_3"
    ran = publish("visits.csv", f"itemsets:{column}", "--basket", "visit", "--max-size", 2)
    assert ran.code == 0, ran.stderr
    single, pairs = tables(tmp_path / "out", "itemsets", 2, column.replace("/", "-"))
    assert single == {("flu",): 20, ("cold",): 20}  # gout is in no basket
    assert pairs == {}
    ran = publish("visits.csv", f"itemsets:{column}", "--max-size", 2, out="all")
    assert ran.code == 0, ran.stderr
    pairs = tables(tmp_path / "all", "itemsets", 2, column.replace("/", "-"))[1]
    assert pairs == {("cold", "flu"): 20, ("cold", "gout"): 20, ("flu", "gout"): 20}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("rows", "single"),
    [
        ([], {}),
        ([(f"c{user}", "1", "", "tea") for user in range(9)], {("tea",): 9}),
        ([(f"c{user}", "1", "", "?") for user in range(9)], {}),
    ],
    ids=["a header alone", "one thing each", "nothing that is a thing"],
)
def test_nothing_to_put_together(
    rows: list[Any], single: dict[Any, int], publish: Publish, run: Run, tmp_path: Path
) -> None:
    write(tmp_path / "shop.csv", rows)
    for family in ("itemsets", "sequences"):
        basket = ("--basket", "invoice", "--unattended")
        ran = publish("shop.csv", f"{family}:product", *basket, out=family)
        assert ran.code == 0, ran.stderr
        assert f"{family}-2:product: no item made of published ones stood out" in ran.stdout
        assert published(tmp_path / family, "people") == {("everyone",): len(rows)}
        assert tables(tmp_path / family, family, 3) == [single, {}, {}]
        assert rows or run("verify", family).code == 0


NAMES = ("tea", "milk", "bread", "jam", "eggs", "salt")
ROBOTS = {
    "one basket": [("robot", "r", 0, f"thing {n}") for n in range(100_000)]
    + [("robot", "r", 0, name) for name in NAMES],
    "a basket each": [("robot", f"r{n}", 0, f"thing {n}") for n in range(100_000)]
    + [("robot", "s", 0, name) for name in NAMES],
}


@pytest.mark.extended
def test_a_person_with_100_000_things(publish: Publish, tmp_path: Path) -> None:
    """Takes seconds, else it is stopped, and counts as any other: at most for five things."""
    usual = [(f"c{u}", u, 0, each) for u in range(50) for each in NAMES[u % 3 : u % 3 + 4]]
    found: dict[str, list[dict[Any, int]]] = {}
    for name, robot in {"without": [], **ROBOTS}.items():
        write(tmp_path / f"{name}.parquet", [*usual, *robot])
        found[name] = []
        for family in ("itemsets", "sequences"):
            how = ["--basket", "invoice", "--memory", "1GB", "--no-ledger"]
            how += ["--limits", "entries=200000"]  # all of them are looked at
            ran = publish(f"{name}.parquet", f"{family}:product", *how, out=f"{name} {family}")
            assert ran.code == 0, ran.stderr
            found[name] += tables(tmp_path / f"{name} {family}", family, 3)
    without = found.pop("without")
    for counted in found.values():
        for number, (one, other) in enumerate(zip(without, counted, strict=True)):
            changed = [other.get(item, 0) - one.get(item, 0) for item in one.keys() | other.keys()]
            assert set(changed) <= {0, 1}
            assert sum(changed) <= (5, 10, 10)[number % 3]
        assert sum(counted[0].values()) == sum(without[0].values()) + 5


PEAK = """import atexit, sys
from pathlib import Path


@atexit.register
def tell():
    told = Path("/proc/self/status").read_text().splitlines()
    print(*(line for line in told if "VmHWM" in line), file=sys.stderr)


from zealous.cli import main

main()
"""


@pytest.mark.extended
def test_the_memory_that_a_person_takes(tmp_path: Path) -> None:
    """Of a process of its own: with one who has every thing in each of 20,000 baskets."""
    usual = [(f"c{u}", u, 0, name) for u in range(50) for name in NAMES]
    robot = [("robot", n, 0, name) for n in range(20_000) for name in NAMES]
    write(tmp_path / "shop.parquet", [*usual, *robot])
    asked = [
        "publish",
        "shop.parquet",
        "--user",
        "customer",
        "--items",
        "sequences:product",
        *GOAL,
        "--basket",
        "invoice",
        "--memory",
        "1GB",
        "--no-ledger",
        "-o",
        "out",
    ]
    # What a child is said to have used includes what its parent had when it was begun: so it says
    # itself what it took, from where it was loaded on.
    (tmp_path / "program.py").write_text(PEAK)
    command = [sys.executable, "program.py", *map(str, asked)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.rpartition("VmHWM:")[2].split()[0]) < 2_000_000  # in KB
    _, pairs, threes = tables(tmp_path / "out", "sequences", 3)
    assert (sum(pairs.values()), sum(threes.values())) == (10, 10)  # nobody else has two baskets


# Usage


WRONG: dict[str, tuple[str, list[object], str]] = {
    "size 0": ("itemsets:product", ["--max-size", 0], "--max-size must be a whole number"),
    "size -1": ("itemsets:product", ["--max-size", -1], "--max-size must be a whole number"),
    "size 6": ("itemsets:product", ["--max-size", 6, "--items-per-user", 9], "up to 5 things"),
    "size text": ("itemsets:product", ["--max-size", "two"], "--max-size"),
    "size above m": (
        "itemsets:product",
        ["--max-size", 4, "--items-per-user", 3],
        "no set of 4 can be made: raise --items-per-user or lower --max-size",
    ),
    "many sets": ("itemsets:product", ["--items-per-user", 50], "more than 10,000 sets of 3"),
    "m 0": ("itemsets:product", ["--items-per-user", 0], "items_per_user must be a whole number"),
    "no such basket": ("itemsets:product", ["--basket", "basket"], "no column 'basket'"),
    "no such thing": ("itemsets:products", [], "no column 'products'"),
    "one of two": ("itemsets:product/x", [], "no column 'x'"),
    "basket alone": ("columns:product", ["--basket", "invoice"], "--basket goes with --items item"),
    "size alone": ("columns:product", ["--max-size", 2], "--max-size goes with --items itemsets"),
    "no order": ("sequences:product", [], "say --time COLUMN or --basket COLUMN"),
    "no column": ("itemsets:", [], "name the columns that hold things: itemsets:A/B"),
    "nothing at all": ("itemsets", [], "name the columns that hold things: itemsets:A/B"),
    "half a column": ("sequences:product/", [], "name the columns that hold things"),
    "column twice": ("itemsets:product/product", [], "name the columns that hold things"),
    "half a combination": ("itemsets:product+", [], "itemsets:A+B for things that are a value of"),
    "a column with itself": ("sequences:product+product", [], "name the columns that hold things"),
    "no such price": ("itemsets:product+price", [], "no column 'price'"),
    "no bands": ("itemsets:product", ["--bands", "product"], "bands are written as"),
    "bands of nothing": ("itemsets:product", ["--bands", "price=5"], "no part of the items"),
    "by": ("itemsets:product", ["--by", "invoice"], "--by does not go with itemsets"),
    "a size alone": ("itemsets-2:product", [], "say --items itemsets:NAME, and --max-size"),
    "a large size": (f"itemsets-{'9' * 5000}:product", [], "--items takes queries"),
    "another digit": ("itemsets-\u0662:product", [], "--items takes queries"),
    "twice": ("itemsets:product,itemsets:product", [], "can be named once"),
    "first without time": ("itemsets:product", ["--select", "first"], "say --time COLUMN"),
    "days without time": ("itemsets:product", ["--unit", "user-day"], "say --time COLUMN"),
    "mechanism": (
        "itemsets:product",
        ["--mechanism", "itemsets-2:product=zealous"],
        "use of-smaller or of-smaller-gaussian",
    ),
    "things by sets": (
        "itemsets:product",
        ["--mechanism", "things:product=of-smaller"],
        "for what is made of other items alone",
    ),
    "domain of sets": (
        "itemsets:product",
        ["--domain", "itemsets-2:product=shop.csv"],
        "does not serve items that are made of others",
    ),
    "domain of what": ("itemsets:product", ["--domain", "shop.csv"], "which kind a file is for"),
    "split of some": ("itemsets:product", ["--split", "things:product=1"], "--split must name"),
}


@pytest.mark.parametrize("name", ["size 0", "no such basket", "no order", "by", "a large size"])
def test_wrong_usage_of_the_command(name: str, publish: Publish, tmp_path: Path) -> None:
    items, arguments, told = WRONG[name]
    write(tmp_path / "shop.csv", shop(3))
    ran = publish("shop.csv", items, *arguments)
    assert ran.code == 2
    assert told in " ".join(ran.stderr.split())
    assert len(ran.stderr) < 1_000


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items, arguments, told = WRONG[name]
    path = write(tmp_path / "shop.csv", shop(3))
    monkeypatch.chdir(tmp_path)
    asked = ["publish", "shop.csv", "--user", "customer", "--items", items, *GOAL, *arguments]
    ran = CliRunner().invoke(cli, [*map(str, asked), "-o", "out"])
    if isinstance(ran.exception, UsageError):
        assert told in str(ran.exception)
    else:  # of an option, which click itself refuses
        assert ran.exit_code == 2
        assert told in ran.output
    assert list(tmp_path.iterdir()) == [path]


# A real table


@pytest.mark.soak
@pytest.mark.real
@pytest.mark.parametrize("family", FAMILIES)
def test_diagnoses(family: str, publish: Publish, real: Path, tmp_path: Path) -> None:
    """What is published is what the oracle counts, given the things that were found."""
    with gzip.open(real / "patient_diagnoses.csv.gz", "rt") as file:
        lines = list(itertools.islice(csv.reader(file), 20_000))
    write(tmp_path / "visits.csv", map(tuple, lines[1:]), "customer,visit,diag_1,diag_2,diag_3")
    how = ["--basket", "visit", "--max-size", 2, "--users", 50_000, "--epsilon", 90_000]
    assert publish("visits.csv", f"{family}:diag_1/diag_2/diag_3", *how).code == 0
    names = [
        name.format("diag_1-diag_2-diag_3")
        for name in ("things-{}", f"{family}-1-{{}}", f"{family}-2-{{}}")
    ]
    things, single, pairs = (published(tmp_path / "out", name) for name in names)
    rows = [oracle.Row(user, tuple(values), visit) for user, visit, *values in lines[1:]]
    people = oracle.histories(family, rows, basket=True, timed=False)
    settled = {"things": 5, "m": 10**9, "key": 0}
    assert len(things) > 100
    assert single == dict.fromkeys(things, 0) | oracle.counts(
        family, people, [things], size=1, **settled
    )
    right = oracle.counts(family, people, [things], size=2, **settled)
    assert len(pairs) > 100
    if family == "itemsets":
        assert pairs == right
    else:  # who has more than ten keeps some
        assert all(0 < count <= right[item] for item, count in pairs.items())
        assert sum(pairs.values()) > 0.9 * right.total()
