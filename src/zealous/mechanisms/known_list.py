"""Noise on the counts of a list of candidates: no mechanism draws such noise anywhere else.

Guarantee:
    Each candidate gets noise once, whether or not somebody has it; candidates follow from what is
    public or published. Which rows there are depends on the list and on noisy counts alone.

Everybody knows the list, and a candidate is a place in it. Noise belongs to places, and what is
counted counts at the one place where it is. A list with an item at two places would give the item
two noises, and one that nobody has would appear more often than one that somebody has: so noise is
drawn only where each place has an item of its own (docs/proofs/domain.md, "Each item once").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from zealous.errors import UsageError
from zealous.libraries import np, pa
from zealous.mechanisms.laws import Noise
from zealous.noise import DiscreteLaplace, RandomBytes
from zealous.noise.rare_events import rare_events
from zealous.noise.uniform import uniform

if TYPE_CHECKING:
    import numpy.typing as npt


Whole: TypeAlias = "npt.NDArray[np.int64]"

_AT_ONCE = 1 << 20  # candidates that get noise, and counted items that are looked up, at least
_PLACE, _ROW = "zealous:place", "zealous:row"  # no item's column is called so


class Candidates(Protocol):
    """Different items that everybody knows: from public files, rules and what was published.

    Nothing of it may depend on the log in any other way.
    """

    def __len__(self) -> int:
        """How many there are."""

    def items(self, places: Whole) -> pa.RecordBatch:
        """The items at some places, without counts."""

    def places(self, items: pa.Table) -> Whole:
        """The places of some items; -1 for what is no candidate. Other columns are ignored."""


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Candidates that are the rows of a table: different texts, in the order of the table.

    Attributes:
        table: The items, each once: `of` keeps the first of equal ones.
    """

    table: pa.Table

    @classmethod
    def of(cls, table: pa.Table) -> ItemTable:
        """The different rows of a table; a column `count` is ignored.

        They are made texts first, as a log's items are: an engine would take "07" for 7.

        Raises:
            UsageError: A value is missing: nobody can have such an item.
        """
        names = [name for name in table.column_names if name != "count"]
        listed = table.select(names).cast(pa.schema([(name, pa.string()) for name in names]))
        if any(column.null_count for column in listed.columns):
            raise UsageError("a list of items must have no missing value: take out those rows")
        rows = _number_rows(listed, _PLACE).group_by(names).aggregate([(_PLACE, "min")])
        if rows.num_rows < listed.num_rows:
            listed = listed.take(rows.sort_by(f"{_PLACE}_min")[f"{_PLACE}_min"])
        return cls(listed)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def without(self, others: pa.Table | None) -> ItemTable:
        """Those that another table does not have."""
        if others is None:
            return self
        left = np.ones(len(self), np.bool_)
        there = self.places(others)
        left[there[there >= 0]] = False
        return ItemTable(self.table.take(_array(np.flatnonzero(left))))

    def items(self, places: Whole) -> pa.RecordBatch:
        """The items at some places."""
        found = self.table.take(_array(places))
        columns = [column.combine_chunks() for column in found.columns]
        return pa.RecordBatch.from_arrays(columns, names=self.table.column_names)

    def places(self, items: pa.Table) -> Whole:
        """The places of some items; -1 for what is no candidate."""
        names = self.table.column_names
        wanted = items.select(names).cast(self.table.schema)
        both = _number_rows(wanted, _ROW).join(
            _number_rows(self.table, _PLACE), names, join_type="inner"
        )
        found = np.full(items.num_rows, -1, np.int64)
        found[both[_ROW].to_numpy()] = both[_PLACE].to_numpy()
        return found


def with_noise_on_each(
    candidates: Candidates,
    counted: Iterable[pa.RecordBatch],
    noise: Noise,
    random_bytes: RandomBytes,
    *,
    above: int | None = None,
) -> list[pa.RecordBatch]:
    """Every candidate with its noisy count, those that nobody has too; or what is above a number.

    Args:
        candidates: The list. Which rows there are, and in which order, depends on it alone, but
            for what noisy counts are not above.
        counted: Counted items (item..., count). What is no candidate is left out.
        noise: Where noise comes from; each candidate gets its own.
        random_bytes: Where randomness comes from.
        above: What a noisy count must be above to be published; all are where it is not given.

    Raises:
        UsageError: An item stands at two places of the list.
    """
    _check_different(candidates, np.arange(len(candidates)))
    counts = np.zeros(len(candidates), np.int64)
    for places, numbers in _places_and_counts(candidates, counted):
        np.add.at(counts, places, numbers)
    published = []
    for first in range(0, len(candidates), _AT_ONCE):
        some = counts[first : first + _AT_ONCE]
        noisy = some + noise.sample(len(some), random_bytes)
        kept = np.arange(len(some)) if above is None else np.flatnonzero(noisy > above)
        published.append(_rows(candidates, first + kept, noisy[kept]))
    return published


