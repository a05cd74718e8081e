"""Counts over a public list: exact privacy by enumeration, and what is published."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import oracle
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from records import part_of
from scipy import stats

from zealous.counting.histogram import histogram
from zealous.counting.restriction import InTable
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import queries
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.protocol import CalibratedMechanism
from zealous.mechanisms.public_files import read_public
from zealous.noise import seeded_bytes
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)
History = frozenset[str]
Log = Sequence[History]


def listed(*names: str) -> pa.Table:
    return pa.table({"item": pa.array(names, pa.string())})


def kept(history: History, m: int, only: History) -> History:
    """The first m of the listed items, in the order of their names."""
    return frozenset(sorted(history & only)[:m])


def counting(log: Log, asked: list[dict[str, Any]] | None = None) -> Any:
    """Counts a log as an engine would."""

    def count(*, bound: int, at_least: int, only: list[InTable]) -> Iterator[pa.RecordBatch]:
        (listed,) = only
        if asked is not None:
            asked.append({"bound": bound, "at_least": at_least, "only": listed.table})
        names = frozenset(listed.table["item"].to_pylist())
        counts = Counter(item for each in log for item in kept(each, bound, names))
        rows = [{"item": item, "count": n} for item, n in counts.items() if n >= at_least]
        for row in rows:  # a batch each, and in any order
            yield pa.RecordBatch.from_pylist([row])

    return count


def published(batches: Sequence[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


# Privacy, by enumeration


def histories(items: str) -> list[History]:
    sizes = range(len(items) + 1)
    return [frozenset(each) for n in sizes for each in itertools.combinations(items, n)]


def neighbours(items: str, users: int, kind: Neighbors) -> Iterator[tuple[Log, Log]]:
    """Every two logs of so many users that differ in one; who is not there has no history."""
    every_history, nobody = histories(items), frozenset[str]()
    for others in itertools.combinations_with_replacement(every_history, users - 1):
        for one, two in itertools.permutations(every_history, 2):
            if kind == "replace" or nobody in (one, two):
                yield [*others, one], [*others, two]


def law(count: int, scale: Fraction, highest: int) -> npt.NDArray[np.float64]:
    """P(v <= 0), P(1), ..., P(v >= highest): beyond both ends no odds change any more."""
    noise = stats.dlaplace(1 / float(scale))
    inside = noise.pmf(np.arange(1, highest) - count)
    # By symmetry, as scipy's own upper tail loses its digits.
    return np.array([noise.cdf(-count), *inside, noise.cdf(count - highest)])


def worst_loss(
    mechanism: Domain, items: str, domain: str, users: int, kind: Neighbors
) -> tuple[float, set[tuple[int, ...]]]:
    """The largest log of the odds of any output, over all neighbours; and all counts that occur.

    Noises are independent, so that losses add: the worst output has the worst noise of each item.
    """
    only, m = frozenset(domain), mechanism.items_per_user
    pairs = itertools.product(range(users + 1), repeat=2)
    losses = {
        (a, b): float(np.log(law(a, mechanism.scale, users) / law(b, mechanism.scale, users)).max())
        for a, b in pairs
    }
    worst, seen = 0.0, set()
    for logs in neighbours(items, users, kind):
        sums = [Counter(item for each in log for item in kept(each, m, only)) for log in logs]
        one, two = ([counts[item] for item in domain] for counts in sums)
        worst = max(worst, sum(losses[pair] for pair in zip(one, two, strict=True)))
        seen.add(tuple(one))
    return worst, seen


WORLDS = [("abc", "ab", 2, 1), ("abcd", "abd", 2, 2), ("abcd", "abcd", 2, 2), ("abc", "abc", 3, 1)]


@pytest.mark.parametrize("kind", NEIGHBORS)
@pytest.mark.parametrize(("items", "domain", "users", "m"), WORLDS)
@pytest.mark.parametrize("epsilon", ["1/3", "2"])
def test_no_output_tells_more_than_epsilon(
    epsilon: str, items: str, domain: str, users: int, m: int, kind: Neighbors
) -> None:
    goal = Indistinguishability(epsilon=epsilon, delta=0, neighbors=kind)
    mechanism = Domain.calibrate(goal, m)
    worst, seen = worst_loss(mechanism, items, domain, users, kind)
    assert worst <= float(goal.epsilon) * (1 + 1e-9)
    assert (0,) * len(domain) in seen
    if len(domain) >= goal.moved_counts(m):  # then somebody can move that many
        assert worst == pytest.approx(float(goal.epsilon), rel=1e-9)
        low = Domain(items_per_user=m, scale=mechanism.scale * Fraction(9, 10))
        assert worst_loss(low, items, domain, users, kind)[0] > 1.1 * float(goal.epsilon)


def test_a_forgotten_factor_of_two_is_caught() -> None:
    goal = Indistinguishability(epsilon=1, delta=0, neighbors="add-remove")
    mechanism = Domain.calibrate(goal, 1)
    assert worst_loss(mechanism, "abc", "abc", 2, "add-remove")[0] <= 1 + 1e-9
    assert worst_loss(mechanism, "abc", "abc", 2, "replace")[0] == pytest.approx(2)
    assert mechanism.delta(Indistinguishability(epsilon=1, delta=0)) == 1


def possible(log: Log, domain: str, *, zeros: bool = True) -> History:
    """Which items the output has; where there are always the same, no log makes it impossible."""
    mechanism = Domain(items_per_user=1, scale=Fraction(1)).with_inputs(listed(*domain))
    count = counting(log)
    rows = published(mechanism.release(count, seeded_bytes(1)))
    if zeros:
        return frozenset(item for item, _ in rows)
    counted = published(list(count(bound=1, at_least=1, only=[InTable(listed(*domain))])))
    return frozenset(item for item, _ in counted)


def test_a_list_without_its_zeros_is_caught() -> None:
    logs = list(neighbours("ab", 2, "replace"))
    assert all(possible(one, "ab") == possible(two, "ab") for one, two in logs)
    assert any(
        possible(one, "ab", zeros=False) != possible(two, "ab", zeros=False) for one, two in logs
    )


def test_a_list_from_the_log_is_caught() -> None:
    def found(log: Log) -> str:
        return "a" + "".join(sorted(frozenset[str]().union(*log) - {"a"}))

    logs = list(neighbours("ab", 2, "replace"))
    assert any(possible(one, found(one)) != possible(two, found(two)) for one, two in logs)


# What is counted


LOG = [frozenset("abx"), frozenset("bxy"), frozenset("xyz"), frozenset("b")]


def test_it_asks_for_what_is_listed() -> None:
    asked: list[dict[str, Any]] = []
    table = listed("b", "a", "q").append_column("count", pa.array([9, 5, 1]))
    Domain(items_per_user=2, scale=Fraction(1)).with_inputs(table).release(counting(LOG, asked))
    (only,) = asked
    assert (only["bound"], only["at_least"]) == (2, 1)
    assert only["only"].to_pydict() == {"item": ["b", "a", "q"]}


def mean_counts(log: Log, m: int, *domain: str) -> dict[str, float]:
    """The counts with their noise averaged away."""
    mechanism = Domain(items_per_user=m, scale=Fraction(1, 3)).with_inputs(listed(*domain))
    runs = [dict(published(mechanism.release(counting(log), seeded_bytes(s)))) for s in range(60)]
    return {item: round(np.mean([run[item] for run in runs])) for item in domain}


def test_users_keep_what_is_listed() -> None:
    assert mean_counts(LOG, 1, "b", "x", "q") == {"b": 3, "x": 1, "q": 0}
    assert mean_counts(LOG, 2, "x", "b", "q") == {"b": 3, "x": 3, "q": 0}


ENTRIES = [
    oracle.Entry(user=f"u{user}", query=query, time=None)
    for user in range(40)
    for query in [f"rare {user} {n}" for n in range(4)] + ["Tea", "shoes", "hats"][: user % 4]
]


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Counts queries of a small log, ranked as the oracle does."""
    monkeypatch.setattr(DuckDB, "rank_key", lambda _, key, names: oracle.md5_rank(key, names))
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: oracle.md5_place(rank))
    path = tmp_path / "log.csv"
    path.write_text("user,query\n" + "".join(f"{e.user},{e.query}\n" for e in ENTRIES))
    with DuckDB(threads=1) as engine:
        source = open_log(read_log(path), engine)
        yield partial(histogram, queries(2), source, select="random", key=7)


