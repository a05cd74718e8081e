"""What a release tells of queries that are too rare to be in it, in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zealous.study.report.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    PERCENT,
    figure_with_panels,
    format_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
_STROKES = ("o-", "s--")
_SHADES = ("#9cc3e0", BLUE, "#173f5f")
_APART = 0.26  # of two dots of a row
_FACTS = {
    "lengths": "number of words",
    "hours": "hour of the day",
    "scripts": "script",
    "questions": "is a question",
    "with-keywords": "has a keyword",
}


def tail_figure(found: Mapping[str, Any]) -> Figure:
    """Draw the object that benchmarks/tail.py writes."""
    figure, (known, completed, facts) = figure_with_panels(1, 1, 1, width=11, height=3.9)
    _over_epsilon(known, found, "coverage", {"either-2": "two words", "either-3": "three words"})
    known.set_title("Rare queries that hold words in a row\nwhich the release tells")
    given = {"dropped-after-1": "after one word", "dropped-after-2": "after two"}
    _over_epsilon(completed, found, "completion", given)
    completed.set_title("Next word of a rare query\namong five suggestions")
    best = (
        f"{said}: {format_percent(found['itself'][name]['traffic'])}"
        for name, said in given.items()
    )
    completed.text(
        0.02,
        0.04,
        "\n".join(["from the log itself", *best]),
        color=GREY,
        fontsize=8,
        transform=completed.transAxes,
    )
    for axes in (known, completed):
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    _facts(facts, found["releases"])
    named = [
        dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True)) for axes in figure.axes
    ]
    legend = named[1] | named[2]
    figure.legend(legend.values(), legend, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _over_epsilon(
    axes: Axes, found: Mapping[str, Any], what: str, names: Mapping[str, str]
) -> None:
    """Shares over the epsilon that is spent beyond the first release's, on the tail or not."""
    spent = {
        ORANGE: "epsilon spent on more queries and keywords",
        BLUE: "epsilon spent on the tail",
    }
    for name, stroke in zip(names, _STROKES, strict=True):
        for color, label in spent.items():
            shares: dict[float, list[float]] = {}
            for each in found["releases"]:
                more = each["tail"] or each["epsilon"] - found["epsilon"]
                if not more or bool(each["tail"]) == (color == BLUE):
                    shares.setdefault(more, []).append(100 * each[what][name]["traffic"])
            points = sorted((more, sum(each) / len(each)) for more, each in shares.items())
            axes.plot(*zip(*points, strict=True), stroke, color=color, markersize=4.5, label=label)
    strokes = [
        axes.plot([], [], stroke, color=INK, markersize=4.5)[0]
        for _, stroke in zip(names, _STROKES, strict=True)
    ]
    axes.legend(strokes, names.values(), loc="center", fontsize=8, handlelength=3.4)
    axes.set_xticks(sorted({each["tail"] or 0 for each in found["releases"]}))
    axes.yaxis.set_major_formatter(PERCENT)
    axes.set(xlabel="epsilon more", ylabel="of the traffic of rare queries")


def _facts(axes: Axes, releases: Rows) -> None:
    """How far each distribution is from the truth, a dot for each epsilon."""
    told = sorted({each["tail"] for each in releases if each["tail"]})
    rows = range(len(_FACTS))
    for extra, color in zip(told, _SHADES, strict=False):
        first = next(each for each in releases if each["tail"] == extra)
        apart = [first["distances"][name]["people"] for name in _FACTS]
        # One above the other: some distances are nearly equal.
        places = [place + _APART * (told.index(extra) - (len(told) - 1) / 2) for place in rows]
        label = f"told for epsilon {extra:g} more"
        axes.plot(apart, places, "o", color=color, markersize=5.5, label=label)
    guessed = releases[0]["distances"]["lengths"]["people"]
    axes.plot([guessed], [0], "X", color=ORANGE, label="guessed from the published queries")
    for place in rows[:-1]:
        axes.axhline(place + 0.5, color=PALE, linewidth=1, zorder=0)
    axes.set_yticks(rows, list(_FACTS.values()))
    axes.tick_params(axis="y", length=0)
    axes.set(xscale="log", ylim=(len(_FACTS) - 0.4, -0.6), xlabel="total variation distance")
    axes.set_title("Facts of rare queries:\nhow far from the truth")
