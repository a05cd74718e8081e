"""Forged parameters and items of a release of this version, and of reviewed ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from bundles import made
from forgeries import (
    SECRET,
    Change,
    edited,
    failed,
    row,
    without_row,
)
from forging import FIXTURES, About, Tables, forged, part, record_in, restate

from zealous.items import itemsets, keywords, queries, query_pairs
from zealous.items.text import is_normalized
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.verification.claimed_guarantee import CheckFailed, check_plan
from zealous.verification.review import review
from zealous.verification.verify import verify


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ours")
    goal = ProbabilisticDP(epsilon=20, delta="0.001", users=100)
    return made(folder, goal, [keywords(2), queries(2)]).write(folder / "out")


def restated(change: Callable[[About], object]) -> Change:
    """A change after which everything in release.json that follows is said anew."""

    def whole(about: About, _: Tables) -> None:
        change(about)
        restate(about)

    return whole


def less_likely(about: About) -> None:
    """A higher threshold, which gives the claim all the more."""
    part(about, "queries")["tau_prime"] += 1


def more_noise(about: About) -> None:
    for each in about["plan"]:
        scale = 2 * Fraction(each["exact"]["scale"])
        each.update(scale=float(scale), tau_prime=2 * each["tau_prime"])
        each["exact"]["scale"] = str(scale)


def higher_delta(about: About) -> None:
    """A total that the tables do not use."""
    about["guarantee"]["delta"], about["guarantee"]["exact"]["delta"] = 0.002, "1/500"


def delta_moved(about: About) -> None:
    for each, delta in zip(about["plan"], ("6/10000", "4/10000"), strict=True):
        each["delta"], each["exact"]["delta"] = float(Fraction(delta)), str(Fraction(delta))
    part(about, "queries")["tau_prime"] += 9


def epsilon_moved(about: About) -> None:
    for each, epsilon in zip(about["plan"], (15, 5), strict=True):
        each["epsilon"], each["exact"]["epsilon"] = float(epsilon), str(epsilon)
        each["scale"], each["exact"]["scale"] = 4 / epsilon, str(Fraction(4, epsilon))
        each["tau_prime"] += 99


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (less_likely, "queries: planned again, it has other parameters"),
        (more_noise, "keywords: planned again, it has other parameters"),
        (higher_delta, "keywords: planned again, it has another share of the budget"),
        (delta_moved, "keywords: planned again, it has another share of the budget"),
        (epsilon_moved, "keywords: planned again, it has another share of the budget"),
    ],
)
def test_parameters_that_planning_would_not_choose(
    change: Callable[[About], object], reason: str, ours: Path, tmp_path: Path
) -> None:
    assert failed(ours) == {}
    above = lambda about, tables: tables.update(  # noqa: E731
        {kind: table.slice(0, 0) for kind, table in tables.items()}
    )
    forged(ours, tmp_path / "empty", above)
    assert failed(tmp_path / "empty") == {}
    target = forged(tmp_path / "empty", tmp_path / "out", restated(change))
    found = failed(target)
    assert set(found) == {"plan"}
    assert reason in found["plan"]


@pytest.mark.parametrize(
    ("of_phrases", "of_others", "possible"),
    [
        ("random", "first", True),  # phrases are ranked by what was published
        ("first", "first", True),  # as 0.2.0 wrote it
        ("first", "random", False),
        ("frequent", "first", False),
    ],
)
def test_items_are_chosen_in_one_way_but_where_they_are_ranked(
    of_phrases: str, of_others: str, possible: bool
) -> None:
    about = json.loads((FIXTURES.parent / "0.2.0" / "tail" / "release.json").read_text())
    for each in about["plan"]:
        each["select"] = of_phrases if each["kind"].startswith("ngrams") else of_others
    record = record_in(about)
    if possible:
        assert check_plan(record, by_parent=False)
        return
    with pytest.raises(CheckFailed, match="select is one for all kinds"):
        check_plan(record, by_parent=False)


def test_a_release_of_ours_names_our_planner(ours: Path, tmp_path: Path) -> None:
    target = forged(ours, tmp_path / "out", lambda about, _: about.pop("planner"))
    assert failed(target) == {"plan": "this version of zealous plans by another planner"}


@pytest.mark.parametrize(
    "text",
    [
        "RED TEA",
        " red tea",
        "red tea ",
        "red  tea",
        "red\ntea",
        "red\0tea",
        "",
        "x" * 8193,
        "r\u00c9d tea",
        "red\u00a0tea",
        "red\u2028tea",
        "red\x85tea",
    ],
    ids=repr,
)
def test_an_item_that_no_log_gives(text: str, ours: Path, tmp_path: Path) -> None:
    def change(_: About, tables: Tables) -> None:
        table = tables["queries"]
        items = pa.array([text, *table["query"].to_pylist()[1:]], pa.string())
        tables["queries"] = table.set_column(0, "query", items)

    assert failed(forged(ours, tmp_path / "out", change)) == {
        "rows": "queries: no log gives an item with such a query"
    }


def test_letters_of_which_engines_may_not_know_that_they_are_capitals() -> None:
    """Of Unicode 8 and 11, and one that has no small letter at all."""
    texts = pa.chunked_array([["\u13a0", "\u1c90", "\U0001d400", "stra\u00dfe"]])
    assert is_normalized(texts, True, 100)


def test_a_pair_that_no_log_gives(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=40, delta="1e-6", users=100)
    ours = made(tmp_path, goal, [query_pairs(2)]).write(tmp_path / "ours")
    assert failed(ours) == {}

    def change(_: About, tables: Tables) -> None:
        table = tables["query-pairs"]
        tables["query-pairs"] = table.set_column(1, "next_query", table["query"])

    found = failed(forged(ours, tmp_path / "out", change))
    assert found["rows"] == "query-pairs: there are pairs of the same twice"


@pytest.mark.parametrize("column", ["support", "confidence_low", "lift_high"])
def test_an_association_of_ours(column: str, tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=40, delta="1e-6", users=100)
    kinds = itemsets("query", max_size=2, items_per_user=3)
    ours = made(tmp_path, goal, kinds).write(tmp_path / "ours")
    assert failed(ours) == {}
    edit = edited("associations.csv", column)
    target = forged(ours, tmp_path / "out", lambda *_: None, edit)
    assert failed(target) == {"rows": "associations.csv is not what the tables give"}


def test_a_child_is_judged_by_what_is_left(tmp_path: Path) -> None:
    child, parent = FIXTURES / "itemsets-reviewed", FIXTURES / "itemsets"
    (alone,) = (check for check in verify(child) if check.name == "rows")
    assert alone.ok is None
    assert "took out rows of what itemsets-1:product, itemsets-2:product" in alone.detail
    assert "--parent DIR" in alone.detail
    (beside,) = (check for check in verify(child, parent=parent) if check.name == "rows")
    assert beside.ok
    more = row("itemsets-2:product", "apples", SECRET, 90)
    target = forged(child, tmp_path / "out", more)
    assert failed(target) == {}
    assert "another number of rows" in failed(target, parent=parent)["review"]


def test_what_a_review_cannot_change_is_judged_in_a_child_too(tmp_path: Path) -> None:
    child = FIXTURES / "tail-reviewed"
    target = forged(child, tmp_path / "value", row("lengths", SECRET, 7))
    assert "none of all that there can be" in failed(target)["rows"]
    target = forged(child, tmp_path / "fewer", without_row("lengths"))
    assert "rows are missing" in failed(target)["rows"]

    def told(about: About, tables: Tables) -> None:
        without_row("lengths")(about, tables)
        about["review"]["removed"]["lengths"] += 1

    assert failed(forged(child, tmp_path / "told", told)) == {}


@pytest.mark.parametrize("of", ["rates", "itemsets", "results"])
def test_what_an_earlier_version_made_can_be_reviewed(of: str, tmp_path: Path) -> None:
    review(FIXTURES / of, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=FIXTURES / of) == {}


def test_a_child_keeps_the_forecasts_of_its_parent_s_version(tmp_path: Path) -> None:
    def another(about: About, _: Tables) -> None:
        for each in about["plan"]:
            each["forecast"]["error_95"] += 1

    parent = forged(FIXTURES / "rates", tmp_path / "parent", another)
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=parent) == {}


def probabilistic(about: About, _: Tables) -> None:
    about["guarantee"]["definition"] = "probabilistic"
    restate(about)


@pytest.fixture
def per_person(tmp_path: Path) -> Path:
    """A release that is indistinguishable and no more."""
    goal = Indistinguishability(epsilon=3, delta="5e-5", users=2000)
    return made(tmp_path, goal, [queries(3)]).write(tmp_path / "release")


def test_a_review_that_removed_nothing_gives_no_other_guarantee(
    per_person: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.txt").write_text("nobody asks this\n")
    review(per_person, block=tmp_path / "words.txt", output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=per_person) == {}
    target = forged(tmp_path / "child", tmp_path / "out", probabilistic)
    for options in ({}, {"parent": per_person}):
        why = failed(target, **options).get("guarantee")
        assert why == "its guarantee is another than that of its tables"


def test_the_plan_of_a_child_by_another_planner_is_the_parent_s_to_show(
    per_person: Path, tmp_path: Path
) -> None:
    review(per_person, flag_pii=True, output=tmp_path / "child")
    target = forged(tmp_path / "child", tmp_path / "out", lambda about, _: about.update(planner=1))
    verdict = verify(target)
    assert {check.name: check.ok for check in verdict}["plan"] is None
    assert verdict.summary() != "All checks passed."
    assert "planner" in failed(target, parent=per_person)["review"]
