"""Noise on every set that can be made of published ones: its law, its delta, and what it shows."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from scipy import stats

import zealous as z
from zealous.errors import UsageError
from zealous.items.candidate_sets import MAX_CANDIDATES, CandidateSets, candidate_itemsets
from zealous.mechanisms import known_list
from zealous.mechanisms.listed import Listed
from zealous.mechanisms.of_smaller import OfSmaller, OfSmallerGaussian
from zealous.privacy.accounting.gaussian import _scale_at
from zealous.privacy.guarantee import Guarantee, Indistinguishability, Neighbors, ProbabilisticDP

Law = npt.NDArray[np.float64]
BOTH = (OfSmaller, OfSmallerGaussian)
RUNS = 1_000
NEIGHBORS: tuple[Neighbors, ...] = ("replace", "add-remove")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that draw many releases: each threshold is worked out once."""
    monkeypatch.setattr(OfSmaller, "threshold", cache(OfSmaller.threshold))


def made(kind: type[OfSmaller], things: int, scale: str = "2") -> OfSmaller:
    """Over all pairs of so many things."""
    return kind(items_per_user=1, scale=Fraction(scale)).with_inputs(grown(things))


@cache
def grown(things: int) -> CandidateSets:
    names = [f"{number:04d}" for number in range(things)]
    return candidate_itemsets(
        [pa.table({"item_1": names, "count": pa.array([9] * things, pa.int64())})]
    )


def counting(known: CandidateSets, counts: dict[int, int], batches: int = 1) -> Any:
    """Stands for the log: so many people have the candidates at some places."""

    def count(*, bound: int, at_least: int, **_: object) -> Iterator[pa.RecordBatch]:
        assert (bound, at_least) == (1, 1)
        held = [place for place, number in counts.items() if number >= at_least]
        for part in np.array_split(np.array(held, np.int64), batches):
            number = np.array([counts[place] for place in part], np.int64)
            columns = [known.parent[part], known.last[part], number]
            yield pa.record_batch(columns, names=[*known.KEY, "count"])

    return count


def published(
    mechanism: OfSmaller, counts: dict[int, int], random_bytes: Any = None, batches: int = 1
) -> dict[int, int]:
    """Noisy counts by place, in the order in which they are published."""
    known = mechanism.candidates
    assert known is not None
    given = (counting(known, counts, batches), *([random_bytes] if random_bytes else []))
    rows: dict[int, int] = {}
    for batch in mechanism.release(*given):
        places = known.places(pa.Table.from_batches([batch])).tolist()
        assert not rows.keys() & set(places)
        rows |= dict(zip(places, batch["count"].to_pylist(), strict=True))
    return rows


def tail(mechanism: OfSmaller, t: int) -> float:
    """P(noise > t), from scipy or from the definition."""
    scale = float(mechanism.scale)
    if isinstance(mechanism, OfSmallerGaussian):
        z = np.arange(-math.ceil(12 * scale), math.ceil(12 * scale) + 1)
        weights = np.exp(-(z**2) / (2 * scale**2))
        return float(weights[z > t].sum() / weights.sum())
    return float(stats.dlaplace(1 / scale).cdf(-t - 1))


def loud(monkeypatch: pytest.MonkeyPatch, noise: int | Sequence[int]) -> None:
    """The same noise on everything, or one noise for each."""
    found = np.array([noise] if isinstance(noise, int) else noise, np.int64)

    class Known:
        taken = 0

        def sample(self, size: int, random_bytes: Any) -> Any:
            del random_bytes
            Known.taken += size
            return np.resize(found, size)

    monkeypatch.setattr(OfSmaller, "noise_sampler", lambda _: Known())
    monkeypatch.setattr(OfSmallerGaussian, "noise_sampler", lambda _: Known())


# Delta, derived a second time


def noise_law(scale: float, reach: int, *, gaussian: bool) -> Law:
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-((z / scale) ** 2) / 2) if gaussian else np.exp(-np.abs(z) / scale)
    return np.asarray(weights / weights.sum())


