"""The checkers accept what has the property, and reject what misses it by one user."""

from __future__ import annotations

from fractions import Fraction

import pytest
from anonymity_checks import (
    has_similar_histories,
    is_k_keyword_anonymous,
    is_k_query_anonymous,
    is_k_session_anonymous,
    is_pseudonymous,
    is_scrubbed,
    is_token_hashed,
)
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

# Three users each: with k = 3 nobody may be missing.
HELD = [(user, text) for text in ("tea", "pot") for user in (1, 2, 3)]
SESSIONS = [
    *((user, f"a{user}", ["tea", "pot"]) for user in (1, 2, 3)),
    *((user, f"b{user}", ["cup"]) for user in (2, 3, 4)),
]


@pytest.mark.parametrize("checker", [is_k_query_anonymous, is_k_keyword_anonymous])
def test_k_users_must_hold_each(checker) -> None:
    assert checker(HELD, 3)
    assert checker([], 3)
    for missing in range(len(HELD)):
        rest = HELD[:missing] + HELD[missing + 1 :]
        assert not checker(rest, 3)
        assert checker(rest, 2)
    assert not checker([*HELD[1:], HELD[1]], 3)  # rows are not users


def test_no_keyword_is_empty() -> None:
    assert not is_k_keyword_anonymous([*HELD, (1, ""), (2, ""), (3, "")], 3)


def test_k_users_must_have_the_same_session() -> None:
    assert is_k_session_anonymous(SESSIONS, 3)
    assert is_k_session_anonymous([], 3)
    for changed in range(len(SESSIONS)):
        user, session, keywords = SESSIONS[changed]
        others = SESSIONS[:changed] + SESSIONS[changed + 1 :]
        assert not is_k_session_anonymous(others, 3)
        assert not is_k_session_anonymous([*others, (user, session, [*keywords, "x"])], 3)


def test_sessions_are_sets_of_keywords_and_users_are_counted() -> None:
    assert is_k_session_anonymous([(1, "a", ["x", "y", "x"]), (2, "b", ["y", "x"])], 2)
    assert not is_k_session_anonymous([(1, "a", ["x"]), (1, "b", ["x"])], 2)


def test_an_id_has_one_session() -> None:
    assert not is_k_session_anonymous([*SESSIONS, SESSIONS[0]], 3)


def test_the_tolerance_is_exact() -> None:
    # Of ten queries in the union nine are shared: a distance of 0.1, which as a float is not exact.
    rows = [*((1, f"q{n}") for n in range(10)), *((2, f"q{n}") for n in range(9))]
    for tolerance in ("0.1", 0.1, Fraction(1, 10), "1/10"):
        assert has_similar_histories(rows, 2, tolerance)
    for tolerance in ("0.0999999999999999999", Fraction(99, 1000), 0):
        assert not has_similar_histories(rows, 2, tolerance)


def test_k_minus_one_others_must_be_close() -> None:
    assert has_similar_histories(HELD, 3, 0)
    assert not has_similar_histories(HELD, 4, 0)
    assert not has_similar_histories([*HELD, (1, "cup")], 3, 0)
    assert has_similar_histories([*HELD, (1, "cup")], 3, "0.34")
    assert has_similar_histories([], 3, 0)


def test_any_history_is_within_a_tolerance_of_one() -> None:
    assert has_similar_histories([(1, "a"), (2, "b")], 2, 1)
    assert not has_similar_histories([(1, "a"), (2, "b")], 3, 1)
    assert not has_similar_histories([(1, "a"), (2, "b")], 2, "0.999")


def test_many_equal_histories_take_no_time() -> None:
    rows = [(user, text) for user in range(50_000) for text in ("tea", "pot")]
    assert has_similar_histories(rows, 50_000, "0.5")
    assert not has_similar_histories(rows, 50_001, "0.5")


@examples(200)
@given(
    rows=st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abcd")), max_size=14),
    k=st.integers(2, 4),
    tolerance=st.sampled_from(["0", "0.25", "0.34", "0.5", "0.75", "0.9", "1"]),
)
def test_similar_histories_against_all_pairs(rows, k, tolerance) -> None:
    held = {user: {query for other, query in rows if other == user} for user, _ in rows}
    near = {
        user: sum(
            1 - Fraction(len(own & other), len(own | other)) <= Fraction(tolerance)
            for other in held.values()
        )
        for user, own in held.items()
    }
    expected = all(users >= k for users in near.values())
    assert has_similar_histories(rows, k, tolerance) == expected


@pytest.mark.parametrize(
    ("pairs", "hashed"),
    [
        ([], True),
        ([("green tea", "x y"), ("Tea, GREEN!", "y x")], True),
        ([("green tea", "x y"), ("tea", "z")], False),  # a word with two tokens
        ([("green tea", "x x")], False),  # a token of two words
        ([("green tea", "x y"), ("pot", "y")], False),
        ([("green tea", "x tea")], False),  # a word left as it was
        ([("green tea", "tea green")], True),
        ([("green tea", "x")], False),  # a word left out
        ([("green", "x y")], False),
        ([("--", "")], True),
        ([("нет чай", "x y"), ("ЧАЙ", "y")], True),
        ([("नमस्ते", "x")], True),  # marks are part of a word
    ],
)
def test_tokens(pairs, hashed: bool) -> None:
    assert is_token_hashed(pairs) == hashed


@pytest.mark.parametrize(
    "query",
    [
        "4111 1111 1111 1111",
        "kern%40mail.example",
        # ages
        "rash on 34 year old",
        "34yo",
        "34 y/o male",
        "34-YEAR-OLDS",
        "34 year's old",
        "34 _yrs_  old",
        "6 mos. old",
        "34 years of age",
        "٣٤ years old",
        "age 34",
        "aged: 34",
        "age of 34",
        "age%2034",
        # postal codes
        "pizza 90210",
        "pizza 90210-1234",
        "sw1a 2aa",
        "SW1A2AA",
        "m1-1ae",
        "k1a 0b1",
        # names
        "mary",
        "MARY'S diner",
        "mary\u2019s",
        "mary\u02bcs",
        "john'll",
        "o'connor",
        "josé",
        "ｊｏｈｎ",
        "john_doe",
        "lake-smith",
        "jose san",
    ],
)
def test_what_is_not_scrubbed(query: str) -> None:
    assert not is_scrubbed(["green tea", query])


@pytest.mark.parametrize(
    "query",
    [
        "tea pot 2024",
        "age of empires 2",
        "ice age 3d",
        "34 years older",
        "34 year o ld",
        "3d movies for old year",
        "1234 years old",
        "windows 2000",
        "ps3 4gb",
        "sw1a 2ak",  # no postcode ends so
        "d1a 0b1",
        "paris hotels",
        "rose garden",
        "johnny5",
        "san jose",
        "St. John's",
        "mt. vernon",
    ],
)
def test_what_is_scrubbed(query: str) -> None:
    assert is_scrubbed(["green tea", query])


def test_nothing_is_scrubbed() -> None:
    assert is_scrubbed([])


@pytest.mark.parametrize(
    ("rows", "pseudonymous"),
    [
        ([], True),
        ([(1, "a"), (2, "b"), (1, "a")], True),
        ([(1, "a"), (1, "b")], False),  # a user with two ids
        ([(1, "a"), (2, "a")], False),  # an id of two users
        ([(1, "1")], False),
        ([("12345678", "x12345678")], False),
        ([(12345678, "x12345678")], False),
        ([("1", "2"), ("2", "1")], True),
        ([(17, "a17f")], True),  # found in a random id by chance
    ],
)
def test_pseudonyms(rows, pseudonymous: bool) -> None:
    assert is_pseudonymous(rows) == pseudonymous
