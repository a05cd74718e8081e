"""How all pictures look, and how one becomes SVG text that is the same in every run."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, RED, GREY, PALE, INK = (
    "#2b6ca3", "#d9822b", "#c0392b", "#9aa3ab", "#e4e8ec", "#22292f",
)  # fmt: skip
STYLE: Any = {
    "svg.hashsalt": "zealous",  # names of clips and glyphs: the same in every run
    "svg.fonttype": "path",  # no font is needed to read a picture
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.08,
}


def panels(*ratios: float, height: float = 3.1, width: float = 8.4) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, of these relative widths."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, len(ratios), width_ratios=ratios, squeeze=False)
    return figure, list(axes[0])


def svg(draw: Callable[[], Figure]) -> str:
    """The text of a picture: draw it in our style."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context(STYLE):
        metadata = {"Date": None, "Creator": None}
        draw().savefig(text, format="svg", facecolor="white", metadata=metadata)
    return text.getvalue()


def percent(share: float | None) -> str:
    """A share in percent: neither 0 nor 100 where it is not, and a dash where there is none.

    >>> [percent(share) for share in (0, 0.0003, 0.498, 0.9997, 1, None)]
    ['0 %', '<0.1 %', '49.8 %', '>99.9 %', '100 %', '–']
    """
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if not 0.001 <= share <= 0.999:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{100 * share:.1f} %"
