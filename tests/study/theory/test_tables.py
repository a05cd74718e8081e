"""The paper's tables: its numbers where they are right, ours beside them."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from zealous.cli.study.tables import tables as command
from zealous.errors import UsageError
from zealous.privacy.calibrate import calibrate, satisfied_guarantees
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.study.theory import tables as theory
from zealous.study.theory.printed_formulas import Continuous
from zealous.study.theory.tables import tables, zipf
from zealous.study.theory.theory_table import Table, TableParameters

NAMES = [
    "privacy",
    "thresholds",
    "best_tau",
    "indistinguishable",
    "accuracy",
    "negative",
    "domain",
    "a_hat",
]


def rows(name: str, **own: Any) -> list[dict[str, Any]]:
    table: Table = getattr(theory, name)(TableParameters(**own))
    assert table.name == name
    found: list[dict[str, Any]] = table.as_object()["rows"]
    return found


def two_digits(value: float) -> str:
    return f"{value:.1e}"


# Golden numbers


@pytest.mark.parametrize(
    ("scale", "tau_prime", "delta", "of_the_paper", "by_one"),
    [
        (1, 50, "6.6e-16", "7.2e-20", "1.3e-21"),
        (1, 100, "1.3e-37", "1.4e-41", "2.5e-43"),
        (1, 150, "2.4e-59", "2.7e-63", "4.9e-65"),
        (1, 200, "4.7e-81", "5.1e-85", "9.4e-87"),
        (5, 50, "1.0e+00", "3.1e-04", "1.4e-04"),
        (5, 100, "3.1e-03", "1.4e-08", "6.3e-09"),
        (5, 150, "1.4e-07", "6.4e-13", "2.9e-13"),
        (5, 200, "6.5e-12", "2.9e-17", "1.3e-17"),
    ],
)
def test_privacy(scale: int, tau_prime: int, delta: str, of_the_paper: str, by_one: str) -> None:
    (row,) = [
        row for row in rows("privacy") if (row["scale"], row["tau_prime"]) == (scale, tau_prime)
    ]
    assert row["epsilon"] == 10 / scale
    assert two_digits(row["delta_continuous"]) == delta
    assert two_digits(row["delta_prime_paper"]) == of_the_paper
    assert two_digits(row["delta_prime_continuous"]) == by_one
    hold = satisfied_guarantees(
        scale=Fraction(scale), tau=1, tau_prime=tau_prime, items_per_user=5, users=500_000
    )
    ours = {goal.definition: float(goal.delta) for goal in hold if goal.neighbors == "replace"}
    assert row["delta_discrete"] == pytest.approx(ours.get("probabilistic", 1))
    assert row["delta_prime_discrete"] == pytest.approx(ours["indistinguishable"])


def test_a_bound_above_one() -> None:
    paper = Continuous(scale=Fraction(5), items_per_user=5)
    found = paper.probabilistic_delta(tau=1, tau_prime=50, users=500_000)
    assert found == pytest.approx(69.3, abs=0.05)


def test_the_discrete_privacy_is_left_out_where_the_condition_on_absence_fails() -> None:
    found = rows("privacy", epsilon="0.01")
    assert all(row["delta_discrete"] is None for row in found)
    assert all(row["delta_prime_discrete"] is not None for row in found)


def test_thresholds() -> None:
    found = rows("thresholds")
    assert [round(row["tau_prime_continuous_0.001"], 4) for row in found] == [
        81.1205,
        79.3479,
        78.7260,
        78.5753,
        78.6827,
        78.9534,
        79.3368,
        79.8027,
        80.3316,
        80.9101,
    ]
    least = {
        delta: min(row[f"tau_prime_discrete_{delta}"] for row in found)
        for delta in ("0.001", "0.01")
    }
    assert least == {"0.001": 79, "0.01": 69}
    ten_times = 4 * math.log(10)
    for row in found:
        both = row["tau_prime_continuous_0.001"] - row["tau_prime_continuous_0.01"]
        assert both == pytest.approx(ten_times)


def test_the_condition_on_absence_decides_a_threshold_where_delta_is_large() -> None:
    paper = Continuous(scale=Fraction(100), items_per_user=1)
    found = paper.probabilistic_tau_prime(tau=1, delta=Fraction(1, 2), users=2)
    assert found == pytest.approx(1 - 100 * math.log(2 - 2 * math.exp(-1 / 100)))


def test_best_tau() -> None:
    whole, above, low = rows("best_tau")
    assert whole["rule_tau"] == whole["best_tau_continuous"] == whole["best_tau_discrete"] == 4
    for row, rule, best in ((above, 5, 4), (low, 3, 2)):
        assert row["rule_tau"] == rule
        assert row["best_tau_continuous"] == row["best_tau_discrete"] == best
        assert row["best_tau_prime_continuous"] < row["rule_tau_prime_continuous"]
        assert row["best_tau_prime_discrete"] <= row["rule_tau_prime_discrete"]


@pytest.mark.parametrize("scale", ["0.3", 1, "2.4", "4.05", "4.5", "4.55", 17])
def test_the_best_continuous_tau_is_beside_lambda(scale: str) -> None:
    paper = Continuous(scale=Fraction(scale), items_per_user=2)
    goal = {"delta": Fraction("0.001"), "users": 500_000}

    def tau_prime(tau: int) -> float:
        return paper.probabilistic_tau_prime(tau=tau, delta=Fraction("0.001"), users=500_000)

    assert paper.best_tau(**goal) == min(range(1, 60), key=tau_prime)  # type: ignore[arg-type]


def test_indistinguishable() -> None:
    found = {(row["items_per_user"], row["epsilon"]): row for row in rows("indistinguishable")}
    discrete = {key: row["tau_prime_discrete"] for key, row in found.items()}
    assert discrete == {(5, 10): 191, (2, 1): 29, (5, 2): 40, (5, 1): 148}
    for row in found.values():
        assert row["tau_prime_printed"] < row["tau_prime_continuous"]
        for kind in ("continuous", "discrete"):
            assert row[f"delta_of_printed_{kind}"] > 10 * row["delta"]
    example = found[5, 10]
    assert example["tau_prime_printed"] == pytest.approx(100, abs=0.01)
    assert two_digits(example["delta_of_printed_continuous"]) == "2.5e-43"


def test_accuracy() -> None:
    first, second, *more = rows("accuracy")
    assert (first["users"], second["users"]) == (79, 80)
    assert first["missing_continuous"] == 0.5 < first["missing_discrete"]
    assert two_digits(first["printed_two_xi"]) == "3.6e-09"
    assert two_digits(first["printed_xi"]) == "4.2e-05"
    for row in (first, second, *more[:-1]):
        assert row["missing_discrete"] > row["printed_xi"]


def test_negative() -> None:
    example, one, ten = rows("negative")
    assert two_digits(example["domain_needed"]) == "2.1e+29"
    assert two_digits(example["domain_printed"]) == "8.8e+11"
    assert two_digits(example["domain"]) == "5.3e+35"
    assert (example["frequent"], one["frequent"], ten["frequent"]) == (50, 42, 408)
    assert [row["applies"] for row in (example, one, ten)] == [True, True, False]


def test_domain() -> None:
    found = rows("domain")
    assert [row["domain"] for row in found] == [10.0**d for d in (3, 6, 9, 12, 18, 24, 30, 36)]
    assert all(row["false"] <= 1 and row["nothing"] == 0 for row in found)
    for before, after in itertools.pairwise(found):
        assert before["threshold"] < after["threshold"]
        assert before["true"] > after["true"]
        assert before["true_of_zealous"] == after["true_of_zealous"]
    last = found[-1]
    assert last["true"] < last["true_of_zealous"] / 4
    assert last["false_at_tau_prime"] > 1e26


@pytest.mark.parametrize("top", [1, 2, 19, 50, 6172])
def test_zipf_counts(top: int) -> None:
    by_hand = [top // rank for rank in range(1, top + 1)]
    found = zipf(top)
    assert sum(found.values()) == len(by_hand)
    assert all(found[count] == by_hand.count(count) for count in set(by_hand[:50]))
    assert sum(count * items for count, items in found.items()) == sum(by_hand)


# Numbers of one's own


def test_own_numbers_are_used() -> None:
    own = {"users": 2_000_000, "items_per_user": 3, "epsilon": "2", "delta": "1e-4"}
    goal = ProbabilisticDP(epsilon=2, delta="1e-4", users=2_000_000)
    plan = calibrate(goal, 3)
    assert {row["scale"] for row in rows("privacy", **own)} == {3.0}
    least = min(row["tau_prime_discrete_0.0001"] for row in rows("thresholds", **own))
    assert least == plan.tau_prime
    (best,) = rows("best_tau", **own)
    assert best["best_tau_discrete"] == plan.tau
    (threshold,) = rows("indistinguishable", **own)
    right = calibrate(Indistinguishability(epsilon=2, delta="1e-4"), 3).tau_prime
    assert threshold["tau_prime_discrete"] == right
    assert rows("accuracy", **own)[0]["users"] == plan.tau_prime
    assert [row["items_per_user"] for row in rows("negative", **own)] == [3, 3]


@pytest.mark.parametrize(
    "own",
    [
        {"users": 1},
        {"users": 9, "items_per_user": 3},
        {"users": 10**11, "delta": "0.5"},
        {"epsilon": 100},
        {"epsilon": "0.001"},
        {"items_per_user": 1000},
        {"delta": "1e-300", "epsilon": 30},
    ],
)
def test_odd_numbers_make_tables_too(own: dict[str, Any]) -> None:
    made = tables(TableParameters(**own))
    assert [table.name for table in made] == NAMES
    json.dumps([table.as_object() for table in made], allow_nan=False)


REMARKS = ("First row", "first row", "7.6e-83", "4.05", "caption", "second digits")


def test_remarks_on_rows_of_the_paper_stand_under_rows_of_the_paper() -> None:
    notes = " ".join(table.note for table in tables())
    assert all(remark in notes for remark in REMARKS)
    own = TableParameters(users=3, epsilon=20, items_per_user=1, delta="0.01")
    for table in tables(own):
        assert not any(remark in table.note for remark in REMARKS), table.name


def test_a_remark_goes_with_the_number_that_it_is_about() -> None:
    assert "7.6e-83" in theory.indistinguishable(TableParameters(users=3)).note
    assert "7.6e-83" not in theory.indistinguishable(TableParameters(delta="0.01")).note
    assert "first row" in theory.negative(TableParameters(delta="0.01")).note
    assert "first row" not in theory.negative(TableParameters(users=3)).note
    assert "4.05" not in theory.best_tau(TableParameters(users=3)).note


def test_the_rule_for_tau_says_that_it_stops_at_the_users() -> None:
    table = theory.best_tau(TableParameters(users=3, epsilon="0.1", items_per_user=1))
    (row,) = table.as_object()["rows"]
    assert row["scale"] == 20
    assert row["rule_tau"] == 3
    assert table.columns["rule_tau"] == "ceil(lambda), at most U"


def test_the_title_of_the_negative_result_promises_nothing() -> None:
    table = theory.negative(TableParameters(users=3, epsilon=20, items_per_user=1))
    assert [row[-1] for row in table.rows] == [False, True]
    assert table.title.startswith("Where no ")


def test_a_hat_has_any_delta_prime_and_breaches_every_time() -> None:
    found = rows("a_hat")
    assert [row["histories"] for row in found] == [10**3, 10**6, 10**9, 10**12]
    assert found[1]["delta_prime"] == pytest.approx(1 / 999_999)
    assert [row["breach"] for row in found] == [1] * 4


@pytest.mark.parametrize("histories", [2, 7, 10**400])
def test_a_hat_for_histories_of_ones_own(histories: int) -> None:
    (row,) = rows("a_hat", histories=histories)
    assert 0 < Fraction(row["delta_prime"]) >= Fraction(1, histories - 1)  # never rounded to 0
    assert row["breach"] == 1
    others = [name for name in NAMES if name != "a_hat"]
    assert all(rows(name, histories=histories) == rows(name) for name in others)
    assert all(
        getattr(theory, name)(TableParameters(histories=histories)).note
        == getattr(theory, name)(TableParameters()).note
        for name in others
    )


# The command


def test_the_command_prints_every_table_and_its_note() -> None:
    done = CliRunner().invoke(command)
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    for table in tables():
        assert " ".join(table.note.split()) in said
    for number in ("6.6e-16", "78.5753", "4.05", "7.6e-83", "2.1e29", "8.8e11", "5.3e35", "1,644"):
        assert number in said


def test_the_command_gives_one_object() -> None:
    done = CliRunner().invoke(command, ["--json", "--users", "9"])
    found = json.loads(done.stdout)
    assert list(found) == NAMES
    assert found["negative"]["rows"][0]["domain_needed"] is None  # nine users are fewer than fifty


@pytest.mark.parametrize(
    "vast",
    [
        ["--epsilon", "1e300"],
        ["--epsilon", "1e400"],
        ["--epsilon", "1e20"],
        ["--users", str(10**400)],
        ["--items-per-user", str(10**400)],
    ],
)
def test_the_command_refuses_what_no_table_can_hold(vast: list[str]) -> None:
    done = CliRunner().invoke(command, vast)
    assert isinstance(done.exception, UsageError)
    assert vast[0].strip("-").replace("-", "_") in str(done.exception)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--users", "0"],
        ["--delta", "2"],
        ["--items-per-user", "0"],
        ["--epsilon", "x"],
        ["--histories", "1"],
    ],
)
def test_the_command_refuses_nonsense(wrong: list[str]) -> None:
    done = CliRunner().invoke(command, wrong)
    assert done.exit_code != 0
    assert wrong[0].strip("-").replace("-", "_") in str(done.exception)
