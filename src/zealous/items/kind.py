"""What a kind of items is: SQL that yields (user, item..., time) from a log's entries.

An item depends on its own user's history alone: no spelling, segmentation or ranking learned from
the log. Normalising comes before bounding, so that nobody counts twice for two spellings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import UsageError
from zealous.items.candidate_sets import CandidateSets
from zealous.items.text import is_visible, tidy
from zealous.libraries import pa
from zealous.logs.source import Source, extra_column
from zealous.privacy.guarantee import positive_integer
from zealous.registry import Registry

# How the columns are called that steps add on the way.
_OWN = (
    "order:",
    "role:",
    "before:",
    "words:",
    "same:",
    "unit:",
    "column:",
    "zealous:",
    "made:",
    "grown:",
)

FREQUENT_PARTS_FIRST = (
    "Those whose least frequent part has the largest count in the tables above come first."
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is counted, and how many of it one user may have.

    Attributes:
        items_per_user: m, the most distinct items a user contributes.
        by: A column with a public attribute, such as the country, that becomes part of the item.
    """

    items_per_user: int
    by: str | None = None

    label: ClassVar[str]
    item: ClassVar[tuple[str, ...]]
    needs: ClassVar[tuple[str, ...]] = ("query",)
    no_setting: ClassVar[tuple[str, ...]] = ("items_per_user", "names")
    usage: ClassVar[str] = "{label}"
    """How `--items` asks for it; empty for what comes with other kinds."""
    options: ClassVar[tuple[str, ...]] = ()
    """The options of the command line that serve such kinds alone."""
    default_items_per_user: ClassVar[int] = 2  # few: what an item needs to appear grows with it

    def __post_init__(self) -> None:
        """Check before anything is read."""
        positive_integer(self.items_per_user, "items_per_user")
        if any(name.lower().startswith(_OWN) for name in self.columns()):
            raise UsageError(
                f"a column whose name begins with {', '.join(_OWN)} cannot be used: rename it"
            )
        # Arrow takes a name with a dot in front for a path, and ends one at a zero byte.
        if any(name.startswith(".") or "\0" in name for name in self.columns()):
            raise UsageError(
                "a column whose name begins with a dot or holds a zero byte cannot be an item: "
                "rename it"
            )
        if not all(map(_is_text, self.extra_columns())):
            raise UsageError("the name of a column must not be empty, and must be UTF-8")
        taken = {name.lower() for name in (*self.item_columns(), "count", "user", "time")}
        if self.by and self.by.lower() in taken:
            raise UsageError(f"--by {self.by} would clash with another column: rename it")

    @classmethod
    def from_name(cls, name: str, items_per_user: int, settings: Mapping[str, Any]) -> Self | None:
        """The kind of this class that is called so; None where none is.

        Args:
            name: As `name` gives it.
            items_per_user: m.
            settings: As `settings` gives them; those that it does not have are left aside.
        """
        if name != cls.label:
            return None
        return cls(items_per_user=items_per_user, **cls.own_settings(settings))

    @classmethod
    def parse_kinds(cls, text: str, items_per_user: int, settings: Mapping[str, Any]) -> list[Kind]:
        """The kinds that `--items TEXT` asks for, with those that they need before; none if none.

        Args:
            text: What was asked for.
            items_per_user: m.
            settings: Also what options say that are no setting of the kind itself.
        """
        found = cls.from_name(text, items_per_user, settings)
        return [] if found is None else [found]

    @classmethod
    def own_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those of some settings that such kinds have."""
        names = {field.name for field in fields(cls)} - set(cls.no_setting)
        return {name: value for name, value in settings.items() if name in names}

    def name(self) -> str:
        """What the kind is called on the command line and in a release."""
        return self.label

    def item_columns(self) -> tuple[str, ...]:
        """The columns of an item, without the attribute."""
        return self.item

    def columns(self) -> tuple[str, ...]:
        """The columns of an item in a release."""
        return (*self.item_columns(), *([self.by] if self.by else []))

    def counted_columns(self) -> tuple[str, ...]:
        """The columns of an item while it is counted."""
        return self.columns()

    def kept_columns(self) -> tuple[str, ...]:
        """The columns of what a user keeps some of; she counts for the items of those she keeps."""
        return self.counted_columns()

    def extra_columns(self) -> tuple[str, ...]:
        """Columns of the log that play no role but are needed."""
        return (self.by,) if self.by else ()

    def default_mechanism(self) -> str:
        """The mechanism where none is asked for."""
        return "zealous"

    def priority_column(self) -> str | None:
        """A column of `items`, by what was published: a user keeps those of the largest first."""
        return None

    def budget_weight(self) -> Fraction:
        """Its weight in the budget, where none is given."""
        return Fraction(1)

    def builds_on(self) -> tuple[str, ...]:
        """The kinds that must have been published before, by name."""
        return ()

    def made_of(self) -> tuple[str, ...]:
        """Those of these kinds whose published rows tell which items there can be."""
        return self.builds_on()

    def follows_kind(self) -> str | None:
        """The kind, published before, whose kept items decide what of a user's counts here."""
        return None

    def follow_columns(self) -> tuple[str, ...]:
        """The columns of an item of `follows_kind`, which an item here has too."""
        return ()

    def check_before(self, before: Mapping[str, Kind]) -> None:
        """Refuse where the kinds published before, by name, are not those that it needs.

        Raises:
            UsageError: They are not.
        """
        missing = [name for name in self.builds_on() if name not in before]
        if missing:
            raise UsageError(missing_kind_message(self.name(), missing[0]))
        self.check_smaller([before[name] for name in self.builds_on()])

    def check_smaller(self, kinds: Iterable[Kind]) -> None:
        """Refuse kinds that these are made of, where they are not counted as they must be."""
        del kinds

    def with_inputs(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing what was published before, where that decides what an item is."""
        return self._with_released(released) if self.builds_on() else self

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing what was published of the kinds that it builds on."""
        del released
        return self

    def known_items(self) -> pa.Table | CandidateSets | None:
        """Every item that there can be, where public rules and what was published tell that."""
        return None

    def as_published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Counted items as they are published."""
        return batch

    def as_counted(self, table: pa.Table) -> pa.Table:
        """Published items as they are counted: what `as_published` undoes, where it can be."""
        return table

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """A public list of such items as the entries of a log.

        Args:
            table: The list: the columns of an item, and others.
            roles: The roles that have a column in the log that is published.
        """
        del roles
        return Entries(self, table, {role: role for role in self.needs})

    def settings(self) -> dict[str, Any]:
        """What else defines an item of this kind, for the recipient to know."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in own.items() if name not in self.no_setting}

    def meaning(self) -> str:
        """What an item is, for recipients; empty where the names of its columns tell.

        `{unit}`, `{units}` and `{basket}` are filled in.
        """
        return ""

    def selection(self) -> str:
        """Which items of each unit count, for recipients.

        `{each}`, `{selected}`, `{one}` and `{origin}`, the table that it is made of, are filled in.
        """
        return f"{{each}} contributes at most {self.items_per_user} items ({{selected}})."

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give such items."""
        for role in self.needs:
            if role not in roles:
                raise UsageError(
                    f"{self.name()} need a column with the {role}: say --{role} COLUMN"
                )

    def steps(self, source: Source) -> list[Step]:
        """The steps that yield this kind's items, the last one named `items`."""
        self.check(source.roles)
        return self._steps(source)

    def _steps(self, source: Source) -> list[Step]:
        """Steps that end in `items`: (user, item..., time), one row an occurrence."""
        raise NotImplementedError

    def _select(self, source: Source, item: Mapping[str, str], *where: str) -> str:
        """From the entries: user, item, attribute and, where the log has one, time."""
        columns = ["user", *(f"{sql} as {identifier(name)}" for name, sql in item.items())]
        if self.by:
            columns.append(f"{tidy(extra_column(self.by))} as {identifier(self.by)}")
            where = (*where, is_visible(extra_column(self.by)))
        if "time" in source.roles:
            columns.append("time")
        if not where:
            return f"select {comma_separated(columns)} from entries"
        return f"select {comma_separated(columns)} from entries where {' and '.join(where)}"

    def _tidy_step(self, name: str) -> Step:
        """From `listed`, whose texts could not be looked at before they were unnested."""
        return Step(
            "items",
            f"select * replace ({tidy(name)} as {name}) from listed where {is_visible(name)}",
        )


class Entries(NamedTuple):
    """What a log would hold of some items.

    Attributes:
        kind: The kind that makes these items of it.
        table: The entries.
        roles: The column of each role.
    """

    kind: Kind
    table: pa.Table
    roles: Mapping[str, str]


KINDS: Registry[type[Kind]] = Registry(
    "zealous.items",
    lambda kind: kind.label,
    first=(
        *("keywords", "queries", "clicks", "query-pairs", "phrase-pairs", "query-clicks"),
        *("columns", "itemsets", "sequences"),
    ),
)
K = TypeVar("K", bound=Kind)


def register(kind: type[K]) -> type[K]:
    """Make a kind of items known by its label: to plans, releases and `--items`; a decorator."""
    KINDS.register(kind)
    return kind


def parse_sized_name(name: str, label: str) -> tuple[int, str] | None:
    """The size in the name of a kind, and what follows after a colon; None where there is none.

    >>> parse_sized_name("itemsets-2:product", "itemsets")
    (2, 'product')
    """
    size, _, names = name.removeprefix(f"{label}-").partition(":")
    if not name.startswith(f"{label}-") or len(size) != 1 or size not in "123456789":
        return None
    return int(size), names


def as_text_column(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of a public list as texts.

    Raises:
        UsageError: It holds something else.
    """
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        raise UsageError(f"column {name} holds values that are no text") from None


def missing_kind_message(name: str, first: str) -> str:
    """What is wrong where one kind is asked for without another before it."""
    return f"{name} are to be published after {first}: name both in --items, {first} first"


def _is_text(name: str) -> bool:
    """Whether a file in UTF-8 can hold a name, and a reader see it."""
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False
