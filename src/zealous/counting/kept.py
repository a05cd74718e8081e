"""Which items each user keeps, in numbers: made of a log once, and weighed many times.

Where all of it fits in memory it is weighed as arrays, and otherwise as tables of the engine. Both
give the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from zealous.counting.bound import equal_columns
from zealous.counting.histogram import users_keeping
from zealous.counting.kept_arrays import BYTES_PER_PAIR, KeptArrays
from zealous.counting.restriction import Restriction, item_columns
from zealous.engines.engine import Counted, Each, Engine, LocalEngine, Stored, table_name
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.libraries import pa
from zealous.logs.source import Source
from zealous.privacy.units import Select

STRENGTH = 1 << 20  # the largest: the squares of 1,000 of them add up to less than 2^53
_NUMBER, _LISTED = identifier("kept:number"), identifier("kept:listed")  # no item's columns
_SHARE = 4  # of memory, one part: what arrays may take
_MOST_PAIRS = 1 << 31  # whose items have numbers of 32 bits


@dataclass(kw_only=True)
class KeptTables:
    """Who keeps what, and what was drawn so far: `pairs` holds numbers, only `items` names items.

    As secret as the log: none of it is published.

    Attributes:
        engine: Where it is.
        pairs: A table of (person, item), each pair once.
        items: A table of (item..., kept:number, kept:listed), each item once that somebody keeps or
            that is on a public list.
        columns: The columns of an item.
        state: What the last round left of each item that took part in it: (item, listed, evidence,
            strength, weight). None before the first round.
    """

    engine: Engine
    pairs: str
    items: str
    columns: tuple[str, ...]
    state: Stored | None = None

    def weigh(self, length: int, draw: Each) -> Iterator[pa.RecordBatch]:
        """One round: users give weights, `draw` adds noise to their sums, and keys drop out.

        Args:
            length: The length of the vector of one user's weights.
            draw: Is given rows of (item, listed, evidence, strength, weight) and returns them with
                a noisy weight in the place of the true one, the evidence with it, and the strength
                in proportion to which users give in the next round: 0 for a key, which takes no
                more. It sees each row once.

        Returns:
            The new keys: rows of (item...).

        Guarantee:
            The weights that one user gives are whole numbers, and the sum of their squares is at
            most the square of `length`. They depend on what she keeps and on the strengths alone.
            Every item that somebody keeps or that is listed is drawn for until it is a key.
        """
        before = self.state
        self.state = Counted(self.engine, lambda: self._weighed(before, length)).store(draw)
        if before is not None:
            self.engine.drop(before.name)
        keys = f"select item from {self.state.name} where strength = 0"
        return named_items(self.engine, self.items, self.columns, keys)

    @contextmanager
    def _weighed(self, before: Stored | None, length: int) -> Iterator[list[Step]]:
        state = (
            f"select item, listed, evidence, strength from {before.name} where strength > 0"
            if before
            else f"select {_NUMBER} as item, {_LISTED} as listed, 0::bigint as evidence, "
            f"{STRENGTH}::bigint as strength from {self.items}"
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
            "select state.item, state.listed, state.evidence, state.strength, "
            "coalesce(sums.weight, 0)::bigint as weight from state "
            "left join sums on state.item = sums.item"
        )
        yield [
            Step("state", state, shared=True),  # (item, listed, evidence, strength)
            Step("lengths", lengths),  # (person, root)
            Step("sums", sums),  # (item, weight)
            Step("weighed", weighed),
        ]

    def drop(self) -> None:
        """Drop the tables of who keeps what and of the last round."""
        self.engine.drop(self.pairs)
        if self.state is not None:
            self.engine.drop(self.state.name)


def named_items(
    engine: Engine, items: str, columns: Sequence[str], numbers: str
) -> Iterator[pa.RecordBatch]:
    """Rows of (item...) of a table of numbered items: those that a query of `item` yields."""
    names = comma_separated(f"items.{identifier(name)}" for name in columns)
    found = f"select {names} from {items} as items join wanted on items.{_NUMBER} = wanted.item"
    return engine.batches([Step("wanted", numbers), Step("found", found)])


@contextmanager
def keep_items(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    select: Select,
    key: int,
    only: Sequence[Restriction] = (),
    listed: pa.Table | None = None,
    ordered: bool = False,
) -> Iterator[KeptTables | KeptArrays]:
    """What each user keeps when she keeps at most `bound` items, chosen as `histogram` does it.

    Its tables are dropped when the block is left; where a block is broken off, all tables go with
    the engine.

    Args:
        kind: What the items are.
        source: Where they come from.
        bound: The most that each user keeps.
        select: How they are chosen.
        key: The public key of the random order.
        only: What each user's items must meet to be kept; see `histogram`.
        listed: A public list of items, each once: these are weighed also where nobody keeps them.
        ordered: Whether items are weighed in their own order, so that noise from a seed falls on
            the same item in every run.
    """
    engine, columns = source.engine, tuple(kind.counted_columns())
    local = engine.local()
    known = None if listed is None else table_name(engine, item_columns(kind, listed))
    found: KeptTables | KeptArrays
    keeping = users_keeping(kind, source, bound=bound, select=select, key=key, only=only)
    with keeping as stored:
        kept = stored.name  # (user, item...)
        as_arrays = ordered or _fits(local, kept)
        users = Step("different", f"select distinct user from {kept}")
        persons = _stored(engine, _numbered([users], engine.row_identifier()))
        order = f"order by {comma_separated(map(identifier, columns))}" if ordered else ""
        number = f"row_number() over ({order})" if as_arrays else engine.row_identifier()
        items = _stored(engine, _numbered(_different(kept, known, columns), number))
        pairs = Step(
            "pairs",
            f"select persons.{_NUMBER} as person, items.{_NUMBER} as item from {kept} as kept "
            f"join {persons} as persons on kept.user = persons.user "
            f"join {items} as items on {equal_columns(columns, 'kept', 'items')}",
        )
        if as_arrays:
            by_person = Step("by_person", "select * from pairs order by person")
            found = KeptArrays.read(
                by_person=engine.batches([pairs, by_person]),
                listed=engine.batches([_listed_numbers(items)]),
                names=lambda numbers: named_items(
                    engine, items, columns, f"select item from {table_name(engine, numbers)}"
                ),
                strength=STRENGTH,
                threads=1 if ordered or local is None else local.threads,
            )
        else:
            found = KeptTables(
                engine=engine, pairs=_stored(engine, [pairs]), items=items, columns=columns
            )
        engine.drop(persons)
    yield found
    found.drop()
    engine.drop(items)


def _fits(engine: LocalEngine | None, kept: str) -> bool:
    """Whether arrays of what is kept are small beside the memory of this machine.

    Not where nobody keeps anything: a rehearsal then runs all SQL that a large log will.
    """
    if engine is None:
        return False
    [(rows,)] = engine.rows([Step("rows", f"select count(*) from {kept}")])
    return 0 < rows < _MOST_PAIRS and int(rows) * BYTES_PER_PAIR <= engine.memory // _SHARE


def _different(kept: str, known: str | None, columns: Sequence[str]) -> list[Step]:
    """Rows of (item..., kept:listed): each item once that somebody keeps or that is listed."""
    names = comma_separated(map(identifier, columns))
    held = f"select distinct {names}, 0::bigint as {_LISTED} from {kept}"
    if known is None:
        return [Step("different", held)]
    both = f"{held} union all select {names}, 1::bigint as {_LISTED} from {known}"
    grouped = f"select {names}, max({_LISTED}) as {_LISTED} from held group by {names}"
    return [Step("held", both), Step("different", grouped)]


def _numbered(steps: list[Step], number: str) -> list[Step]:
    """The rows of the last step, each with a number of its own."""
    return [*steps, Step("numbered", f"select *, {number} as {_NUMBER} from {steps[-1].name}")]


def _listed_numbers(items: str) -> Step:
    return Step("listed", f"select {_NUMBER} as item, {_LISTED} as listed from {items}")


def _stored(engine: Engine, steps: list[Step]) -> str:
    """The name of a table of the rows of the last step, worked out once."""
    found = Stored.new(engine)
    if engine.local() is not None:
        engine.append_rows(found.name, steps)
    else:
        engine.materialize(found.name, steps, lambda batch: batch)
    return found.name
