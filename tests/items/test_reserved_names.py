"""Columns that steps add have names that no item's column can have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import zealous as z
from zealous.counting import kept as keeping
from zealous.errors import UsageError
from zealous.items.kind import _OWN

SOURCE = Path(z.__file__).parent
STEPS = ("counting", "items", "logs", "mechanisms")  # whose steps hold items beside own columns
QUOTED = re.compile(r'"([a-z]+:)[a-z]')


def added_names(path: Path) -> Iterator[str]:
    """What stands in front of the names that a file gives to columns of its own."""
    tree = ast.parse(path.read_text())
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield from QUOTED.findall(node.value)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "identifier":
            first = node.args[0]
            first = first.values[0] if isinstance(first, ast.JoinedStr) else first
            value = constants.get(first.id) if isinstance(first, ast.Name) else None
            value = first.value if isinstance(first, ast.Constant) else value
            yield from re.findall(r"^([a-z]+:)", str(value))


def test_every_column_that_a_step_adds_is_reserved() -> None:
    found = {
        name
        for folder in STEPS
        for path in (SOURCE / folder).rglob("*.py")
        for name in added_names(path)
    }
    assert found >= {"kept:", "chosen:", "order:", "grown:"}
    assert found <= set(_OWN)


@pytest.mark.parametrize("name", [*_OWN, "Kept:"])
def test_no_item_has_such_a_column(name: str) -> None:
    with pytest.raises(UsageError, match="rename it"):
        z.columns(f"{name}number", items_per_user=1)


def test_one_persons_item_is_not_counted_with_those_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Items are numbered in a column `kept:number`; their own column is not taken for it."""
    monkeypatch.setattr(keeping, "_fits", lambda *_: False)  # as in a log that is too large
    rows = [(f"u{n}", "x", "common") for n in range(600)] + [("victim", "x", "a secret")]
    columns = zip(("who", "kept:number", "asked"), zip(*rows, strict=True), strict=True)
    log = z.read_log(
        pa.table({name: list(each) for name, each in columns}), columns=z.Columns(user="who")
    )
    goal = z.Indistinguishability(epsilon=2, delta="1e-6")
    with pytest.raises(UsageError, match="rename it"):
        z.publish(
            log,
            goal,
            z.columns("kept:number", "asked", items_per_user=1),
            mechanism="pooled",
            account=None,
        )
