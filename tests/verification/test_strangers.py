"""Releases that a stranger wrote: nothing outside them is read, and nothing ends unforeseen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bundles import made
from records import changed

from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError, ReleaseError, ZealousError
from zealous.items import columns, itemsets, queries, query_pairs
from zealous.items.lists import find_list
from zealous.logs.log import read_log
from zealous.owner.parameter_search import advise
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.codec import to_json
from zealous.release.bundle import Release, read_release
from zealous.release.text.markdown import code, escaped
from zealous.release.text.readme import readme_text
from zealous.release.text.registry_entry import registry
from zealous.release.text.statement import statement
from zealous.study.anonymity import anonymize, method_by_name
from zealous.study.measures.suggestions import suggest
from zealous.study.releases.given_releases import read_releases
from zealous.verification.review import review
from zealous.verification.verify import verify

OTHERS: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    1e308,
    "",
    "../../etc/hostname",
    "a" * 5_000,
    "\ud800",
    [],
    {},
    [[]],
    {"parquet": "/etc/hostname"},
)
REST_EVERY = 9  # what takes longer is tried on so many of them
EVERY = [3, pytest.param(1, marks=pytest.mark.soak)]  # a third in `make test`, and then all


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder, kinds=[queries(3), query_pairs(2)]).write(folder / "release")


def mutated(value: Any) -> Iterator[Any]:
    """The same object with one thing changed: left out, or of another type or value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: other} for other in mutated(each))
        yield {**value, "unheard of": 1}
    elif isinstance(value, list):
        yield value[1:]
        yield [*value, *value[:1]]
        yield from ([other, *value[1:]] for other in mutated(value[0]) if value)
    yield from OTHERS


def some(things: Iterator[Any], every: int) -> Iterator[Any]:
    """One of so many."""
    return islice(things, 0, None, every)


def tried(use: Callable[[], object]) -> bool:
    """Whether it ends well; every other end must be one that was foreseen."""
    try:
        use()
    except ZealousError:
        return False
    return True


@pytest.mark.parametrize("every", EVERY)
def test_no_changed_record_ends_unforeseen(every: int, release: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    about = json.loads((release / "release.json").read_text())
    goal = Indistinguishability(epsilon=1, delta="1e-6", users=1_000)
    read = refused = 0
    for number, other in enumerate(some(mutated(about), every)):
        (copy / "release.json").write_text(json.dumps(other))
        ends = [
            tried(lambda: read_release(copy)),
            tried(lambda: suggest(copy, ["green tea"])),
            tried(lambda: read_releases([copy])),
            tried(lambda: find_list(copy, queries(1))),
        ]
        read, refused = read + ends[0], refused + (not ends[0])
        if number % REST_EVERY == 0:
            verify(copy)
            tried(lambda: review(copy, flag_pii=True))
            if ends[0]:
                tried(lambda: advise(goal, queries(1), public=read_release(copy)))
    assert refused > 1_000 // every
    assert read > 20 // every  # a text in other words is no damage, and `verify` finds it


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": NaN}', '{"id": 1, "id": 1}', "", "\0"])
def test_what_is_no_json(release: Path, tmp_path: Path, text: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    (copy / "release.json").write_text(text)
    with pytest.raises(ReleaseError):
        read_release(copy)
    with pytest.raises(LogError):
        find_list(copy, queries(1))
    assert [check.ok for check in verify(copy)] == [False]


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["query"]),
        lambda table: table.rename_columns(["next_query", "query", *table.column_names[2:]]),
        lambda table: table.set_column(0, "query", pa.nulls(len(table), pa.string())),
        lambda table: table.set_column(
            0, "query", pa.array([[]] * len(table), pa.list_(pa.int8()))
        ),
        lambda table: table.set_column(2, "count", table["count"].cast(pa.string())),
        lambda table: table.append_column("more", table["query"]),
    ],
)
def test_tables_of_another_shape(
    release: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    file = copy / "query-pairs.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    for use in (
        read_release,
        lambda path: suggest(path, ["shoes"]),
        lambda path: read_releases([path]),
    ):
        with pytest.raises(ReleaseError, match="missing or damaged"):
            use(copy)
    assert not tried(lambda: review(copy, flag_pii=True))


