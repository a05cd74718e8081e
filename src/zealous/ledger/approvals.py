"""What the approvers of a ledger sign, and what of it is checked: plans, caps and voids."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from zealous.errors import Refused
from zealous.files.strict_json import parse
from zealous.ledger import store
from zealous.ledger.book import Book
from zealous.ledger.budgets import Charge
from zealous.ledger.events import signature_of
from zealous.ledger.signatures import Approval, sign, signer
from zealous.privacy.guarantee import exact_fraction


class _SignedColumns(Struct):
    user: str


class _SignedLog(Struct):
    columns: _SignedColumns
    dataset: str | None = None
    people: str | None = None


class _SignedGoal(Struct):
    guarantee: str
    epsilon: str
    delta: str
    neighbors: str
    unit: str


class _SignedPlan(Struct):
    """What is checked of a signed plan, whichever version wrote it."""

    goal: _SignedGoal
    log: _SignedLog


def approved_plan(
    book: Book, approval: Approval | None, charge: Charge, at: datetime
) -> dict[str, Any]:
    """What an entry says of the signed plan that it is charged for; refused where it must be."""
    if book.approvers is None:
        return {}
    if approval is None:
        raise Refused(
            "this ledger publishes by approved plans alone, and this run has no plan with a "
            "signature (PLAN.sig): write one with `zealous plan "
            f"{_population_options(book.dataset, charge.people)}-o plan.json`, have it signed with "
            "`zealous approve plan.json --key KEY`, and publish with --plan plan.json"
        )
    who = signer(approval.plan, approval.signature, approvers=book.approvers, at=at)
    different = _difference(approval.plan, book.dataset, charge)
    if different is not None:
        raise Refused(
            f"the plan was signed for something else: {different}. Write one with `zealous plan "
            f"{_population_options(book.dataset, charge.people)}-o plan.json`, and have it signed"
        )
    plan = approval.plan.decode("utf-8", "surrogateescape")
    return {"approval": {"plan": plan, "signature": approval.signature, "signer": who}}


def _population_options(dataset: str | None, people: str | None) -> str:
    given = (("--dataset", dataset), ("--people", people))
    return "".join(f"{option} {shlex.quote(name)} " for option, name in given if name is not None)


def _difference(plan: bytes, dataset: str | None, charge: Charge) -> str | None:
    """What a charge has that its signed plan does not say; None where the plan is for it.

    A signature is for the people that the plan names, so that it cannot be used in the ledger of
    others, and for what the plan costs.
    """
    try:
        signed = convert(parse(plan.decode()), _SignedPlan)
        goal, log = signed.goal, signed.log
        costs = exact_fraction(goal.epsilon, "epsilon"), exact_fraction(goal.delta, "delta")
    except (ValueError, RecursionError):
        return "it cannot be read"
    if log.dataset != dataset:
        return (
            f"it is {_named(log.dataset, 'dataset')}, and the ledger {_named(dataset, 'dataset')}"
        )
    if log.people != charge.people:
        return (
            f"it is {_named(log.people, 'people')}, and the run {_named(charge.people, 'people')}"
        )
    if (*costs, goal.guarantee, goal.neighbors, goal.unit) != (
        charge.epsilon,
        charge.delta,
        charge.definition,
        charge.neighbors,
        charge.unit,
    ):
        return "it costs something else"
    return None if log.columns.user == charge.person else "it names another column as the person"


def _named(name: str | None, what: str) -> str:
    return f"for the {what} {name}" if name is not None else f"for no named {what}"


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
    """Decisions and plans that were signed by nobody who could, or for something else.

    Raises:
        NoSigningProgram: No signature can be verified here.
    """
    problems, book = [], Book()
    for row in rows:
        approvers, last, dataset = book.approvers, book.last, book.dataset
        before = book.events[-1].time if book.events else None
        book.apply(row)
        body = json.loads(row.body)
        said = signature_of(body)
        if approvers is None or said is None:
            continue
        message = _signed_message(body["event"], body, after=last)
        if body["event"] == "reserved":
            message = said["plan"].encode("utf-8", "surrogateescape")
            different = _difference(message, dataset, book.entries[row.seq].charge)
            if different is not None:
                problems.append(f"event {row.seq} was charged by a plan that differs: {different}")
        # A clock that was put back lets nobody sign whose time was over.
        at = max(filter(None, (datetime.fromisoformat(body["time"]), before)))
        try:
            known = signer(message, said["signature"], approvers=approvers, at=at)
        except Refused as error:
            problems.append(f"event {row.seq}: {error}")
            continue
        if known != said["signer"]:
            problems.append(f"event {row.seq} was signed by somebody else than it says")
    return problems
