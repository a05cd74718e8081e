"""Exact integer noise from the operating system's randomness.

Floating-point noise leaks what it should hide (Mironov 2012), so here no float exists: a sample is
decided by comparing uniform integers with integers. The algorithms are 1 and 2 of Canonne, Kamath
and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), run on arrays.

Arrays keep independence as follows. A slot is decided by its own words; one that needs more rounds
keeps its place and gets fresh words. Which words of the stream those are depends on how the other
slots fared in the past, never on the words themselves, so slots stay independent and alike.
"""

import hashlib
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from zealous.errors import Refused, UsageError

RandomBytes: TypeAlias = Callable[[int], bytes]
_Word: TypeAlias = np.unsignedinteger[Any]

_WORDS: tuple[type[_Word], ...] = (np.uint8, np.uint16, np.uint32, np.uint64)
_CANDIDATES = 1 << 17  # at a time: bounds memory to a few megabytes, and fits the cache

# No overflow: with scale = t/s, t and s at most 2^48 and no loop longer than 2^12, both t * k in
# _bernoulli_exp and u + t * v in _accepted stay below 2^61.
_LARGEST_TERM = 1 << 48
_MOST_ROUNDS = 1 << 12


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace:
    """Discrete Laplace (two-sided geometric) noise: P(z) = (1-a)/(1+a) a^|z|, a = exp(-1/scale).

    Attributes:
        scale: lambda, exactly.

    Guarantee:
        For every integer z, P(z) and P(z + 1) differ by a factor of exactly exp(1/scale), which is
        what the theorems in calibrate.py rest on. It holds to the last digit, not up to rounding,
        if `random_bytes` gives independent uniform bytes. Each draw is independent of the others
        and of its position.

    Raises:
        UsageError: The scale is not a positive Fraction, or has too many digits.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled exactly."""
        if not isinstance(self.scale, Fraction) or self.scale <= 0:
            raise UsageError("scale must be a positive fractions.Fraction: floats are not exact")
        if max(self.scale.numerator, self.scale.denominator) > _LARGEST_TERM:
            raise UsageError(
                "scale has too many digits for exact 64-bit arithmetic: its numerator and "
                "denominator may not exceed 2^48; give epsilon with fewer digits"
            )

    def sample(self, size: int, random_bytes: RandomBytes = os.urandom) -> npt.NDArray[np.int64]:
        """Draw independent noise.

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
        # The rounds read one endless sequence of independent candidates, and the result is the
        # first `size` of it that are accepted, in order. How much is read in a round depends on
        # the past alone, so neither that nor the surplus thrown away at the end favours any value.
        while filled < size:
            missing = size - filled
            accepted = self._accepted(min(2 * missing + 16, _CANDIDATES), random_bytes)[:missing]
            noise[filled : filled + accepted.size] = accepted
            filled += accepted.size
        return noise

    def _accepted(self, candidates: int, random_bytes: RandomBytes) -> npt.NDArray[np.int64]:
        """Algorithm 2, once for each candidate; those it would restart are left out."""
        t, s = self.scale.numerator, self.scale.denominator
        u = _uniform(t, candidates, random_bytes)
        u = u[_bernoulli_exp(u, t, random_bytes)]
        # x = u + t v is geometric, P(x) ~ exp(-x/t): u is its remainder by t, v its quotient.
        v = _geometric(u.size, random_bytes)
        magnitude = (u.astype(np.int64) + t * v) // s
        negative = _uniform(2, u.size, random_bytes).astype(np.bool_)
        noise = np.where(negative, -magnitude, magnitude)
        # Zero has one sign only, or it would come twice as often as it should.
        return noise[~negative | (magnitude > 0)]


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


def _bernoulli_exp(
    u: npt.NDArray[_Word], t: int, random_bytes: RandomBytes
) -> npt.NDArray[np.bool_]:
    """Algorithm 1: true with probability exp(-u/t), for each u in 0..t."""
    result = np.ones(u.size, np.bool_)
    alive = np.arange(u.size)
    for k in _rounds():  # true when the first k at which Bernoulli(u / (t k)) fails is odd
        if not alive.size:
            break
        word, width = _cells(t * k)
        words = _words(word, t * k * width, alive.size, random_bytes)
        # Of t k equal cells the first u are successes. u * width cannot overflow, as u <= t k.
        success = words < u.astype(word) * word(width)
        alive, u = alive[success], u[success]
        result[alive] = k % 2 == 0
    return result


def _geometric(size: int, random_bytes: RandomBytes) -> npt.NDArray[np.int64]:
    """How often Bernoulli(exp(-1)) succeeds before it fails: P(v) ~ exp(-v)."""
    v = np.zeros(size, np.int64)
    alive = np.arange(size)
    for successes in _rounds():
        if not alive.size:
            break
        ones = np.ones(alive.size, np.uint8)
        alive = alive[_bernoulli_exp(ones, 1, random_bytes)]
        v[alive] = successes
    return v


def _uniform(n: int, size: int, random_bytes: RandomBytes) -> npt.NDArray[_Word]:
    """Integers uniform in 0..n-1."""
    word, width = _cells(n)
    return _words(word, n * width, size, random_bytes) // word(width)


def _cells(n: int) -> tuple[type[_Word], int]:
    """The narrowest word to cut into n equal cells, and how many values wide a cell is.

    Equal cells are what makes a uniform integer exact, where a remainder modulo n is not. Values
    beyond the last cell, fewer than 1 in 8, are drawn again.
    """
    for word in _WORDS:
        largest = int(np.iinfo(word).max)
        if n <= largest >> 3:
            return word, largest // n
    raise AssertionError("unreachable: n is at most 2^60")


def _words(
    word: type[_Word], limit: int, size: int, random_bytes: RandomBytes
) -> npt.NDArray[_Word]:
    """Words uniform in 0..limit-1, by drawing those beyond again."""
    words = np.empty(size, word)
    redo = np.arange(size)
    for _ in _rounds():
        if not redo.size:
            break
        fresh = np.frombuffer(random_bytes(redo.size * words.itemsize), word, redo.size)
        words[redo] = fresh
        redo = redo[fresh >= limit]
    return words


def _rounds() -> Iterator[int]:
    """Count 1, 2, 3, ... for loops that true randomness ends within a few dozen rounds.

    The bound stops a stuck source and limits the integers. The loops pass it with probability
    below exp(-4000) a slot, so it changes no distribution anybody could notice.
    """
    yield from range(1, _MOST_ROUNDS + 1)
    raise Refused("random_bytes is stuck: it repeats a value; use the operating system's source")
