"""How many different items of another kind each user has: a small table over public ranges.

Guarantee:
    A user is in one range, or in none where she has no such item. Ranges are public.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import UsageError
from zealous.items.kind import KINDS, Kind, register
from zealous.libraries import pa
from zealous.logs.source import Source

# The most items of each range; whoever has more is in the last one.
LARGEST = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
RANGES = (
    *(
        str(most) if most == least + 1 else f"{least + 1} to {most}"
        for least, most in zip((0, *LARGEST), LARGEST, strict=False)
    ),
    f"{LARGEST[-1] + 1} or more",
)
LOOK_PRICE = Fraction(1, 49)  # of what its kind gets: with one kind, 0.02 of the whole


@register
@dataclass(frozen=True, kw_only=True)
class ItemsPerUser(Kind):
    """How many different items of a kind users have, in ranges: `items-per-user:queries`.

    Attributes:
        of: The kind. How many of its items count elsewhere does not matter, and is not kept.
    """

    items_per_user: int = 1
    of: Kind

    label = "items-per-user"
    item = ("items",)
    item_meaning = ("how many different items, as a range",)
    lowered = ()
    required_roles = ()
    no_setting = (*Kind.no_setting, "of")
    usage = "{label}:KIND"
    default_items_per_user = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.items_per_user != 1 or self.by is not None:
            raise UsageError(f"{self.label} counts everybody once: items_per_user is 1, without by")
        if self.of.steered() or self.of.restricting_kind() or isinstance(self.of, ItemsPerUser):
            raise UsageError(f"{self.label} is not for items that are made of published ones")
        object.__setattr__(self, "of", replace(self.of, items_per_user=1))
        if _kind_named(self.of.name(), self.of.settings()) != self.of:
            raise UsageError(
                f"{self.label} cannot name such items: rename columns with a plus sign"
            )
        for name in ("required_roles", "may_use"):  # of a class everywhere else
            object.__setattr__(self, name, getattr(self.of, name))

    @classmethod
    def from_name(
        cls,
        name: str,
        items_per_user: int,
        settings: Mapping[str, Any],
        columns: Sequence[str] | None = None,
    ) -> Self | None:
        """The name of the kind stands after a colon; settings are those of the kind."""
        label, _, rest = name.partition(":")
        if label != cls.label or not rest or columns not in (None, cls.item, list(cls.item)):
            return None
        kind = _kind_named(rest, settings)
        return None if kind is None else cls(items_per_user=items_per_user, of=kind)

    @classmethod
    def parse_kinds(cls, text: str, items_per_user: int, settings: Mapping[str, Any]) -> list[Kind]:
        """Everybody counts once, however many items count of other kinds."""
        found = cls.from_name(text, 1, settings)
        return [] if found is None else [found]

    @classmethod
    def own_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """None beside those of its kind."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Those of its kind."""
        return self.of.settings()

    def name(self) -> str:
        return look_name(self.of)

    def extra_columns(self) -> tuple[str, ...]:
        return self.of.extra_columns()

    def check(self, roles: Collection[str]) -> None:
        self.of.check(roles)

    def default_mechanism(self) -> str:
        """All ranges are known."""
        return "listed"

    def budget_weight(self) -> Fraction:
        """Its weight in the budget: everybody counts once, in few ranges."""
        return LOOK_PRICE * self.of.budget_weight()

    def meaning(self) -> str:
        """What a row is."""
        return (
            f"`count` is the number of {{units}} with so many different items of the kind "
            f"`{self.of.name()}`."
        )

    def notes(self) -> list[str]:
        """Those of its kind, which say what an item is."""
        return self.of.notes()

    def selection(self) -> str:
        """Everyone."""
        return "{each} counts once."

    def known_items(self) -> pa.Table:
        """All ranges."""
        return pa.table({"items": pa.array(RANGES)})

    def _steps(self, source: Source) -> list[Step]:
        *before, last = self.of.steps(source)
        item = comma_separated(map(identifier, self.of.counted_columns()))
        time = ", min(time) as time" if "time" in source.roles else ""
        each = f"select user, {item}{time} from all_items group by user, {item}"
        number = f"select user, count(*) as number{time} from different group by user"
        ranges = " ".join(
            f"when number <= {most} then '{name}'"
            for most, name in zip(LARGEST, RANGES, strict=False)
        )
        time, found = ", time" if time else "", f"case {ranges} else '{RANGES[-1]}' end as items"
        return [
            *before,
            Step("all_items", last.sql),
            Step("different", each),
            Step("numbers", number),
            Step("items", f"select user, {found}{time} from numbers"),
        ]


def _kind_named(name: str, settings: Mapping[str, Any]) -> Kind | None:
    """The kind of this name, of which one item counts; None where there is not exactly one."""
    found = (each.from_name(name, 1, settings) for each in KINDS.values())
    kinds = [kind for kind in found if kind is not None]
    return kinds[0] if len(kinds) == 1 else None


def look_name(kind: Kind) -> str:
    """What the table is called that says how many items of a kind users have."""
    return f"{ItemsPerUser.label}:{kind.name()}"
