"""The figure of all attacks on all methods."""

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
    RED,
    figure_with_panels,
    format_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
_PRIVATE_METHOD = "ZEALOUS"
_COLUMNS = {
    "query_seen": "rare query\npublished",
    "word_seen": "rare word\npublished",
    "personal": "personal\nquery\nreadable",
    "picked_out": "picked out\nby 3\nqueries",
    "read_back": "tokens\nread back",
}
_COLORS = (RED, ORANGE, BLUE, INK)


def draw_attacks(found: Mapping[str, Any]) -> Figure:
    """Draw the object that `zealous study attack --json` prints."""
    rows = found["methods"]
    figure, (active, seen, picked) = figure_with_panels(1.25, 1.35, 1, width=11, height=3.9)
    _draw_active_attack(active, rows)
    _draw_readable_shares(seen, rows)
    _draw_picked_out(picked, rows)
    return figure


def _draw_active_attack(axes: Axes, rows: Rows) -> None:
    """How often an attacker with fake accounts is right."""
    axes.axvline(50, color=GREY, linestyle=":", linewidth=1)
    axes.text(51, -0.62, "guessing", color=GREY, fontsize=8)
    for place, row in enumerate(rows):
        tried = [each for each in row["active"] if each["trials"]]
        if not tried:
            axes.text(50, place, "nothing to guess", va="center", color=GREY, fontsize=8)
            continue
        best = max(tried, key=lambda each: each["share"])
        color = BLUE if row["method"] == _PRIVATE_METHOD else RED
        low, share, high = (100 * best[name] for name in ("low", "share", "high"))
        axes.plot([low, high], [place, place], color=color)
        axes.plot([share], [place], "o", color=color, markersize=6)
        side = "right" if share > 90 else "center"
        axes.text(
            share, place - 0.25, format_percent(best["share"]), ha=side, fontsize=8, color=color
        )
        if best["bound"] is not None:
            bound = 100 * best["bound"]
            axes.plot([bound, bound], [place - 0.35, place + 0.35], color=INK, linewidth=1.2)
            left = bound > 85
            axes.text(
                bound + (-1 if left else 1),
                place + 0.3,
                "limit by epsilon",
                ha="right" if left else "left",
                va="center",
                fontsize=8,
            )
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    least = min((100 * each["low"] for row in rows for each in row["active"]), default=40)
    axes.set(xlim=(min(40, least - 2), 103), ylim=(len(rows) - 0.4, -0.9), xlabel="right decisions")
    axes.xaxis.set_major_formatter(PERCENT)
    axes.set_title("Did she ask it?\nAttacker with fake accounts")


def _draw_readable_shares(axes: Axes, rows: Rows) -> None:
    """What can be read in the output: a row for each method, a column for each attack."""
    for place, row in enumerate(rows):
        for column, share in enumerate(row["summary"][name] for name in _COLUMNS):
            if share is None:
                axes.text(column, place, "–", ha="center", va="center", color=GREY)
                continue
            color = _shade(share)
            axes.barh(place, 0.94, left=column - 0.47, height=0.9, color=color)
            ink = "white" if share > 0.55 else INK
            axes.text(column, place, format_percent(share), ha="center", va="center", color=ink)
    axes.set_xticks(range(len(_COLUMNS)), list(_COLUMNS.values()), fontsize=8)
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(_COLUMNS) - 0.5), ylim=(len(rows) - 0.4, -0.9))
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_title("What can be read,\nor found with little knowledge")


def _shade(share: float) -> tuple[float, float, float]:
    """From pale to red."""
    pale, red = ([int(each[i : i + 2], 16) / 255 for i in (1, 3, 5)] for each in (PALE, RED))
    mixed = [(1 - share) * a + share * b for a, b in zip(pale, red, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _draw_picked_out(axes: Axes, rows: Rows) -> None:
    """How many people are picked out by a few known queries: bars, since lines would coincide."""
    shown = [row for row in rows if row["picked_out"] is not None]
    wide = 0.8 / max(len(shown), 1)
    for place, row in enumerate(shown):
        left = (place - (len(shown) - 1) / 2) * wide
        known = [
            (p + left, each)
            for p, each in enumerate(row["picked_out"], 1)
            if each["share"] is not None
        ]
        color = _COLORS[min(place, len(_COLORS) - 1)]
        shares = [100 * each["share"] for _, each in known]
        axes.bar([x for x, _ in known], shares, 0.9 * wide, color=color, label=row["method"])
        for x, each in known:
            axes.plot([x, x], [100 * each["low"], 100 * each["high"]], color=INK, linewidth=0.9)
    axes.yaxis.set_major_formatter(PERCENT)
    axes.set(ylim=(0, 103), xlabel="queries the attacker knows", ylabel="people picked out")
    axes.set_xticks(range(1, 6))
    axes.set_title("How few known queries\nidentify a person?")
    if shown:
        axes.legend(
            fontsize=8,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=len(shown),
            columnspacing=1,
            handlelength=1.2,
        )
