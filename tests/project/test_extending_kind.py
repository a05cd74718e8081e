"""A kind of items from outside: what its page says can be done with it, with the page's code."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from outside import Outside

GOAL = ("--guarantee", "indistinguishable", "--epsilon", 20, "--delta", "1e-4",
        "--items", "hosts", "--items-per-user", 1)  # fmt: skip


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Outside:
    installed = Outside("kind.md", tmp_path_factory.mktemp("hosts"))
    ways = ("https://Example.com/a?b=1", "http://example.com:80/c", "example.com")
    lines = [f"u{user},q,{ways[user % 3]}" for user in range(90)]
    rare = ["u1,q,https://rare.org/", "u2,q,", "u3,q,///"]
    (installed.folder / "log.csv").write_text("\n".join(["user,query,url", *lines, *rare]))
    return installed


def published(hosts: Outside, folder: str, *more: object) -> list[dict[str, object]]:
    hosts.command("publish", "log.csv", *GOAL, *more, "--no-ledger", "-o", folder)
    hosts.command("verify", folder)
    table = pq.read_table(hosts.folder / folder / "hosts.parquet")
    return list(table.to_pylist())


def test_it_is_planned(hosts: Outside) -> None:
    hosts.command("plan", *GOAL, "-o", "plan.json")
    found = json.loads((hosts.folder / "plan.json").read_text())
    assert [part["kind"] for part in found["parts"]] == ["hosts"]


@pytest.mark.false_alarm(1e-12, "ninety people, give or take twenty, at a scale of 0.1")
def test_it_is_published_and_verified(hosts: Outside) -> None:
    (row,) = published(hosts, "release")
    assert row["host"] == "example.com"
    assert abs(int(str(row["count"])) - 90) < 20


def test_a_public_list_of_it_is_read(hosts: Outside) -> None:
    (hosts.folder / "hosts.txt").write_text("example.com\nOther.net\n")
    rows = published(hosts, "listed", "--domain", "hosts.txt")
    assert {row["host"] for row in rows} == {"example.com", "other.net"}
