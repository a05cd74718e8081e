"""The true histograms of a log, counted once: what every release of it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.engine import Engine
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.logs.source import Source

Ints = npt.NDArray[np.int64]
_USERS, _TIMES, _KEPT = "n:users", "n:times", "n:kept:"  # no item's column is called so


@dataclass(frozen=True, kw_only=True)
class Original:
    """The true histogram of one kind. Internal: nothing of it may be published.

    Attributes:
        kind: What is counted.
        items: The item's columns: most users first, then by item, so that the first j rows are the
            j most frequent items.
        users: How many users have each item.
        times: How often each item occurs.
        kept: For each m how many users keep the item where each keeps m at random.
        people: How many users the log has.
    """

    kind: str
    items: pa.Table
    users: Ints
    times: Ints
    kept: Mapping[int, Ints]
    people: int

    def __len__(self) -> int:
        return int(self.items.num_rows)


def count_original(
    kind: Kind,
    source: Source,
    path: Path,
    *,
    bounds: Sequence[int],
    key: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Count a kind for all bounds in one pass, and write the histogram to a Parquet file.

    A user's items are ranked once; those that she keeps for any m are the first m. They are the
    same that `publish` keeps with this key.

    Args:
        kind: What to count.
        source: The log.
        path: The file to write. It holds true counts: nobody else may read it.
        bounds: Every m that will be asked for.
        key: The key of the random order.
        say: Receives progress.
    """
    item = comma_separated(identifier(name) for name in kind.columns())
    rank = source.engine.rank_key(key, ["user", *kind.columns()])
    place = f"row_number() over (partition by user order by {rank}, {item}) as place"
    sums = {_USERS: "count(*)", _TIMES: "sum(often)"}
    sums |= {f"{_KEPT}{m}": f"count(*) filter (where place <= {m})" for m in sorted(set(bounds))}
    figures = comma_separated(f"{sql}::bigint as {identifier(name)}" for name, sql in sums.items())
    steps = [
        *kind.steps(source),
        Step("held", f"select user, {item}, count(*) as often from items group by user, {item}"),
        Step("ranked", f"select {item}, often, {place} from held"),
        Step("histogram", f"select {item}, {figures} from ranked group by {item}"),
    ]
    number = source.buckets(source.roles)
    for part in range(number):
        if number > 1:
            say(f"counting {kind.name()}: bucket {part + 1} of {number} of the users")
        entries = source.bucket(part, number).entries if number > 1 else source.entries
        source.engine.append_rows("partial", [*entries, *steps])
    added = comma_separated(
        f"sum({identifier(name)})::bigint as {identifier(name)}" for name in sums
    )
    whole = (
        f"select {item}, {added} from partial group by {item}"
        if number > 1
        else ("select * from partial")
    )
    ordered = f"select * from ({whole}) order by {identifier(_USERS)} desc, {item}"
    _write(source.engine, Step("ordered", ordered), kind, list(sums), path)
    source.engine.drop("partial")


def _write(engine: Engine, rows: Step, kind: Kind, figures: Sequence[str], path: Path) -> None:
    schema = pa.schema(
        [*((name, pa.string()) for name in kind.columns()), *((n, pa.int64()) for n in figures)]
    )
    partial = path.with_suffix(".partial")
    with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
        for batch in engine.batches([rows]):
            writer.write_batch(batch.cast(schema))
    partial.rename(path)


def read_original(kind: Kind, path: Path, people: int, bounds: Sequence[int]) -> Original:
    """Read of a histogram that `count_original` wrote what is needed for these bounds."""
    kept = {m: f"{_KEPT}{m}" for m in sorted(set(bounds))}
    wanted = [*kind.columns(), _USERS, _TIMES, *kept.values()]
    table = pq.read_table(path, columns=wanted).combine_chunks()
    return Original(
        kind=kind.name(),
        items=table.select(list(kind.columns())),
        users=table[_USERS].to_numpy(),
        times=table[_TIMES].to_numpy(),
        kept={m: table[name].to_numpy() for m, name in kept.items()},
        people=people,
    )
