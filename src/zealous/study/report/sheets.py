"""The tables of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from zealous.release.text.statement import factor
from zealous.study.anonymity import METHODS
from zealous.study.report.parts import Cell, Sheet
from zealous.study.report.results_view import ORIGINAL, PHRASES, ZEALOUS, Asked, Entry, words
from zealous.study.theory.tables import Table

_TOP = 1_000
_SUGGESTED = 5


def hurry(asked: Asked, promises: Mapping[Entry, str]) -> Sheet:
    """Which method keeps what, at which guarantee."""
    pairs = "query-pairs"
    top = _nearest_top(asked)
    headings = [
        "method",
        "what it promises",
        *(f"{words(kind)} kept" for kind in asked.kinds),
        f"share of top {top:,.0f} queries kept",
        "average difference, queries",
        "hit probability",
        f"substitution: coverage, top {_SUGGESTED}",
        f"its precision, top {_SUGGESTED}",
    ]
    rows = []
    for entry in promises:
        lost = asked.value("missing-share", "queries", entry, at=top)
        differs = asked.value("average-difference", "queries", entry)
        rows.append(
            [
                str(entry),
                promises[entry],
                *(asked.value("distinct", kind, entry) for kind in asked.kinds),
                None if lost is None else _rest(lost),
                differs if asked.published("queries", entry) else None,
                asked.value("hit-probability", "keywords", entry),
                asked.value("coverage", pairs, entry, at=_SUGGESTED),
                asked.value("precision", pairs, entry, at=_SUGGESTED),
            ]
        )
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    return Sheet(
        name="in-a-hurry",
        title="Which method keeps what, at which guarantee",
        headings=[headings[place] for place in kept],
        rows=[[row[place] for place in kept] for row in rows],
        texts=2,
    )


def _nearest_top(asked: Asked) -> float:
    """The j of top-j next to 1,000 that was measured."""
    points = asked.results.curve("missing-share", "queries", ZEALOUS, over="at")
    return min((p.x for p in points), key=lambda j: abs(j - _TOP), default=_TOP)


def _rest(share: Any) -> Any:
    """What is kept, where this is missing."""
    return share._replace(mean=1 - share.mean, low=1 - share.high, high=1 - share.low)


def promise(
    entry: Entry,
    delta: float,
    audits: Sequence[Mapping[str, Any]],
    own: Mapping[str, str] | None = None,
) -> str:
    """What a method promises, in words; `own` is what somebody says of their own methods."""
    if entry.method == ORIGINAL:
        return "nothing: the log as it is"
    if entry.method == ZEALOUS and entry.epsilon is not None:
        return (
            f"odds about anybody move at most {factor(entry.epsilon)}-fold, for each histogram; "
            f"fails for somebody with chance {delta:g}"
        )
    if entry.method in METHODS:
        return _with_k(METHODS[entry.method].promises.partition(", and ")[0], entry)
    if audit := _audit(entry, audits):
        outcome = "REFUTED by the audit" if audit["failures"] else "nothing found against it"
        claim = f"epsilon = {audit['epsilon']:g}, delta = {audit['delta']:g}"
        return f"its own claim: {claim}; {outcome}"
    if own and entry.method in own:
        return f"its own claim, not audited: {_with_k(own[entry.method], entry)}"
    if entry.epsilon is not None:
        return f"its own claim, not audited: epsilon = {entry.epsilon:g}"
    return "a method of your own: nothing was claimed or audited"


def _with_k(said: str, entry: Entry) -> str:
    """A sentence about k, with the number."""
    said = said.strip().removesuffix(".")
    if entry.k is None:
        return said
    return re.sub(r"\bk\b", f"{entry.k:g}", said.replace("k - 1", f"{entry.k - 1:g}"))


def _audit(entry: Entry, audits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """That of the method at this setting; a refutation, where several could be meant."""
    found = [
        audit
        for audit in audits
        if audit["method"] == entry.method
        and audit["epsilon"] == entry.epsilon
        and audit.get("m", entry.m) == entry.m
    ]
    return min(found, key=lambda audit: not audit["failures"], default=None)


def analytic(table: Table) -> Sheet:
    """A table of the theory."""
    headings = list(table.columns.values())
    return Sheet(
        name=table.name,
        title=table.title,
        headings=headings,
        rows=[list(row) for row in table.rows],
        texts=0,
    )


def thresholds(table: Table, paper: Mapping[Any, float]) -> Sheet:
    """Tau' over tau, with a column of the paper's."""
    sheet = analytic(table)
    return Sheet(
        name=sheet.name,
        title=sheet.title,
        headings=[*sheet.headings, "the paper"],
        rows=[[*row, paper.get(row[0])] for row in sheet.rows],
        texts=0,
    )


def over_m(
    asked: Asked, measure: str, title: str, paper: Mapping[str, Mapping[int, float]]
) -> Sheet:
    """A figure of each kind over m, the paper's beneath."""
    tried = [int(m) for m in asked.tried("m", ZEALOUS)]
    rows: list[Sequence[Cell]] = []
    quiet = set()
    for kind in asked.kinds:
        found = {point.x: point.y for point in asked.over_m(measure, kind, at=None)}
        original = asked.results.value(measure, kind, ORIGINAL)
        rows.append([words(kind), *(found.get(m) for m in tried), original])
        if kind in paper:
            quiet.add(len(rows))
            printed = [paper[kind].get(m) for m in tried]
            rows.append([f"{words(kind)}, the paper", *printed, None])
    headings = ["", *(f"m = {m}" for m in tried), "original"]
    return Sheet(
        name=f"{measure}-over-m", title=title, headings=headings, rows=rows, quiet=frozenset(quiet)
    )


