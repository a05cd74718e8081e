"""What a release says of the tables that a mechanism made: each mechanism has words of its own.

They are made from the table's part of release.json, and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from zealous.privacy.guarantee import format_number

if TYPE_CHECKING:
    from zealous.record.record import PartRecord

INTEGERS = (
    "add integer ({noise}) noise from the operating system's randomness by exact arithmetic "
    "without floating point, "
)


def noise_name(noise: str) -> str:
    """What noise is called in a text.

    >>> noise_name("capped-discrete-laplace")
    'capped discrete Laplace'
    """
    words = noise.split("-")
    return " ".join(word.title() if word in ("laplace", "gaussian") else word for word in words)


def cost_text(part: PartRecord) -> str:
    """What a table costs, and its noise."""
    return (
        f"Budget: epsilon {format_number(part.epsilon)}, delta {format_number(part.delta)}. Noise: "
        f"{noise_name(part.noise)} of scale {format_number(part.scale)}."
    )


def too_rare(part: PartRecord, units: str) -> str:
    """Why a table of what passed a threshold may be empty."""
    reached = part.forecast.users_to_appear.half
    return f"no item was among the counted items of about {reached} {units}. {_remedies(units)}"


def _remedies(units: str) -> str:
    return (
        f"More {units}, a larger epsilon, fewer items per user or fewer kinds in one release would "
        "help."
    )


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is said of a table. A mechanism has one of the kinds below, or its own.

    Attributes:
        how: How the mechanism works, for a registry; `{noise}` becomes the name of its noise.
    """

    how: str
    every_item: ClassVar[bool] = False
    """Whether a table has every item of a known list, and no other."""

    def method(self, part: PartRecord) -> str:
        """How the table was made, for a registry."""
        return self.how.format(noise=noise_name(part.noise))

    def threshold(self, part: PartRecord) -> str:
        """What an item had to pass, in a few words."""
        raise NotImplementedError

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """How the table was made, point by point.

        Args:
            part: What release.json says of the table.
            units: What is counted, such as users.
            each: One of these, such as each user.
            origin: The published table whose rows are all possible items, if there is one.
        """
        raise NotImplementedError

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """Why the table may be empty."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class AboveThreshold(Description):
    """Of a table of what passed two thresholds."""

    def threshold(self, part: PartRecord) -> str:
        """tau_prime, the second one."""
        return str(part.tau_prime)

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """Who appears, and both thresholds."""
        appear = part.forecast.users_to_appear
        return [
            f"- An item is published with probability 5 / 50 / 95 % where it is among the counted "
            f"items of {appear.low} / {appear.half} / {appear.high} {units}.",
            f"- {cost_text(part)} Thresholds: at least {part.tau} {units} before noise, "
            f"a count above {part.tau_prime} after.",
        ]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """Nothing was frequent enough."""
        return too_rare(part, units)


@dataclass(frozen=True, kw_only=True)
class EveryItem(Description):
    """Of a table of everything in a list.

    Attributes:
        looked_at: What the list has.
        of: What the list is.
        nothing: Why there may be nothing in it.
    """

    looked_at: str
    of: str = "a public list"
    nothing: str = "the public list is empty."
    every_item: ClassVar[bool] = True

    def threshold(self, part: PartRecord) -> str:
        """That there is none: the whole list is published."""
        return f"all of {self.of}"

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """What was looked at."""
        return [
            f"- Only {self.looked_at.format(origin=origin)} are counted, and the limit for {each} "
            f"applies to these alone. All of them are published, including those of no {units}.",
            f"- {cost_text(part)} No threshold.",
        ]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """The list itself is empty."""
        return self.nothing.format(origin=origin)


@dataclass(frozen=True, kw_only=True)
class EveryPossibleItem(EveryItem):
    """Of a table of all possible items, by a public rule or by another table."""

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """What was looked at."""
        if origin is not None:
            return super().points(part, units=units, each=each, origin=origin)
        return [
            f"- All possible items are published, including those of no {units}.",
            f"- {cost_text(part)} No threshold.",
        ]


@dataclass(frozen=True, kw_only=True)
class AmongCandidates(Description):
    """Of a table of what stands out among all that can be made of published items.

    Attributes:
        made_of: Which published items.
        points_of: What was looked at; `{each}` and `{units}` are filled in.
    """

    made_of: str
    points_of: str

    def threshold(self, part: PartRecord) -> str:
        """That it stands out from the noise on all candidates."""
        return f"made of {self.made_of}, above the noise level"

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """What was looked at."""
        return [f"- {self.points_of.format(units=units, each=each)}", f"- {cost_text(part)}"]

    def empty(self, part: PartRecord, *, units: str, origin: str | None) -> str:
        """Noise hides everything."""
        return f"no item made of published ones stood out from the noise. {_remedies(units)}"
