"""SQL text: names, literals, and named steps joined into one statement.

Guarantee:
    A name or a value stays one name or one value, whatever characters it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Step(NamedTuple):
    """One named step of a pipeline; later steps select from its name.

    Attributes:
        name: Its name.
        sql: What it selects.
        shared: Two later steps select from it, and working it out twice would cost more than
            keeping its rows.
    """

    name: str
    sql: str
    shared: bool = False


def identifier(name: str) -> str:
    """Quote a column's or table's name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text value."""
    return "'" + text.replace("'", "''") + "'"


def comma_separated(expressions: Iterable[str]) -> str:
    """Join expressions with commas."""
    return ", ".join(expressions)


def statement(steps: Sequence[Step]) -> str:
    """One statement that yields the rows of the last step.

    >>> statement([Step("a", "select 1 as x"), Step("b", "select x + 1 as y from a")])
    'with a as (select 1 as x) select x + 1 as y from a'
    """
    *before, last = steps
    if not before:
        return last.sql
    named = (
        f"{step.name} as {'materialized ' if step.shared else ''}({step.sql})" for step in before
    )
    return f"with {comma_separated(named)} {last.sql}"
