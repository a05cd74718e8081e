"""What happened to a ledger, in words: who, when, what, and why where a reason was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from zealous.ledger.budgets import Caps
from zealous.ledger.entries import Entry, caps_from_json
from zealous.ledger.signatures import signer_names
from zealous.ledger.store import Row
from zealous.privacy.guarantee import format_number


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event for people.

    Attributes:
        seq: Its number in the chain.
        kind: What an event of its kind is called: `caps`, `voided`, ...
        time: When, in UTC, by the clock of whoever wrote it.
        by: Who.
        text: What was done.
        reason: Why, if somebody said.
        hash: Its hash, which vouches for all events before it.
        signer: Who signed it, or the plan that it charges for.
        people: The name of the people that a charge is for, who are claimed to be no others'.
    """

    seq: int
    kind: str
    time: datetime
    by: str
    text: str
    reason: str | None
    hash: str
    signer: str | None = None
    people: str | None = None

    @property
    def decided(self) -> bool:
        """Whether somebody decided it: a charge only follows from a decision, unless it claims."""
        claimed = self.signer is not None or self.people is not None
        return self.kind not in ("reserved", "released") or claimed

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "event": self.seq,
            "kind": self.kind,
            "time": self.time.isoformat(),
            "by": self.by,
            "text": self.text,
            "reason": self.reason,
            "hash": self.hash,
            "signer": self.signer,
        }


@dataclass(frozen=True, kw_only=True)
class _Before:
    """What an event is told against: the caps and entries before it."""

    caps: Caps
    entries: Mapping[int, Entry]

    def entry(self, body: Mapping[str, Any]) -> str:
        found = self.entries.get(body["entry"])
        return f"entry {found.number} ({found.release})" if found else "an entry that is not there"


def describe_event(
    row: Row, body: Mapping[str, Any], caps: Caps, entries: Mapping[int, Entry]
) -> Event:
    """An event in words, given what the ledger was before it."""
    describe = _DESCRIBE.get(body["event"])
    if describe is None:
        raise ValueError("is of a kind that this version does not know")
    return Event(
        seq=row.seq,
        kind=body["event"],
        time=datetime.fromisoformat(body["time"]),
        by=body["by"],
        text=describe(body, _Before(caps=caps, entries=entries)) + _signer_text(body),
        reason=body.get("reason"),
        hash=row.hash,
        signer=(signature_of(body) or {}).get("signer"),
        people=body.get("people"),
    )


def _signer_text(body: Mapping[str, Any]) -> str:
    signed = body.get("signed")
    return f" (signed by {signed['signer']})" if signed else ""


_SIGNED = {
    **dict.fromkeys(("caps", "voided", "approvers", "moved", "restored"), "signed"),
    "reserved": "approval",
}


def is_signed(body: Mapping[str, Any]) -> bool:
    """Whether an event that needs a signature where there are approvers has one."""
    return body["event"] not in _SIGNED or bool(signature_of(body))


def signature_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an event says of its signature, where one of its kind needs one.

    A charge has the signature of its plan, all else one of its own: an approved plan is no
    signature of a cap.
    """
    found: Mapping[str, Any] | None = body.get(_SIGNED.get(body["event"], ""))
    return found


def _opened_text(body: Mapping[str, Any], _: _Before) -> str:
    declared = [
        f"{name} {value}"
        for name, value in (
            ("dataset", body["dataset"]),
            ("unit", body["unit"]),
            ("neighbours", body["neighbors"]),
        )
        if value is not None
    ]
    return "opened the ledger" + (f": {', '.join(declared)}" if declared else "")


def _caps(body: Mapping[str, Any], before: _Before) -> str:
    after, changes = caps_from_json(body), []
    for where, old, new in (
        ("over all releases", before.caps.all, after.all),
        ("in one period", before.caps.period, after.period),
    ):
        for name in ("epsilon", "delta"):
            was, now = getattr(old, name), getattr(new, name)
            if was != now:
                changes.append(f"{name} {where} from {_limit(was)} to {_limit(now)}")
    if after.compose != before.caps.compose and "losses" in (after.compose, before.caps.compose):
        changes.append(f"they limit {_COMPOSE[after.compose or 'sums']}")
    told = f"set caps: {'; '.join(changes) or 'as they were'}"
    if body.get("ended") is None:
        return told
    ended = caps_from_json(body["ended"])
    return (
        f"{told}. The earlier promise, of {_COMPOSE[ended.compose or 'sums']}, ended: "
        f"{describe_promise(ended + after)}"
    )


def describe_promise(caps: Caps, how: str = "added up") -> str:
    """What holds over everything where one promise followed another."""
    said = [
        f"epsilon {_limit(cap.epsilon)}, delta {_limit(cap.delta)} {where}"
        for cap, where in ((caps.all, "over all releases"), (caps.period, "in one period"))
        if cap
    ]
    return f"{how}, the caps promise {'; '.join(said) or 'nothing any more'}"


_COMPOSE = {"losses": "composed losses", "sums": "sums of epsilon and delta"}


def _limit(value: Fraction | None) -> str:
    return "none" if value is None else format_number(value)


def _reserved_text(body: Mapping[str, Any], before: _Before) -> str:
    epsilon, delta = (format_number(Fraction(body[name])) for name in ("epsilon", "delta"))
    number = len(before.entries) + 1
    approved = body.get("approval")
    by = f", by a plan that {approved['signer']} signed" if approved else ""
    whose = body.get("people")
    people = f", for the people {whose}, said to be under no other name here" if whose else ""
    return (
        f"charged entry {number} ({body['release']}): epsilon {epsilon}, delta {delta}{people}{by}"
    )


def _bypassed_text(body: Mapping[str, Any], _: _Before) -> str:
    epsilon, delta = (format_number(Fraction(body[name])) for name in ("epsilon", "delta"))
    where = f"charged to {body['charged_to']}" if body["charged_to"] else "charged to no ledger"
    return (
        f"published {body['release']} past this ledger, {where}: epsilon {epsilon}, delta {delta} "
        "are not counted here"
    )


def _restored_text(body: Mapping[str, Any], _: _Before) -> str:
    return f"put the ledger in its place at {body['at']}, from {body['from']}"


_DESCRIBE: Mapping[str, Callable[[Mapping[str, Any], _Before], str]] = {
    "opened": _opened_text,
    "named": lambda body, _: f"named the dataset {body['dataset']}",
    "caps": _caps,
    "reserved": _reserved_text,
    "released": lambda body, before: f"published {before.entry(body)} in {body['directory']}",
    "bypassed": _bypassed_text,
    "approvers": lambda body, _: (
        f"named who may approve plans, caps and voids: {', '.join(signer_names(body['signers']))}"
    ),
    "upgraded": lambda body, _: f"carried the ledger over to format {body['format']}",
    "moved": lambda body, _: f"moved the ledger to {body['to']}",
    "restored": _restored_text,
    "voided": lambda body, before: f"voided {before.entry(body)}: it no longer counts",
}
