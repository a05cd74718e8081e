"""Plans in files as the workbench shows them: what they say, and what was decided about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from zealous.errors import ZealousError
from zealous.ledger import Ledger, existing_ledger
from zealous.ledger.book import Book
from zealous.ledger.signatures import signature_file
from zealous.planning.part import forecast
from zealous.planning.plan import Plan
from zealous.planning.plan_file import read_plan
from zealous.privacy.guarantee import UNITS, format_number
from zealous.record.record import Record
from zealous.web.bench import Bench
from zealous.web.decisions import Decision, plan_hash, read_decision
from zealous.web.folders import PLAN_ENDING
from zealous.web.releases import ShownRelease


@dataclass(frozen=True, kw_only=True)
class ShownPlan:
    """A plan in one of the folders.

    Attributes:
        name: Its name.
        path: Its file.
        planned: What it says.
        sha256: Of its file.
        decision: What was decided about it, if anything.
        signed: Whether a signature stands beside it.
        ledger: The file of the ledger of its folder, if there is one.
        published: The names of the releases that were made by it.
    """

    name: str
    path: Path
    planned: Plan
    sha256: str
    decision: Decision | None
    signed: bool
    ledger: Path | None
    published: tuple[str, ...]

    @classmethod
    def read(cls, bench: Bench, name: str) -> ShownPlan:
        """Read a plan, strictly.

        Raises:
            UsageError: It is no plan.
        """
        path = bench.folders.path(name)
        digest = plan_hash(path)
        return cls(
            name=name,
            path=path,
            planned=read_plan(path),
            sha256=digest,
            decision=read_decision(path),
            signed=signature_file(path).is_file(),
            ledger=existing_ledger([path]),
            published=tuple(
                release
                for release, record in records(bench).items()
                if record.approved_plan == digest and record.review is None
            ),
        )

    @property
    def title(self) -> str:
        """What it is called, without its folder and ending."""
        return self.path.name.removesuffix(PLAN_ENDING)

    def book(self) -> Book | None:
        """What the ledger holds."""
        return Ledger.open(self.ledger).book() if self.ledger else None

    @property
    def state(self) -> str:
        """What was decided, in a word."""
        if self.published:
            return "published"
        if self.decision is not None:
            return self.decision.decision
        return "approved" if self.signed else "waiting"


def plan_page(
    bench: Bench, request: Request, title: str, show: Callable[[ShownPlan], Response]
) -> Response:
    """The page about a plan; where none is named and there are several, which is asked."""
    found = bench.folders.look().plans
    name = bench.chosen(request, "plan", found)
    if name is None:
        return bench.page(request, "plans", title=title, states=plan_states(bench, found))
    return show(ShownPlan.read(bench, name))


def records(bench: Bench) -> dict[str, Record]:
    """What the releases in the folders say of themselves, by name, as far as they can be read."""
    found = {}
    for name in bench.folders.look().releases:
        try:
            found[name] = ShownRelease(bench, name).record
        except ZealousError:
            continue
    return found


def plan_states(bench: Bench, names: tuple[str, ...]) -> dict[str, str]:
    """By name of plan: what was decided, or that it cannot be read."""
    found = {}
    for name in names:
        try:
            found[name] = ShownPlan.read(bench, name).state
        except ZealousError:
            found[name] = "cannot be read"
    return found


def facts(planned: Plan) -> dict[str, str]:
    """What an approver compares between two plans."""
    goal = planned.goal
    told = {
        "epsilon": format_number(goal.epsilon),
        "delta": format_number(goal.delta),
        "guarantee": goal.title,
        "people at most": f"{goal.users:,}" if goal.users else "not stated",
        "protected as one": UNITS[goal.unit],
        "neighbours": goal.neighbors,
    }
    for part in planned.parts:
        told[f"{part.name()}: items of a person"] = str(part.kind.items_per_user)
        needed = forecast(part).users_to_appear.high
        told[f"{part.name()}: {goal.units()} an item needs"] = f"about {needed:,}"
        told[f"{part.name()}: mechanism"] = part.mechanism.name
    return told
