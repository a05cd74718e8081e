"""How far a publication is, in the words of the page: the command's own lines are below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from zealous.release.progress import ASKS
from zealous.web.jobs import State

_WARNING = "warning: "
# How a line of the command begins when a step does, and what the page calls the step.
_STEPS = (
    (("reading the log",), "Read the log"),
    (("charged",), "Charge the privacy budget"),
    (("counting",), "Count, and draw noise"),
    (("writing",), "Write the release"),
)


@dataclass(frozen=True)
class Step:
    """A part of the work.

    Attributes:
        words: What it is.
        state: How far it is.
    """

    words: str
    state: Literal["done", "now", "open"]


def steps_of(lines: Sequence[str], state: State) -> list[Step]:
    """The steps of a publication that said these lines."""
    begun = [any(line.startswith(beginning) for line in lines) for beginning, _ in _STEPS]
    last = max((place for place, each in enumerate(begun) if each), default=0)
    made = []
    for place, (_, words) in enumerate(_STEPS):
        if state == "done" or place < last:
            made.append(Step(words, "done"))
        else:
            made.append(Step(words, "now" if place == last and state == "running" else "open"))
    return made


def warnings_of(lines: Sequence[str]) -> list[str]:
    """What somebody should look at."""
    return [line.removeprefix(_WARNING) for line in lines if line.startswith(_WARNING)]


def stopped_to_ask(lines: Sequence[str], state: State) -> bool:
    """Whether it stopped to ask if it is meant so, and charged nothing."""
    return state == "failed" and any(line.endswith(ASKS) for line in lines[-1:])


def without_option(line: str) -> str:
    """A line without the option that the page has a box for."""
    return line.removesuffix(ASKS).rstrip()
