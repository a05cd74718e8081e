"""No test looks for a few digits in a text that may hold a path, a hash, a time or noise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paths import TESTS

DIGITS = re.compile(r"[0-9a-f.,:]{1,4}")  # as they stand in the number of a folder, or in a hash
SOUGHT = re.compile(rf"""["']{DIGITS.pattern}["'] (?:not )?in\b""")
OUTPUTS = {"stdout", "stderr", "said", "value", "text"}
READS = {"repr", "str", "read_text", "_repr_html_", "lower", "decode"}


def is_output(node: ast.expr) -> bool:
    """Whether it is what somebody printed, wrote or raised, whole."""
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in READS
    return isinstance(node, ast.Attribute) and node.attr in OUTPUTS


def short_texts(source: str) -> Iterator[int]:
    """The lines in which digits are looked for in an output."""
    if not SOUGHT.search(source):  # to take all files apart takes long
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            sought = node.left.value if isinstance(node.left, ast.Constant) else None
            text = sought.decode() if isinstance(sought, bytes) else sought
            if isinstance(text, str) and DIGITS.fullmatch(text) and is_output(node.comparators[0]):
                yield node.lineno


def test_no_digits_are_looked_for_in_an_output() -> None:
    found = {
        f"{path.relative_to(TESTS)}:{line}"
        for path in TESTS.rglob("*.py")
        for line in short_texts(path.read_text(encoding="utf-8"))
    }
    assert not found, "compare the whole text, or the numbers that stand in it"


def test_what_failed_by_the_number_of_a_folder_would_be_found() -> None:
    source = """
assert "60" not in repr(log)
assert "3.5" in run("plan").stdout
assert "60" not in numbers
assert "60 users" not in repr(log)
"""
    assert list(short_texts(source)) == [2, 3]
