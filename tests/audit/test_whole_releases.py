"""What may differ between runs on one log, and what whole releases must keep."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from zealous.audit.observables import constants_agree, published_alike
from zealous.audit.recompute import counts_after_selection
from zealous.audit.runs import Run
from zealous.audit.whole_releases import _files_agree, _is_refused, _passes_check, _rows_are_sorted
from zealous.record.codec import decode
from zealous.record.record import Record

KEYS = ("0f" * 8, "1e" * 8, "2d" * 8)
KEPT = Path(__file__).parents[1] / "fixtures" / "0.1.0" / "days" / "release.json"


def about(key: str, rows: int = 2) -> dict[str, Any]:
    """What the release.json of a release of one table could say."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return {
        **kept,
        "created": f"{datetime.now(UTC):%Y-%m-%d}",
        "selection_key": key,
        "ledger": {**kept["ledger"], "ledger": key * 2, "hash": key[::-1] * 4},
        "files": {"tags": {**kept["files"]["queries"], "csv": "tags.csv", "rows": rows}},
    }


def record_of(run: Run) -> Record:
    """The record of a run that wrote none."""
    del run
    return decode(json.dumps(about(KEYS[0])))


def release(directory: Path, name: str, key: str, **more: Any) -> Run:
    """A release of one table, as a run could have left it."""
    made = directory / name / "release"
    made.mkdir(parents=True)
    (directory / name / "log.csv").write_text("user,tag\n")
    (made / "tags.csv").write_text(f"tag,count\na,{int(key[:2], 16)}\n")
    table = pa.table({"tag": ["a"], "count": [9]})
    pq.write_table(table.replace_schema_metadata(more.get("metadata")), made / "tags.parquet")
    said = about(key) | more.get("about", {})
    digest = hashlib.sha256((made / "tags.csv").read_bytes()).hexdigest()
    text = json.dumps({**said, "sha256": {"tags.csv": digest}})
    (made / "README.md").write_text(f"Made on {said['created']}, {digest}.{more.get('text', '')}")
    (made / "release.json").write_text(text)
    return Run(log=directory / name / "log.csv", code=0, stdout=text, directory=made)


def test_what_is_random_may_differ(tmp_path: Path) -> None:
    runs = {key: release(tmp_path, key, key) for key in KEYS}
    assert published_alike(runs)
    assert constants_agree(runs, (KEYS[0], KEYS[1]))


@pytest.mark.parametrize(
    "leak",
    [
        {"about": {"log": "ab" * 32}},
        {"about": {"log": {"rows": 3}}},
        {"about": {"log": {"selection_key": "ab" * 8}}},
        {"about": {"created": "2020-01-01"}},
        {"about": {"files": about(KEYS[1], rows=3)["files"]}},
        {"text": " made from 7,203 rows"},
        {"metadata": {"skipped": "4"}},
    ],
    ids=str,
)
def test_what_is_not_may_not(leak: dict[str, Any], tmp_path: Path) -> None:
    runs = {
        "one": release(tmp_path, "one", KEYS[0]),
        "other": release(tmp_path, "other", KEYS[1], **leak),
    }
    assert not _passes_check(published_alike, runs)


def test_a_value_that_does_not_look_random_is_compared(tmp_path: Path) -> None:
    runs = {
        "one": release(tmp_path, "one", KEYS[0], about={"selection_key": "7"}),
        "other": release(tmp_path, "other", KEYS[1], about={"selection_key": "8"}),
    }
    assert not published_alike(runs)


def test_a_hash_that_is_not_of_a_file_is_compared(tmp_path: Path) -> None:
    runs = {key: release(tmp_path, key, key) for key in KEYS}
    (tmp_path / KEYS[0] / "release" / "tags.csv").write_text("tag,count\nb,3\n")
    assert not published_alike(runs)


def test_what_two_runs_share_the_third_must_share(tmp_path: Path) -> None:
    """A key made from the log is the same when the log is."""
    runs = {
        "without": release(tmp_path, "without", KEYS[0]),
        "again": release(tmp_path, "again", KEYS[0]),
        "with": release(tmp_path, "with", KEYS[1]),
    }
    assert published_alike(runs)
    assert not constants_agree(runs, ("without", "again"))


def test_a_refusal_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,tag\n")
    (tmp_path / "ledger").mkdir()
    ran = Run(log=tmp_path / "log.csv", code=1, stdout="", directory=tmp_path / "release")
    assert _is_refused(ran)
    assert not _is_refused(replace(ran, code=0))
    assert not _is_refused(replace(ran, stdout="{}"))
    (tmp_path / ".zealous-x").mkdir()
    assert not _is_refused(ran)


def test_each_user_keeps_the_item_that_the_key_puts_first() -> None:
    held = [(f"u{i}", item) for i in range(400) for item in "abc"]
    kept = counts_after_selection(held + held, "00000000000000ff")
    assert sum(kept.values()) == 400
    assert stats.chisquare([kept[item] for item in "abc"]).pvalue > 1e-6
    assert kept != counts_after_selection(held, "00000000000000fe")


def test_the_whole_csv_file_is_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Run(log=tmp_path, code=0, stdout="", directory=tmp_path)
    written = pa.table({"tag": ["b", "a"], "count": [9, 8]})
    monkeypatch.setattr(Run, "written", lambda *_: written)
    monkeypatch.setattr(Run, "record", record_of)
    for text, right in (
        ("tag,count\nb,9\na,8\n", True),
        ("tag,count\na,8\nb,9\n", False),
        ("tag,count\nb,9\na,8\n\n", False),
    ):
        (tmp_path / "tags.csv").write_text(text)
        assert _files_agree({"one": ran}) is right


def test_unsorted_rows_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Run(log=tmp_path, code=0, stdout="", directory=tmp_path)
    monkeypatch.setattr(Run, "record", record_of)
    for rows, right in (
        ([("b", 9), ("a", 8), ("c", 8)], True),
        ([("b", 9), ("c", 8), ("a", 8)], False),
        ([("a", 8), ("b", 9)], False),
        ([("b", "c", 9), ("a", "b", 8), ("a", "c", 8)], True),
        ([("b", "c", 9), ("a", "c", 8), ("a", "b", 8)], False),
    ):
        monkeypatch.setattr(Run, "table", lambda *_, rows=rows: rows)
        assert _rows_are_sorted({"one": ran}) is right
