"""zealous study anonymize and what the other commands make of its output, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Run
from sampling import sampled

from zealous.logs.log import read_log
from zealous.study.anonymity import METHODS, WARNING, Pseudonym, anonymize
from zealous.verification.verify import verify

ROWS = [
    # user, time, query: "tea" of three users, "green tea" of two, "zythum 1" of one
    ("ann", "2026-03-01 10:00:00", "tea"),
    ("ann", "2026-03-01 10:05:00", "green tea"),
    ("bob", "2026-03-01 10:00:00", "tea"),
    ("bob", "2026-03-01 10:05:00", "green tea"),
    ("cat", "2026-03-02 10:00:00", "Tea"),
    ("cat", "2026-03-02 12:00:00", "zythum 1"),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = ["user\ttime\tquery", *("\t".join(row) for row in ROWS)]
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("method", sampled(list(METHODS), str, share=len(METHODS)))
def test_every_method_on_a_log(method: str, log: Path, tmp_path: Path, run: Run) -> None:
    ran = run("study", "anonymize", log, "--method", method, "-k", 2, "-o", "out", "--json")
    assert ran.code == 0, ran.stderr
    assert WARNING in ran.stderr
    about = json.loads(ran.stdout)
    assert about["differentially_private"] is False
    assert about["warning"] == WARNING
    assert all(about[name] for name in ("promises", "lacks", "origin"))
    assert {each["what"] for each in about["internal"]} >= {"users suppressed"}
    written = json.loads((tmp_path / "out" / "anonymized.json").read_text())
    assert "internal" not in written, "true figures are for the owner's terminal"
    text = (tmp_path / "out" / "README.md").read_text()
    assert WARNING in text
    for path in (tmp_path / "out").glob("*.parquet"):
        assert WARNING in pq.read_schema(path).metadata[b"zealous"].decode(), path.name
    checks = {check.name: check for check in verify(tmp_path / "out")}
    assert not checks["differential privacy"].ok
    assert "NOT DIFFERENTIALLY PRIVATE" in checks["differential privacy"].detail
    assert checks["files"].ok
    said = run("study", "anonymize", log, "--method", method, "-k", 2, "-o", "again").stdout
    assert about["promises"] in " ".join(said.split())
    assert about["lacks"] in " ".join(said.split())


def test_the_documented_result_of_k_query(log: Path, tmp_path: Path, run: Run) -> None:
    assert run("study", "anonymize", log, "--method", "k-query", "-k", 3, "-o", "out").code == 0
    assert (tmp_path / "out" / "queries.csv").read_text() == "query,count\ntea,3\n"
    rows = pq.read_table(tmp_path / "out" / "log.parquet")
    assert rows.column_names == ["id", "time", "query"]
    assert rows["query"].to_pylist() == ["tea"] * 3
    assert len(set(rows["id"].to_pylist())) == 3


def test_verify_says_that_it_is_not_private(log: Path, run: Run) -> None:
    run("study", "anonymize", log, "--method", "k-query", "-k", 2, "-o", "out")
    ran = run("verify", "out", "--json")
    assert ran.code == 1
    checks = {each["name"]: each for each in json.loads(ran.stdout)["checks"]}
    assert "NOT DIFFERENTIALLY PRIVATE" in checks["differential privacy"]["detail"]
    assert checks["files"]["ok"] is True


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda out: (out / "queries.csv").write_text("x"), "changed since"),
        (lambda out: (out / "queries.csv").unlink(), "not those"),
        (lambda out: (out / "more.csv").write_text("x"), "not those"),
        (lambda out: (out / "link").symlink_to(out / "queries.csv"), "a file of its own"),
        (lambda out: (out / "anonymized.json").write_text("[]"), "no readable anonymized.json"),
        (lambda out: (out / "anonymized.json").write_text("[" * 100_000), "no readable"),
        (lambda out: (out / "anonymized.json").write_text('{"method": []}'), "no readable"),
    ],
)
def test_verify_finds_changed_files(change: object, why: str, log: Path) -> None:
    out = log.parent / "out"
    anonymize(out, read_log(log), Pseudonym())
    change(out)  # type: ignore[operator]
    found = {check.name: check for check in verify(out)}
    assert found["files"].ok is False
    assert why in found["files"].detail
    assert found["differential privacy"].ok is False
    assert "NOT DIFFERENTIALLY PRIVATE: the output of" in found["differential privacy"].detail


def test_it_cannot_pass_for_a_release(log: Path, run: Run) -> None:
    run("study", "anonymize", log, "--method", "pseudonym", "-o", "out")
    (log.parent / "out" / "release.json").write_text("{}")
    assert run("verify", "out").code == 1


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        (["--method", "k-query"], 2, "no default: say -k 10"),
        (["--method", "k-query", "-k", 1], 2, "k must be at least 2"),
        (["--method", "k-query", "-k", 0], 2, "k must be"),
        (["--method", "k-session", "-k", 4], 2, "larger than the number of users"),
        (["--method", "k-keyword", "-k", 4], 2, "larger than the number of users"),
        (["--method", "similar-histories", "-k", 2, "--tolerance", "1"], 2, "tolerance"),
        (["--method", "similar-histories", "-k", 2, "--tolerance", "x"], 2, "tolerance"),
        (["--method", "k-query", "-k", 2, "--session-gap", 0], 2, "session_gap"),
        (["--method", "nonsense"], 2, "nonsense"),
        (["--method", "pseudonym", "--query", "nothing"], 2, "no column"),
    ],
)
def test_wrong_usage(given: list[object], code: int, why: str, log: Path, run: Run) -> None:
    ran = run("study", "anonymize", log, *given, "-o", "out")
    assert ran.code == code
    assert why in ran.stderr
    assert "zythum" not in ran.said
    assert not (log.parent / "out").exists()
    assert not list(log.parent.glob(".zealous-*"))


@pytest.mark.parametrize("method", ["k-query", "k-session"])
def test_a_log_without_times_has_no_sessions(method: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\nb,tea\n")
    ran = run("study", "anonymize", "log.csv", "--method", method, "-k", 2, "-o", "out")
    assert ran.code == 2
    assert "neither times nor session ids: say --time COLUMN or --session COLUMN" in ran.stderr


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"k-query", "k-session"}))
def test_the_others_need_no_times(method: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text("user,query\na,tea\nb,tea\n")
    ran = run("study", "anonymize", "log.csv", "--method", method, "-k", 2, "-o", "out", "--json")
    assert ran.code == 0, ran.stderr
    assert "query-pairs" not in json.loads(ran.stdout)["gives"]
    assert pq.read_table(tmp_path / "out" / "query-pairs.parquet").num_rows == 0


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_log(method: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "log.csv").write_text("user,time,query\n,2026-03-01,tea\n")
    ran = run("study", "anonymize", "log.csv", "--method", method, "-k", 2, "-o", "out")
    assert ran.code == 1
    assert "no entry with a user id was understood" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("method", METHODS)
def test_a_log_with_users_and_no_query(method: str, tmp_path: Path, run: Run) -> None:
    rows = {"user": ["a", "b"], "time": ["2026-03-01"] * 2, "query": ["?", None]}
    pq.write_table(pa.table(rows), tmp_path / "log.parquet")
    ran = run("study", "anonymize", "log.parquet", "--method", method, "-k", 2, "-o", "out")
    assert ran.code == 0, ran.stderr
    for kind in ("keywords", "queries", "query-pairs"):
        assert pq.read_table(tmp_path / "out" / f"{kind}.parquet").num_rows == 0


def test_k_plays_no_role_where_nobody_is_hidden(log: Path, run: Run) -> None:
    ran = run("study", "anonymize", log, "--method", "pseudonym", "-k", 5, "-o", "out")
    assert ran.code == 0
    assert "-k plays no role" in ran.stderr


def test_tolerance_plays_no_role_elsewhere(log: Path, run: Run) -> None:
    given = ["--method", "k-query", "-k", 2, "--tolerance", "0.3"]
    ran = run("study", "anonymize", log, *given, "-o", "o")
    assert "--tolerance plays no role in k-query" in ran.stderr


def test_an_existing_directory_is_not_touched(log: Path, run: Run) -> None:
    (log.parent / "out").mkdir()
    ran = run("study", "anonymize", log, "--method", "pseudonym", "-o", "out")
    assert ran.code == 1
    assert "exists already" in ran.stderr
    assert list((log.parent / "out").iterdir()) == []


@pytest.mark.parametrize("moved", [False, True])
def test_nothing_is_published_from_it(moved: bool, log: Path, run: Run) -> None:
    run("study", "anonymize", log, "--method", "k-query", "-k", 2, "-o", "out")
    found = log.parent / "out" / "log.parquet"
    if moved:
        found = found.rename(log.parent / "moved.parquet")
    given = ["--items", "queries", "--items-per-user", 1, "--users", 9, "--epsilon", 1]
    ran = run("publish", found, "--user", "id", *given, "--delta", "0.1", "-o", "release")
    assert ran.code == 1
    assert "Publish from the log itself" in ran.stderr
    assert not (log.parent / "release").exists()


def test_nobody_else_may_look(log: Path, run: Run) -> None:
    run("study", "anonymize", log, "--method", "pseudonym", "-o", "out")
    assert (log.parent / "out").stat().st_mode & 0o777 == 0o700


def test_pairs_are_those_of_the_sessions_that_were_cut(tmp_path: Path, run: Run) -> None:
    rows = [f"{u},{h}:00,{q}\n" for u in "ab" for h, q in (("10", "tea"), ("11", "pot"))]
    (tmp_path / "log.csv").write_text("user,at,query\n" + "".join(rows))
    given = ["log.csv", "--method", "k-query", "-k", 2, "--time", "at", "--time-format", "%H:%M"]
    run("study", "anonymize", *given, "-o", "short")
    run("study", "anonymize", *given, "--session-gap", 60, "-o", "long")
    pairs = {name: (tmp_path / name / "query-pairs.csv").read_text() for name in ("short", "long")}
    assert pairs == {
        "short": "query,next_query,count\n",
        "long": "query,next_query,count\ntea,pot,2\n",
    }
    (tmp_path / "own.csv").write_text(
        "user,time,session,query\n"
        + "".join(
            f"{u},2026-03-0{day},{day % 2},{q}\n"
            for u in "ab"
            for day, q in ((1, "tea"), (2, "far"), (3, "pot"))
        )
    )
    run("study", "anonymize", "own.csv", "--method", "k-query", "-k", 2, "-o", "own")
    assert (tmp_path / "own" / "query-pairs.csv").read_text() == pairs["long"]


def test_the_output_is_not_read_as_part_of_a_folder_of_logs(log: Path, run: Run) -> None:
    folder = log.parent / "logs"
    folder.mkdir()
    log.rename(folder / "log.tsv")
    assert run("study", "anonymize", folder, "--method", "pseudonym", "-o", "logs/out").code == 0
    ran = run("study", "anonymize", folder, "--method", "pseudonym", "-o", "out", "--json")
    assert ran.code == 0, ran.stderr
    rows = pq.read_table(log.parent / "out" / "log.parquet")
    assert rows.num_rows == len(ROWS)
