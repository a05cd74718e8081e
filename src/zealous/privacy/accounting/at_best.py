"""What the best of all mechanisms can publish at an epsilon and a delta, from public figures alone.

It holds for every mechanism that publishes items of the log alone, and none of a public list. The
proof is in docs/proofs/at_best.md.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

from zealous.privacy.guarantee import Guarantee

_CONTEXT = Context(prec=60)
_DOUBT = Decimal("1e-40")  # far above the error of the logarithm


def fewest_users(goal: Guarantee) -> int | None:
    """The fewest users of an item that can appear with 50 %; None where nothing ever can.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> fewest_users(Indistinguishability(epsilon=1, delta="1e-6"))
    14
    >>> fewest_users(Indistinguishability(epsilon=4, delta="1e-6"))
    5
    """
    if goal.delta == 0:
        return None
    with localcontext(_CONTEXT):
        epsilon, delta = (
            Decimal(each.numerator) / Decimal(each.denominator)
            for each in (goal.epsilon, goal.delta)
        )
        # Where the exponential is too large for a number, its logarithm is epsilon.
        growth = epsilon.exp() - 1 if epsilon < 100_000 else None
        odds = (1 + growth / (2 * delta)).ln() if growth else epsilon - (2 * delta).ln()
        users = odds / epsilon
        # Rounded down in doubt: no mechanism is said to be worse than it can be.
        return max(1, int((users - _DOUBT).to_integral_value(ROUND_CEILING)))


def most_items(goal: Guarantee, pairs: int) -> int | None:
    """The most items that can appear on average, of a log of so many (user, item) pairs.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> most_items(Indistinguishability(epsilon=1, delta="1e-6"), pairs=500)
    35
    """
    users = fewest_users(goal)
    if users is None:
        return 0
    return int((Decimal(pairs) / users).to_integral_value(ROUND_FLOOR))
