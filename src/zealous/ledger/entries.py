"""Entries of a ledger: a charge and what became of it, and how events hold charges and caps.

Guarantee:
    An entry says what was charged exactly as it was charged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal, get_args

from zealous.ledger.budgets import Accounts, Cap, Caps, Charge, Compose
from zealous.ledger.losses import Losses
from zealous.ledger.store import Row
from zealous.privacy.guarantee import Neighbors, format_number
from zealous.privacy.period import Period

State = Literal["reserved", "released", "voided"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Entry:
    """One charge and what became of it.

    Attributes:
        ledger: The ledger's id.
        number: 1 for the first charge of the ledger, 2 for the second: what people call it.
        seq: The number of the event that reserved it.
        hash: That event's hash; the release carries it.
        release: The release's id. Several entries of one id are several attempts.
        charge: What was charged.
        by: Who asked for it.
        time: When, in UTC.
        state: `reserved` (spent, perhaps by a crash), `released`, or `voided` (no longer counted).
        directory: Where the release was written.
        sha256: The SHA-256 of its release.json.
        plan: The SHA-256 of the signed plan that it was charged for, where one was needed.
        approver: Who signed it.
        accounts: What it all came to after this charge, where it was just made.
        drafts: The id of the draft that a private folder keeps until it is published, where the
            charge was made for one.
    """

    ledger: str
    number: int
    seq: int
    hash: str
    release: str
    charge: Charge
    by: str
    time: datetime
    state: State = "reserved"
    directory: str | None = None
    sha256: str | None = None
    plan: str | None = None
    approver: str | None = None
    accounts: Accounts | None = None
    drafts: str | None = None

    def __repr__(self) -> str:
        return f"Entry({self}, {self.state})"

    def __str__(self) -> str:
        """One line of a refusal."""
        when = f"{self.time:%Y-%m-%d}"
        of = "".join(f", of {each}" for each in (self.charge.log, self.charge.period) if each)
        return (
            f"#{self.number} {self.release} ({when}{of}): "
            f"epsilon {format_number(self.charge.epsilon)}, "
            f"delta {format_number(self.charge.delta)}"
        )


def entry_from_json(row: Row, body: Mapping[str, Any], *, ledger: str, number: int) -> Entry:
    """The entry that an event begins."""
    neighbors: Neighbors = body["neighbors"]
    charge = Charge(
        epsilon=Fraction(body["epsilon"]),
        delta=Fraction(body["delta"]),
        definition=body["definition"],
        neighbors=neighbors,
        unit=body["unit"],
        period=Period.parse(body["period"]) if body["period"] else None,
        people=body["people"],
        sessions=body["sessions"],
        losses=Losses.from_json(body["losses"]) if body.get("losses") else None,
        replaced=Fraction(body["replaced"]) if body.get("replaced") else None,
        person=body.get("person"),
        other_delta=body.get("other_delta"),
        log=body.get("log"),
    )
    approval = body.get("approval")
    return Entry(
        plan=signed_plan(body),
        approver=approval["signer"] if approval else None,
        ledger=ledger,
        number=number,
        seq=row.seq,
        hash=row.hash,
        release=body["release"],
        charge=charge,
        by=body["by"],
        time=datetime.fromisoformat(body["time"]),
        drafts=body.get("drafts"),
    )


def signed_plan(body: Mapping[str, Any]) -> str | None:
    """The SHA-256 of the signed plan that a charge is for, if it is for one."""
    approval = body.get("approval")
    if not approval:
        return None
    return hashlib.sha256(approval["plan"].encode("utf-8", "surrogateescape")).hexdigest()


def charge_as_json(charge: Charge) -> dict[str, Any]:
    """A charge as an event holds it."""
    return {
        "epsilon": str(charge.epsilon),
        "delta": str(charge.delta),
        "definition": charge.definition,
        "neighbors": charge.neighbors,
        "unit": charge.unit,
        "period": str(charge.period) if charge.period else None,
        "people": charge.people,
        "sessions": charge.sessions,
        "losses": charge.losses.as_json() if charge.losses else None,
        "replaced": str(charge.replaced) if charge.replaced is not None else None,
        **{
            name: value
            for name in ("person", "other_delta", "log")
            if (value := getattr(charge, name)) is not None
        },
    }


def caps_as_json(caps: Caps) -> dict[str, Any]:
    """Caps as an event holds them."""
    both: dict[str, Any] = {
        name: {
            "epsilon": None if cap.epsilon is None else str(cap.epsilon),
            "delta": None if cap.delta is None else str(cap.delta),
        }
        for name, cap in (("all", caps.all), ("period", caps.period))
    }
    return {**both, "compose": caps.compose}


def caps_from_json(body: Mapping[str, Any]) -> Caps:
    """Caps as an event holds them; those of format 1 limit sums."""
    compose: Compose | None = body.get("compose", "sums")
    if compose not in (None, *get_args(Compose)):
        raise ValueError("caps what this version does not know")
    return Caps(
        all=_cap_from_json(body["all"]), period=_cap_from_json(body["period"]), compose=compose
    )


def _cap_from_json(body: Mapping[str, str | None]) -> Cap:
    epsilon, delta = body["epsilon"], body["delta"]
    return Cap(
        epsilon=None if epsilon is None else Fraction(epsilon),
        delta=None if delta is None else Fraction(delta),
    )
