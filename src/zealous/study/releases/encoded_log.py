"""A log as numbers: who has what, each user and each item under a code of its own.

Made once, it is counted many times at a fraction of the cost. What counts it is the pipeline of a
release: bounding and counting see a kind of items like any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from zealous.counting.bound import equal_columns
from zealous.counting.chosen import ChosenItems, choose_items
from zealous.counting.histogram import histogram
from zealous.counting.kept import KeptTables, keep_items
from zealous.counting.kept_arrays import KeptArrays
from zealous.counting.restriction import Restriction
from zealous.engines.engine import Counted, LocalEngine, require_local
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.files.staging import staging_error
from zealous.items import Kind
from zealous.logs.source import Source

Ints = npt.NDArray[np.int64]
COUNTS = pa.schema([("item", pa.int32()), ("count", pa.int64())])
_PAIRS = pa.schema([("user", pa.int32()), ("item", pa.int32())])
_CODE, _USERS = identifier("zealous:code"), identifier("zealous:users")  # no item's column
_OF_USERS, _OF_ITEMS = "user_codes", "item_codes"


@dataclass(frozen=True, kw_only=True)
class Codes(Kind):
    """Items that are codes."""

    label = "codes"
    item = ("item",)
    required_roles: ClassVar[tuple[str, ...]] = ()

    def _steps(self, source: Source) -> list[Step]:
        return [Step("items", "select user, item from entries")]


@dataclass(frozen=True, kw_only=True)
class EncodedLog:
    """Who has what, in numbers. Internal: nothing of it may be published.

    Attributes:
        engine: Whose working directory it is in.
        path: The file of (user, item), each pair once.
        rows: How many pairs.
        users: How many users have each item, by its code.
        people: How many users there are.
    """

    engine: LocalEngine
    path: Path
    rows: int
    users: Ints
    people: int

    @contextmanager
    def open_source(self) -> Iterator[Source]:
        """On an engine of its own, so that nothing of one release is left for the next."""
        with self.engine.with_resources(temporary=self.engine.directory) as running:
            running.open("coded", [self.path])
            yield Source(
                engine=running,
                entries=(Step("entries", "select user, item from coded"),),
                rows=self.rows,
                roles=frozenset({"user"}),
                lists=frozenset(),
            )


def encode(
    kind: Kind,
    source: Source,
    public: Mapping[str, pa.Table],
    *,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[EncodedLog, dict[str, pa.Table]]:
    """Number the users and items of a log.

    Returns:
        The log in numbers, and the public tables as (item, count); items of theirs that nobody has
        get codes that nobody else has.
    """
    engine = require_local(source.engine, "a log is numbered in Python")
    item = comma_separated(map(identifier, kind.columns()))
    held = Step("distinct_held", f"select distinct user, {item} from items")
    number = source.buckets(source.roles)
    for part in range(number):
        if number > 1:
            say(f"reading {kind.name()}: bucket {part + 1} of {number} of the users")
        entries = source.bucket(part, number).entries if number > 1 else source.entries
        engine.append_rows("held", [*entries, *kind.steps(source), held])
    code = f"row_number() over () - 1 as {_CODE}"
    people = f"select user, {code} from (select distinct user from held)"
    things = f"select *, {code} from (select {item}, count(*) as {_USERS} from held group by all)"
    engine.append_rows(_OF_USERS, [Step("people", people)])
    engine.append_rows(_OF_ITEMS, [Step("things", things)])
    pairs = (
        f"select by_user.{_CODE} as user, by_item.{_CODE} as item from held "
        f"join {_OF_USERS} as by_user on held.user = by_user.user "
        f"join {_OF_ITEMS} as by_item on {equal_columns(kind.columns(), 'held', 'by_item')}"
    )
    path = engine.directory / "coded.parquet"
    rows = _write(path, _PAIRS, engine.batches([Step("pairs", pairs)]))
    engine.drop("held")
    users = _users_per_item(engine)
    tables = {use: _encode_table(kind, engine, table, len(users)) for use, table in public.items()}
    found = int(engine.rows([Step("counted", f"select count(*) from {_OF_USERS}")])[0][0])
    for name in (_OF_USERS, _OF_ITEMS):
        engine.drop(name)
    return EncodedLog(engine=engine, path=path, rows=rows, users=users, people=found), tables


def _users_per_item(engine: LocalEngine) -> Ints:
    """How many users have each item: the place is the code."""
    ordered = f"select {_USERS}::bigint as users from {_OF_ITEMS} order by {_CODE}"
    parts = [batch["users"].to_numpy() for batch in engine.batches([Step("ordered", ordered)])]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _encode_table(kind: Kind, engine: LocalEngine, table: pa.Table, taken: int) -> pa.Table:
    """A public table in numbers."""
    engine.add_table("listed_items", table)
    unknown = f"{taken} + row_number() over ()"
    sql = (
        f"select coalesce(by_item.{_CODE}, {unknown})::integer as item, listed_items.count "
        f"from listed_items left join {_OF_ITEMS} as by_item "
        f"on {equal_columns(kind.columns(), 'listed_items', 'by_item')}"
    )
    batches = [batch.cast(COUNTS) for batch in engine.batches([Step("numbered", sql)])]
    return pa.Table.from_batches(batches, COUNTS)


class CachedCounting:
    """Counts a log in numbers, and counts only once what several releases ask for.

    Args:
        coded: The log.
    """

    def __init__(self, coded: EncodedLog) -> None:
        self.coded = coded
        self._made: dict[tuple[int, int, int], tuple[Path, float]] = {}

    @contextmanager
    def for_key(self, key: int) -> Iterator[CachedCount]:
        """For one release, with the key of the random order."""
        with self.coded.open_source() as source:
            yield CachedCount(self, source, key)

    def counted_file(
        self, asked: tuple[int, int, int], counted: Iterable[pa.RecordBatch]
    ) -> tuple[Path, float]:
        """The file of a count, made if it is not there, and the seconds that counting took.

        Args:
            asked: What tells it from others: key, bound and first threshold.
            counted: Counts it, when it is read.
        """
        if asked not in self._made:
            started = time.perf_counter()
            batches = list(counted)
            seconds = time.perf_counter() - started
            path = self.coded.engine.directory / f"counts_{len(self._made)}.parquet"
            _write(path, COUNTS, batches)
            self._made[asked] = path, seconds
        return self._made[asked]


class CachedCount:
    """What a mechanism counts with in one release; see `mechanism.protocol.Count`.

    Attributes:
        saved: Seconds to add to what a clock shows, so that it is as if nothing were shared.
    """

    def __init__(self, counting: CachedCounting, source: Source, key: int) -> None:
        self._counting, self._source, self._key = counting, source, key
        self._last: Path | list[pa.RecordBatch] | None = None
        self.saved = 0.0

    def __call__(
        self, *, bound: int, at_least: int, only: Sequence[Restriction] = ()
    ) -> Iterable[pa.RecordBatch]:
        """Count once; what is restricted depends on what was drawn, and is not shared."""
        counted = histogram(
            Codes(items_per_user=bound),
            self._source,
            bound=bound,
            at_least=at_least,
            select="random",
            key=self._key,
            only=only,
        )
        if only:
            self._last = list(counted)
            return self._last
        started = time.perf_counter()
        path, seconds = self._counting.counted_file((self._key, bound, at_least), counted)
        name, self._last = path.stem, path
        self._source.engine.open(name, [path])
        self.saved += seconds - (time.perf_counter() - started)
        steps = [Step("counted", f"select * from {name}")]
        return Counted(self._source.engine, lambda: nullcontext(steps))

    def kept_items(
        self, bound: int, listed: pa.Table | None = None
    ) -> AbstractContextManager[KeptTables | KeptArrays]:
        """Which items each user keeps."""
        kind = Codes(items_per_user=bound)
        return keep_items(
            kind, self._source, bound=bound, select="random", key=self._key, listed=listed
        )

    def chosen_items(self, bound: int) -> AbstractContextManager[ChosenItems]:
        """Which one of at most `bound` items each user counts for, chosen once and again."""
        kind = Codes(items_per_user=bound)
        return choose_items(kind, self._source, bound=bound, select="random", key=self._key)

    def last(self, items: Ints) -> Ints | None:
        """What these items stood at in the last count, before noise; None where it is not kept."""
        if self._last is None:
            return None
        if isinstance(self._last, Path):
            table = pq.read_table(self._last)
        else:
            table = pa.Table.from_batches([each.cast(COUNTS) for each in self._last], COUNTS)
        codes = table["item"].to_numpy()
        counts = np.zeros(1 + max(items.max(initial=0), codes.max(initial=0)), np.int64)
        counts[codes] = table["count"].to_numpy()
        return np.asarray(counts[items], np.int64)


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Write rows to a Parquet file of the working directory; how many there are."""
    rows = 0
    try:
        with pq.ParquetWriter(path, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema))
                rows += batch.num_rows
    except OSError as error:
        raise staging_error(error) from None
    return rows
