"""Given releases, measured against their log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

import zealous as z
from zealous.errors import ReleaseError, UsageError
from zealous.study.anonymity import KQuery, anonymize
from zealous.study.grid.result_table import Results
from zealous.synthetic import generate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, a release of it, what k-query makes of it, and tables in the same layout."""
    folder = tmp_path_factory.mktemp("evaluate")
    generate(folder / "log.parquet", users=1_500, seed=3)
    log = z.read_log(folder / "log.parquet")
    goal = z.ProbabilisticDP(epsilon=40, delta="0.001", users=1_500)
    kinds = [z.keywords(5), z.queries(2), z.query_pairs(1), z.phrase_pairs(1)]
    z.publish(log, goal, kinds, account=None).write(folder / "release")
    anonymize(folder / "k-query", log, KQuery(k=5))
    foreign = folder / "foreign"
    foreign.mkdir()
    (foreign / "queries.csv").write_text('query,count\nweather,7\n"invented, surely",3\n')
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> Results:
    releases = [folder / name for name in ("release", "k-query", "foreign")]
    return z.evaluate(releases, z.read_log(folder / "log.parquet"), output=folder / "out")


def test_every_release_stands_beside_the_original(folder: Path, found: Results) -> None:
    assert found.names("method") == ["original", "release", "k-query", "foreign"]
    release = z.read_release(folder / "release")
    for kind, m in (("keywords", 5), ("queries", 2), ("query-pairs", 1), ("phrase-pairs", 1)):
        published = release[kind].arrow
        distinct = found.value("distinct", kind, "release", epsilon=10, m=m)
        total = found.value("total", kind, "release")
        assert distinct is not None
        assert total is not None
        assert distinct.mean == published.num_rows
        assert total.mean == sum(published["count"].to_pylist())
    assert found.value("average-difference", "queries", "original").mean == 0  # type: ignore[union-attr]
    assert found.value("coverage", "query-pairs", "original", at=5).mean == 1  # type: ignore[union-attr]
    assert found.value("coverage", "query-pairs", "k-query", k=5, at=5) is not None
    hits = [found.value("hit-probability", "keywords", name) for name in ("original", "release")]
    assert hits[0] is not None
    assert hits[1] is not None
    assert 0 < hits[1].mean <= hits[0].mean + 0.05
    assert found.value("distinct", "queries", "foreign").mean == 2  # type: ignore[union-attr]
    assert found.value("distinct", "keywords", "foreign") is None


def test_what_is_written_is_internal(folder: Path, found: Results) -> None:
    out = folder / "out"
    assert {path.name for path in out.iterdir()} == {
        "internal-results.parquet",
        "internal-results.csv",
        "zealous-internal.json",
    }
    assert out.stat().st_mode & 0o777 == 0o700
    log = z.read_log(folder / "log.parquet")
    for inside in ("release", "k-query"):
        with pytest.raises(ReleaseError, match="inside a release"):
            z.evaluate([folder / "release"], log, output=folder / inside / "out")
        assert not (folder / inside / "out").exists()
    with pytest.raises(ReleaseError, match="exists already"):
        z.evaluate([folder / "release"], log, output=out)


def test_a_release_is_counted_as_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [
        f"u{i},{q},2026-03-{day:02},{c}"
        for i in range(40)
        for q, day, c in (("b a", 1, "fr"), ("a b", 2, "de"), ("late", 20, "fr"))
    ]
    path.write_text("user,query,time,country\n" + "\n".join(rows) + "\n")
    log = z.read_log(path)
    goal = z.ProbabilisticDP(epsilon=40, delta="0.01", users=40)
    for name, kind, period in (
        ("folded", z.queries(3, fold_words=True), None),
        ("by", z.queries(3, by="country"), None),
        ("early", z.queries(3), "2026-03-01..2026-03-09"),
    ):
        z.publish(log, goal, [kind], period=period, account=None).write(tmp_path / name)
        found = z.evaluate([tmp_path / name], log)
        assert found.value("total-variation", "queries", name).mean < 0.05  # type: ignore[union-attr]
        assert found.value("distinct", "queries", "original").mean == (  # type: ignore[union-attr]
            3 if name == "by" else 2
        )
    for others in (["folded", "by"], ["by", "early"]):
        with pytest.raises(UsageError, match="one at a time"):
            z.evaluate([tmp_path / name for name in others], log)
    with pytest.raises(UsageError, match="named twice"):
        z.evaluate([tmp_path / "by", tmp_path / "by"], log)


