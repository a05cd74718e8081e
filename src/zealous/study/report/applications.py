"""The figures of the two applications, of accuracy and of one's own measures, as curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zealous.study.report.figures import by_guarantee
from zealous.study.report.parts import Axis, Chart, Line, Panel
from zealous.study.report.results_view import EPSILON, PHRASES, ZEALOUS, Asked, Entry, K, M, words
from zealous.study.report.style import LADDER, METHODS, Look

QUALITY = {
    "ndcg": "NDCG",
    "map-printed": "MAP, as printed",
    "precision": "precision",
    "recall": "recall",
    "average-precision": "average precision",
}
CACHING = {
    "hit-probability": "hit probability",
    "whole-queries": "share of whole queries",
    "lists": "lists in memory",
}
_TOPS = (2, 5)
_BESIDE = Look("#56B4E9", "v")
_BY_ONE = METHODS[ZEALOUS]._replace(stroke="--", hollow=True)
_PAIRS = Look("#E69F00", "X", "-")


def caching(asked: Asked) -> Chart:
    """Index caching over epsilon, k and m."""
    rows = []
    for measure, told in CACHING.items():
        level = asked.level(measure, "keywords")
        by_one = [
            replace(line, look=_BY_ONE)
            for line in asked.lines(measure, "keywords", "epsilon", m=1)
            if line.label == f"{ZEALOUS}, m = 1"
        ]
        over_m = asked.line(
            f"{ZEALOUS}, epsilon = {asked.epsilon:g}",
            LADDER[0],
            measure,
            "keywords",
            Entry(method=ZEALOUS, epsilon=asked.epsilon),
            over="m",
        )
        rows.append(
            [
                Panel(
                    title="over epsilon",
                    x=EPSILON,
                    y=told,
                    lines=[*asked.lines(measure, "keywords", "epsilon", m=6), *by_one, *level],
                ),
                Panel(
                    title="over k",
                    x=K,
                    y=told,
                    lines=[*asked.lines(measure, "keywords", "k"), *level],
                ),
                Panel(title="over m", x=M, y=told, lines=[over_m, *level]),
            ]
        )
    return Chart(
        name="caching",
        title="Index caching over epsilon, k and m",
        rows=rows,
        share="row",
        y=("linear", "linear", "auto"),
    )


def substitution(asked: Asked) -> Chart:
    """Quality of substitutions, top-2 and top-5, over epsilon and k."""
    rows = [
        [
            Panel(
                title=told,
                x=axis,
                y="mean over queries",
                lines=_tops(asked, measure, "query-pairs", over),
            )
            for measure, told in QUALITY.items()
        ]
        for over, axis in (("epsilon", EPSILON), ("k", K))
    ]
    return Chart(
        name="substitution",
        title="Quality of query substitutions",
        rows=rows,
        share="col",
        y=("linear", "linear"),
    )


def coverage(asked: Asked) -> Chart:
    """For how many queries there is a substitution."""
    told = "share of queries"
    many = [m for m in (1, 6) if m in asked.tried("m", ZEALOUS)]
    looks = (METHODS[ZEALOUS], _BESIDE)
    over_epsilon = [
        replace(line, look=look._replace(stroke=line.look.stroke, hollow=line.look.hollow))
        for m, look in zip(many, looks, strict=False)
        for line in _tops(asked, "coverage", "query-pairs", "epsilon", m=m)
        if line.label.startswith(f"{ZEALOUS}, m = {m},")
    ]
    over_epsilon += [
        line
        for line in _tops(asked, "coverage", "query-pairs", "epsilon")
        if not line.label.startswith(f"{ZEALOUS}, m = ")
    ]
    over_k = _tops(asked, "coverage", "query-pairs", "k")
    return Chart(
        name="coverage",
        title="Coverage of query substitutions",
        rows=[
            [
                Panel(title="over epsilon", x=EPSILON, y=told, lines=over_epsilon),
                Panel(title="over k", x=K, y=told, lines=over_k),
            ]
        ],
        share="row",
    )


def regained(asked: Asked) -> Chart:
    """Phrase pairs beside query pairs, at the same guarantee."""
    looks = {"query-pairs": METHODS[ZEALOUS], PHRASES: _PAIRS}
    measures = {"coverage": "share of queries", "precision": "precision"}
    return Chart(
        name="phrase-pairs",
        title="Substitutions from phrase pairs beside query pairs",
        rows=[
            [
                Panel(
                    title=measure,
                    x=EPSILON,
                    y=told,
                    lines=[
                        replace(
                            line,
                            label=f"{words(kind)}, {line.label.rpartition(', ')[2]}",
                            look=look._replace(stroke=line.look.stroke, hollow=line.look.hollow),
                        )
                        for kind, look in looks.items()
                        for line in _tops(asked, measure, kind, "epsilon")
                        if line.label.startswith(f"{ZEALOUS}, m = ")
                    ],
                )
                for measure, told in measures.items()
            ]
        ],
        y=("linear",),
    )


def _tops(asked: Asked, measure: str, kind: str, over: str, *, m: int = 1) -> list[Line]:
    """The curves of all methods, for top-2 in one stroke and for top-5 in another."""
    found = []
    for j in _TOPS:
        for line in asked.lines(measure, kind, over, m=m, at=j):
            look = line.look._replace(stroke="-" if j == _TOPS[0] else "--", hollow=j != _TOPS[0])
            found.append(replace(line, label=f"{line.label}, top {j}", look=look))
    return sorted(found, key=lambda line: line.label.rpartition(",")[0] != f"{ZEALOUS}, m = {m}")


def accuracy(asked: Asked) -> Chart:
    """The expected number of wrong decisions beside those that were counted."""
    halves = {"retain": "frequent items missing", "filter": "infrequent items shown"}
    axis = Axis("xi, slack in users", log=True, zero=True)
    rows = []
    for half, told in halves.items():
        rows.append(
            [
                Panel(
                    title=words(kind),
                    x=axis,
                    y=told,
                    lines=[
                        line
                        for place, m in enumerate(asked.some_m())
                        for line in _exact_and_simulated(asked, half, kind, m, LADDER[2 * place])
                    ],
                )
                for kind in asked.kinds
            ]
        )
    return Chart(
        name="accuracy",
        title="Inaccuracy: exact beside simulated",
        rows=rows,
        y=("symlog", "symlog"),
    )


def _exact_and_simulated(
    asked: Asked, half: str, kind: str, m: float, look: Look
) -> Sequence[Line]:
    entry = Entry(method=ZEALOUS, epsilon=asked.epsilon, m=m)
    solid, hollow = look._replace(marker="", stroke="-"), look._replace(stroke="none", hollow=True)
    measure = f"inaccuracy-{half}"
    return [
        asked.line(f"exact, m = {m:g}", solid, f"{measure}-exact", kind, entry, over="at"),
        asked.line(f"simulated, m = {m:g}", hollow, measure, kind, entry, over="at"),
    ]


def own(asked: Asked, measure: str, name: str) -> Chart:
    """A measure of one's own: over its own axis where it has one, else over epsilon and k."""
    kinds = [
        kind
        for kind in asked.kinds
        if any(asked.results.value(measure, kind, method) for method in asked.methods)
    ]
    beside = [
        Panel(
            title=words(kind),
            x=Axis("at"),
            y=measure,
            lines=[
                asked.line(str(each), asked.look(method, step), measure, kind, each, over="at")
                for method in asked.methods
                for step, each in enumerate(asked.shown(method))
            ],
        )
        for kind in kinds
    ]
    found = Chart(name=name, title=measure, rows=[beside] if beside else [], share="row")
    if not found.empty():
        return found
    columns = [(words(kind), measure, kind, measure) for kind in kinds]
    return by_guarantee(asked, name, measure, columns)
