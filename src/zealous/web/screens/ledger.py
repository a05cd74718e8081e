"""The ledger: what was spent on the same people, against its caps, and whether it is sound."""

from __future__ import annotations

import shlex
from collections import Counter
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.ledger import Cap, Caps, Ledger
from zealous.ledger.book import Book
from zealous.ledger.consistency import verify
from zealous.ledger.location import FILE_NAME
from zealous.ledger.signatures import signer_names
from zealous.privacy.guarantee import WHOEVER, exact_fraction, format_number
from zealous.privacy.promise import ODDS
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.charts import month_chart

_YEARS = 100  # further ahead nobody looks


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def ledger(request: Request) -> Response:
        found = bench.folders.look()
        name = bench.chosen(request, "ledger", found.ledgers)
        if name is None:
            return bench.page(
                request,
                "ledger_new",
                title="Ledger",
                names=found.ledgers,
                folders=bench.folders.names,
            )
        path = bench.folders.path(name)
        book = Ledger.open(path).book()
        return bench.page(
            request,
            "ledger",
            title="Ledger",
            name=name,
            problems=verify(path),
            path=shlex.quote(str(path)),
            path_in_python=repr(str(path)),
            **_ledger_figures(book),
        )

    def begin(request: Request) -> Response:
        """A new ledger in one of the folders, with its caps."""
        form = form_of(request)
        dataset = form.get("dataset", "").strip()
        if not dataset:
            raise UsageError("a ledger is about people: give them a name, such as web searchers")
        cap = Cap(
            epsilon=exact_fraction(form.get("epsilon", ""), "epsilon"),
            delta=exact_fraction(form.get("delta", ""), "delta"),
        )
        target = bench.folders.new_path(form.get("folder", ""), FILE_NAME)
        made = Ledger.open(target, create=True, dataset=dataset, by=form.get("by") or None)
        made.set_caps(Caps(all=cap), by=form.get("by") or None)
        return see_other("/ledger", ledger=bench.folders.name_of(target))

    return [Route("/ledger", ledger), Route("/ledger", begin, methods=["POST"])]


def _ledger_figures(book: Book) -> dict[str, Any]:
    """What a ledger says, for its page."""
    within, period, whole = book.against_caps()
    measure = book.measure()
    entries = list(book.entries.values())
    months: Counter[str] = Counter()
    for entry in book.counted_entries():
        months[f"{entry.time:%Y-%m}"] += float(book.cost(entry).epsilon)  # type: ignore[assignment]
    return {
        "book": book,
        "within": within,
        "period": period,
        "whole": whole,
        "entries": entries[::-1],
        "events": book.events[::-1],
        "approvers": None if book.approvers is None else signer_names(book.approvers),
        "months": month_chart(dict(sorted(months.items()))) if months else None,
        "outlook": _months_left(book),
        "meaning": _meaning(book),
        "odds": ODDS[measure.neighbors, measure.unit] if measure else "",
    }


def _months_left(book: Book) -> str:
    """How long the budget lasts at one release a month like the last one."""
    counted = book.counted_entries()
    if not counted:
        return "Nothing was charged yet."
    last = counted[-1].charge
    left = book.releases_left(last, most=12 * _YEARS)
    if left is None:
        return "There is no cap: the ledger counts, and limits nothing."
    cost = f"epsilon {format_number(last.epsilon)}, as the last one"
    if not left:
        return f"No release more of {cost} fits the caps."
    if left >= 12 * _YEARS:
        return f"One release a month of {cost} fits for more than {_YEARS} years."
    month = counted[-1].time.year * 12 + counted[-1].time.month - 1 + left
    more = f"{left} more release{'s' if left > 1 else ''} of {cost}"
    return f"{more}, fit: at one a month until {month // 12}-{month % 12 + 1:02d}."


def _meaning(book: Book) -> str:
    """What the deltas add up to."""
    measure, spent = book.measure(), book.accounts()
    if measure is None or not book.entries:
        return ""
    total: Fraction = spent.anybody
    return (
        f"The chance that {WHOEVER[measure.unit]} is exposed by all of them together is at most "
        f"{format_number(total)}."
        if spent.definition == "probabilistic"
        else f"Some of it is indistinguishable only: delta is per person, and all add up to "
        f"{format_number(total)}."
    )
