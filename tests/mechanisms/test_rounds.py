"""Keys in rounds, and their counts: the mechanism against what it promises.

It runs over the count of counting.py, which shares nothing with those of the engines.
"""

import random
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting import COLUMNS, Counting, listed, published, table
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.open_log import open_log
from zealous.mechanisms.prior import Prior
from zealous.mechanisms.rounds import Rounds, SetUnion, Sips
from zealous.noise import seeded_bytes
from zealous.privacy.accounting.rounds import GRAIN, LARGEST_SCALE, WEIGHT, Round

ALL = [Rounds, SetUnion, Sips]
REJECT = 1e-4


# What is published


def tiny(
    kind: type[Rounds] = Rounds, *, m: int = 2, bounds: tuple[int, ...] = (3, 2, 1), **more: Any
) -> Rounds:
    """Little noise, and thresholds that a few users pass."""
    rounds = (Round(bound=bound, scale=400, threshold=2 * WEIGHT) for bound in bounds)
    return kind(items_per_user=m, scale=Fraction(52, GRAIN), rounds=tuple(rounds), **more)


items = st.sampled_from(["aa", "ab", "ba", "bb", "cc", "cd"])
histories = st.frozensets(items)
logs = st.dictionaries(st.sampled_from("pqrstuvwxyz"), histories, max_size=9)
priors = st.dictionaries(items, st.integers(-3, 3)).map(table)
made = partial(
    st.builds,
    tiny,
    m=st.integers(1, 3),
    bounds=st.sampled_from([(1,), (5,), (2, 1), (1, 3), (3, 2, 1), (2, 2, 2)]),
)
mechanisms = made(st.sampled_from(ALL)) | made(st.just(Prior), prior=priors)


@given(logs, mechanisms, st.integers(0, 10**6))
@examples(100)
def test_what_is_published_was_given_and_what_was_found_is_published_once(
    log: dict[str, frozenset[str]], mechanism: Rounds, seed: int
) -> None:
    count = Counting(log)
    found = published(mechanism.release(count, seeded_bytes(seed)))
    rounds = count.asked[: len(mechanism.rounds)]
    given_by = {item for asked in rounds for user in log for item in count.given(user, **asked)[1]}
    assert found.keys() <= given_by | set(listed(getattr(mechanism, "prior", None)))
    last = count.asked[-1]
    if "only" in last:
        assert sorted(listed(last["only"])) == sorted(found)  # with zeros, and nothing else
        assert all(len(count.given(user, **last)[1]) <= mechanism.items_per_user for user in log)
    else:
        assert not found
    for before, asked in pairwise(rounds):
        assert set(listed(before["without"])) <= set(listed(asked["without"])) <= found.keys()


@given(logs, histories, mechanisms, st.integers(0, 10**6))
@examples(100)
def test_one_user_moves_no_weights_and_counts_by_more_than_is_proved(
    log: dict[str, frozenset[str]], other: frozenset[str], mechanism: Rounds, seed: int
) -> None:
    count = Counting(log)
    mechanism.release(count, seeded_bytes(seed))
    # Whatever came before, keys and noisy weights: neighbours answer the same question.
    for user in log:
        removed = Counting({each: log[each] for each in log if each != user})
        replaced = Counting({**log, user: other})
        for asked in count.asked:
            most = WEIGHT**2 if "weights" in asked else mechanism.items_per_user
            assert apart(count, removed, asked) <= most
            assert apart(count, replaced, asked) <= 2 * most


def apart(one: Counting, other: Counting, asked: dict[str, Any]) -> int:
    """The square of the distance between two answers."""
    first, second = one.total(**asked), other.total(**asked)
    return sum((first.get(item, 0) - second.get(item, 0)) ** 2 for item in {*first, *second})