def excess_of_all(scale: float, moved: int, epsilon: float, *, gaussian: bool) -> float:
    """Every vector of noisy counts, half of which went up by one and the others down."""
    reach = math.ceil((9 if gaussian else 40) * scale)
    still = noise_law(scale, reach, gaussian=gaussian)
    up, down = np.append(still, 0), np.append(0, still)
    one = other = np.ones(1)
    for number in range(moved):
        here, there = (up, down) if number % 2 else (down, up)
        one, other = np.outer(one, here).ravel(), np.outer(other, there).ravel()
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def excess_by_loss(scale: float, moved: int, epsilon: float) -> float:
    """E (1 - exp(epsilon - loss))+, where the losses of moved counts are added by convolution."""
    reach = math.ceil(12 * scale)
    law, total = noise_law(scale, reach, gaussian=True), np.ones(1)
    for _ in range(moved):
        total = np.convolve(total, law)
    z = np.arange(-reach * moved, reach * moved + 1)
    loss = (2 * z + moved) / (2 * scale**2)  # of z + 1 in place of z, so many times
    return float((total * -np.expm1(np.minimum(0, epsilon - loss))).sum())


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_delta_of_gaussian_noise_is_what_all_moved_counts_tell(neighbors: Neighbors) -> None:
    for m, scale, epsilon in itertools.product((1, 2, 3), ("1.5", "2", "3.25"), ("0.3", "1", "2")):
        goal = Indistinguishability(epsilon=epsilon, delta="0.1", neighbors=neighbors)
        claim = float(OfSmallerGaussian(items_per_user=m, scale=Fraction(scale)).delta(goal))
        moved = m * (2 if neighbors == "replace" else 1)
        by_loss = excess_by_loss(float(scale), moved, float(epsilon))
        assert by_loss * (1 - 1e-9) <= claim <= by_loss * (1 + 1e-6)
        if moved <= 3:
            truth = excess_of_all(float(scale), moved, float(epsilon), gaussian=True)
            assert truth == pytest.approx(by_loss, rel=1e-9)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("things", "size"), [(2, 2), (4, 2), (5, 3), (7, 2)])
def test_no_less_noise_would_do(neighbors: Neighbors, things: int, size: int) -> None:
    """For all sets of a person's things: 4 things are 6 pairs, 5 are 10 sets of three."""
    m = math.comb(things, size)
    moved = m * (2 if neighbors == "replace" else 1)
    for epsilon, delta in (("1", "1e-6"), ("0.5", "1e-3"), ("4", "0.01")):
        goal = Indistinguishability(epsilon=epsilon, delta=delta, neighbors=neighbors)
        found = OfSmallerGaussian.calibrate(goal, m)
        assert excess_by_loss(float(found.scale), moved, float(epsilon)) <= goal.delta
        place = next(n for n in itertools.count() if _scale_at(n) >= found.scale)
        if place:
            less = excess_by_loss(float(_scale_at(place - 1)), moved, float(epsilon))
            assert less * (1 + 1e-6) > goal.delta
        assert OfSmaller.calibrate(goal, m).scale == moved / goal.epsilon


@pytest.mark.parametrize("mechanism", [OfSmaller, Listed])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_laplace_noise_needs_no_delta_and_all_of_epsilon(
    mechanism: Any, neighbors: Neighbors
) -> None:
    for m, epsilon in itertools.product((1, 2), ("2", "4")):
        goal: Guarantee = Indistinguishability(epsilon=epsilon, delta=0, neighbors=neighbors)
        moved = goal.moved_counts(m)
        if moved > 3:
            continue
        found = mechanism.calibrate(goal, m)
        assert found.delta(goal) == 0
        scale = float(found.scale)
        assert excess_of_all(scale, moved, float(epsilon), gaussian=False) < 1e-13
        assert excess_of_all(scale, moved, 0.98 * float(epsilon), gaussian=False) > 1e-3
        less = goal.with_budget(
            Indistinguishability, epsilon=goal.epsilon * Fraction(99, 100), delta=Fraction(0)
        )
        assert found.delta(less) == 1


def test_what_each_guarantee_allows() -> None:
    anybody = ProbabilisticDP(epsilon=1, delta="0.001", users=100)
    assert OfSmaller.calibrate(anybody, 3).delta(anybody) == 0
    with pytest.raises(UsageError, match="use of-smaller"):
        OfSmallerGaussian.calibrate(anybody, 3)
    assert OfSmallerGaussian(items_per_user=3, scale=Fraction(9)).delta(anybody) == 1


# The threshold


@pytest.mark.parametrize("kind", BOTH)
def test_the_threshold_is_the_least(kind: type[OfSmaller]) -> None:
    for scale, number in itertools.product(("1", "2.5", "20"), (1, 2, 3, 10, 999, 10**6, 2**23)):
        mechanism = kind(items_per_user=1, scale=Fraction(scale))
        t = mechanism.threshold(number)
        assert number * tail(mechanism, t) <= 1 + 1e-9
        assert t == 0 or number * tail(mechanism, t - 1) > 1 - 1e-9


