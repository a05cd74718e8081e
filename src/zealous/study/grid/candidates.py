"""What is compared: every method at every setting, each a way to a release of all kinds."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from zealous.engines.engine import Engine
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.mechanisms import Mechanism, Zealous
from zealous.mechanisms.protocol import check_only_bound_and_threshold
from zealous.noise import RandomBytes, seeded_bytes
from zealous.privacy.calibrate import Calibration, calibrate
from zealous.privacy.guarantee import SESSION_GAP, Guarantee, ProbabilisticDP, positive_integer
from zealous.study.anonymity import Method, histograms
from zealous.study.measures.accuracy import counted_mistakes, expected_inaccuracy
from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import (
    Released,
    original_as_release,
    released_by_index,
    released_by_text,
)

ORIGINAL, ZEALOUS = "original", "zealous"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where on the grid a release stands."""

    method: str
    epsilon: float | None = None
    k: int | None = None
    m: int | None = None

    def __str__(self) -> str:
        """In words, for progress."""
        named = {"epsilon": self.epsilon, "k": self.k, "m": self.m}
        told = [f"{name} = {value:g}" for name, value in named.items() if value is not None]
        return f"{self.method} ({', '.join(told)})" if told else self.method


class Candidate(Protocol):
    """A method at one setting."""

    @property
    def setting(self) -> Setting:
        """Where on the grid."""

    @property
    def draws(self) -> int:
        """How many releases to make of it."""

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """What is left of each kind; a kind that the method does not give is left out."""

    def own_figures(
        self, released: Mapping[str, Released], draw: int
    ) -> Iterator[tuple[str, Measured]]:
        """What is measured of this method alone, each figure with its kind."""


class NoOwnFigures:
    """A method that is measured as all are."""

    def own_figures(
        self, released: Mapping[str, Released], draw: int
    ) -> Iterator[tuple[str, Measured]]:
        """None."""
        yield from ()


@dataclass(frozen=True, kw_only=True)
class OriginalCandidate:
    """The original as its own release."""

    setting: Setting = Setting(method=ORIGINAL)
    draws: int = 1

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """Everything."""
        return {kind: original_as_release(original) for kind, original in originals.items()}

    def own_figures(
        self, released: Mapping[str, Released], draw: int
    ) -> Iterator[tuple[str, Measured]]:
        """How many people there are, and how much each has."""
        for kind, each in released.items():
            original = each.original
            yield kind, Measured("average-items", int(original.times.sum()) / original.people)
            yield kind, Measured("average-distinct-items", original.users.sum() / original.people)
        yield "", Measured("people", original.people)


@cache
def _calibration(epsilon: float, delta: float, m: int, people: int) -> Calibration:
    """Of every draw and kind the same."""
    return calibrate(ProbabilisticDP(epsilon=epsilon, delta=delta, users=people), m)


@dataclass(frozen=True, kw_only=True)
class CalibratedCandidate(NoOwnFigures, ABC):
    """A mechanism that is calibrated to each histogram's people, at the whole epsilon."""

    name: str
    epsilon: float
    delta: float
    m: int
    draws: int
    seed: int

    @property
    def setting(self) -> Setting:
        return Setting(method=self.name, epsilon=float(self.epsilon), m=self.m)

    @abstractmethod
    def mechanism(self, people: int) -> Mechanism:
        """The mechanism for a log of so many users."""

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """One draw of the noise."""
        found = {}
        for kind, original in originals.items():
            noise = repeatable_bytes(self.seed, self.name, self.epsilon, self.m, kind, draw)
            found[kind] = run_mechanism(self.mechanism(original.people), original, noise)
        return found


@dataclass(frozen=True, kw_only=True)
class ZealousCandidate(CalibratedCandidate):
    """ZEALOUS, as the paper has it."""

    name: str = ZEALOUS

    def calibration(self, people: int) -> Calibration:
        """Its parameters for a log of so many users."""
        return _calibration(self.epsilon, self.delta, self.m, people)

    def mechanism(self, people: int) -> Mechanism:
        best = self.calibration(people)
        return Zealous(
            items_per_user=self.m, scale=best.scale, tau=best.tau, tau_prime=best.tau_prime
        )

    def own_figures(
        self, released: Mapping[str, Released], draw: int
    ) -> Iterator[tuple[str, Measured]]:
        """How far it is from what the paper's theorem on accuracy allows."""
        for kind, each in released.items():
            best = self.calibration(each.original.people)
            for figure in counted_mistakes(each, best, self.m):
                yield kind, figure
            for figure in expected_inaccuracy(each.original, best, self.m) if draw == 0 else ():
                yield kind, figure


@dataclass(frozen=True, kw_only=True)
class MechanismCandidate(NoOwnFigures):
    """A custom mechanism.

    Attributes:
        mechanism: The mechanism.
        draws: Of its noise.
        seed: Fixes the noise, if it takes its random bytes from where it should.
    """

    mechanism: Mechanism
    draws: int
    seed: int

    @property
    def setting(self) -> Setting:
        return _setting_of(self.mechanism)

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """One draw of its noise."""
        return {
            kind: run_mechanism(
                self.mechanism, original, repeatable_bytes(self.seed, self.setting, kind, draw)
            )
            for kind, original in originals.items()
        }


@dataclass(frozen=True, kw_only=True)
class MethodCandidate(NoOwnFigures):
    """An anonymity method.

    Attributes:
        method: The method.
        log: What it anonymises.
        engine: Where.
        session_gap: Minutes without a query that end a session, where an id is a user's.
    """

    method: Method
    log: Log
    engine: Engine
    session_gap: int = SESSION_GAP
    draws: int = 1

    @property
    def setting(self) -> Setting:
        return _setting_of(self.method)

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """What the method counts in its output; it draws no noise."""
        counted = histograms(
            self.log, self.method, engine=self.engine, session_gap=self.session_gap
        )
        return {
            kind: released_by_text(originals[kind], table)
            for kind, table in counted.items()
            if kind in originals and table is not None
        }


