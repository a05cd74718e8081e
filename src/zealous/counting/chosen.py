"""One item of each user at a time: by the public key first, and then by what was drawn before.

Guarantee:
    Which item a user counts for follows from the items that she keeps, from the public key, and
    the second time from what was drawn the first time: never from what others have in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from zealous.counting.bound import equal_columns
from zealous.counting.histogram import users_keeping
from zealous.counting.restriction import Restriction
from zealous.engines.engine import Counted, Each, Engine, Stored, table_name
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.items import Kind
from zealous.libraries import pa
from zealous.logs.source import Source
from zealous.privacy.units import Select

PUBLISHED = "chosen:published"  # no item's column
_PUBLISHED, _NOISY = identifier(PUBLISHED), identifier("chosen:noisy")


@dataclass(frozen=True, kw_only=True)
class ChosenItems:
    """Counts of the one item that each user chooses among those that she keeps.

    As secret as the log: of what `count_first` stores only `published` may leave.

    Attributes:
        engine: Where it is.
        kept: A table of (user, item...), each pair once.
        columns: The columns of an item.
        rank: SQL: the order of a user's items by the public key.
        ordered: Whether rows come here, in the order of their items, so that noise from a seed
            falls on the same item in every run.
        drawn: What `count_first` stored on the engine.
    """

    engine: Engine
    kept: Stored
    columns: tuple[str, ...]
    rank: str
    ordered: bool
    drawn: list[Stored] = field(default_factory=list)

    def count_first(self, draw: Each) -> Stored:
        """Rows of (item..., count, chosen:published) of every kept item, as `draw` leaves them.

        Each user counts for the first of her items by the key.

        Args:
            draw: Is given each row once, with the true count, which may be 0, and 0 for published.
                It gives the noisy count, and 1 where it is published.
        """
        item = comma_separated(map(identifier, self.columns))
        every = (
            f"select different.*, coalesce(counted.count, 0)::bigint as count, "
            f"0::bigint as {_PUBLISHED} from different left join counted "
            f"on {equal_columns(self.columns, 'different', 'counted')}"
        )
        steps = [
            Step("different", f"select distinct {item} from {self.kept.name}"),
            *self._count_one(self.kept.name, self.rank),
            Step("every", every),
        ]
        counted = Counted(self.engine, lambda: nullcontext(steps))
        batches = self._in_order(counted) if self.ordered else []
        if batches:
            rows = pa.Table.from_batches(map(draw, batches))
            return Stored(self.engine, table_name(self.engine, rows))
        self.drawn.append(counted.store(draw))
        return self.drawn[-1]

    def count_nearest(self, first: Stored, target: int) -> Counted | Iterable[pa.RecordBatch]:
        """Rows of (item..., count), where each user counts for an item that is not published.

        Of these she chooses the one whose noisy count of the first time is nearest to a number;
        among equals the first one by the key.

        Args:
            first: What `count_first` stored.
            target: That number.
        """
        names = comma_separated(f"kept.{identifier(name)}" for name in self.columns)
        left = (
            f"select kept.user, {names}, drawn.count as {_NOISY} from {self.kept.name} as kept "
            f"join {first.name} as drawn on {equal_columns(self.columns, 'kept', 'drawn')} "
            f"where drawn.{_PUBLISHED} = 0"
        )
        nearest = f"abs({_NOISY} - {target}), {self.rank}"
        steps = [Step("left_over", left), *self._count_one("left_over", nearest)]
        counted = Counted(self.engine, lambda: nullcontext(steps))
        return self._in_order(counted) if self.ordered else counted

    def published(self, first: Stored) -> Iterator[pa.RecordBatch]:
        """Rows of (item..., count): those that `draw` said are published, with their noise."""
        item = comma_separated(map(identifier, self.columns))
        found = f"select {item}, count from {first.name} where {_PUBLISHED} = 1"
        return self.engine.batches([Step("found", found)])

    def _count_one(self, table: str, order: str) -> list[Step]:
        """The steps that count the first item of each user by an order."""
        item = comma_separated(map(identifier, self.columns))
        first = f"row_number() over (partition by user order by {order}, {item}) = 1"
        return [
            Step("chosen", f"select user, {item} from {table} qualify {first}"),
            Step("counted", f"select {item}, count(*) as count from chosen group by {item}"),
        ]

    def _in_order(self, counted: Counted) -> list[pa.RecordBatch]:
        batches = list(counted)
        order = [(name, "ascending") for name in self.columns]
        return pa.Table.from_batches(batches).sort_by(order).to_batches() if batches else []


@contextmanager
def choose_items(
    kind: Kind,
    source: Source,
    *,
    bound: int,
    select: Select,
    key: int,
    only: Sequence[Restriction] = (),
    ordered: bool = False,
) -> Iterator[ChosenItems]:
    """What each user keeps when she keeps at most `bound` items, to choose one of them at a time.

    Its tables are dropped when the block is left; where a block is broken off, all tables go with
    the engine.

    Args:
        kind: What the items are.
        source: Where they come from.
        bound: The most that each user keeps.
        select: How they are chosen.
        key: The public key of the random order.
        only: What each user's items must meet to be kept; see `histogram`.
        ordered: See `ChosenItems`.
    """
    columns = tuple(kind.counted_columns())
    keeping = users_keeping(kind, source, bound=bound, select=select, key=key, only=only)
    with keeping as kept:
        chosen = ChosenItems(
            engine=source.engine,
            kept=kept,
            columns=columns,
            rank=source.engine.rank_key(key, ["user", *columns]),
            ordered=ordered,
        )
        yield chosen
        for stored in chosen.drawn:
            source.engine.drop(stored.name)
