"""Draws charts with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zealous.study.extra import mpl_figure, mpl_lines, mpl_ticker
from zealous.study.report.parts import Axis, Chart, Line, Panel
from zealous.study.report.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOG_SCALE_FACTOR = 10  # values further apart than this are drawn on a log scale
_STAMP = "internal: not for publication"
_LONGEST_LABEL = 44  # letters of a label
_LONGEST_Y_LABEL = 26  # beside a panel
_FULL_WIDTH = 9.4  # inches
_LEGEND_WIDTH = 5.2  # inches: at the left, so that a phone shows it without scrolling
_CERTAINTY = 0.002  # percent from 100: what is nearer stands there
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_chart(chart: Chart, *, title: str = "") -> Figure:
    """Draw a chart with its legend and a stamp that says who may see it.

    Args:
        chart: The chart.
        title: Stands above a picture of a synthetic log, which is for everybody, in place of the
            stamp.
    """
    rows, columns = len(chart.rows), _column_count(chart)
    width = _FULL_WIDTH * width_share(chart)
    legend = _legend_handles(chart)
    height, grid_space = _layout(chart, rows, columns, width, legend, title.count("\n") + 1)
    found = mpl_figure.Figure(figsize=(width, height), facecolor="white")
    grid = found.subplots(rows, columns, squeeze=False, sharey=chart.share, gridspec_kw=grid_space)
    for number, row in enumerate(chart.rows):
        wanted = chart.y[number] if number < len(chart.y) else "auto"
        if wanted == "auto":
            wanted = "log" if _row_spans_decades(chart, number) else "linear"
        for place, (axes, panel) in enumerate(zip(grid[number], row, strict=False)):
            small = chart.share == "none" and wanted == "symlog" and _all_below(panel, 10)
            _draw_panel(axes, panel, scale="linear" if small else wanted)
            if _panel_above(chart, number, place) == (panel.title, panel.x):
                axes.set_title("")
                grid[number - 1][place].set_xlabel("")
        for axes in grid[number][len(row) :]:
            axes.set_visible(False)
        if chart.share != "none":
            for axes in grid[number][1 : len(row)]:
                axes.set_ylabel("")
    for axes in found.axes:
        _label_few_decades(axes)  # only now do those that share an axis know its ends
    if legend:
        found.legend(
            list(legend.values()),
            list(legend),
            loc="lower left",
            fontsize=8,
            ncols=_legend_columns(legend, width),
            handlelength=3.2,
            columnspacing=1.4,
            borderaxespad=0.2,
        )
    up = 1 - 0.05 / height
    if title:
        found.text(0.1 / width, up, title, fontsize=9.5, fontweight="bold", va="top")
    else:
        found.text(1 - 0.05 / width, up, _STAMP, fontsize=6.5, color=GREY, ha="right", va="top")
    return found


def width_share(chart: Chart) -> float:
    """The width of a chart, as a share of the full width."""
    columns = _column_count(chart)
    return min(1.0, (1.2 + (2.05 if columns > 2 else 3.0) * columns) / _FULL_WIDTH)


def _column_count(chart: Chart) -> int:
    return max(map(len, chart.rows), default=1)


def _layout(
    chart: Chart, rows: int, columns: int, width: float, legend: dict[str, Any], titles: int
) -> tuple[float, dict[str, float]]:
    """The height and the margins of the panels: faster than a layout engine."""
    panel = 1.55 if rows < 3 else 1.3
    repeated = rows > 1 and _panel_above(chart, 1, 0) == (
        chart.rows[1][0].title,
        chart.rows[1][0].x,
    )
    between = 0.4 if repeated else 0.72  # ticks; a title, and what the axis is
    lines = math.ceil(len(legend) / _legend_columns(legend, width)) if legend else 0
    axis = chart.rows[-1][0].x
    named = max((name.count("\n") for _, name in axis.names), default=0) + axis.label.count("\n")
    top, bottom = 0.26 + 0.16 * titles, 0.5 + 0.19 * lines + 0.16 * named
    height = top + bottom + rows * panel + (rows - 1) * between
    left, right = 0.78, 0.2
    gap = 0.7 if chart.share == "none" else 0.36
    wide = (width - left - right - (columns - 1) * gap) / columns
    return height, {
        "left": left / width,
        "right": 1 - right / width,
        "top": 1 - top / height,
        "bottom": bottom / height,
        "hspace": between / panel,
        "wspace": gap / wide,
    }


def _panel_above(chart: Chart, number: int, place: int) -> tuple[str, Axis] | None:
    """Title and axis of the panel above, not repeated where they are the same."""
    if number == 0 or place >= len(chart.rows[number - 1]):
        return None
    panel = chart.rows[number - 1][place]
    return panel.title, panel.x


def _row_spans_decades(chart: Chart, number: int) -> bool:
    """Whether the values of a row, and of those that share its axis, span decades."""
    rows = chart.rows if chart.share == "all" else [chart.rows[number]]
    return _spans_factor(
        [line for row in rows for panel in row for line in panel.lines], _LOG_SCALE_FACTOR
    )


def _spans_factor(lines: Sequence[Line], factor: float) -> bool:
    """Whether all values are positive and the largest exceeds the smallest by this factor."""
    values = [spread.mean for line in lines for _, spread in line.points]
    values = [value for value in values if math.isfinite(value)]
    return bool(values) and min(values) > 0 and max(values) / min(values) > factor


def _all_below(panel: Panel, most: float) -> bool:
    return all(spread.high < most for line in panel.lines for _, spread in line.points)


def _legend_columns(legend: dict[str, Any], width: float) -> int:
    """How many entries of the legend fit side by side."""
    longest = max(map(len, legend), default=1)
    most = max(1, int(min(width, _LEGEND_WIDTH) / (0.62 + 0.075 * longest)))
    return math.ceil(len(legend) / math.ceil(len(legend) / most)) if legend else 1


def _legend_handles(chart: Chart) -> dict[str, Any]:
    """One entry for each label, in the order of appearance."""
    lines = [line for row in chart.rows for panel in row for line in panel.lines if line.points]
    return {_safe_label(line.label): _handle(line) for line in lines}


def _handle(line: Line) -> Any:
    return mpl_lines.Line2D([], [], **_line_style(line))


def _line_style(line: Line) -> dict[str, Any]:
    look = line.look
    return {
        "color": look.color,
        "linestyle": look.stroke,
        "marker": "" if line.constant else look.marker,
        "markerfacecolor": "white" if look.hollow else look.color,
        "linewidth": 1.1 if line.constant else 1.5,
    }


def _draw_panel(axes: Axes, panel: Panel, *, scale: str) -> None:
    axes.set_title(_safe_label(panel.title))
    axes.set(xlabel=panel.x.label, ylabel=_safe_label(panel.y, _LONGEST_Y_LABEL))
    drawn = [line for line in panel.lines if line.points]
    if not drawn and not any(line.gaps for line in panel.lines):
        axes.set_visible(False)
        return
    if not drawn:
        axes.text(
            0.5,
            0.5,
            "nothing published",
            transform=axes.transAxes,
            ha="center",
            color=GREY,
        )
        axes.set_axis_off()
        return
    _set_x_scale(axes, panel)
    if scale != "linear":
        axes.set_yscale(scale)  # symlog is linear up to 2: it can show a zero
        axes.yaxis.minorticks_off()  # each is drawn for itself: slow, and in the way
    for line in reversed(drawn):  # the first, ours, on top: curves may coincide
        _draw_line(axes, line)
    # An axis tells all that was tried, or a gap at its end would not be seen.
    height = drawn[0].points[0].y.mean
    axes.update_datalim([(x, height) for x in _x_values(panel)])
    axes.autoscale_view()
    _set_ticks(axes, panel)
    _set_y_limits(axes, drawn, scale)
    axes.yaxis.set_major_formatter(lambda value, _: format_tick(value))


def _set_y_limits(axes: Axes, lines: Sequence[Line], scale: str) -> None:
    """Begin at zero on a linear axis, and leave room for markers at the top."""
    spreads = [spread for line in lines for _, spread in line.points]
    if scale == "log" or min(spread.low for spread in spreads) < 0:
        return
    axes.set_ylim(bottom=0)
    room = 1.06 if scale == "linear" else 1.3
    highest = max(spread.high for spread in spreads) or 1
    axes.set_ylim(top=max(axes.get_ylim()[1], room * highest))


def _label_few_decades(axes: Axes) -> None:
    """Add ticks to a log axis that spans few powers of ten."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log" and high < 100 * low:
        axes.yaxis.set_major_locator(mpl_ticker.LogLocator(subs=(1, 2, 5)))


