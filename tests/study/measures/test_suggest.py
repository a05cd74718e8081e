"""`zealous study suggest` learns from what was published and from nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from bundles import made
from click.testing import CliRunner, Result

from zealous.cli.study.suggest import suggest as command
from zealous.errors import ReleaseError, UsageError
from zealous.items import keywords, phrase_pairs, queries, query_pairs
from zealous.logs.log import read_log
from zealous.release.bundle import Release
from zealous.release.table import Table
from zealous.study.anonymity import anonymize, method_by_name
from zealous.study.measures.suggestions import suggest

# In `made`, everybody asks for green tea, then for shoes, then for one of three personal things.


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "release")


def told(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments], catch_exceptions=False)


def rewritten(release: Release, folder: Path, **kinds: list[tuple[object, ...]]) -> Path:
    """The same release with other rows of some kinds, `_` standing for `-`."""
    tables = dict(release.tables)
    for kind, rows in kinds.items():
        name = kind.replace("_", "-")
        arrow = release[name].arrow
        given = [dict(zip(arrow.column_names, row, strict=True)) for row in rows]
        tables[name] = Table(arrow=pa.Table.from_pylist(given, schema=arrow.schema))
    return replace(release, tables=tables).write(folder / "rewritten")


def test_a_table_for_a_person(release: Path) -> None:
    result = told(release, "green tea", "shoes", "-n", "1")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "Learned from query-pairs" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["query", "instead", "score"] in lines
    (tea,) = (line for line in lines if line[:2] == ["green", "tea"])
    assert tea[2] == "shoes"
    assert sum(line[:1] == ["shoes"] for line in lines) == 1


def test_the_same_for_a_program(release: Path) -> None:
    result = told(release, " GREEN\u00a0Tea ", "nothing", "--json")
    assert result.exit_code == 0
    assert "Nothing was learned from this release for: nothing" in result.stderr
    found = json.loads(result.stdout)
    assert found["learned_from"] == "query-pairs"
    first, second = found["suggestions"]
    assert first["query"] == " GREEN\u00a0Tea "
    assert [each["instead"] for each in first["instead"]] == ["shoes"]
    assert first["instead"][0]["score"] > 100
    assert second == {"query": "nothing", "instead": []}


def test_nothing_learned_is_no_failure(release: Path) -> None:
    result = told(release, "unknown")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Nothing was learned from this release for: unknown\n"


def test_a_release_without_pairs_says_what_to_publish(tmp_path: Path) -> None:
    folder = made(tmp_path, kinds=[keywords(3), queries(3)]).write(tmp_path / "release")
    with pytest.raises(UsageError, match=r"z.query_pairs"):
        suggest(folder, ["green tea"])


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"no readable release\.json"):
        suggest(tmp_path, ["a"])


def test_phrase_pairs_come_first(tmp_path: Path) -> None:
    release = made(tmp_path, kinds=[query_pairs(2), phrase_pairs(2)])
    rows: list[tuple[object, ...]] = [("paris", "rome", 30), ("tea", "shoes", 900)]
    folder = rewritten(release, tmp_path, phrase_pairs=rows)
    found = suggest(folder, ["hotels paris", "green tea"])
    assert found.kind == "phrase-pairs"
    assert [[each.instead for each in one] for one in found.found] == [
        ["hotels rome"],
        ["green shoes"],
    ]


@pytest.mark.parametrize(("others", "expected"), [(5000, ["flights rome"]), (5, [])])
def test_queries_tell_which_words_belong_together(
    tmp_path: Path, others: int, expected: list[str]
) -> None:
    folder = rewritten(
        made(tmp_path, kinds=[queries(3), query_pairs(2)]),
        tmp_path,
        query_pairs=[("hotels new york", "hotels rome", 30), ("other", "thing", 900)],
        queries=[("new york", 50), ("hotels", others)],
    )
    (found,) = suggest(folder, ["flights new york"]).found
    assert [each.instead for each in found] == expected


def test_folded_queries_are_asked_about_as_sets_of_words(tmp_path: Path) -> None:
    release = made(tmp_path, kinds=[query_pairs(2, fold_words=True)]).write(tmp_path / "release")
    (found,) = suggest(release, ["Tea, green TEA"]).found
    assert [each.instead for each in found] == ["shoes"]


@pytest.mark.parametrize("method", ["k-query", "k-keyword"])
def test_the_output_of_an_anonymity_method(tmp_path: Path, method: str) -> None:
    rows = ["user\tquery\ttime\n"]
    for user in range(30):
        first = ("weather", "rain") if user % 2 else ("flights", "trains")
        for minute, query in enumerate(first):
            rows.append(f"u{user}\t{query}\t2026-03-01 12:{minute:02d}:00\n")
    (tmp_path / "log.tsv").write_text("".join(rows), encoding="utf-8")
    folder = tmp_path / "bundle"
    anonymize(folder, read_log(tmp_path / "log.tsv"), method_by_name(method, k=5))
    if method == "k-keyword":
        with pytest.raises(UsageError, match="neither query pairs nor phrase pairs"):
            suggest(folder, ["weather"])
    else:
        found = suggest(folder, ["weather", "rain"]).found
        assert [[each.instead for each in one] for one in found] == [["rain"], []]


def test_at_least_one_query_and_one_suggestion(release: Path) -> None:
    assert told(release).exit_code == 2
    assert told(release, "a", "-n", "0").exit_code == 2


def test_help_has_an_example() -> None:
    assert 'zealous study suggest release "cheap flights rome"' in told("--help").stdout
