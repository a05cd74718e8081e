"""The whole way, through the Python API."""

from __future__ import annotations

from pathlib import Path

import pytest

import zealous as z
from zealous.errors import Refused, UsageError
from zealous.record.record import ExactBudget

GOAL = z.ProbabilisticDP(epsilon=20, delta="0.01", users=200)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred users who ask two common things and one of their own."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    lines = ["user,time,query,url"]
    for n in range(100):
        lines.append(f"u{n},2026-01-01 10:00:00,Weather,http://weather.example")
        lines.append(f"u{n},2026-01-01 10:05:00,weather  today,http://today.example")
        lines.append(f"u{n},2026-01-01 12:00:00,private thing {n},")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_kind_of_a_log(path: Path) -> None:
    kinds = [
        z.keywords(2),
        z.queries(2),
        z.clicks(2),
        z.query_pairs(1),
        z.query_clicks(2),
        z.columns("url", items_per_user=2),
    ]
    goal = z.ProbabilisticDP(epsilon=200, delta="0.01", users=200)
    release = z.publish(z.read_log(path), goal, kinds, select="first")
    found = {
        kind: {tuple(row.values())[:-1]: row["count"] for row in table.arrow.to_pylist()}
        for kind, table in release.tables.items()
    }
    assert set(found["queries"]) == {("weather",), ("weather today",)}
    assert set(found["keywords"]) == {("weather",), ("today",)}
    assert set(found["query-pairs"]) == {("weather", "weather today")}
    assert set(found["clicks"]) == {("http://weather.example",), ("http://today.example",)}
    assert ("weather", "http://weather.example") in found["query-clicks"]
    assert set(found["columns:url"]) == set(found["clicks"])
    assert all(95 <= count <= 105 for counts in found.values() for count in counts.values())


def test_no_single_persons_item_appears(path: Path) -> None:
    for _ in range(5):
        release = z.publish(z.read_log(path), GOAL, [z.queries(3)])
        published = release["queries"].arrow["query"].to_pylist()
        assert not any(query.startswith("private") for query in published)


def test_goal_is_the_total_over_the_kinds(path: Path) -> None:
    kinds = [z.queries(1), z.keywords(2)]
    release = z.publish(z.read_log(path), GOAL, kinds, split={"queries": 3, "keywords": 1})
    parts = release.record.plan
    assert [part.epsilon for part in parts] == [15, 5]
    assert sum(part.delta for part in parts) == pytest.approx(0.01)
    assert release.record.guarantee.exact == ExactBudget(epsilon="20", delta="1/100")


def test_more_users_than_declared_are_refused(path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon=20, delta="0.01", users=99)
    with pytest.raises(Refused, match="more users than"):
        z.publish(z.read_log(path), goal, [z.queries(1)])
    z.publish(
        z.read_log(path), z.ProbabilisticDP(epsilon=20, delta="0.01", users=100), [z.queries(1)]
    )


def test_the_number_of_users_in_the_log_changes_nothing_but_rows(tmp_path: Path) -> None:
    """The plan comes from the declared bound: one user more or less cannot move a threshold."""
    records = []
    for users in (50, 51):
        path = tmp_path / f"{users}.csv"
        path.write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(users)))
        release = z.publish(z.read_log(path), GOAL, [z.queries(1)], seed=3)
        records.append(release.record)
    assert records[0] == records[1]


def test_a_missing_column_is_said_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query\n1,a\n")
    log = z.read_log(path)
    for kind, role in ((z.clicks(1), "url"), (z.query_pairs(1), "time")):
        with pytest.raises(UsageError, match=f"{role}="):
            z.publish(log, GOAL, [kind])
    with pytest.raises(UsageError, match="time="):
        z.publish(log, GOAL, [z.queries(1)], select="first")
    with pytest.raises(UsageError, match="no column 'nope'"):
        z.publish(log, GOAL, [z.columns("nope", items_per_user=1)])


def test_a_log_without_anybody_gives_an_empty_release(tmp_path: Path) -> None:
    """One user more or less must not decide whether there is a release."""
    said: list[str] = []
    for lines in ("", ",a\n ,b\n", "1,a\n"):
        path = tmp_path / "log.csv"
        path.write_text("user,query\n" + lines)
        log = z.read_log(path)
        release = z.publish(log, GOAL, [z.queries(1)], attendance="unattended", say=said.append)
        assert len(release["queries"]) == 0
    assert not any("warning" in text for text in said), "and the data is not looked at to tell"


def test_an_empty_table_says_what_would_fill_it(path: Path, tmp_path: Path) -> None:
    goal = z.ProbabilisticDP(epsilon="0.1", delta="1e-6", users=200)
    release = z.publish(z.read_log(path), goal, [z.queries(3)], attendance="proceed")
    assert len(release["queries"]) == 0
    readme = (release.write(tmp_path / "out") / "README.md").read_text()
    assert "The table is empty: no item was among the counted items of about" in readme


def test_the_key_is_drawn_anew_and_published(path: Path) -> None:
    log = z.read_log(path)
    keys = {z.publish(log, GOAL, [z.queries(1)]).record.selection_key for _ in range(3)}
    assert len(keys) == 3


def test_how_parameters_were_chosen_is_recorded(path: Path) -> None:
    log = z.read_log(path)
    release = z.publish(log, GOAL, [z.queries(1)], parameters_from="this-log")
    assert release.record.parameters_from == "this-log"
    with pytest.raises(UsageError, match="parameters_from"):
        z.publish(log, GOAL, [z.queries(1)], parameters_from="a hunch")


def test_the_other_guarantee_is_stated_too(path: Path) -> None:
    log, kinds = z.read_log(path), [z.queries(1), z.keywords(2)]
    goal = z.ProbabilisticDP(epsilon=4, delta="0.001", users=500_000)
    other = z.publish(log, goal, kinds).record.also_guaranteed
    assert other is not None
    assert other.definition == "indistinguishable"
    assert other.epsilon == 4
    assert 0 < other.delta < 1e-7  # per person, far below the chance that anybody is breached
    each = z.Indistinguishability(epsilon=4, delta="1e-9", users=500_000)
    other = z.publish(log, each, kinds).record.also_guaranteed
    assert other is not None
    assert other.definition == "probabilistic"
    assert 1e-5 < other.delta < 1e-2
    each = z.Indistinguishability(epsilon=4, delta="1e-9")
    assert z.publish(log, each, kinds).record.also_guaranteed is None
