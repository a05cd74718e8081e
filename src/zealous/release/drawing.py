"""Count, add noise, drop what is rare: the tables of a plan, drawn from a log.

Guarantee:
    Noise comes from the operating system, unless the plan has a seed: what is made with one is not
    private. Each part draws noise of its own, and of its counts only what its mechanism yields is
    published.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from zealous.counting.histogram import users_keeping
from zealous.counting.log_count import LogCount
from zealous.counting.restriction import Restriction
from zealous.counting.same_user import KeptBySameUser
from zealous.items import Kind
from zealous.logs.source import Source
from zealous.mechanisms import Count, Mechanism
from zealous.noise import seeded_bytes
from zealous.planning.part import Part, part_select
from zealous.planning.plan import Plan
from zealous.privacy.units import Select
from zealous.release.progress import Say
from zealous.release.table import Table, counted_schema, sorted_table


def draw(
    planned: Plan,
    source: Source,
    *,
    key: int,
    public: Mapping[str, pa.Table] | None = None,
    say: Say = lambda _: None,
) -> dict[str, Table]:
    """Count, add noise, drop what is rare, for each part of a plan: where the budget is spent."""
    tables: dict[str, Table] = {}
    settled: dict[str, Part] = {}
    for number, planned_part in enumerate(planned.parts):
        say(f"counting {planned_part.name()} ({number + 1} of {len(planned.parts)})")
        released = {name: table.arrow for name, table in tables.items()}
        kind = planned_part.kind.with_inputs(released)
        item_list = (public or {}).get(kind.name(), kind.known_items())
        part = settled[kind.name()] = planned_part.with_inputs(released, item_list)
        random_bytes = _random_bytes(planned.seed, number)
        with _followed_items(kind, settled, released, source, planned.select, key) as only:
            count = LogCount(
                kind=replace(kind, items_per_user=part.kind.items_per_user),
                source=source,
                select=part_select(kind, planned.select),
                key=key,
                only=only,
                ordered=planned.seed is not None,  # the same noise for an item, run after run
                say=say,
            )
            tables[part.name()] = _publish_part(kind, part.mechanism, count, random_bytes)
    return tables


@contextmanager
def _followed_items(
    kind: Kind,
    settled: Mapping[str, Part],
    released: Mapping[str, pa.Table],
    source: Source,
    select: Select,
    key: int,
) -> Iterator[tuple[Restriction, ...]]:
    """For a kind that follows another: what its users kept of that one when it was counted."""
    followed = kind.restricting_kind()
    if followed is None:
        yield ()
        return
    part = settled[followed]
    with users_keeping(
        part.kind,
        source,
        bound=part.mechanism.items_per_user,
        select=select,
        key=key,
        only=part.mechanism.restrictions(released[followed]),
    ) as kept:
        yield (KeptBySameUser(kept),)


def _random_bytes(seed: int | None, part: int) -> Callable[[int], bytes]:
    if seed is None:
        return os.urandom
    return seeded_bytes(seed * 1000 + part)


def _publish_part(
    kind: Kind, mechanism: Mechanism, count: Count, random_bytes: Callable[[int], bytes]
) -> Table:
    return as_table(kind, map(kind.as_published, mechanism.release(count, random_bytes)))


def as_table(kind: Kind, batches: Iterable[pa.RecordBatch]) -> Table:
    """Rows as they are published: text, and a count, in an order that the log does not decide."""
    columns = kind.columns()
    schema = counted_schema(columns)
    return sorted_table(
        pa.Table.from_batches([batch.cast(schema) for batch in batches], schema), columns
    )