def _set_x_scale(axes: Axes, panel: Panel) -> None:
    values = [x for x in _x_values(panel) if x > 0]
    if panel.x.percent:
        axes.set_xscale("function", functions=(_stretched, _unstretched))
    elif panel.x.log and panel.x.zero:
        axes.set_xscale("symlog", linthresh=min(values, default=1))
    elif panel.x.log:
        axes.set_xscale("log")


def _stretched(percent: Any) -> Any:
    """Where a chance stands: nearly in proportion to the logarithm of its odds."""
    return -np.log(np.maximum(100 - np.asarray(percent, float), 0) + _CERTAINTY)


def _unstretched(place: Any) -> Any:
    return 100 + _CERTAINTY - np.exp(-np.asarray(place, float))


def _draw_line(axes: Axes, line: Line) -> None:
    if line.constant:
        spread = line.points[0].y
        axes.axhline(spread.mean, **_line_style(line))
        return
    xs = [point.x for point in line.points]
    lows, highs = ([getattr(p.y, name) for p in line.points] for name in ("low", "high"))
    if line.look.stroke == "none":
        axes.vlines(xs, lows, highs, color=line.look.color, linewidth=0.8)
    elif any(point.y.draws > 1 for point in line.points):
        axes.fill_between(xs, lows, highs, color=line.look.color, alpha=0.18, linewidth=0)
    lone = 3 if len(xs) == 1 else 2  # a single point is not hidden by a curve
    means = [point.y.mean for point in line.points]
    # A marker at zero is not cut in half: the axis holds all points.
    axes.plot(xs, means, zorder=lone, clip_on=False, **_line_style(line))


