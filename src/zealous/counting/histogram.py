"""Users per item, down to the first threshold.

Guarantee:
    Users are counted, never rows. Nothing is dropped before bounding because of other people's
    data, and no count below the first threshold leaves the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from zealous.counting.bound import ContributionBound, Select, bound_contributions, equal_columns
from zealous.engines.engine import Counted, Engine, Stored, table_name
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.libraries import pa
from zealous.logs.source import Source

_numbers = itertools.count()  # of tables: what a count that was broken off left is in no other


@runtime_checkable
class ItemRule(Protocol):
    """Which items may be counted, where there are too many to list."""

    def allowed_items(self, items: str, load: Callable[[pa.Table], str]) -> list[Step]:
        """The steps from a table of items, each there once, to those that it allows.

        Whether an item is allowed must follow from the item itself and from what is public or
        published, never from which others there are. Who has it is not in the table.

        Args:
            items: The name of the table: (item...).
            load: Makes a table known to the engine, and gives its name.
        """
        ...


def histogram(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    at_least: int,
    select: Select,
    key: int,
    only: pa.Table | ItemRule | None = None,
    restricted_to: Stored | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Counted:
    """Rows of (item..., count): users per item after bounding, where at least `at_least`.

    Bounding looks at one user at a time, so a log too large for memory is worked through in
    buckets of users whose histograms are added before the threshold is applied. Nothing is dropped
    before it is bounded because of others' data: that would let one user's rare items make room
    for her frequent ones. What is public or released (`only`) may be.

    Args:
        kind: What is counted.
        source: Where it comes from.
        bound: The most items that each user keeps.
        at_least: The first threshold.
        select: How each user's items are chosen.
        key: The public key of the random order.
        only: Items, or a rule that says which: all others are dropped before bounding.
        restricted_to: (user, item...) from `users_keeping` of another kind: a user's items
            count only if she kept, of that kind, the item that they belong to.
        say: Receives progress.
    """
    engine = source.engine
    choice = ContributionBound(most=bound, select=select, key=key)
    item = comma_separated(identifier(name) for name in kind.counted_columns())
    steps = _item_steps(kind, source, only, restricted_to)
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


def users_keeping(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    select: Select,
    key: int,
    only: pa.Table | ItemRule | None = None,
    restricted_to: Stored | None = None,
) -> Stored:
    """Who keeps which items when each keeps at most `bound`, chosen as `histogram` chooses them."""
    choice = ContributionBound(most=bound, select=select, key=key)
    items = _item_steps(kind, source, only, restricted_to)
    steps = [*items, *bound_contributions(kind, source, choice)]
    found = Stored.new(source.engine)
    number = source.buckets([*kind.required_roles, *kind.extra_columns()])
    for part in range(number):
        entries = source.entries if number == 1 else source.bucket(part, number).entries
        source.engine.append_rows(found.name, [*entries, *steps])
    return found


def _item_steps(
    kind: Kind,
    source: Source,
    only: pa.Table | ItemRule | None,
    restricted_to: Stored | None,
) -> list[Step]:
    """The steps that yield the items of a kind that may count, the last one named `items`.

    What is left out is left out by the item and by what is public or published (`only`), or by
    what the same user kept of another kind (`restricted_to`).
    """
    steps = kind.steps(source)
    columns = kind.counted_columns()
    if restricted_to is not None:
        steps = _filter_by_join(steps, restricted_to.name, ["user", *kind.restricting_columns()])
    if isinstance(only, ItemRule):
        steps = _filter_by_rule(steps, only, source.engine, columns)
    elif only is not None:
        steps = _filter_by_join(steps, table_name(source.engine, item_columns(kind, only)), columns)
    return steps


def _filter_by_rule(
    steps: list[Step], rule: ItemRule, engine: Engine, columns: Sequence[str]
) -> list[Step]:
    """The steps to `items`, and some more that leave those whose item a rule allows."""
    *before, last = steps
    item = comma_separated(map(identifier, columns))
    allowed = rule.allowed_items("different_items", lambda table: table_name(engine, table))
    filtered = (
        f"select before_rule.* from before_rule semi join {allowed[-1].name} as known on "
        f"{equal_columns(columns, 'before_rule', 'known')}"
    )
    return [
        *before,
        Step("before_rule", last.sql),
        Step("different_items", f"select distinct {item} from before_rule"),
        *allowed,
        Step(last.name, filtered),
    ]


def _filter_by_join(steps: list[Step], table: str, columns: Sequence[str]) -> list[Step]:
    """The last step under another name, and one that reads from it in its place."""
    *before, last = steps
    whole = f"{last.name}_{len(steps)}"
    filtered = (
        f"select {whole}.* from {whole} semi join {table} as known on "
        f"{equal_columns(columns, whole, 'known')}"
    )
    return [*before, Step(whole, last.sql), Step(last.name, filtered)]


def item_columns(kind: Kind, table: pa.Table) -> pa.Table:
    """The columns of an item, as texts: beside a number an engine takes "07" for 7."""
    names = kind.counted_columns()
    return table.select(list(names)).cast(pa.schema([(name, pa.string()) for name in names]))
