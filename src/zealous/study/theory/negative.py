"""The negative result: with a large domain, differential privacy is worse than publishing nothing.

An algorithm that is epsilon-differentially private (delta = 0) and shows every very frequent item
with probability at least c must also show each item that nobody has with some probability. Over a
large domain these wrong items outnumber all that could be right. docs/proofs/negative.md has the
proof, its conditions, and what is wrong with the printed figure.

Domains are too large for floats, so sizes are natural logarithms here. The formula has a factor 2
to spare, against which the rounding of a float is nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from zealous.errors import UsageError
from zealous.privacy.guarantee import Neighbors, Number, exact_fraction, positive_integer
from zealous.study.theory.accuracy_theorem import AccuracyTarget


@dataclass(frozen=True, init=False)
class DomainSetting:
    """For whom the negative result is asked.

    Attributes:
        epsilon: Of differential privacy, with delta = 0.
        users: U.
        items_per_user: m.
        accuracy: c, the least probability with which a very frequent item is shown.
        neighbors: Which two logs must be hard to tell apart.
    """

    epsilon: Fraction
    users: int
    items_per_user: int
    accuracy: Fraction
    neighbors: Neighbors

    def __init__(
        self,
        *,
        epsilon: Number,
        users: int,
        items_per_user: int,
        accuracy: Number,
        neighbors: Neighbors = "replace",
    ) -> None:
        epsilon, accuracy = exact_fraction(epsilon, "epsilon"), exact_fraction(accuracy, "accuracy")
        if epsilon <= 0:
            raise UsageError("epsilon must be above 0: try a value between 0.1 and 10")
        if not 0 < accuracy <= 1:
            raise UsageError("accuracy must be above 0 and at most 1: try 0.5")
        if neighbors not in get_args(Neighbors):
            raise UsageError("neighbors must be 'replace' or 'add-remove'")
        for name, value in (
            ("epsilon", epsilon),
            ("users", positive_integer(users, "users")),
            ("items_per_user", positive_integer(items_per_user, "items_per_user")),
            ("accuracy", accuracy),
            ("neighbors", neighbors),
        ):
            object.__setattr__(self, name, value)

    @property
    def steps_per_user(self) -> int:
        """How many neighbouring steps it takes to give one user one more item, at most."""
        return 1 if self.neighbors == "replace" else 2  # her history goes, another one comes


def log_hopeless_domain(setting: DomainSetting, wanted: AccuracyTarget) -> float:
    """The domain size from which on publishing nothing is better, as a natural logarithm.

    With F = tau* + xi and L = tau* - xi, rounded up to whole users, and k = 1 (`replace`) or 2
    (`add-remove`) it is U m (2 exp(k epsilon F) / (c F) + 1/L). In a domain of that size or larger
    every epsilon-differentially private algorithm that is c-accurate has on *every* log a larger
    inaccuracy than publishing nothing.

    Infinite where no domain is large enough: where F is above U no item can be very frequent, and
    every algorithm is c-accurate; where L is not above 0 no item is very infrequent.

    >>> paper = DomainSetting(epsilon=1, users=10**6, items_per_user=10, accuracy="0.01")
    >>> round(log_hopeless_domain(paper, AccuracyTarget(40, 10)) / math.log(10), 2)
    29.32
    """
    if wanted.frequent > setting.users or wanted.infrequent <= 0:
        return math.inf
    exponent = float(setting.epsilon * setting.steps_per_user * wanted.frequent)
    contributions = setting.users * setting.items_per_user
    each = math.log(2) + exponent - math.log(setting.accuracy) - math.log(wanted.frequent)
    return math.log(contributions) + _log_of_sum(each, -math.log(wanted.infrequent))


def printed_log_domain(setting: DomainSetting, wanted: AccuracyTarget) -> float:
    """The domain size as the paper prints it; where m is above 2, not right when users are counted.

    U m (2 exp(2 epsilon (tau* + xi)/m) / (c (tau* + xi)) + 1/(tau* - xi + 1)), for `replace`. It
    lets one user move an item's count by m, but a user has an item or has it not.

    >>> paper = DomainSetting(epsilon=1, users=10**6, items_per_user=10, accuracy="0.01")
    >>> round(printed_log_domain(paper, AccuracyTarget(40, 10)) / math.log(10), 2)
    11.95
    """
    frequent, infrequent = wanted.tau_star + wanted.xi, wanted.tau_star - wanted.xi
    if infrequent <= -1:
        return math.inf
    exponent = float(2 * setting.epsilon * frequent / setting.items_per_user)
    each = math.log(2) + exponent - math.log(setting.accuracy) - math.log(frequent)
    contributions = setting.users * setting.items_per_user
    return math.log(contributions) + _log_of_sum(each, -math.log(infrequent + 1))


def hopeless_count(setting: DomainSetting, log_domain: float, infrequent: int = 1) -> int:
    """The most users with which items are out of reach in a domain of this size.

    The largest F for which the domain is beyond `log_hopeless_domain`: no algorithm that shows
    items of F users with probability c is better than publishing nothing. 0 if there is none.

    Args:
        setting: The algorithm asked for.
        log_domain: The natural logarithm of the domain's size.
        infrequent: Items with fewer users than this are very infrequent; 1 counts as mistakes
            only items that nobody has.

    >>> pairs = 6 * math.log(900_000)  # two queries of three words each
    >>> setting = DomainSetting(epsilon=1, users=10**6, items_per_user=10, accuracy="0.5")
    >>> hopeless_count(setting, pairs)
    68
    """
    positive_integer(infrequent, "infrequent")

    def hopeless(frequent: int) -> bool:
        middle = Fraction(frequent + infrequent, 2)
        return (
            log_hopeless_domain(setting, AccuracyTarget(middle, middle - infrequent)) <= log_domain
        )

    if infrequent > setting.users:
        return 0
    # exp(k epsilon F)/F falls until F = 1/(k epsilon) and rises from there on.
    lowest = 1 / (setting.epsilon * setting.steps_per_user)
    near = {math.floor(lowest), math.ceil(lowest)}
    starts = {max(infrequent, min(frequent, setting.users)) for frequent in near}
    low, high = max(filter(hopeless, starts), default=0), setting.users
    if low < max(starts):
        return low
    while low < high:
        middle = (low + high + 1) // 2
        if hopeless(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _log_of_sum(one: float, other: float) -> float:
    low, high = sorted((one, other))
    return high + math.log1p(math.exp(low - high))
