"""Things that one person has together, and things that follow each other.

First it is found which things are frequent. Then each person counts with a few of her things, those
that were published with the largest counts, and with every set that these make: so counts of sets
and of their parts are of the same people, and no history is ever taken apart into all its subsets.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from zealous.engines.engine import table_name
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import UsageError
from zealous.items.bands import IN_BANDS, band_sql, bands_of, check_bands, limits_by_column
from zealous.items.candidate_sets import (
    MAX_CANDIDATES,
    CandidateSets,
    candidate_itemsets,
    candidate_sequences,
)
from zealous.items.kind import (
    FREQUENT_PARTS_FIRST,
    Combination,
    Entries,
    Kind,
    parse_sized_name,
    register,
)
from zealous.items.table_columns import People
from zealous.libraries import pa
from zealous.logs.normalization import has_word, is_visible, tidy
from zealous.logs.source import Source, extra_column
from zealous.privacy.guarantee import positive_integer

_OR, _AND = "/", "+"  # a thing is in one of the columns; or all of them together are one thing
_BETWEEN = " | "  # the parts of such a thing
_COMBINED = "A thing is one value of each of several columns, with ` | ` between them."
MOST_SIZE = 5
_USUAL_SIZE = 3
MOST_SETS = 10_000  # of one size and person
_MOST_FOLLOWING = 500  # sequences of subsequent baskets, before a person keeps some of all
PARENT, LAST = "grown:parent", "grown:last"
_PARENT, _LAST, _PLACE, _WORTH, _CODE, _NAME, _BASKET, _AT = map(
    identifier,
    (
        PARENT,
        LAST,
        "grown:place",
        "order:worth",
        "grown:code",
        "grown:name",
        "grown:basket",
        "grown:at",
    ),
)


def columns_of_things(text: str) -> tuple[str, ...]:
    """The columns of things in the name of a kind.

    In releases of 0.1.0 `A+B` is what `A/B` is now.

    >>> columns_of_things("diag_1/diag_2"), columns_of_things("product+price")
    (('diag_1', 'diag_2'), ('product+price',))
    """
    return tuple(text.split(_OR))


def parts_of_thing(name: str) -> list[str]:
    """The columns that make one thing together.

    >>> parts_of_thing("product+price")
    ['product', 'price']
    """
    return name.split(_AND)


@dataclass(frozen=True, kw_only=True)
class CodedKind(Kind):
    """Items that are counted by two numbers: a published smaller one, and what comes to it."""

    grown: CandidateSets | None = field(default=None, compare=False, repr=False)
    no_setting: ClassVar[tuple[str, ...]] = ("items_per_user", "names", "size", "grown")

    def counted_columns(self) -> tuple[str, ...]:
        return self.columns() if self.grown is None else (PARENT, LAST)

    def known_items(self) -> pa.Table | CandidateSets | None:
        """All that can be made of what was published before."""
        return self.grown

    def as_published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Counted items as they are published: with the names of their things."""
        if self.grown is None:
            return batch
        parent, last = (batch[name].to_numpy() for name in (PARENT, LAST))
        texts = self.texts(self.grown.columns(parent, last))
        return pa.record_batch([*texts, batch["count"]], names=[*self.columns(), "count"])

    def as_counted(self, table: pa.Table) -> pa.Table:
        """Published items by the two numbers that they are counted by; -1 where there is none."""
        if self.grown is None:
            return table
        parent, last = self.grown.numbers(self.things_of(table))
        return pa.table([parent, last, table["count"]], names=[PARENT, LAST, "count"])

    def texts(self, things: list[pa.Array]) -> list[pa.Array]:
        """The columns of items by their things."""
        return things

    def things_of(self, table: pa.Table) -> list[pa.ChunkedArray]:
        """The things of published items, first to last: what `texts` undoes."""
        return [table[name] for name in self.columns()]

    def _candidate_sets(self) -> CandidateSets:
        if self.grown is None:
            raise UsageError(f"{self.name()} are made of smaller ones: publish those first")
        return self.grown


