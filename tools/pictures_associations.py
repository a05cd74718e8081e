"""The strongest rules of a release, with what the noise leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zealous.release.derived.associations import rule_text
from zealous.study.report.style import BLUE, GREY, PALE, figure_with_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rule = Mapping[str, Any]
MOST = 20


def associations_figure(rules: Sequence[Rule], family: str) -> Figure:
    """Draw the first rules: how many follow each, and how much more often than by chance.

    Args:
        rules: Rows of associations.csv, the strongest first.
        family: Which family they are of.
    """
    shown = rules[:MOST]
    figure, (confidence, lift) = figure_with_panels(1, 1, height=1.1 + 0.24 * max(len(shown), 4))
    for axes, name, factor in ((confidence, "confidence", 100), (lift, "lift", 1)):
        for place, rule in enumerate(shown):
            _interval(axes, place, [rule[f"{name}{end}"] for end in ("_low", "", "_high")], factor)
        axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=PALE, linewidth=0.6)
        axes.set_axisbelow(True)
    names = [rule_text(rule, ordered=family.startswith("sequences")) for rule in shown]
    confidence.set_yticks(range(len(shown)), names, parse_math=False)
    confidence.set(xlim=(0, 103), xlabel="of those with the first have the other, %")
    confidence.set_title("confidence")
    _lift_scale(lift, shown)
    return figure


def _interval(axes: Axes, place: int, ends: list[float | None], factor: float) -> None:
    """A dot with its interval; an arrow where there is no upper end."""
    low, middle, high = (None if each is None else factor * each for each in ends)
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=BLUE)
    elif low is not None:
        start = middle if middle is not None else low
        axes.plot([low, start], [place, place], color=BLUE)
        axes.plot([start], [place], ">", color=BLUE, markersize=8)
    if middle is not None:
        axes.plot([middle], [place], "o", color=BLUE, markersize=5)


def _lift_scale(axes: Axes, rules: Sequence[Rule]) -> None:
    """Lift is told in factors; 1 is what chance alone would give."""
    from matplotlib.ticker import LogLocator, NullLocator

    from zealous.study.report.chart_drawing import format_tick

    ends = [rule[name] for rule in rules for name in ("lift_low", "lift", "lift_high")]
    known = [end for end in ends if end]
    axes.set_xscale("log")
    axes.set_xlim(min(0.8, *known, 1) * 0.9, max(1.25, *known, 1) * 1.15)
    span = axes.get_xlim()[1] / axes.get_xlim()[0]
    ticks = (1, 1.5, 2, 3, 5, 7) if span < 10 else (1, 2, 5) if span < 100 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: format_tick(value))
    axes.axvline(1, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_yticks([])
    axes.set(xlabel="times as many as of all people")
    axes.set_title("lift")
