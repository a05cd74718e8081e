"""Count, add noise, drop what is rare: the tables of a plan, drawn from a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from zealous.counting.bound import Select
from zealous.counting.histogram import histogram, users_keeping
from zealous.engines.engine import Stored
from zealous.items import Kind
from zealous.logs.source import Source
from zealous.mechanisms import Count, Mechanism
from zealous.noise import seeded_bytes
from zealous.planning.part import Part
from zealous.planning.plan import Plan
from zealous.release.bundle import Table, sorted_table
from zealous.release.progress import Say


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
    for number, part in enumerate(planned.parts):
        say(f"counting {part.name()} ({number + 1} of {len(planned.parts)})")
        released = {name: table.arrow for name, table in tables.items()}
        kind = part.kind.with_inputs(released)
        listed = (public or {}).get(part.name(), kind.known_items())
        mechanism = part.mechanism.with_inputs(listed, released)
        count = partial(histogram, kind, source, select=planned.select, key=key, say=say)
        first = kind.follows_kind()
        if first is not None:
            (before,) = (each for each in planned.parts if each.name() == first)
            following = _keepers(before, released[first], source, planned.select, key)
            count = partial(count, following=following)
        random_bytes = _random_bytes(planned.seed, number)
        tables[part.name()] = _publish_part(kind, mechanism, count, random_bytes)
    return tables


def _keepers(part: Part, counted: pa.Table, source: Source, select: Select, key: int) -> Stored:
    """Who kept which items when they were counted for a table that was published before."""
    return users_keeping(
        part.kind,
        source,
        bound=part.mechanism.items_per_user,
        select=select,
        key=key,
        # Without a second threshold it was the published items alone that were counted.
        only=counted if part.mechanism.tau_prime is None else None,
    )


def _random_bytes(seed: int | None, part: int) -> Callable[[int], bytes]:
    if seed is None:
        return os.urandom
    return seeded_bytes(seed * 1000 + part)


def _publish_part(
    kind: Kind, mechanism: Mechanism, count: Count, random_bytes: Callable[[int], bytes]
) -> Table:
    if random_bytes is not os.urandom:  # the same noise for the same item, run after run
        count = partial(_sorted_batches, count, kind.counted_columns())
    return as_table(kind, map(kind.as_published, mechanism.release(count, random_bytes)))


def as_table(kind: Kind, batches: Iterable[pa.RecordBatch]) -> Table:
    """Rows as they are published: text, and a count, in an order that the log does not decide."""
    columns = kind.columns()
    schema = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    return sorted_table(
        pa.Table.from_batches([batch.cast(schema) for batch in batches], schema), columns
    )


def _sorted_batches(count: Count, columns: Sequence[str], **how: Any) -> list[pa.RecordBatch]:
    batches = list(count(**how))
    if not batches:
        return []
    table = pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in columns])
    return list(table.to_batches())
