"""What catalogues are told of a release is valid by their own readers, and is what it holds."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import frictionless
import mlcroissant
import pyarrow.parquet as pq
import pytest
import yaml
from msgspec import structs

import zealous as z
from zealous.record.record import PublisherRecord
from zealous.release.bundle import Release, read_release
from zealous.release.text.catalogue import licence
from zealous.verification.verify import verify

SAID = PublisherRecord(
    title='Was gesucht wurde: "alles"',
    publisher="A library",
    contact="privacy@library.example",
    licence="CC BY 4.0",
    region="Zürich",
    url="https://library.example/searches",
)
STRANGE = "@time|b {x}"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts and names of columns as they may come, rates, and rules with empty cells."""
    folder = tmp_path_factory.mktemp("catalogue")
    asked = [("天气", "=1+2", "a.example"), ("tea", "a, b", "b.example"), ("rum", "-", "a.example")]
    rows = [f'u{user},{query},"{cell}",{url}\n' for user in range(60) for query, cell, url in asked]
    (folder / "log.csv").write_text(f"user,query,{STRANGE},url\n{''.join(rows)}")
    kinds = [
        z.queries(3),
        z.query_clicks(3, rates=True),
        z.columns(STRANGE, items_per_user=3),
        *z.itemsets("query", max_size=3, items_per_user=3),
    ]
    goal = z.ProbabilisticDP(epsilon=900, delta="0.5", users=100)
    made = z.publish(z.read_log(folder / "log.csv"), goal, kinds)
    said = Release(record=structs.replace(made.record, publisher=SAID), tables=made.tables)
    return said.write(folder / "out")


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_croissant_reads_the_rows_that_are_published(release: Path) -> None:
    found = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    assert not found.metadata.ctx.issues.warnings
    assert found.metadata.name == SAID.title
    sets = {each.name: each for each in found.metadata.record_sets}
    for name in ("queries", "columns-time-b-x", "itemsets-2-query"):
        rows = [list(row.values()) for row in found.records(sets[name].id)]
        texts = [[c.decode() if isinstance(c, bytes) else c for c in row] for row in rows]
        assert texts == [
            list(row.values()) for row in pq.read_table(release / f"{name}.parquet").to_pylist()
        ]
    assert {"click-rates", "associations"} <= sets.keys()
    listed = {each.name: each.sha256 for each in found.metadata.distribution}
    hashes = json.loads((release / "release.json").read_text())["sha256"]
    assert listed == {name: hashes[name] for name in listed}
    assert sum(name.endswith(".parquet") for name in listed) == len(read_release(release))


def test_frictionless_finds_each_table_as_described(release: Path) -> None:
    package = frictionless.Package(str(release / "datapackage.json"))
    report = package.validate()  # hashes, types, required cells
    assert report.valid, report.flatten(["type", "note"])
    csvs = {path.name for path in release.glob("*.csv") if not path.name.endswith(".excel.csv")}
    assert {task.place for task in report.tasks} >= csvs
    for each in package.resources:
        if each.format == "csv":
            head = (release / str(each.path)).read_text().partition("\n")[0]
            assert len(each.schema.fields) == len(head.split(","))
            assert all(field.description for field in each.schema.fields)


def test_the_readme_begins_with_a_dataset_card(release: Path) -> None:
    _, front, text = (release / "README.md").read_text().split("---\n", 2)
    card = yaml.safe_load(front)
    assert card["pretty_name"] == SAID.title
    assert (card["license"], card["size_categories"]) == ("cc-by-4.0", ["n<1K"])
    files = [each["data_files"] for each in card["configs"]]
    assert sorted(files) == sorted(path.name for path in release.glob("*.parquet"))
    assert [each.get("default") for each in card["configs"]] == [True] + [None] * (len(files) - 1)
    assert "| `queries` | `query` | string | what was asked, in lower case |  | never |" in text
    assert "| `click-rates.csv` | `rate` | number |" in text
    assert r"| `columns:@time\|b {x}` | `@time\|b {x}` |" in text


def test_spreadsheets_get_a_file_where_a_table_has_more_than_ascii(release: Path) -> None:
    second = {path.name for path in release.glob("*.excel.csv")}
    assert "queries.excel.csv" in second
    assert "columns-time-b-x.excel.csv" not in second
    content = (release / "queries.excel.csv").read_bytes()
    assert content == codecs.BOM_UTF8 + (release / "queries.csv").read_bytes()
    assert "`queries.excel.csv`" in (release / "README.md").read_text()
    assert verify(release)


@pytest.mark.parametrize(
    ("stated", "name", "url"),
    [
        ("CC BY 4.0", "CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0", ...),
        ("for research, on request", None, None),
        ("https://library.example/terms", None, "https://library.example/terms"),
    ],
)
def test_a_licence_is_known_by_its_name_or_its_address(
    stated: str, name: str | None, url: str | None, release: Path
) -> None:
    record = read_release(release).record
    found = licence(structs.replace(record, publisher=PublisherRecord(licence=stated)))
    assert found is not None
    assert found.name == name
    assert url in (..., found.url)
