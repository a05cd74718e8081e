"""What a reader sees first: three sentences, and what is kept against what an attacker gains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from zealous.study.anonymity import METHODS
from zealous.study.claims.findings import Finding
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES
from zealous.study.grid.result_table import Point, Spread
from zealous.study.report.parts import Axis, Chart, Line, Panel
from zealous.study.report.results_view import ZEALOUS, Entry, ResultsView, is_custom
from zealous.study.report.sheets import kept_share, nearest_top

_KIND = "queries"
_GUESS = Axis("chance that an attacker with accounts of her own guesses right, %")
NOTE = (
    "The attacker wants to know whether somebody asked a certain query, knows everybody else's and "
    "has accounts of her own; 50 % is a coin. For zealous it is the most that any attacker can "
    "reach, except with probability delta. The anonymity methods are undone every time by as many "
    "accounts as make k: docs/study/attacks.md has the attacks."
)
_CHOSEN_EPSILON = 2  # of the advice; the paper's 5 promises little
_USEFUL = 0.05  # of the top queries: with less there is nothing to recommend


def best_guess(entry: Entry) -> float | None:
    """The share of right guesses of an attacker who would guess right half of the time.

    None for methods of which nothing is known.

    >>> best_guess(Entry(method="zealous", epsilon=0.0)), best_guess(Entry(method="k-query", k=5))
    (0.5, 1.0)
    """
    if entry.method in (ZEALOUS, *OTHER_GUARANTEES) and entry.epsilon is not None:
        return 1 / (1 + math.exp(-entry.epsilon))
    return 1.0 if entry.method in METHODS else None


def tradeoff(view: ResultsView) -> Chart:
    """A point for each method and setting: what is kept, and how well an attacker guesses."""
    top = nearest_top(view)
    lines = []
    for method in view.methods:
        if is_custom(method) or method in OTHER_GUARANTEES:
            continue
        shown = (
            [Entry(method=method, epsilon=e, m=1) for e in view.values_tried("epsilon", method)]
            if method == ZEALOUS
            else [view.nearest_entry(method)]
        )
        points = [
            Point(100 * guess, _percent(kept))
            for entry in shown
            if (guess := best_guess(entry)) is not None
            and (kept := kept_share(view, _KIND, entry, top)) is not None
        ]
        label = f"{ZEALOUS}, {_range_text(shown)}" if method == ZEALOUS else str(shown[0])
        lines.append(Line(label=label, points=points, look=view.look(method)))
    return Chart(
        name="tradeoff",
        title="What is kept, and how well an attacker guesses: up is more useful, left is safer",
        rows=[[Panel(title="", x=_GUESS, y=f"top {top:,.0f} queries kept, %", lines=lines)]],
        y=("linear",),
    )


def _percent(share: Spread) -> Spread:
    return share._replace(mean=100 * share.mean, low=100 * share.low, high=100 * share.high)


def _range_text(entries: Sequence[Entry]) -> str:
    values = [entry.epsilon for entry in entries if entry.epsilon is not None]
    return f"epsilon = {values[0]:g} to {values[-1]:g}" if values else ""


def sentences(view: ResultsView, findings: Sequence[Finding]) -> list[str]:
    """Which method to choose, what it costs, and how the paper fares; those that can be said."""
    return [*_choice(view), *_cost(view), *_verdicts(findings)]


def _choice(view: ResultsView) -> Iterator[str]:
    top = nearest_top(view)
    ours, theirs = (
        view.nearest_entry(ZEALOUS, epsilon=_CHOSEN_EPSILON),
        view.nearest_entry("k-query"),
    )
    kept = kept_share(view, _KIND, ours, top)
    if kept is None:
        return
    said = (
        "Choose zealous with m = 1 and a small epsilon"
        if kept.mean >= _USEFUL
        else "This log has too few users for zealous at a small epsilon"
    )
    said += f": {_kept_text(view, ours, top)} whether somebody asked something"
    other = view.nearest_entry(ZEALOUS)
    if other != ours and kept_share(view, _KIND, other, top) is not None:
        said += f"; {_kept_text(view, other, top)}"
    anonymous = kept_share(view, _KIND, theirs, top)
    if anonymous is not None:
        said += (
            f". k-query with k = {theirs.k:g} keeps {anonymous.mean:.0%}, and who has "
            f"{(theirs.k or 1) - 1:g} accounts guesses right every time"
        )
    yield f"{said}."


def _kept_text(view: ResultsView, entry: Entry, top: float) -> str:
    kept, guess = kept_share(view, _KIND, entry, top), best_guess(entry)
    share = "nothing" if kept is None else f"{kept.mean:.0%}"
    return (
        f"at epsilon = {entry.epsilon:g} it keeps {share} of the {top:,.0f} most frequent queries, "
        f"and nobody guesses better than {_rounded(guess or 0)}"
    )


def _rounded(share: float) -> str:
    """A chance in percent, never 100 % where it is less.

    >>> _rounded(0.731), _rounded(0.99995)
    ('73 %', '99.995 %')
    """
    digits = 0 if share < 0.99 else 1 if share < 0.999 else 3
    return f"{100 * share:.{digits}f} %"


def _cost(view: ResultsView) -> Iterator[str]:
    ours, theirs = view.nearest_entry(ZEALOUS), view.nearest_entry("k-query")
    figures = [
        (name, view.value(measure, kind, ours, at=at), view.value(measure, kind, theirs, at=at))
        for name, measure, kind, at in (
            ("the hit probability of index caching is", "hit-probability", "keywords", None),
            ("query substitution covers", "coverage", "query-pairs", 5),
        )
    ]
    told = [
        f"{name} {one.mean:.0%} against {other.mean:.0%}"
        for name, one, other in figures
        if one is not None and other is not None
    ]
    if told:
        yield (
            f"What needs rare items suffers most: by zealous at epsilon = {ours.epsilon:g} and by "
            f"k-query {' and '.join(told)}."
        )


def _verdicts(findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        found = Counter(each.holds for each in findings)
        yield (
            f"Of {len(findings)} findings of the paper, {found[True]} are as in the paper on this "
            f"log, {found[False]} differ, and for {found[None]} it has too little data."
        )
