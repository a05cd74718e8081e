"""Rules between published sets and sequences, from a release alone."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs
from records import record_of
from turns import in_turn

import zealous as z
from zealous.cli.associations import print_strongest_rules
from zealous.items import itemsets, kind_by_name, queries, sequences
from zealous.mechanisms.choose import MECHANISMS
from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.planning.declared import PublicFile
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.record import PartRecord, Record, TableFiles
from zealous.release.bundle import Release, file_names
from zealous.release.derived.associations import (
    _Count,
    _round_significant,
    association_files,
    associations,
    rule_families,
)
from zealous.release.table import Table, sorted_table
from zealous.release.text.readme import readme_text
from zealous.verification.review import review
from zealous.verification.verify import verify

SETS, SEQUENCES = "itemsets:product", "sequences:product"
Counts = Mapping[tuple[str, ...], int]
Rule = dict[str, Any]


PLANNED = plan_with_files(
    Indistinguishability(epsilon=1, delta=0),
    [queries(1)],
    {"queries": PublicFile(use="domain", name="list.txt", sha256="0" * 64)},
)


THINGS = 5  # of a user


def part(kind: str, scale: Fraction = Fraction(2)) -> PartRecord:
    (found,) = record_of(PLANNED).plan
    exact = structs.replace(found.exact, scale=str(scale))
    sized = re.match(r"(?:itemsets|sequences)-(\d)", kind)
    own = {"basket": None, "things": THINGS} if sized else {}
    return structs.replace(
        found,
        kind=kind,
        items_per_user=math.comb(THINGS, int(sized[1])) if sized else 1,
        settings={"by": None, **own},
        exact=exact,
    )


def item_columns(each: PartRecord) -> tuple[str, ...]:
    return kind_by_name(each.kind, each.items_per_user, each.settings).columns()


def about(*kinds: str, scale: Fraction = Fraction(2)) -> Record:
    return of_parts([part(kind, scale) for kind in kinds])


def of_parts(parts: Sequence[PartRecord]) -> Record:
    names = file_names([each.kind for each in parts])
    files = {
        each.kind: TableFiles(
            parquet=f"{names[each.kind]}.parquet",
            csv=f"{names[each.kind]}.csv",
            columns=item_columns(each),
            rows=0,
        )
        for each in parts
    }
    return structs.replace(record_of(PLANNED), plan=tuple(parts), files=files)


def table(counts: Counts, size: int) -> pa.Table:
    columns = {f"item_{n + 1}": [each[n] for each in counts] for n in range(size)}
    shape = [*((name, pa.string()) for name in columns), ("count", pa.int64())]
    return pa.table({**columns, "count": list(counts.values())}, pa.schema(shape))


def tables(people: Sequence[int], counts: Counts, family: str, most: int) -> dict[str, pa.Table]:
    shape, column = family.split(":")
    everyone = {"who": ["everyone"] * len(people), "count": pa.array(people, pa.int64())}
    found = {"people": pa.table(everyone)}
    for size in range(1, most + 1):
        own = {each: count for each, count in counts.items() if len(each) == size}
        found[f"{shape}-{size}:{column}"] = table(own, size)
    return found


def rules(
    people: Sequence[int],
    counts: Counts,
    family: str = SETS,
    most: int = 2,
    scale: Fraction = Fraction(2),
) -> list[Rule]:
    given = tables(people, counts, family, most)
    found: list[Rule] = associations(about(*given, scale=scale), given, family).to_pylist()
    return found


def error(counts: int, scale: Fraction = Fraction(2)) -> int:
    """The error of each of so many counts, by the definition of the discrete Laplace noise."""
    a = math.exp(-1 / scale)
    return next(e for e in itertools.count() if 2 * a ** (e + 1) / (1 + a) <= 0.05 / counts)


# Numbers


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


# The interval


@pytest.mark.parametrize("seed", in_turn(range(30), str, share=3))
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


# A release


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


BASKETS = {("bread", "butter", "jam"): 60, ("bread", "=tea"): 80, ("bread",): 90, ("soap",): 170}
GOAL = z.ProbabilisticDP(epsilon=20_000, delta="0.1", users=1000)  # as good as no noise


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """People with baskets, who bought one thing an hour, the last of a basket first."""
    lines = ["user,product,time"]
    everybody = [basket for basket, people in BASKETS.items() for _ in range(people)]
    for user, basket in enumerate(everybody):
        for hour, each in enumerate(reversed(basket)):
            lines.append(f"u{user},{each},2026-03-01 {hour:02}:00:00")
    path = tmp_path_factory.mktemp("baskets") / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return z.read_log(path)


@pytest.fixture(scope="module")
def made(log: Any) -> Release:
    kinds = itemsets("product", max_size=3, items_per_user=4)
    return z.publish(log, GOAL, kinds, account=None)


def checks(directory: Path) -> dict[str, tuple[bool | None, str]]:
    return {check.name: (check.ok, check.detail) for check in verify(directory)}


def rewritten(directory: Path, name: str, text: str) -> None:
    """Change a file, and its SHA-256 with it."""
    (directory / name).write_text(text)
    about = json.loads((directory / "release.json").read_text())
    about["sha256"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / "release.json").write_text(json.dumps(about, indent=2))


def test_a_release_has_its_rules_and_explains_them(made: Release, tmp_path: Path) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    text = (directory / "associations.csv").read_text()
    header, *lines = text.splitlines()
    assert header == (
        "if_1,if_2,then,count_if,count_then,count_both,support,support_low,support_high,"
        "confidence,confidence_low,confidence_high,lift,lift_low,lift_high"
    )
    assert len(lines) == 2 * 4 + 3
    assert any(line.startswith("'=tea,,bread,80,230,80,0.2,") for line in lines)
    told = (directory / "README.md").read_text()
    assert "### Association rules in `itemsets:product`: `associations.csv`" in told
    assert "The interval covers the noise only" in told
    assert "low estimate" in told
    assert {name: found for name, found in checks(directory).items() if not found[0]} == {}


@pytest.mark.parametrize("change", ["row", "number", "header", "order"])
def test_verify_refuses_changed_rules(made: Release, tmp_path: Path, change: str) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    text = (directory / "associations.csv").read_text()
    lines = text.splitlines(keepends=True)
    changed = {
        "row": "".join(lines[:-1]),
        "number": text.replace("bread", "brood", 1),
        "header": text.replace("lift_high", "lift_top"),
        "order": "".join([lines[0], *reversed(lines[1:])]),
    }[change]
    (directory / "associations.csv").write_text(changed)
    assert "changed since" in checks(directory)["files"][1]
    rewritten(directory, "associations.csv", changed)
    assert checks(directory)["rows"] == (False, "associations.csv is not what the tables give")


def test_verify_misses_the_rules(made: Release, tmp_path: Path) -> None:
    directory = tmp_path / "release"
    made.write(directory)
    (directory / "associations.csv").unlink()
    assert "associations.csv" in checks(directory)["files"][1]


def test_both_families_in_one_release(log: Any, tmp_path: Path) -> None:
    sets, ordered = (
        family("product", max_size=2, items_per_user=4) for family in (itemsets, sequences)
    )
    kinds = {kind.name(): kind for kind in (*sets, *ordered)}
    directory = tmp_path / "release"
    z.publish(log, GOAL, list(kinds.values()), account=None).write(directory)
    assert {name: found for name, found in checks(directory).items() if not found[0]} == {}
    of_sets, of_sequences = (
        rows(directory / f"associations-{family}-product.csv")
        for family in ("itemsets", "sequences")
    )
    assert len(of_sets) == 8
    assert {(each["if_1"], each["then"]) for each in of_sequences} == {
        ("jam", "butter"),
        ("butter", "bread"),
        ("'=tea", "bread"),
    }
    assert "had `then` next" in (directory / "README.md").read_text()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("term", "left"), [("jam", 4), ("everyone", 0), ("nothing", 11)])
def test_a_reviewed_release(made: Release, tmp_path: Path, term: str, left: int) -> None:
    """A child has the rules that its own rows give: none without the number of people."""
    made.write(tmp_path / "parent")
    (tmp_path / "block.txt").write_text(f"{term}\n")
    child = tmp_path / "child"
    review(tmp_path / "parent", block=tmp_path / "block.txt", output=child)
    assert len(rows(child / "associations.csv")) == left
    found = {check.name: check for check in verify(child, parent=tmp_path / "parent")}
    assert {name for name, check in found.items() if not check.ok} == set()


def test_a_release_without_sets_is_as_it_was(log: Any, made: Release, tmp_path: Path) -> None:
    plain = z.publish(log, GOAL, [z.columns("product", items_per_user=4)], account=None)
    plain.write(tmp_path / "release")
    assert not list((tmp_path / "release").glob("associations*"))
    assert "ssociation" not in readme_text(plain.record)
    assert "ssociation" in readme_text(made.record)


# What people see


def test_the_strongest_are_printed(made: Release, capsys: pytest.CaptureFixture[str]) -> None:
    print_strongest_rules(made)
    out = capsys.readouterr().out
    assert "The strongest of associations.csv" in out
    assert "butter → jam" in out
    assert out.count("→") == 5
    assert "soap" not in out


def test_where_nothing_stands_out(made: Release, capsys: pytest.CaptureFixture[str]) -> None:
    tables = dict(made.tables)
    for kind in ("itemsets-2:product", "itemsets-3:product"):
        tables[kind] = Table(arrow=made[kind].arrow.slice(0, 0))
    print_strongest_rules(replace(made, tables=tables))
    assert "more than chance" in " ".join(capsys.readouterr().out.split())
    few = sorted_table(table({("bread", "jam"): 1}, 2), ("item_1", "item_2"))
    print_strongest_rules(replace(made, tables={**tables, "itemsets-2:product": few}))
    assert "more than chance" in " ".join(capsys.readouterr().out.split())


def test_a_rule_without_upper_end_is_printed(
    made: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tuple(part(each.kind) for each in made.record.plan)
    counts = {("a",): 8, ("b",): 8, ("a", "b"): 40}
    found = {kind: Table(arrow=each) for kind, each in tables([900], counts, SETS, 3).items()}
    print_strongest_rules(
        replace(made, record=structs.replace(made.record, plan=plan), tables=found)
    )
    assert "112 (52.4 or more)" in capsys.readouterr().out


# Speed


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
