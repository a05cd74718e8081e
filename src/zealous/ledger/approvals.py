"""What the approvers of a ledger sign, and what of it is checked: plans, caps and voids."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from zealous.errors import Refused, UsageError
from zealous.ledger import store
from zealous.ledger.book import Book
from zealous.ledger.signatures import Approval, sign, signer


def approved_plan(book: Book, approval: Approval | None, at: datetime) -> dict[str, Any]:
    """What an entry says of the signed plan that it is charged for; refused where it must be."""
    if book.approvers is None:
        return {}
    if approval is None:
        raise Refused(
            "this ledger publishes by approved plans alone: write one with `zealous plan -o "
            "plan.json`, have it signed with `zealous approve plan.json --key KEY`, and publish "
            "with --plan plan.json"
        )
    who = signer(approval.plan, approval.signature, approvers=book.approvers, at=at)
    plan = approval.plan.decode("utf-8", "surrogateescape")
    return {"approval": {"plan": plan, "signature": approval.signature, "signer": who}}


def signed_decision(
    book: Book, event: str, body: dict[str, Any], key: Path | None
) -> dict[str, Any]:
    """A decision with the signature that the ledger's approvers make necessary."""
    if book.approvers is None:
        return body
    if key is None:
        raise Refused("this ledger has approvers, one of whom has to sign this: --key KEY")
    message = _signed_message(event, body, after=book.last)
    made, at = sign(message, key.expanduser()), datetime.fromisoformat(body["time"])
    who = signer(message, made, approvers=book.approvers, at=at)
    return {**body, "signed": {"signature": made, "signer": who}}


def _signed_message(event: str, body: Mapping[str, Any], *, after: store.Row | None) -> bytes:
    """What an approver of a ledger signs: the event, and the hash of all before it."""
    said = {name: value for name, value in body.items() if name != "signed"}
    previous = after.hash if after else None
    return store.canonical_json({**said, "event": event, "after": previous}).encode()


def signature_problems(rows: Sequence[store.Row]) -> list[str]:
    """Decisions and plans whose signature is not that of an approver of that time."""
    problems, book = [], Book()
    for row in rows:
        approvers, last, body = book.approvers, book.last, json.loads(row.body)
        book.apply(row)
        said = body.get("approval") or body.get("signed")
        if approvers is None or said is None:
            continue
        message = _signed_message(body["event"], body, after=last)
        if "approval" in body:
            message = said["plan"].encode("utf-8", "surrogateescape")
        at = datetime.fromisoformat(body["time"])
        try:
            known = signer(message, said["signature"], approvers=approvers, at=at)
        except (Refused, UsageError) as error:
            problems.append(f"event {row.seq}: {error}")
            continue
        if known != said["signer"]:
            problems.append(f"event {row.seq} was signed by somebody else than it says")
    return problems
