"""Choosing epsilon and m without touching the data.

What a plan would publish is expected from a source that its owner declares public: an earlier
release, a synthetic log, a published one. With no source, the thresholds alone say something.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from zealous.counting.log_count import LogCount
from zealous.engines.engine import Engine
from zealous.errors import Refused, UsageError
from zealous.items import Kind
from zealous.libraries import pa, pc
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.mechanisms import Count
from zealous.owner.advice import Advice, Choice, TopAccuracy
from zealous.privacy.accounting.expected import (
    expected_coverage,
    expected_error,
    expected_published,
)
from zealous.privacy.calibrate import Calibration, calibrate
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.units import Select
from zealous.release.bundle import Release

LADDER = (1, 2, 3, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 120, 160)
TOPS = (100, 1000)
FACTORS = (Fraction(1, 2), Fraction(1), Fraction(2))  # of the goal's epsilon
_UNBOUNDED = 2**40
_KEY = 0  # the source is public, and should give the same advice every time
_FAR = 30  # so many scales below tau' an item is published less than once in 1e13 releases

Say = Callable[[str], None]
Item = tuple[str, ...]


def advise(
    goal: Guarantee,
    kind: Kind,
    public: Log | Release | None = None,
    *,
    select: Select = "random",
    engine: Engine | None = None,
    say: Say = lambda _: None,
) -> Advice:
    """Lay out choices of epsilon and m, with what to expect of each.

    Guarantee:
        Choosing by this costs no privacy if `public` is public, which the caller must know. Given
        the log that is to be published, the parameters would depend on it, and no guarantee
        covers that.

    Args:
        goal: The guarantee of this one histogram; half and twice its epsilon are tried too.
        kind: What is counted; its m is what is to be chosen and plays no role.
        public: An earlier release, or a synthetic or published log of the same nature.
        select: How each user's items are chosen.
        engine: Where to count a public log; where it is, or an embedded DuckDB, if not given.
        say: Receives progress.
    """
    if public is None:
        choices = [
            Choice(epsilon=each.epsilon, items_per_user=m, parameters=calibrate(each, m), top={})
            for m in LADDER
            for each in _goals_to_try(goal)
        ]
        return Advice(goal=goal, kind=kind.name(), basis="nothing", choices=choices)
    if isinstance(public, Release):
        return _advise_from_release(goal, kind, public)
    kind.check(public.columns.assigned())
    with public.engine_for(engine) as running:
        say("reading the public log")
        source = open_log(public, running, kind.extra_columns(), unit=goal.unit)
        users = count_users(source)
        count = LogCount(kind=kind, source=source, select=select, key=_KEY, say=say)
        return _advise_from_log(goal, kind, count, users, say)


def _goals_to_try(goal: Guarantee) -> list[Guarantee]:
    return [replace(goal, epsilon=goal.epsilon * factor) for factor in FACTORS]


def _advise_from_release(goal: Guarantee, kind: Kind, release: Release) -> Advice:
    """At the release's own m, over epsilon: its counts after bounding say nothing about others."""
    if not release.record.private:
        raise Refused(
            "the earlier release was made with a fixed seed: its noise can be subtracted, so it is "
            "no public source. Name one that was published"
        )
    if release.record.guarantee.unit != goal.unit:
        raise UsageError("the earlier release counts other units: say the same --unit as it does")
    name = kind.name()
    if name not in release.tables:
        held = ", ".join(release.tables)
        raise UsageError(f"the earlier release holds no {name}: say --items with one of {held}")
    (m,) = (part.items_per_user for part in release.record.plan if part.kind == name)
    noisy = sorted(release[name].arrow["count"].to_pylist(), reverse=True)
    counts = Counter(noisy)
    choices = []
    for each in _goals_to_try(goal):
        parameters = calibrate(each, m)
        tops = {
            j: TopAccuracy(coverage=expected_coverage(parameters, noisy[:j]))
            for j in _top_sizes(len(noisy))
        }
        published = expected_published(parameters, counts)
        choices.append(
            Choice(
                epsilon=each.epsilon,
                items_per_user=m,
                parameters=parameters,
                published=published,
                top=tops,
            )
        )
    return Advice(goal=goal, kind=name, basis="earlier-release", choices=choices)


