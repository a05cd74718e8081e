"""Sets and sequences: plans in files, the budget, what is verified, and public files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Run
from families import FAMILIES

import zealous as z
from zealous.errors import LogError, UsageError
from zealous.items import Kind, Things, itemsets, kind_by_name
from zealous.logs.log import Columns
from zealous.mechanisms.public_files import read_public
from zealous.planning.plan import plan
from zealous.planning.plan_file import read_plan, write_plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP

USERS = 60
EXACT = ["--users", 200, "--epsilon", 9000, "--delta", 0.5, "--items-per-user", 4]
PEOPLES = Indistinguishability(epsilon="7/3", delta="1e-6")
ANYBODYS = ProbabilisticDP(epsilon="7/3", delta="1/1000", users=5000)


def shop(tmp_path: Path) -> Path:
    """All bought tea and milk, half of them bread later; nobody the fourth thing of the shop."""
    lines = ["customer,invoice,when,product"]
    for user in range(USERS):
        lines += [f"c{user},{user}.1,2026-01-01 10:00,{name}" for name in ("tea", "milk")]
        if user % 2:
            lines.append(f"c{user},{user}.2,2026-01-02 10:00,bread")
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "shop.csv"


def publish(run: Run, *arguments: object, out: str = "out") -> dict[str, Any]:
    """Publish, let it be verified, and give what release.json says."""
    table = ["shop.csv", "--user", "customer", "--time", "when"]
    done = run("publish", *table, *arguments, "-o", out, "--json")
    assert done.code == 0, done.stderr
    checked = run("verify", out)
    assert checked.code == 0, checked.stdout
    about: dict[str, Any] = json.loads(done.stdout)
    return about


def rows(folder: Path, name: str) -> dict[Any, int]:
    found = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return {tuple(row.values())[:-3]: row["count"] for row in found}


def shares(about: Mapping[str, Any], of: str) -> dict[str, Fraction]:
    return {part["kind"]: Fraction(part["exact"][of]) for part in about["plan"]}


# The budget


@pytest.mark.parametrize("goal", [PEOPLES, ANYBODYS], ids=["indistinguishable", "probabilistic"])
@pytest.mark.parametrize("family", FAMILIES)
def test_shares_add_up_and_only_what_needs_it_has_a_delta(family: str, goal: Guarantee) -> None:
    kinds = FAMILIES[family]("product", max_size=5, items_per_user=7)
    planned = plan(goal, kinds)
    parts = {part.name(): part for part in planned.parts}
    added = sum(part.goal.epsilon for part in planned.parts)
    assert added > goal.epsilon if goal is PEOPLES else added == goal.epsilon  # losses compose
    assert planned.delta_achieved <= goal.delta
    assert all(part.delta <= part.goal.delta for part in planned.parts)
    noise = "of-smaller-gaussian" if goal is PEOPLES else "of-smaller"
    assert [part.mechanism.name for part in planned.parts] == [
        "listed",
        "zealous",
        "listed",
        *[noise] * 4,
    ]
    exposed = {name for name, part in parts.items() if part.goal.delta}
    assert exposed == (
        {"things:product", *(f"{family}-{size}:product" for size in range(2, 6))}
        if goal is PEOPLES
        else {"things:product"}
    )
    assert parts[f"{family}-3:product"].mechanism.items_per_user == 35


def test_all_of_the_noise_is_for_as_many_sets_as_one_person_has() -> None:
    """Laplace noise of scale 2m/epsilon, m being the sets of a size that q things make."""
    planned = plan(ANYBODYS, itemsets("product", max_size=3, items_per_user=5))
    for part, m in zip(planned.parts, (1, None, 5, 10, 10), strict=True):
        if m is not None:
            assert part.mechanism.scale == Fraction(2 * m) / part.goal.epsilon


# Plans in files


@pytest.mark.parametrize(
    ("goal", "basket", "largest"),
    [(PEOPLES, None, 2), (ANYBODYS, None, 5), (ANYBODYS, "a+b: c", 3)],
)
def test_a_plan_survives_the_file(
    goal: Guarantee, basket: str | None, largest: int, tmp_path: Path
) -> None:
    kinds: list[Kind] = []
    for make in FAMILIES.values():
        made = make("x-1", "y:2", max_size=largest, items_per_user=6, basket=basket)
        kinds += [kind for kind in made if kind.name() not in {each.name() for each in kinds}]
    weights = {kind.name(): f"{number}/7" for number, kind in enumerate(kinds, 1)}
    planned = plan(goal, kinds, split=weights).for_log(Columns(user="who", time="when"))
    write_plan(planned, tmp_path / "plan.json")
    found = read_plan(tmp_path / "plan.json")
    assert replace(found, approved_file=None) == planned
    assert found.kinds() == kinds


def test_a_kind_is_known_by_its_name_and_settings() -> None:
    for family in FAMILIES.values():
        for kind in family("a-1:b", "c", max_size=5, items_per_user=9, basket="x"):
            assert kind_by_name(kind.name(), kind.items_per_user, kind.settings()) == kind


@pytest.mark.parametrize("family", FAMILIES)
def test_publish_carries_out_a_plan(family: str, run: Run, tmp_path: Path) -> None:
    shop(tmp_path)
    wish = ["--items", f"{family}:product", "--max-size", 2, "--basket", "invoice", *EXACT]
    assert run("plan", *wish, "--user", "customer", "--time", "when", "-o", "plan.json").code == 0
    about = publish(run, "--plan", "plan.json")
    approved = json.loads((tmp_path / "plan.json").read_text())
    assert about["approved_plan"] == read_plan(tmp_path / "plan.json").approved
    for stated, wanted in zip(about["plan"], approved["parts"], strict=True):
        assert stated == {**wanted, "select": "random"}
    pairs = {("milk", "tea"): 60}
    if family == "sequences":
        pairs = {("tea", "bread"): 30, ("milk", "bread"): 30}
    assert rows(tmp_path / "out", f"{family}-2-product") == pairs
    more: tuple[list[object], ...] = (["--max-size", 3], ["--basket", "invoice"])
    for each in more:
        done = run(
            "publish", "shop.csv", "--user", "customer", "--plan", "plan.json", *each, "-o", "other"
        )
        assert done.code == 2
        assert str(each[0]) in done.stderr
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"things": 4', '"things": 5'),
        ("itemsets-2:product", "itemsets-3:product"),
        ("itemsets-2:", "sequences-2:"),
    ],
)
def test_a_changed_plan_is_refused(old: str, new: str, run: Run, tmp_path: Path) -> None:
    wish = ["--items", "itemsets:product", "--max-size", 2, "--basket", "invoice", *EXACT]
    run("plan", *wish, "-o", "plan.json")
    text = (tmp_path / "plan.json").read_text()
    assert old in text
    (tmp_path / "plan.json").write_text(text.replace(old, new, 1))
    shop(tmp_path)
    done = run("publish", "shop.csv", "--user", "customer", "--plan", "plan.json", "-o", "out")
    assert done.code in (1, 2)
    assert not (tmp_path / "out").exists()


# Guarantees and mechanisms


def test_both_families_are_verified(run: Run, tmp_path: Path) -> None:
    shop(tmp_path)
    items = ["--items", "itemsets:product,sequences:product", "--items-per-user", 4]
    goal = ["--users", 100, "--epsilon", 60, "--delta", "0.001"]
    about = publish(run, *items, "--max-size", 3, *goal)
    assert [part["kind"] for part in about["plan"]] == [
        "people",
        "things:product",
        *(f"itemsets-{n}:product" for n in (1, 2, 3)),
        *(f"sequences-{n}:product" for n in (1, 2, 3)),
    ]
    assert sum(shares(about, "epsilon").values()) == 60
    delta = shares(about, "delta")
    assert {name: share for name, share in delta.items() if share} == {
        "things:product": Fraction(1, 1000)
    }


GAUSSIAN = shlex.split(
    "--guarantee indistinguishable --epsilon 9000 --delta 0.001 --accept-delta "
    "--items itemsets:product --max-size 2"
)


@pytest.mark.parametrize("name", ["pooled", "things:product=pooled"])
def test_another_mechanism_for_the_things(name: str, run: Run, tmp_path: Path) -> None:
    shop(tmp_path)
    about = publish(run, *GAUSSIAN, "--items-per-user", 4, "--mechanism", name)
    used = {part["kind"]: part["mechanism"] for part in about["plan"]}
    assert used.pop("things:product") == "pooled"
    assert set(used.values()) == {"listed", "of-smaller-gaussian"}
    assert sum(shares(about, "epsilon").values()) > 9000  # losses compose
    assert sum(shares(about, "delta").values()) <= Fraction(1, 1000)
    pairs = rows(tmp_path / "out", "itemsets-2-product")
    assert abs(pairs["milk", "tea"] - 60) < 15


@pytest.mark.parametrize("name", ["laplace", "gaussian", "pooled", "auto"])
def test_one_name_is_for_the_things_alone(name: str) -> None:
    kinds = itemsets("product", max_size=2, items_per_user=3)
    planned = plan(PEOPLES, kinds, mechanism=name)
    things = "pooled" if name == "auto" else name
    assert [part.mechanism.name for part in planned.parts] == [
        "listed",
        things,
        "listed",
        "of-smaller-gaussian",
    ]
    assert planned == plan(PEOPLES, kinds, mechanism={"things:product": name})


# Public files


LISTS = {
    "product.csv": "product\n tea\nmilk\nbread\nnobody's\n?\n",
    "catalogue.csv": "sku,product,price\n1,tea,2\n2,milk,3\n3,bread,4\n4,nobody's,5\n5,-,5\n",
    "item.csv": "item_1,product\ntea,x\nmilk,y\nbread,z\nnobody's,x\n,x\n",
    "counts.csv": "name,count\nnobody's,1\nbread,30\nmilk,50\ntea,60\n \t,9\n",
    "list.txt": "tea\nmilk\nbread\nnobody's\n--\n",
}


@pytest.mark.parametrize("file", LISTS)
def test_a_public_list_of_things(file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(LISTS[file])
    for names, basket in ((("product",), None), (("product", "gift"), "invoice")):
        kind = Things(names=names, items_per_user=3, basket=basket)
        found = read_public(tmp_path / file, kind)
        assert found.table["item_1"].to_pylist() == ["tea", "milk", "bread", "nobody's"]
        assert (found.rows, found.skipped) == (5, 1)


def test_lists_that_are_none(tmp_path: Path) -> None:
    kind = Things(names=("x", "y"), items_per_user=3)
    for text, error, told in (
        ("sku,price\n1,2\n", UsageError, "in one column, called item_1"),
        ("x,y\na,b\n", UsageError, "in one column, called item_1"),
        ("x,price\n?,2\n-,3\n", LogError, "lists no things:x/y"),
    ):
        (tmp_path / "list.csv").write_text(text)
        with pytest.raises(error, match=told):
            read_public(tmp_path / "list.csv", kind)


@pytest.mark.parametrize("family", FAMILIES)
def test_with_a_catalogue_there_is_no_delta(family: str, run: Run, tmp_path: Path) -> None:
    shop(tmp_path)
    (tmp_path / "catalogue.csv").write_text(LISTS["catalogue.csv"])
    items = ["--items", f"{family}:product", "--max-size", 2, "--items-per-user", 4]
    domain = ["--domain", "things:product=catalogue.csv"]
    about = publish(run, *items, "--basket", "invoice", "--epsilon", 9000, *domain)
    assert about["guarantee"]["delta"] == 0
    assert set(shares(about, "delta").values()) == {0}
    assert sum(shares(about, "epsilon").values()) == 9000
    single = {("tea",): 60, ("milk",): 60, ("bread",): 30, ("nobody's",): 0}
    assert rows(tmp_path / "out", "things-product") == single
    assert rows(tmp_path / "out", f"{family}-1-product") == single
    pairs = rows(tmp_path / "out", f"{family}-2-product")
    assert pairs == (
        {("milk", "tea"): 60}
        if family == "itemsets"
        else {("tea", "bread"): 30, ("milk", "bread"): 30}
    )
    assert about["plan"][1]["public"]["name"] == "catalogue.csv"


def test_what_is_known_to_be_frequent_steers(run: Run, tmp_path: Path) -> None:
    """A list, then the release that it led to."""
    shop(tmp_path)
    (tmp_path / "prior.csv").write_text("sku,product,count\n1,bread,9\n2,tea,8\n")
    items = [*GAUSSIAN, "--items-per-user", 2]
    for prior, out in (("prior.csv", "first"), ("first", "second")):
        about = publish(run, *items, "--prior", f"things:product={prior}", out=out)
        assert about["plan"][1]["mechanism"] == "prior"
        found = rows(tmp_path / out, "things-product")
        assert found.keys() >= {("bread",), ("tea",)}


def test_a_review_takes_rows_out(run: Run, tmp_path: Path) -> None:
    shop(tmp_path)
    publish(run, "--items", "itemsets:product", "--max-size", 2, *EXACT)
    (tmp_path / "blocked.txt").write_text("bread\n")
    done = run("review", "out", "--block", "blocked.txt", "-o", "child")
    assert done.code == 0, done.stderr
    assert run("verify", "child", "--parent", "out").code == 0
    assert rows(tmp_path / "child", "itemsets-1-product") == {("tea",): 60, ("milk",): 60}
    assert rows(tmp_path / "child", "itemsets-2-product") == {("milk", "tea"): 60}


def test_a_list_in_parquet_with_another_type(tmp_path: Path) -> None:
    pq.write_table(pa.table({"product": [7, 12], "price": [1, 2]}), tmp_path / "list.parquet")
    kind = Things(names=("product",), items_per_user=3)
    found = read_public(tmp_path / "list.parquet", kind)
    assert found.table["item_1"].to_pylist() == ["7", "12"]


def test_a_plus_joins_columns_so_a_column_with_one_in_its_name_is_renamed_first(
    tmp_path: Path,
) -> None:
    text = shop(tmp_path).read_text()
    (tmp_path / "plus.csv").write_text(text.replace("product", "a+b", 1))
    log = z.read_log(tmp_path / "plus.csv", columns=z.Columns(user="customer"))
    goal = ProbabilisticDP(epsilon=9000, delta="0.5", users=200)
    with pytest.raises(UsageError, match="no column 'a'"):
        z.publish(log, goal, itemsets("a+b", max_size=2, items_per_user=4), account=None)


def test_releases_whose_names_have_a_plus_are_still_read() -> None:
    """As those of several columns had before 0.2.0."""
    for name in ("things:a+b", "itemsets-2:a+b", "sequences-2:a+b"):
        assert kind_by_name(name, 3).name() == name


def test_things_of_several_columns(run: Run, tmp_path: Path) -> None:
    lines = [f"c{user},2026-01-01,tea,milk" for user in range(USERS)]
    (tmp_path / "shop.csv").write_text("\n".join(["customer,when,one,other", *lines]) + "\n")
    publish(run, "--items", "itemsets:one/other", "--max-size", 2, *EXACT)
    assert rows(tmp_path / "out", "itemsets-2-one-other").keys() == {("milk", "tea")}
