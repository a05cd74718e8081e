"""Exploring a release: rows of strangers are text, and changed files are not shown."""

from __future__ import annotations

import html
import re
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bundles import made
from msgspec.structs import replace
from workbench import Workbench, words

from zealous.items import queries, query_pairs
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.release.bundle import Release
from zealous.release.table import Table, sorted_table

GOAL = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000)
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://evil.example")',
    "http://evil.example/",
    "javascript:alert(1)",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "{{ 7 * 191 }}",
    "{% raw %}",
    "\u202egnp.exe",
    "\x1b[31mred\x07",
    "%_' OR 1=1 --",
    "</td></table><form action=/publish>",
    "&lt;b&gt;",
)


def write(
    release: Release, folder: Path, rows: Mapping[str, Sequence[tuple[tuple[str, ...], int]]]
) -> Path:
    """The release with other rows, as if these had been published."""
    tables: dict[str, Table] = {}
    for kind, table in release.tables.items():
        columns = table.columns
        found = rows[kind]
        arrow = pa.table(
            {
                **{name: [item[at] for item, _ in found] for at, name in enumerate(columns)},
                "count": pa.array([count for _, count in found], pa.int64()),
            }
        )
        tables[kind] = sorted_table(arrow, columns)
    files = {
        kind: replace(each, rows=len(tables[kind])) for kind, each in release.record.files.items()
    }
    record = replace(release.record, files=files)
    return Release(record=record, tables=tables).write(folder)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release of ordinary rows and one of hostile ones."""
    folder = tmp_path_factory.mktemp("seen") / "logs"
    folder.mkdir()
    release = made(folder, GOAL, (queries(3), query_pairs(2)))
    many = [((f"query {number:03}",), 1_000 - number) for number in range(120)]
    write(release, folder / "plain", {"queries": many, "query-pairs": [(("a", "b"), 90)]})
    hostile = [((text,), 500) for text in HOSTILE]
    pairs = [((text, text), 500) for text in HOSTILE]
    write(release, folder / "hostile", {"queries": hostile, "query-pairs": pairs})
    return folder


@pytest.fixture(scope="module")
def bench(logs: Path) -> Workbench:
    return Workbench(logs)


def rows_of(page: str) -> list[str]:
    """The items of the first column that a page shows."""
    return [
        html.unescape(each.partition("</bdi>")[0])
        for each in page.split('<tr><td class="item"><bdi translate="no">')[1:]
    ]


def test_rows_are_paged_searched_and_sorted(bench: Workbench) -> None:
    asked = {"release": "logs/plain", "table": "queries"}
    first = bench.text("/explore", **asked)
    assert rows_of(first) == [f"query {number:03}" for number in range(50)]
    assert "120 of 120 rows" in words(first)
    assert "Page 1 of 3" in words(first)
    assert rows_of(bench.text("/explore", **asked, page="3")) == [
        f"query {number:03}" for number in range(100, 120)
    ]
    assert rows_of(bench.text("/explore", **asked, sort="least"))[0] == "query 119"
    found = bench.text("/explore", **asked, search="QUERY 11")
    assert rows_of(found) == [f"query {number}" for number in range(110, 120)]
    assert "10 of 120 rows" in words(found)
    assert not rows_of(bench.text("/explore", **asked, search="%"))
    assert not rows_of(bench.text("/explore", **asked, page="9"))
    for wrong in ({"sort": "count; drop"}, {"page": "0"}, {"page": "x"}, {"table": "none"}):
        assert bench.get("/explore", params=asked | wrong).status_code == 400


def test_a_count_has_its_interval_and_absence_a_meaning(bench: Workbench) -> None:
    page = bench.text("/explore", release="logs/plain", table="queries")
    said = words(page)
    assert "95 % interval" in said
    assert "Most probably it counts for fewer than" in said
    assert page.count('class="bar"') == 50
    assert page.count('class="threshold"') == 50
    assert "zealous verify" in said
    assert "z.read_release" in said


def test_rows_of_strangers_are_text(bench: Workbench) -> None:
    for table in ("queries", "query-pairs"):
        page = bench.text("/explore", release="logs/hostile", table=table)
        shown = rows_of(page)
        assert len(shown) == len(HOSTILE)
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "evil.example" in page
        assert 'href="http' not in page
        assert not re.search(r"\b1337\b", page)  # but in a hash
        for hidden in ("\u202e", "\x1b", "\x07"):
            assert hidden not in page
    for text in HOSTILE:
        page = bench.text("/explore", release="logs/hostile", table="queries", search=text)
        assert "<script>alert" not in page
        assert "onerror=alert(1)>" not in page
        assert text.isprintable() <= (text in rows_of(page))


def test_rows_of_strangers_are_text_on_every_other_page(bench: Workbench) -> None:
    named = "release=logs/hostile"
    review = f"/review?{named}&show=all"
    for path in ("/", f"/sign?{named}", f"/sign/statement?{named}", "/plan?like=logs/hostile"):
        bench.text(path)
    for path in ("/", f"/sign?{named}", f"/sign/statement?{named}", review, f"{review}&search=<b>"):
        page = bench.get(path).text
        assert "<script>alert" not in page
        assert "onerror=alert(1)>" not in page


def test_a_file_is_served_as_it_was_published(bench: Workbench, logs: Path) -> None:
    found = bench.get("/explore/file", params={"release": "logs/plain", "file": "queries.csv"})
    assert found.content == (logs / "plain" / "queries.csv").read_bytes()
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith("attachment")
    for name in ("none.csv", "../plain/queries.csv", "..%2flog.tsv", "", ".", "/etc/passwd"):
        asked = {"release": "logs/plain", "file": name}
        assert bench.get("/explore/file", params=asked).status_code == 400


def test_what_was_changed_is_not_shown(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    changed = Path(shutil.copytree(logs / "plain", folder / "changed"))
    bench = Workbench(folder)
    asked = {"release": "logs/changed", "table": "queries"}
    assert bench.get("/explore", params=asked).status_code == 200
    raw = pa.table({"query": ["a raw row"], "count": pa.array([1], pa.int64())})
    pq.write_table(raw, changed / "queries.parquet")
    (changed / "queries.csv").write_text("user,query\nu1,a raw row\n")
    for path in (
        "/explore?release=logs/changed&table=queries",
        "/explore/file?release=logs/changed&file=queries.parquet",
        "/explore/file?release=logs/changed&file=queries.csv",
        "/compare?old=logs/changed&new=logs/changed",
        "/compare/picture.svg?old=logs/changed&new=logs/changed",
    ):
        found = bench.get(path)
        assert found.status_code == 400
        assert "changed after the release was written" in words(found.text)
        assert "a raw row" not in found.text
    verdict = words(bench.text("/sign", release="logs/changed"))
    assert "FAILED: do not rely on this release." in verdict
    assert "a raw row" not in verdict
    (changed / "queries.parquet").unlink()
    (changed / "queries.parquet").symlink_to(logs / "plain" / "queries.parquet")
    assert bench.get("/explore", params=asked).status_code == 400
    (changed / "release.json").write_text("{}")
    assert bench.get("/explore", params=asked).status_code == 400


def test_a_sound_release_is_verified(bench: Workbench) -> None:
    page = bench.text("/sign", release="logs/plain")
    assert "tables passed" in words(page)
    assert "sandbox" in page
    shown = bench.get("/sign/statement", params={"release": "logs/plain"})
    assert "sandbox" in shown.headers["content-security-policy"]
    assert "Privacy statement" in shown.text


def test_two_releases_are_compared(bench: Workbench) -> None:
    page = bench.text("/compare", old="logs/plain", new="logs/hostile")
    said = words(page)
    assert "changed beyond noise" in said
    assert "<script>alert" not in page
    drawn = bench.get("/compare/picture.svg", params={"old": "logs/plain", "new": "logs/hostile"})
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in drawn.headers["content-security-policy"]
    assert "<script>" not in drawn.text
    assert "Earlier" in words(bench.text("/compare"))


@pytest.mark.parametrize("name", ["plain*", "[a-z]lain", "pl?in", "count=7", "per cent %s"])
def test_the_name_of_a_folder_is_no_pattern(logs: Path, tmp_path: Path, name: str) -> None:
    """DuckDB would read whatever such a name fits, and take `count=7` for a column."""
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copytree(logs / "hostile", folder / "plain")
    shutil.copytree(logs / "plain", folder / name)
    page = Workbench(folder).text("/explore", release=f"logs/{name}", table="queries")
    assert rows_of(page)[0] == "query 000"
    assert "120 of 120 rows" in words(page)


def test_who_received_a_release_reads_and_no_more(logs: Path) -> None:
    bench = Workbench(logs / "plain", reading=True)
    assert "A release with a privacy guarantee" in bench.text("/")
    assert rows_of(bench.text("/explore", release="plain", table="queries"))
    for path in ("/plan", "/approve", "/publish", "/ledger", "/review", "/tour", "/study"):
        assert bench.get(path).status_code == 404
        assert bench.post(path).status_code == 404


def test_forty_requests_at_once(bench: Workbench) -> None:
    """Each gets its own answer."""
    started = threading.Barrier(40)

    def ask(number: int) -> bool:
        started.wait()
        word = f"query {number:03}"
        page = bench.text("/explore", release="logs/plain", table="queries", search=word)
        return rows_of(page) == [word]

    with ThreadPoolExecutor(40) as pool:
        assert all(pool.map(ask, range(40)))


@pytest.mark.soak
def test_a_table_of_100_megabytes_is_explored(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    release = made(folder, GOAL, (queries(3),))
    rows = [
        ((f"{number * 7919 % 10**9:09} " + "x" * 30,), 10**7 - number)
        for number in range(3 * 10**6)
    ]
    write(release, folder / "large", {"queries": rows})
    size = sum(each.stat().st_size for each in (folder / "large").glob("queries.*"))
    assert size > 100_000_000
    bench = Workbench(folder)
    asked = {"release": "logs/large", "table": "queries"}
    bench.text("/explore", **asked)  # its hash is computed once
    for more in ({}, {"search": "99999"}, {"sort": "item", "page": "30000"}):
        started = time.process_time()
        assert rows_of(bench.text("/explore", **asked, **more))
        assert time.process_time() - started < 20
