"""How a table was made, in words: from what release.json says of it, and nothing else.

What differs between mechanisms is said by each of them (`mechanisms/descriptions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from zealous.mechanisms.descriptions import Description, noise_name
from zealous.mechanisms.retired import recorded_class
from zealous.privacy.accounting.intervals import Interval
from zealous.record.record import PartRecord, Record
from zealous.release.text.markdown import code
from zealous.release.text.row_meaning import origin

_CONFIDENCE = 0.95


def _description(part: PartRecord) -> Description:
    return recorded_class(part).description


def noise(part: PartRecord) -> str:
    """What its noise is called."""
    return noise_name(part.noise)


def method(part: PartRecord) -> str:
    """The mechanism of a table, for a registry."""
    return _description(part).method(part)


def threshold(part: PartRecord) -> str:
    """What an item had to pass, in a few words."""
    return _description(part).threshold(part)


def meaning_of_absence(plan: Sequence[PartRecord]) -> str:
    """What it means that an item is not there."""
    said, listed = [], [_description(part).every_item for part in plan]
    if not all(listed):
        said.append("A missing item may be rare, or the noise may have dropped it.")
    if any(listed):
        said.append(
            "A table over a known list has every item of that list, including those that nobody "
            "holds: a missing item was not on the list, and a count can be below zero."
        )
    return " ".join(said)


def why_empty(part: PartRecord, record: Record, units: str) -> str:
    """What would fill an empty table."""
    return _description(part).empty(part, units=units, origin=origin(part, record))


def noise_at_most(part: PartRecord) -> str:
    """The most noise on counts in 95 of 100 cases, in a few words."""
    found = count_interval(part)
    if found.threshold is None:
        return str(found.error)
    if part.tau_prime is None:
        return f"{found.error} for counts at least {_margin(found)} above the smallest"
    return f"{found.error} for counts of {found.certain_from:,} or more"


def interval(part: PartRecord, units: str) -> str:
    """Which numbers of units the counts of a table can stand for."""
    found = count_interval(part)
    said = f"- 95 % interval: `count` - {found.error} to `count` + {found.error}"
    if found.threshold is None:
        return f"{said}."
    where = f"counts of {found.certain_from:,} or more"
    if part.tau_prime is None:
        where = f"counts at least {_margin(found)} above the smallest in this table"
    return (
        f"{said} for {where}. For smaller counts the lower end is {found.fewest}, because an item "
        f"of few {units} is published only if its noise was high."
    )


def count_interval(part: PartRecord, lowest: int | None = None) -> Interval:
    """The 95 % interval of the counts of a table, sharper where its smallest count is known."""
    return recorded_class(part).from_record(part).interval(_CONFIDENCE, lowest=lowest)


def _margin(found: Interval) -> int:
    """How far above the smallest published count the lower end is count - error."""
    assert found.threshold is not None  # noqa: S101 - asked only where there is one
    return int(found.certain_from) - found.threshold - 1


def method_points(part: PartRecord, record: Record, units: str, each: str) -> list[str]:
    """How a table was made, point by point."""
    before = origin(part, record)
    said = _description(part).points(part, units=units, each=each, origin=before and code(before))
    if part.public is not None:
        file = part.public
        said.append(f"- The public file is {code(file.name)}, SHA-256 `{file.sha256}`.")
    return [interval(part, units), *said]