def test_the_engine_counts_as_the_oracle_does(count: Any, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("HATS\ntea\nshoes\nboots\n")
    domain = read_public(tmp_path / "list.txt", queries(2)).table
    filtered = [entry for entry in ENTRIES if not entry.query.startswith("rare")]
    expected = oracle.histogram("queries", filtered, 2, "random", 7)
    mechanism = Domain(items_per_user=2, scale=Fraction(1, 100)).with_inputs(
        domain
    )  # next to no noise
    found = published(mechanism.release(count, seeded_bytes(1)))
    assert dict(found) == {"hats": 0, "tea": 0, "shoes": 0, "boots": 0} | {
        item: n for (item,), n in expected.items()
    }
    assert [item for item, _ in found] == ["hats", "tea", "shoes", "boots"]


def test_filtering_after_bounding_counts_less(count: Any) -> None:
    names = ["tea", "shoes", "hats"]
    domain = pa.table({"query": names})
    before = dict(published(list(count(bound=2, at_least=1, only=[InTable(domain)]))))
    after = dict(published(list(count(bound=2, at_least=1))))
    assert sum(before.values()) == 10 * (1 + 2 + 2)
    assert sum(after.get(name, 0) for name in names) < sum(before.values()) / 2


# What is published


def test_every_item_is_there_and_no_other() -> None:
    domain = [f"i{n}" for n in range(500)]
    log = [frozenset({f"i{user % 50}", f"out{user}"}) for user in range(1000)]
    mechanism = Domain(items_per_user=3, scale=Fraction(2)).with_inputs(listed(*domain))
    rows = published(mechanism.release(counting(log)))
    assert [item for item, _ in rows] == domain
    assert min(n for _, n in rows) < 0
    assert np.mean([n for _, n in rows[:50]]) == pytest.approx(20, abs=4)


@examples(40)
@given(
    domain=st.lists(st.sampled_from("abcdef"), max_size=8),
    log=st.lists(st.frozensets(st.sampled_from("abcxyz")), max_size=6),
)
def test_what_is_published_does_not_depend_on_who_is_there(domain: list[str], log: Log) -> None:
    mechanism = Domain(items_per_user=2, scale=Fraction(1)).with_inputs(listed(*domain))
    empty, full = (
        published(mechanism.release(counting(each), seeded_bytes(5))) for each in ([], log)
    )
    assert [item for item, _ in empty] == [item for item, _ in full] == list(dict.fromkeys(domain))
    counts = Counter(item for each in log for item in kept(each, 2, frozenset(domain)))
    # The same randomness gives each item the same noise, whoever is there.
    assert {a: n - m for (a, m), (_, n) in zip(empty, full, strict=True)} == {
        item: counts[item] for item in domain
    }


def test_an_item_listed_twice_comes_once() -> None:
    domain = listed("b", "a", "b", "b")
    rows = published(
        Domain(items_per_user=1, scale=Fraction(1)).with_inputs(domain).release(counting(LOG))
    )
    assert [item for item, _ in rows] == ["b", "a"]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7)], ids=str)