def test_the_engine_counts_as_it_is_counted_here(tmp_path: Path) -> None:
    chosen, places = random.Random(1), [f"{query}{url}" for query in "abc" for url in "xyz"]
    log = {str(user): chosen.sample(places, chosen.randint(1, 6)) for user in range(12)}
    rows = [(user, item[0], item[1:]) for user, items in log.items() for item in items * 2]
    named = zip(("user", *COLUMNS), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(values) for name, values in named}), tmp_path / "log.pq")
    kind = z.columns("query", "url", items_per_user=3)
    whole = z.read_log(tmp_path / "log.pq", columns=z.Columns(user="user"))
    with DuckDB(memory="1GB", threads=1) as engine:
        count = partial(histogram, kind, open_log(whole, engine, kind.extra_columns()), key=7)
        for at_least in (0, 1) * 3:
            # All is listed, and no two alike: nothing is left to chance.
            first, second = (chosen.sample(places, 9) for _ in range(2))
            order = [
                table(dict.fromkeys(first[:4], 5)),
                table({item: place for place, item in enumerate(second)}),
            ]
            asked: dict[str, Any] = {"bound": chosen.randint(1, 4), "at_least": at_least}
            asked["weights"] = Round(bound=asked["bound"], scale=1, threshold=2000).weights()
            asked |= {"steered_by": order, "without": table(dict.fromkeys(first[4:6], 1))}
            found = published(count(select="random", **asked))
            here = Counting(log)
            here(**asked)
            assert found == here.answered


def test_weights_that_forget_the_square_root_are_caught() -> None:
    log = {user: ["aa", "ab", "ba"] for user in "pq"}
    count = Counting(log)
    asked = {"bound": 3, "at_least": 1, "weights": [WEIGHT] * 3}
    assert apart(count, Counting({"p": log["p"]}), asked) > WEIGHT**2


SURE = {str(user): ["aa", "ab", "ba"] for user in range(30)}


@pytest.mark.parametrize("mechanism", ALL)
def test_who_has_more_keys_than_may_count_counts_for_some_and_all_are_published(
    mechanism: type[Rounds],
) -> None:
    found = published(tiny(mechanism, m=1, bounds=(2, 2)).release(Counting(SURE), seeded_bytes(1)))
    assert found.keys() == {"aa", "ab", "ba"}
    assert 25 <= sum(found.values()) <= 35
    nobody = published(
        tiny(mechanism, m=1, bounds=(2, 2)).release(
            Counting(SURE, rank=lambda _, item: item), seeded_bytes(1)
        )
    )
    assert nobody.keys() == found.keys()
    assert abs(nobody["ba"]) < 5 < 25 < nobody["aa"]


def test_a_key_that_is_found_twice_has_one_noise() -> None:
    class Forgetful(Counting):
        def __call__(self, **asked: Any) -> list[pa.RecordBatch]:
            return super().__call__(**{**asked, "without": None})

    prior: Any = partial(Prior, prior=table({"aa": 1}))
    for mechanism in (*ALL, prior):
        found = tiny(mechanism, bounds=(3, 3)).release(Forgetful(SURE), seeded_bytes(1))
        keys = listed(pa.Table.from_batches(found))
        assert len(keys) == len(set(keys)) == 3


def test_a_log_without_items_publishes_nothing() -> None:
    logs: list[dict[str, list[str]]] = [{}, {"p": []}, {"p": ["aa"]}]
    for log in logs:
        for mechanism in ALL:
            calm = Round(bound=2, scale=100, threshold=10 * WEIGHT)
            rounds = Rounds.release(
                mechanism(items_per_user=1, scale=Fraction(5), rounds=(calm, calm)),
                Counting(log),
                seeded_bytes(1),
            )
            assert rounds == []


def test_all_but_the_last_round_steer_even_if_they_are_alike() -> None:
    each = Round(bound=2, scale=400, threshold=100 * WEIGHT)
    for mechanism, least in ((Rounds, [0, 0, 1]), (SetUnion, [1, 1, 1]), (Sips, [1, 1, 1])):
        count = Counting(SURE)
        mechanism(items_per_user=1, scale=Fraction(5), rounds=(each,) * 3).release(count)
        assert [asked["at_least"] for asked in count.asked] == least
        assert [len(asked["steered_by"]) for asked in count.asked] == [0, *[1 - least[0]] * 2]


