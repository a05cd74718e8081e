"""A format of logs from outside: what its page says can be done with it, with the page's code."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Forks
from outside import Outside

LINE = '10.0.0.1 - {} [05/Mar/2026:10:00:00 +0100] "GET {} HTTP/1.1" 200 512'
PUBLISH = (
    "--items",
    "columns:page",
    "--items-per-user",
    1,
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    20,
    "--delta",
    "1e-4",
    "--no-ledger",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Outside:
    found = Outside("input_format.md", tmp_path_factory.mktemp("format"), forks)
    lines = [LINE.format(f"u{user}", "/tea?secret=1") for user in range(90)]
    odd = [
        LINE.format("-", "/tea"),
        LINE.format("a", "/rare"),
        "hello",
        "x" * (1 << 20) + "y",
        LINE.format("b", "/t\0"),
        '"',
    ]
    content = "\n".join([*odd, *lines]).encode() + b"\n\xff\xfe\n"
    for name in ("march.access", "march.log"):
        (found.folder / name).write_bytes(content)
    return found


@pytest.mark.false_alarm(2e-12, "ninety people, give or take twenty, at a scale of 0.1, twice")
def test_it_is_read_by_its_ending_and_by_its_name(installed: Outside, tmp_path: Path) -> None:
    for number, log in enumerate((["march.access"], ["march.log", "--format", "access-log"])):
        release = tmp_path / f"release-{number}"
        installed.command("publish", *log, *PUBLISH, "--period", "2026-03", "-o", release)
        installed.command("verify", release)
        (row,) = (release / "columns-page.csv").read_text().splitlines()[1:]
        page, users, *_ends = row.split(",")
        assert page == "/tea"
        assert abs(int(users) - 90) < 20


def test_odd_lines_are_left_out_each_by_itself(installed: Outside) -> None:
    program = (
        "from access_log import AccessLog\n"
        "from pathlib import Path\n"
        "from zealous.files.lines import Skipped, records\n"
        "skipped = Skipped()\n"
        "read = records(Path('march.access'), AccessLog(), ['page', 'user'], [], skipped)\n"
        "rows = [row for batch in read for row in batch.to_pylist()]\n"
        "print(len(rows), rows[0], sorted(skipped.items()))\n"
    )
    assert installed.python(program) == (
        "92 {'page': '/tea', 'user': None} "
        "[('longer than 1 MiB', 1), ('not a request', 3), ('not valid utf-8', 1)]\n"
    )


def test_what_it_raises_ends_nothing(installed: Outside) -> None:
    program = (
        "from dataclasses import dataclass\n"
        "from zealous.files.lines import LineByLine, Skipped, splitter\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Fragile(LineByLine):\n"
        "    names: tuple[str, ...] = ('user',)\n"
        "    skips = 'odd'\n"
        "    def values(self, line):\n"
        "        return [{'a': line, 'b': '\\ud800', 'c': 5}[line]]\n"
        "skipped = Skipped()\n"
        "split = splitter(Fragile(), ('user',), ('user',), ())\n"
        "rows = [r for b in split(b'a\\nb\\nc\\nd\\n', skipped) for r in b.to_pylist()]\n"
        "print(rows, dict(skipped))\n"
    )
    assert installed.python(program) == "[{'user': 'a'}] {'odd': 3}\n"


def test_its_columns_are_its_own(installed: Outside) -> None:
    asked = ("march.access", *PUBLISH, "--columns", "a,b", "-o", "other")
    installed.command("publish", *asked, code=2)
    assert "access-log" in installed.command("publish", "--help-all")
