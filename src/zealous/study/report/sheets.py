"""The tables of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from zealous.mechanisms import Zealous
from zealous.privacy.guarantee import ProbabilisticDP, format_bound
from zealous.privacy.promise import factor
from zealous.study.anonymity import METHODS
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES, PROMISES
from zealous.study.grid.result_table import Spread
from zealous.study.report.parts import Cell, Sheet
from zealous.study.report.results_view import (
    ORIGINAL,
    PHRASES,
    ZEALOUS,
    Entry,
    ResultsView,
    kind_label,
)
from zealous.study.theory.theory_table import Table

_TOP = 1_000
_SUGGESTED = 5


def summary(view: ResultsView, promises: Mapping[Entry, str]) -> Sheet:
    """What each method promises and what it keeps."""
    pairs = "query-pairs"
    top = nearest_top(view)
    headings = [
        "method",
        "promise",
        *(f"{kind_label(kind)} kept" for kind in view.kinds),
        f"share of top {top:,.0f} queries kept",
        "average difference of queries",
        "hit probability",
        f"substitution coverage, top {_SUGGESTED}",
        f"substitution precision, top {_SUGGESTED}",
    ]
    rows = []
    for entry in promises:
        differs = view.value("average-difference", "queries", entry)
        rows.append(
            [
                str(entry),
                promises[entry],
                *(view.value("distinct", kind, entry) for kind in view.kinds),
                kept_share(view, "queries", entry, top),
                differs if view.publishes_something("queries", entry) else None,
                view.value("hit-probability", "keywords", entry),
                view.value("coverage", pairs, entry, at=_SUGGESTED),
                view.value("precision", pairs, entry, at=_SUGGESTED),
            ]
        )
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    return Sheet(
        name="summary",
        title="What each method promises and what it keeps",
        headings=[headings[place] for place in kept],
        rows=[[row[place] for place in kept] for row in rows],
        text_columns=2,
    )


def nearest_top(view: ResultsView) -> float:
    """The j of top-j nearest to 1,000 that was measured."""
    points = view.results.curve("missing-share", "queries", ZEALOUS, over="at")
    return min((p.x for p in points), key=lambda j: abs(j - _TOP), default=_TOP)


def kept_share(view: ResultsView, kind: str, entry: Entry, top: float) -> Spread | None:
    """The share of the original's top j items that a release holds."""
    lost = view.value("missing-share", kind, entry, at=top)
    if lost is None:
        return None
    return lost._replace(mean=1 - lost.mean, low=1 - lost.high, high=1 - lost.low)


def promise_text(
    entry: Entry,
    delta: float,
    audits: Sequence[Mapping[str, Any]],
    claims: Mapping[str, str] | None = None,
    people: int = 0,
) -> str:
    """What a method promises; `claims` has what the authors of custom methods say, by name."""
    if entry.method == ORIGINAL:
        return "nothing: the original log"
    if entry.method == ZEALOUS and entry.epsilon is not None:
        return (
            f"each histogram changes the odds about anybody at most {factor(entry.epsilon)}-fold, "
            f"except with probability {format_bound(delta)}{_weaker_text(entry, delta, people)}"
        )
    if entry.method in OTHER_GUARANTEES and entry.epsilon is not None:
        per_person = f", {format_bound(Fraction(str(delta)) / people, 2)}" if people else ""
        epsilon = format_bound(entry.epsilon)
        return f"{PROMISES[entry.method]}: ({epsilon}{per_person})-indistinguishability"
    if entry.method in METHODS:
        return _fill_in_k(METHODS[entry.method].promises.partition(", and ")[0], entry)
    if audit := _find_audit(entry, audits):
        outcome = "REFUTED by the audit" if audit["failures"] else "not refuted by the audit"
        claim = f"epsilon = {audit['epsilon']:g}, delta = {audit['delta']:g}"
        return f"claimed: {claim}; {outcome}"
    if claims and entry.method in claims:
        return f"claimed, not audited: {_fill_in_k(claims[entry.method], entry)}"
    if entry.epsilon is not None:
        return f"claimed, not audited: epsilon = {entry.epsilon:g}"
    return "nothing claimed, nothing audited"


def _weaker_text(entry: Entry, delta: float, people: int) -> str:
    """The (epsilon', delta')-indistinguishability that ZEALOUS gives with the same parameters."""
    if not people or entry.m is None:
        return ""
    goal = ProbabilisticDP(epsilon=str(entry.epsilon), delta=str(delta), users=people)
    found = Zealous.calibrate(goal, int(entry.m)).other_guarantee(goal)
    if found is None:
        return ""
    both = format_bound(found.epsilon), format_bound(found.delta, 2)
    return f"; so ({', '.join(both)})-indistinguishable"


def _fill_in_k(said: str, entry: Entry) -> str:
    """A sentence about k with the number in place of k."""
    said = said.strip().removesuffix(".")
    if entry.k is None:
        return said
    return re.sub(r"\bk\b", f"{entry.k:g}", said.replace("k - 1", f"{entry.k - 1:g}"))