@register
@dataclass(frozen=True, kw_only=True)
class Things(Kind):
    """Single things of some columns.

    A value without a letter or a digit is no thing.

    Attributes:
        names: The columns that hold things; where they are several, a row has a thing in each.
            `A+B` is a thing that is made of a value of both.
        basket: The column that tells what is together; a row without one is left out.
        bands: Columns whose numbers are in bands, as `bands_text` has it.
    """

    names: tuple[str, ...]
    basket: str | None = None
    bands: str | None = None
    label = "things"
    item = ("item_1",)
    item_meaning = ("a single thing",)
    lowered = ()
    required_roles = ()
    usage = ""

    def __post_init__(self) -> None:
        things = [parts_of_thing(name) for name in self.names]
        if (
            not self.names
            or len(set(self.names)) < len(self.names)
            or any(not all(parts) or len(set(parts)) < len(parts) for parts in things)
        ):
            raise UsageError(
                "name the columns that hold things: itemsets:A/B for things in A and things in B, "
                "itemsets:A+B for things that are a value of both"
            )
        check_bands(self.bands, (part for parts in things for part in parts))
        if self.by is not None:
            raise UsageError(f"--by does not go with {self.label}: leave one of them out")
        super().__post_init__()

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """As `things:A/B`."""
        label, colon, names = name.partition(":")
        return {"names": columns_of_things(names)} if label == cls.label and colon else None

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """A list has them in one column, and no baskets."""
        return Entries(replace(self, names=self.columns(), basket=None, bands=None), table, {})

    def name(self) -> str:
        return f"{self.label}:{_OR.join(self.names)}"

    def meaning(self) -> str:
        """One thing."""
        return "An item is a single thing. The tables below are made of these."

    def shown_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for name in self.names for part in parts_of_thing(name)))

    def extra_columns(self) -> tuple[str, ...]:
        return (*self.shown_columns(), *([self.basket] if self.basket else []))

    def notes(self) -> list[str]:
        combined = any(_AND in name for name in self.names)
        return [
            *super().notes(),
            *([_COMBINED] if combined else []),
            *([IN_BANDS] if self.bands else []),
        ]

    def _steps(self, source: Source) -> list[Step]:
        rest = ", time" if "time" in source.roles else ""
        return [self._things_step(source), Step("items", f"select user, item_1{rest} from things")]

    def _things_step(self, source: Source) -> Step:
        """One row a thing: (user, item_1, basket, time)."""
        where = [is_visible(extra_column(self.basket))] if self.basket else []
        rest = [f"{tidy(extra_column(self.basket))} as {_BASKET}"] if self.basket else []
        rest += ["time"] if "time" in source.roles else []
        each = []
        for name in self.names:
            thing, present = self._thing_sql(name, source)
            columns = comma_separated(["user", f"{thing} as item_1", *rest])
            each.append(f"select {columns} from entries where {' and '.join([*present, *where])}")
        return Step("things", " union all ".join(each))

    def _thing_sql(self, name: str, source: Source) -> tuple[str, list[str]]:
        """SQL: one thing of a row; and when there is one.

        A `|` in a part is doubled, so that different parts never make the same thing.
        """
        bands, parts, present = limits_by_column(self.bands), [], []
        for part in parts_of_thing(name):
            text = extra_column(part)
            if part in bands:
                parts.append(f"({band_sql(text, bands[part])})")
                present.append(f"{parts[-1]} is not null")
            else:
                parts.append(tidy(text))
                present.append(has_word(text))
        if len(parts) == 1:
            return parts[0], present
        doubled = (f"regexp_replace({part}, '[|]', '||', 'g')" for part in parts)
        thing = f" || '{_BETWEEN}' || ".join(doubled)
        return thing, [*present, f"strlen({thing}) <= {source.limits.text}"]


