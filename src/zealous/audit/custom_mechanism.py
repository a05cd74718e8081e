"""An honest attempt to refute what a mechanism of somebody's own claims, knowing nothing of it.

Counting is ours and is audited elsewhere, so the mechanism is given counts: those of neighbouring
logs, on which somebody's items have c users or, without her, c - 1.

Thousands of copies fit into one release, and each is a run of its own if every item's noise is its
own: most mechanisms mean it so, and noise that is shared by mistake shows itself. A mechanism whose
items share randomness on purpose says `independent = False`, and each run is a release of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zealous.audit.confidence_bounds import Claim, EventCounts
from zealous.audit.custom_counts import (
    Case,
    Values,
    WatchedMechanism,
    plain_histogram,
    run_cases,
)
from zealous.audit.distinguishing_events import TESTS, evidence_against, impossible_without_user
from zealous.audit.measurement import BY_ACCIDENT, FALSE_ALARMS, Audit, Measurement
from zealous.audit.whole_releases import Check
from zealous.errors import UsageError
from zealous.mechanisms import Mechanism
from zealous.privacy.guarantee import Guarantee, ProbabilisticDP, positive_integer

Say = Callable[[str], None]

_LADDER = (2, 3, 5, 10, 20, 50, 100, 200, 500)
_TOP = 1_000  # users; an item of so many is published, or one of four times what half of them need
_LEAST_TRIALS = 1_000
_MOST_ROWS = 2_500_000  # of all packed releases together
_PACKED = 10  # releases, over which the copies are spread
_SHARED = 4  # so many times fewer are the runs if each is a release
_ALONE = 20  # so many times fewer are the releases of a single case
_AGAIN = (20, 2_000)  # at least and at most so many releases, which must not all be the same
_MOST_OWN = 1_000_000  # of everybody's own items in all releases
_CROWDS = (10, 100)  # at least and at most so many releases of everybody's own items
_COPIES = 20  # of each count, to find where items begin to be published
_COUNTS = 2_000  # consecutive ones, whose noise must not be the same
_LARGEST_EPSILON = 500.0  # beyond which exp overflows, and nothing is claimed anyway


@dataclass(frozen=True, kw_only=True)
class MechanismAudit(Audit):
    """What an audit of a mechanism of somebody's own found."""

    name: str
    goal: Guarantee

    @property
    def epsilon(self) -> float:
        """The largest epsilon that is proven, beside the claimed delta."""
        return max(each.epsilon or 0.0 for each in self.measurements)

    @property
    def delta(self) -> float:
        """The largest delta that is proven, beside the claimed epsilon."""
        return max(each.delta for each in self.measurements)

    @property
    def detectable_epsilon(self) -> float | None:
        """From which epsilon on the case that proves most would have seen it, in 95 of 100 audits.

        None where sampling so often cannot show any epsilon above the claimed one.
        """
        return max(self.measurements, key=lambda each: each.epsilon or 0.0).detectable_epsilon