def test_a_list_steers_every_round_and_is_published_by_noise_too() -> None:
    prior = table({"ba": 7, **dict.fromkeys((f"z{number}" for number in range(20_000)), 1)})
    count = Counting(SURE)
    found = published(tiny(Prior, bounds=(1, 1), prior=prior).release(count, seeded_bytes(1)))
    assert {"aa", "ab", "ba"} & found.keys() >= {"ba"}
    assert all(asked["steered_by"][0] is prior for asked in count.asked[:2])
    # Two rounds, in which 1 in 741 has a noise above three deviations.
    by_noise = [item for item in found if item[0] == "z"]
    assert stats.binomtest(len(by_noise), 20_000, 2 * stats.norm.sf(3)).pvalue > REJECT
    assert max(abs(found[item]) for item in by_noise) < 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": Fraction(1, 2)},
        {"scale": Fraction(-1)},
        {"scale": Fraction(LARGEST_SCALE + 1)},
        {"rounds": ()},
        {"items_per_user": 0},
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {
        "items_per_user": 1,
        "scale": Fraction(5),
        "rounds": (Round(bound=1, scale=500, threshold=4000),),
    }
    Prior(**right)
    with pytest.raises(UsageError):
        Prior(**{**right, **wrong})
    given: dict[str, Any] = {"bound": 1, "scale": 500, "threshold": 4000}
    for name, value in (
        ("bound", 1001),
        ("bound", 0),
        ("scale", LARGEST_SCALE + 1),
        ("scale", 1.5),
    ):
        with pytest.raises(UsageError, match="round"):
            Round(**{**given, name: value})


# The noise


class Fixed:
    """The same weights and counts, whatever is asked."""

    def __init__(self, weights: dict[str, int], counts: int) -> None:
        self.weights, self.counts = weights, counts
        self.order: list[pa.Table] = []

    def __call__(self, **asked: Any) -> list[pa.RecordBatch]:
        self.order += asked.get("steered_by", [])
        known = dict.fromkeys(listed(asked.get("only")), self.counts)
        gone = set(listed(asked.get("without")))
        return table(
            known or {item: self.weights[item] for item in self.weights if item not in gone}
        ).to_batches()


MANY = [f"a{number}" for number in range(15_000)]


@pytest.mark.parametrize("scale", [Fraction(500, GRAIN), Fraction(2503, GRAIN), Fraction(8)])
def test_the_noise_on_counts_has_its_scale_and_no_other(scale: Fraction) -> None:
    each = Round(bound=1, scale=100, threshold=2 * WEIGHT)
    mechanism = Rounds(items_per_user=1, scale=scale, rounds=(each,))
    count = Fixed(dict.fromkeys(MANY, 10**6), 7)
    found = np.array([*published(mechanism.release(count, seeded_bytes(1))).values()]) - 7
    assert found.size == len(MANY)
    for factor, right in ((0.85, False), (1, True), (1.15, False)):
        deviation = float(scale) * factor
        ends = np.arange(-3 * int(scale), 3 * int(scale) + 1, max(1, int(scale) // 2)) + 0.5
        expected = np.diff([0, *stats.norm.cdf(ends / deviation), 1]) * found.size
        seen = np.histogram(found, [-np.inf, *ends, np.inf])[0]
        assert (stats.chisquare(seen, expected).pvalue > REJECT) == right


def test_the_noise_that_steers_has_its_scale_and_no_other() -> None:
    first = Round(bound=1, scale=2500, threshold=2 * WEIGHT)
    mechanism = Rounds(items_per_user=1, scale=Fraction(5), rounds=(first, first))
    for stands, most in ((5000, None), (0, 2 * WEIGHT)):
        count = Fixed(dict.fromkeys(MANY, stands), 7)
        mechanism.release(count, seeded_bytes(1))
        noise = count.order[0]["count"].to_numpy() - stands
        assert noise.size == len(MANY)
        # What nobody gave steers by noise too, on condition that it does not pass.
        assert most is None or noise.max() <= most
        for factor, right in ((0.85, False), (1, True), (1.15, False)):
            upto = np.inf if most is None else (most + 0.5) / (2500 * factor)
            law = stats.truncnorm(-np.inf, upto, scale=2500 * factor)
            assert (stats.kstest(noise, law.cdf).pvalue > REJECT) == right
