"""A sketch of the ids of a log, by which a copy of it is recognised; for its owner alone.

Each id has a hash that depends on a secret key. Its first byte names one of 256 slots, and of the
smallest hash of each slot the sketch keeps the last byte. Two logs of the same people agree in most
slots, two logs of other people in about one of 256.

Ids that number people from 1 are the same in every log. The smallest hashes are of ids drawn by
chance, so the sketch also tells about how many ids are small numbers of each size, and how many two
logs would share by numbering alone.

Guarantee:
    None: a sketch is derived from the log without noise, and goes into no release, ledger or
    backup. One id changes one slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from zealous.engines.sql import Step, literal
from zealous.logs.source import Source, count_ids, known_entries

SLOTS = 256
_EMPTY = "--"
_LEAST_SLOTS = 12  # that agree: by chance in one of a billion pairs of logs
_LEAST_SHARE = 0.1
_HASH = 32  # digits of an MD5, which come before the id where that is a number
_DIGITS = 9  # of the numbers that are looked at


class Sketch(NamedTuple):
    """What is kept of the ids of a log.

    Attributes:
        ids: How many there are, to two digits.
        slots: A byte in hex for each slot, or -- where no id is.
        numbers: Of the ids that left their byte, how many are whole numbers of each range, by the
            range's first number; see `_range_of`.
    """

    ids: int
    slots: tuple[str, ...]
    numbers: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, ids: int, hashes: Iterable[str]) -> Self:
        """From the smallest hash of each slot, as `id_hash` has it."""
        slots, numbers = [_EMPTY] * SLOTS, Counter[int]()
        for each in hashes:
            slots[int(each[:2], 16)] = each[_HASH - 2 : _HASH]
            if number := each[_HASH:]:
                numbers[_range_of(int(number))] += 1
        unit: int = 10 ** max(0, len(str(ids)) - 2)
        rounded = round(ids / unit) * unit
        return cls(ids=rounded, slots=tuple(slots), numbers=tuple(sorted(numbers.items())))

    def shared_with(self, other: Sketch) -> float | None:
        """The share of the smaller log's ids that both have, about; None where it is small.

        Also where that cannot be told, or where numbering explains it: see
        docs/reference/ledger.md, "How copies of a log are recognised".
        """
        slots = zip(self.slots, other.slots, strict=True)
        pairs = [pair for pair in slots if set(pair) != {_EMPTY}]
        filled = sum(_EMPTY not in pair for pair in pairs)
        same = sum(one == two for one, two in pairs)
        smaller = min(self.ids, other.ids)
        if same < _LEAST_SLOTS or smaller < 1:  # of a file that somebody changed
            return None
        if same == len(pairs) and self.ids == other.ids:
            return 1.0  # the very same ids, also where they are numbers
        similar = max(0.0, same - filled / SLOTS) / len(pairs)  # ids in both, of those in either
        both = similar / (1 + similar) * (self.ids + other.ids)
        share = min(1.0, both / smaller)
        explained = min(1.0, self._shared_numbers(other) / smaller)
        least = _LEAST_SHARE + explained + min(0.2, 2 * explained)  # both figures are estimates
        return share if share >= least else None

    def _shared_numbers(self, other: Sketch) -> float:
        """How many ids two logs of other people would share, that number theirs in the same way."""
        own, others = self._density_by_range(), other._density_by_range()
        return sum(own[low] * others[low] * _range_size(low) for low in own.keys() & others.keys())

    def _density_by_range(self) -> dict[int, float]:
        """About which part of the numbers of each range are ids.

        Few of a large log's ids are small, and fewer left their byte: so a range is taken to be as
        dense as it is together with those above, where that is more.
        """
        filled = sum(each != _EMPTY for each in self.slots)
        found: dict[int, float] = {}
        ids = numbers = 0.0
        known = dict(self.numbers)
        for low in _ranges_below(max(known, default=0)):
            within = known.get(low, 0) / filled * self.ids
            ids, numbers = ids + within, numbers + _range_size(low)
            found[low] = min(1.0, max(within / _range_size(low), ids / numbers))
        return found


def _ranges_below(low: int) -> Iterator[int]:
    """The first numbers of a range and of all below it."""
    while low > 0:
        yield low
        low = _range_of(low - 1)


def _range_of(number: int) -> int:
    """The first number of those that begin with the same two binary digits and are as long.

    >>> [_range_of(each) for each in (1, 2, 3, 4, 5, 6, 7, 8, 100)]
    [1, 2, 3, 4, 4, 6, 6, 8, 96]
    """
    size = _range_size(number)
    return number // size * size


def _range_size(number: int) -> int:
    """How many numbers are in the range of one."""
    return 1 << max(0, number.bit_length() - 2)


def id_hash(key: str) -> str:
    """SQL: the hash of the id `user`, the same on every engine; behind it an id that is a number.

    Files of other formats write 0042 as 42, or an id in capitals.
    """
    plain = "regexp_replace(lower(user::varchar), '^0+', '', 'g')"
    is_number = f"regexp_full_match({plain}, '[0-9]{{1,{_DIGITS}}}')"
    return f"md5({literal(key)} || {plain}) || case when {is_number} then {plain} else '' end"


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
