"""Mechanisms of earlier versions: what their releases need, and that nothing else is left."""

import json
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from examples import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from paths import ROOT

import zealous as z
from zealous.errors import UsageError
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.retired import RETIRED, Round, recorded_class
from zealous.planning.from_record import guarantee_from_record, mechanism_from_record
from zealous.privacy.accounting.keys import LARGEST_SCALE, WEIGHT
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.record import PartRecord
from zealous.release.schema import read_record

GOAL = Indistinguishability(epsilon=1, delta="1e-6", neighbors="add-remove")


def parts() -> Iterator[PartRecord]:
    """Tables of earlier releases that were made with retired mechanisms."""
    for path in sorted((ROOT / "tests" / "fixtures").glob("0.1.0/*/release.json")):
        yield from (part for part in read_record(path.read_text()).plan if part.rounds)


def test_releases_that_used_them_are_read_and_claim_what_follows() -> None:
    found = {part.mechanism: part for part in parts()}
    assert found.keys() == RETIRED.keys()
    for part in found.values():
        mechanism = mechanism_from_record(part)
        goal = guarantee_from_record(part, "indistinguishable")
        assert 0.99 < float(mechanism.delta(goal)) / part.delta_achieved <= 1
        assert mechanism.description.points(part, units="users", each="each user", origin=None)
        assert mechanism.loss(goal.neighbors).exposure <= goal.delta
        assert mechanism.interval(0.95).error > 0


@pytest.mark.parametrize("name", RETIRED)
def test_none_can_be_planned_or_drawn_with(name: str) -> None:
    (part,) = [part for part in parts() if part.mechanism == name][:1]
    mechanism = recorded_class(part)
    assert MECHANISMS.get(name) is not mechanism
    with pytest.raises(UsageError, match="earlier versions alone"):
        mechanism.calibrate(GOAL, 1)
    with pytest.raises(UsageError, match="earlier versions alone"):
        mechanism.from_record(part).release(lambda **_: [], bytes)
    if name not in MECHANISMS:
        with pytest.raises(UsageError, match="use pooled or auto"):
            z.plan(GOAL, [z.queries(1)], mechanism=name)


def test_a_record_without_rounds_is_none_of_theirs() -> None:
    text = (ROOT / "tests" / "fixtures" / "0.1.0" / "prior" / "release.json").read_text()
    record = json.loads(text)
    for part in record["plan"]:
        part.pop("rounds", None)
    for part in read_record(json.dumps(record)).plan:
        if part.mechanism == "prior":
            assert recorded_class(part) is MECHANISMS["prior"]
            with pytest.raises(z.ZealousError):
                mechanism_from_record(part)


@pytest.mark.parametrize("name", sorted({*MECHANISMS} - {*RETIRED}))
def test_rounds_make_no_retired_mechanism_of_another(name: str) -> None:
    """A stranger's record may hold anything: what does not belong there is refused later."""
    found = None
    with suppress(LookupError):
        found = recorded_class(replace(next(parts()), mechanism=name))
    assert found is MECHANISMS[name]


@cache
def tails(scale: int) -> npt.NDArray[np.float64]:
    """P(noise >= z), from -12 deviations to 12."""
    chances = np.exp(-((np.arange(-12 * scale, 12 * scale + 1) / scale) ** 2) / 2)
    return np.cumsum((chances / chances.sum())[::-1])[::-1]


def above(scale: int, least: int) -> float:
    """P(noise > least)."""
    return float(tails(scale)[12 * scale + 1 + least])


def given_to_each(items: int) -> int:
    return int((WEIGHT**2 // items) ** 0.5)


@given(
    bound=st.integers(1, 1000),
    scale=st.integers(100, 3000),
    deviations=st.floats(1, 9, allow_nan=False),
)
@examples(80)
def test_exposure_is_the_worst_of_all_ways_to_give(
    bound: int, scale: int, deviations: float
) -> None:
    threshold = max(2 * WEIGHT, WEIGHT + int(deviations * scale))
    assume(threshold < 11 * scale)
    each = Round(bound=bound, scale=scale, threshold=threshold)
    ways = range(1, bound + 1)
    worst = max(n * above(scale, threshold - given_to_each(n)) for n in ways)
    found = float(each.exposure())
    assert worst * (1 - 1e-9) <= found or found == 1
    assert found <= worst * 1.2
    assert 0 < each.exposure() <= Fraction(1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("bound", 1001), ("bound", 0), ("scale", LARGEST_SCALE + 1), ("scale", 1.5),
     ("threshold", 2 * WEIGHT - 1)],
)  # fmt: skip
def test_a_round_that_nothing_is_proven_for_is_refused(name: str, value: Any) -> None:
    right: dict[str, Any] = {"bound": 1, "scale": 500, "threshold": 4000}
    Round(**right)
    with pytest.raises(UsageError, match="round"):
        Round(**{**right, name: value})
