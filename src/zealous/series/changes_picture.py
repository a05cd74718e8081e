"""A picture of the largest changes between two releases: where each count was and where it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from zealous.series.changes import Change, Changes

_MOST = 20  # items
_ROW, _TOP, _LEFT, _WIDTH, _RIGHT = 24, 64, 240, 460, 60
_COLOURS = {"new": "#1b7837", "risen": "#1b7837", "fallen": "#b2182b", "gone": "#b2182b"}
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.small{font-size:11px;fill:#666}"
    "line{stroke:#ccc}.title{font-size:14px;font-weight:bold}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}line{stroke:#444}}"
)


def picture(found: Changes) -> str:
    """An SVG file; every text in it is escaped."""
    rows = sorted(found, key=lambda row: -row.factor())[:_MOST]
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _ROW * len(rows) + 52
    scale = _Scale([number for row in rows for number in row.ends()])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(found.summary())}</title><style>{_STYLE}</style>",
            f'<text class="title" x="8" y="20">{escape(found.summary())}</text>',
            '<text class="small" x="8" y="38">Hollow: before. Full: now. Users who count, on a '
            "logarithmic scale. An absent item stands at the number that it is below.</text>",
            *scale.lines(_TOP - 8, height - 44),
            *(_draw_row(row, _TOP + _ROW * place, scale) for place, row in enumerate(rows)),
            f'<text class="small" x="8" y="{height - 8}">At most {found.error_rate:.0%} of these '
            "changes are by chance, on average.</text>",
            "</svg>\n",
        ]
    )


class _Scale:
    """From numbers of users to places, by their logarithm."""

    def __init__(self, numbers: Sequence[int]) -> None:
        logarithms = [math.log10(max(number, 1)) for number in numbers] or [0, 1]
        self._low, self._high = math.floor(min(logarithms)), math.ceil(max(logarithms) + 0.01)

    def place(self, number: int) -> float:
        part = (math.log10(max(number, 1)) - self._low) / (self._high - self._low)
        return round(_LEFT + _WIDTH * part, 1)

    def lines(self, top: int, bottom: int) -> list[str]:
        found = []
        for power in range(self._low, self._high + 1):
            x = self.place(10**power)
            found.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>')
            found.append(
                f'<text class="small" x="{x}" y="{bottom + 12}" text-anchor="middle">'
                f"{10**power:,}</text>"
            )
        return found


def _draw_row(row: Change, y: int, scale: _Scale) -> str:
    (before, after), colour = row.ends(), _COLOURS[row.change]
    x1, x2, middle = scale.place(before), scale.place(after), y + 8
    item = " | ".join(row.item)
    short = item if len(item) <= 32 else f"{item[:31]}…"
    said = f"{row.change}: {'absent' if row.before is None else f'{before:,}'} to "
    said += "absent" if row.after is None else f"{after:,}"
    return (
        f'<text x="{_LEFT - 12}" y="{y + 12}" text-anchor="end">{escape(short)}</text>'
        f'<path d="M{x1} {middle}H{x2}" stroke="{colour}" stroke-width="2"/>'
        f'<circle cx="{x1}" cy="{middle}" r="4" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f'<circle cx="{x2}" cy="{middle}" r="4.5" fill="{colour}"/>'
        f"<title>{escape(f'{item}, {said}')}</title>"
    )
