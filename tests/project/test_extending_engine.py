"""An engine from outside: what its page says can be done with it, with the page's code."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from conftest import Forks
from outside import Outside

PUBLISH = (
    "publish",
    "table:searches",
    "--engine",
    "duckdb-file",
    "--items",
    "queries",
    "--items-per-user",
    1,
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    20,
    "--delta",
    "1e-4",
    "--json",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    found = Outside("engine.md", tmp_path_factory.mktemp("engine"), forks)
    with duckdb.connect(str(found.folder / "shop.duckdb")) as connection:
        connection.execute('create table searches ("user" varchar, query varchar, secret varchar)')
        rows = [(f"u{user}", "tea" if user else "rare", "s") for user in range(90)]
        connection.executemany("insert into searches values (?, ?, ?)", rows)
    return found


@pytest.mark.false_alarm(1e-12, "ninety people, give or take twenty, at a scale of 0.1")
def test_it_publishes_and_is_verified(installed: Outside, tmp_path: Path) -> None:
    ledger, release = tmp_path / "ledger.sqlite", tmp_path / "release"  # it may be run many times
    given = ("--database", "shop.duckdb", "--ledger", ledger, "-o", release)
    installed.command(*PUBLISH, *given)
    installed.command("verify", release)
    (row,) = (release / "queries.csv").read_text().splitlines()[1:]
    query, number, *_ = row.split(",")
    assert query == "tea"
    assert abs(int(number) - 89) < 20
    assert json.loads(installed.command("ledger", "show", ledger, "--json"))


def test_its_settings_belong_to_it(installed: Outside) -> None:
    installed.command(*PUBLISH, "--no-ledger", "-o", "other", code=2)  # no database
    installed.command("inspect", "table:searches", "--database", "shop.duckdb", code=2)
    assert "duckdb-file" in installed.command("publish", "--help-all")


def test_no_ledger_is_kept_beside_a_table(installed: Outside) -> None:
    installed.command(*PUBLISH, "--database", "shop.duckdb", "-o", "unpaid", code=1)
    assert not (installed.folder / "unpaid").exists()


def test_an_error_of_the_database_quotes_nothing(installed: Outside) -> None:
    program = (
        "import zealous as z\n"
        "from duckdb_file import DuckDBFile\n"
        "try:\n    z.read_log('table:secrets', engine=DuckDBFile(database='shop.duckdb'))\n"
        "except z.ZealousError as error:\n    print(error)\n"
    )
    assert installed.python(program) == "the table of the database cannot be read\n"
