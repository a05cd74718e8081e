"""What all noise is made of: uniform integers, and coins that fall with probability exp(-x).

Guarantee:
    Every draw has exactly its probability, from independent random bytes; no float decides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from zealous.errors import Refused, UsageError
from zealous.libraries import np

if TYPE_CHECKING:
    import numpy.typing as npt

RandomBytes: TypeAlias = Callable[[int], bytes]
Ints: TypeAlias = "npt.NDArray[np.int64]"
Places: TypeAlias = "npt.NDArray[np.intp]"
Word: TypeAlias = "np.unsignedinteger[Any]"

_CANDIDATES = 1 << 17  # at a time: bounds memory to a few megabytes, and fits the cache

# No overflow: with t at most 2^48 and no loop longer than 2^12, both t * k in bernoulli_exp and
# u + t * v, for u below t and v from geometric, stay below 2^61.
LARGEST_TERM = 1 << 48
_MOST_ROUNDS = 1 << 12


class Rejection:
    """Noise that is drawn by rejection, from independent candidates."""

    def accepted(self, candidates: int, random_bytes: RandomBytes) -> Ints:
        """Of so many fresh candidates, those that are accepted, in order."""
        raise NotImplementedError

    def sample(self, size: int, random_bytes: RandomBytes = os.urandom) -> Ints:
        """Draw independent noise: the first `size` accepted candidates.

        Args:
            size: How many draws.
            random_bytes: Where randomness comes from. Anything but the default is for tests.

        Returns:
            An array of `size` integers.

        Raises:
            UsageError: The size is negative.
            Refused: `random_bytes` is stuck.
        """
        if size < 0:
            raise UsageError("size must not be negative: ask for 0 draws or more")
        noise = np.empty(size, np.int64)
        filled = 0
        fruitless = attempts()
        # The rounds read one endless sequence of independent candidates, and the result is the
        # first `size` of it that are accepted, in order. How much is read in a round depends on
        # the past alone, so neither that nor the surplus thrown away at the end favours any value.
        while filled < size:
            missing = size - filled
            found = self.accepted(min(2 * missing + 16, _CANDIDATES), random_bytes)[:missing]
            noise[filled : filled + found.size] = found
            filled += found.size
            if not found.size:
                next(fruitless)
        return noise


def check_scale(scale: Fraction) -> None:
    """Refuse a scale of which no noise can be drawn exactly."""
    if not isinstance(scale, Fraction) or scale <= 0:
        raise UsageError("scale must be a positive fractions.Fraction: floats are not exact")


def bernoulli_exp(
    u: npt.NDArray[np.integer[Any]], t: int, random_bytes: RandomBytes
) -> npt.NDArray[np.bool_]:
    """Algorithm 1: true with probability exp(-u/t), for each u in 0..t."""
    result = np.ones(u.size, np.bool_)
    alive = None  # all
    for k in attempts():  # true when the first k at which Bernoulli(u / (t k)) fails is odd
        if not u.size:
            break
        word, width = _cells(t * k)
        words = _words(word, t * k * width, u.size, random_bytes)
        # Of t k equal cells the first u are successes. u * width cannot overflow, as u <= t k.
        success = np.flatnonzero(words < u.astype(word) * word(width))
        alive, u = _chosen(alive, success), u[success]
        result[alive] = k % 2 == 0
    return result


def geometric(size: int, random_bytes: RandomBytes) -> Ints:
    """How often Bernoulli(exp(-1)) succeeds before it fails: at least v times with P exp(-v)."""
    v = np.zeros(size, np.int64)
    alive, ones = None, np.ones(size, np.uint8)
    for successes in attempts():
        if not ones.size:
            break
        success = np.flatnonzero(bernoulli_exp(ones, 1, random_bytes))
        alive, ones = _chosen(alive, success), ones[: success.size]
        v[alive] = successes
    return v


def _chosen(places: Places | None, chosen: Places) -> Places:
    """Of some places, or of all where none are named, those that are chosen by their number."""
    return chosen if places is None else places[chosen]


def uniform(n: int, size: int, random_bytes: RandomBytes) -> npt.NDArray[Word]:
    """Integers uniform in 0..n-1."""
    word, width = _cells(n)
    return _words(word, n * width, size, random_bytes) // word(width)


def attempts() -> Iterator[int]:
    """Count 1, 2, 3, ... for loops that true randomness ends within a few dozen rounds.

    The bound stops a stuck source and limits the integers. The loops pass it with probability
    below exp(-4000) a slot, so it changes no distribution anybody could notice.
    """
    yield from range(1, _MOST_ROUNDS + 1)
    raise Refused("random_bytes is stuck: it repeats a value; use the operating system's source")


def _cells(n: int) -> tuple[type[Word], int]:
    """The narrowest word to cut into n equal cells, and how many values wide a cell is.

    Equal cells are what makes a uniform integer exact, where a remainder modulo n is not. Values
    beyond the last cell, fewer than 1 in 8, are drawn again.
    """
    words: tuple[type[Word], ...] = (np.uint8, np.uint16, np.uint32, np.uint64)
    for bits, word in zip((8, 16, 32, 64), words, strict=True):
        largest = (1 << bits) - 1
        if n <= largest >> 3:
            return word, largest // n
    raise AssertionError("unreachable: n is at most 2^60")


def _words(word: type[Word], limit: int, size: int, random_bytes: RandomBytes) -> npt.NDArray[Word]:
    """Words uniform in 0..limit-1, by drawing those beyond again."""
    width = np.dtype(word).itemsize
    words = np.frombuffer(bytearray(random_bytes(size * width)), word, size)
    redo = np.flatnonzero(words >= limit)
    for _ in attempts():
        if not redo.size:
            break
        fresh = np.frombuffer(random_bytes(redo.size * width), word, redo.size)
        words[redo] = fresh
        redo = redo[fresh >= limit]
    return words