@pytest.mark.parametrize("kind", BOTH)
def test_only_what_is_above_the_threshold_is_published(
    kind: type[OfSmaller], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its noisy count, whatever its count was."""
    mechanism = made(kind, 4)
    t = mechanism.threshold(6)
    assert t > 1
    loud(monkeypatch, [t, t + 1, t - 5, t - 5, t - 9, -t])
    assert published(mechanism, {2: 5, 3: 6, 4: 9, 5: 2 * t}) == {1: t + 1, 3: t + 1}


def test_the_threshold_does_not_follow_from_who_holds_what(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    threshold = OfSmaller.threshold

    def spied(self: OfSmaller, candidates: int) -> int:
        asked.append(candidates)
        return threshold(self, candidates)

    monkeypatch.setattr(OfSmaller, "threshold", spied)
    held: list[dict[int, int]] = [{}, {0: 1}, dict.fromkeys(range(45), 7)]
    for counts in held:
        published(made(OfSmaller, 10), counts)
    assert asked == [45] * 6  # of all, and of those that are left


# What appears


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", BOTH)
def test_sets_that_nobody_has_appear_as_the_noise_says(kind: type[OfSmaller]) -> None:
    """How many at once, which of them, and with which counts."""
    mechanism, runs, number = made(kind, 4, "3"), RUNS, 6
    t = mechanism.threshold(number)
    chance = tail(mechanism, t)
    at_once, which, counts = Counter[int](), Counter[int](), Counter[int]()
    for _ in range(runs):
        rows = published(mechanism, {})
        at_once[len(rows)] += 1
        which.update(rows.keys())
        counts.update(min(each - t, 5) for each in rows.values())
    assert min(counts, default=1) > 0
    several = min(number, 3)  # more at once are too few to be told apart
    right = stats.binom(number, chance)
    expected = [*right.pmf(range(several)), right.sf(several - 1)]
    found = [
        *(at_once[n] for n in range(several)),
        sum(at_once[n] for n in at_once if n >= several),
    ]
    assert fits(found, expected)
    cells = [seen for n in range(number) for seen in (which[n], runs - which[n])]
    assert fits(cells, [chance / number, (1 - chance) / number] * number, given=number - 1)
    beyond = [tail(mechanism, t + n) for n in range(5)]
    each = [a - b for a, b in zip(beyond, [*beyond[1:], 0.0], strict=True)]
    assert fits([counts[n] for n in range(1, 6)], [p / chance for p in each])


def fits(found: Sequence[int], expected: Sequence[float], given: int = 0) -> bool:
    """Whether a chi-square test of these chances sees nothing; `given` sums are no accident."""
    total = sum(found)
    assert sum(expected) == pytest.approx(1)
    test = stats.chisquare(found, np.array(expected) * total, ddof=given)
    return bool(test.pvalue > 1e-6)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", BOTH)
def test_each_set_has_the_noise_of_its_own_count(kind: type[OfSmaller]) -> None:
    """One that somebody has beside those that nobody has: alike but for its count."""
    mechanism, runs = made(kind, 3), RUNS
    t, held = mechanism.threshold(3), {1: 2}
    rows = [published(mechanism, held) for _ in range(runs)]
    for place in range(3):
        seen = sum(place in each for each in rows)
        chance = tail(mechanism, t - held.get(place, 0))
        assert stats.binomtest(seen, runs, chance).pvalue > 1e-6
    both = sum(0 in each and 2 in each for each in rows)
    assert stats.binomtest(both, runs, tail(mechanism, t) ** 2).pvalue > 1e-6


@pytest.mark.parametrize("kind", BOTH)
def test_of_no_things_and_of_one_there_is_no_set(kind: type[OfSmaller]) -> None:
    for things in (0, 1):
        assert len(grown(things)) == 0
        assert published(made(kind, things), {}) == {}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", BOTH)
def test_one_set_may_appear_and_need_not(kind: type[OfSmaller]) -> None:
    mechanism = made(kind, 2)
    assert mechanism.threshold(1) == 0
    sizes = Counter(len(published(mechanism, {})) for _ in range(400))
    assert stats.binomtest(sizes[1], 400, tail(mechanism, 0)).pvalue > 1e-6
    assert sizes.keys() == {0, 1}


@pytest.mark.parametrize("kind", BOTH)
def test_the_order_of_rows_does_not_tell_who_holds_what(
    kind: type[OfSmaller], monkeypatch: pytest.MonkeyPatch
) -> None:
    loud(monkeypatch, 1000)
    mechanism = made(kind, 12)
    nobody: dict[int, int] = {}
    somebody = {place: place % 5 + 1 for place in range(0, 66, 3)}
    for batches in (1, 3):
        assert list(published(mechanism, nobody)) == list(range(66))
        assert list(published(mechanism, somebody, batches=batches)) == list(range(66))
    assert published(mechanism, somebody) == {n: 1000 + somebody.get(n, 0) for n in range(66)}


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("at_once", [1, 7, 22, 65, 66, 67])
def test_noise_is_drawn_in_pieces(
    kind: type[OfSmaller], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: each gets noise of its own, and no count is lost or shifted."""
    monkeypatch.setattr(known_list, "_AT_ONCE", at_once)
    mechanism = made(kind, 12)
    held = {place: 1000 * (place + 1) for place in range(66)}
    rows = published(mechanism, held)
    assert rows.keys() == held.keys()
    noise = np.array([rows[place] - held[place] for place in range(66)])
    assert np.abs(noise).max() < 100
    assert len(set(noise.tolist())) > 3
    pieces = [noise[first : first + at_once] for first in range(0, 66, at_once)]
    if 7 <= at_once <= 22:
        assert len({tuple(piece) for piece in pieces}) == len(pieces)  # not the same once more


@pytest.mark.usefixtures("quick")
def test_noise_beyond_the_first_piece_has_its_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_list, "_AT_ONCE", 5)
    mechanism, found = made(OfSmaller, 4), Counter[tuple[bool, int]]()
    for _ in range(RUNS):
        rows = published(mechanism, dict.fromkeys(range(6), 1000))
        found.update((place >= 5, int(np.clip(rows[place] - 1000, -4, 4))) for place in rows)
    law = stats.dlaplace(1 / 2)
    right = [law.cdf(-4), *law.pmf(range(-3, 4)), law.cdf(-4)]
    for later in (False, True):
        assert fits([found[later, noise] for noise in range(-4, 5)], right)


