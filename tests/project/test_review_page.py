"""The page for a privacy reviewer: its line counts are true, and it leaves no file out."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest
from paths import DOCS, ROOT, TOOLS

specification = importlib.util.spec_from_file_location("review_page", TOOLS / "review.py")
assert specification is not None
assert specification.loader is not None
review = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = review
specification.loader.exec_module(review)

SOURCE = ROOT / "src" / "zealous"
PAGE = (DOCS / "reference" / "review.md").read_text()
README = (ROOT / "README.md").read_text()


def test_the_line_counts_are_true() -> None:
    hint = "read docs/reference/review.md again, then run python tools/review.py"
    assert review.with_true_numbers(PAGE) == PAGE, hint
    assert review.readme_with_true_total(README, PAGE) == README, hint
    assert review.IN_README.search(README)


def test_every_row_of_the_page_is_counted() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| `[^|]+\| [\d,]+ \|", line)]
    assert len(rows) == len(review.ROW.findall(PAGE)) > 50
    assert len(review.totals(PAGE)) == 2


def test_a_changed_number_is_noticed() -> None:
    page = review.with_true_numbers(PAGE)
    row = next(review.ROW.finditer(page))
    read, whole = review.counted(row)
    wrong = row[0].replace(f"| {read:,} | {whole:,} |", f"| {read + 1:,} | {whole:,} |")
    assert wrong != row[0]
    assert review.with_true_numbers(page.replace(row[0], wrong)) == page


def test_the_page_tells_the_last_audit() -> None:
    wrong = review.AUDITED.sub("1 pair", PAGE)
    assert wrong != PAGE
    assert review.with_true_numbers(wrong) == PAGE


def test_a_function_that_is_gone_is_noticed() -> None:
    row = "| `privacy/calibrate.py`: `no_such_function` | 1 | 1 | nothing |"
    with pytest.raises(KeyError, match="no_such_function"):
        review.with_true_numbers(row)


def test_every_file_has_its_place_on_the_page() -> None:
    # Folders and files at the beginning of a row: those to read, and those that need not be.
    cells = re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`([\w/]+(?:/|\.py))`", cell)}
    missing = {name for name in named if not (SOURCE / name).exists()}
    assert not missing
    files = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")}
    folders = {name.rstrip("/") for name in named if name.endswith("/")}
    left_out = {
        file.as_posix()
        for file in files
        if file.as_posix() not in named
        and not folders & {parent.as_posix() for parent in file.parents}
        and not (file.name == "__init__.py" and not review.definitions(SOURCE / file))
    }
    assert not left_out