def test_no_file_outside_the_directory_is_read(release: Path, tmp_path: Path) -> None:
    """Neither by its name nor by a link: it may be the owner's own."""
    outside = tmp_path / "outside.parquet"
    shutil.copy(release / "queries.parquet", outside)
    for number, name in enumerate(["../outside.parquet", str(outside), "..\\outside.parquet", ""]):
        copy = tmp_path / f"named-{number}"
        shutil.copytree(release, copy)
        about = json.loads((copy / "release.json").read_text())
        about["files"]["queries"]["parquet"] = name
        (copy / "release.json").write_text(json.dumps(about))
        assert_refused(copy)
    copy = tmp_path / "linked"
    shutil.copytree(release, copy)
    (copy / "queries.parquet").unlink()
    (copy / "queries.parquet").symlink_to(outside)
    assert_refused(copy)
    assert find_list(release, queries(1)).file == release / "queries.parquet"


def assert_refused(directory: Path) -> None:
    assert not tried(lambda: read_release(directory))
    assert not tried(lambda: find_list(directory, queries(1)))
    assert not tried(lambda: suggest(directory, ["shoes"]))


@pytest.mark.parametrize("every", EVERY)
def test_no_changed_output_of_an_anonymity_method_ends_unforeseen(
    every: int, tmp_path: Path
) -> None:
    log = tmp_path / "log.tsv"
    rows = (f"u{user}\t{query}\t2026-03-01 12:0{user}:00\n" for user in range(5) for query in "ab")
    log.write_text("user\tquery\ttime\n" + "".join(rows))
    engine = DuckDB(threads=1, temporary=tmp_path)
    anonymize(tmp_path / "out", read_log(log), method_by_name("k-query", k=2), engine=engine)
    text = (tmp_path / "out" / "anonymized.json").read_text()
    assert tried(lambda: read_releases([tmp_path / "out"]))
    refused = 0
    for other in some(mutated(json.loads(text)), every):
        (tmp_path / "out" / "anonymized.json").write_text(json.dumps(other))
        tried(lambda: suggest(tmp_path / "out", ["a"]))
        refused += not tried(lambda: read_releases([tmp_path / "out"]))
    assert refused > 200 // every


HOSTILE = "`</code><script>alert(1)</script>`\n# Heading [x](http://evil.example) **b** \u202e"


def named_so(name: str, folder: Path) -> Release:
    """A release whose names are all of somebody's choosing."""
    release = made(folder, kinds=[queries(3)])
    kinds = [
        columns(name, items_per_user=1, by=f"{name}2"),
        *itemsets(name.replace("/", ""), max_size=2, items_per_user=2, basket=name),
    ]
    about = to_json(release.record)
    part, files = about["plan"][0], about["files"]["queries"]
    parts = [
        {
            **part,
            "kind": kind.name(),
            "settings": kind.settings(),
            "items_per_user": kind.items_per_user,
        }
        for kind in kinds
    ]
    parts[-1] |= {"mechanism": "of-smaller", "public": {"name": name, "sha256": "0" * 64}}
    parts[-2] |= {"mechanism": "listed"}
    described = {
        kind.name(): {**files, "columns": list(kind.columns()), "rows": 0} for kind in kinds
    }
    told = [f"The file {name}."]
    record = changed(release.record, plan=parts, files=described, assumptions=told)
    return Release(record=record, tables={})


def test_odd_names_stay_names(tmp_path: Path) -> None:
    release = named_so(HOSTILE, tmp_path)
    text = readme_text(release.record)
    assert "\u202e" not in text
    lines = text.splitlines()
    assert not any(line.startswith("# Heading") for line in lines)
    for line in lines:
        outside = "".join(_outside_code(line))
        assert "<" not in outside.replace("\\<", ""), line
        assert "](" not in outside.replace("\\](", ""), line
        assert "**b**" not in outside, line
    page = statement(release.record)
    assert "<script>" not in page
    assert registry(release.record).count("\n# Heading") == 0


def _outside_code(line: str) -> Iterator[str]:
    """What of a line of Markdown is no span of code, by CommonMark's rule for backticks."""
    import re

    while found := re.search(r"(?<![\\`])(`+)(?!`)", line):
        end = re.search(rf"(?<!`){found[1]}(?!`)", line[found.end() :])
        yield line[: found.start()]
        line = line[found.end() + end.end() :] if end else ""
    yield line


@pytest.mark.parametrize("text", ["", "`", "``", " a ", "a`b``c", "`a", "b`", "x\ny", "\u202e"])
def test_a_span_of_code_ends_where_it_should(text: str) -> None:
    assert list(_outside_code(f"x {code(text)} y")) == ["x ", " y"]
    assert "\n" not in code(text)
    assert "\n" not in escaped(text)
