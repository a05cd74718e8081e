"""Which guarantee of a release comes first, and both of its deltas."""

from __future__ import annotations

from fractions import Fraction

from zealous.privacy.promise import both_deltas
from zealous.record.record import AccountsRecord, Claim, Record


def leading_claim(record: Record) -> Claim:
    """What a release promises, first of all.

    A filtered child keeps indistinguishability. What its parameters give of it is sharper than what
    follows from the parent's numbers.
    """
    other = record.also_guaranteed
    return other if record.is_filtered() and other is not None else record.guarantee


def other_claim(record: Record) -> Claim | None:
    """What the same parameters give by the other definition; None for a filtered child."""
    return None if record.is_filtered() else record.also_guaranteed


def deltas(record: Record) -> str:
    """The delta per person, and the one for anybody at all."""
    return both_deltas(leading_claim(record), other_claim(record))


def delta_for_anybody(accounts: AccountsRecord) -> Fraction | float:
    """The chance that anybody at all is breached by all releases, exactly where that is known."""
    same = accounts.delta_for_anybody == accounts.all.delta
    return Fraction(accounts.all.exact.delta) if same else accounts.delta_for_anybody
