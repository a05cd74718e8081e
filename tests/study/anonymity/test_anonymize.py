"""From a log to a directory: whole or not at all, marked everywhere, and counted rightly."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError, ReleaseError, UsageError
from zealous.logs.log import Log
from zealous.study.anonymity import (
    METHODS,
    WARNING,
    Anonymized,
    Bundle,
    Pseudonym,
    anonymize,
    method_by_name,
    read_bundle,
)
from zealous.study.anonymity.output import KINDS

START = datetime(2006, 3, 1)
SHARED = ["green tea", "Tea  pot", "weather today", "cheap flights", "tea pot"]


def write_log(folder: Path, name: str = "log.parquet", *, times: bool = True) -> Log:
    """Twelve users who ask what others ask, and each something of her own."""
    rows = []
    for user in range(12):
        for at in range(6):
            query = SHARED[(user + at) % 5 if at < 4 else 0] if at != 3 else f"own{user}word x"
            minutes = 10 * at + (200 if at > 4 else 0)
            rows.append((f"secret-user-{user}", START + timedelta(minutes=minutes), query))
    rows.append(("secret-user-0", START, "?!"))
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.table(dict(zip(("user", "time", "query"), columns, strict=True)))
    folder.mkdir(exist_ok=True)
    pq.write_table(table if times else table.drop_columns(["time"]), folder / name)
    return z.read_log(folder / name)


def made(target: Path, log: Log, method: str) -> Anonymized:
    engine = DuckDB(memory="2GB", threads=1)
    return anonymize(target, log, method_by_name(method, k=3), engine=engine)


def words(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower())


def asked(text: str) -> str:
    return " ".join(text.lower().split())


def holders(pairs: Iterable[tuple[str, tuple[str, ...]]]) -> Counter[tuple[str, ...]]:
    return Counter(item for _, item in set(pairs))


def counted(rows: list[dict[str, Any]], session_ids: bool) -> dict[str, Counter[tuple[str, ...]]]:
    """What a recipient of the rows can count, in plain Python."""
    found: dict[str, Counter[tuple[str, ...]]] = {}
    if rows and "keywords" in rows[0]:
        held = ((row["id"], (word,)) for row in rows for word in row["keywords"])
        return {"keywords": holders(held)}
    found["keywords"] = holders((r["id"], (word,)) for r in rows for word in words(r["query"]))
    found["queries"] = holders((row["id"], (asked(row["query"]),)) for row in rows)
    if rows and "time" in rows[0]:
        histories = defaultdict(list)
        for row in rows:
            if row["time"] is not None:
                histories[row["id"]].append((row["time"], asked(row["query"])))
        found["query-pairs"] = holders(
            (id_, (query, following))
            for id_, history in histories.items()
            for (before, query), (after, following) in pairwise(sorted(history))
            if query != following and (session_ids or after - before <= timedelta(minutes=30))
        )
    return found


def histograms(bundle: Bundle) -> dict[str, Counter[tuple[str, ...]]]:
    found = {}
    for kind, item in KINDS.items():
        table = pq.read_table(bundle.directory / bundle.record.files[kind].parquet)
        found[kind] = Counter(
            {tuple(row[name] for name in item): row["count"] for row in table.to_pylist()}
        )
    return found


@pytest.mark.parametrize("method", METHODS)
def test_the_bundle_is_whole_and_marked_everywhere(tmp_path: Path, method: str) -> None:
    bundle = made(tmp_path / "out", write_log(tmp_path), method).bundle
    about = json.loads((tmp_path / "out" / "anonymized.json").read_text())
    assert about["differentially_private"] is False
    assert about["warning"] == WARNING
    assert WARNING in (tmp_path / "out" / "README.md").read_text()
    for text in (about["promises"], about["lacks"], about["origin"]):
        assert len(text) > 30
        assert text in (tmp_path / "out" / "README.md").read_text()
    parquet = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(parquet) == len(KINDS) + (about["log"] is not None)
    for path in parquet:
        assert WARNING.encode() in pq.read_schema(path).metadata[b"zealous"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {*about["sha256"], "anonymized.json"}
    assert {"README.md", "keywords.csv", "queries.csv", "query-pairs.csv"} <= names
    assert len(bundle["keywords"]) > 0


@pytest.mark.parametrize("times", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_the_histograms_are_those_of_the_log(tmp_path: Path, method: str, times: bool) -> None:
    log = write_log(tmp_path, times=times)
    if not times and METHODS[method].session_ids:
        with pytest.raises(UsageError, match="time="):
            made(tmp_path / "out", log, method)
        return
    bundle = made(tmp_path / "out", log, method).bundle
    rows = bundle.log()
    if rows is None:
        assert bundle.record.gives == ("keywords",)
        assert not histograms(bundle)["queries"]
        return
    assert rows.num_rows > 0
    expected = counted(rows.to_pylist(), METHODS[method].session_ids)
    assert sorted(expected) == sorted(bundle.record.gives)
    assert histograms(bundle) == {kind: expected.get(kind, Counter()) for kind in KINDS}
    assert sum(expected["keywords"].values()) > 0


@pytest.mark.parametrize("method", METHODS)
def test_no_row_tells_the_user_or_the_order_of_the_log(tmp_path: Path, method: str) -> None:
    bundle = made(tmp_path / "out", write_log(tmp_path), method).bundle
    rows = bundle.log()
    if rows is None:
        return
    assert rows.column_names[0] == "id"
    assert "user" not in rows.column_names
    told = rows.to_pylist()
    assert not [row for row in told if "secret" in str(row)]
    ids = rows.column("id").to_pylist()
    assert ids == sorted(ids)
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


def test_the_order_of_the_lines_does_not_show(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    table = pq.read_table(tmp_path / "log.parquet")
    backwards = table.take(list(range(table.num_rows))[::-1])
    pq.write_table(backwards, tmp_path / "backwards.parquet")
    seen = []
    for number, each in enumerate((log, z.read_log(tmp_path / "backwards.parquet"))):
        rows = made(tmp_path / f"out{number}", each, "pseudonym").bundle.log()
        assert rows is not None
        by_id = defaultdict(list)
        for row in rows.to_pylist():
            by_id[row["id"]].append((row["time"], row["query"]))
        seen.append(sorted(by_id.values()))
        assert all(history == sorted(history) for history in by_id.values())
    assert seen[0] == seen[1]


def test_ids_are_new_in_every_run(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    ids = []
    for number in range(2):
        rows = made(tmp_path / f"out{number}", log, "pseudonym").bundle.log()
        assert rows is not None
        ids.append(set(rows.column("id").to_pylist()))
    assert len(ids[0]) == len(ids[1]) == 12
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("method", METHODS)
def test_the_owner_is_told_what_was_suppressed(tmp_path: Path, method: str) -> None:
    changed = made(tmp_path / "out", write_log(tmp_path), method).changed
    assert "users suppressed" in {each.what for each in changed}
    assert len({each.what for each in changed}) == len(changed)
    assert all(each.number >= 0 and each.of > 0 for each in changed)
    # Internal figures stay out of what is written.
    about = (tmp_path / "out" / "anonymized.json").read_text()
    assert not [each.what for each in changed if each.what in about]


def test_what_exists_is_not_overwritten(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    target = tmp_path / "out"
    target.mkdir()
    (target / "kept.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="exists already"):
        anonymize(target, log, Pseudonym())
    assert [path.name for path in target.iterdir()] == ["kept.txt"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_log(tmp_path / "logs")
    (tmp_path / "work").mkdir()

    def fails(*_: object) -> None:
        raise OSError(28, "no space")

    # The package gives the function the module's name.
    monkeypatch.setattr(sys.modules[anonymize.__module__], "write_bundle", fails)
    engine = DuckDB(memory="2GB", threads=1, temporary=tmp_path / "work")
    with pytest.raises(ReleaseError, match="nothing was left behind"):
        anonymize(tmp_path / "out", log, Pseudonym(), engine=engine)
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "work"}
    assert not list((tmp_path / "work").iterdir())


def test_a_log_without_users_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": ["", " "], "query": ["tea", "pot"]}), tmp_path / "log.parquet")
    with pytest.raises(LogError, match="no entry with a user id"):
        anonymize(tmp_path / "out", z.read_log(tmp_path / "log.parquet"), Pseudonym())
    assert not (tmp_path / "out").exists()


def test_k_beyond_the_users_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    with pytest.raises(UsageError, match="larger than the number of users"):
        anonymize(tmp_path / "out", log, method_by_name("k-query", k=13))
    assert not (tmp_path / "out").exists()


def test_a_folder_of_logs_skips_what_was_anonymised(tmp_path: Path) -> None:
    log = write_log(tmp_path / "logs")
    made(tmp_path / "logs" / "out", log, "pseudonym")
    assert z.read_log(tmp_path / "logs").paths == log.paths


@pytest.mark.real
@pytest.mark.parametrize("method", METHODS)
def test_real_queries(tmp_path: Path, real: Path, method: str) -> None:
    log = z.read_log(real / "excite-small.log", preset="excite")
    bundle = made(tmp_path / "out", log, method).bundle
    rows = bundle.log()
    if rows is not None:
        expected = counted(rows.to_pylist(), METHODS[method].session_ids)
        assert sum(histograms(bundle)["keywords"].values()) > 0
        assert expected.keys() == set(bundle.record.gives)


def test_an_output_from_before_clicks_can_be_read(tmp_path: Path) -> None:
    made(tmp_path / "out", write_log(tmp_path), "pseudonym")
    about = json.loads((tmp_path / "out" / "anonymized.json").read_text())
    files = about["files"].pop("clicks")
    for name in (files["parquet"], files["csv"]):
        (tmp_path / "out" / name).unlink()
        del about["sha256"][name]
    (tmp_path / "out" / "anonymized.json").write_text(json.dumps(about))
    old = read_bundle(tmp_path / "out")
    assert len(old["queries"]) > 0
    assert len(old["clicks"]) == 0
