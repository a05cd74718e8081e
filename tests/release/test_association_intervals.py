"""Intervals of rules hold as often as they say."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs
from rule_tables import (
    SETS,
    error,
    of_parts,
    part,
    rules,
)
from sampling import sampled

from zealous.mechanisms.choose import MECHANISMS
from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.release.derived.associations import (
    _Count,
    associations,
)


@pytest.mark.parametrize("seed", sampled(range(30), str, share=3))
def test_within_the_errors_the_truth_is_within_the_interval(seed: int) -> None:
    """Whatever the counts are, and however they are off, as long as none is off by more."""
    chance = random.Random(seed)
    people = chance.choice([3, 40, 5000])
    one, other = chance.randint(1, people), chance.randint(1, people)
    both = chance.choice([0, min(one, other), chance.randint(0, min(one, other))])
    truth = {
        "support": (Fraction(both, people), 2),
        "confidence": (Fraction(both, one), 2),
        "lift": (Fraction(both * people, one * other), 4),
    }
    for _ in range(20):
        for measure, (value, of) in truth.items():
            n, i, t, b = (
                count + chance.choice([-1, 0, 1]) * error(of)
                for count in (people, one, other, both)
            )
            found = rules([n], {("a",): i, ("b",): t, ("a", "b"): b})
            rule = next(each for each in found if each["then"] == "b")
            assert Fraction(rule[f"{measure}_low"]) <= value * Fraction("1.0000000001")
            high = rule[f"{measure}_high"]
            assert high is None or value <= Fraction(high) * Fraction("1.0000000001")


@pytest.mark.parametrize("name", ["zealous", "gaussian"])
@pytest.mark.parametrize(
    ("people", "one", "other", "both"),
    [(5000, 300, 200, 90), (400, 60, 40, 25), (400, 40, 60, 40), (60, 9, 7, 3)],
)
def test_the_interval_holds_as_often_as_it_says(
    people: int, one: int, other: int, both: int, name: str
) -> None:
    """Noise on all counts: of 100 intervals at least 95 hold the true measure, and not all do."""
    size, kinds = 6000, ("people", "itemsets-1:product", "itemsets-2:product")
    scales = {"people": Fraction(1), kinds[1]: Fraction(3), kinds[2]: Fraction(4)}
    parts = [
        structs.replace(part(kind, scales[kind]), mechanism=name, tau=1, tau_prime=1)
        for kind in kinds
    ]
    drawn = {each.kind: MECHANISMS[name].from_record(each).noise_sampler() for each in parts}  # type: ignore[attr-defined]
    names = [f"{n:05}" for n in range(size)]
    noise = [
        drawn[kind].sample(size, seeded_bytes(n))
        for n, kind in enumerate((kinds[1], kinds[1], kinds[2], "people"))
    ]
    truth = {
        "support": both / people,
        "confidence": both / one,
        "lift": both * people / one / other,
    }
    first = pa.array([f"a{each}" for each in names])
    then = pa.array([f"b{each}" for each in names])
    missed = dict.fromkeys(truth, 0)
    per = 200  # pairs that share a number of people
    for start in range(0, size, per):
        each = slice(start, start + per)
        given = {
            "people": pa.table({"who": ["everyone"], "count": [people + int(noise[3][start])]}),
            kinds[1]: pa.table(
                {
                    "item_1": pa.concat_arrays([first[each], then[each]]),
                    "count": np.concatenate([one + noise[0][each], other + noise[1][each]]),
                }
            ),
            kinds[2]: pa.table(
                {"item_1": first[each], "item_2": then[each], "count": both + noise[2][each]}
            ),
        }
        for rule in associations(of_parts(parts), given, SETS).to_pylist():
            if rule["then"].startswith("b"):
                for measure, value in truth.items():
                    high = rule[f"{measure}_high"]
                    held = rule[f"{measure}_low"] <= value and (high is None or value <= high)
                    missed[measure] += not held
    for measure, times in missed.items():
        assert times <= 0.05 * size, measure
    assert max(missed.values()) > 0.002 * size  # else the interval would be needlessly wide


@pytest.mark.parametrize("name", ["of-smaller", "of-smaller-gaussian"])
@pytest.mark.parametrize("short", [6, 0, -6])
def test_the_interval_holds_for_rules_near_the_threshold(name: str, short: int) -> None:
    """Of the rules that are there: all counts had to be above what noise alone reaches.

    The draws are always the same, so that nothing is left to chance.
    """
    kinds = ("people", "itemsets-1:product", "itemsets-2:product")
    scales = {"people": Fraction(1), kinds[1]: Fraction(3), kinds[2]: Fraction(3)}
    parts = [
        structs.replace(part(kind, scales[kind]), mechanism=name if kind == kinds[2] else "listed")
        for kind in kinds
    ]
    single, larger = (
        MECHANISMS["listed"].from_record(parts[1]),
        cast(Any, MECHANISMS[name].from_record(parts[2])),
    )
    laplace = DiscreteLaplace(scale=Fraction(3))
    people, per = 3000, 4000  # pairs of things to a release
    above = larger.threshold(per * (2 * per - 1))
    one, other, both = above - short, above + 40, above - short - 1
    truth = {
        "support": both / people,
        "confidence": both / one,
        "lift": both * people / one / other,
    }
    first, then = ([f"{each}{row:04}" for row in range(per)] for each in "ab")
    missed, seen, plain, too_high = dict.fromkeys(truth, 0), 0, 0, 0
    for number in range(6):
        source = seeded_bytes(number)
        ones, others = one + laplace.sample(per, source), other + laplace.sample(per, source)
        pairs = both + larger.noise_sampler().sample(per, source)
        looked_at = (ones > above) & (others > above)
        known = 2 * int(looked_at.sum())
        shown = np.flatnonzero(looked_at & (pairs > larger.threshold(known * (known - 1) // 2)))
        everyone = people + laplace.sample(1, source)
        given = {
            "people": pa.table({"who": ["everyone"], "count": everyone}),
            kinds[1]: pa.table({"item_1": first + then, "count": np.concatenate([ones, others])}),
            kinds[2]: pa.table({"item_1": first, "item_2": then, "count": pairs}).take(shown),
        }
        found = associations(of_parts(parts), given, SETS)
        rows = [rule for rule in found.to_pylist() if rule["then"].startswith("b")]
        seen += len(rows)
        plain += sum(abs(rule["count_if"] - one) > single.noise_quantile(0.975) for rule in rows)
        counts = _Count(ones[shown].astype(float), single, above)
        too_high += int((counts.bound(-1, 2) > one).sum())
        for measure, value in truth.items():
            ends = [(rule[f"{measure}_low"], rule[f"{measure}_high"]) for rule in rows]
            missed[measure] += sum(
                low > value * (1 + 1e-9) or (high is not None and high < value * (1 - 1e-9))
                for low, high in ends
            )
    assert seen > 70
    assert all(times <= 0.05 * seen for times in missed.values()), (missed, seen)
    assert too_high <= 0.025 * seen
    assert short <= 0 or plain > 0.05 * seen  # what count - e .. count + e would miss
