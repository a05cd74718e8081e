"""A kind of items from outside: what its page says can be done with it, with the page's code."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import Forks
from outside import Outside

GOAL = (
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    20,
    "--delta",
    "1e-4",
    "--items",
    "hosts",
    "--items-per-user",
    1,
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    installed = Outside("kind.md", tmp_path_factory.mktemp("hosts"), forks)
    ways = ("https://Example.com/a?b=1", "http://example.com:80/c", "example.com")
    lines = [f"u{user},q,{ways[user % 3]}" for user in range(90)]
    rare = ["u1,q,https://rare.org/", "u2,q,", "u3,q,///"]
    (installed.folder / "log.csv").write_text("\n".join(["user,query,url", *lines, *rare]))
    return installed


def published(hosts: Outside, folder: Path, *more: object) -> list[dict[str, object]]:
    hosts.command("publish", "log.csv", *GOAL, *more, "--no-ledger", "-o", folder)
    hosts.command("verify", folder)
    table = pq.read_table(folder / "hosts.parquet")
    return list(table.to_pylist())


def test_it_is_planned(hosts: Outside) -> None:
    hosts.command("plan", *GOAL, "-o", "plan.json")
    found = json.loads((hosts.folder / "plan.json").read_text())
    assert [part["kind"] for part in found["parts"]] == ["hosts"]


@pytest.mark.false_alarm(1e-12, "ninety people, give or take twenty, at a scale of 0.1")
def test_it_is_published_and_verified(hosts: Outside, tmp_path: Path) -> None:
    (row,) = published(hosts, tmp_path / "release")
    assert row["host"] == "example.com"
    assert abs(int(str(row["count"])) - 90) < 20


def test_a_setting_of_its_own_is_recorded(hosts: Outside) -> None:
    hosts.python(
        "import zealous as z, hosts; goal = z.Indistinguishability(epsilon=20, delta='1e-4'); "
        "kind = hosts.Hosts(items_per_user=1, without_www=True); "
        "log = z.read_log('log.csv', columns=z.Columns(user='user', query='query', url='url')); "
        "z.publish(log, goal, [kind], output='set')"
    )
    hosts.command("verify", "set")
    found = json.loads((hosts.folder / "set" / "release.json").read_text())
    assert found["plan"][0]["settings"] == {"by": None, "without_www": True}
    assert "A leading www. is left out." in (hosts.folder / "set" / "README.md").read_text()


def test_a_public_list_of_it_is_read(hosts: Outside, tmp_path: Path) -> None:
    (hosts.folder / "hosts.txt").write_text("example.com\nOther.net\n")
    rows = published(hosts, tmp_path / "listed", "--domain", "hosts.txt")
    assert {row["host"] for row in rows} == {"example.com", "other.net"}
