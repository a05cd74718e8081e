"""The picture of the algorithm: counts, the first threshold, noise, the second threshold.

It shows an invented log of a thousand people. tau, the noise and tau' are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from zealous.privacy.calibrate import Calibration, calibrate
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.grid.candidates import repeatable_bytes
from zealous.study.report.parts import Drawing
from zealous.study.report.style import BLUE, GREY, ORANGE, PALE, RED, figure_with_panels
from zealous.study.theory.explicit_domain import DomainHistogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THINGS = ("weather", "news", "maps", "recipes", "train", "a lake", "a shop", "her name")
_GOAL = ProbabilisticDP(epsilon=1, delta="0.01", users=1000)
_EVERYTHING = -(10**6)  # a threshold below every noisy count
_DRAW = 2  # noise that moves one item below tau' and another one above it
LEGEND = (
    f"An invented log of {_GOAL.users:,} people, with epsilon = {float(_GOAL.epsilon):g}, delta = "
    f"{float(_GOAL.delta):g} and m = 1"
)


@dataclass(frozen=True, kw_only=True)
class Example:
    """A small log on its way to a release.

    Attributes:
        plan: The thresholds and the noise.
        counts: How many people kept each of `_THINGS`.
        noisy: The same with noise; None where the first threshold dropped it.
    """

    plan: Calibration
    counts: Sequence[int]
    noisy: Sequence[int | None]

    def published(self, place: int) -> bool:
        """Whether an item is in the release."""
        noisy = self.noisy[place]
        return noisy is not None and noisy > self.plan.tau_prime


@cache
def example() -> Example:
    """The log of the picture, the same in every run."""
    plan = calibrate(_GOAL, 1)
    end = plan.tau_prime
    counts = (end + 26, end + 18, end + 12, end + 6, end + 1, end - 1, 6, plan.tau - 1)
    stay = {thing: count for thing, count in zip(_THINGS, counts, strict=True) if count >= plan.tau}
    noise = DomainHistogram(scale=plan.scale, threshold=_EVERYTHING)
    noisy = noise.release(stay, stay, repeatable_bytes("the algorithm's picture", _DRAW))
    return Example(plan=plan, counts=counts, noisy=[noisy.get(thing) for thing in _THINGS])


def draw_algorithm() -> Figure:
    """Draw both steps side by side."""
    log = example()
    figure, (before, after) = figure_with_panels(1, 1)
    stay = [count >= log.plan.tau for count in log.counts]
    _draw_bars(before, log.counts, stay)
    _draw_bars(after, log.noisy, [log.published(place) for place in range(len(_THINGS))])
    # Between whole numbers: at least tau stays, and only what is above tau' does.
    tau, end = log.plan.tau, log.plan.tau_prime
    before.axvline(tau - 0.5, color=ORANGE)
    before.text(9, 7, f"at least tau = {tau} people stay", color=ORANGE, va="center")
    before.set_title("1  people who kept each item")
    after.axvline(end + 0.5, color=RED)
    after.text(end + 4, 6, f"only above tau' = {end}\nis published", color=RED, va="center")
    after.set_title("2  the same with noise")
    for axes in (before, after):
        axes.set_yticks(range(len(_THINGS)), _THINGS)
        axes.set(xlim=(0, end + 37), ylim=(len(_THINGS) - 0.4, -0.6), xlabel="people")
        axes.grid(visible=False)
    return figure


def _draw_bars(axes: Axes, values: Sequence[int | None], kept: Sequence[bool]) -> None:
    for row, (value, stays) in enumerate(zip(values, kept, strict=True)):
        if value is None:
            axes.text(1, row, "dropped before", va="center", color=GREY, style="italic")
            continue
        axes.barh(row, value, color=BLUE if stays else PALE, height=0.65)
        axes.text(max(0, value) + 1.2, row, str(value), va="center")


def algorithm() -> Drawing:
    """The picture for the report, and the figures in it."""
    log = example()
    columns = {
        "item": pa.array(_THINGS),
        "people": pa.array(log.counts),
        "with noise": pa.array(log.noisy, pa.int64()),
        "published": pa.array([log.published(place) for place in range(len(_THINGS))]),
    }
    return Drawing(
        name="algorithm",
        title=f"What becomes of a log. {LEGEND}",
        draw=draw_algorithm,
        figures=pa.table(columns),
    )
