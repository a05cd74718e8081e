"""The guarantee for a person with several accounts.

A user of the log is one id. Somebody who uses g of them moves counts g times as far: epsilon is g
times as large, and items with up to tau + g - 1 users can be hers to break. Proved directly, not by
repeating the guarantee for one id g times (docs/proofs/accounts.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.accounting.exact import ThresholdParameters, proven_guarantee
from zealous.privacy.calibrate import any_published_probability
from zealous.privacy.guarantee import Guarantee, positive_integer


def guarantee_for_accounts(
    goal: Guarantee, parts: Sequence[ThresholdParameters], accounts: int
) -> Guarantee | None:
    """Say what a release guarantees to a person who holds at most so many ids of the log.

    Args:
        goal: Its definition, neighbours and users count, not its numbers.
        parts: The histograms of the release; epsilons add and deltas add.
        accounts: The most ids that one person holds, g.

    Returns:
        The guarantee, or None where none is proven: its delta would reach 1. With one account it
        is what `guarantees` says.

    Guarantee:
        Neighbours are logs that differ in at most g users, each as the goal's neighbours do. For
        probabilistic differential privacy `users` still bounds the ids, not the persons.

    >>> from zealous.privacy.guarantee import Indistinguishability
    >>> from zealous.mechanisms import Zealous
    >>> goal = Indistinguishability(epsilon=1, delta="1e-6")
    >>> mechanism = Zealous(items_per_user=5, scale=Fraction(10), tau=1, tau_prime=148)
    >>> two = guarantee_for_accounts(goal, [mechanism], 2)
    >>> two.epsilon, f"{float(two.delta):.3g}"
    (Fraction(2, 1), '1.96e-06')
    """
    positive_integer(accounts, "accounts")
    if not parts:
        raise UsageError("there must be at least one histogram")
    epsilon = delta = Fraction(0)
    for part in parts:
        one = proven_guarantee(goal, part)
        if one is None:
            return None
        epsilon += accounts * one.epsilon
        delta += one.delta if accounts == 1 else _delta(goal, part, accounts)
    if delta >= 1:
        return None
    return goal.with_budget(type(goal), epsilon=epsilon, delta=delta)


def _delta(goal: Guarantee, part: ThresholdParameters, accounts: int) -> Fraction:
    """The chance that an item is shown which the accounts could have brought below tau.

    It takes j accounts to bring down an item of tau + j - 1 users. Such items are worst all of the
    fewest users, or all of the most: nothing between, and no mixture, is shown with a larger chance
    for what it takes.
    """
    m, t = part.items_per_user, part.tau_prime - part.tau
    if goal.users is None or not goal.needs_users:
        # What it takes: j of the person's m g contributions.
        return max(
            any_published_probability(part.scale, t, accounts * m),
            any_published_probability(part.scale, t - accounts + 1, m),
        )
    # What it takes: as many contributions, of all there can be, as the item has users.
    contributions = goal.users * m
    most = min(part.tau + accounts - 1, goal.users)
    if most <= part.tau:
        return any_published_probability(part.scale, t, contributions // part.tau)
    return max(
        any_published_probability(
            part.scale, part.tau_prime - count, math.ceil(Fraction(contributions, count))
        )
        for count in (part.tau, most)
    )
