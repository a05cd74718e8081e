"""How many of very many rare events happen, without drawing each of them.

Guarantee:
    Exactly the binomial law of how many happen, whatever the digits of their chance.
"""

import os
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

from zealous.errors import Refused
from zealous.noise.uniform import RandomBytes

_DIGITS = 40  # to begin with: more are needed once in 1e39 draws
_GUARD = 40  # digits that powers and sums may lose
_MOST_DIGITS = 10_000


def rare_events(
    size: int, chance: Callable[[int], Decimal], random_bytes: RandomBytes = os.urandom
) -> int:
    """Draw from the binomial distribution of `size` events, each of the same small chance.

    A uniform number, known to so many digits, is compared with the distribution function, known to
    as many; where they are too near to tell, more digits of both are worked out. So the result is
    exact, and takes as long as the number that is drawn is large.

    Args:
        size: How many events there are.
        chance: The chance of each, to as many significant digits as asked for.
        random_bytes: Where randomness comes from. Anything but the default is for tests.

    Raises:
        Refused: `random_bytes` is stuck.
    """
    drawn, bits, digits = 0, 0, _DIGITS
    while digits < _MOST_DIGITS:
        more = 4 * digits - bits  # 4 bits are more than a digit
        drawn = drawn << more | int.from_bytes(random_bytes(more // 8))
        bits += more
        with localcontext(_context(digits)):
            near = Decimal(10) ** -digits
            low = Decimal(drawn) / Decimal(2**bits)
            found = _inverse(size, chance(digits + _GUARD), low, low + 1 / Decimal(2**bits), near)
        if found is not None:
            return found
        digits *= 2
    raise Refused("random_bytes is stuck: it repeats a value; use the operating system's source")


def _inverse(size: int, p: Decimal, low: Decimal, high: Decimal, near: Decimal) -> int | None:
    """The least k with P(at most k) above a number between low and high; None if not clear."""
    chance = (size * (1 - p).ln()).exp()  # of none
    total = Decimal(0)
    for k in range(size + 1):
        total += chance
        if high <= total - near or k == size:
            return k
        if low < total + near:
            return None
        chance *= p / (1 - p) * (size - k) / (k + 1)
    raise AssertionError("unreachable: at k = size every number is passed")


def _context(digits: int) -> Context:
    return Context(prec=digits + 2 * _GUARD, Emin=MIN_EMIN, Emax=MAX_EMAX)
