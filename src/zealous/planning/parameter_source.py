"""Where the parameters of a plan came from, as whoever planned it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_FIXED = (
    "The parameters, the kinds of items and the cleaning rules were fixed without looking at this "
    "log."
)


class ParameterSource(NamedTuple):
    """One answer.

    Attributes:
        words: What follows on "the parameters were chosen".
        assumption: What the guarantee then rests on, or does not cover.
        covered: Whether the guarantee covers the choice, if the answer is true.
    """

    words: str
    assumption: str
    covered: bool


THIS_LOG = "this-log"
UNSTATED = "unstated"
PARAMETERS_FROM: Mapping[str, ParameterSource] = {
    "public-facts": ParameterSource(
        "from public facts, without looking at this log", _FIXED, covered=True
    ),
    "earlier-release": ParameterSource(
        "from an earlier release, without looking at this log", _FIXED, covered=True
    ),
    "synthetic-log": ParameterSource(
        "on a synthetic log, without looking at this log", _FIXED, covered=True
    ),
    THIS_LOG: ParameterSource(
        "by looking at this log, which the guarantee does not cover",
        "The parameters were chosen by looking at this log: what they reveal of it is not covered "
        "by the guarantee.",
        covered=False,
    ),
    UNSTATED: ParameterSource(
        "in a way that the publisher did not state",
        "Nobody stated how the parameters were chosen. The guarantee covers them only if they, the "
        "kinds of items and the cleaning rules were fixed without looking at this log.",
        covered=False,
    ),
}