def _find_audit(entry: Entry, audits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The audit of a method at this setting; a refutation, where several match."""
    found = [
        audit
        for audit in audits
        if audit["method"] == entry.method
        and audit["epsilon"] == entry.epsilon
        and audit.get("m", entry.m) == entry.m
    ]
    return min(found, key=lambda audit: not audit["failures"], default=None)


def theory_table(table: Table) -> Sheet:
    """A table of the theory."""
    headings = list(table.columns.values())
    return Sheet(
        name=table.name,
        title=table.title,
        headings=headings,
        rows=[list(row) for row in table.rows],
        text_columns=0,
        bounds=frozenset(
            place for place, name in enumerate(table.columns) if name.startswith("delta")
        ),
    )


def thresholds(table: Table, paper: Mapping[Any, float]) -> Sheet:
    """The second threshold by the first, with a column of the paper's values."""
    sheet = theory_table(table)
    return Sheet(
        name=sheet.name,
        title=sheet.title,
        headings=[*sheet.headings, "paper"],
        rows=[[*row, paper.get(row[0])] for row in sheet.rows],
        text_columns=0,
    )


def over_m(
    view: ResultsView, measure: str, title: str, paper: Mapping[str, Mapping[int, float]]
) -> Sheet:
    """A measure of each kind by m, with the paper's values below."""
    tried = [int(m) for m in view.values_tried("m", ZEALOUS)]
    rows: list[Sequence[Cell]] = []
    paper_rows = set()
    for kind in view.kinds:
        found = {point.x: point.y for point in view.over_m(measure, kind, at=None)}
        original = view.results.value(measure, kind, ORIGINAL)
        rows.append([kind_label(kind), *(found.get(m) for m in tried), original])
        if kind in paper:
            paper_rows.add(len(rows))
            printed = [paper[kind].get(m) for m in tried]
            rows.append([f"{kind_label(kind)}, paper", *printed, None])
    headings = ["", *(f"m = {m}" for m in tried), "original"]
    return Sheet(
        name=f"{measure}-over-m",
        title=title,
        headings=headings,
        rows=rows,
        paper_rows=frozenset(paper_rows),
    )


def average_items(view: ResultsView, paper: Mapping[str, float]) -> Sheet:
    """The average number of items per user."""
    rows = [
        [
            kind_label(kind),
            *(
                view.results.value(measure, kind, ORIGINAL)
                for measure in ("average-items", "average-distinct-items")
            ),
            paper.get(kind),
        ]
        for kind in view.kinds
    ]
    headings = ["", "items per user", "distinct items per user", "paper"]
    return Sheet(name="average-items", title="Average items per user", headings=headings, rows=rows)


def accuracy(view: ResultsView) -> Sheet:
    """Exact and simulated inaccuracy at xi = 0, where every item counts."""
    measures = [
        f"inaccuracy-{half}{suffix}" for half in ("retain", "filter") for suffix in ("-exact", "")
    ]
    rows = []
    for kind in view.kinds:
        for m in view.selected_m():
            entry = Entry(method=ZEALOUS, epsilon=view.epsilon, m=m)
            found = [view.value(measure, kind, entry, at=0) for measure in measures]
            if any(found):
                rows.append([kind_label(kind), m, *found])
    headings = [
        "",
        "m",
        "frequent items missing, exact",
        "simulated",
        "infrequent items shown, exact",
        "simulated",
    ]
    title = f"Without slack (xi = 0), at epsilon = {view.epsilon:g}"
    return Sheet(name="accuracy-without-slack", title=title, headings=headings, rows=rows)


def phrase_pair_coverage(view: ResultsView) -> Sheet:
    """Query pairs and phrase pairs released, and the coverage by each."""
    kinds = [kind for kind in ("query-pairs", PHRASES) if kind in view.kinds]
    rows = []
    for epsilon in view.values_tried("epsilon", ZEALOUS):
        entry = Entry(method=ZEALOUS, epsilon=epsilon, m=view.nearest_tried("m", 1, ZEALOUS))
        rows.append(
            [
                f"{epsilon:g}",
                *(view.value("distinct", kind, entry) for kind in kinds),
                *(view.value("coverage", kind, entry, at=_SUGGESTED) for kind in kinds),
            ]
        )
    names = [kind_label(kind) for kind in kinds]
    headings = [
        "epsilon",
        *(f"{name} released" for name in names),
        *(f"coverage by {name}, top {_SUGGESTED}" for name in names),
    ]
    return Sheet(
        name="phrase-pairs-coverage",
        title="Coverage at the same guarantee",
        headings=headings,
        rows=rows,
    )


def custom_measures(view: ResultsView, measures: Sequence[str]) -> Sheet:
    """Custom measures, for each method."""
    columns = [
        (measure, kind)
        for measure in measures
        for kind in view.kinds
        if any(view.value(measure, kind, entry) for entry in view.compared_entries())
    ]
    rows = [
        [str(entry), *(view.value(measure, kind, entry) for measure, kind in columns)]
        for entry in view.compared_entries()
    ]
    headings = ["method", *(f"{measure}, {kind_label(kind)}" for measure, kind in columns)]
    return Sheet(
        name="own-measures",
        title="Your measures",
        headings=headings,
        rows=rows if columns else [],
    )


def audits(found: Sequence[Mapping[str, Any]]) -> Sheet:
    """The guarantees that custom methods claim, and what the audit found."""
    rows = [
        [
            str(Entry(method=each["method"], m=each.get("m"))),
            each["epsilon"],
            each["delta"],
            each["proven"],
            each["seen_from"],
            "; ".join(["REFUTED", *each["failures"]]) if each["failures"] else "not refuted",
        ]
        for each in found
    ]
    headings = [
        "method",
        "claimed epsilon",
        "claimed delta",
        "epsilon is at least",
        "smallest epsilon detectable",
        "outcome",
    ]
    return Sheet(name="audit", title="Audit of your methods", headings=headings, rows=rows)
