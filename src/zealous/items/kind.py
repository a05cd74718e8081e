"""What a kind of items is: SQL that yields (user, item..., time) from a log's entries.

An item depends on its own user's history alone: no spelling, segmentation or ranking learned from
the log. Normalising comes before bounding, so that nobody counts twice for two spellings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import ReleaseError, UsageError
from zealous.items.candidate_sets import CandidateSets
from zealous.items.text import is_normalized
from zealous.libraries import pa
from zealous.logs.normalization import is_visible, tidy
from zealous.logs.source import Source, extra_column
from zealous.privacy.guarantee import positive_integer
from zealous.privacy.units import Unit, is_weak_unit
from zealous.registry import Registry

# How the columns are called that steps add on the way: an item's column of such a name could be
# taken for one of them, and other items for that item.
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
    "kept:",
    "chosen:",
    "entry:",
)

# What a setting can be; release.json holds it.
_SETTING_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "None": type(None)}

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
    required_roles: ClassVar[tuple[str, ...]] = ("query",)
    item_meaning: ClassVar[tuple[str, ...]] = ()
    """What each column of an item holds, for recipients."""
    may_use: ClassVar[tuple[str, ...]] = ()
    """Roles that decide what an item is too, where the log has a column for them."""
    no_setting: ClassVar[tuple[str, ...]] = ("items_per_user", "names")
    usage: ClassVar[str] = "{label}"
    """How `--items` asks for it; empty for what comes with other kinds."""
    options: ClassVar[tuple[str, ...]] = ()
    """The options of the command line that serve such kinds alone."""
    lowered: ClassVar[tuple[str, ...] | None] = None
    """The columns of an item that are lower-cased, where all are tidy; None where they are not."""
    default_items_per_user: ClassVar[int] = 2  # few: what an item needs to appear grows with it
    said_if_used: ClassVar[tuple[str, ...]] = ("bands",)
    """Settings that a release leaves out where they are None: those that came later."""
    in_weak_units: ClassVar[Mapping[Unit, int | None]] = MappingProxyType({})
    """The weak units of privacy whose entries still give such items, and how many each can hold."""

    def __post_init__(self) -> None:
        positive_integer(self.items_per_user, "items_per_user")
        self._check_settings()
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

    def _check_settings(self) -> None:
        """Refuse a setting of another type than it is declared with: a release may be a stranger's.

        Raises:
            UsageError: One is; or a kind has one that release.json cannot hold.
        """
        for name, allowed in self.setting_types().items():
            if type(getattr(self, name)) not in allowed:
                known = " or ".join(sorted(each.__name__ for each in allowed)) or "no such field"
                raise UsageError(f"the setting {name} of {self.label} must be {known}")

    @classmethod
    def from_name(
        cls,
        name: str,
        items_per_user: int,
        settings: Mapping[str, Any],
        columns: Sequence[str] | None = None,
    ) -> Self | None:
        """The kind of this class that is called so; None where none is.

        Args:
            name: As `name` gives it.
            items_per_user: m.
            settings: As `settings` gives them; those that it does not have are ignored.
            columns: As `columns` gives them, where they are known: names may hold what parts them.
        """
        own = cls.own_settings(settings)
        item = columns if columns is None or not own.get("by") else columns[:-1]
        in_name = cls.fields_in_name(name, item)
        if in_name is None:
            return None
        return cls(
            items_per_user=items_per_user, **cls.implied_settings(items_per_user) | own | in_name
        )

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """What the name of such a kind says of it; None for the name of another.

        Args:
            name: As `name` gives it.
            item: The columns of an item, without the attribute, where they are known.
        """
        return {} if name == cls.label else None

    @classmethod
    def implied_settings(cls, items_per_user: int) -> dict[str, Any]:
        """The settings that follow from m where they are not said."""
        return {}

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
    @cache  # asked for each kind that a name could mean, dozens of times a release
    def setting_types(cls) -> Mapping[str, frozenset[type]]:
        """The fields that are settings, and what each can be, as far as release.json can hold it.

        They define an item beside the name of its kind.
        """
        declared = {
            field.name: field.type.__name__ if isinstance(field.type, type) else str(field.type)
            for field in fields(cls)
            if field.name not in cls.no_setting
        }
        return MappingProxyType(
            {
                name: frozenset(
                    each for word, each in _SETTING_TYPES.items() if word in text.split(" | ")
                )
                for name, text in declared.items()
            }
        )

    @classmethod
    def own_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those of some settings that such kinds have."""
        return {name: settings[name] for name in cls.setting_types() if name in settings}

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

    def shown_columns(self) -> tuple[str, ...]:
        """Columns of the log that play no role, and whose values stand in items."""
        return (self.by,) if self.by else ()

    def extra_columns(self) -> tuple[str, ...]:
        """Columns of the log that play no role but are needed."""
        return self.shown_columns()

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

    def restricting_kind(self) -> str | None:
        """The kind, published before, whose kept items decide what of a user's counts here."""
        return None

    def restricting_columns(self) -> tuple[str, ...]:
        """The columns of an item of `restricting_kind`, which an item here has too."""
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
        return self

    def steered(self) -> bool:
        """Whether published tables decide what of a user's counts.

        `restricting_kind` comes beside it. What is given no table depends on the log and the public
        key alone. What is given some is steered by them, unless it says otherwise.
        """
        return bool(self.builds_on()) or type(self).with_inputs is not Kind.with_inputs

    def known_items(self) -> pa.Table | CandidateSets | None:
        """Every item that there can be, where public rules and what was published tell that."""
        return None

    def as_published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Counted items as they are published."""
        return batch

    def check_items(self, table: pa.Table, longest: int) -> None:
        """Refuse published items that no log gives, such as lines of one as they were typed.

        Args:
            table: The items.
            longest: The most bytes that a text can have.

        Raises:
            ReleaseError: There are such items.
        """
        for name in self.columns() if self.lowered is not None else ():
            if not is_normalized(table[name], name in (self.lowered or ()), longest):
                raise ReleaseError(f"no log gives an item with such a {name}")

    def as_counted(self, table: pa.Table) -> pa.Table:
        """Published items as they are counted: what `as_published` undoes, where it can be."""
        return table

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """A public list of such items as the entries of a log.

        Args:
            table: The list: the columns of an item, and others.
            roles: The roles that have a column in the log that is published.
        """
        return Entries(self, table, {role: role for role in self.required_roles})

    def settings(self) -> dict[str, Any]:
        """What else defines an item of this kind, for the recipient to know."""
        every = {name: getattr(self, name) for name in self.setting_types()}
        return {
            name: value
            for name, value in every.items()
            if value is not None or name not in self.said_if_used
        }

    def combination(self) -> Combination | None:
        """How an item is made of things, where it is, so that rules between them can be told."""
        return None

    def meaning(self) -> str:
        """What an item is, for recipients; empty where the names of its columns tell.

        `{unit}`, `{units}` and the settings, by their names, are filled in.
        """
        return ""

    def column_meanings(self) -> dict[str, str]:
        """What each column of an item in a release holds, for recipients."""
        told = dict(zip(self.item_columns(), self.item_meaning, strict=False))
        said = {name: told.get(name, "a part of the item") for name in self.item_columns()}
        return said | ({self.by: "a public attribute of the entry"} if self.by else {})

    def notes(self) -> list[str]:
        """What its settings mean for recipients, a sentence each; filled in as `meaning` is."""
        return ["{by} is a public attribute of the entry."] if self.by else []

    def selection(self) -> str:
        """Which items of each unit count, for recipients.

        `{each}`, `{selected}`, `{one}` and `{origin}`, the table that it is made of, are filled in.
        """
        return f"{{each}} contributes at most {self.items_per_user} items ({{selected}})."

    def data_warning(self, source: Source) -> str | None:
        """What in a log would spoil such items, for the owner's eyes; None where nothing does."""
        return None

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give such items."""
        for role in self.required_roles:
            if role not in roles:
                raise UsageError(
                    f"{self.name()} need a column with the {role}: say --{role} COLUMN"
                )

    def check_unit(self, unit: Unit) -> None:
        """Refuse a unit of privacy that is too small for such items, or smaller than m."""
        if not is_weak_unit(unit):
            return
        if unit not in self.in_weak_units:
            raise UsageError(
                f"{self.name()} are not published with --unit {unit}, which is too small a part of "
                "what somebody did: say --unit user, or session where the log tells sessions"
            )
        most = self.in_weak_units[unit]
        if most is not None and self.by is None and self.items_per_user > most:
            raise UsageError(
                f"one {unit} gives {most} of the {self.name()}, and more would only add noise: "
                f"--items-per-user must be {most} for them"
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


class Combination(NamedTuple):
    """How an item is made of things.

    Attributes:
        family: What all sizes of such items are called together.
        size: How many things an item has.
        ordered: Whether its last thing comes after the others, or any of them can be the last.
        everyone: The kind that tells how many people there are, for shares of them.
    """

    family: str
    size: int
    ordered: bool
    everyone: str


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
        *("queries", "keywords", "clicks", "query-pairs", "phrase-pairs", "query-clicks"),
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
