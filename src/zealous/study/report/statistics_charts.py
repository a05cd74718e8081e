"""The paper's figures of the parameter study and of statistics, as curves out of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

from zealous.study.curve_look import Look
from zealous.study.report.parts import Axis, Chart, Line, Panel, Scale
from zealous.study.report.results_view import (
    EPSILON,
    ORIGINAL,
    ZEALOUS,
    Entry,
    K,
    M,
    ResultsView,
    kind_label,
)
from zealous.study.report.style import LADDER

TOP_AXIS = Axis("j of top-j", log=True)
TOP_LABELS = {
    "l1": "average L1 distance",
    "kl": "KL divergence, nats",
    "missing": "top-j items missing",
    "missing-share": "share missing",
}
_SCALES: tuple[Scale, ...] = ("auto", "auto", "symlog", "linear")
_CURVES_OF_M = (1, 2, 4, 8, 10, 40)


def top_over_m(view: ResultsView) -> Chart:
    """Precision and coverage of the most frequent items over m: a curve for each j."""
    entry = Entry(method=ZEALOUS, epsilon=view.epsilon)

    def curve(measure: str, kind: str, look: Look, j: int) -> Line:
        return view.line(f"top {j:,}", look, measure, kind, entry, over="m", at=j)

    title = "The most frequent items over m, a curve for each top-j"
    return _top_chart(view, "top-j-over-m", title, M, view.study["top"], curve)


def top_over_j(view: ResultsView) -> Chart:
    """Precision and coverage of the most frequent items over j: a curve for each m."""
    tried = [int(m) for m in view.values_tried("m", ZEALOUS)]
    few = len(tried) <= len(_CURVES_OF_M)
    many = [m for m in tried if few or m in _CURVES_OF_M]

    def curve(measure: str, kind: str, look: Look, m: int) -> Line:
        entry = Entry(method=ZEALOUS, epsilon=view.epsilon, m=m)
        return view.line(f"m = {m}", look, measure, kind, entry, over="at")

    title = "The most frequent items over j, a curve for each m"
    return _top_chart(view, "top-j-over-j", title, TOP_AXIS, many, curve)


def _top_chart(
    view: ResultsView,
    name: str,
    title: str,
    x: Axis,
    settings: Sequence[int],
    curve: Callable[[str, str, Look, int], Line],
) -> Chart:
    """A row for each measure, a panel for each kind, a curve for each setting."""
    looks = [_ladder_look(number, len(settings)) for number in range(len(settings))]
    return Chart(
        name=name,
        title=title,
        rows=[
            [
                Panel(
                    title=kind_label(kind),
                    x=x,
                    y=label,
                    lines=[
                        curve(measure, kind, look, each)
                        for look, each in zip(looks, settings, strict=True)
                    ],
                )
                for kind in view.paper_kinds
            ]
            for measure, label in TOP_LABELS.items()
        ],
        share="row",
        y=_SCALES,
    )


def _ladder_look(number: int, of: int) -> Look:
    """Looks spread over the ladder, so that few curves differ clearly."""
    if of <= 1:
        return LADDER[0]
    return LADDER[min(len(LADDER) - 1, round(number * (len(LADDER) - 1) / (of - 1)))]


def distributions(view: ResultsView) -> Chart:
    """How many items have each count."""
    shown = [(ORIGINAL, 0, Entry(method=ORIGINAL))] + [
        (name, step, each)
        for name in view.methods
        for step, each in enumerate(view.compared_settings(name))
    ]
    return Chart(
        name="distributions",
        title="Distribution of counts",
        rows=[
            [
                Panel(
                    title=kind_label(kind),
                    x=Axis("count of an item", log=True),
                    y="items with this count",
                    lines=[
                        view.line(
                            str(each),
                            view.look(name, step)._replace(marker=mark),
                            "items-with-count",
                            kind,
                            each,
                            over="at",
                        )
                        for (name, step, each), mark in zip(shown, cycle(".os^DvPX*"), strict=False)
                    ],
                )
                for kind in view.paper_kinds
            ]
        ],
        share="row",
        y=("log",),
    )


def chart_by_guarantee(
    view: ResultsView, name: str, title: str, columns: Sequence[tuple[str, str, str, str]]
) -> Chart:
    """Each column a (heading, measure, kind, y label): over epsilon above, over k below."""
    axes = (("epsilon", EPSILON), ("k", K))
    rows = [
        [
            Panel(title=heading, x=axis, y=label, lines=view.lines(measure, kind, over, m=1))
            for heading, measure, kind, label in columns
        ]
        for over, axis in axes
    ]
    measured = [row for row in rows if any(not line.constant for p in row for line in p.lines)]
    return Chart(name=name, title=title, rows=measured or rows[:1], share="all")


def difference(view: ResultsView, measure: str, label: str) -> Chart:
    """The difference between released and original counts."""
    columns = [(kind_label(kind), measure, kind, label) for kind in view.paper_kinds]
    return chart_by_guarantee(
        view, measure, f"The {label.partition(',')[0]} over epsilon and over k", columns
    )
