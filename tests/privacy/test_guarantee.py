import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zealous.errors import UsageError
from zealous.privacy.guarantee import (
    Guarantee,
    Indistinguishability,
    Neighbors,
    ProbabilisticDP,
    exact_fraction,
    format_bound,
    positive_integer,
)

KINDS: list[type[Guarantee]] = [ProbabilisticDP, Indistinguishability]
NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.definition)


def example(kind: type[Guarantee] = ProbabilisticDP, **changed: Any) -> Guarantee:
    given: dict[str, Any] = {"epsilon": 1, "delta": "0.001", "users": 1000}
    return kind(**given | changed)


# Numbers


@given(
    st.floats(min_value=1e-300, max_value=1e6)
    | st.fractions(min_value=Fraction(1, 10**9), max_value=99),
    st.integers(min_value=1, max_value=12),
)
def test_a_bound_in_print_is_never_below_it(value: float | Fraction, digits: int) -> None:
    shown = Fraction(Decimal(format_bound(value, digits)))
    exact = Fraction(repr(value)) if isinstance(value, float) else value
    assert exact <= shown <= exact * (1 + Fraction(10, 10**digits))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-6", Fraction(1, 10**6)),
        ("1e-300", Fraction(1, 10**300)),
        ("0.001", Fraction(1, 1000)),
        ("1/3", Fraction(1, 3)),
        (" 2 ", Fraction(2)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (1e-300, Fraction(1, 10**300)),
        (0.30000000000000004, Fraction(30000000000000004, 10**17)),
        (2, Fraction(2)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_a_number_is_the_decimal_that_was_written(written: Any, meant: Fraction) -> None:
    assert exact_fraction(written, "delta") == meant


@given(st.floats(1e-300, 1e300))
def test_a_float_is_its_shortest_decimal(value: float) -> None:
    assert exact_fraction(value, "epsilon") == exact_fraction(repr(value), "epsilon")
    assert float(exact_fraction(value, "epsilon")) == value


NO_NUMBER = [
    "",
    "one",
    "1e",
    "1,5",
    "0x10",
    "1/0",
    "nan",
    "inf",
    "-inf",
    float("nan"),
    float("inf"),
    Decimal("nan"),
    Decimal("-inf"),
    None,
    1j,
    [],
    b"1",
]


@pytest.mark.parametrize("value", NO_NUMBER, ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_what_is_no_number_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} must be a number"):
        example(ProbabilisticDP, **{name: value})


@pytest.mark.parametrize("epsilon", [0, -1, "-0.5", "0.0", Fraction(-1, 10**9)], ids=repr)
@kinds
def test_epsilon_must_be_positive(kind: type[Guarantee], epsilon: Any) -> None:
    with pytest.raises(UsageError, match="epsilon must be above 0"):
        example(kind, epsilon=epsilon)


@pytest.mark.parametrize("delta", [1, "1.0", -0.001, 2, "-1e-300"], ids=repr)
@kinds
def test_delta_must_lie_between_zero_and_one(kind: type[Guarantee], delta: Any) -> None:
    with pytest.raises(UsageError, match="delta must be at least 0 and below 1"):
        example(kind, delta=delta)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("value", ["1e400", "1e200000", "1e-200000"])
def test_a_number_beyond_all_reason_is_refused_before_it_is_computed(name: str, value: str) -> None:
    # As an integer "1e100000000" takes minutes, and beyond 1e308 it cannot be printed as a float.
    with pytest.raises(UsageError, match=name):
        example(ProbabilisticDP, **{name: value})


@pytest.mark.parametrize("users", [0, -1, 1.0, "5", True, float("nan")], ids=repr)
@kinds
def test_users_must_be_a_whole_number(kind: type[Guarantee], users: Any) -> None:
    with pytest.raises(UsageError, match="users must be a whole number of at least 1"):
        example(kind, users=users)


def test_whole_returns_what_it_checked() -> None:
    assert positive_integer(3, "items_per_user") == 3
    with pytest.raises(UsageError, match="items_per_user"):
        positive_integer(0, "items_per_user")


def test_only_the_probabilistic_guarantee_needs_users() -> None:
    with pytest.raises(UsageError, match="needs users"):
        ProbabilisticDP(epsilon=1, delta="0.001")
    assert Indistinguishability(epsilon=1, delta="0.001").users is None


@pytest.mark.parametrize("neighbors", ["add", "", None, []], ids=repr)
def test_other_neighbours_are_refused(neighbors: Any) -> None:
    with pytest.raises(UsageError, match="'replace' or 'add-remove'"):
        example(neighbors=neighbors)


# The value


@kinds
def test_is_a_frozen_value(kind: type[Guarantee]) -> None:
    goal = example(kind)
    assert goal == example(kind, epsilon="1.0", delta=0.001)
    assert hash(goal) == hash(example(kind))
    assert goal != example(kind, neighbors="add-remove")
    with pytest.raises(AttributeError):
        goal.epsilon = Fraction(9)  # type: ignore[misc]


def test_the_two_definitions_are_never_equal() -> None:
    assert example(ProbabilisticDP) != example(Indistinguishability)
    assert example(ProbabilisticDP).definition == "probabilistic"
    assert example(Indistinguishability).definition == "indistinguishable"


@kinds
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_shares_add_up_to_the_whole(kind: type[Guarantee], neighbors: Neighbors) -> None:
    goal = example(kind, epsilon="0.7", delta="1e-6", neighbors=neighbors)
    shares = [goal.share(Fraction(part, 7)) for part in (1, 2, 4)]
    assert sum(share.epsilon for share in shares) == goal.epsilon
    assert sum(share.delta for share in shares) == goal.delta
    for share in shares:
        assert type(share) is kind
        assert (share.users, share.neighbors) == (goal.users, goal.neighbors)


@kinds
def test_replacing_moves_twice_as_many_counts(kind: type[Guarantee]) -> None:
    assert example(kind, neighbors="replace").moved_counts(5) == 10
    assert example(kind, neighbors="add-remove").moved_counts(5) == 5


@kinds
def test_replace_is_the_default(kind: type[Guarantee]) -> None:
    assert example(kind).neighbors == "replace"


# Assumptions


def test_assumptions_name_the_bound_the_key_and_the_neighbours() -> None:
    for kind, neighbors in itertools.product(KINDS, NEIGHBORS):
        told = " ".join(example(kind, users=650_000, neighbors=neighbors).assumptions())
        assert ("650,000 users" in told) == (kind is ProbabilisticDP)
        assert ("key" in told) == (kind is ProbabilisticDP)
        assert ("one user more" in told) == (neighbors == "add-remove")
        assert ("whole history of one user" in told) == (neighbors == "replace")
        assert "One person is one id of the log." in told


@pytest.mark.parametrize("kind", [ProbabilisticDP, Indistinguishability])
def test_without_delta_both_definitions_say_the_same(kind: type[Guarantee]) -> None:
    pure = example(kind, delta=0)
    assert pure.pure
    assert not example(kind).pure
    assert pure.title == "epsilon-differential privacy (delta = 0)"
    assert pure.theorem == "docs/proofs/domain.md"
    assert pure.assumptions() == example(Indistinguishability, delta=0).assumptions()


def test_delta_may_be_split_by_other_shares_than_epsilon() -> None:
    goal = example(Indistinguishability, epsilon=2, delta="0.01")
    all_of_it = goal.share(Fraction(1, 4), Fraction(1))
    assert (all_of_it.epsilon, all_of_it.delta) == (Fraction(1, 2), Fraction(1, 100))
    none_of_it = goal.share(Fraction(3, 4), Fraction(0))
    assert (none_of_it.epsilon, none_of_it.delta) == (Fraction(3, 2), 0)