@dataclass(frozen=True, kw_only=True)
class CombinedKind(CodedKind, Things):
    """Things taken together, so many at a time.

    Attributes:
        size: How many things an item is made of.
        things: How many of her things each person counts with: the most frequent published ones.
    """

    size: int
    things: int
    default_items_per_user = 4
    ordered: ClassVar[bool]  # whether one thing comes after another
    usage = "{label}:NAME[/NAME]"
    options = ("max_size", "basket", "bands")

    def __post_init__(self) -> None:
        if positive_integer(self.size, "the size of sets") > MOST_SIZE:
            raise UsageError(f"sets can have up to {MOST_SIZE} things: lower --max-size")
        if self.size > positive_integer(self.things, "things"):
            raise UsageError(
                f"of {self.things} things of a user no set of {self.size} can be made: raise "
                "--items-per-user or lower --max-size"
            )
        sets = math.comb(self.things, self.size)
        if self.items_per_user != sets:
            raise UsageError(
                f"{self.things} things of a user make {sets:,} sets of {self.size}, no more and no "
                f"fewer: do not ask for one size alone, say --items {self.label}:NAME, and "
                "--max-size"
            )
        if self.items_per_user > MOST_SETS:
            raise UsageError(
                f"{self.things} things of a user make more than {MOST_SETS:,} sets of {self.size}: "
                "lower --items-per-user or --max-size"
            )
        super().__post_init__()

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """As `itemsets-2:A/B`."""
        sized = parse_sized_name(name, cls.label)
        return None if sized is None else {"size": sized[0], "names": columns_of_things(sized[1])}

    @classmethod
    def implied_settings(cls, items_per_user: int) -> dict[str, Any]:
        """Where they do not say how many things, there are m sets."""
        return {"things": items_per_user}

    @classmethod
    def parse_kinds(cls, text: str, items_per_user: int, settings: Mapping[str, Any]) -> list[Kind]:
        """As `itemsets:A/B`: all sizes, and what they are made of."""
        label, _, names = text.partition(":")
        if label != cls.label:
            return super().parse_kinds(text, items_per_user, settings)
        if settings["by"] is not None:
            raise UsageError(f"--by does not go with {label}: leave one of them out")
        size = _USUAL_SIZE if settings["max_size"] is None else settings["max_size"]
        things = columns_of_things(names)
        parts = [part for name in things for part in parts_of_thing(name)]
        return cls.all_sizes(
            things,
            max_size=size,
            things=items_per_user,
            basket=settings["basket"],
            bands=bands_of(settings.get("bands"), parts),
        )

    @classmethod
    def all_sizes(
        cls,
        names: tuple[str, ...],
        *,
        max_size: int,
        things: int,
        basket: str | None,
        bands: str | None = None,
    ) -> list[Kind]:
        """All sizes, after how many people there are and the single things."""
        positive_integer(max_size, "max_size")
        positive_integer(things, "items_per_user")
        return [
            People(items_per_user=1),
            Things(names=names, items_per_user=things, basket=basket, bands=bands),
            *(
                cls(
                    names=names,
                    size=size,
                    things=things,
                    items_per_user=math.comb(things, size),
                    basket=basket,
                    bands=bands,
                )
                for size in range(1, max_size + 1)
            ),
        ]

    def default_mechanism(self) -> str:
        return "listed" if self.size == 1 else "of-smaller"

    def name(self) -> str:
        return f"{self.label}-{self.size}:{_OR.join(self.names)}"

    def item_columns(self) -> tuple[str, ...]:
        """The columns of an item."""
        return tuple(f"item_{number}" for number in range(1, self.size + 1))

    def counted_columns(self) -> tuple[str, ...]:
        return self.columns() if self.size == 1 else super().counted_columns()

    def column_meanings(self) -> dict[str, str]:
        """One thing each."""
        if self.size == 1:
            return dict.fromkeys(self.item_columns(), "a single thing")
        order = "the order in which they came" if self.ordered else "the order of their names"
        return dict.fromkeys(self.item_columns(), f"one of {self.size} things, in {order}")

    def combination(self) -> Combination:
        """So many of the things of its columns."""
        family = f"{self.label}:{_OR.join(self.names)}"
        return Combination(family, self.size, self.ordered, People.label)

    def meaning(self) -> str:
        """Several things, or one of those."""
        if self.size == 1:
            return "An item is a single thing, counted for the same {units} as those of several."
        return self._combination()

    def selection(self) -> str:
        """A few things, and what they make."""
        said = (
            f"{{each}} contributes at most {self.things} things, those with the largest counts in "
            "{origin}"
        )
        return f"{said}." if self.size == 1 else f"{said}, and {self._kept_combinations()}"

    def _combination(self) -> str:
        """What several things are, for recipients."""
        raise NotImplementedError

    def _kept_combinations(self) -> str:
        """Which of those that her things make count, for recipients."""
        raise NotImplementedError

    def builds_on(self) -> tuple[str, ...]:
        family = (f"{self.label}-{size}:{_OR.join(self.names)}" for size in range(1, self.size))
        return (f"{Things.label}:{_OR.join(self.names)}", *family)

    def check_smaller(self, kinds: Iterable[Kind]) -> None:
        """Refuse smaller sizes that are of other things or baskets of the same people."""
        sizes = (kind for kind in kinds if isinstance(kind, CombinedKind))
        own = (self.things, self.basket, self.bands)
        if any((each.things, each.basket, each.bands) != own for each in sizes):
            raise UsageError(
                f"all sizes of {self.label} are of as many things of a user and of the same "
                f"baskets and bands: ask for them together, as {self.label}:NAME"
            )

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which smaller ones were published."""
        first, *smaller = (released[name] for name in self.builds_on())
        most = MAX_CANDIDATES if self.size > 1 else 0  # of single things there is nothing to make
        grown = self._candidates_from([first, *smaller[1:]], most)
        if self.size == 2:
            alone = smaller[0].sort_by("item_1")["count"]  # all published things, as they are coded
            grown = grown.with_count_limits(alone.to_numpy())
        elif not self.ordered:  # who counts for three things together counts for each two of them
            grown = grown.with_count_limits()
        return replace(self, grown=grown)

    def known_items(self) -> pa.Table | CandidateSets | None:
        """All that can be made of what was published before."""
        if self.size > 1 or self.grown is None:
            return super().known_items()
        return pa.table({"item_1": self.grown.names})

    def as_published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch if self.size == 1 else super().as_published(batch)

    def as_counted(self, table: pa.Table) -> pa.Table:
        """Published items as they are counted."""
        return table if self.size == 1 else super().as_counted(table)

    def priority_column(self) -> str | None:
        """The least published count of the smaller ones in it: its own can hardly exceed that."""
        return "order:worth"

    def _candidates_from(self, smaller: list[pa.Table], most: int) -> CandidateSets:
        raise NotImplementedError

    def _steps(self, source: Source) -> list[Step]:
        table = table_name(source.engine, self._candidate_sets().things())
        rows, placed = self._position_steps(source)
        group = [*self._group_columns(), *self._order_columns()]
        own = comma_separated(["item_1", *group, _CODE, _WORTH])
        best = f"row_number() over (partition by user order by {_WORTH} desc, {_CODE})"
        steps = [
            self._things_step(source),
            *placed,
            Step(
                "coded",
                f"select distinct {own} from {rows} "
                f"join {table} as known on {rows}.item_1 = known.{_NAME}",
                shared=True,
            ),
            Step("each_thing", f"select distinct user, item_1, {_CODE}, {_WORTH} from coded"),
            Step("her_things", f"select * from each_thing qualify {best} <= {self.things}"),
        ]
        if self.size == 1:
            return [*steps, Step("items", f"select user, item_1, {_WORTH} from her_things")]
        own = comma_separated(f"coded.{name}" for name in [*group, _CODE, _WORTH])
        at_hand = (
            f"select {own} from coded semi join her_things "
            f"on coded.user = her_things.user and coded.{_CODE} = her_things.{_CODE}"
        )
        return [*steps, *self._at_hand_steps(at_hand), *self._chain_steps(source)]

    def _position_steps(self, source: Source) -> tuple[str, list[Step]]:
        """Where the things of each basket are, and the steps that they need from `things`."""
        return "things", []

    def _at_hand_steps(self, sql: str) -> list[Step]:
        """The step to `at_hand`: things that one person counts with, basket by basket."""
        return [Step("at_hand", sql, shared=True)]

    def _chain_steps(self, source: Source) -> list[Step]:
        """From `at_hand` to `items`, thing by thing, never further than what was published."""
        if self.size == 2:  # any two published things
            worth = f"least(one.{_WORTH}, at_hand.{_WORTH}) as {_WORTH}"
            return [Step("items", self._join_sql("at_hand", _CODE, _CODE, worth))]
        grown, steps = self._candidate_sets(), []
        before, place, last = "at_hand", _CODE, _CODE
        for size in range(2, self.size + 1):
            smaller = size < self.size
            known = table_name(
                source.engine, grown.smaller_sets(size) if smaller else grown.candidate_table()
            )
            told = _PLACE if smaller else _WORTH
            name = f"known_{size}" if smaller else "items"
            steps.append(Step(f"grown_{size}", self._join_sql(before, place, last)))
            listed_ones = (
                f"select made.*, known.{told} from grown_{size} as made join {known} as known "
                f"on made.{_PARENT} = known.{_PARENT} and made.{_LAST} = known.{_LAST}"
            )
            steps.append(Step(name, listed_ones))
            before, place, last = name, _PLACE, _LAST
        return steps

    def _join_sql(self, before: str, place: str, last: str, *more: str) -> str:
        """SQL: what is published of some things, each with another of `at_hand` after them."""
        own = [f"at_hand.{name}" for name in [*self._group_columns(), *self._order_columns()]]
        made = [f"one.{place} as {_PARENT}", f"at_hand.{_CODE} as {_LAST}", *more]
        together = [f"one.{name} = at_hand.{name}" for name in self._group_columns()]
        return (
            f"select {comma_separated([*own, *made])} from {before} as one "
            f"join at_hand on {' and '.join([*together, self._after_sql(last)])}"
        )

    def _group_columns(self) -> list[str]:
        """The columns that two things which go together have in common."""
        raise NotImplementedError

    def _order_columns(self) -> list[str]:
        """The columns by which one thing comes after another."""
        return []

    def _after_sql(self, last: str) -> str:
        """SQL: it comes after them, the last of which is in such a column."""
        raise NotImplementedError


@register
@dataclass(frozen=True, kw_only=True)
class Itemsets(CombinedKind):
    """Different things that one person has together: in one basket, or at all."""

    label = "itemsets"
    ordered = False

    def _combination(self) -> str:
        together = " with the same {basket}" if self.basket else ""
        return f"An item is a set of {self.size} different things of one {{unit}}{together}."

    def _kept_combinations(self) -> str:
        return f"all sets of these: at most {self.items_per_user}."

    def _candidates_from(self, smaller: list[pa.Table], most: int) -> CandidateSets:
        return candidate_itemsets(smaller, most)

    def _group_columns(self) -> list[str]:
        return ["user", *([_BASKET] if self.basket else [])]

    def _after_sql(self, last: str) -> str:
        return f"at_hand.{_CODE} > one.{last}"


@register
@dataclass(frozen=True, kw_only=True)
class Sequences(CombinedKind):
    """Things that follow each other: one of each of so many subsequent baskets of a person.

    Baskets are in the order of their first moment where the log has times, then of their numbers,
    then of their names. Without a basket column a basket is all of one moment, and a row without a
    time is in none. The same thing may come again. A person counts with as many sequences as her
    things make sets: those first whose least frequent part was published with the largest count.
    """

    label = "sequences"
    ordered = True

    def check(self, roles: Collection[str]) -> None:
        super().check(roles)
        if self.basket is None and "time" not in roles:
            raise UsageError("sequences need an order: say --time COLUMN or --basket COLUMN")

    def _combination(self) -> str:
        after = "with the next {basket}" if self.basket else "at the next moment"
        return f"An item is a sequence of {self.size} things of one {{unit}}, each {after}."

    def _kept_combinations(self) -> str:
        return f"at most {self.items_per_user} sequences of these. {FREQUENT_PARTS_FIRST}"

    def _candidates_from(self, smaller: list[pa.Table], most: int) -> CandidateSets:
        return candidate_sequences(smaller, most)

    def _at_hand_steps(self, sql: str) -> list[Step]:
        """Of a large basket only so many things that their sequences are not too many."""
        most = 1
        while (most + 1) ** self.size <= _MOST_FOLLOWING:
            most += 1
        place = f"row_number() over (partition by user, {_AT} order by {_WORTH} desc, {_CODE})"
        cut = f"select * from within qualify {place} <= {most}"
        return [Step("within", sql), Step("at_hand", cut, shared=True)]

    def _position_steps(self, source: Source) -> tuple[str, list[Step]]:
        """Where the things of each basket are: with its number among its person's."""
        if self.basket is None:
            order = "dense_rank() over (partition by user order by time)"
            placed = f"select *, {order} as {_AT} from things where time is not null"
            return "numbered", [Step("numbered", placed)]
        # 12 comes after 7, 007 and 7.0, which is how a table with gaps writes it.
        digits = f"regexp_replace({_BASKET}, '^0+|[.]0$', '', 'g')"
        number = f"case when regexp_full_match({_BASKET}, '[0-9]+([.]0)?') then {digits} end"
        order = f"length({number}) nulls last, {number} nulls last, {_BASKET}"
        begun, rows = [], "things"
        if "time" in source.roles:
            since = f"min(time) over (partition by user, {_BASKET})"
            dated = f'select *, {since} as "order:since" from things where time is not null'
            begun, rows = [Step("begun", dated)], "begun"
            order = f'"order:since", {order}'
        place = f"dense_rank() over (partition by user order by {order})"
        return "numbered", [*begun, Step("numbered", f"select *, {place} as {_AT} from {rows}")]

    def _group_columns(self) -> list[str]:
        return ["user"]

    def _order_columns(self) -> list[str]:
        return [_AT]

    def _after_sql(self, last: str) -> str:
        return f"at_hand.{_AT} = one.{_AT} + 1"
