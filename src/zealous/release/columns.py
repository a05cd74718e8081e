"""The columns of a table and what they hold, for README, data package and Croissant alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from zealous.planning.from_record import kind_from_record
from zealous.privacy.guarantee import UNIT_PLURALS, Unit
from zealous.record.record import PartRecord, Record


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a file.

    Attributes:
        name: What it is called.
        type: What its values are.
        meaning: What it holds.
        unit: What a number counts; empty for texts and shares.
        empty: What an empty cell means.
    """

    name: str
    type: Literal["string", "integer", "number"]
    meaning: str
    unit: str = ""
    empty: str = "never"

    def description(self) -> str:
        """All of it in one line.

        >>> Column(name="rate", type="number", meaning="a share", empty="unknown").description()
        'A share. Empty: unknown.'
        """
        unit = f" Unit: {self.unit}." if self.unit else ""
        return f"{self.meaning[:1].upper()}{self.meaning[1:]}.{unit} Empty: {self.empty}."


def table_columns(part: PartRecord, record: Record) -> list[Column]:
    """The columns of a published table: the item's, the count and its interval."""
    return [*item_columns(part, record), *count_columns(part.unit)]


def item_columns(part: PartRecord, record: Record) -> list[Column]:
    """The columns of an item, as its kind tells them."""
    kind = kind_from_record(part, record.files[part.kind].columns)
    said = kind.column_meanings().items()
    return [Column(name=name, type="string", meaning=meaning) for name, meaning in said]


def count_columns(unit: Unit) -> list[Column]:
    """The columns that every table has after the item's."""
    units = UNIT_PLURALS[unit]
    numbers = {
        "count": f"the number of {units} that hold the item, plus noise",
        "count_low": f"the fewest {units} that count can stand for, with 95 % certainty",
        "count_high": f"the most {units} that count can stand for, with 95 % certainty",
    }
    return [
        Column(name=name, type="integer", meaning=meaning, unit=units)
        for name, meaning in numbers.items()
    ]
