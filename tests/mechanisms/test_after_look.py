"""A look at how many items people have, and what is chosen by it: docs/proofs/look.md."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from msgspec import to_builtins

import zealous as z
from zealous.cli import cli
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items.items_per_user import LARGEST, RANGES, ItemsPerUser
from zealous.logs.open_log import open_log
from zealous.mechanisms import Laplace, Selection
from zealous.mechanisms.after_look import CHOICES, ONE_ITEM, AfterLook, choose
from zealous.planning.plan import Plan
from zealous.planning.plan_file import write_plan
from zealous.privacy.guarantee import Neighbors
from zealous.release.charging import losses_of
from zealous.release.provenance import plan_record
from zealous.verification.verify import verify

GOAL = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")
LOOK = "items-per-user:queries"
RELATIONS: tuple[Neighbors, ...] = ("add-remove", "replace")


def looked(goal: z.Indistinguishability = GOAL, **options: Any) -> Plan:
    kind = z.queries(10)
    return z.plan(goal, [ItemsPerUser(of=kind), kind], mechanism="auto", **options)


def log_of(*histories: Sequence[str]) -> pa.Table:
    rows = [(f"u{n}", query) for n, each in enumerate(histories) for query in each]
    return pa.table(
        {
            "user": pa.array([user for user, _ in rows], pa.string()),
            "query": pa.array([query for _, query in rows], pa.string()),
        }
    )


def ranges_of(engine: DuckDB, *histories: Sequence[str]) -> dict[str, int]:
    """The true table, by the SQL that runs in a release."""
    kind = ItemsPerUser(of=z.queries(10))
    source = open_log(z.read_log(log_of(*histories)), engine, ())
    counted = histogram(kind, source, bound=1, at_least=1, select="random", key=7)
    rows = pa.Table.from_batches(list(counted)).to_pylist()
    return {row["items"]: row["count"] for row in rows}


def test_a_person_is_in_one_range_by_how_many_different_items_she_has() -> None:
    histories = [[f"q{n}" for n in range(most)] * 2 for most in (1, 2, 3, 4, 5, 512, 513)]
    with DuckDB() as engine:
        found = ranges_of(engine, *histories, ["A", "a ", "a"], [" "])
    assert found == {"1": 2, "2": 1, "3 to 4": 2, "5 to 8": 1, "257 to 512": 1, RANGES[-1]: 1}
    assert len(RANGES) == len(LARGEST) + 1


def test_a_history_moves_one_count_by_one_and_another_history_two() -> None:
    """Every pair of neighbouring logs of two people and three items."""
    items = ("a", "b", "c")
    histories = [
        [each for each, on in zip(items, ons, strict=True) if on]
        for ons in product((0, 1), repeat=3)
    ]
    with DuckDB() as engine:
        table = {
            (i, j): ranges_of(engine, one, other)
            for i, one in enumerate(histories)
            for j, other in enumerate(histories)
            if one or other
        }
    table[0, 0] = {}
    for (i, j), (k, _) in product(table, repeat=2):
        moved = [table[i, j].get(each, 0) - table[k, j].get(each, 0) for each in RANGES]
        assert sum(map(abs, moved)) <= (1 if 0 in (i, k) else 2)
        assert max(map(abs, moved)) <= 1


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_all_that_can_be_chosen_keeps_the_same_goal(neighbors: Neighbors) -> None:
    goal = z.Indistinguishability(epsilon=1, delta="1e-6", neighbors=neighbors)
    planned = looked(goal)
    look, part = planned.parts
    assert look.goal.epsilon == Fraction(1, 50)
    assert look.goal.epsilon + part.goal.epsilon == 1
    assert planned.delta_achieved <= goal.delta
    lists = [[0] * 11, [10**6, *[0] * 10], *([0] * n + [10**6] + [0] * (10 - n) for n in range(11))]
    for counts in lists:
        choice = choose(counts, neighbors)
        assert choice in CHOICES
        assert choice.calibrate(part.goal).delta(part.goal) <= goal.delta
    assert {choose(counts, neighbors) for counts in lists} >= {ONE_ITEM, CHOICES[1], CHOICES[-1]}


def settled(planned: Plan, counts: Sequence[int]) -> Plan:
    return planned.with_inputs({LOOK: pa.table({"items": list(RANGES), "count": list(counts)})})


def test_what_is_charged_does_not_depend_on_what_is_chosen() -> None:
    planned = looked()
    one, many = (settled(planned, [0] * n + [900] + [0] * (10 - n)) for n in (0, 7))
    assert one.kinds()[1].items_per_user == 1
    assert many.kinds()[1].items_per_user == 40
    assert losses_of(planned) == losses_of(one) == losses_of(many)
    assert planned.goal == one.goal == many.goal


def hockey_stick(left: dict[Any, float], right: dict[Any, float], epsilon: float) -> float:
    return sum(max(0.0, p - math.exp(epsilon) * right.get(out, 0.0)) for out, p in left.items())


def test_a_look_and_what_follows_keep_the_goal_and_a_choice_by_true_counts_does_not() -> None:
    """All ways in which the noise of two ranges and an item's noise can fall.

    Somebody joins, in the first range, with an item that nobody else has. What is seen is the
    look, and either that item or one that twelve others have. Where one item is chosen `selection`
    is run, else `laplace` of five items, which publishes larger counts alone.
    """
    rest = z.Indistinguishability(epsilon=1, delta="0.01", neighbors="add-remove")
    laws = {True: _law(Selection.calibrate(rest, 1)), False: _law(Laplace.calibrate(rest, 5))}
    alpha, wide = math.exp(-1), range(-8, 9)  # a look at epsilon 1
    noise = {n: (1 - alpha) / (1 + alpha) * alpha ** abs(n) for n in wide}
    cut = 1 - sum(noise.values()) ** 2

    def law(joined: int, held: int, *, by_truth: bool = False) -> dict[Any, float]:
        found: dict[Any, float] = {}
        for first, second in product(wide, repeat=2):
            look = (2 + joined + first, 3 + second)
            one = choose([look[0], 0, 0, look[1], *[0] * 7], "add-remove") == ONE_ITEM
            one = bool(joined) if by_truth else one
            for out, chance in laws[one](held).items():
                found[look, out] = noise[first] * noise[second] * chance
        return found

    for joined in (0, 1):
        for held in ((0, 1), (12, 12)):
            told = hockey_stick(law(joined, held[joined]), law(1 - joined, held[1 - joined]), 2.0)
            assert told <= 0.01 + cut
    wrong = hockey_stick(law(1, 12, by_truth=True), law(0, 12, by_truth=True), 2.0)
    assert wrong > 0.02 + cut


def _law(mechanism: Any) -> Callable[[int], dict[Any, float]]:
    """What is published of one item of so many users, and with which chance."""

    @cache
    def law(held: int) -> dict[Any, float]:
        if not held:
            return {None: 1.0}
        least = mechanism.tau_prime
        above = [mechanism.probability_above(held, t) for t in range(least, least + 40)]
        counts = {least + 1 + n: a - b for n, (a, b) in enumerate(pairwise(above))}
        return {**counts, None: 1 - above[0]}

    return law


def published(seed: int, histories: Sequence[Sequence[str]]) -> z.Release:
    return z.publish(z.read_log(log_of(*histories)), looked(seed=seed), account=None)


def test_the_choice_follows_from_the_published_table_and_not_from_the_true_one() -> None:
    """Of so few people the noise decides; the truth is that everybody has one item."""
    chosen, off = set(), []
    for seed in range(12):
        release = published(seed, [["a"]] * 40)
        counts = [release[LOOK][each] for each in RANGES]
        part = Plan.from_record(release.record).parts[1]
        assert isinstance(part.mechanism, AfterLook)
        assert part.mechanism.chosen == choose(counts, "add-remove").calibrate(part.goal)
        chosen.add((release.record.plan[1].parameters or {})["chosen"])
        off += [counts[0] - 40, *counts[1:]]
    assert chosen == {"selection", "pooled"}
    deviation = math.sqrt(sum(each**2 for each in off) / len(off))
    assert 0.8 < deviation / (50 * math.sqrt(2)) < 1.25  # the same bytes in every run


def test_a_release_of_other_parameters_than_its_table_gives_does_not_verify(tmp_path: Path) -> None:
    histories = [[f"q{n}" for n in range(1 + u % 3)] for u in range(600)]
    release = z.publish(z.read_log(log_of(*histories)), looked(), account=None)
    made = release.write(tmp_path / "made")
    assert not [check for check in verify(made) if check.ok is False]
    text = (made / "release.json").read_text()
    forged = json.loads(text)
    part = forged["plan"][1]
    assert part["parameters"]["chosen"] in ("selection", "pooled")
    part["parameters"]["chosen"] = "gaussian"
    (made / "release.json").write_text(json.dumps(forged))
    assert [check for check in verify(made) if check.ok is False]
    plan = Plan.from_record(release.record)
    first = release[LOOK].arrow
    mechanism = plan.parts[1].mechanism
    mechanism.check_rows(release["queries"].arrow, first, whole=True)
    mechanism.check_derived(first)
    other = pa.table({"items": list(RANGES), "count": [0] * 8 + [10**6, 0, 0]})
    with pytest.raises(z.ZealousError, match="are not those that the published table"):
        mechanism.check_derived(other)


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ([], [LOOK, "queries"]),
        (["--items-per-user", "3"], ["queries"]),
        (["--guarantee", "probabilistic", "--users", "1000"], ["queries"]),
        (["--split", "queries=2"], [LOOK, "queries"]),
    ],
)
def test_auto_looks_where_nobody_says_how_many_items_count(
    options: list[str], kinds: list[str]
) -> None:
    asked = ["plan", "--items", "queries", "--epsilon", "1", "--delta", "1e-6", "--json"]
    asked += ["--guarantee", "indistinguishable", "--mechanism", "auto", *options]
    result = CliRunner().invoke(cli, asked)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    found = [part["kind"] for part in said.get("parts", [said])]
    assert found == kinds


def test_python_looks_where_it_is_asked_to() -> None:
    by_m, by_look = (
        z.plan(GOAL, [z.queries(3)], mechanism="auto", look=look) for look in (False, True)
    )
    assert [part.name() for part in by_m.parts] == ["queries"]
    assert [part.name() for part in by_look.parts] == [LOOK, "queries"]
    assert by_look.parts[-1].mechanism.name == AfterLook.name
    asked = ["plan", "--items", "queries", "--mechanism", "auto", "--json"]
    asked += ["--guarantee", "indistinguishable", "--neighbors", GOAL.neighbors]
    asked += ["--epsilon", str(GOAL.epsilon), "--delta", str(GOAL.delta)]
    said = json.loads(CliRunner().invoke(cli, asked).stdout)
    assert [part["exact"] for part in said["parts"]] == [
        to_builtins(part.exact) for part in plan_record(by_look)
    ]
    unchanged = z.plan(GOAL, [z.queries(3)], mechanism="pooled", look=True)
    assert [part.name() for part in unchanged.parts] == ["queries"]


def test_an_approved_plan_with_a_look_is_read_back(tmp_path: Path) -> None:
    planned = looked().for_log(z.Columns(user="user", query="query"))
    write_plan(planned, tmp_path / "plan.json")
    again = z.read_plan(tmp_path / "plan.json")
    assert (again.goal, again.parts) == (planned.goal, planned.parts)
    log = z.read_log(log_of(*[["a"]] * 30))
    assert z.publish(log, again, account=None).record.plan[1].mechanism == AfterLook.name


def test_what_cannot_be_looked_at_is_refused() -> None:
    things = z.itemsets("x", max_size=2, items_per_user=3)
    with pytest.raises(UsageError, match="is not for items that are made of published ones"):
        ItemsPerUser(of=things[-1])
    with pytest.raises(UsageError, match="rename columns with a plus sign"):
        ItemsPerUser(of=z.columns("a+b", items_per_user=1))
    with pytest.raises(UsageError, match="are to be published after items-per-user:queries"):
        z.plan(GOAL, z.queries(2), mechanism=AfterLook.name)
    other = ItemsPerUser(of=z.queries(1, fold_words=True))
    with pytest.raises(UsageError, match="about the same items"):
        z.plan(GOAL, [other, z.queries(2)], mechanism="auto")
    goal = z.ProbabilisticDP(epsilon=1, delta="1e-3", users=100)
    with pytest.raises(UsageError):
        z.plan(
            goal,
            [ItemsPerUser(of=z.queries(1)), z.queries(2)],
            mechanism={"queries": AfterLook.name},
        )
