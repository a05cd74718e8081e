"""A picture of a series' budget: what each release added, the cap, and until when it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from zealous.ledger.book import Book
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import format_bound
from zealous.release.charging import charge_of_plan
from zealous.series.forecast import lasts_until, missing_releases, with_releases
from zealous.series.series import Series

_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT, _BOTTOM = 56, 64, 600, 260, 84, 56
_AHEAD = 24  # releases that are forecast at most
_LABELS = 12  # names below the curve at most
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.small{font-size:11px;fill:#666}"
    ".title{font-size:14px;font-weight:bold}.axis{stroke:#ccc}.cap{stroke:#b2182b}"
    ".spent{stroke:#2166ac;fill:none;stroke-width:2}.dot{fill:#2166ac}"
    ".sum{stroke:#999;fill:none;stroke-dasharray:2 3}"
    ".ahead{stroke:#2166ac;fill:none;stroke-width:2;stroke-dasharray:5 4}"
    ".next{fill:#fff;stroke:#2166ac}.note{fill:#b2182b}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.axis{stroke:#444}"
    ".next{fill:#222}.note{fill:#ef8a62}}"
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What was spent after one release.

    Attributes:
        name: The release's.
        epsilon: What all releases so far come to, composed where the cap is.
        total: The plain sum of their epsilons.
        planned: Whether it is still to come.
    """

    name: str
    epsilon: float
    total: float
    planned: bool


def budget_steps(series: Series, book: Book, plan: Plan) -> list[Step]:
    """What was spent after each release, and what would be until the budget ends."""
    kept = {each.seq: each for each in book.counted_entries()}
    steps, so_far = [], {}
    for seq, entry in kept.items():
        so_far[seq] = entry
        name = entry.release.removeprefix(f"{series.name} ")
        steps.append(_step(name, replace(book, entries=dict(so_far)), planned=False))
    last = lasts_until(series, book, plan) if book.capped() else None
    for release, period in missing_releases(series, book)[:_AHEAD]:
        if last is None or period.first > last.first:
            break
        book = with_releases(book, charge_of_plan(plan), [(release, period)])
        steps.append(_step(str(period), book, planned=True))
    return steps


def budget_picture(series: Series, steps: Sequence[Step], cap: float | None) -> str:
    """An SVG file; every text in it is escaped."""
    if not steps:
        return _svg([_text(20, f"{series.name}: nothing was charged yet.", "title")])
    done = [step for step in steps if not step.planned]
    most = max([cap or 0, *(step.epsilon for step in steps)]) * 1.08 or 1.0
    places = [_place(number, len(steps), step.epsilon, most) for number, step in enumerate(steps)]
    sums = [_place(number, len(steps), step.total, most) for number, step in enumerate(steps)]
    spent, ahead = places[: len(done)], places[max(len(done) - 1, 0) :]
    title = f"{series.name}: what one person may have lost, release by release"
    return _svg(
        [
            _text(20, title, "title"),
            _text(38, _legend(steps, cap), "small"),
            *_axes(steps, most),
            *([_cap_line(cap, most)] if cap else []),
            f'<clipPath id="frame"><rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" '
            f'height="{_HEIGHT}"/></clipPath>',
            f'<g clip-path="url(#frame)">{_path(sums, "sum")}</g>',
            *([_path(spent, "spent")] if done else []),
            *([_path(ahead, "ahead")] if len(done) < len(steps) else []),
            *(
                f'<circle cx="{x}" cy="{y}" r="4" class="{"next" if step.planned else "dot"}">'
                f"<title>{escape(step.name)}: epsilon {format_bound(step.epsilon)}</title></circle>"
                for (x, y), step in zip(places, steps, strict=True)
            ),
        ]
    )


def _step(name: str, book: Book, *, planned: bool) -> Step:
    entries, spent = book.counted_entries(), book.standing().epsilon
    total = float(sum(each.charge.epsilon for each in entries))
    epsilon = total if spent is None else float(spent)
    return Step(name=name, epsilon=epsilon, total=total, planned=planned)


def _legend(steps: Sequence[Step], cap: float | None) -> str:
    last = steps[-1]
    said = "Full: published. Hollow: still to come. Grey: the plain sum of epsilons."
    if cap and last.planned:
        said += f" The budget lasts until {last.name}."
    return said


def _place(number: int, of: int, epsilon: float, most: float) -> tuple[float, float]:
    x = _LEFT + _WIDTH * (number + 0.5) / of
    return round(x, 1), round(_TOP + _HEIGHT * (1 - epsilon / most), 1)


def _axes(steps: Sequence[Step], most: float) -> list[str]:
    bottom, every = _TOP + _HEIGHT, -(-len(steps) // _LABELS)
    found = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{_LEFT + _WIDTH}" class="axis" fill="none"/>']
    for part in range(5):
        value = most / 1.08 * part / 4
        _, y = _place(0, 1, value, most)
        found.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{value:.3g}</text>')
    for number, step in enumerate(steps):
        if number % every == 0:
            x, _ = _place(number, len(steps), 0, most)
            found.append(
                f'<text class="small" x="{x}" y="{bottom + 18}" text-anchor="middle">'
                f"{escape(step.name)}</text>"
            )
    found.append(_text(_TOP - 8, "epsilon", "small"))
    return found


def _cap_line(cap: float, most: float) -> str:
    _, y = _place(0, 1, cap, most)
    end = _LEFT + _WIDTH
    return (
        f'<path d="M{_LEFT} {y}H{end}" class="cap"/>'
        f'<text x="{end + 6}" y="{y + 4}" class="note">cap {format_bound(cap)}</text>'
    )


def _path(places: Sequence[tuple[float, float]], name: str) -> str:
    return f'<path d="M{" L".join(f"{x} {y}" for x, y in places)}" class="{name}"/>'


def _text(y: int, text: str, name: str) -> str:
    return f'<text class="{name}" x="8" y="{y}">{escape(text)}</text>'


def _svg(parts: Sequence[str]) -> str:
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    first = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join([first, f"<style>{_STYLE}</style>", *parts, "</svg>\n"])