def _advise_from_log(goal: Guarantee, kind: Kind, count: Count, users: int, say: Say) -> Advice:
    if users == 0:
        raise UsageError("the public log holds no entry with a user id: see `zealous inspect`")
    say("counting the public log's items as they are")
    true, contributions = _most_frequent_items(count, kind.columns())
    if not true:
        raise UsageError(f"the public log holds no {kind.name()}: name another")
    advice = Advice(
        goal=goal,
        kind=kind.name(),
        basis="public-log",
        choices=[],
        users=users,
        average=contributions / users,
    )
    for m in sorted({*LADDER, max(1, round(contributions / users))}):
        say(f"expecting what m = {m} publishes")
        plans = [(each.epsilon, calibrate(each, m)) for each in _goals_to_try(goal)]
        counts, kept = _bounded_counts(count, kind.columns(), m, true, [each for _, each in plans])
        top = [(number, kept[item]) for item, number in true.items()]
        found = [
            _evaluate_choice(epsilon, m, parameters, counts, top) for epsilon, parameters in plans
        ]
        advice = replace(advice, choices=[*advice.choices, *found])
        if m >= 2 * contributions / users and _stops_helping(advice, m):
            break
    return advice


def _stops_helping(advice: Advice, m: int) -> bool:
    """Beyond twice the average noise grows and contributions hardly do."""
    bests = (advice.best_for_coverage(), advice.best_for_top())
    return all(best is None or best.items_per_user < m for best in bests)


def _evaluate_choice(
    epsilon: Fraction,
    m: int,
    parameters: Calibration,
    counts: Mapping[int, int],
    top: Sequence[tuple[int, int]],
) -> Choice:
    """What to expect of one choice; `top` holds the true and the bounded counts of the top."""
    return Choice(
        epsilon=epsilon,
        items_per_user=m,
        parameters=parameters,
        published=expected_published(parameters, counts),
        top={
            j: TopAccuracy(
                coverage=expected_coverage(parameters, [kept for _, kept in top[:j]]),
                error=expected_error(parameters, top[:j]),
            )
            for j in _top_sizes(len(top))
        },
    )


def _top_sizes(items: int) -> list[int]:
    """How deep to look: 100 and 1000, or all of the items where there are fewer."""
    return sorted({min(j, items) for j in TOPS} - {0})


def _most_frequent_items(count: Count, columns: Sequence[str]) -> tuple[dict[Item, int], int]:
    """The items with the most users, most first, without bounding; and all contributions."""
    keys = [("count", "descending"), *((name, "ascending") for name in columns)]
    top, contributions = None, 0
    for batch in count(bound=_UNBOUNDED, at_least=1):
        contributions += pc.sum(batch["count"]).as_py() or 0
        both = pa.Table.from_batches([batch])
        both = both if top is None else pa.concat_tables([top, both])
        top = both.take(pc.select_k_unstable(both, max(TOPS), keys))
    if top is None:
        return {}, 0
    return dict(_items_and_counts(top, columns)), contributions


def _bounded_counts(
    count: Count, columns: Sequence[str], m: int, true: dict[Item, int], plans: list[Calibration]
) -> tuple[Counter[int], Counter[Item]]:
    """After bounding to m: how many items have each count, and the counts of the true top."""
    counts: Counter[int] = Counter()
    kept: Counter[Item] = Counter()
    # Below this an item of the top is as good as never published, and need not be looked up.
    least = min(max(each.tau, math.floor(each.tau_prime - _FAR * each.scale)) for each in plans)
    for batch in count(bound=m, at_least=min(each.tau for each in plans)):
        for each in batch["count"].value_counts():
            counts[each["values"].as_py()] += each["counts"].as_py()
        for item, number in _items_and_counts(
            batch.filter(pc.greater_equal(batch["count"], least)), columns
        ):
            if item in true:
                kept[item] = number
    return counts, kept


def _items_and_counts(
    rows: pa.Table | pa.RecordBatch, columns: Sequence[str]
) -> Iterator[tuple[Item, int]]:
    items = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    return zip(items, rows["count"].to_pylist(), strict=True)