def _x_values(panel: Panel) -> list[float]:
    """The values on x that were tried, ascending."""
    lines = [line for line in panel.lines if not line.constant]
    return sorted({x for line in lines for x in (*(p.x for p in line.points), *line.gaps)})


def _set_ticks(axes: Axes, panel: Panel) -> None:
    """Ticks where something was measured, as many as have room."""
    values = _x_values(panel)
    axes.xaxis.minorticks_off()
    if not values:
        axes.set(xticks=[])
        return
    chosen = all(value == int(value) for value in values)  # settings, not what was found
    decades = panel.x.log and (not chosen or values[-1] >= 1000 * values[0])
    if panel.x.names:
        places, names = zip(*panel.x.names, strict=True)
        axes.set_xticks(places, names)
        return
    if panel.x.zero:
        tens = [10.0**power for power in range(9) if 10.0**power <= values[-1]]
        axes.set_xticks([0, *tens] if tens else [0, values[-1]])
    elif len(values) <= 12 and not decades:
        axes.set_xticks(_thin_out(values, log=panel.x.log))
    axes.xaxis.set_major_formatter(lambda value, _: format_tick(value))


def _thin_out(values: Sequence[float], *, log: bool) -> list[float]:
    """Keep values that have room between them, always the first and the last."""
    where = [math.log(value) if log else value for value in values]
    room = 0.115 * (where[-1] - where[0])
    kept = [0]
    for number in range(1, len(values) - 1):
        if where[number] - where[kept[-1]] >= room and where[-1] - where[number] >= room:
            kept.append(number)
    return [values[number] for number in [*kept, len(values) - 1]]


def format_tick(value: float) -> str:
    """A number at a tick.

    >>> [format_tick(value) for value in (0, 0.25, 40, 5000, 1e6, 1e-5, 0.02)]
    ['0', '0.25', '40', '5k', '1M', '10⁻⁵', '0.02']
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    if value and abs(value) < 0.001:
        digits, _, power = f"{value:.3g}".partition("e")
        if not power:
            digits, _, power = f"{value:.2e}".partition("e")
        front = f"{float(digits):g}"
        raised = str(int(power)).translate(_SUPERSCRIPTS)
        return f"10{raised}" if front == "1" else f"{front}·10{raised}"
    return f"{value:.3g}"


def _safe_label(text: str, longest: int = _LONGEST_LABEL) -> str:
    r"""A name that somebody chose, as a picture can show it; settings at its end stay.

    >>> _safe_label("a measure of\nmine, epsilon = 3, m = 2", 26)
    'a measur…epsilon = 3, m = 2'
    """
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(shown) > longest:
        tail = 18
        shown = f"{shown[: longest - tail]}…{shown[-tail:]}"
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib hides what begins so