def audit_mechanism(
    mechanism: Mechanism,
    goal: Guarantee | None = None,
    trials: int = 20_000,
    *,
    say: Say = lambda _: None,
) -> MechanismAudit:
    """Try to refute what a mechanism claims for the release of one histogram.

    Guarantee:
        A mechanism that keeps its claim, and is `independent` where it says so, fails with a
        chance of at most `FALSE_ALARMS`. That one passes proves nothing: a fault may be too small
        to be seen, or need other logs.

    Args:
        mechanism: The mechanism.
        goal: What it claims; its own `goal` where not given.
        trials: How many runs on each histogram, half of which choose what to look at and half
            test it; fewer where m is large, or where items share randomness.
        say: Receives progress.

    Raises:
        UsageError: It claims nothing, or does not yield what a mechanism must.
    """
    goal = goal or getattr(mechanism, "goal", None)
    if not isinstance(goal, Guarantee):
        raise UsageError(
            f"{mechanism.name} claims nothing: give it a goal, see docs/extending/quick.md"
        )
    if positive_integer(trials, "trials") < _LEAST_TRIALS:
        raise UsageError(f"trials must be at least {_LEAST_TRIALS:,}")
    m = positive_integer(mechanism.items_per_user, "items_per_user")
    watched = WatchedMechanism(mechanism)
    half = _half_published_count(watched)
    cases = _cases(goal, m, half)
    small = [case for case in cases if case.users in (1, half, cases[-1].users) and not case.apart]
    trials = min(trials, max(_LEAST_TRIALS, _MOST_ROWS // (4 * m * len(cases))))
    tests = TESTS * (len(cases) + len(small)) + 1
    judge = _Judge(goal, (FALSE_ALARMS - BY_ACCIDENT) / tests)
    say(f"{mechanism.name}: {len(cases)} pairs of histograms")
    measurements = list(_measure_cases(watched, cases, trials, judge))
    say(f"{mechanism.name}: small releases")
    for case in small:
        values = _run_separately(watched, [case], max(trials // _ALONE, _LEAST_TRIALS // 2))
        measurements.append(judge.measure(case, values[:, :, 0], ", nothing else"))
    if isinstance(goal, ProbabilisticDP):
        say(f"{mechanism.name}: everybody with items of her own")
        measurements.append(_measure_all_users(watched, goal, judge))
    return MechanismAudit(
        name=mechanism.name,
        goal=goal,
        trials=trials,
        measurements=measurements,
        checks=_run_checks(watched, goal, half),
    )


@dataclass(frozen=True)
class _Judge:
    """Turns what was published into measurements of one claim."""

    goal: Guarantee
    alpha: float

    @property
    def claim(self) -> Claim:
        """What must hold between two neighbours, under either definition."""
        epsilon = min(float(self.goal.epsilon), _LARGEST_EPSILON)
        return Claim(epsilon=epsilon, delta=float(self.goal.delta))

    def measure(self, case: Case, values: Values, where: str = "") -> Measurement:
        """What speaks against the claim in runs of one case."""
        by_epsilon, by_delta = evidence_against(values, self.claim, self.alpha)
        if case.users == 1:
            by_delta = impossible_without_user(values, self.alpha)
        return self.measurement(case.name + where, by_epsilon, by_delta)

    def measurement(
        self, name: str, by_epsilon: list[EventCounts], by_delta: list[EventCounts]
    ) -> Measurement:
        """These events against the claim."""
        return Measurement(
            guarantee=self.goal.definition,
            setting=f"{self.goal.definition}, {self.goal.neighbors}",
            pair=name,
            claim=self.claim,
            by_epsilon=by_epsilon,
            by_delta=by_delta,
        )


def _cases(goal: Guarantee, m: int, half: int | None) -> list[Case]:
    """The counts that are tried, as far as the declared users can have all of them at once."""
    moves = goal.neighbors == "replace"
    top = max(_TOP, 4 * (half or 0))
    near = [half, half + 1] if half else []
    left = goal.users if goal.users is not None else np.inf
    counts = []
    for count in dict.fromkeys([1, *near, top, *_LADDER]):
        if 2 * count - 1 <= left:  # c - 1 for each group, and she
            counts.append(count)
            left -= 2 * count - 1
    cases = [
        Case(name=_case_name(m, count, moves), users=count, moves=moves) for count in sorted(counts)
    ]
    last = cases[-1]
    return [*cases, replace(last, name=f"{last.name}, in two batches", apart=True)]


def _case_name(m: int, count: int, moves: bool) -> str:
    items, others = ("an item", "another") if m == 1 else (f"{m} items", f"{m} others")
    return f"{items} held by {count:,}" + (f", for {others}" if moves else f" or by {count - 1:,}")


def _measure_cases(
    watched: WatchedMechanism, cases: Sequence[Case], trials: int, judge: _Judge
) -> Iterator[Measurement]:
    """All cases in the same releases, but for those whose items are in two batches."""
    independent = getattr(watched.mechanism, "independent", True)
    for apart in (False, True):
        chosen = [case for case in cases if case.apart == apart]
        if independent:
            values = run_cases(watched, chosen, trials, _PACKED)
        else:
            values = _run_separately(watched, chosen, trials // _SHARED)
        for i, case in enumerate(chosen):
            yield judge.measure(case, values[:, :, i])


def _run_separately(watched: WatchedMechanism, cases: Sequence[Case], trials: int) -> Values:
    """Each run a release of its own."""
    return run_cases(watched, cases, trials, 2 * trials)


def _half_published_count(watched: WatchedMechanism) -> int | None:
    """The least count of which about half are published: there a threshold tells most."""
    low, counts = 0, 2 ** np.arange(25)
    high = None
    while high is None or high - low > 1:
        values = watched.release(plain_histogram(np.repeat(counts, _COPIES))).reshape(-1, _COPIES)
        often = np.flatnonzero((~np.isnan(values)).mean(axis=1) >= 0.5)
        if not len(often):
            break
        first = often[0]
        low, high = int(counts[first - 1]) if first else low, int(counts[first])
        counts = np.unique(np.linspace(low + 1, high, 64).astype(np.int64))
    return high


def _measure_all_users(
    watched: WatchedMechanism, goal: ProbabilisticDP, judge: _Judge
) -> Measurement:
    """Probabilistic differential privacy is about all users at once.

    Where everybody has items of her own, each that appears is a breach, since without its user it
    could not: the chance that any does may not exceed delta.
    """
    least, most = _CROWDS
    items = min(goal.users * watched.mechanism.items_per_user, _MOST_OWN // least)
    releases = min(most, max(least, _MOST_OWN // items))
    ones = plain_histogram(np.ones(items, np.int64))
    breaches = sum(not np.isnan(watched.release(ones)).all() for _ in range(releases))
    seen = EventCounts(here=breaches, there=None, trials=releases, alpha=judge.alpha)
    return judge.measurement("everybody with items of her own", [], [seen])


def _run_checks(watched: WatchedMechanism, goal: Guarantee, half: int | None) -> list[Check]:
    """What either holds or not."""
    anew = _draws_fresh_noise(watched, goal, half)
    must = {
        "only what was counted is published": not watched.invented,
        "no item is published twice": not watched.repeated,
        "no more than items_per_user items of a user are counted": (
            watched.bound <= watched.mechanism.items_per_user
        ),
        **({} if anew is None else {"noise is drawn anew for each release": anew}),
    }
    return [Check(name=name, passed=passed) for name, passed in must.items()]


def _draws_fresh_noise(watched: WatchedMechanism, goal: Guarantee, half: int | None) -> bool | None:
    """Whether releases of the same counts differ; None where a sound mechanism's need not."""
    start = max(0, (half or 0) - _COUNTS // 2)
    counts = plain_histogram(start + 1 + np.arange(_COUNTS))
    first = watched.release(counts)
    if np.isnan(first).all():
        return True
    independent = getattr(watched.mechanism, "independent", True)
    published = len(np.unique(first[~np.isnan(first)]))
    releases = releases_needed_to_differ(goal, max(1, published // 4) if independent else 1)
    if releases is None:
        return None
    others = (watched.release(counts) for _ in range(releases - 1))
    return not all(np.array_equal(first, other, equal_nan=True) for other in others)


def releases_needed_to_differ(goal: Guarantee, draws: int) -> int | None:
    """So many releases of a sound mechanism agree by accident with a chance of BY_ACCIDENT at most.

    If one user makes a difference to what most likely comes of an item, then of her item with or
    without her it is not what comes, with a chance of at least (1 - delta) / (1 + exp(epsilon)).

    Args:
        goal: What it claims.
        draws: How many items there are like that, each with noise of its own. Where so many
            different counts are published, a quarter: of two of them one, but for noise.

    Returns:
        The number; None where it would take too many.
    """
    claimed = min(float(goal.epsilon), _LARGEST_EPSILON)
    differs = (1 - float(goal.delta)) / (1 + math.exp(claimed))
    releases = 1 + math.ceil(-math.log(BY_ACCIDENT) / (draws * differs))
    least, most = _AGAIN
    return max(least, releases) if releases <= most else None
