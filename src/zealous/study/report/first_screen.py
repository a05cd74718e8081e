"""What a reader sees first: what to choose, and what is kept against what an attacker gains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from zealous.privacy.guarantee import format_bound
from zealous.privacy.levels import percent
from zealous.study.anonymity import METHODS
from zealous.study.claims.findings import Finding
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES
from zealous.study.grid.result_table import Point, Spread
from zealous.study.report.parts import Axis, Chart, Line, Panel
from zealous.study.report.results_view import ZEALOUS, Entry, ResultsView, is_custom
from zealous.study.report.sheets import kept_share, nearest_top

_KIND = "queries"
_COIN = 50.0  # percent
_ROOM = 1.2  # of epsilon, between two ticks
_NOTE = (
    "The attacker wants to know whether somebody asked a certain query, knows everybody else's and "
    "has accounts of his own; 50% is a coin. For zealous it is the most that any attacker can "
    "reach, except with probability delta; m is how many items of each person count. The anonymity "
    "methods are undone every time by as many accounts as make k: docs/study/attacks.md has the "
    "attacks."
)
_SEPARATE = (
    "Queries, the cache's keywords and the query pairs of substitutions are separate histograms: "
    "in a release that has several of them, their epsilons add up."
)
_CHOSEN_EPSILON = 2  # of the advice; the paper's 5 promises little
_USEFUL, _SOME = 0.05, 0.005  # of the top queries: less is a short list, or none


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
        if is_custom(method):
            continue
        shown = (
            [Entry(method=method, epsilon=e, m=1) for e in view.values_tried("epsilon", method)]
            if method == ZEALOUS
            else [view.nearest_entry(method, epsilon=_CHOSEN_EPSILON)]
        )
        points = [
            Point(100 * guess, _percent(kept))
            for entry in shown
            if (guess := best_guess(entry)) is not None
            and (kept := kept_share(view, _KIND, entry, top)) is not None
        ]
        label = f"{ZEALOUS}, {_range_text(shown)}" if method == ZEALOUS else str(shown[0])
        if points:
            lines.append(Line(label=label, points=points, look=view.look(method)))
    axis = Axis(
        "chance that an attacker guesses right, %\nin brackets: epsilon",
        names=_tick_names(view),
        percent=True,
    )
    return Chart(
        name="tradeoff",
        title="What is kept, and how well an attacker guesses: up is more useful, left is safer",
        rows=[[Panel(title="", x=axis, y=f"top {top:,.0f} queries kept, %", lines=lines)]],
        y=("linear",),
    )


def _tick_names(view: ResultsView) -> tuple[tuple[float, str], ...]:
    """A coin, certainty, and between them the epsilons that have room: those of the text first."""
    tried = view.values_tried("epsilon", ZEALOUS)
    chosen: list[float] = []
    for epsilon in sorted(tried, key=lambda each: each not in (_CHOSEN_EPSILON, view.epsilon)):
        if epsilon > _ROOM and all(abs(epsilon - each) >= _ROOM for each in chosen):
            chosen.append(epsilon)
    found = [(_COIN, "50\ncoin")]
    for epsilon in sorted(chosen):
        guess = best_guess(Entry(method=ZEALOUS, epsilon=epsilon)) or 0
        digits = 3 if guess < 0.99 else 4 if guess < 0.9999 else 5
        found.append((100 * guess, f"{format_bound(100 * guess, digits)}\n({epsilon:g})"))
    return (*found, (100.0, "100"))


def note(view: ResultsView) -> str:
    """How to read the chart, and which methods it lacks."""
    drawn = {line.label.partition(",")[0] for row in tradeoff(view).rows for line in row[0].lines}
    absent = [method for method in view.methods if method not in drawn]
    if not absent:
        return _NOTE
    return (
        f"{_NOTE} Not in the chart, since no queries of theirs were measured or nothing is known "
        f"of an attacker: {', '.join(absent)}."
    )


def _percent(share: Spread) -> Spread:
    return share._replace(mean=100 * share.mean, low=100 * share.low, high=100 * share.high)


def _range_text(entries: Sequence[Entry]) -> str:
    values = [entry.epsilon for entry in entries if entry.epsilon is not None]
    return f"epsilon = {values[0]:g} to {values[-1]:g}" if values else ""


def sentences(view: ResultsView) -> list[str]:
    """Which method to choose, why not the other, and what it costs; those that can be said."""
    return [*_choice(view), *_alternative(view), *_cost(view)]


def _choice(view: ResultsView) -> Iterator[str]:
    top = nearest_top(view)
    ours = view.nearest_entry(ZEALOUS, epsilon=_CHOSEN_EPSILON)
    kept = kept_share(view, _KIND, ours, top)
    if kept is None:
        return
    advice = (
        "Choose zealous"
        if kept.mean >= _USEFUL
        else "Choose zealous, and expect a short list from so few users"
        if kept.mean >= _SOME
        else "Publish no queries of this log, which has too few users for zealous"
    )
    yield (
        f"{advice}: with epsilon = {ours.epsilon:g} and m = {ours.m:g} it keeps {kept.mean:.0%} of "
        f"the {top:,.0f} most frequent queries, and whoever guesses from this histogram whether a "
        f"person asked something is right at most {percent(best_guess(ours) or 0)} of the time "
        "(a coin: 50 %), except with probability delta."
    )


def _alternative(view: ResultsView) -> Iterator[str]:
    theirs = view.nearest_entry("k-query")
    kept = kept_share(view, _KIND, theirs, nearest_top(view))
    if kept is not None:
        yield (
            f"k-query is no safe alternative: with k = {theirs.k:g} it keeps {kept.mean:.0%}, and "
            f"an attacker with {(theirs.k or 1) - 1:g} accounts of his own is right every time."
        )


def _cost(view: ResultsView) -> Iterator[str]:
    top, ours = nearest_top(view), view.nearest_entry(ZEALOUS)
    less = view.nearest_entry(ZEALOUS, epsilon=_CHOSEN_EPSILON)
    more_kept, kept = kept_share(view, _KIND, ours, top), kept_share(view, _KIND, less, top)
    told, start = list(_applications(view, ours)), "With"
    if more_kept and kept and more_kept.mean > kept.mean:
        start = "A larger epsilon keeps more and protects less: with"
        share = percent(best_guess(ours) or 0)
        told.insert(0, f"keeps {more_kept.mean:.0%} (a guess is right at most {share} of the time)")
    if told:
        yield (f"{start} epsilon = {ours.epsilon:g} zealous {'; it '.join(told)}. {_SEPARATE}")


def _applications(view: ResultsView, ours: Entry) -> Iterator[str]:
    """What a release is good for, beside k-query."""
    theirs = view.nearest_entry("k-query")
    for name, measure, kind, at in (
        ("answers {} of the keywords from a cache", "hit-probability", "keywords", None),
        ("has substitutions for {} of the queries", "coverage", "query-pairs", 5),
    ):
        one, other = (
            view.value(measure, kind, ours, at=at),
            view.value(measure, kind, theirs, at=at),
        )
        if one is not None and other is not None:
            yield f"{name.format(f'{one.mean:.0%}')} (k-query {other.mean:.0%})"


def tally(findings: Sequence[Finding]) -> str:
    """How many findings of the paper this log shows; nothing where none was judged."""
    if not findings:
        return ""
    found = Counter(each.holds for each in findings)
    unknown = f", and for {found[None]} this log has too little data" if found[None] else ""
    return f"{found[True]} of {len(findings)} are as in the paper, {found[False]} differ{unknown}."
