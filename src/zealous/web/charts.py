"""Pictures as SVG, drawn here and styled by the stylesheet; every text in them is escaped."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 240, 14


def interval_bar(count: int, low: int, high: int, *, highest: int, threshold: int | None) -> Markup:
    """A count as a bar with its interval, on a logarithmic scale, and the threshold as a line."""
    scale = _Logarithm(max((threshold or 2) / 2, 1), max(highest, 2))
    end, left, right = scale(count), scale(low), scale(high)
    line = "" if threshold is None else _line(scale(threshold), "threshold")
    said = f"{count:,}, between {low:,} and {high:,}"
    return Markup(  # noqa: S704 - numbers alone
        f'<svg class="bar" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}" '
        f'preserveAspectRatio="none"><rect class="fill" x="0" y="3" width="{end}" height="8"/>'
        f'<rect class="range" x="{left}" y="5.5" width="{max(right - left, 1):.1f}" height="3"/>'
        f"{line}</svg>"
    )


def _line(x: float, name: str) -> str:
    return f'<line class="{name}" x1="{x}" x2="{x}" y1="0" y2="{_HEIGHT}"/>'


class _Logarithm:
    """From counts to places on a bar; what is lower than the lowest stands at its beginning."""

    def __init__(self, low: float, high: int) -> None:
        self._low, self._high = math.log(low), math.log(high)

    def __call__(self, number: int) -> float:
        share = (math.log(max(number, 1)) - self._low) / max(self._high - self._low, 1e-9)
        return round(_WIDTH * min(max(share, 0.0), 1.0), 1)


def text(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    """A text in a picture."""
    return f'<text class="{css}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
