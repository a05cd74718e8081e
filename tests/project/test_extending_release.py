"""What a text, a file of figures and a command cost: a function each, and at most a line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from click.testing import CliRunner

import zealous as z
from zealous.cli.command_groups import Commands
from zealous.release.bundle import TEXTS
from zealous.release.columns import Column
from zealous.release.derived import files
from zealous.release.derived.derived import Derived
from zealous.verification.verify import verify


@pytest.fixture
def log(tmp_path: Path) -> z.Log:
    lines = [f"u{user},tea" for user in range(90)]
    (tmp_path / "log.csv").write_text("\n".join(["user,query", *lines]))
    return z.read_log(tmp_path / "log.csv")


def test_a_text_of_a_release_is_a_function_and_a_line(
    log: z.Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written, hashed in release.json, and compared with the record by `verify`."""
    monkeypatch.setitem(TEXTS, "short.txt", lambda record: f"{len(record.plan)} table\n")
    goal = z.Indistinguishability(epsilon=20, delta="1e-4")
    release = z.publish(log, goal, z.queries(1), account=None, output=tmp_path / "release")
    assert (tmp_path / "release" / "short.txt").read_text() == "1 table\n"
    written = z.read_release(tmp_path / "release")
    assert "short.txt" in written.record.sha256
    assert verify(tmp_path / "release").ok
    assert release.record.id == written.record.id
    monkeypatch.setitem(TEXTS, "short.txt", lambda record: f"{len(record.plan) + 1} tables\n")
    assert not verify(tmp_path / "release").ok


def test_a_file_of_figures_is_a_module_and_a_name(
    log: z.Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written, made anew by `verify`, and described in README and catalogues."""

    def total(tables: Mapping[str, pa.Table]) -> pa.Table:
        return pa.table({"total": [sum(tables["queries"]["count"].to_pylist())]})

    column = Column(name="total", type="integer", meaning="all counts", unit="users", empty="never")
    derived = Derived(file="total.csv", make=total, readme="### Total", columns=[column])
    module = SimpleNamespace(derive=lambda _: [derived])
    monkeypatch.setattr(files, "_MODULES", (*files._MODULES, module))
    goal = z.Indistinguishability(epsilon=20, delta="1e-4")
    release = z.publish(log, goal, z.queries(1), account=None, output=tmp_path / "release")
    (count,) = release["queries"].arrow["count"].to_pylist()
    assert (tmp_path / "release" / "total.csv").read_text().split() == ["total", str(count)]
    assert "all counts" in (tmp_path / "release" / "README.md").read_text()
    assert verify(tmp_path / "release").ok


def test_a_command_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_commands"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "greet.py").write_text(
        'import click\n_HELP = """Greet whoever asks.\n"""\n'
        "@click.command(help=_HELP)\ndef greet():\n    click.echo('hello')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    group = Commands(package="some_commands", name="some")
    assert CliRunner().invoke(group, ["greet"]).output == "hello\n"
    assert "Greet whoever asks." in CliRunner().invoke(group, ["--help"]).output
    sys.modules.pop("some_commands", None)
