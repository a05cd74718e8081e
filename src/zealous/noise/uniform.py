"""What all noise is made of: uniform integers, and coins that fall with probability exp(-x).

Guarantee:
    Every draw has exactly its probability, from independent random bytes; no float decides.
"""

from __future__ import annotations

import hashlib
import itertools
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
Word: TypeAlias = "np.unsignedinteger[Any]"

_CANDIDATES = 1 << 17  # at a time: bounds memory to a few megabytes, and fits the cache

# No overflow: with t at most 2^48 and no loop longer than 2^12, both t * k in bernoulli_exp and
# u + t * v, for u below t and v from geometric, stay below 2^61.
LARGEST_TERM = 1 << 48
_MOST_ROUNDS = 1 << 12


def seeded_bytes(seed: int) -> RandomBytes:
    """A source that repeats itself, for tests.

    Guarantee:
        None. Who knows or guesses the seed can subtract the noise: a release made with it is not
        private.

    Args:
        seed: Any integer; the same seed gives the same bytes to the same sequence of calls.

    Returns:
        A source whose n-th call answers with SHAKE-256 of the seed and n.
    """
    calls = itertools.count()

    def random_bytes(size: int) -> bytes:
        return hashlib.shake_256(f"{seed} {next(calls)}".encode()).digest(size)

    return random_bytes


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
    alive = np.arange(u.size)
    for k in attempts():  # true when the first k at which Bernoulli(u / (t k)) fails is odd
        if not alive.size:
            break
        word, width = _cells(t * k)
        words = _words(word, t * k * width, alive.size, random_bytes)
        # Of t k equal cells the first u are successes. u * width cannot overflow, as u <= t k.
        success = words < u.astype(word) * word(width)
        alive, u = alive[success], u[success]
        result[alive] = k % 2 == 0
    return result


def geometric(size: int, random_bytes: RandomBytes) -> Ints:
    """How often Bernoulli(exp(-1)) succeeds before it fails: at least v times with P exp(-v)."""
    v = np.zeros(size, np.int64)
    alive = np.arange(size)
    for successes in attempts():
        if not alive.size:
            break
        ones = np.ones(alive.size, np.uint8)
        alive = alive[bernoulli_exp(ones, 1, random_bytes)]
        v[alive] = successes
    return v


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
    for word in words:
        largest = int(np.iinfo(word).max)
        if n <= largest >> 3:
            return word, largest // n
    raise AssertionError("unreachable: n is at most 2^60")


def _words(word: type[Word], limit: int, size: int, random_bytes: RandomBytes) -> npt.NDArray[Word]:
    """Words uniform in 0..limit-1, by drawing those beyond again."""
    words = np.empty(size, word)
    redo = np.arange(size)
    for _ in attempts():
        if not redo.size:
            break
        fresh = np.frombuffer(random_bytes(redo.size * words.itemsize), word, redo.size)
        words[redo] = fresh
        redo = redo[fresh >= limit]
    return words
