"""Write the line counts of docs/reference/review.md, the README's total, the audit's figures."""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "zealous"
PAGE, README = ROOT / "docs" / "reference" / "review.md", ROOT / "README.md"
AUDIT = PAGE.with_name("audit.md")

# | `file.py`: `name`, `Class.method` | lines to read | lines of the file | relied on for |
ROW = re.compile(r"^\| `(?P<path>[\w/]+\.py)`(?P<names>[^|]*) \| [\d,]+ \| [\d,]+ \|", re.MULTILINE)
SUM = re.compile(r"^\| \*\*total\*\* \| [\d,]+ \| [\d,]+ \|", re.MULTILINE)
IN_README = re.compile(r"\[[\d,]+ lines\]\(docs/reference/review\.md\)")

AUDITED = re.compile(r"(?<=^\*\*The audit of this version\*\*: ).*$", re.MULTILINE)

Definition = ast.FunctionDef | ast.ClassDef


def definitions(path: Path) -> dict[str, int]:
    """How many lines each function, class and method of a file takes."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, Definition):
            continue
        found[node.name] = _lines(node)
        for inner in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(inner, ast.FunctionDef):
                found[f"{node.name}.{inner.name}"] = _lines(inner)
    return found


def _lines(node: Definition) -> int:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return (node.end_lineno or node.lineno) - first + 1


def counted(row: re.Match[str]) -> tuple[int, int]:
    """The lines that a row asks to read, and those of its file.

    Raises:
        KeyError: The file does not define what the row names.
    """
    path = SOURCE / row["path"]
    whole = len(path.read_text().splitlines())
    names = re.findall(r"`([\w.]+)`", row["names"])
    return sum(map(definitions(path).__getitem__, names)) if names else whole, whole


def totals(page: str) -> list[tuple[int, int]]:
    """The lines to read of each table that ends in a total, and those of its files."""
    found = []
    for table in SUM.split(page)[:-1]:
        numbers = [counted(row) for row in ROW.finditer(table)]
        found.append((sum(read for read, _ in numbers), sum(of for _, of in numbers)))
    return found


def with_true_numbers(page: str) -> str:
    """The page with the lines as they are now."""
    page = AUDITED.sub(audit_figures(), page)
    page = ROW.sub(lambda row: _numbered(row[0], *counted(row)), page)
    return SUM.sub(_next(totals(page)), page)


def audit_figures() -> str:
    """What the last audit found, which tools/audited.py keeps with the program."""
    kept = json.loads((SOURCE / "release" / "audited.json").read_text())
    found = kept["figures"]
    return (
        f"{found['pairs']} pairs of neighbouring logs, each log published {found['runs']:,} times, "
        f"no violation (version {kept['version']}, {found['day']}, "
        f"build `{found['build'][:12]}`)."
    )


def _next(numbers: list[tuple[int, int]]) -> Callable[[re.Match[str]], str]:
    remaining = iter(numbers)
    return lambda row: _numbered(row[0], *next(remaining))


def _numbered(row: str, read: int, whole: int) -> str:
    return re.sub(r"\| [\d,]+ \| [\d,]+ \|$", f"| {read:,} | {whole:,} |", row)


def readme_with_true_total(readme: str, page: str) -> str:
    """The README with the lines of the first table: what every release rests on."""
    read, _ = totals(page)[0]
    return IN_README.sub(f"[{read:,} lines](docs/reference/review.md)", readme)


def main() -> None:
    """Write the pages."""
    PAGE.write_text(with_true_numbers(PAGE.read_text()))
    AUDIT.write_text(AUDITED.sub(audit_figures(), AUDIT.read_text()))
    README.write_text(readme_with_true_total(README.read_text(), PAGE.read_text()))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
