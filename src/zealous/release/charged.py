"""What a release was charged and what is left, from what release.json says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from zealous.ledger import Budget, Cap
from zealous.privacy.guarantee import exact_fraction, format_number
from zealous.record.record import CapRecord, ExactBudget, Record


@dataclass(frozen=True, kw_only=True)
class ChargedAccount:
    """What one person had lost after a release, and what is left of the cap.

    Attributes:
        what: The releases that it adds up, in words.
        spent: What they cost together.
        cap: The most that may be spent.
        composed: Whether losses are composed: then epsilon is at the cap's delta.
    """

    what: str
    spent: Budget
    cap: Cap
    composed: bool = False

    @property
    def left(self) -> Cap:
        """What is left; None where there is no cap."""
        return self.cap.left(self.spent)

    def __str__(self) -> str:
        names = ("epsilon",) if self.composed else ("epsilon", "delta")
        said = [
            f"{name} {format_number(getattr(self.left, name), up=False)} "
            f"of {format_number(getattr(self.cap, name))}"
            for name in names
            if getattr(self.cap, name) is not None
        ]
        at = f" at delta {format_number(self.spent.delta)}" if self.composed else ""
        return f"Left {self.what}: {', '.join(said)}{at}." if said else ""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """What a release cost.

    Attributes:
        entry: The number of its entry in the ledger; None where no ledger was charged.
        epsilon: Its epsilon, over all its tables.
        delta: Its delta.
        accounts: What it came to together with other releases of the same people.
        with_parent: Whether it was its parent that was charged: a review costs nothing.
    """

    entry: int | None
    epsilon: Fraction
    delta: Fraction
    accounts: tuple[ChargedAccount, ...] = ()
    with_parent: bool = False

    @classmethod
    def from_record(cls, record: Record) -> Charged:
        """What release.json says."""
        cost, stamp = _budget(record.guarantee.exact), record.ledger
        found: tuple[ChargedAccount, ...] = ()
        if stamp is not None:
            within = stamp.accounts.period
            period = "in any period" if within.within == "all" else f"in {within.within}"
            found = (
                ChargedAccount(
                    what="over all releases",
                    spent=_budget(stamp.accounts.all.exact),
                    cap=_cap(stamp.caps.all),
                    composed=bool(stamp.accounts.all.composed),
                ),
                ChargedAccount(
                    what=period,
                    spent=_budget(within.exact),
                    cap=_cap(stamp.caps.period),
                    composed=bool(within.composed),
                ),
            )
        return cls(
            entry=stamp.entry if stamp else None,
            epsilon=cost.epsilon,
            delta=cost.delta,
            accounts=found,
            with_parent=record.review is not None,
        )

    def __str__(self) -> str:
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        cost = f"epsilon {format_number(self.epsilon)}"
        if self.delta:
            cost += f", delta {format_number(self.delta)}"
        if self.entry is None:
            yield f"Charged to no ledger: {cost}, and nobody adds it up."
            return
        whose = "Its parent was charged" if self.with_parent else "Charged"
        yield f"{whose} as entry {self.entry} of the ledger: {cost}."
        left = [said for said in map(str, self.accounts) if said]
        yield from left or ["The ledger has no cap."]


def _budget(exact: ExactBudget) -> Budget:
    return Budget(
        epsilon=exact_fraction(exact.epsilon, "epsilon"), delta=exact_fraction(exact.delta, "delta")
    )


def _cap(cap: CapRecord | None) -> Cap:
    if cap is None:
        return Cap()
    return Cap(
        epsilon=None if cap.epsilon is None else exact_fraction(cap.epsilon, "epsilon"),
        delta=None if cap.delta is None else exact_fraction(cap.delta, "delta"),
    )
