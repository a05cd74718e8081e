"""Pooled rounds with a head start for what is publicly known to be frequent.

Guarantee:
    Every item of the public list gets noise in every round until it is a key, whether or not
    somebody has it; of all other items one that nobody keeps never becomes a key. Delta covers the
    unlisted items of one user.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zealous.errors import UsageError
from zealous.libraries import pa
from zealous.mechanisms.descriptions import INTEGERS, Description
from zealous.mechanisms.known_list import ItemTable
from zealous.mechanisms.pooled import Pooled, PooledKeys, RecordedRounds, recorded_parameters
from zealous.mechanisms.protocol import register
from zealous.mechanisms.public_files import PublicInput
from zealous.privacy.accounting.pooled import PERCENT
from zealous.privacy.guarantee import Guarantee, Indistinguishability

if TYPE_CHECKING:
    from zealous.record.record import PartRecord

_MOST = 10 * PERCENT
PRIOR = PublicInput(
    name="prior",
    help="A public list of items that are believed to be frequent, or an earlier release: "
    "fewer users are enough for them. KIND=FILE if there are several kinds.",
)


@dataclass(frozen=True, kw_only=True)
class _RecordedWithList(RecordedRounds):
    """What release.json has under `parameters`."""

    head_start: int


@dataclass(frozen=True, kw_only=True)
class _FromList(PooledKeys):
    """Of a table of keys for some of which less was enough."""

    def points(self, part: PartRecord, *, units: str, each: str, origin: str | None) -> list[str]:
        """The rounds, and what the list does."""
        ahead = recorded_parameters(part, _RecordedWithList).head_start / PERCENT
        return [
            *super().points(part, units=units, each=each, origin=origin),
            f"- Items of the public list were {ahead:g} standard deviations of the noise ahead, so "
            f"fewer {units} were enough for them. A few of them that nobody has are published by "
            "noise alone, with counts around zero.",
        ]


@register
@dataclass(frozen=True, kw_only=True)
class Prior(Pooled):
    """Pooled rounds in which items of a public list are some deviations of the noise ahead.

    Users give them more weight from the second round on, and they need less evidence to become
    keys: that they exist is no secret, so it costs no delta. Noise goes on the weight of *every*
    item of the list, also where nobody has it. So some that nobody has become keys, with
    counts of about zero: one in a thousand at delta 1e-6, one in fifty at 1e-4.

    The list favours what is listed, so counts are drawn afterwards, over all keys alike.

    Attributes:
        head_start: By how many deviations of the evidence's noise listed items are ahead, in
            hundredths.
        prior: The list: (item..., count). None until `with_inputs` gives it.

    Guarantee:
        With parameters from `calibrate` the keys and their counts together are
        (epsilon, delta)-indistinguishable. An item that nobody keeps is published only if it is
        listed; only unlisted items need delta.
    """

    head_start: int = 250
    prior: pa.Table | None = field(default=None, compare=False, repr=False)

    name: ClassVar[str] = "prior"
    public_input: ClassVar[PublicInput | None] = PRIOR
    description: ClassVar[Description] = _FromList(
        how="Pooled rounds with a public list: each unit spreads a weight of length 1000 over the "
        f"items it keeps, in several rounds, more on what is listed or earlier rounds saw, "
        f"{INTEGERS}items whose noisy weights together pass are keys, listed ones with less; then "
        "count the units that hold each key, add noise, publish all keys."
    )

    def __post_init__(self) -> None:
        """Refuse a head start that is out of range."""
        super().__post_init__()
        if not (type(self.head_start) is int and 0 <= self.head_start <= _MOST):
            raise UsageError(f"head_start must be from 0 to {_MOST}")

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """With a prior, under indistinguishability."""
        del items_per_user
        if not isinstance(goal, Indistinguishability):
            return None
        return "what is known to be frequent needs less weight, and gets more of it"

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it."""
        made = super().from_record(part)
        return replace(made, head_start=recorded_parameters(part, _RecordedWithList).head_start)

    def parameters(self) -> dict[str, Any]:
        """How many items are kept, the rounds, and the head start."""
        own = super().parameters()["parameters"]
        return {"parameters": {**own, "head_start": self.head_start}}

    def with_inputs(self, item_list: pa.Table | None = None, first: pa.Table | None = None) -> Self:
        """The same with its list."""
        del first
        return self if item_list is None else replace(self, prior=item_list)

    def deciding_items_per_user(self) -> None:
        """Listed items are published by noise alone, too."""

    def listed_items(self) -> pa.Table:
        """The list, each item once: one that were there twice would have two noises."""
        if self.prior is None:
            raise UsageError("the prior mechanism needs its list: see with_inputs")
        return ItemTable.of(self.prior).table

    def head_start_evidence(self, deviation: int) -> int:
        """The head start in hundredths of a deviation, as evidence."""
        return self.head_start * deviation // PERCENT
