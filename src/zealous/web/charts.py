"""Pictures as SVG, drawn here and styled by the stylesheet; every text in them is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

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


def _round_up(number: int) -> int:
    """A number that four equal steps lead to.

    >>> _round_up(422), _round_up(9)
    (440, 12)
    """
    step = -(-number // 4)
    unit = int("1".ljust(len(str(step)) - 1, "0"))
    return 4 * unit * -(-step // unit)


def text(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    """A text in a picture."""
    return f'<text class="{css}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def appearance_chart(
    chances: Mapping[str, Callable[[int], float]], needed: int, units: str
) -> Markup:
    """The chance that an item appears by how many people have it, a curve for each kind.

    Args:
        chances: By name of kind: the chance of an item of so many people.
        needed: How many an item needs to appear with 95 %, of the kind that needs most.
        units: What is counted.
    """
    most = _round_up(max(2 * needed, 8))
    left, top, width, height = 44, 8, 480, 170
    xs = sorted({round(most * step / 60) for step in range(61)})

    def place(users: int, chance: float) -> str:
        return f"{left + width * users / most:.1f} {top + height * (1 - chance):.1f}"

    drawn = []
    for share in (0, 0.5, 1):
        y = top + height * (1 - share)
        drawn.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y}" y2="{y}"/>')
        drawn.append(text(left - 6, y + 4, f"{share:.0%}", "small", "end"))
    for step in range(5):
        users = round(most * step / 4)
        drawn.append(
            text(left + width * step / 4, top + height + 18, f"{users:,}", "small", "middle")
        )
    drawn.append(
        text(left + width / 2, top + height + 36, f"{units} who have the item", "small", "middle")
    )
    x = round(left + width * needed / most, 1)
    drawn.append(f'<line class="needed" x1="{x}" x2="{x}" y1="{top}" y2="{top + height}"/>')
    drawn.append(text(x + 6, top + height - 8, f"{needed:,}: 95 %"))
    for number, (name, chance) in enumerate(chances.items()):
        path = "L".join(place(users, chance(users)) for users in xs)
        title = f"<title>{escape(name)}</title>"
        drawn.append(f'<path class="curve curve-{number % 4}" d="M{path}">{title}</path>')
    said = f"An item of {needed:,} {units} appears with 95 %"
    return Markup(  # noqa: S704 - all texts in it are escaped
        f'<svg class="chart" viewBox="0 0 540 220" role="img" aria-label="{said}">'
        f"{''.join(drawn)}</svg>"
    )


def month_chart(months: Mapping[str, float]) -> Markup:
    """What was spent in each month, as bars; the last two years of them."""
    shown = dict(list(months.items())[-24:])
    most = max(shown.values()) or 1.0
    height, wide = 120, min(40, 480 / len(shown))
    drawn = []
    for number, (month, spent) in enumerate(shown.items()):
        tall, x = height * spent / most, 20 + number * (wide + 12)
        title = f"<title>{escape(month)}: epsilon {spent:g}</title>"
        drawn.append(
            f'<rect class="spent" x="{x:.1f}" y="{24 + height - tall:.1f}" width="{wide:.1f}" '
            f'height="{tall:.1f}">{title}</rect>'
        )
        drawn.append(text(x + wide / 2, 18 + height - tall, f"{spent:g}", "small", "middle"))
        drawn.append(text(x + wide / 2, height + 42, month, "small", "middle"))
    width = 40 + len(shown) * (wide + 12)
    return Markup(  # noqa: S704 - all texts in it are escaped
        f'<svg class="chart months" width="{width:.0f}" viewBox="0 0 {width:.0f} {height + 50}" '
        f'role="img" aria-label="Epsilon spent in each month">{"".join(drawn)}</svg>'
    )
