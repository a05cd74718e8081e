"""What any table of people holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items.bands import (
    IN_BANDS,
    band_sql,
    bands_of,
    check_band_names,
    check_bands,
    limits_by_column,
)
from zealous.items.kind import Entries, Kind, register
from zealous.libraries import pa
from zealous.logs.normalization import is_visible, tidy
from zealous.logs.source import Source, extra_column


@register
@dataclass(frozen=True, kw_only=True)
class AnyColumns(Kind):
    """Any column of any table, or several together: a product bought, a diagnosis given.

    Attributes:
        names: The columns.
        bands: Those of them whose numbers are in bands, as `bands_text` has it.
    """

    names: tuple[str, ...]
    bands: str | None = None
    label = "columns"
    item = ()
    lowered = ()
    required_roles = ()
    usage = "{label}:NAME[+NAME]"
    options = ("bands",)

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names):
            raise UsageError("columns needs one or more different column names: columns:A+B")
        if {name.lower() for name in self.names} & {"count", "user", "time"}:
            raise UsageError("a column called count, user or time cannot be an item: rename it")
        check_bands(self.bands, self.names)
        super().__post_init__()

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """As `columns:A+B`; a column's own name may hold a plus sign."""
        label, colon, text = name.partition(":")
        if label != cls.label or not colon:
            return None
        return {"names": tuple(text.split("+") if item is None else item)}

    @classmethod
    def parse_kinds(cls, text: str, items_per_user: int, settings: Mapping[str, Any]) -> list[Kind]:
        """The kind, with the bands of its own columns."""
        names = (cls.fields_in_name(text, None) or {}).get("names", ())
        own = {**settings, "bands": bands_of(settings.get("bands"), names)}
        return super().parse_kinds(text, items_per_user, own)

    def name(self) -> str:
        return "columns:" + "+".join(self.names)

    def item_columns(self) -> tuple[str, ...]:
        return self.names

    def column_meanings(self) -> dict[str, str]:
        """The column of the log that it is."""
        return super().column_meanings() | dict.fromkeys(
            self.names, "the log's column of this name"
        )

    def shown_columns(self) -> tuple[str, ...]:
        return (*self.names, *super().shown_columns())

    def notes(self) -> list[str]:
        return [*super().notes(), *([IN_BANDS] if self.bands else [])]

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """A list names bands as they are published."""
        return Kind.as_entries(replace(self, bands=None), table, roles)

    def check_items(self, table: pa.Table, longest: int) -> None:
        super().check_items(table, longest)
        for name, limits in limits_by_column(self.bands).items():
            check_band_names(table[name], limits)

    def _steps(self, source: Source) -> list[Step]:
        bands, values, present = limits_by_column(self.bands), {}, []
        for name in self.names:
            text = extra_column(name)
            values[name] = band_sql(text, bands[name]) if name in bands else tidy(text)
            present.append(f"({values[name]}) is not null" if name in bands else is_visible(text))
        return [Step("items", self._select(source, values, *present))]


@register
@dataclass(frozen=True, kw_only=True)
class People(Kind):
    """How many users there are: those of whom there is an entry."""

    label = "people"
    item = ("who",)
    item_meaning = ("everyone with an entry in the log",)
    required_roles = ()
    usage = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.items_per_user != 1 or self.by is not None:
            raise UsageError(
                "people are counted once each: items_per_user is 1, and there is no by"
            )

    def default_mechanism(self) -> str:
        return "listed"

    def budget_weight(self) -> Fraction:
        """Its weight in the budget: little, since everybody counts and there is one number."""
        return Fraction(1, 10)

    def meaning(self) -> str:
        """What the number is."""
        return "`count` is the number of {units} with an entry in the log."

    def selection(self) -> str:
        """Everyone."""
        return "{each} counts once."

    def known_items(self) -> pa.Table:
        """Everyone."""
        return pa.table({"who": pa.array(["everyone"])})

    def _steps(self, source: Source) -> list[Step]:
        return [Step("items", self._select(source, {"who": "'everyone'"}))]


@dataclass(frozen=True, kw_only=True)
class UnknownKind(Kind):
    """Items of some kind, for a plan that is made before the log is known."""

    label = "items"
    item = ("item",)

    def check(self, roles: Collection[str]) -> None:
        """Refuse every log: what is counted in it is not known."""
        raise UsageError("a public source needs to know what is counted: say --items KIND")
