"""A sketch of the ids of a log, by which a copy of it is recognised; for its owner alone.

Each id has a hash that depends on a secret key. Its first byte names one of 256 slots, and of the
smallest hash of each slot the sketch keeps the last byte. Two logs of the same people agree in most
slots, two logs of other people in about one of 256.

Guarantee:
    None: a sketch is derived from the log without noise, and goes into no release, ledger or
    backup. One id changes one slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

from zealous.engines.sql import Step, literal
from zealous.logs.source import Source, count_ids, known_entries

SLOTS = 256
_EMPTY = "--"
_LEAST_SLOTS = 12  # that agree: by chance in one of a billion pairs of logs
_LEAST_SHARE = 0.1


class Sketch(NamedTuple):
    """What is kept of the ids of a log.

    Attributes:
        ids: How many there are, to two digits.
        slots: A byte in hex for each slot, or -- where no id is.
    """

    ids: int
    slots: tuple[str, ...]

    @classmethod
    def of(cls, ids: int, hashes: Iterable[str]) -> Self:
        """From the smallest hash of each slot, in hex."""
        slots = [_EMPTY] * SLOTS
        for each in hashes:
            slots[int(each[:2], 16)] = each[-2:]
        unit: int = 10 ** max(0, len(str(ids)) - 2)
        return cls(ids=round(ids / unit) * unit, slots=tuple(slots))

    def shared_with(self, other: Sketch) -> float | None:
        """The share of the smaller log's ids that both have, about; None where it is small.

        Also where that cannot be told: see docs/ledger.md, "A copy of a log".
        """
        slots = zip(self.slots, other.slots, strict=True)
        pairs = [pair for pair in slots if set(pair) != {_EMPTY}]
        filled = sum(_EMPTY not in pair for pair in pairs)
        same = sum(one == two for one, two in pairs)
        smaller = min(self.ids, other.ids)
        if same < _LEAST_SLOTS or smaller < 1:  # of a file that somebody changed
            return None
        similar = max(0.0, same - filled / SLOTS) / len(pairs)  # ids in both, of those in either
        both = similar / (1 + similar) * (self.ids + other.ids)
        share = min(1.0, both / smaller)
        return share if share >= _LEAST_SHARE else None


def id_hash(key: str) -> str:
    """SQL: the hash of the id `user`, the same on every engine.

    Files of other formats write 0042 as 42, or an id in capitals.
    """
    plain = "regexp_replace(lower(user::varchar), '^0+', '', 'g')"
    return f"md5({literal(key)} || {plain})"


def smallest_of_slots(rows: str) -> Step:
    """The step that keeps the smallest hash of each slot, of rows of (hash)."""
    return Step("smallest", f"select min(hash) as hash from {rows} group by left(hash, 2)")


def sketch_ids(source: Source, key: str) -> Sketch:
    """The sketch of the ids of the whole log, also of people who are left out."""
    hashes = source.id_hashes
    if hashes is None:
        each = Step("hashes", f"select distinct {id_hash(key)} as hash from known")
        steps = [*known_entries(source), each, smallest_of_slots("hashes")]
        hashes = tuple(str(least) for (least,) in source.engine.rows(steps))
    return Sketch.of(count_ids(source).number, hashes)
