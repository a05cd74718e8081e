"""What any table of people holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items.kind import Kind, register
from zealous.libraries import pa
from zealous.logs.normalization import is_visible, tidy
from zealous.logs.source import Source, extra_column


@register
@dataclass(frozen=True, kw_only=True)
class AnyColumns(Kind):
    """Any column of any table, or several together: a product bought, a diagnosis given."""

    names: tuple[str, ...]
    label = "columns"
    item = ()
    lowered = ()
    required_roles = ()
    usage = "{label}:NAME[+NAME]"

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names):
            raise UsageError("columns needs one or more different column names: columns:A+B")
        if {name.lower() for name in self.names} & {"count", "user", "time"}:
            raise UsageError("a column called count, user or time cannot be an item: rename it")
        super().__post_init__()

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """As `columns:A+B`; a column's own name may hold a plus sign."""
        label, colon, text = name.partition(":")
        if label != cls.label or not colon:
            return None
        return {"names": tuple(text.split("+") if item is None else item)}

    def name(self) -> str:
        return "columns:" + "+".join(self.names)

    def item_columns(self) -> tuple[str, ...]:
        return self.names

    def column_meanings(self) -> dict[str, str]:
        """The column of the log that it is."""
        return super().column_meanings() | dict.fromkeys(
            self.names, "the log's column of this name"
        )

    def extra_columns(self) -> tuple[str, ...]:
        return (*self.names, *super().extra_columns())

    def _steps(self, source: Source) -> list[Step]:
        item = {name: tidy(extra_column(name)) for name in self.names}
        present = [is_visible(extra_column(name)) for name in self.names]
        return [Step("items", self._select(source, item, *present))]


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
