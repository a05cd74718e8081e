"""Random bytes that repeat themselves, for tests: what is made with them is not private."""

from __future__ import annotations

import hashlib
import itertools

from zealous.noise.uniform import RandomBytes


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