def _setting_of(method: Mechanism | Method) -> Setting:
    """Where on the grid a custom method stands."""
    if isinstance(method, Method):
        return Setting(method=method.name, k=getattr(method, "k", None))
    goal = getattr(method, "goal", None)
    epsilon = None if goal is None else float(goal.epsilon)
    return Setting(method=method.name, epsilon=epsilon, m=method.items_per_user)


def run_mechanism(mechanism: Mechanism, original: Original, random_bytes: RandomBytes) -> Released:
    """What a mechanism publishes of a histogram that was counted before.

    Raises:
        UsageError: It does what its guarantee cannot cover, or yields something else.
    """
    given = np.zeros(len(original), bool)

    def count(*, bound: int, at_least: int, **more: Any) -> Iterator[pa.RecordBatch]:
        check_only_bound_and_threshold(more)
        _check_bound(mechanism, original, bound)
        kept = original.kept[bound]
        index = np.flatnonzero(kept >= max(1, at_least))
        given[index] = True
        yield pa.record_batch({"item": index, "count": kept[index]})

    index, counts = _columns(mechanism.name, mechanism.release(count, random_bytes))
    known = index[(index >= 0) & (index < len(original))]
    if len(known) < len(index) or not given[known].all():
        raise UsageError(
            f"{mechanism.name} publishes an item that it was not given: yield rows of what count "
            "gave, with item as it was"
        )
    if len(np.unique(index)) < len(index):
        raise UsageError(f"{mechanism.name} publishes an item twice: yield each once")
    return released_by_index(original, index, counts)


def _check_bound(mechanism: Mechanism, original: Original, bound: int) -> None:
    if bound > mechanism.items_per_user:
        raise UsageError(
            f"{mechanism.name} asks for {bound} items a user and declares items_per_user = "
            f"{mechanism.items_per_user}: count with bound=self.items_per_user"
        )
    if bound not in original.kept:
        raise UsageError(
            f"{mechanism.name} asks for {bound} items a user, which was not counted: count with "
            "bound=self.items_per_user, or name it among the study's items_per_user"
        )


def _columns(name: str, batches: Iterable[pa.RecordBatch]) -> tuple[Ints, Ints]:
    """The items and counts that were published."""
    # What a user's own code returns may be anything, whatever is declared.
    listed = list(batches) if isinstance(batches, Iterable) else [None]
    if not all(isinstance(batch, pa.RecordBatch) for batch in listed):
        raise UsageError(
            f"release of {name} must yield batches: those that count gives, filtered, with other "
            "counts. See docs/extending/quick.md"
        )
    index, counts = (
        np.concatenate([np.zeros(0, np.int64), *(_column(name, each, column) for each in listed)])
        for column in ("item", "count")
    )
    return index, counts


def _column(name: str, batch: pa.RecordBatch, column: str) -> Ints:
    if batch.schema.names.count(column) != 1:
        raise UsageError(
            f"{name} yields a batch without a column {column!r} or with two: keep all columns that "
            "it came with"
        )
    values = batch.column(column)
    if not pa.types.is_integer(values.type) or values.null_count:
        raise UsageError(
            f"{name} yields a column {column!r} that does not hold whole numbers alone: round them "
            "to int64, and filter out what is null"
        )
    try:
        found: Ints = values.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise UsageError(f"{name} yields a {column} above 2^63: make it int64") from None
    return found


def repeatable_bytes(*parts: Any) -> RandomBytes:
    """Bytes that repeat themselves, other ones for each release and kind."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return seeded_bytes(int.from_bytes(digest[:8], "big"))


def check_custom_methods(methods: Sequence[Mechanism | Method], taken: Iterable[str]) -> None:
    """Refuse custom methods that could not be told apart, or cannot be run."""
    if not isinstance(methods, Sequence):
        raise UsageError("methods must be a list: write methods=[Mine()]")
    names, settings = frozenset(taken), set()
    for method in methods:
        name = getattr(method, "name", None)
        if not isinstance(name, str) or not name.strip():
            raise UsageError("a method of your own needs a name: see docs/extending/quick.md")
        if name in names:
            raise UsageError(f"two methods are called {name!r}: give yours another name")
        _check_is_method(method, name)
        setting = _setting_of(method)
        if setting in settings:
            raise UsageError(
                f"two methods are called {name!r} and have the same epsilon, k and m: give one "
                "another name"
            )
        settings.add(setting)


def _check_is_method(method: Mechanism | Method, name: str) -> None:
    """Refuse what is neither a mechanism nor a method, or lacks something."""
    if isinstance(method, type):
        raise UsageError(f"{name!r} is a class: give an object of it, as in methods=[Mine()]")
    if isinstance(method, Method):
        if (k := getattr(method, "k", None)) is not None:
            positive_integer(k, f"k of {name!r}")
        return
    if not callable(getattr(method, "release", None)):
        raise UsageError(
            f"{name!r} is neither a mechanism nor an anonymity method: see docs/extending/quick.md"
        )
    positive_integer(getattr(method, "items_per_user", None), f"items_per_user of {name!r}")
    goal = getattr(method, "goal", None)
    if goal is not None and not isinstance(goal, Guarantee):
        raise UsageError(
            f"goal of {name!r} must be a guarantee, such as "
            'z.Indistinguishability(epsilon=1, delta="1e-8"), or be left out'
        )
