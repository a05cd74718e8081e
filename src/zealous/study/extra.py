"""What the extra `study` brings: loaded when it is first used, and asked for where it is absent."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from zealous.errors import missing_extra
from zealous.libraries import LazyModule

if TYPE_CHECKING:
    import ir_measures
    import matplotlib as mpl
    from matplotlib import figure as mpl_figure
    from matplotlib import lines as mpl_lines
    from matplotlib import ticker as mpl_ticker
    from matplotlib.backends import backend_agg, backend_svg
else:
    ir_measures = LazyModule("ir_measures")
    mpl = LazyModule("matplotlib")
    mpl_figure = LazyModule("matplotlib.figure")
    mpl_lines = LazyModule("matplotlib.lines")
    mpl_ticker = LazyModule("matplotlib.ticker")
    backend_agg = LazyModule("matplotlib.backends.backend_agg")
    backend_svg = LazyModule("matplotlib.backends.backend_svg")

__all__ = [
    "backend_agg",
    "backend_svg",
    "check_installed",
    "ir_measures",
    "is_installed",
    "mpl",
    "mpl_figure",
    "mpl_lines",
    "mpl_ticker",
]


def is_installed() -> bool:
    """Whether the study can draw and rank."""
    return all(find_spec(name) for name in ("ir_measures", "matplotlib"))


def check_installed() -> None:
    """Refuse to start what would end for want of a library."""
    if not is_installed():
        raise missing_extra("the study needs more packages", "study")
