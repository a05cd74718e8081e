"""Which items each user keeps, in numbers: made of a log once, and weighed many times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from zealous.counting.bound import Select, equal_columns
from zealous.counting.histogram import users_keeping
from zealous.engines.engine import Counted, Engine, Stored, table_name
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.libraries import pa
from zealous.logs.source import Source

STRENGTH = 1 << 20  # the largest: the squares of 1,000 of them add up to less than 2^53
_NUMBER = identifier("kept:number")  # no item's column


@dataclass(frozen=True, kw_only=True)
class KeptItems:
    """Who keeps what: every user and every item has a number, and nothing else of the log is left.

    Internal, as the log is: numbers of items mean nothing outside.

    Attributes:
        engine: Where it is.
        pairs: A table of (person, item), each pair once.
        items: A table of (item..., kept:number), each item once that somebody keeps.
        columns: The columns of an item.
        ordered: Whether items are weighed in their own order, so that noise from a seed falls on
            the same item in every run.
    """

    engine: Engine
    pairs: str
    items: str
    columns: tuple[str, ...]
    ordered: bool

    def weigh(self, strengths: Stored | pa.Table | None, length: int) -> Iterable[pa.RecordBatch]:
        """Rows of (item, evidence, weight): each user spreads one weight over what she keeps.

        Args:
            strengths: (item, evidence, weight), each item once: users give in proportion to weight,
                and nothing to what has none, which is left out. None for the first time: then all
                are alike and without evidence.
            length: The length of the vector of one user's weights.

        Guarantee:
            The weights that one user gives are whole numbers, and the sum of their squares is at
            most the square of `length`. They depend on what she keeps and on `strengths` alone.
            Every item that somebody keeps is there, but for those whose strength is 0.
        """
        counted = Counted(self.engine, lambda: self._weighed(strengths, length))
        if not self.ordered:
            return counted
        batches = list(counted)
        return pa.Table.from_batches(batches).sort_by("item").to_batches() if batches else []

    @contextmanager
    def _weighed(self, strengths: Stored | pa.Table | None, length: int) -> Iterator[list[Step]]:
        table = None if strengths is None else table_name(self.engine, strengths)
        state = (
            f"select item, evidence, weight as strength from {table} where weight > 0"
            if table
            else f"select {_NUMBER} as item, 0::bigint as evidence, {STRENGTH}::bigint as strength "
            f"from {self.items}"
        )
        given = f"from {self.pairs} as kept join state on kept.item = state.item"
        # Above the root of the sum of squares, however a root is rounded: see docs/proofs/pooled.md
        root = "floor(sqrt(sum(state.strength * state.strength)::double))::bigint + 1"
        lengths = f"select kept.person, {root} as root {given} group by kept.person"
        one = f"({length} * state.strength) // lengths.root"
        sums = (
            f"select kept.item, sum({one})::bigint as weight {given} "
            "join lengths on kept.person = lengths.person group by kept.item"
        )
        weighed = (
            "select state.item, state.evidence, sums.weight from state "
            "join sums on state.item = sums.item"
        )
        yield [
            Step("state", state, shared=True),
            Step("lengths", lengths),
            Step("sums", sums),
            Step("weighed", weighed),
        ]

    def without_strength(self, strengths: Stored | pa.Table) -> Iterator[pa.RecordBatch]:
        """Rows of (item...): the items whose weight is 0."""
        item = comma_separated(f"items.{identifier(name)}" for name in self.columns)
        found = (
            f"select {item} from {self.items} as items join "
            f"{table_name(self.engine, strengths)} as state on items.{_NUMBER} = state.item "
            "where state.weight = 0"
        )
        return self.engine.batches([Step("found", found)])


def keep_items(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    select: Select,
    key: int,
    restricted_to: Stored | None = None,
    ordered: bool = False,
) -> KeptItems:
    """What each user keeps when she keeps at most `bound` items, chosen as `histogram` does it."""
    engine, columns = source.engine, kind.counted_columns()
    kept = users_keeping(
        kind, source, bound=bound, select=select, key=key, restricted_to=restricted_to
    ).name
    persons = _numbered(engine, kept, ["user"], ordered=False)
    items = _numbered(engine, kept, columns, ordered=ordered)
    found = Stored.new(engine)
    pairs = (
        f"select persons.{_NUMBER} as person, items.{_NUMBER} as item from {kept} as kept "
        f"join {persons} as persons on kept.user = persons.user "
        f"join {items} as items on {equal_columns(columns, 'kept', 'items')}"
    )
    engine.materialize(found.name, [Step("pairs", pairs)], _as_it_is)
    engine.drop(kept)
    return KeptItems(
        engine=engine, pairs=found.name, items=items, columns=tuple(columns), ordered=ordered
    )


def _numbered(engine: Engine, table: str, columns: Sequence[str], *, ordered: bool) -> str:
    """The name of a table of what some columns hold, each once, with a number of its own."""
    names = comma_separated(map(identifier, columns))
    number = f"row_number() over (order by {names})" if ordered else engine.row_identifier()
    found = Stored.new(engine)
    distinct = Step("different", f"select distinct {names} from {table}")
    numbered = Step("numbered", f"select {names}, {number} as {_NUMBER} from different")
    engine.materialize(found.name, [distinct, numbered], _as_it_is)
    return found.name


def _as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch
