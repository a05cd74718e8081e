"""Rules between items that are had together: what follows from published tables."""

from __future__ import annotations

import itertools
import math
import random
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from rule_tables import (
    SEQUENCES,
    SETS,
    Counts,
    Rule,
    about,
    error,
    rules,
    tables,
)

from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.release.derived.associations import (
    _round_significant,
    association_files,
    associations,
    rule_families,
)


def test_by_hand() -> None:
    found = rules([1000], {("a",): 200, ("b",): 100, ("a", "b"): 80})
    assert [(r["if_1"], r["then"]) for r in found] == [("b", "a"), ("a", "b")]
    first = found[0]
    assert (error(2), error(4)) == (7, 9)
    assert first == {
        "if_1": "b",
        "then": "a",
        "count_if": 100,
        "count_then": 200,
        "count_both": 80,
        "support": 0.08,
        "support_low": 0.0724925,
        "support_high": 0.0876133,
        "confidence": 0.8,
        "confidence_low": 0.682242,
        "confidence_high": 0.935484,
        "lift": 4.0,
        "lift_low": 3.08858,
        "lift_high": 5.16662,
    }
    assert first["support_low"] <= 73 / 1007 < first["support_low"] + 1e-7
    assert first["lift_high"] - 1e-5 < 89 * 1009 / (91 * 191) <= first["lift_high"]
    assert list(first)[:2] == ["if_1", "then"]


def test_a_set_has_a_rule_for_each_member() -> None:
    counts = {
        ("a",): 90,
        ("b",): 80,
        ("c",): 70,
        ("a", "b"): 60,
        ("a", "c"): 50,
        ("b", "c"): 40,
        ("a", "b", "c"): 30,
    }
    found = {(r["if_1"], r["if_2"], r["then"]): r for r in rules([500], counts, most=3)}
    pairs = {(x, "", y) for x, y in itertools.permutations("abc", 2)}
    assert found.keys() == {*pairs, ("a", "b", "c"), ("a", "c", "b"), ("b", "c", "a")}
    assert found["b", "c", "a"]["confidence"] == 0.75
    assert found["b", "c", "a"]["lift"] == pytest.approx(0.75 * 500 / 90, rel=1e-5)
    assert found["b", "", "a"]["count_if"] == 80


def test_a_sequence_has_one_rule_and_may_repeat() -> None:
    counts = {("a",): 90, ("b",): 60, ("a", "a"): 45, ("a", "b"): 30, ("a", "a", "b"): 9}
    found = {(r["if_1"], r["if_2"], r["then"]): r for r in rules([500], counts, SEQUENCES, most=3)}
    assert found.keys() == {("a", "", "a"), ("a", "", "b"), ("a", "a", "b")}
    assert found["a", "", "a"]["confidence"] == 0.5
    assert found["a", "a", "b"]["confidence"] == 0.2
    assert found["a", "a", "b"]["count_if"] == 45


def oracle(
    people: int, counts: Counts, family: str, scale: Fraction
) -> dict[tuple[tuple[str, ...], str], Rule]:
    """The same one rule at a time, with exact fractions."""
    found = {}
    two, four = error(2, scale), error(4, scale)
    for each, both in counts.items():
        places = range(len(each)) if family == SETS else [len(each) - 1]
        for place in places if len(each) > 1 else ():
            then, given = each[place], (*each[:place], *each[place + 1 :])
            if given not in counts or (then,) not in counts:
                continue
            i, t = counts[given], counts[then,]
            found[given, then] = {
                "support": share(both, people, 0),
                "support_low": share(both, people, -two),
                "support_high": share(both, people, two),
                "confidence": share(both, i, 0),
                "confidence_low": share(both, i, -two),
                "confidence_high": share(both, i, two),
                "lift": lift(both, people, i, t, 0),
                "lift_low": lift(both, people, i, t, -four),
                "lift_high": lift(both, people, i, t, four),
            }
    return found


def share(over: int, under: int, off: int) -> Fraction | None:
    if under - off <= 0:
        return None if not off else Fraction(0 if off < 0 else 1)
    return min(max(Fraction(over + off, under - off), Fraction(0)), Fraction(1))


def lift(both: int, people: int, i: int, t: int, off: int) -> Fraction | None:
    """By cases: who has both has each, so it is no more than people over either."""
    small, large = sorted([i - off, t - off])
    both, people = max(both + off, 0), max(people + off, 0)
    if large <= 0 or (small <= 0 and off <= 0):
        return Fraction(0) if off < 0 else None
    if small <= 0 or both > small:
        return Fraction(people, large)
    return Fraction(both * people, small * large)


@pytest.mark.parametrize("family", [SETS, SEQUENCES])
@pytest.mark.parametrize("seed", range(12))
def test_against_one_rule_at_a_time(family: str, seed: int) -> None:
    """Small counts, negative ones among them, and parts that are missing."""
    chance = random.Random(seed)
    scale, most = Fraction(chance.randint(1, 8), 2), chance.randint(2, 4)
    counts: dict[tuple[str, ...], int] = {}
    for size in range(1, most + 1):
        each = itertools.combinations("abcde", size)
        if family == SEQUENCES:
            each = itertools.product("abcd", repeat=size)  # type: ignore[assignment]
        for one in each:
            if chance.random() < 0.9:
                counts[one] = chance.randint(-10, 60 // size)
    people = chance.choice([-3, 0, 5, 70, 10**9])
    found = rules([people], counts, family, most, scale)
    expected = oracle(people, counts, family, scale)
    names = [f"if_{n}" for n in range(1, most)]
    keys = [(tuple(r[n] for n in names if r[n]), r["then"]) for r in found]
    assert sorted(keys) == sorted(expected)
    for key, rule in zip(keys, found, strict=True):
        assert rule["count_if"] == counts[key[0]]
        assert rule["count_then"] == counts[key[1],]
        for name, value in expected[key].items():
            if value is None:
                assert rule[name] is None, name
            else:
                assert math.copysign(1, rule[name]) == 1, name
                assert rule[name] == pytest.approx(float(value), rel=1.001e-5, abs=0), name
            for measure in ("support", "confidence", "lift"):
                check_order(rule, measure)
    strength = [
        (-r["lift_low"], -r["confidence_low"], *(r[n] for n in names), r["then"]) for r in found
    ]
    assert strength == sorted(strength)


def check_order(rule: Rule, measure: str) -> None:
    low, middle, high = (rule[f"{measure}{end}"] for end in ("_low", "", "_high"))
    assert low >= 0
    assert middle is None or low <= middle
    assert high is None or low <= high
    assert middle is None or high is None or middle <= high
    if measure != "lift":
        assert high is not None
        assert high <= 1


def test_what_cannot_be_divided_has_no_value() -> None:
    for rule in rules([0], {("a",): 0, ("b",): -40, ("a", "b"): 0}):
        assert {rule[name] for name in ("support", "confidence", "lift", "lift_high")} == {None}
        for name in ("support", "confidence"):
            assert (rule[f"{name}_low"], rule[f"{name}_high"]) == (0, 1)
        assert rule["lift_low"] == 0


def test_nobody_at_all() -> None:
    for rule in rules([1000], {("a",): 50, ("b",): 70, ("a", "b"): -40}):
        ends = [
            rule[f"{name}{end}"]
            for name in ("support", "confidence", "lift")
            for end in ("_low", "", "_high")
        ]
        assert str(ends) == str([0.0] * 9)  # and never -0.0


def test_more_who_have_both_than_who_have_one() -> None:
    """Noise, or more of the sets of a person than of her things: a share is a share."""
    found = rules([100], {("a",): 50, ("b",): 50, ("a", "b"): 90})[0]
    assert (found["confidence"], found["confidence_low"], found["confidence_high"]) == (1, 1, 1)
    assert found["lift_low"] <= found["lift"] == 2 <= found["lift_high"]
    assert found["lift_high"] == pytest.approx(109 / 41, rel=1e-5)


def test_what_is_known_of_one_bounds_the_other() -> None:
    found = rules([900], {("a",): 4, ("b",): 100, ("a", "b"): 4})[0]
    assert found["lift_high"] == pytest.approx(909 / 91, rel=1e-5)


def test_rounding_is_to_six_digits_and_outwards() -> None:
    values = np.array([0.3, 1 / 3, 2e-9 / 3, 123456.7, 12345678.4, 0.0, 1.0, np.inf, np.nan])
    down, near, up = (_round_significant(values, towards).tolist() for towards in (-1, 0, 1))
    assert down[:7] == [0.3, 0.333333, 6.66666e-10, 123456, 12345678, 0, 1]
    assert near[:7] == [0.3, 0.333333, 6.66667e-10, 123457, 12345678, 0, 1]
    assert up[:7] == [0.3, 0.333334, 6.66667e-10, 123457, 12345679, 0, 1]
    for each in (down, near, up):
        assert each[7] == math.inf
        assert math.isnan(each[8])
    some = np.array([n / 10**k for k in range(7) for n in range(0, 10**k, max(1, 10**k // 997))])
    assert all(np.array_equal(_round_significant(some, towards), some) for towards in (-1, 0, 1))


def test_what_a_review_took_out() -> None:
    counts = {("a",): 90, ("b",): 80, ("a", "b"): 60, ("b", "c"): 50}
    found = rules([500], counts)
    assert {(r["if_1"], r["then"]) for r in found} == {("a", "b"), ("b", "a")}
    assert rules([], counts) == []
    gone = associations(about(*tables([], counts, SETS, 2)), tables([], counts, SETS, 2), SETS)
    assert gone.column_names[:3] == ["if_1", "then", "count_if"]
    assert gone.num_rows == 0


def test_empty_tables() -> None:
    given = tables([500], {}, SETS, 3)
    found = associations(about(*given), given, SETS)
    assert found.num_rows == 0
    assert found.column_names[:3] == ["if_1", "if_2", "then"]
    assert found.schema.field("lift_high").type == pa.float64()
    assert rules([500], {("a",): 40}) == []


def families(*kinds: str) -> dict[str, int]:
    """The largest size of each family."""
    return {name: len(each.kinds) for name, each in rule_families(about(*kinds)).items()}


def test_which_families_have_rules() -> None:
    sizes = ["itemsets-1:product", "itemsets-2:product"]
    assert families("people", *sizes) == {SETS: 2}
    assert families(*sizes) == {}
    assert families("people", sizes[0]) == {}
    assert families("people", sizes[1]) == {}
    assert families("people", *sizes, "itemsets-4:product") == {SETS: 2}
    assert families("people", *sizes, "itemsets-3:product") == {SETS: 3}
    assert families("people", "itemsets-1:a", "itemsets-2:b") == {}
    assert families("queries", "columns:itemsets-1:x") == {}


def test_the_names_of_the_files() -> None:
    sets = ["people", "itemsets-1:The Product", "itemsets-2:The Product"]
    assert association_files(about(*sets)) == {"itemsets:The Product": "associations.csv"}
    both = [*sets, "sequences-1:a/b", "sequences-2:a/b", "sequences-1:a b", "sequences-2:a b"]
    assert association_files(about(*both)) == {
        "itemsets:The Product": "associations-itemsets-The-Product.csv",
        "sequences:a/b": "associations-sequences-a-b.csv",
        "sequences:a b": "associations-sequences-a-b~1.csv",
    }
    assert association_files(about("people")) == {}


def test_a_hundred_thousand_sets_take_seconds() -> None:
    chance = np.random.default_rng(1)
    names = np.array([f"a thing of some length {n:04}" for n in range(2000)])
    found = np.unique(np.sort(chance.integers(0, 2000, (120_000, 2)), axis=1), axis=0)
    found = found[found[:, 0] < found[:, 1]]
    pairs = pa.table(
        {
            "item_1": names[found[:, 0]],
            "item_2": names[found[:, 1]],
            "count": chance.integers(20, 90, len(found)),
        }
    )
    given = {
        "people": pa.table({"who": ["everyone"], "count": [100_000]}),
        "itemsets-1:product": pa.table(
            {"item_1": names, "count": chance.integers(300, 5000, len(names))}
        ),
        "itemsets-2:product": pairs,
    }
    started = time.process_time()
    assert associations(about(*given), given, SETS).num_rows == 2 * len(pairs) > 200_000
    assert time.process_time() - started < 20


def test_noise_of_the_test_is_that_of_the_mechanism() -> None:
    """`error` above, which the expected numbers rest on, is no more than the noise has."""
    draws = np.abs(DiscreteLaplace(scale=Fraction(2)).sample(200_000, seeded_bytes(3)))
    for counts in (2, 4):
        assert np.mean(draws > error(counts)) < 0.05 / counts < np.mean(draws >= error(counts))