def average_items(asked: Asked, paper: Mapping[str, float]) -> Sheet:
    """How many items a user has."""
    rows = [
        [
            words(kind),
            *(
                asked.results.value(measure, kind, ORIGINAL)
                for measure in ("average-items", "average-distinct-items")
            ),
            paper.get(kind),
        ]
        for kind in asked.kinds
    ]
    headings = ["", "items a user", "distinct items a user", "the paper"]
    return Sheet(name="average-items", title="Average items a user", headings=headings, rows=rows)


def accuracy(asked: Asked) -> Sheet:
    """Exact beside simulated, at xi = 0 where each item counts."""
    measures = [
        f"inaccuracy-{half}{suffix}" for half in ("retain", "filter") for suffix in ("-exact", "")
    ]
    rows = []
    for kind in asked.kinds:
        for m in asked.some_m():
            entry = Entry(method=ZEALOUS, epsilon=asked.epsilon, m=m)
            found = [asked.value(measure, kind, entry, at=0) for measure in measures]
            if any(found):
                rows.append([words(kind), m, *found])
    headings = [
        "",
        "m",
        "frequent items missing, exact",
        "simulated",
        "infrequent items shown, exact",
        "simulated",
    ]
    title = f"Without slack (xi = 0), at epsilon = {asked.epsilon:g}"
    return Sheet(name="accuracy-without-slack", title=title, headings=headings, rows=rows)


def regained(asked: Asked) -> Sheet:
    """What is released of pairs, and for how many queries it is enough."""
    kinds = [kind for kind in ("query-pairs", PHRASES) if kind in asked.kinds]
    rows = []
    for epsilon in asked.tried("epsilon", ZEALOUS):
        entry = Entry(method=ZEALOUS, epsilon=epsilon, m=asked.nearest("m", 1, ZEALOUS))
        rows.append(
            [
                f"{epsilon:g}",
                *(asked.value("distinct", kind, entry) for kind in kinds),
                *(asked.value("coverage", kind, entry, at=_SUGGESTED) for kind in kinds),
            ]
        )
    names = [words(kind) for kind in kinds]
    headings = [
        "epsilon",
        *(f"{name} released" for name in names),
        *(f"coverage by {name}, top {_SUGGESTED}" for name in names),
    ]
    return Sheet(
        name="phrase-pairs-coverage",
        title="Coverage regained at the same guarantee",
        headings=headings,
        rows=rows,
    )


def own(asked: Asked, measures: Sequence[str]) -> Sheet:
    """Measures of one's own, for each method."""
    columns = [
        (measure, kind)
        for measure in measures
        for kind in asked.kinds
        if any(asked.value(measure, kind, entry) for entry in asked.entries())
    ]
    rows = [
        [str(entry), *(asked.value(measure, kind, entry) for measure, kind in columns)]
        for entry in asked.entries()
    ]
    headings = ["method", *(f"{measure}, {words(kind)}" for measure, kind in columns)]
    return Sheet(
        name="own-measures",
        title="Your own measures",
        headings=headings,
        rows=rows if columns else [],
    )


def audits(found: Sequence[Mapping[str, Any]]) -> Sheet:
    """What was claimed of methods of one's own, and what was proven against it."""
    rows = [
        [
            str(Entry(method=each["method"], m=each.get("m"))),
            each["epsilon"],
            each["delta"],
            each["proven"],
            each["seen_from"],
            "; ".join(["REFUTED", *each["failures"]])
            if each["failures"]
            else "nothing found against it",
        ]
        for each in found
    ]
    headings = [
        "method",
        "epsilon claimed",
        "delta claimed",
        "epsilon is at least",
        "seen from epsilon",
        "outcome",
    ]
    return Sheet(name="audit", title="The audit of your own methods", headings=headings, rows=rows)
