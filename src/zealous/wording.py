"""How a table was made, in words: from what release.json says of it, and nothing else.

What differs between mechanisms is said by each of them (`mechanism/words.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from zealous.markdown import code
from zealous.meaning import Part, origin
from zealous.mechanism.choose import MECHANISMS
from zealous.mechanism.words import Words, noise_name


def _words(part: Part) -> Words:
    return MECHANISMS[part["mechanism"]].words


def noise(part: Part) -> str:
    """What its noise is called."""
    return noise_name(part)


def method(part: Part) -> str:
    """The mechanism of a table, for a registry."""
    return _words(part).method(part)


def threshold(part: Part) -> str:
    """What an item had to pass, in a few words."""
    return _words(part).threshold(part)


def absence(plan: Sequence[Part]) -> str:
    """What it means that an item is not there."""
    said, listed = [], [_words(part).every_item for part in plan]
    if not all(listed):
        said.append("An item that is absent may be rare, or may have been dropped by the noise.")
    if any(listed):
        said.append(
            "A table over a known list has every item of that list, those that nobody holds too: "
            "there an item that is absent was not on the list, and a count can be below zero."
        )
    return " ".join(said)


def empty(part: Part, units: str) -> str:
    """What would fill an empty table."""
    return _words(part).empty(part, units=units, origin=origin(part))


def table(part: Part, units: str, each: str) -> list[str]:
    """How a table was made, point by point."""
    error, words = part["forecast"]["error_95"], _words(part)
    before = origin(part)
    said = words.points(part, units=units, each=each, origin=code(before) if before else None)
    interval = f"- 95 % interval of the noise: count - {error} .. count + {error}."
    if words.selected_by() is not None:
        interval += (
            f" It holds for 95 of 100 counts before {words.selected_by()}; counts just above it "
            "tend to be too high, since only those that were lucky are there."
        )
    if "public" in part:
        file = part["public"]
        said.append(f"- The public file is {code(file['name'])}, SHA-256 `{file['sha256']}`.")
    return [interval, *said]
