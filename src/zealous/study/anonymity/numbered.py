"""Between the engine, which holds texts, and the grouping of sets, which works on numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from zealous.engines.engine import Engine
from zealous.engines.sql import Step, comma_separated
from zealous.study.anonymity.set_arrays import Ints, Sets, sets_of

TABLES = ("numbered_sets", "numbered_items")


def number_sets(engine: Engine, steps: Sequence[Step], columns: Sequence[str]) -> Sets:
    """Number the sets and items that the steps yield, in the order of their contents.

    It leaves the tables `numbered_sets`: (user, ..., number, owner), and `numbered_items`:
    (item, number), so that no order of the log's lines gives other numbers.

    Args:
        engine: Where the log is.
        steps: The last one yields the columns of a set and `item`; rows may come twice.
        columns: What tells sets apart: the user, and what is needed beside.
    """
    names = comma_separated(columns)
    for table in ("held_items", *TABLES):
        engine.drop(table)
    engine.append_rows(
        "held_items", [*steps, Step("h", f"select distinct * from {steps[-1].name}")]
    )
    owner = "dense_rank() over (order by user) - 1 as owner"
    numbers = f"select *, row_number() over (order by {names}) - 1 as number, {owner} from listed"
    listing = Step("listed", f"select distinct {names} from held_items")
    engine.append_rows("numbered_sets", [listing, Step("numbers", numbers)])
    items = Step("listed", "select distinct item from held_items")
    number = "select item, row_number() over (order by item) - 1 as number from listed"
    engine.append_rows("numbered_items", [items, Step("numbers", number)])
    numbers_of, items_of = _fetch_columns(
        engine,
        f"select s.number, i.number from held_items join numbered_sets s using ({names}) "
        "join numbered_items i using (item) order by 1, 2",
        2,
    )
    (owners,) = _fetch_columns(engine, "select owner from numbered_sets order by number", 1)
    engine.drop("held_items")
    return sets_of(numbers_of, items_of, owners)


def select_numbers_as(engine: Engine, name: str, **columns: Ints) -> None:
    """Let columns of numbers be selected from under a name."""
    engine.add_table(name, pa.table(columns))


def drop_numbers(engine: Engine) -> None:
    """Drop the tables of numbers."""
    for table in TABLES:
        engine.drop(table)


def _fetch_columns(engine: Engine, sql: str, columns: int) -> list[Ints]:
    parts: list[list[Any]] = [[np.zeros(0, np.int64)] for _ in range(columns)]
    for batch in engine.batches([Step("fetched", sql)]):
        for part, column in zip(parts, batch.columns, strict=True):
            part.append(column.to_numpy())
    return [np.concatenate(part) for part in parts]
