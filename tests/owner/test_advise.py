"""Advice about epsilon and m: from a public log, from an earlier release, from nothing."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from msgspec import structs
from records import record_of

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import Refused, UsageError
from zealous.items import UnknownKind
from zealous.owner.advice import Advice
from zealous.owner.parameter_search import LADDER, advise
from zealous.privacy.accounting.expected import expected_error
from zealous.privacy.calibrate import calibrate, least_count, publication_probability
from zealous.release.bundle import Release
from zealous.release.table import Table

GOAL = z.ProbabilisticDP(epsilon=8, delta="0.01", users=500)
USERS = 300
HITS = 6


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 users: all have the hit, half the next, ..., and two things of their own each."""
    path = tmp_path_factory.mktemp("public") / "log.csv"
    lines = ["user,query"]
    for user in range(USERS):
        lines += [f"{user},hit {k}" for k in range(HITS) if user % 2**k == 0]
        lines += [f"{user},own {user} {k}" for k in range(2)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def engine() -> DuckDB:
    return DuckDB(memory="1GB", threads=1)


@pytest.fixture(scope="module")
def advice(log: Path) -> Advice:
    return advise(GOAL, z.queries(1), z.read_log(log), engine=DuckDB(memory="1GB", threads=1))


def held() -> dict[str, int]:
    """The users of each of the log's items, by the rule that made it."""
    counts = {f"hit {k}": len(range(0, USERS, 2**k)) for k in range(HITS)}
    return counts | {f"own {user} {k}": 1 for user in range(USERS) for k in range(2)}


def test_where_bounding_does_not_bind_the_expectation_is_the_exact_sum(advice: Advice) -> None:
    most = HITS + 2  # what the first user has, and nobody has more
    choice = next(each for each in advice.choices_at(GOAL.epsilon) if each.items_per_user == most)
    chances = [publication_probability(calibrate(GOAL, most), count) for count in held().values()]
    assert choice.published is not None
    assert choice.published.mean == pytest.approx(sum(chances))
    frequent = sorted(held().values(), reverse=True)[:100]
    top = [publication_probability(calibrate(GOAL, most), count) for count in frequent]
    assert choice.top[100].coverage == pytest.approx(sum(top) / 100)


def test_the_average_and_the_users_are_the_logs_own(advice: Advice) -> None:
    assert advice.users == USERS
    assert advice.average == pytest.approx(sum(held().values()) / USERS)


def test_m_bounds_what_is_expected(advice: Advice) -> None:
    """At m = 1 a user counts once: no more than users / tau items can be expected."""
    for each in advice.choices:
        assert each.published is not None
        bound = USERS * each.items_per_user / each.parameters.tau
        assert each.published.mean <= bound
        assert each.parameters == calibrate(
            z.ProbabilisticDP(epsilon=each.epsilon, delta=GOAL.delta, users=GOAL.users),
            each.items_per_user,
        )


def test_expected_is_what_publishing_gives(log: Path, advice: Advice) -> None:
    """The real pipeline at m = 3, whose selection keys are other ones, ends near it."""
    choice = next(each for each in advice.choices_at(GOAL.epsilon) if each.items_per_user == 3)
    runs = 12
    rows = sum(
        len(z.publish(z.read_log(log), GOAL, [z.queries(3)], seed=n)["queries"])
        for n in range(runs)
    )
    assert choice.published is not None
    assert rows / runs == pytest.approx(choice.published.mean, abs=0.6)


def test_the_recommended_are_the_best_of_their_row(advice: Advice) -> None:
    rows = advice.choices_at(GOAL.epsilon)
    coverage, top = advice.best_for_coverage(), advice.best_for_top()
    assert coverage is not None
    assert top is not None
    assert coverage.published == max((each.published for each in rows), key=lambda p: p.mean)  # type: ignore[union-attr]
    errors = {each.items_per_user: each.top[100].error for each in rows}
    least = min(error for error in errors.values() if error is not None)
    best = errors[top.items_per_user]
    assert best is not None
    assert best <= 1.1 * least
    assert all(e > 1.1 * least for m, e in errors.items() if m < top.items_per_user)  # type: ignore[operator]


def test_the_ladder_holds_the_average_and_ends_beyond_it(advice: Advice) -> None:
    assert advice.average is not None
    tried = [each.items_per_user for each in advice.choices_at(GOAL.epsilon)]
    assert tried == sorted(set(tried))
    assert tried[0] == 1
    assert round(advice.average) in tried
    assert 2 * advice.average <= tried[-1] < LADDER[-1]


def test_epsilon_is_tried_halved_and_doubled(advice: Advice) -> None:
    assert {each.epsilon for each in advice.choices} == {4, 8, 16}
    half, whole, twice = (advice.choices_at(Fraction(e))[0].published for e in (4, 8, 16))
    assert half is not None
    assert whole is not None
    assert twice is not None
    assert half.mean <= whole.mean <= twice.mean
    assert half.mean < twice.mean


def test_words_say_what_the_figures_rest_on(advice: Advice) -> None:
    said = str(advice)
    best = advice.best_for_coverage()
    assert best is not None
    assert f"take m = {best.items_per_user}" in said
    assert f"{USERS} users; you declared {GOAL.users}" in said
    assert "Never advise on the log that is to be published" in said


def test_figures_are_json(advice: Advice) -> None:
    found = json.loads(json.dumps(advice.figures()))
    assert found["basis"] == "public-log"
    assert len(found["choices"]) == len(advice.choices)
    assert found["choices"][0]["top"]["100"]["coverage"] <= 1


def test_where_nothing_is_expected_it_says_so(log: Path, engine: DuckDB) -> None:
    goal = z.ProbabilisticDP(epsilon="0.05", delta="0.01", users=500)
    advice = advise(goal, z.queries(1), z.read_log(log), engine=engine)
    assert advice.best_for_coverage() is None
    assert advice.best_for_top() is None
    assert "Not one item is expected" in str(advice)
    assert json.dumps(advice.figures())


def test_the_true_top_is_looked_for_among_what_was_kept(tmp_path: Path, engine: DuckDB) -> None:
    """Half have tea first, the others last: at m = 1 half of it is kept."""
    path = tmp_path / "later.csv"
    rows = (
        f"{n},2026-01-01 10:00:00,thing {n % 10}\n{n},2026-01-01 {9 + 2 * (n % 2)}:00:00,tea\n"
        for n in range(USERS)
    )
    path.write_text("user,time,query\n" + "".join(rows))
    advice = advise(GOAL, z.queries(1), z.read_log(path), select="first", engine=engine)
    one, two = advice.choices_at(GOAL.epsilon)[:2]
    each = USERS // 10
    top = [(USERS, USERS // 2), *[(each, each)] * 5, *[(each, 0)] * 5]
    kept = [publication_probability(one.parameters, count) for _, count in top]
    assert one.top[11].coverage == pytest.approx(sum(kept) / 11)
    assert one.top[11].error == pytest.approx(expected_error(one.parameters, top))
    assert two.top[11].coverage == pytest.approx(1)


def test_an_item_of_two_columns_is_found_again(tmp_path: Path, engine: DuckDB) -> None:
    path = tmp_path / "pairs.csv"
    rows = "".join(f"{n},tea,cup\n{n},tea,pot\n" for n in range(USERS))
    path.write_text("user,what,where\n" + rows)
    kind = z.columns("what", "where", items_per_user=1)
    advice = advise(GOAL, kind, z.read_log(path), engine=engine)
    assert [each.top[2].coverage for each in advice.choices_at(GOAL.epsilon)] == pytest.approx(
        [1] * len(advice.choices_at(GOAL.epsilon))
    )


def test_a_log_without_such_items_is_refused(tmp_path: Path, engine: DuckDB) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("user,query\n1,?\n")
    with pytest.raises(UsageError, match="holds no queries"):
        advise(GOAL, z.queries(1), z.read_log(path), engine=engine)
    path.write_text("user,query\n")
    with pytest.raises(UsageError, match="no entry with a user id"):
        advise(GOAL, z.queries(1), z.read_log(path), engine=engine)


def released(counts: list[int], *, private: bool = True, m: int = 4) -> Release:
    table = pa.table({"query": [f"q{n}" for n in range(len(counts))], "count": counts})
    record = record_of(z.plan(z.Indistinguishability(epsilon=1, delta="1e-6"), [z.queries(m)]))
    record = structs.replace(record, private=private)
    return Release(record=record, tables={"queries": Table(arrow=table)})


def test_an_earlier_release_speaks_for_its_own_m() -> None:
    counts = [200, 60, 31, 30, 30]
    advice = advise(GOAL, z.queries(1), released(counts))
    assert [each.items_per_user for each in advice.choices] == [4, 4, 4]
    for each in advice.choices:
        expected = sum(
            n * publication_probability(each.parameters, c) for c, n in Counter(counts).items()
        )
        assert each.published is not None
        assert each.published.mean == pytest.approx(expected)
        assert each.top[5].coverage == pytest.approx(expected / 5)
        assert each.top[5].error is None
    assert "low estimate" in str(advice)
    assert json.dumps(advice.figures())


def test_a_real_release_gives_advice(log: Path) -> None:
    release = z.publish(z.read_log(log), GOAL, [z.queries(2)], seed=1)
    release = Release(record=structs.replace(release.record, private=True), tables=release.tables)
    advice = advise(GOAL, z.queries(1), release)
    assert advice.choices[0].items_per_user == 2


def test_a_release_that_protects_nobody_is_no_public_source() -> None:
    with pytest.raises(Refused, match="fixed seed"):
        advise(GOAL, z.queries(1), released([9], private=False))


def test_a_release_of_other_kinds_is_refused() -> None:
    with pytest.raises(UsageError, match="holds no keywords"):
        advise(GOAL, z.keywords(1), released([9]))


def test_a_release_of_other_units_is_refused() -> None:
    goal = z.ProbabilisticDP(epsilon=8, delta="0.01", users=500, unit="session")
    with pytest.raises(UsageError, match="other units"):
        advise(goal, z.queries(1), released([9]))


def test_items_of_any_kind_cannot_be_looked_for(log: Path) -> None:
    for source in (z.read_log(log), released([9])):
        with pytest.raises(UsageError, match="say kinds"):
            advise(GOAL, UnknownKind(items_per_user=1), source)
    assert advise(GOAL, UnknownKind(items_per_user=1)).kind == "items"


def test_the_unit_is_what_is_counted(tmp_path: Path, engine: DuckDB) -> None:
    path = tmp_path / "days.csv"
    rows = (f"{n},2026-01-0{day} 10:00:00,tea\n" for n in range(40) for day in (1, 2, 3))
    path.write_text("user,time,query\n" + "".join(rows))
    goal = z.ProbabilisticDP(epsilon=8, delta="0.01", users=500, unit="user-day")
    advice = advise(goal, z.queries(1), z.read_log(path), engine=engine)
    assert advice.users == 120
    assert "120 user-days" in str(advice)


def test_an_empty_release_expects_nothing() -> None:
    advice = advise(GOAL, z.queries(1), released([]))
    assert all(each.published is not None and each.published.mean == 0 for each in advice.choices)
    assert str(advice)


def test_without_a_source_the_thresholds_speak() -> None:
    advice = advise(GOAL, z.queries(1))
    (grid,) = advice.tables()
    assert [row[0] for row in grid.rows] == list(LADDER)
    twice = z.ProbabilisticDP(epsilon=16, delta=GOAL.delta, users=GOAL.users)
    assert grid.rows[0][-1] == least_count(calibrate(twice, 1), 0.95)
    assert "Rules of thumb" in str(advice)


@pytest.mark.parametrize(
    "goal",
    [
        z.Indistinguishability(epsilon=2, delta="1e-5"),
        z.Indistinguishability(epsilon=2, delta="1e-5", users=500, neighbors="add-remove"),
    ],
)
def test_the_other_guarantee(goal: z.Indistinguishability, log: Path, engine: DuckDB) -> None:
    advice = advise(goal, z.queries(1), z.read_log(log), engine=engine)
    assert all(each.parameters.tau == 1 for each in advice.choices)
    assert ("you declared" in str(advice)) == (goal.users is not None)
