"""How the curves of a method look in every picture of a study."""

from __future__ import annotations

from typing import Any, NamedTuple


class Look(NamedTuple):
    """How a curve looks: told apart by colour, and without it by marker and stroke."""

    color: str
    marker: str
    stroke: Any = "-"
    hollow: bool = False
