"""The tables of docs/reference/audit.md and the figures of the audit that they are from.

`python tools/audited.py` audits this version and writes both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from zealous.audit.audit import Audit
from zealous.audit.measurement import Measurement

DOCS = Path(__file__).parents[1] / "docs" / "reference"
PAGE = DOCS / "audit.md"
FIGURES = DOCS / "audit.json"
_NUMBERS = ("epsilon", "delta")
START, END = "<!-- from audit.json; tests/release/test_audited.py compares -->", "<!-- end -->"


def figures_of(found: Audit) -> str:
    """What audit.json holds: each pair, what is claimed of it and what was found."""
    pairs = [_pair(each) for each in found.measurements]
    return json.dumps({"runs": found.trials, "pairs": pairs}, indent=1) + "\n"


def _pair(each: Measurement) -> dict[str, Any]:
    return {
        "plan": each.setting,
        "logs": each.pair,
        "epsilon": _rounded(each.claim.epsilon, each.epsilon, each.detectable_epsilon),
        "delta": _rounded(each.claim.delta, each.delta, each.detectable_delta),
    }


def _rounded(*values: float | None) -> list[float | None]:
    return [None if value is None else float(f"{value:.4g}") for value in values]


def with_tables(page: str, figures: dict[str, Any]) -> str:
    """The page with the tables of these figures: of each plan the pair that proves most."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    tables = (_table(figures["pairs"], *numbers) for numbers in (_NUMBERS, _NUMBERS[::-1]))
    return "\n\n".join([before + START, *tables, END]) + after


def _table(pairs: Iterable[dict[str, Any]], number: str, other: str) -> str:
    heads = ["plan", "neighbouring logs", f"claimed {number}", "proven", "detectable from"]
    lines = [f"| {' | '.join([*heads, f'claimed {other}'])} |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(_row(each, number, other) for each in _best(pairs, number))])


def _best(pairs: Iterable[dict[str, Any]], number: str) -> Iterable[dict[str, Any]]:
    """Of each plan the pair of logs that proves the largest part of what is claimed."""
    for _, of_plan in groupby(pairs, key=lambda each: each["plan"]):
        tested = [each for each in of_plan if each[number][1] and each[number][2] is not None]
        if tested:
            yield max(tested, key=lambda each: each[number][1] / each[number][0])


def _row(each: dict[str, Any], number: str, other: str) -> str:
    claimed, proven, detectable = each[number]
    cells = [each["plan"], each["logs"], f"{claimed:g}", f"{proven:.3g}", f"{detectable:.3g}"]
    return f"| {' | '.join([*cells, f'{each[other][0]:.3g}'])} |"


def write(found: Audit) -> None:
    """Write the figures and the page."""
    FIGURES.write_text(figures_of(found))
    PAGE.write_text(with_tables(PAGE.read_text(), json.loads(FIGURES.read_text())))
