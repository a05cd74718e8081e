"""Users per item, down to the first threshold.

Guarantee:
    Users are counted, never rows. Nothing is dropped before bounding because of other people's
    data, and no count below the first threshold leaves the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from zealous.counting.bound import ContributionBound, bound_contributions
from zealous.counting.restriction import Restriction, restricted_steps
from zealous.engines.engine import Counted, Stored
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.logs.source import Source
from zealous.privacy.units import Select

_numbers = itertools.count()  # of tables: what a count that was broken off left is in no other


def histogram(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    at_least: int,
    select: Select,
    key: int,
    only: Sequence[Restriction] = (),
    say: Callable[[str], None] = lambda _: None,
) -> Counted:
    """Rows of (item..., count): users per item after bounding, where at least `at_least`.

    Bounding looks at one user at a time, so a log too large for memory is worked through in
    buckets of users whose histograms are added before the threshold is applied. Nothing is dropped
    before it is bounded because of others' data: that would let one user's rare items make room
    for her frequent ones. Only a `Restriction` may drop items.

    Args:
        kind: What is counted.
        source: Where it comes from.
        bound: The most items that each user keeps.
        at_least: The first threshold.
        select: How each user's items are chosen.
        key: The public key of the random order.
        only: What each user's items must meet to count: all others are dropped before bounding.
        say: Receives progress.
    """
    engine = source.engine
    choice = ContributionBound(most=bound, select=select, key=key)
    item = comma_separated(identifier(name) for name in kind.counted_columns())
    steps = _item_steps(kind, source, only)
    steps = [*steps, *bound_contributions(kind, source, choice)]
    count = f"select {item}, count(*) as count from kept group by {item}"
    number = source.buckets([*kind.required_roles, *kind.extra_columns()])

    @contextmanager
    def at_once() -> Iterator[list[Step]]:
        thresholded = Step("histogram", f"{count} having count(*) >= {at_least}")
        yield [*source.entries, *steps, thresholded]

    @contextmanager
    def in_buckets() -> Iterator[list[Step]]:
        partial = f"partial_{next(_numbers)}"
        for part in range(number):
            say(f"counting {kind.name()}: bucket {part + 1} of {number} of the users")
            entries = source.bucket(part, number).entries
            engine.append_rows(partial, [*entries, *steps, Step("histogram", count)])
        added = f"select {item}, sum(count)::bigint as count from {partial} group by {item}"
        yield [Step("histogram", f"{added} having sum(count) >= {at_least}")]
        engine.drop(partial)

    return Counted(engine, at_once if number == 1 else in_buckets)


@contextmanager
def users_keeping(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    select: Select,
    key: int,
    only: Sequence[Restriction] = (),
) -> Iterator[Stored]:
    """Who keeps which items when each keeps at most `bound`, chosen as `histogram` chooses them.

    A table of (user, item...), as secret as the log. It is dropped when the block is left; where a
    block is broken off, all tables go with the engine.
    """
    choice = ContributionBound(most=bound, select=select, key=key)
    items = _item_steps(kind, source, only)
    steps = [*items, *bound_contributions(kind, source, choice)]
    found = Stored.new(source.engine)
    number = source.buckets([*kind.required_roles, *kind.extra_columns()])
    for part in range(number):
        entries = source.entries if number == 1 else source.bucket(part, number).entries
        source.engine.append_rows(found.name, [*entries, *steps])
    yield found
    # Not in a `finally`: rows may still be read there, and a drop that fails would hide the reason.
    source.engine.drop(found.name)


def _item_steps(kind: Kind, source: Source, only: Sequence[Restriction]) -> list[Step]:
    """The steps that yield the items of a kind that may count, the last one named `items`."""
    return restricted_steps(kind.steps(source), only, kind, source.engine)
