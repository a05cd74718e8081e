"""What a row of a table is, in words: from what release.json says of it, and nothing else.

What differs between kinds of items is said by each of them (`Kind.meaning`, `Kind.selection`).
"""

from __future__ import annotations

from zealous.planning.from_record import kind_of_table
from zealous.privacy.guarantee import UNIT_PLURALS
from zealous.record.record import PartRecord, Record
from zealous.release.text.markdown import code

_SELECTED = {
    "random": "selected by a public random key",
    "first": "the first in time",
    "frequent": "the user's own most frequent",
}
_ONE = {
    "random": "selected by a public random key, each different one with the same probability",
    "first": "the first in time",
    "frequent": "the one asked most often",
}


def row_meaning(part: PartRecord, record: Record, each: str) -> list[str]:
    """What an item is, where the names of the columns do not tell, and what its settings mean."""
    kind = kind_of_table(part, record)
    said = [*filter(None, [kind.meaning()]), *kind.notes()]
    return [f"- {_fill_in(one, part, record, each)}" for one in said]


def selection(part: PartRecord, record: Record, each: str) -> str:
    """Which items of each unit count."""
    return f"- {_fill_in(kind_of_table(part, record).selection(), part, record, each)}"


def origin(part: PartRecord, record: Record) -> str | None:
    """The table whose rows are all that there can be; None where a public rule tells that."""
    return next(iter(kind_of_table(part, record).made_of()), None)


def _fill_in(said: str, part: PartRecord, record: Record, each: str) -> str:
    known = {
        name: code(value) if isinstance(value, str) else value
        for name, value in part.settings.items()
    }
    known |= {
        "unit": part.unit,
        "units": UNIT_PLURALS[part.unit],
        "each": each.capitalize(),
        "selected": _SELECTED[part.select],
        "one": _ONE[part.select],
        "origin": code(origin(part, record) or ""),
    }
    return said.format_map(known)