def test_the_noise_has_its_scale_and_no_other(scale: Fraction) -> None:
    size = 50_000
    table = pa.table({"item": [str(n) for n in range(size)]})
    half = table.slice(0, size // 2).append_column("count", pa.repeat(3, size // 2))

    def p_value(drawn: Fraction) -> float:
        mechanism = Domain(items_per_user=1, scale=drawn).with_inputs(table)
        rows = published(mechanism.release(lambda **_: half.to_batches(), seeded_bytes(2)))
        noise = np.array([n - 3 * (place < size // 2) for place, (_, n) in enumerate(rows)])
        law, reach = stats.dlaplace(1 / float(scale)), max(1, math.floor(3 * scale))
        inside = law.pmf(np.arange(-reach + 1, reach))
        expected = np.array([law.cdf(-reach), *inside, law.cdf(-reach)])
        seen = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=2 * reach + 1)
        return float(stats.chisquare(seen, expected * size).pvalue)

    assert p_value(scale) > 1e-4
    for factor in (Fraction(85, 100), Fraction(115, 100)):
        assert p_value(scale * factor) < 1e-9


# A calibrated mechanism


@pytest.mark.parametrize("kind", NEIGHBORS)
@pytest.mark.parametrize("definition", [ProbabilisticDP, Indistinguishability])
def test_no_delta_under_either_definition(definition: type[Guarantee], kind: Neighbors) -> None:
    goal = definition(epsilon="0.5", delta=0, users=10, neighbors=kind)
    mechanism: CalibratedMechanism = Domain.calibrate(goal, 3)
    assert mechanism.scale == (12 if kind == "replace" else 6)
    assert mechanism.delta(goal) == 0
    for epsilon, delta in (("0.4999", 1), ("0.6", 0)):
        other = definition(epsilon=epsilon, delta="0.1", users=10**9, neighbors=kind)
        assert mechanism.delta(other) == delta
    assert (mechanism.tau, mechanism.tau_prime, mechanism.pure) == (0, None, True)
    assert mechanism.publication_probability(0) == mechanism.publication_probability(10**6) == 1
    assert mechanism.expected_unique_items(1) == 0


def test_an_epsilon_of_many_digits_only_adds_noise() -> None:
    goal = Indistinguishability(epsilon="0.1234567890123456789", delta=0)
    mechanism = Domain.calibrate(goal, 3)
    assert mechanism.scale >= 6 / goal.epsilon
    assert mechanism.delta(goal) == 0


def test_made_anew() -> None:
    mechanism = Domain(items_per_user=3, scale=Fraction(12, 7))
    goal = Indistinguishability(epsilon=4, delta=0)
    part = part_of(mechanism, goal)
    assert Domain.from_record(part) == mechanism == mechanism.with_inputs(listed("a"))
    assert "listed" not in repr(mechanism.with_inputs(listed("a")))
    wrong = [part_of(mechanism, goal, scale=scale) for scale in ("0", "x")]
    for each in (structs.replace(part, items_per_user=0), *wrong):
        with pytest.raises(UsageError):
            Domain.from_record(each)


def test_the_error_is_that_of_the_noise() -> None:
    mechanism = Domain(items_per_user=3, scale=Fraction(12))
    noise, error = stats.dlaplace(1 / 12), mechanism.noise_quantile(0.95)
    assert noise.cdf(error) - noise.cdf(-error - 1) >= 0.95
    assert noise.cdf(error - 1) - noise.cdf(-error) < 0.95


def test_without_a_list_there_is_nothing_to_publish() -> None:
    with pytest.raises(UsageError, match="needs its list"):
        Domain(items_per_user=1, scale=Fraction(1)).release(counting(LOG), os.urandom)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), 2.5])
def test_no_noise_is_refused(scale: Any) -> None:
    with pytest.raises(UsageError, match="scale"):
        Domain(items_per_user=1, scale=scale)
