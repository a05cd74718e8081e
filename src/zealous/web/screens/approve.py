"""Approve a plan, or return it: what changed since the last release, its costs, its assumptions."""

from __future__ import annotations

import shlex
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import Refused, ReleaseError, UsageError
from zealous.ledger.signatures import signer_names
from zealous.planning.plan import Plan
from zealous.privacy.levels import is_weak, percent, strength, suspicion_after
from zealous.privacy.promise import promise
from zealous.release.approval import write_signature
from zealous.release.charging import charge_of_plan
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.decisions import write_decision
from zealous.web.plans import ShownPlan, facts, plan_page, records
from zealous.web.releases import ShownRelease


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def approve(request: Request) -> Response:
        def show(shown: ShownPlan) -> Response:
            return bench.page(request, "approve", title="Approve", **_page(bench, shown))

        return plan_page(bench, request, "Approve", show)

    def decide(request: Request) -> Response:
        form = form_of(request)
        shown = ShownPlan.read(bench, form.get("plan", ""))
        if form.get("decision") == "returned":
            write_decision(
                shown.path,
                "returned",
                seen=form.get("seen", ""),
                by=form.get("by", ""),
                reason_given=form.get("reason", ""),
            )
            return see_other("/approve")
        ticked = request.state.form.get("assumption", [])
        if sorted(ticked) != sorted(map(str, range(len(shown.planned.assumptions())))):
            raise UsageError("tick every assumption, or return the plan: each of them must hold")
        if shown.decision is not None or shown.published:
            raise Refused(f"this plan was {shown.state} before")
        if shown.sha256 != form.get("seen"):
            raise Refused("the plan was changed while you looked at it: read it again")
        book = shown.book()
        if book is not None and book.approvers is not None and not shown.signed:
            if bench.key is None:
                raise Refused(
                    "this ledger asks for a signature: start the workbench with --key FILE, or "
                    f"sign with `zealous approve {shlex.quote(str(shown.path))} --key KEY`"
                )
            write_signature(
                shown.planned, shown.path, bench.key, passphrase=form.get("passphrase", "")
            )
        write_decision(shown.path, "approved", seen=shown.sha256, by=form.get("by", ""))
        return see_other("/publish", plan=shown.name)

    return [Route("/approve", approve), Route("/approve", decide, methods=["POST"])]


def _page(bench: Bench, shown: ShownPlan) -> dict[str, Any]:
    planned, book = shown.planned, shown.book()
    last_name, last = _last_release(bench, shown)
    now = facts(planned)
    before = facts(last) if last is not None else {}
    approvers = signer_names(book.approvers) if book and book.approvers is not None else None
    return {
        "shown": shown,
        "planned": planned,
        "promise": promise(planned.goal),
        "suspicion": percent(suspicion_after(planned.goal.epsilon)),
        "strength": strength(planned.goal.epsilon),
        "weak": is_weak(planned.goal.epsilon),
        "assumptions": planned.assumptions(),
        "last": last_name,
        "changed": [
            (name, before.get(name, "not there"), now.get(name, "not there"))
            for name in dict.fromkeys([*now, *before])
            if before.get(name) != now.get(name)
        ],
        "now": now,
        "before": book.standing() if book else None,
        "after": book.standing(charge_of_plan(planned)) if book else None,
        "dataset": book.dataset if book else None,
        "approvers": approvers,
        "command": f"zealous approve {shlex.quote(str(shown.path))} --key ~/.ssh/id_ed25519",
    }


def _last_release(bench: Bench, but: ShownPlan) -> tuple[str | None, Plan | None]:
    """The release that was charged last, by another plan, and the plan that it was made by."""
    found = [
        (record.created, record.ledger.entry if record.ledger else 0, name)
        for name, record in records(bench).items()
        if record.review is None and record.approved_plan != but.sha256
    ]
    if not found:
        return None, None
    *_, name = max(found)
    try:
        return name, Plan.from_record(ShownRelease(bench, name).record)
    except ReleaseError:
        return None, None
