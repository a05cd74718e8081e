"""What commands print fits a terminal of 80 columns, and a narrower one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import COMMAND, Forks
from sampling import sampled

from zealous.cli import terminal
from zealous.synthetic import generate

GOAL = ["--users", "20k", "--epsilon", "8", "--delta", "0.001"]
COMMANDS = [
    ["start", "log.parquet"],
    ["start", "log.parquet", "--look", "--items", "queries,keywords"],
    ["inspect", "log.parquet"],
    ["plan", *GOAL, "--items", "queries,keywords"],
    ["plan", *GOAL, "--items", "queries", "--advise"],
    ["plan", "--users", "20k", "--delta", "0.001", "--items", "queries", "--advise"],
    [
        "plan",
        *GOAL[2:4],
        "--delta",
        "1e-6",
        "--items",
        "queries",
        "--guarantee",
        "indistinguishable",
        "--mechanism",
        "auto",
    ],
    ["publish", "log.parquet", *GOAL, "--items", "queries,keywords,query-pairs", "-o", "again"],
    ["verify", "release"],
    ["ledger", "show", "log.parquet"],
    ["review", "release", "--flag-pii", "--block", "words.txt"],
    ["study", "tables"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, commands: Forks) -> Path:
    made = tmp_path_factory.mktemp("width")
    generate(made / "log.parquet", users=1000, seed=3)
    (made / "words.txt").write_text("weather\n")
    published = commands(
        COMMAND,
        "publish",
        "log.parquet",
        "--items",
        "keywords",
        *GOAL,
        "-o",
        "release",
        folder=made,
    )
    assert published.code == 0, published.stderr
    return made


@pytest.mark.parametrize(
    "arguments", sampled(COMMANDS, lambda words: " ".join(map(str, words)), share=4)
)
def test_no_line_is_wider_than_the_terminal(
    folder: Path, commands: Forks, arguments: list[str]
) -> None:
    ran = commands(COMMAND, *arguments, folder=folder, COLUMNS="80")
    assert ran.code == 0, ran.stderr
    assert "\033" not in ran.stdout
    # A path may be longer than any terminal.
    lines = [line for line in ran.stdout.splitlines() if str(folder) not in line]
    assert [line for line in lines if len(line) > 80] == []


def test_messages_wrap_on_a_terminal_and_stay_whole_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "  zealous start " + "log " * 20 + "\\\n    " + "more " * 20
    monkeypatch.setenv("COLUMNS", "50")
    for attended in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda attended=attended: attended)
        terminal.note("zealous: " + "word " * 30 + f"\n{command}")
        said = capsys.readouterr().err
        assert command in said
        assert (max(map(len, said.partition("  zealous")[0].splitlines())) <= 50) == attended


def test_long_lines_wrap_at_words_below_where_they_begin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    terminal.echo("  noise   " + "word " * 15 + "\n    " + "name " * 12)
    terminal.echo("  zealous verify " + "folder/" * 9)
    wrapped = capsys.readouterr().out.splitlines()
    assert wrapped[1].startswith("          word")
    assert [len(line) <= 50 for line in wrapped] == [True] * (len(wrapped) - 1) + [False]


def test_tables_fit_any_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for columns in (50, 80, 130):
        monkeypatch.setenv("COLUMNS", str(columns))
        terminal.table("title " * 20, ["a name", "number"], [("some words " * 30, 5)])
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= columns
        assert sum("word" in line for line in lines) > 1
