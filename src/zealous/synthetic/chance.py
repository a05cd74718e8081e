"""Deterministic chance: hashes that make the same world every time, and a law of popularity."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def mix(*parts: Any) -> npt.NDArray[np.uint64]:
    """Hash integers (numbers or arrays, broadcast) to 64 bits: splitmix64, chained."""
    state = np.zeros(1, np.uint64)
    for part in parts:
        state = state ^ np.atleast_1d(np.asarray(part)).astype(np.uint64)
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


def integers_below(limit: int, *parts: Any) -> Ints:
    """A hashed integer in [0, limit)."""
    return (mix(*parts) % np.uint64(limit)).astype(np.int64)


def uniform(*parts: Any) -> Floats:
    """A hashed number in [0, 1)."""
    return (mix(*parts) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def zipf(u: Floats, *, power: float, shift: float, size: float) -> Ints:
    """Ranks 0, 1, ... below size, rank r in proportion to (r + shift)^-power, from uniform u.

    The inverse of the continuous distribution, in closed form: no table, so the tail may be as
    long as one likes. The power must not be 1 (take 0.999).
    """
    a = 1 - power
    low, high = shift**a, (size + shift) ** a
    ranks: Ints = ((low + u * (high - low)) ** (1 / a) - shift).astype(np.int64)
    return np.clip(ranks, 0, int(size) - 1)
