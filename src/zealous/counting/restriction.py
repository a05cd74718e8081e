"""Which of the items that users have may count, decided before contributions are bounded.

Guarantee:
    An item of a user is left out by the item itself and by what is public or was drawn, or by what
    the same user kept of another kind: never by what other users have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from zealous.counting.bound import equal_columns
from zealous.engines.engine import Engine, table_name
from zealous.engines.sql import Step
from zealous.items import Kind
from zealous.libraries import pa


class Restriction(Protocol):
    """One reason why items do not count.

    What each leaves out is dropped before a user's items are bounded, so that none of it takes the
    place of an item that counts. Each must keep the guarantee above.
    """

    def steps(self, items: str, kind: Kind, engine: Engine) -> list[Step]:
        """The steps from a table of users' items to those of its rows that may count.

        Args:
            items: The name of the table: (user, item..., and what orders a user's items).
            kind: What the items are.
            engine: Where the steps run.
        """
        ...


@dataclass(frozen=True)
class InTable:
    """Only items of a table may count.

    Attributes:
        table: Public or published items: (item...), other columns are ignored.
    """

    table: pa.Table

    def steps(self, items: str, kind: Kind, engine: Engine) -> list[Step]:
        listed = table_name(engine, item_columns(kind, self.table))
        return [Step("listed_items", rows_found_in(listed, items, kind.counted_columns()))]


def restricted_steps(
    steps: Sequence[Step], only: Sequence[Restriction], kind: Kind, engine: Engine
) -> list[Step]:
    """Steps to `items`, and more of them to those items that all restrictions let count."""
    steps = list(steps)
    for number, restriction in enumerate(only):
        *before, items = steps
        every = f"{items.name}_{number}"
        *between, left = restriction.steps(every, kind, engine)
        steps = [*before, Step(every, items.sql), *between, Step(items.name, left.sql)]
    return steps


def rows_found_in(known: str, rows: str, columns: Sequence[str]) -> str:
    """SQL: the rows of one table whose columns another table has."""
    same = equal_columns(columns, rows, "known")
    return f"select {rows}.* from {rows} semi join {known} as known on {same}"


def item_columns(kind: Kind, table: pa.Table) -> pa.Table:
    """The columns of an item, as texts: beside a number an engine takes "07" for 7."""
    names = kind.counted_columns()
    return table.select(list(names)).cast(pa.schema([(name, pa.string()) for name in names]))