def test_what_is_no_candidate_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it count for another."""
    loud(monkeypatch, 1000)
    mechanism = made(OfSmaller, 3)
    known = mechanism.candidates
    assert known is not None

    def count(*, bound: int, at_least: int, **_: object) -> Iterator[pa.RecordBatch]:
        del bound, at_least
        strange = ([0, 0, 2, 2, 7], [0, 1, 0, 2, 1], [40, 1, 40, 40, 40])
        yield pa.record_batch([np.array(each) for each in strange], names=[*known.KEY, "count"])

    (batch,) = mechanism.release(count)
    assert batch["count"].to_pylist() == [1001, 1000, 1000]
    with pytest.raises(UsageError, match="candidates"):
        OfSmaller(items_per_user=1, scale=Fraction(1)).release(count)


@pytest.mark.parametrize(
    "goal",
    [
        ProbabilisticDP(epsilon=9, delta="0.1", users=100),
        Indistinguishability(epsilon=9, delta="0.1"),
    ],
    ids=["of-smaller", "of-smaller-gaussian"],
)
def test_a_seeded_run_repeats_itself(goal: Guarantee, tmp_path: Path) -> None:
    """In whatever order the lines are; and another seed gives another release."""
    lines = [
        f"u{user},{thing}" for user in range(40) for thing in "abcde" if user % 5 != ord(thing) % 5
    ]
    kinds = z.itemsets("item", max_size=3, items_per_user=4)

    def drawn(order: int, seed: int) -> list[Any]:
        path = tmp_path / f"log-{order}-{seed}.csv"
        path.write_text("\n".join(["user,item", *lines[::order], ""]))
        log = z.read_log(path, columns=z.Columns(user="user"))
        found = z.publish(log, goal, kinds, seed=seed, account=None).tables
        return [(name, table.arrow.to_pylist()) for name, table in found.items()]

    first = drawn(1, 5)
    assert first == drawn(-1, 5)
    assert first != drawn(1, 6)
    assert dict(first)["itemsets-2:item"]


def test_what_is_said_of_single_persons_holds_for_every_number_of_candidates() -> None:
    for made in (
        OfSmaller(items_per_user=3, scale=Fraction(31, 20)),
        OfSmallerGaussian(items_per_user=3, scale=Fraction(3)),
    ):
        worst = max(
            n * made.noise_above(made.threshold(n) - 1)
            for n in (1, 2, 5, 36, 1000, 10**6, MAX_CANDIDATES)
        )
        assert worst <= made.expected_unique_items_of_all() * (1 + 1e-9)
    assert made.expected_unique_items_of_all() < 10
    assert OfSmaller(
        items_per_user=1, scale=Fraction(2)
    ).expected_unique_items_of_all() == pytest.approx(math.exp(0.5))
