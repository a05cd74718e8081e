"""Changes of items that noise found first: of the same people, few are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import zealous as z
from zealous.items.items_per_user import ItemsPerUser
from zealous.mechanisms.pooled import Pooled
from zealous.privacy.guarantee import Indistinguishability
from zealous.release.table import Table
from zealous.series.changes import falls_of
from zealous.series.comparable import Pair, Side
from zealous.series.p_values import CountLaw, significant

GOAL = Indistinguishability(epsilon=4, delta="1e-6", neighbors="add-remove")
MECHANISM = Pooled.calibrate(GOAL, 2)
LAW = CountLaw(interval=MECHANISM.interval(0.95))
RATE = 0.1


@dataclass(frozen=True)
class People:
    """Which items each of some people has, and the order in which she gives them."""

    has: np.ndarray
    order: np.ndarray

    def released(self, chance: np.random.Generator, most: int = 2) -> Side:
        """Items that noise finds, and how many people count for each, with noise."""
        holders = self.has.sum(axis=0)
        found = np.flatnonzero(holders + chance.normal(0, 40, holders.shape) > 160)
        order = np.where(self.has[:, found], self.order[:, found], 2.0)
        last = np.sort(order, axis=1)[:, most - 1 : most]
        counted = ((order <= last) & (order < 2)).sum(axis=0)
        noise = np.round(chance.normal(0, float(MECHANISM.scale), counted.shape)).astype(int)
        names = [f"q{number}" for number in found]
        rows = pa.table({"query": names, "count": pa.array(counted + noise, pa.int64())})
        return Side(table=Table(arrow=rows), law=LAW, listed=True, whole=True)


def false_share(pair: Pair, changed: set[str]) -> tuple[float, int]:
    tested = falls_of(pair, same_key=True)
    told = np.flatnonzero(significant(tested.p_values, RATE))
    items = [str(tested.items[place]) for place in told]
    false = sum(item not in changed for item in items)
    return false / max(1, len(items)), len(items) - false


def test_few_of_the_told_changes_of_found_items_are_by_chance() -> None:
    """And without what other items explain most would be: this test can fail."""
    chance = np.random.default_rng(5)
    items = 60
    likely = np.where(np.arange(items) < 20, 0.3, 0.04)  # the others are found now and then
    has = chance.random((4_000, items)) < likely
    people = People(has, chance.random(has.shape))
    later = has.copy()
    later[:, :2] &= chance.random((4_000, 2)) < 0.1  # two of the frequent ones fall
    others = People(later, people.order)
    shares, unexplained, right = [], [], 0
    for _ in range(30):
        before, after = people.released(chance), people.released(chance)
        pair = Pair(kind="queries", before=before, after=after)
        shares.append(false_share(pair, set())[0])
        share, told = false_share(
            Pair(kind="queries", before=before, after=others.released(chance)), {"q0", "q1"}
        )
        shares.append(share)
        right += told
        unlisted = Side(table=after.table, law=LAW, listed=False, whole=True)
        unexplained.append(false_share(Pair(kind="queries", before=before, after=unlisted), set()))
    assert np.mean(shares) <= RATE
    assert right
    assert np.mean([share for share, _ in unexplained]) > 3 * RATE


def test_the_bound_on_a_sum_of_noises_holds_and_is_near() -> None:
    chance = np.random.default_rng(8)
    drawn = np.round(chance.normal(0, float(MECHANISM.scale), (20_000, 25))).sum(axis=1)
    bound = LAW.sum_bound(25, 1e-3)
    assert np.mean(drawn < -bound) <= 2e-3
    assert np.mean(drawn < -bound / 1.5) > 1e-3


def released(numbers: dict[str, int], key: str | None = None) -> z.Release:
    """By `auto` with a look: people have one item each."""
    rows = [(f"{item} {n}", item) for item, number in numbers.items() for n in range(number)]
    users, queries = zip(*rows, strict=True)
    log = z.read_log(pa.table({"user": users, "query": queries}))
    goal = z.Indistinguishability(epsilon=30, delta="1e-6", neighbors="add-remove")
    kinds = [ItemsPerUser(of=z.queries(10)), z.queries(10)]
    return z.publish(log, goal, kinds, mechanism="auto", account=None, selection_key=key)


def test_after_a_look_tables_are_compared_where_it_chose_the_same() -> None:
    old = released({"same": 900, "up": 300, "down": 900})
    new = released({"same": 900, "up": 900, "down": 300}, old.record.selection_key)
    found = z.changes(old, new)
    told = {row.item[0]: row.change for row in found if row.kind == "queries"}
    assert told == {"up": "risen", "down": "fallen"}
