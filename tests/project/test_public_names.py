"""The Python interface as a user meets it: names, types, objects in place of paths."""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import assert_type

import polars as pl
import pytest
from paths import DOCS, TOOLS

import zealous as z
from zealous.errors import LedgerError, UsageError

GOAL = z.ProbabilisticDP(epsilon=400, delta="0.5", users=1_000)


def test_every_name_is_the_same_at_every_access() -> None:
    """Importing a module sets an attribute of its package, which must not be a public name."""
    program = """if True:
        import importlib, pkgutil, types, zealous
        read = lambda: {name: getattr(zealous, name) for name in zealous.__all__}
        first = read()
        for each in pkgutil.iter_modules(zealous.__path__):
            importlib.import_module(f"zealous.{each.name}")
        assert read() == first
        for name in first:  # as if they were accessed now for the first time
            vars(zealous).pop(name)
        zealous.__version__ = first["__version__"]
        assert read() == read() == first
        assert not [name for name, each in first.items() if isinstance(each, types.ModuleType)]
        assert dir(zealous) == sorted(zealous.__all__)
    """
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    path = TOOLS / "python_reference.py"
    specification = importlib.util.spec_from_file_location("python_reference", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_reference_page_is_what_the_docstrings_say(reference: ModuleType) -> None:
    page = (DOCS / "reference" / "python-names.md").read_text()
    assert reference.page() == page, "run python tools/python_reference.py"
    for name in set(z.__all__) - {"__version__"}:
        assert f"\n### {name}\n" in page


def test_the_reference_explains_every_parameter_and_type(reference: ModuleType) -> None:
    """Of each name that is called, each parameter; of types that are not public, what they are."""
    page = reference.page()
    entries = {entry.split("\n")[0]: entry for entry in page.split("\n### ")[1:]}
    called = [name for name, entry in entries.items() if f"\nz.{name}(" in entry]
    assert len(called) > 25
    for name in called:
        asked = inspect.signature(getattr(z, name)).parameters
        missing = [each for each in asked if f"\n- `{each}`: " not in entries[name]]
        assert name == "sequences" or not missing, name
    assert "are as for `itemsets`" in entries["sequences"]
    code = re.sub(r"'[^']*'|z\.\w+", "", reference.signatures(page))
    types = set(re.findall(r"(?<![\w.])[A-Z][A-Za-z]+", code))
    known = {*z.__all__, *dir(builtins), "Any", "Callable", "Mapping", "Path", "Sequence"}
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert types - known == rows


def test_the_interface_is_typed() -> None:
    """mypy checks this file with the rest of the project; `py.typed` lets it do so for users."""
    assert (Path(z.__file__).parent / "py.typed").is_file()


def types_of_the_interface(log: z.Log, release: z.Release) -> None:
    """Never called: here a type checker finds a public name that has no type."""
    assert_type(z.read_log("log.parquet"), z.Log)
    assert_type(z.plan(GOAL, z.queries(5)), z.Plan)
    assert_type(z.read_plan("plan.json"), z.Plan)
    assert_type(z.publish(log, GOAL, [z.queries(5), z.tail(2)]), z.Release)
    assert_type(z.read_release("release"), z.Release)
    assert_type(release["queries"], z.Table)
    assert_type(release["queries"]["tea"], int)
    assert_type(release["queries"].to_polars(), pl.DataFrame)
    assert_type(release.to_polars(), dict[str, pl.DataFrame])
    assert_type(z.verify(release, z.read_ledger(log)), z.Verdict)
    assert_type(z.review(release, flag_pii=True).release, z.Release)
    assert_type(z.read_ledger("log.parquet"), z.Ledger)
    z.evaluate(release, log)
    z.evaluate([release, "other"], log)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> z.Log:
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    rows = [f"u{user},{query}\n" for user in range(60) for query in ("green tea", "shoes")]
    path.write_text("user,query\n" + "".join(rows), encoding="utf-8")
    return z.read_log(path)


def test_objects_are_taken_where_paths_are(log: z.Log, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger yet"):
        z.read_ledger(log)
    release = z.publish(log, GOAL, z.queries(5))
    with pytest.raises(UsageError, match="in memory alone"):
        z.verify(release)
    release.write(tmp_path / "release")
    ledger = z.read_ledger(log)
    assert ledger == z.read_ledger(str(log.paths[0])) == z.read_ledger(ledger.path)
    (entry,) = ledger
    assert release.charged.entry == entry.number
    verdict = z.verify(release, ledger)
    assert verdict
    assert list(verdict) == list(z.verify(tmp_path / "release", ledger.path))
    assert repr(verdict) == "Verdict(All checks passed.)"
    child = z.review(release, flag_pii=True, output=tmp_path / "child").release
    assert z.verify(child, parent=release)
    assert z.evaluate(release, log).table == z.evaluate([tmp_path / "release"], log).table
    (tmp_path / "child" / "queries.csv").unlink()
    assert not z.verify(child)
    assert "FAILED" in z.verify(child)._repr_html_()


def test_one_kind_is_given_by_itself() -> None:
    assert z.plan(GOAL, z.queries(5)) == z.plan(GOAL, [z.queries(5)])
    sets = z.itemsets("product", max_size=2, items_per_user=3)
    assert z.plan(GOAL, [z.queries(5), sets]) == z.plan(GOAL, [z.queries(5), *sets])
    for wrong in ("queries", ["queries"], 5):
        with pytest.raises(UsageError, match=r"z\.queries\(5\)"):
            z.plan(GOAL, wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="begins with the guarantee"):
        z.plan(2, z.queries(5))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"z\.read_log\(PATH\)"):
        z.publish("log.csv", GOAL, z.queries(5))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a log is named by its path"):
        z.read_log(5)


def test_no_repr_tells_a_true_figure(log: z.Log, tmp_path: Path) -> None:
    release = z.publish(log, GOAL, z.queries(5), account=None)
    release.write(tmp_path / "release")
    figures = z.evaluate(release, log)
    assert repr(log) == f"Log({log.paths[0]}, Columns(user='user', query='query'))"
    assert "internal" in repr(figures)
    assert len(repr(figures)) < 150
