"""A person with two or three accounts, against every tiny log and every output."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from tiny_worlds import (
    Counts,
    Law,
    Parameters,
    World,
    add,
    bad,
    changes,
    covered,
    histories,
    laws,
    same,
)

from zealous.errors import UsageError
from zealous.mechanisms import Zealous
from zealous.privacy.accounting.several_accounts import guarantee_for_accounts
from zealous.privacy.calibrate import calibrate, satisfied_guarantees, tail
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)
SCALES = (Fraction(1, 2), Fraction(1), Fraction(3))


# Every tiny log, and every one that differs in so many accounts


@cache
def reached(world: World, accounts: int) -> list[tuple[Counts, frozenset[Counts]]]:
    """For every log its counts, and those of each log that differs in at most so many accounts."""
    possible = histories(world.items, world.most)
    steps = {
        held: [to for to in possible if to == held or changes(held, to, world.neighbors)]
        for held in possible
    }
    found: dict[Counts, set[Counts]] = {}
    for person in itertools.combinations_with_replacement(possible, accounts):
        moves = {add(to) for to in itertools.product(*(steps[held] for held in person))}
        rest = world.users - accounts
        for others in itertools.combinations_with_replacement(possible, rest):
            base = add(others) if others else (0,) * world.items
            here = add([base, add(person)])
            found.setdefault(here, set()).update(add([base, move]) for move in moves)
    return [(counts, frozenset(near - {counts})) for counts, near in found.items()]


def in_all_logs(world: World, accounts: int, release: Parameters) -> Iterator[tuple[Law, Law]]:
    near = reached(world, accounts)
    law_of = laws({counts for counts, _ in near}, world.users, release)
    for counts, others in near:
        yield law_of[counts], np.stack([law_of[other] for other in others])


def true_delta(goal: Guarantee, world: World, accounts: int, release: Parameters) -> float:
    factor = math.exp(goal.epsilon)
    pairs = in_all_logs(world, accounts, release)
    if isinstance(goal, ProbabilisticDP):
        return max(law[bad(law, near, float(goal.epsilon))].sum() for law, near in pairs)
    return max(np.maximum(law - factor * near, 0).sum(axis=1).max() for law, near in pairs)


def zealous(release: Parameters, m: int) -> Zealous:
    return Zealous(
        scale=release.scale, tau=release.tau, tau_prime=release.tau_prime, items_per_user=m
    )


def asked(kind: type[Guarantee], world: World) -> Guarantee:
    return kind(epsilon=1, delta="0.5", users=world.users, neighbors=world.neighbors)


def releases(taus: range) -> list[Parameters]:
    return [
        Parameters(scale=scale, tau=tau, tau_prime=tau + t)
        for scale in SCALES
        for tau in taus
        for t in (-1, 0, 1, 2, 4)
    ]


def spent(weights: range, capacity: int, most: int) -> list[tuple[int, ...]]:
    """Every way to spend a capacity on at most so many things of these weights."""
    return [
        chosen
        for number in range(most + 1)
        for chosen in itertools.combinations_with_replacement(weights, number)
        if sum(chosen) <= capacity
    ]


def shown(release: Parameters, counts: tuple[int, ...]) -> float:
    """The chance that one of the items with these counts is shown."""
    hidden = (1 - tail(release.scale, release.tau_prime - count) for count in counts)
    return 1 - math.prod(hidden)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(
    ("users", "items", "most", "accounts"),
    [(2, 2, 1, 2), (4, 2, 1, 2), (4, 3, 1, 2), (3, 3, 2, 2), (4, 3, 2, 2), (4, 2, 2, 3)],
)
def test_what_is_claimed_for_several_accounts_is_true(
    users: int, items: int, most: int, accounts: int, neighbors: Neighbors
) -> None:
    world = World(users=users, items=items, most=most, neighbors=neighbors)
    for release in releases(range(1, users + 2)):
        for kind in (ProbabilisticDP, Indistinguishability):
            claim = guarantee_for_accounts(asked(kind, world), [zealous(release, most)], accounts)
            if claim is not None:
                truth = true_delta(claim, world, accounts, release)
                assert truth <= float(claim.delta) * (1 + 1e-9)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("items", "most"), [(2, 1), (3, 1), (2, 2), (3, 2)])
def test_the_probabilistic_delta_is_that_of_the_worst_log(
    items: int, most: int, neighbors: Neighbors
) -> None:
    """Which the claim bounds as if contributions could be cut: met where none is left over."""
    users, accounts, met = 4, 2, set()
    world = World(users=users, items=items, most=most, neighbors=neighbors)
    for release in releases(range(1, users + 1)):
        claim = guarantee_for_accounts(
            asked(ProbabilisticDP, world), [zealous(release, most)], accounts
        )
        if claim is not None and covered(release):
            assert claim.epsilon == accounts * world.moved() / release.scale
            counts = range(release.tau, min(release.tau + accounts - 1, users) + 1)
            worst, items_at = max(
                (shown(release, each), each) for each in spent(counts, users * most, items)
            )
            assert true_delta(claim, world, accounts, release) == same(worst)
            if float(claim.delta) == same(worst):
                met.add(items_at[0] - release.tau)
    assert met == {0, 1}  # worst are items at tau, or items that need both accounts


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("users", "items", "most"), [(2, 2, 1), (4, 2, 1), (2, 4, 2), (3, 4, 2)])
def test_the_indistinguishable_delta_cannot_be_lowered(
    users: int, items: int, most: int, neighbors: Neighbors
) -> None:
    world = World(users=users, items=items, most=most, neighbors=neighbors)
    ends = set()
    for release in releases(range(1, 2 if users < 4 else 3)):
        claim = guarantee_for_accounts(
            asked(Indistinguishability, world), [zealous(release, most)], 2
        )
        assert claim is not None
        assert true_delta(claim, world, 2, release) == same(float(claim.delta))
        one = (release.tau,) * (2 * most)
        ends.add(shown(release, one) == same(float(claim.delta)))
    assert ends == {True, False}  # worst are items of one account each, or items of all accounts


@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_the_claim_for_one_account_does_not_hold_for_two(kind: type[Guarantee]) -> None:
    world = World(users=4, items=2, most=1, neighbors="replace")
    release = Parameters(scale=Fraction(1), tau=2, tau_prime=4)
    single = guarantee_for_accounts(asked(kind, world), [zealous(release, 1)], 1)
    assert single is not None
    assert true_delta(single, world, 1, release) == same(float(single.delta))
    assert true_delta(single, world, 2, release) > 2 * single.delta
    # nor does twice its epsilon save its delta
    twice = single.with_budget(kind, epsilon=2 * single.epsilon, delta=single.delta)
    assert true_delta(twice, world, 2, release) > 1.3 * float(single.delta)


# The worst is at an end


@examples(200)
@given(
    scale=st.fractions(Fraction(1, 4), 12, max_denominator=12),
    tau=st.integers(1, 6),
    t=st.integers(-2, 30),
    users=st.integers(1, 12),
    m=st.integers(1, 3),
    accounts=st.integers(1, 5),
)
def test_no_mixture_of_items_is_worse(
    scale: Fraction, tau: int, t: int, users: int, m: int, accounts: int
) -> None:
    release = Parameters(scale=scale, tau=tau, tau_prime=tau + t)

    def worst(values: dict[int, float], capacity: int) -> float:
        """By dynamic programming: the chance that one is shown, of what the capacity can buy."""
        best = [0.0] * (capacity + 1)
        for left in range(1, capacity + 1):
            best[left] = max(
                (best[left - w] + value for w, value in values.items() if w <= left),
                default=0.0,
            )
        return -math.expm1(-best[capacity])

    hidden = {c: -math.log1p(-tail(scale, tau + t - c)) for c in range(tau, tau + accounts)}
    possible = {count: value for count, value in hidden.items() if count <= users}
    for goal, truth in (
        (ProbabilisticDP(epsilon=1, delta="0.5", users=users), worst(possible, users * m)),
        (
            Indistinguishability(epsilon=1, delta="0.5"),
            worst({c - tau + 1: v for c, v in hidden.items()}, accounts * m),
        ),
    ):
        claim = guarantee_for_accounts(goal, [zealous(release, m)], accounts)
        if claim is None:
            assert truth > 1 - 1e-9 or tau > users
            continue
        assert truth <= float(claim.delta) * (1 + 1e-9) + 1e-15
        if isinstance(goal, Indistinguishability):
            assert float(claim.delta) == pytest.approx(truth, rel=1e-9)


# The numbers


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("tau_prime", [1, 4, 30])
def test_one_account_has_the_guarantee_of_the_release(tau_prime: int, neighbors: Neighbors) -> None:
    told = satisfied_guarantees(
        scale=Fraction(3), tau=2, tau_prime=tau_prime, items_per_user=2, users=50
    )
    release = Parameters(scale=Fraction(3), tau=2, tau_prime=tau_prime)
    for kind in (ProbabilisticDP, Indistinguishability):
        goal = kind(epsilon=1, delta="0.5", users=50, neighbors=neighbors)
        same_kind = [g for g in told if type(g) is kind and g.neighbors == neighbors]
        found = guarantee_for_accounts(goal, [zealous(release, 2)], 1)
        assert ([] if found is None else [found]) == same_kind


def calibrated(goal: Guarantee, m: int) -> Zealous:
    found = calibrate(goal, m)
    return Zealous(scale=found.scale, tau=found.tau, tau_prime=found.tau_prime, items_per_user=m)


def test_more_accounts_lose_more_until_nothing_is_proven() -> None:
    for goal in (
        ProbabilisticDP(epsilon=1, delta="0.001", users=500_000),
        Indistinguishability(epsilon=1, delta="1e-6"),
    ):
        each = calibrated(goal, 2)
        found = [
            guarantee_for_accounts(goal, [each], accounts) for accounts in (1, 2, 3, 10, 40, 10**9)
        ]
        proven = [claim for claim in found if claim is not None]
        assert found == proven + [None] * (len(found) - len(proven))
        assert 3 <= len(proven) < len(found)
        for one, two in itertools.pairwise(proven):
            assert one.epsilon < two.epsilon
            assert one.delta < two.delta
        assert [claim.epsilon for claim in proven[:3]] == [1, 2, 3]
        # far below what repeating the guarantee for one would say, at exp(epsilon) to the step
        assert proven[1].delta < proven[0].delta * (1 + Fraction("2.718"))


def test_histograms_add_up() -> None:
    goal = Indistinguishability(epsilon=2, delta="1e-6")
    parts = [calibrated(goal.share(Fraction(1, 2)), m) for m in (2, 5)]
    both = guarantee_for_accounts(goal, parts, 3)
    single = [guarantee_for_accounts(goal, [each], 3) for each in parts]
    assert both is not None
    assert both.epsilon == sum(each.epsilon for each in single if each) == 6
    assert both.delta == sum(each.delta for each in single if each)


def test_deltas_that_add_up_to_one_prove_nothing() -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.5", users=10**6)
    half = calibrated(ProbabilisticDP(epsilon=1, delta="0.6", users=10**6), 1)
    assert guarantee_for_accounts(goal, [half], 1) is not None
    assert guarantee_for_accounts(goal, [half, half], 1) is None


@pytest.mark.parametrize("accounts", [0, -1, 1.5, True, "2"], ids=repr)
def test_accounts_must_be_a_whole_number(accounts: Any) -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    with pytest.raises(UsageError, match="accounts"):
        guarantee_for_accounts(goal, [calibrated(goal, 1)], accounts)


def test_a_release_has_at_least_one_histogram() -> None:
    with pytest.raises(UsageError, match="histogram"):
        guarantee_for_accounts(Indistinguishability(epsilon=1, delta="1e-6"), [], 2)
