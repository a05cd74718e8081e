"""Plan a release without data: the protection by a slider, and what it means in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zealous.errors import UsageError
from zealous.ledger import Ledger
from zealous.owner.draft import default_delta, users_to_appear
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.planning.part import forecast
from zealous.planning.part_text import undercount
from zealous.planning.plan import other_guarantee
from zealous.planning.plan_file import write_plan
from zealous.planning.plan_text import claim_text
from zealous.privacy.levels import LEVELS, is_weak, percent, strength, suspicion_after
from zealous.privacy.promise import both_deltas, factor, promise
from zealous.release.charging import charge_of_plan
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.charts import appearance_chart
from zealous.web.choice import (
    CUSTOM,
    GUARANTEES,
    LEAST,
    MOST,
    SYNTHETIC,
    UNITS,
    PlanChoice,
    choice_from,
)
from zealous.web.folders import PLAN_ENDING
from zealous.web.items_to_expect import expected_items, is_counting
from zealous.web.log_reading import (
    COLUMNS,
    DELIMITERS,
    ENCODINGS,
    TIME_FORMATS,
    column_field,
    fingerprint,
    form_in_words,
    taken_for,
)

_OUTLOOK = {
    "nothing": "an item would need more people than there are: nothing will appear",
    "next to nothing": "expect next to nothing, unless an item is common to very many people",
    "only the most frequent": "expect the most frequent items only",
    "a table": "expect a table worth publishing",
}


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def plan(request: Request) -> Response:
        asked = request.query_params
        choice = choice_from(bench, asked, asked.getlist("kind"))
        result = _result(bench, choice)
        if asked.get("part") == "result":  # while a slider moves
            return bench.page(request, "plan_result", choice=choice, **result)
        return bench.page(request, "plan", **_page(bench, choice), **result)

    def write(request: Request) -> Response:
        form = form_of(request)
        choice = choice_from(bench, form, request.state.form.get("kind", []))
        dataset = _book(bench, choice).dataset if choice.ledger else None
        folder = bench.folders.name_of(bench.folders.path(choice.log).parent) if choice.log else ""
        planned = choice.bound_plan(dataset)
        name = form.get("name", "").strip().removesuffix(PLAN_ENDING) + PLAN_ENDING
        target = bench.folders.new_path(folder, name)
        write_plan(planned, target)
        choice.reading.write_beside(target)
        return see_other("/approve", plan=bench.folders.name_of(target))

    return [Route("/plan", plan), Route("/plan", write, methods=["POST"])]


def _page(bench: Bench, choice: PlanChoice) -> dict[str, Any]:
    """What the controls show."""
    found = bench.folders.look()
    return {
        "title": "Plan",
        "choice": choice,
        "logs": found.logs,
        "ledgers": found.ledgers,
        "releases": found.releases,
        "synthetic": SYNTHETIC,
        "levels": {**{name: float(e) for name, e in LEVELS.items()}, CUSTOM: None},
        "units": UNITS,
        "guarantees": GUARANTEES,
        "sources": PARAMETERS_FROM,
        **_log_fields(choice),
        "least": float(LEAST),
        "most": float(MOST),
    }


def _log_fields(choice: PlanChoice) -> dict[str, Any]:
    """What can be said of how the log is read, and what was found."""
    found, log = choice.found, choice.log or ""
    columns = found.format.columns if found else ()
    roles = {role: found.column(role) if found else None for role in COLUMNS}
    if found and not found.format.lists:
        del roles["keywords"]
    offered = next((each.name for each in choice.kinds if each.chosen), "").partition(":")[2]
    if not roles["item"] and offered in columns and not choice.problem:
        roles["item"] = offered
    form = found.format.time_formats.get(roles["time"] or "") if found else None
    return {
        "columns": {name: column_field(name) for name in columns},
        "roles": {role: (COLUMNS[role], column) for role, column in roles.items()},
        "columns_of": fingerprint(columns, log),
        "taken_for": {each.column: taken_for(each, found) for each in found.guesses}
        if found
        else {},
        "delimiters": DELIMITERS,
        "encodings": ENCODINGS,
        "time_formats": {form: form_in_words(form) for form in TIME_FORMATS},
        "found_time": form_in_words(form) if form else None,
        "possible_units": found.units() if found else list(UNITS),
    }


def _result(bench: Bench, choice: PlanChoice) -> dict[str, Any]:
    """What the choice means; computed anew while a slider moves, from public figures alone."""
    planned, epsilon = choice.plan(), choice.goal.epsilon
    book = _book(bench, choice) if choice.ledger else None
    dataset, output = (book.dataset if book else None), f"release{PLAN_ENDING}"
    after = book.standing(charge_of_plan(planned)) if book else None
    return {
        "planned": planned,
        "promise": promise(choice.goal),
        "deltas": both_deltas(choice.goal, other_guarantee(planned)),
        "claim": claim_text(planned, other_guarantee(planned)),
        "suspicion": percent(suspicion_after(epsilon)),
        "strength": strength(epsilon),
        "weak": is_weak(epsilon),
        "factor": factor(float(epsilon)),
        "outlooks": [(each, _OUTLOOK[each.outlook]) for each in choice.draft.by_kind()],
        "expected": expected_items(bench, choice),
        "counting": is_counting(bench, choice),
        "noise": {part.name(): forecast(part).error_95 for part in planned.parts},
        "of_more_people": _of_more_people(choice),
        "undercount": undercount([*choice.items.values()], choice.goal.unit),
        "chart": appearance_chart(
            {part.name(): part.mechanism.publication_probability for part in planned.parts},
            max(forecast(part).users_to_appear.high for part in planned.parts),
            choice.goal.units(),
        ),
        "before": book.standing() if book else None,
        "after": after,
        "dataset": dataset,
        "command": choice.command(dataset, output),
        "python": choice.python(dataset, output),
    }


def _of_more_people(choice: PlanChoice) -> tuple[int, int] | None:
    """Ten times as many people, and how many of them an item would then need."""
    goal, more = choice.goal, 10 * (choice.goal.users or 0)
    delta = default_delta(goal.definition, more) if choice.usual_delta else goal.delta
    try:
        planned = replace(choice, goal=replace(goal, users=more, delta=delta)).plan()
    except UsageError:  # the delta that was chosen is too large for so many
        return None
    return more, users_to_appear(planned)


def _book(bench: Bench, choice: PlanChoice) -> Any:
    return Ledger.open(bench.folders.path(choice.ledger or "")).book()
