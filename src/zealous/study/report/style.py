"""How all pictures look, and how one becomes SVG text that is the same in every run."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zealous.study.anonymity.method import METHODS
from zealous.study.curve_look import Look
from zealous.study.extra import backend_agg, backend_svg, mpl, mpl_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, RED, GREY, PALE, INK = (
    "#2b6ca3",
    "#d9822b",
    "#c0392b",
    "#9aa3ab",
    "#e4e8ec",
    "#22292f",
)
PERCENT = "{x:g} %"  # of an axis whose values are percent
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


_NAMELESS: Any = {"Date": None, "Creator": None}
# As text an SVG needs a font and a fifth of the room; whatever font is there instead is narrower.
# Names that people chose are no formulas.
STUDY: Any = {
    **STYLE,
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif"],
    "text.parse_math": False,
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titley": 1.02,
    "axes.titlepad": 2,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "axes.grid": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


# The colours of Okabe and Ito, which all eyes tell apart; their yellow is too pale on white.
BLACK = Look("#000000", "", "-")
CURVES = {
    "original": BLACK,
    "zealous": Look("#0072B2", "o", "-"),
    "indistinguishable": Look("#56B4E9", "v", (0, (5, 1))),
    "korolova": Look("#7F7F7F", "p", (0, (2, 1))),
    "gaussian": Look("#8C510A", "h", (0, (9, 2))),
    **{name: method.look for name, method in METHODS.items() if method.look is not None},
}
OTHERS = (
    Look("#E69F00", "X", (0, (5, 1))),
    Look("#F0A8C8", "v", (0, (3, 1, 1, 1))),
    Look("#4B0082", "P", (0, (1, 1))),
    Look("#6B8E23", "*", (0, (7, 2))),
)
# From dark to light along one scale, for curves that are in an order.
LADDER = tuple(
    map(
        Look,
        ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#8fbf26", "#c9a50c"),
        ("o", "s", "^", "D", "v", "P", "X", "*"),
        ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2))),
    )
)


def figure_with_panels(
    *ratios: float, height: float = 3.1, width: float = 8.4
) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, of these relative widths."""
    figure = mpl_figure.Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, len(ratios), width_ratios=ratios, squeeze=False)
    return figure, list(axes[0])


def render_svg(draw: Callable[[], Figure]) -> str:
    """Draw a picture in our style, as SVG text."""
    text = io.StringIO()
    with _fixed_style(STYLE):
        draw().savefig(text, format="svg", facecolor="white", metadata=_NAMELESS)
    return text.getvalue()


def render_svg_and_png(draw: Callable[[], Figure]) -> tuple[str, bytes]:
    """A picture of a study, once for the page and once for slides."""
    text, pixels = io.StringIO(), io.BytesIO()
    as_svg: Any = backend_svg.FigureCanvasSVG
    as_png: Any = backend_agg.FigureCanvasAgg
    with _fixed_style(STUDY), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name in a script that the font lacks
        figure = draw()
        # savefig would lay out and draw everything twice: with a hundred panels that is felt.
        as_svg(figure).print_svg(text, metadata=_NAMELESS)
        figure.set_dpi(150)
        as_png(figure).print_png(pixels)
    return text.getvalue(), pixels.getvalue()


@contextmanager
def _fixed_style(style: Any) -> Iterator[None]:
    """Apply this style only: a matplotlibrc in the working directory changes no picture."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(style)
        yield


def format_percent(share: float | None) -> str:
    """A share in percent: neither 0 nor 100 where it is not, and a dash where there is none.

    >>> [format_percent(share) for share in (0, 0.0003, 0.498, 0.9997, 1, None)]
    ['0 %', '<0.1 %', '49.8 %', '>99.9 %', '100 %', '–']
    """
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if not 0.001 <= share <= 0.999:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{100 * share:.1f} %"
