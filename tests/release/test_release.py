"""The bundle: what is in it, that it is whole or absent, and that it can be read back."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import re
import shlex
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Run
from msgspec import structs

from zealous.engines.duckdb import DuckDB
from zealous.errors import Refused, ReleaseError
from zealous.files import local
from zealous.files.places import Place
from zealous.items import Kind, clicks, columns, keywords, queries, query_clicks, query_pairs
from zealous.logs.log import read_log
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.record.codec import to_json
from zealous.record.record import FORMAT, TableFiles
from zealous.release import bundle as module
from zealous.release import provenance
from zealous.release.build import audit_figures, build_hash
from zealous.release.bundle import Release, file_names, read_release
from zealous.release.publish import publish
from zealous.release.table import INTERVAL, Table, sorted_table
from zealous.version import VERSION

Row = tuple[str, str, str, str]

# 37 users; a number that must not appear in a release. What 3 users or more hold is published.
USERS = 37
ROWS: list[Row] = [
    row
    for user in range(USERS)
    for row in (
        (f"u{user}", "Green  Tea", "2006-03-01 12:00:00", "http://a.example/tea"),
        (
            f"u{user}",
            ["shoes", "hats", "gloves"][user % 3],
            "2006-03-01 12:05:00",
            "http://b.example",
        ),
    )
]
KINDS: dict[str, tuple[Kind, list[str]]] = {
    "keywords": (keywords(3), ["keyword"]),
    "queries": (queries(2), ["query"]),
    "clicks": (clicks(2), ["url"]),
    "query-pairs": (query_pairs(1), ["query", "next_query"]),
    "query-clicks": (query_clicks(2), ["query", "url"]),
    "columns:query+url": (columns("query", "url", items_per_user=2), ["query", "url"]),
}
GOAL = ProbabilisticDP(epsilon=2_000, delta="0.5", users=1_000)


def made(
    tmp_path: Path,
    rows: list[Row] = ROWS,
    kinds: list[Kind] | None = None,
    goal: Guarantee = GOAL,
    seed: int | None = None,
) -> Release:
    path = tmp_path / "log.tsv"
    lines = ["\t".join(row) + "\n" for row in rows]
    path.write_text("user\tquery\ttime\turl\n" + "".join(lines), encoding="utf-8")
    engine = DuckDB(threads=1, temporary=tmp_path)
    chosen = kinds or [kind for kind, _ in KINDS.values()]
    return publish(read_log(path), goal, chosen, engine=engine, seed=seed, account=None)


def table(release: Release, kind: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in release[kind].arrow.to_pylist()]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return made(tmp_path_factory.mktemp("log"))


# What is in it


def test_the_files_of_a_bundle(release: Release, tmp_path: Path) -> None:
    target = release.write(tmp_path / "out")
    bases = {kind: "columns-query-url" if ":" in kind else kind for kind in KINDS}
    tables = {f"{base}.{ending}" for base in bases.values() for ending in ("csv", "parquet")}
    papers = set(module.TEXTS)
    assert {path.name for path in target.iterdir()} == {"release.json", *papers, *tables}
    about = json.loads((target / "release.json").read_text(encoding="utf-8"))
    assert about["sha256"].keys() == papers | tables
    assert about == {**to_json(release.record), "sha256": about["sha256"]}
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    for kind, (_, names) in KINDS.items():
        arrow = pq.read_table(target / f"{bases[kind]}.parquet")
        assert arrow.column_names == [*names, "count", *INTERVAL]
        assert arrow.schema.types == [*[pa.string()] * len(names), *[pa.int64()] * 3]
        with (target / f"{bases[kind]}.csv").open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file))
        assert head == arrow.column_names
        assert [(*row[:-3], int(row[-3])) for row in rows] == table(release, kind)
        assert rows


def test_the_rows_of_each_kind(release: Release) -> None:
    tea, hats = ("green tea", "http://a.example/tea"), ("hats", "http://b.example")
    assert table(release, "clicks") == [("http://a.example/tea", 37), ("http://b.example", 37)]
    assert ("green tea", "hats", 12) in table(release, "query-pairs")
    assert (*tea, 37) in table(release, "query-clicks")
    assert (*hats, 12) in table(release, "query-clicks")
    assert ("Green Tea", "http://a.example/tea", 37) in table(release, "columns:query+url")
    assert ("green", 37) in table(release, "keywords")


def test_rows_are_sorted_by_count_then_item(release: Release) -> None:
    for kind in KINDS:
        rows = table(release, kind)
        assert rows == sorted(rows, key=lambda row: (-row[-1], row[:-1]))
    assert table(release, "queries") == [
        ("green tea", 37),
        ("shoes", 13),
        ("gloves", 12),
        ("hats", 12),
    ]
    given = pa.table(
        {"a": ["y", "x", "ä", "x", "X"], "b": ["1", "2", "1", "1", "1"], "count": [5, 5, 5, 5, 9]}
    )
    found = sorted_table(given, ("a", "b")).arrow.to_pylist()
    assert [row["a"] + row["b"] for row in found] == ["X1", "x1", "x2", "y1", "ä1"]


def test_release_json(release: Release, tmp_path: Path) -> None:
    about = json.loads((release.write(tmp_path / "out") / "release.json").read_text("utf-8"))
    assert about["format"] == FORMAT
    audited = about["software"].pop("audit", None)
    assert audited == (None if (found := audit_figures()) is None else structs.asdict(found))
    assert about["software"] == {"name": "zealous", "version": VERSION, "build": build_hash()}
    assert about["private"] is True
    assert re.fullmatch(r"[0-9a-f]{16}", about["selection_key"])
    assert about["guarantee"]["definition"] == "probabilistic"
    assert about["guarantee"]["exact"] == {"epsilon": "2000", "delta": "1/2"}
    assert about["guarantee"]["users"] == 1_000
    assert about["guarantee"]["neighbors"] == "replace"
    assert len(about["assumptions"]) >= 5
    assert [part["kind"] for part in about["plan"]] == list(KINDS)
    for part in about["plan"]:
        assert {"epsilon", "delta", "items_per_user", "scale", "tau", "tau_prime"} <= set(part)
    for kind, (_, names) in KINDS.items():
        assert about["files"][kind]["columns"] == names
        assert about["files"][kind]["rows"] == len(release[kind])


def test_no_figure_of_the_log_is_in_the_bundle(release: Release, tmp_path: Path) -> None:
    target = release.write(tmp_path / "out")
    known = json.dumps({**to_json(release.record), "selection_key": "", "created": ""})
    papers = [(target / name).read_text("utf-8") for name in ("README.md", "registry.yaml")]
    for text in (known, *papers):
        said = re.sub(r"\b[0-9a-f]{16,}\b", "", text)  # digits of a hash may be any
        numbers = set(re.findall(r"\d+", said.replace(",", "")))
        assert str(USERS) not in numbers
        assert str(len(ROWS)) not in numbers
    for path in target.iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()
        assert b"log.tsv" not in path.read_bytes()


def test_the_readme(release: Release, tmp_path: Path) -> None:
    text = (release.write(tmp_path / "out") / "README.md").read_text("utf-8")
    for part in (
        "probabilistic differential privacy",
        "epsilon = 2000",
        "delta = 0.5",
        "1,000 users",
    ):
        assert part in text
    for kind, files in release.record.files.items():
        assert f"### `{kind}`: `{files.parquet}`, `{files.csv}`" in text
    assert "NOT PRIVATE" not in text


def masked(target: Path) -> dict[str, str]:
    """Everything but what the mechanism gave: the key, the rows, their number and their hashes."""
    about = json.loads((target / "release.json").read_text("utf-8"))
    texts = {path.name: "" for path in target.iterdir()}
    for name in ("release.json", "README.md", "statement.html", "registry.yaml"):
        text = (target / name).read_text("utf-8")
        text = text.replace(about["id"], "").replace(about["selection_key"], "")
        text = re.sub(r"[0-9a-f]{64}", "", text)
        text = re.sub(r'Rows: [\d,]+|[\d,]+ rows|(?<="rows": )\d+', "rows", text)
        text = re.sub(r"(<tr><td>[\w:+-]+</td><td>)\d+", r"\1", text)
        texts[name] = re.sub(r"\n\nThe table is empty: .*", "", text)
    return texts


def test_neighbouring_logs_give_the_same_bundle_but_for_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "today", lambda: "2026-03-01")  # also at midnight
    long = "w" * 5_000
    rare = [("u0", f"{long} {number}", "nonsense", "http://c.example") for number in range(500)]
    neighbours = [ROWS, ROWS[2:], [*ROWS, *rare], [*ROWS[2:], ("mallory", "=1", "", "")]]
    bundles = []
    for number, rows in enumerate(neighbours):
        bundles.append(masked(made(tmp_path, rows).write(tmp_path / f"out{number}")))
    assert all(bundle == bundles[0] for bundle in bundles)
    scarce = made(tmp_path, ROWS[:4])  # nothing is published
    assert masked(scarce.write(tmp_path / "scarce")) == bundles[0]


# The noise


def test_two_runs_differ_in_key_and_noise(tmp_path: Path) -> None:
    rows = [(f"u{user}", f"query {number}", "", "") for user in range(300) for number in range(8)]
    goal = Indistinguishability(epsilon=2, delta="1e-6")
    first, second = (made(tmp_path, rows, [queries(8)], goal) for _ in range(2))
    assert first.record.selection_key != second.record.selection_key
    assert len(first["queries"]) == len(second["queries"]) == 8
    assert dict(table(first, "queries")) != dict(table(second, "queries"))  # else by 1e-11


def test_the_order_of_the_lines_does_not_matter(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=8, delta="0.5", users=100)
    chosen: list[Kind] = [queries(1), query_pairs(1), keywords(2)]
    expected = made(tmp_path, ROWS, chosen, goal, seed=3)
    for order in range(3):
        shuffled = random.Random(order).sample(ROWS, len(ROWS))
        found = made(tmp_path, shuffled, chosen, goal, seed=3)
        assert found.record == expected.record
        for kind in expected.tables:
            assert found[kind].arrow.equals(expected[kind].arrow)
    assert len(expected["queries"])


def test_a_seeded_release_is_written_only_when_it_is_marked(tmp_path: Path) -> None:
    seeded = made(tmp_path, kinds=[queries(2)], seed=1)
    with pytest.raises(Refused, match="not_private=True"):
        seeded.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    target = seeded.write(tmp_path / "out", not_private=True)
    assert json.loads((target / "release.json").read_text())["private"] is False
    assert "**NOT PRIVATE: made with a fixed noise seed" in (target / "README.md").read_text()
    with pytest.raises(Refused):  # it stays marked
        read_release(target).write(tmp_path / "again")


# Whole or absent


def test_an_existing_target_is_refused(release: Release, tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("directory", "file", "link"):
        with pytest.raises(ReleaseError, match="exists already"):
            release.write(tmp_path / name)
    for target in (tmp_path / "missing" / "out", tmp_path / "file" / "out"):
        with pytest.raises(ReleaseError, match="is not a directory: make it first"):
            release.write(target)
    assert {path.name for path in tmp_path.iterdir()} == {"directory", "file", "link"}
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    "error", [OSError(28, "x"), OSError("odd"), KeyboardInterrupt(), MemoryError()]
)
@pytest.mark.parametrize("where", ["_write_csv", *module.TEXTS, "sync"])
def test_a_failure_while_writing_leaves_nothing(
    error: BaseException,
    where: str,
    release: Release,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise error

    if where in module.TEXTS:
        monkeypatch.setitem(module.TEXTS, where, fail)
    else:
        monkeypatch.setattr(local if where == "sync" else module, where, fail)
    wanted = ReleaseError if isinstance(error, OSError) else type(error)
    with pytest.raises(wanted) as raised:
        release.write(tmp_path / "out")
    if isinstance(error, OSError):
        why = "No space left on device" if error.errno else "disk error"
        assert f"{why}; nothing was left behind" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_seen_under_its_name_before_it_is_whole(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    write = module._write_csv

    def watched(arrow: pa.Table, path: Path) -> None:
        seen.append((path.parent.parent.name, stat.S_IMODE(path.parent.stat().st_mode)))
        assert not (tmp_path / "out").exists()
        write(arrow, path)

    monkeypatch.setattr(module, "_write_csv", watched)
    release.write(tmp_path / "out")
    assert {mode for _, mode in seen} == {0o700}
    assert all(name.startswith(".") for name, _ in seen)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_else_is_in_the_parent_plays_no_role(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real_open = os.open

    def watched(path: Any, *rest: Any, **named: Any) -> int:
        opened.append(Path(path))
        return real_open(path, *rest, **named)

    (tmp_path / "somebody's").write_text("business")
    monkeypatch.setattr(os, "open", watched)
    release.write(tmp_path / "out")
    assert tmp_path in opened
    assert tmp_path / "somebody's" not in opened


def test_a_name_that_no_disk_takes(release: Release, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="File name too long; nothing was left behind"):
        release.write(tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_the_ledger_is_told_when_all_of_it_is_there(release: Release, tmp_path: Path) -> None:
    told = []

    def written(directory: Place, digest: str) -> None:
        content = (tmp_path / "out" / "release.json").read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
        told.append(directory)

    target = replace(release, on_written=written).write(tmp_path / "out")
    assert told == [target]
    with pytest.raises(ReleaseError):
        replace(release, on_written=written).write(tmp_path / "out")
    assert len(told) == 1
    assert replace(release, on_written=written) == release
    assert "on_written" not in repr(replace(release, on_written=written))


def test_the_ledger_is_not_told_of_what_failed(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(directory: Place, digest: str) -> None:
        raise AssertionError

    def fail(*_: object) -> None:
        raise OSError(28, "x")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ReleaseError, match="nothing was left behind"):
        replace(release, on_written=never).write(tmp_path / "out")


# Read back


def test_reading_back(release: Release, tmp_path: Path) -> None:
    found = read_release(release.write(tmp_path / "out"))
    assert found.record == structs.replace(release.record, sha256=found.record.sha256)
    for kind, (_, names) in KINDS.items():
        assert found[kind].arrow.equals(release[kind].arrow)
        assert len(found[kind]) == len(release[kind])
        pandas, polars = found[kind].to_pandas(), found[kind].to_polars()
        assert list(pandas.columns) == polars.columns == [*names, "count", *INTERVAL]
        rows = polars.rows()
        assert [row[:-2] for row in rows] == table(found, kind)
        assert [tuple(row) for row in pandas.itertuples(index=False)] == rows
    again = read_release(found.write(tmp_path / "again"))
    assert again.record == found.record


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: (path / "release.json").unlink(), "no readable release.json"),
        (lambda path: (path / "release.json").write_bytes(b"\xff{"), "no readable release.json"),
        (lambda path: (path / "release.json").write_text("[]"), "not written by a version"),
        (lambda path: (path / "release.json").write_text('{"format": "x"}'), "not written by"),
        (
            lambda path: (path / "release.json").write_text(json.dumps({"format": FORMAT})),
            "missing",
        ),
        (lambda path: (path / "queries.parquet").unlink(), "missing or damaged"),
        (lambda path: (path / "queries.parquet").write_bytes(b"PAR1"), "missing or damaged"),
    ],
)
def test_what_is_no_release(change: Any, told: str, release: Release, tmp_path: Path) -> None:
    target = release.write(tmp_path / "out")
    change(target)
    with pytest.raises(ReleaseError, match=told):
        read_release(target)


# Names and cells


def test_file_names() -> None:
    kinds = ["queries", "columns:A+B", "columns:A-B", "columns:a b", "columns:../x", "columns:鞋"]
    names = file_names(kinds)
    assert list(names) == kinds
    assert names["queries"] == "queries"
    assert names["columns:A+B"] == "columns-A-B"
    assert len({name.lower() for name in names.values()}) == len(kinds)
    assert all("/" not in name and not name.startswith(".") for name in names.values())


RUNNABLE = [
    "=1+1",
    "+1",
    "-1",
    "@sum(a1)",
    "\t=1",
    "\rx",
    "\n=1",
    "  =1",
    "\u00a0=1",
    "\u3000=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    " ＝1",
    '=hyperlink("http://x","y")',
    "=cmd|' /c calc'!a0",
    "-2+3+cmd|' /c calc'!a0",
]
HARMLESS = [
    "tea",
    "1-2",
    "a=b",
    "'=1",
    "c++",
    "1",
    "",
    "e@x.example",
    "鞋",
    '"=1"',
    "(=1)",
    "x\r=1",
    "x\n=1",
]


def test_no_cell_of_the_csv_can_be_run(release: Release, tmp_path: Path) -> None:
    cells = RUNNABLE + HARMLESS
    arrow = pa.table({"=query": cells, "@url": list(reversed(cells)), "count": range(len(cells))})
    files = TableFiles(parquet="t.parquet", csv="t.csv", columns=("=query", "@url"), rows=1)
    kind = "columns:=query+@url"
    part = structs.replace(release.record.plan[0], kind=kind, settings={"by": None})
    record = structs.replace(release.record, plan=(part,), files={kind: files})
    target = Release(record=record, tables={kind: Table(arrow=arrow)}).write(tmp_path / "out")
    with (target / "t.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head == ["'=query", "'@url", "count", *INTERVAL]
    inert = [cell.replace("\r", " ") for cell in ["'" + cell for cell in RUNNABLE] + HARMLESS]
    assert [row[0] for row in rows] == inert
    assert [row[1] for row in reversed(rows)] == inert
    assert [int(row[2]) for row in rows] == list(range(len(cells)))
    assert pq.read_table(target / "t.parquet")["=query"].to_pylist() == cells


def test_counts_stay_numbers(tmp_path: Path, release: Release) -> None:
    lines = (release.write(tmp_path / "out") / "queries.csv").read_text("utf-8").splitlines()
    assert lines == [
        "query,count,count_low,count_high",
        *("green tea,37,37,37", "shoes,13,13,13", "gloves,12,12,12", "hats,12,12,12"),
    ]


# The command


def test_the_command_prints_one_json_object(run: Run, tmp_path: Path) -> None:
    made(tmp_path, kinds=[queries(2)])
    ran = run(
        *shlex.split(
            "publish log.tsv --items queries,clicks --users 1000 --epsilon 2000 --delta 0.5 "
            "--items-per-user 2 -o out --json --parameters-from public-facts"
        )
    )
    assert ran.code == 0
    printed = json.loads(ran.stdout)
    assert printed.pop("directory") == "out"
    about = to_json(read_release(tmp_path / "out").record)
    assert {**about, **printed} == about
    assert printed.keys() >= about.keys() - {"sha256"}
    assert printed["parameters_from"] == "public-facts"
    assert table(read_release(tmp_path / "out"), "queries")[0] == ("green tea", 37)
    assert "zealous: writing out" in ran.stderr