def test_what_is_no_release_is_refused(tmp_path: Path, folder: Path) -> None:
    log = z.read_log(folder / "log.parquet")
    with pytest.raises(ReleaseError, match="is no release"):
        z.evaluate([tmp_path], log)
    (tmp_path / "queries.csv").write_text("word,count\nsecret,1\n")
    with pytest.raises(ReleaseError, match="must have the columns query, count") as error:
        z.evaluate([tmp_path], log)
    assert "secret" not in str(error.value)
    (tmp_path / "queries.csv").write_text("query,count\nsecret,many\n")
    with pytest.raises(ReleaseError, match="cannot be read") as error:
        z.evaluate([tmp_path], log)
    assert "many" not in str(error.value)


def test_the_command(run: Run, folder: Path) -> None:
    releases = [folder / "release", folder / "k-query"]
    done = run("study", "evaluate", *releases, "--against", folder / "log.parquet")
    assert done.code == 0, done.said
    for text in ("keywords", "cache hits", "k-query", "original", "top 1,000 missing"):
        assert text in done.stdout
    assert "internal" in done.stderr
    assert run("study", "evaluate", folder / "release").code == 2


def test_the_command_prints_one_object(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\nu1,a\nu2,a\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "queries.csv").write_text("query,count\na,2\n")
    done = run("study", "evaluate", "tables", "--against", "log.csv", "--json")
    said = json.loads(done.stdout)
    assert said["internal"] is True
    assert {row["method"] for row in said["rows"]} == {"original", "tables"}


def test_days_of_a_user_are_compared_with_days_of_a_user(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"u{i},same,2026-03-{day:02}" for i in range(40) for day in (1, 2, 3)]
    path.write_text("user,query,time\n" + "\n".join(rows) + "\n")
    log = z.read_log(path)
    goal = z.ProbabilisticDP(epsilon=40, delta="0.01", users=120, unit="user-day")
    z.publish(log, goal, [z.queries(1)], account=None).write(tmp_path / "days")
    found = z.evaluate([tmp_path / "days"], log)
    assert found.value("total", "queries", "original").mean == 120  # type: ignore[union-attr]
    users = z.ProbabilisticDP(epsilon=40, delta="0.01", users=40)
    z.publish(log, users, [z.queries(1)], account=None).write(tmp_path / "users")
    with pytest.raises(UsageError, match="different units"):
        z.evaluate([tmp_path / "days", tmp_path / "users"], log)


def test_tables_that_are_none(tmp_path: Path, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    log = z.read_log(folder / "log.parquet")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for counts, said in (([5.5], "whole numbers"), ([None], "empty cells")):
        pq.write_table(pa.table({"query": ["a"], "count": counts}), foreign / "queries.parquet")
        with pytest.raises(ReleaseError, match=said):
            z.evaluate([foreign], log, output=tmp_path / "out")
        assert not (tmp_path / "out").exists()
    foreign.rename(tmp_path / "original")
    with pytest.raises(UsageError, match="rename"):
        z.evaluate([tmp_path / "original"], log)


def test_a_log_cleaned_in_another_way_is_told(folder: Path) -> None:
    from zealous.logs.log import Cleaning

    said: list[str] = []
    log = z.read_log(folder / "log.parquet", cleaning=Cleaning(max_entries_per_user=50))
    z.evaluate([folder / "release"], log, say=said.append)
    assert any("left out other users" in text for text in said)