def above_with_noise(
    candidates: Candidates,
    counted: Iterable[pa.RecordBatch],
    noise: DiscreteLaplace,
    random_bytes: RandomBytes,
    *,
    above: int,
) -> list[pa.RecordBatch]:
    """As `with_noise_on_each`, for a list that is too long to draw noise for each candidate.

    Among candidates that nobody has it draws how many are above, then which, then by how much:
    docs/proofs/clicks.md proves that this is the same law. That no item is at two places is checked
    here only for what is published; for the rest, code that makes such a list must prove it.
    """
    parts = list(_places_and_counts(candidates, counted))
    held = np.concatenate([np.empty(0, np.int64), *(places for places, _ in parts)])
    numbers = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in parts)])
    held, order = np.unique(held, return_inverse=True)
    counts = np.zeros(len(held), np.int64)
    np.add.at(counts, order, numbers)
    noisy = counts + noise.sample(len(held), random_bytes)
    lucky = _draw_places_above(len(candidates), noise, above, random_bytes)
    lucky = np.setdiff1d(lucky, held)  # those have noise of their own
    beyond = _draw_non_negative(noise, len(lucky), random_bytes)
    published = []
    for places, values in (
        (held[noisy > above], noisy[noisy > above]),
        (lucky, above + 1 + beyond),
    ):
        _check_different(candidates, places)
        published.append(_rows(candidates, places, values))
    return published


def _check_different(candidates: Candidates, places: Whole) -> None:
    """Refuse a list with an item at two places, of which it can be found at one alone."""
    items = pa.Table.from_batches([candidates.items(places)])
    if (candidates.places(items) != places).any():
        raise UsageError("noise is drawn for each of a list of items: they must all be different")


def _places_and_counts(
    candidates: Candidates, counted: Iterable[pa.RecordBatch]
) -> Iterator[tuple[Whole, Whole]]:
    """The places and the counts of counted items, without those that are no candidates."""

    def found(batches: list[pa.RecordBatch]) -> tuple[Whole, Whole]:
        table = pa.Table.from_batches(batches)
        places = candidates.places(table)
        return places[places >= 0], table["count"].to_numpy().astype(np.int64)[places >= 0]

    waiting: list[pa.RecordBatch] = []  # to look up an item may take as long as the list is long
    for batch in counted:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _AT_ONCE:
            yield found(waiting)
            waiting = []
    if waiting:
        yield found(waiting)


def _draw_places_above(
    size: int, noise: DiscreteLaplace, above: int, random_bytes: RandomBytes
) -> Whole:
    """The places, of `size`, whose noise alone is above: first how many, then which."""
    chosen: set[int] = set()
    if size:
        number = rare_events(size, partial(_tail, noise.scale, above), random_bytes)
        while len(chosen) < number:
            chosen.update(uniform(size, number - len(chosen), random_bytes).tolist())
    return np.array(sorted(chosen), np.int64)


def _tail(scale: Fraction, t: int, digits: int) -> Decimal:
    """P(noise > t) for t of 0 or more, to `digits` significant digits."""
    with localcontext(Context(prec=digits + 10, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        rate = Decimal(scale.denominator) / Decimal(scale.numerator)
        return (-(t + 1) * rate).exp() / (1 + (-rate).exp())


def _draw_non_negative(noise: Noise, size: int, random_bytes: RandomBytes) -> Whole:
    """Noise given that it is 0 or more; noise given that it is above t is t + 1 plus that."""
    found = np.empty(0, np.int64)
    while len(found) < size:
        more = noise.sample(4 * size, random_bytes)
        found = np.append(found, more[more >= 0])
    return found[:size]


def _rows(candidates: Candidates, places: Whole, counts: Whole) -> pa.RecordBatch:
    """(item..., count) at some places."""
    items = candidates.items(places)
    return pa.RecordBatch.from_arrays(
        [*items.columns, _array(counts)], names=[*items.schema.names, "count"]
    )


def _number_rows(table: pa.Table, name: str) -> pa.Table:
    """With the number of each row."""
    return table.append_column(name, _array(np.arange(table.num_rows)))


def _array(values: Whole) -> pa.Array:
    """What `pa.array` gives, which would import pandas."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
