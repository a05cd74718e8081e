"""What a notebook shows of an object: a little HTML that fits light and dark pages.

Names and items are somebody else's text. All of it is escaped, a character that could not be seen
is replaced, an address is never a link, and what looks like a formula is not typeset (a formula can
hold a link).
"""

from __future__ import annotations

import html
from collections.abc import Sequence

ROWS = 5  # of each table
_LONGEST = 200  # characters of a cell


def escaped(value: object) -> str:
    """A text as it is safe anywhere between two tags.

    >>> escaped("<b>$5")
    '&lt;b&gt;<span>$</span>5'
    """
    seen = "".join(each if each.isprintable() else "�" for each in str(value))
    # Formulas end at a tag: MathJax and KaTeX find none whose signs stand alone.
    return html.escape(seen).replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")


def block(title: str, *parts: str) -> str:
    """A heading, and what it is about; parts are HTML, and empty ones are left out."""
    head = f"<div><b>{escaped(title)}</b></div>"
    body = "".join(part for part in parts if part)
    return f'<div class="tex2jax_ignore mathjax_ignore" translate="no">{head}{body}</div>'


def caption(text: str) -> str:
    """What stands above a table, one of several."""
    return f'<div style="margin-top:0.6em">{escaped(text)}</div>'


def line(text: str) -> str:
    """A line of text."""
    return f'<div style="max-width:48em">{escaped(text)}</div>' if text else ""


def note(text: str) -> str:
    """A line in smaller type, for where something is or what was left out."""
    return f"<div><small>{escaped(text)}</small></div>" if text else ""


def grid(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table: numbers to the right, all else to the left."""
    right = [
        bool(rows) and all(isinstance(row[column], int | float) for row in rows)
        for column in range(len(names))
    ]
    head = _row("th", names, right)
    body = "".join(_row("td", row, right) for row in rows)
    return f'<table style="margin:0.3em 0"><thead>{head}</thead><tbody>{body}</tbody></table>'


def _row(tag: str, cells: Sequence[object], right: Sequence[bool]) -> str:
    return "<tr>" + "".join(map(_cell, [tag] * len(cells), cells, right)) + "</tr>"


def _cell(tag: str, value: object, right: bool) -> str:
    side = "right" if right else "left"
    # A text that is written from right to left leaves its neighbours where they are.
    style = f"text-align:{side};padding:0.1em 0.8em 0.1em 0;white-space:normal"
    return f'<{tag} style="{style}"><bdi>{escaped(_cell_text(value))}</bdi></{tag}>'


def _cell_text(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
