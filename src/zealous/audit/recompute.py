"""Parameters and selection once more, straight from theorems and rules, sharing no code with them.

Slow and plain on purpose: every tau, every t, no search, no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import duckdb
import pyarrow as pa
from msgspec.structs import replace

from zealous.audit.theorems import CAPPED, deltas, finds_keys, least_delta_together
from zealous.record.record import PartRecord
from zealous.registry import Registry

_DIGITS = 80
_FLOAT = 1e-9
_LESS = 0.97  # of the least Gaussian noise: scales are tried in steps of a sixty-fourth
_BOUNDED = 0.005  # what proofs give away where noise is on integers: deltas are in floats here


class Parameters(NamedTuple):
    """What the theorems ask for, and the delta that it gives."""

    scale: Fraction
    tau: int
    tau_prime: int
    delta: Decimal


class Recomputation(NamedTuple):
    """How the parameters of a mechanism that has a theorem of its own are found a second time.

    Attributes:
        mechanism: The name of the mechanism.
        follows: Whether a part of a plan, for so many users, is what that theorem gives.
    """

    mechanism: str
    follows: Callable[[PartRecord, int | None], bool]


RECOMPUTATIONS: Registry[Recomputation] = Registry(
    "zealous.audit.settings", lambda each: each.mechanism
)


def parameters(
    *,
    epsilon: Fraction,
    delta: Fraction,
    items_per_user: int,
    users: int | None,
    probabilistic: bool,
    replace: bool,
) -> Parameters:
    """The least tau' that the theorem allows; among equals the least delta."""
    m = items_per_user
    scale = Fraction(2 * m if replace else m) / epsilon
    last = 1
    if probabilistic:
        if users is None:
            raise ValueError("the probabilistic guarantee needs users")
        last = min(users, math.floor(4 * scale) + 5)
    found = []
    with localcontext() as context:
        context.prec = _DIGITS
        goal = Decimal(delta.numerator) / Decimal(delta.denominator)
        alpha = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        for tau in range(1, last + 1):
            items = (users or 0) * m // tau if probabilistic else m
            t, appears = 0, alpha / (1 + alpha)
            most = 1 - alpha if probabilistic else Decimal(1)  # that absence may tell
            while appears > most or 1 - (1 - appears) ** items > goal:
                t, appears = t + 1, appears * alpha
            found.append((tau + t, 1 - (1 - appears) ** items, tau))
    tau_prime, achieved, tau = min(found)
    return Parameters(scale, tau, tau_prime, achieved)


def follows_from_theorems(part: PartRecord, users: int | None) -> bool:
    """Whether a plan's scale, tau, tau' and delta are what the theorems give."""
    own = RECOMPUTATIONS.get(part.mechanism)
    return _keeps_delta(part) if own is None else own.follows(part, users)


def whole_follows(parts: Sequence[PartRecord], epsilon: Fraction, delta: Fraction) -> bool:
    """Whether tables may promise so much together: what they surely need is no more.

    Their deltas add up to that of the whole. So do their epsilons, or they are more where losses
    compose, which the probabilistic guarantee does not.
    """
    shares = [part.exact for part in parts]
    added = sum((Fraction(share.epsilon) for share in shares), Fraction(0))
    if sum((Fraction(share.delta) for share in shares), Fraction(0)) != delta or added < epsilon:
        return False
    if parts[0].guarantee == "probabilistic" or len(parts) == 1:
        return added == epsilon
    return least_delta_together(parts, float(epsilon)) <= float(delta) * (1 + _FLOAT)


def _keeps_delta(part: PartRecord) -> bool:
    """Whether the parameters keep delta, are stated with their delta, and waste next to none."""
    stated, asked = part.delta_achieved, part.delta
    least, bound = deltas(part)
    if not least * (1 - _FLOAT) <= stated <= min(bound * (1 + _BOUNDED), asked):
        return False
    lower, keys = part.tau_prime, finds_keys(part)
    if lower is None and part.noise == "discrete-gaussian" and not keys:
        return deltas(replace(part, scale=part.scale * _LESS))[1] * (1 + _BOUNDED) > asked
    if part.noise == CAPPED or (lower is None and not keys):
        sides = 2 if part.neighbors == "replace" else 1
        scale = sides * part.items_per_user / Fraction(part.exact.epsilon)
        return bool(Fraction(part.exact.scale) == scale)
    if keys or lower is None or lower == part.tau:
        return True
    return deltas(part, lower - 1)[1] * (1 + _BOUNDED) > asked


def counts_after_selection(held: Sequence[tuple[str, str]], key: str) -> dict[str, int]:
    """How many users keep an item when each keeps one: the one that the public key puts first.

    The order is the engine's hash of the hash of key, user and item; nothing else of the engine's
    module is used, and nobody's choice can depend on what others hold.

    Args:
        held: Users and items, as they were written into the log.
        key: The published key, in hexadecimal digits.
    """
    users, items = zip(*dict.fromkeys(held), strict=True)
    with duckdb.connect() as connection:
        connection.register("held", pa.table({"user": users, "item": items}))
        hashed = connection.execute(
            f"select user, item, hash(hash({int(key, 16)}::ubigint, user, item)) from held"
        ).fetchall()
    first: dict[str, tuple[int, str]] = {}
    for user, item, place in hashed:
        first[user] = min(first.get(user, (place, item)), (place, item))
    kept = [item for _, item in first.values()]
    return {item: kept.count(item) for item in set(kept)}
