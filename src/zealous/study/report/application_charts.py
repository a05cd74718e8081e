"""The charts of the two applications, of accuracy and of custom measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zealous.study.curve_look import Look
from zealous.study.report.parts import Axis, Chart, Line, Panel
from zealous.study.report.results_view import (
    EPSILON,
    PHRASES,
    ZEALOUS,
    Entry,
    K,
    M,
    ResultsView,
    kind_label,
)
from zealous.study.report.statistics_charts import chart_by_guarantee
from zealous.study.report.style import CURVES, LADDER

QUALITY_LABELS = {
    "ndcg": "NDCG",
    "map-printed": "MAP, as printed",
    "precision": "precision",
    "recall": "recall",
    "average-precision": "average precision",
}
CACHING_LABELS = {
    "hit-probability": "hit probability",
    "hit-probability-by-memory": "hits, score by memory",
    "whole-queries": "whole queries in memory",
    "answered-from-memory": "answered from memory",
    "lists": "lists in memory",
}
_TOPS = (2, 5)
_LEAST_WRONG = 0.05  # wrong decisions of a kind: with fewer there is nothing to see
_SECOND_M_LOOK = CURVES[ZEALOUS]._replace(marker="s", stroke="--", hollow=True)
_M_1_LOOK = CURVES[ZEALOUS]._replace(stroke="--", hollow=True)
_PHRASE_PAIRS_LOOK = Look("#E69F00", "X", "-")


def caching(view: ResultsView) -> Chart:
    """Index caching over epsilon, k and m."""
    rows = []
    for measure, label in CACHING_LABELS.items():
        level = view.original_line(measure, "keywords")
        by_one = [
            replace(line, look=_M_1_LOOK)
            for line in view.lines(measure, "keywords", "epsilon", m=1)
            if line.label == f"{ZEALOUS}, m = 1"
        ]
        over_m = view.line(
            f"{ZEALOUS}, epsilon = {view.epsilon:g}",
            LADDER[0],
            measure,
            "keywords",
            Entry(method=ZEALOUS, epsilon=view.epsilon),
            over="m",
        )
        rows.append(
            [
                Panel(
                    title="over epsilon",
                    x=EPSILON,
                    y=label,
                    lines=[*view.lines(measure, "keywords", "epsilon", m=6), *by_one, *level],
                ),
                Panel(
                    title="over k",
                    x=K,
                    y=label,
                    lines=[*view.lines(measure, "keywords", "k"), *level],
                ),
                Panel(title="over m", x=M, y=label, lines=[over_m, *level]),
            ]
        )
    return Chart(
        name="caching",
        title="Index caching over epsilon, k and m",
        rows=rows,
        share="row",
        y=("linear", "linear", "linear", "linear", "auto"),
    )


def substitution(view: ResultsView) -> Chart:
    """Quality of substitutions, top-2 and top-5, over epsilon and k."""
    rows = [
        [
            Panel(
                title=label,
                x=axis,
                y="mean over queries",
                lines=_top_lines(view, measure, "query-pairs", over),
            )
            for measure, label in QUALITY_LABELS.items()
        ]
        for over, axis in (("epsilon", EPSILON), ("k", K))
    ]
    return Chart(
        name="substitution",
        title="Quality of query substitutions",
        rows=rows,
        share="all",
        y=("linear", "linear"),
    )


def coverage(view: ResultsView) -> Chart:
    """The share of queries that have a substitution."""
    label = "share of queries"
    # A query has substitutions or none: the same for the top 2 and the top 5.
    over_epsilon, over_k = (
        view.lines("coverage", "query-pairs", over, m=1, at=_TOPS[0]) for over in ("epsilon", "k")
    )
    second = [
        replace(line, look=_SECOND_M_LOOK)
        for line in view.lines("coverage", "query-pairs", "epsilon", m=6, at=_TOPS[0])
        if line.label == f"{ZEALOUS}, m = 6"
    ]
    over_epsilon = [*over_epsilon[:1], *second, *over_epsilon[1:]]
    return Chart(
        name="coverage",
        title="Coverage of query substitutions",
        rows=[
            [
                Panel(title="over epsilon", x=EPSILON, y=label, lines=over_epsilon),
                Panel(title="over k", x=K, y=label, lines=over_k),
            ]
        ],
        share="row",
    )


def phrase_pairs(view: ResultsView) -> Chart:
    """Substitutions from phrase pairs and from query pairs, at the same guarantee."""
    looks = {"query-pairs": CURVES[ZEALOUS], PHRASES: _PHRASE_PAIRS_LOOK}
    measures = {"coverage": "share of queries", "precision": "precision"}
    return Chart(
        name="phrase-pairs",
        title="Substitutions from phrase pairs and from query pairs",
        rows=[
            [
                Panel(
                    title=measure,
                    x=EPSILON,
                    y=label,
                    lines=[
                        replace(
                            line,
                            label=f"{kind_label(kind)}, {line.label.rpartition(', ')[2]}",
                            look=look._replace(stroke=line.look.stroke, hollow=line.look.hollow),
                        )
                        for kind, look in looks.items()
                        for line in _top_lines(view, measure, kind, "epsilon")
                        if line.label.startswith(f"{ZEALOUS}, m = ")
                    ],
                )
                for measure, label in measures.items()
            ]
        ],
        y=("linear",),
    )


def _top_lines(view: ResultsView, measure: str, kind: str, over: str, *, m: int = 1) -> list[Line]:
    """The curves of all methods, for top-2 with solid lines and for top-5 with dashed ones."""
    found = []
    for j in _TOPS:
        for line in view.lines(measure, kind, over, m=m, at=j):
            look = line.look._replace(stroke="-" if j == _TOPS[0] else "--", hollow=j != _TOPS[0])
            found.append(replace(line, label=f"{line.label}, top {j}", look=look))
    return sorted(found, key=lambda line: line.label.rpartition(",")[0] != f"{ZEALOUS}, m = {m}")


def accuracy(view: ResultsView) -> Chart:
    """The expected number of wrong decisions and the number counted in releases."""
    halves = {"retain": "frequent items missing", "filter": "infrequent items shown"}
    axis = Axis("xi, slack in users", log=True, zero=True)
    columns = []
    for kind in view.kinds:
        column = [
            Panel(
                title=kind_label(kind),
                x=axis,
                y=label,
                lines=[
                    line
                    for place, m in enumerate(view.selected_m())
                    for line in _exact_and_simulated(view, half, kind, m, LADDER[2 * place])
                ],
            )
            for half, label in halves.items()
        ]
        points = [point for panel in column for line in panel.lines for point in line.points]
        if any(point.y.high >= _LEAST_WRONG for point in points):
            columns.append(column)
    return Chart(
        name="accuracy",
        title="Inaccuracy: exact and simulated",
        rows=list(zip(*columns, strict=True)),
        y=("symlog", "symlog"),
    )


def _exact_and_simulated(
    view: ResultsView, half: str, kind: str, m: float, look: Look
) -> Sequence[Line]:
    entry = Entry(method=ZEALOUS, epsilon=view.epsilon, m=m)
    solid, hollow = look._replace(marker="", stroke="-"), look._replace(stroke="none", hollow=True)
    measure = f"inaccuracy-{half}"
    return [
        view.line(f"exact, m = {m:g}", solid, f"{measure}-exact", kind, entry, over="at"),
        view.line(f"simulated, m = {m:g}", hollow, measure, kind, entry, over="at"),
    ]


def custom_measure(view: ResultsView, measure: str, name: str) -> Chart:
    """A custom measure: over its own axis where it has one, else over epsilon and k."""
    kinds = [
        kind
        for kind in view.kinds
        if any(view.results.value(measure, kind, method) for method in view.methods)
    ]
    beside = [
        Panel(
            title=kind_label(kind),
            x=Axis("at"),
            y=measure,
            lines=[
                view.line(str(each), view.look(method, step), measure, kind, each, over="at")
                for method in view.methods
                for step, each in enumerate(view.compared_settings(method))
            ],
        )
        for kind in kinds
    ]
    found = Chart(name=name, title=measure, rows=[beside] if beside else [], share="row")
    if not found.is_empty():
        return found
    columns = [(kind_label(kind), measure, kind, measure) for kind in kinds]
    return chart_by_guarantee(view, name, measure, columns)
