"""Files and functions that pages and comments name are there, under that name."""

from __future__ import annotations

import ast
import io
import pkgutil
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest
from paths import ROOT, TESTS

SOURCE = ROOT / "src" / "zealous"
OUTER = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")
PAGES = [*map(ROOT.joinpath, OUTER), *sorted((ROOT / "docs").rglob("*.md"))]
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
# A path ends in .py; before it there is no address, variable or other path.
PATH = re.compile(r"(?<![\w/.$~-])(?:[a-z_]+/)*[a-z_]\w*\.py\b")
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)`")
RELIED_ON = re.compile(r"^(?:\*\*Relied on by\*\*|Code:).*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
# Not files of this project: Python would import them from a folder, or a reader writes them.
FOREIGN = {"platform.py", "json.py", "months.py"}


def paths_of_the_project(text: str) -> set[str]:
    """All files that a text names, as it names them."""
    return set(PATH.findall(text)) - FOREIGN


def where(named: str) -> Path | None:
    """The file of a path that begins in the project's folder or in that of the package."""
    return next((base / named for base in (ROOT, SOURCE) if (base / named).is_file()), None)


def is_there(named: str) -> bool:
    """Whether there is such a file; of a test its name alone may be given."""
    if "/" not in named and named.startswith("test_"):
        return any(TESTS.rglob(named))
    return where(named) is not None


@cache
def defined(path: Path) -> frozenset[str]:
    """The functions, classes and methods of a file, methods as `Class.method`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (*functions, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = [each.name for each in node.body if isinstance(each, functions)]
            found |= {f"{node.name}.{each}" for each in inner}
    return frozenset(found)


def said(path: Path) -> str:
    """The comments and docstrings of a file."""
    text = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    return "\n".join([*comments, *(ast.get_docstring(node) or "" for node in nodes)])


def relied_on(page: str) -> list[tuple[str, str | None]]:
    """Each function that a proof says relies on it, and the file given after it."""
    found: list[tuple[str, str | None]] = []
    for paragraph in re.findall(RELIED_ON, page):
        names: list[str] = []
        for token in re.finditer(f"{NAME.pattern}|{PATH.pattern}", paragraph.split("Tests:")[0]):
            if token[1]:
                names.append(token[1])
            else:
                found += [(name, token[0]) for name in names]
                names = []
        found += [(name, None) for name in names]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    missing = {named for named in paths_of_the_project(page.read_text()) if not is_there(named)}
    assert not missing


def test_the_modules_that_pages_name_are_there() -> None:
    dotted = re.compile(r"(?<![\w./-])zealous(?:\.[A-Za-z_]\w*)+")
    named = {name for page in PAGES for name in dotted.findall(page.read_text())}
    assert len(named) > 10
    for name in named:
        pkgutil.resolve_name(name)


def test_the_files_that_comments_name_are_there() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), each)
        for path in SOURCE.rglob("*.py")
        if PATH.search(path.read_text())  # few do: to take all files apart takes long
        for each in paths_of_the_project(said(path))
    }
    assert len(named) > 5
    assert not {(path, each) for path, each in named if not is_there(each)}


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.name)
def test_what_relies_on_a_proof_is_where_it_says(page: Path) -> None:
    for name, named in relied_on(page.read_text()):
        assert named is not None, f"{page.name} does not say in which file {name} is"
        path = where(named)
        assert path is not None, f"{page.name}: {named}"
        assert name in defined(path), f"{page.name}: {name} is not in {named}"


def test_every_proof_says_what_relies_on_it() -> None:
    silent = {page.name for page in PROOFS if not relied_on(page.read_text())}
    assert silent == {"observables.md"}


def test_the_tests_that_proofs_name_are_there() -> None:
    tests = re.compile(r"^def (test_\w+)", re.MULTILINE)
    there = {name for path in TESTS.rglob("test_*.py") for name in tests.findall(path.read_text())}
    for page in PROOFS:
        named = {name for name in NAME.findall(page.read_text()) if name.startswith("test_")}
        assert named <= there, page.name
