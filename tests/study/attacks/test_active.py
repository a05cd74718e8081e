"""The active attack wins against every method, loses against ZEALOUS, and does not cheat."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sampling import sampled

import zealous as z
from zealous.errors import Refused, UsageError
from zealous.logs.log import Log
from zealous.privacy.guarantee import Guarantee
from zealous.study.anonymity import METHODS, Method, method_by_name
from zealous.study.attacks.active import (
    ActiveAttack,
    count_right_decisions,
    decide,
    largest_success_rate,
    run_active_attack,
    run_active_attack_on_zealous,
)
from zealous.study.attacks.attack_plans import Knowledge, plan_attack
from zealous.study.attacks.planted_entries import PlantedEntries, choose_guesses, write_planted_log
from zealous.study.attacks.staged_log import stage_log
from zealous.synthetic.write import generate

K = 6
VICTIMS = 100
ALIKE = ("k-session", "similar-histories")  # put together what is alike
KNOWING: tuple[Knowledge, ...] = ("all", "guess")
GOAL = z.ProbabilisticDP(epsilon=2, delta="0.001", users=50_000)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder = tmp_path_factory.mktemp("generated")
    generate(folder / "log.parquet", users=1000, seed=5)
    return stage_log(z.read_log(folder / "log.parquet"), folder / "staged.parquet")


def tiny(folder: Path, rows: Iterable[tuple[str, str, str]]) -> Log:
    """A staged log of (user, hour and minute, query)."""
    path = folder / "tiny.csv"
    lines = [f"{user},2026-01-01 {time}:00,{query}" for user, time, query in rows]
    path.write_text("\n".join(["user,time,query", *lines]) + "\n")
    return stage_log(z.read_log(path), folder / "tiny.parquet")


def guessed(table: pa.Table) -> dict[str, dict[str, Any]]:
    return {row["user"]: row for row in table.to_pylist()}


def test_who_is_a_victim_and_what_is_guessed(tmp_path: Path) -> None:
    log = tiny(
        tmp_path,
        [
            ("a", "10:00", "Tea  Anna"),
            ("a", "10:10", "tea"),
            ("a", "10:20", "green tea"),
            ("a", "15:00", "anna again"),
            ("a", "16:00", "tea"),
            ("b", "10:00", "tea"),
            ("b", "11:00", "green again"),
            ("c", "10:00", "lonely"),  # one word
            ("d", "10:00", "tea jon"),
            ("e", "10:00", "jonas"),  # jon begins another word
            ("f", "10:00", "tea fritz"),
        ],
    )
    found = guessed(choose_guesses(log, victims=10, seed=1))
    assert set(found) == {"a", "f"}
    victim = found["a"]
    assert (victim["query"], victim["word"]) == ("tea anna", "anna")
    assert victim["others"] == ["green", "tea"]


def test_the_guess_can_be_one_of_the_first(tmp_path: Path) -> None:
    log = tiny(
        tmp_path,
        [
            ("a", "10:00", "tea"),
            ("a", "10:10", "tea anna"),
            ("a", "10:20", "tea"),
            ("b", "10:00", "tea bert"),
            ("b", "10:00", "tea"),  # of the same moment: it may come later
            ("c", "10:00", "tea carl"),
            ("c", "10:05", "tea"),
            ("c", "10:10", "tea carl"),
            ("d", "10:00", "tea dora"),
        ],
    )
    assert set(guessed(choose_guesses(log, victims=10, seed=1, among_first=1))) == {"c", "d"}
    assert set(guessed(choose_guesses(log, victims=10, seed=1, among_first=2))) == set("abcd")


def test_there_may_be_nothing_to_guess(tmp_path: Path) -> None:
    log = tiny(tmp_path, [("a", "10:00", "tea"), ("b", "10:00", "tea")])
    assert choose_guesses(log, victims=10, seed=1).num_rows == 0


def test_tails_leaves_out_what_holds_the_word_and_nothing_else(tmp_path: Path) -> None:
    log = tiny(
        tmp_path,
        [
            ("a", "10:00", "tea anna"),
            ("a", "11:00", "ANNA!"),
            ("a", "12:00", "annabel"),
            ("b", "10:00", "tea bert"),
            ("b", "11:00", "bert"),
            ("b", "12:00", "tea"),
            ("c", "10:00", "tea"),
        ],
    )
    guesses = pa.table(
        {"number": [0, 1], "user": ["a", "b"], "word": ["anna", "bert"], "heads": [False, True]}
    )
    asked = "select 7 as account, number, word as query from guesses"
    write_planted_log(log, guesses, PlantedEntries(sql=asked), tmp_path / "played.parquet")
    rows = [
        (row["user"], row["time"].strftime("%H:%M"), row["query"])
        for row in pq.read_table(tmp_path / "played.parquet").to_pylist()
    ]
    own = sorted(row for row in rows if row[0] in "abc")
    assert own == [
        ("a", "12:00", "annabel"),
        ("b", "10:00", "tea bert"),
        ("b", "11:00", "bert"),
        ("b", "12:00", "tea"),
        ("c", "10:00", "tea"),
    ]
    planted = [row for row in rows if row[0] not in "abc"]
    assert len({user for user, _, _ in planted}) == 1
    assert [row[1:] for row in planted] == [("10:31", "anna"), ("11:02", "bert")]


def test_the_seed_fixes_users_and_coins_and_the_coins_are_fair(log: Log) -> None:
    first, again, other = (choose_guesses(log, victims=800, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first["user"].equals(other["user"])
    assert sum(first["heads"].to_pylist()) == 400
    assert not first["heads"].equals(other["heads"])
    assert len(set(first["user"].to_pylist())) == len(set(first["word"].to_pylist())) == 800


def attack(log: Log, name: str, **options: Any) -> ActiveAttack:
    guesses = choose_guesses(log, victims=VICTIMS, seed=3)
    return run_active_attack(log, method_by_name(name, k=K), guesses, seed=3, **options)


@pytest.mark.parametrize("name", ["pseudonym", "token-hash", "k-query", "k-keyword"])
def test_a_guess_is_told_for_certain(log: Log, name: str) -> None:
    found = attack(log, name)
    assert found.rate.trials == VICTIMS
    assert found.rate.share == 1
    assert found.accounts == {"pseudonym": 0, "token-hash": 1}.get(name, K - 1)
    assert found.bound is None


@pytest.mark.parametrize(
    ("name", "knowing", "least"),
    [
        ("scrub", "all", 0.9),  # a word may be one that is removed
        ("k-session", "guess", 0.6),
        ("similar-histories", "guess", 0.6),
    ],
)
def test_a_guess_is_often_told(log: Log, name: str, knowing: Any, least: float) -> None:
    found = attack(log, name, knowing=knowing)
    assert least <= (found.rate.share or 0) <= 1
    assert "other" not in found.knows


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.soak), K])
@pytest.mark.parametrize("name", ALIKE)
def test_who_knows_the_rest_is_always_right(log: Log, name: str, k: int) -> None:
    guesses = choose_guesses(log, victims=VICTIMS, seed=3)
    found = run_active_attack(log, method_by_name(name, k=k), guesses, seed=3)
    assert (found.rate.successes, found.rate.trials) == (VICTIMS, VICTIMS)
    assert found.accounts == 2 * k
    assert "other" in found.knows


def with_coins(guesses: pa.Table, heads: bool) -> pa.Table:
    """The same guesses, with the same side of the coin for all."""
    place = guesses.column_names.index("heads")
    return guesses.set_column(place, "heads", pa.array([heads] * guesses.num_rows))


@pytest.mark.parametrize("k", [pytest.param(2, marks=pytest.mark.soak), K])
@pytest.mark.parametrize("name", sampled(list(METHODS), str, share=3))
def test_who_sees_no_coin_is_right_by_chance(log: Log, name: str, k: int) -> None:
    """The coins reach the attacker through the log alone: where they do not make it, by nothing."""
    guesses = choose_guesses(log, victims=VICTIMS, seed=3)
    for knowing in KNOWING[: 1 + (name in ALIKE)]:
        method = method_by_name(name, k=k)
        how = plan_attack(method, seed=3, knowing=knowing)
        decided = decide(log, method, how, with_coins(guesses, heads=False))
        assert not any(decided)
        assert count_right_decisions(decided, guesses).share == 0.5


def alike(users: int) -> list[tuple[str, str, str]]:
    """Sessions that have all but a word in common."""
    common = [("10:02", "news"), ("10:04", "some other words")]
    return [
        (f"u{n}", time, query)
        for n in range(users)
        for time, query in [("10:00", f"buy {chr(97 + n)}lone"), *common]
    ]


def alone(users: int) -> list[tuple[str, str, str]]:
    """Users who asked one thing, and one who has more sessions than all of them."""
    many = [("z", f"{n // 2:02}:{n % 2 * 31:02}", f"zz{n} zzz") for n in range(2 * users)]
    return [(f"u{n}", "10:00", f"{chr(97 + n)}lone buy") for n in range(users)] + many


LOGS = {"alike-20": alike(20), "alike-7": alike(7), "alone-20": alone(20), "alone-5": alone(5)}


@pytest.mark.parametrize(
    ("name", "k", "rows"),
    sampled(
        list(itertools.product(ALIKE, (2, 3, 4, 10), LOGS)),
        lambda case: "-".join(map(str, case)),
        share=4,
        group=lambda case: case[:1] + case[2:],
    ),
)
def test_whatever_the_log_there_is_no_false_yes_and_more_knowledge_does_no_harm(
    tmp_path: Path, k: int, name: str, rows: str
) -> None:
    """Also where few sets are left that can be put together without hers."""
    log = tiny(tmp_path, LOGS[rows])
    guesses = choose_guesses(log, victims=100, seed=4)
    method = method_by_name(name, k=k)
    for knowing in KNOWING:
        how = plan_attack(method, seed=4, knowing=knowing)
        assert not any(decide(log, method, how, with_coins(guesses, heads=False)))
        if knowing == "all":
            assert all(decide(log, method, how, with_coins(guesses, heads=True)))


def test_a_query_asked_in_several_ways_is_told_too(tmp_path: Path) -> None:
    """Her other queries with the word are of her history: where she has the guess, she has them."""
    rows = [
        (user, time, query)
        for user in ("anna", "bert")
        for time, query in [("10:00", f"buy {user}"), ("11:00", f"{user} too"), ("12:00", "news")]
    ]
    log = tiny(tmp_path, rows + [(f"u{n}", "10:00", "news") for n in range(9)])
    guesses = choose_guesses(log, victims=2, seed=4)
    for name, heads in itertools.product(ALIKE, (True, False)):
        method = method_by_name(name, k=3)
        how = plan_attack(method, seed=4)
        assert decide(log, method, how, with_coins(guesses, heads=heads)) == [heads] * 2


def test_what_is_always_there_is_always_told(log: Log) -> None:
    guesses = choose_guesses(log, victims=VICTIMS, seed=3)
    method = method_by_name("k-query", k=K)
    assert all(decide(log, method, plan_attack(method, seed=3), with_coins(guesses, heads=True)))


def test_a_method_that_does_not_say_what_it_shows_gets_no_wrong_attack(log: Log) -> None:
    class Mine(Method):
        name = "mine"

    class Hidden(Mine):
        shows = "frequent words"

    guesses = choose_guesses(log, victims=1, seed=3)
    for method, why in ((Mine(), "no attack on mine is known"), (Hidden(), "has no k")):
        with pytest.raises(UsageError, match=why):
            run_active_attack(log, method, guesses, seed=3)
    assert all(each.shows for each in METHODS.values())


def test_few_accounts_learn_nothing_from_zealous(log: Log) -> None:
    guesses = choose_guesses(log, victims=VICTIMS, seed=3, among_first=1)
    found = run_active_attack_on_zealous(log, GOAL, guesses, items_per_user=1, accounts=K - 1)
    tails = guesses["heads"].to_pylist().count(False)
    assert found.rate.successes == tails  # nothing is shown, so she always says no


@pytest.mark.parametrize("items_per_user", [1, 2])
def test_many_accounts_learn_from_zealous_what_the_noise_lets_through(
    log: Log, items_per_user: int
) -> None:
    goal = z.ProbabilisticDP(epsilon=2 * items_per_user, delta="0.001", users=50_000)
    guesses = choose_guesses(log, victims=400, seed=3, among_first=items_per_user)
    found = run_active_attack_on_zealous(
        log, goal, guesses, items_per_user=items_per_user, accounts=80
    )
    expected = 1 / (1 + math.exp(-1))  # the noise is at most 0, or at least: its scale is 1
    error = math.sqrt(expected * (1 - expected) / found.rate.trials)
    assert found.rate.trials > 300
    assert abs((found.rate.share or 0) - expected) < 4.5 * error
    low, _ = found.rate.interval()
    assert 0.5 < low <= (found.bound or 0)


def test_what_the_guarantee_cannot_mean_is_refused(log: Log) -> None:
    guesses = choose_guesses(log, victims=20, seed=3, among_first=1)
    few = z.ProbabilisticDP(epsilon=2, delta="0.001", users=2100)
    with pytest.raises(Refused, match="than users declares"):
        run_active_attack_on_zealous(log, few, guesses, items_per_user=1, accounts=80)
    daily = z.ProbabilisticDP(epsilon=2, delta="0.001", users=10**6, unit="user-day")
    with pytest.raises(UsageError, match="unit"):
        run_active_attack_on_zealous(log, daily, guesses, items_per_user=1, accounts=80)


def best(epsilon: float, delta: float) -> float:
    """The most that can be told by p and q on a fine grid, by the inequalities themselves."""
    steps = 400
    grid = [n / steps for n in range(steps + 1)]
    odds = math.exp(epsilon)
    return max(
        (p + 1 - q) / 2
        for p in grid
        for q in grid
        if p <= odds * q + delta and 1 - q <= odds * (1 - p) + delta
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.1), (1, 0.001), (2, 0.05)])
def test_the_bound_is_what_the_inequalities_allow(epsilon: float, delta: float) -> None:
    def bound(neighbors: Any) -> float:
        goal: Guarantee = z.Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
        return largest_success_rate(goal)

    assert best(epsilon, delta) <= bound("replace") + 1e-12
    assert bound("replace") < best(epsilon, delta) + 0.005
    twice = min(1.0, (1 + math.exp(epsilon)) * delta)
    assert best(2 * epsilon, twice) <= bound("add-remove") + 1e-12
    assert bound("add-remove") < best(2 * epsilon, twice) + 0.005


def test_the_bound_of_a_large_epsilon_is_certainty() -> None:
    for neighbors in ("replace", "add-remove"):
        goal = z.Indistinguishability(epsilon=10**6, delta="0.5", neighbors=neighbors)
        assert largest_success_rate(goal) == 1
