"""The paper's figures of the parameter study and of statistics, as curves out of the results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from zealous.study.report.parts import Axis, Chart, Panel, Scale
from zealous.study.report.results_view import EPSILON, ORIGINAL, ZEALOUS, Asked, Entry, K, M, words
from zealous.study.report.style import LADDER, Look

TOP = Axis("j of top-j", log=True)
FRACTION = {
    "l1": "average L1 distance",
    "kl": "KL divergence, nats",
    "missing": "top-j items missing",
    "missing-share": "share missing",
}
_SCALES: tuple[Scale, ...] = ("auto", "auto", "symlog", "linear")
_CURVES_OF_M = (1, 2, 4, 8, 10, 40)


def top_over_m(asked: Asked) -> Chart:
    """Precision and coverage of the most frequent items over m: a curve for each j."""
    tops = asked.study["top"]
    return Chart(
        name="top-j-over-m",
        title="The most frequent items over m, a curve for each top-j",
        rows=[
            [
                Panel(
                    title=words(kind),
                    x=M,
                    y=told,
                    lines=[
                        asked.line(
                            f"top {j:,}",
                            _step(number, len(tops)),
                            measure,
                            kind,
                            Entry(method=ZEALOUS, epsilon=asked.epsilon),
                            over="m",
                            at=j,
                        )
                        for number, j in enumerate(tops)
                    ],
                )
                for kind in asked.four
            ]
            for measure, told in FRACTION.items()
        ],
        share="row",
        y=_SCALES,
    )


def top_over_j(asked: Asked) -> Chart:
    """The same over j: a curve for each m."""
    tried = asked.tried("m", ZEALOUS)
    many = [m for m in _CURVES_OF_M if m in tried]
    return Chart(
        name="top-j-over-j",
        title="The most frequent items over j, a curve for each m",
        rows=[
            [
                Panel(
                    title=words(kind),
                    x=TOP,
                    y=told,
                    lines=[
                        asked.line(
                            f"m = {m}",
                            _step(number, len(many)),
                            measure,
                            kind,
                            Entry(method=ZEALOUS, epsilon=asked.epsilon, m=m),
                            over="at",
                        )
                        for number, m in enumerate(many)
                    ],
                )
                for kind in asked.four
            ]
            for measure, told in FRACTION.items()
        ],
        share="row",
        y=_SCALES,
    )


def _step(number: int, of: int) -> Look:
    """Spread over the ladder, so that few curves differ much."""
    if of <= 1:
        return LADDER[0]
    return LADDER[min(len(LADDER) - 1, round(number * (len(LADDER) - 1) / (of - 1)))]


def distributions(asked: Asked) -> Chart:
    """How many items have each count."""
    names = [name for name in asked.methods if name not in ("k-session", "k-keyword")]
    shown = [(ORIGINAL, 0, Entry(method=ORIGINAL))] + [
        (name, step, each) for name in names for step, each in enumerate(asked.shown(name))
    ]
    return Chart(
        name="distributions",
        title="Distribution of counts",
        rows=[
            [
                Panel(
                    title=words(kind),
                    x=Axis("count of an item", log=True),
                    y="items with this count",
                    lines=[
                        asked.line(
                            str(each),
                            asked.look(name, step)._replace(marker=mark),
                            "items-with-count",
                            kind,
                            each,
                            over="at",
                        )
                        for (name, step, each), mark in zip(shown, cycle(".os^DvPX*"), strict=False)
                    ],
                )
                for kind in asked.four
            ]
        ],
        share="row",
        y=("log",),
    )


def by_guarantee(
    asked: Asked, name: str, title: str, columns: Sequence[tuple[str, str, str, str]]
) -> Chart:
    """Each column a (heading, measure, kind, y label): over epsilon above, over k below."""
    axes = (("epsilon", EPSILON), ("k", K))
    rows = [
        [
            Panel(title=heading, x=axis, y=told, lines=asked.lines(measure, kind, over, m=1))
            for heading, measure, kind, told in columns
        ]
        for over, axis in axes
    ]
    measured = [row for row in rows if any(not line.across for p in row for line in p.lines)]
    return Chart(name=name, title=title, rows=measured or rows[:1], share="col")


def difference(asked: Asked, measure: str, told: str) -> Chart:
    """How far counts are from the original's."""
    columns = [(words(kind), measure, kind, told) for kind in asked.four]
    return by_guarantee(
        asked, measure, f"The {told.partition(',')[0]} over epsilon and over k", columns
    )
