"""What is compared: every method at every setting, each a way to a release of all kinds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from zealous.anonymity import Method, histograms
from zealous.calibrate import Calibration, calibrate
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.evaluate.original import Ints, Original
from zealous.evaluate.released import Released, by_index, by_text, itself
from zealous.guarantee import ProbabilisticDP
from zealous.log import Log
from zealous.mechanism import Mechanism, Zealous
from zealous.noise import RandomBytes, seeded_bytes

ORIGINAL, ZEALOUS = "original", "zealous"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where on the grid a release stands.

    Attributes:
        method: Its name.
        epsilon: None where the method has none.
        k: Likewise.
        m: Likewise.
    """

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
        ...

    @property
    def draws(self) -> int:
        """How many releases to make of it."""
        ...

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """What is left of each kind; a kind that the method does not give is left out."""
        ...


@dataclass(frozen=True, kw_only=True)
class Itself:
    """The original as its own release."""

    setting: Setting = Setting(method=ORIGINAL)
    draws: int = 1

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """Everything."""
        del draw
        return {kind: itself(original) for kind, original in originals.items()}


@dataclass(frozen=True, kw_only=True)
class ByZealous:
    """ZEALOUS, each histogram at the whole epsilon, as the paper has it.

    Attributes:
        epsilon: Of each histogram.
        delta: Of each histogram.
        m: Items a user.
        draws: Of the noise.
        seed: Fixes the noise.
    """

    epsilon: float
    delta: float
    m: int
    draws: int
    seed: int

    @property
    def setting(self) -> Setting:
        """Where on the grid."""
        return Setting(method=ZEALOUS, epsilon=float(self.epsilon), m=self.m)

    def calibration(self, people: int) -> Calibration:
        """Its parameters for a log of so many users."""
        goal = ProbabilisticDP(epsilon=str(self.epsilon), delta=str(self.delta), users=people)
        return calibrate(goal, self.m)

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """One draw of the noise."""
        found = {}
        for kind, original in originals.items():
            best = self.calibration(original.people)
            mechanism = Zealous(
                items_per_user=self.m,
                scale=best.scale,
                tau=best.tau,
                tau_prime=best.tau_prime,
            )
            noise = _noise(self.seed, ZEALOUS, self.epsilon, self.m, kind, draw)
            found[kind] = released(mechanism, original, noise)
        return found


@dataclass(frozen=True, kw_only=True)
class ByMechanism:
    """A mechanism of one's own.

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
        """Where on the grid."""
        goal = getattr(self.mechanism, "goal", None)
        return Setting(
            method=self.mechanism.name,
            epsilon=None if goal is None else float(goal.epsilon),
            m=self.mechanism.items_per_user,
        )

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """One draw of its noise."""
        name = self.mechanism.name
        return {
            kind: released(self.mechanism, original, _noise(self.seed, name, kind, draw))
            for kind, original in originals.items()
        }


@dataclass(frozen=True, kw_only=True)
class ByMethod:
    """An anonymity method.

    Attributes:
        method: The method.
        log: What it anonymises.
        engine: Where.
    """

    method: Method
    log: Log
    engine: DuckDB
    draws: int = 1

    @property
    def setting(self) -> Setting:
        """Where on the grid."""
        return Setting(method=self.method.name, k=getattr(self.method, "k", None))

    def release(self, originals: Mapping[str, Original], draw: int) -> Mapping[str, Released]:
        """What the method counts in its output; it draws no noise."""
        del draw
        counted = histograms(self.log, self.method, engine=self.engine)
        return {
            kind: by_text(originals[kind], table)
            for kind, table in counted.items()
            if kind in originals and table is not None
        }


def released(mechanism: Mechanism, original: Original, random_bytes: RandomBytes) -> Released:
    """What a mechanism publishes of a histogram that was counted before."""

    def count(*, bound: int, at_least: int) -> Iterator[pa.RecordBatch]:
        if bound not in original.kept:
            raise UsageError(
                f"{mechanism.name} asks for {bound} items a user: a study counts for its "
                "items_per_user alone"
            )
        kept = original.kept[bound]
        index = np.flatnonzero(kept >= max(1, at_least))
        yield pa.record_batch({"item": index, "count": kept[index]})

    index, counts = _columns(mechanism.release(count, random_bytes))
    if len(np.unique(index)) < len(index):
        raise UsageError(f"{mechanism.name} publishes an item twice")
    return by_index(original, index, counts)


def _columns(batches: Iterable[pa.RecordBatch]) -> tuple[Ints, Ints]:
    found = [(batch["item"].to_numpy(), batch["count"].to_numpy()) for batch in batches]
    empty = np.zeros(0, np.int64)
    return (
        np.concatenate([empty, *(index for index, _ in found)]),
        np.concatenate([empty, *(counts for _, counts in found)]),
    )


def _noise(*parts: Any) -> RandomBytes:
    """Bytes that repeat themselves, other ones for each release and kind."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return seeded_bytes(int.from_bytes(digest[:8], "big"))


def check_own(methods: Sequence[Mechanism | Method], taken: Iterable[str]) -> None:
    """Refuse methods of one's own that could not be told apart, or cannot be run."""
    names = [*taken]
    for method in methods:
        name = getattr(method, "name", None)
        if not isinstance(name, str) or not name:
            raise UsageError("a method of your own needs a name: see docs/extend.md")
        if name in names:
            raise UsageError(f"two methods are called {name!r}: give yours another name")
        names.append(name)
        if not isinstance(method, Method) and not callable(getattr(method, "release", None)):
            raise UsageError(
                f"{name!r} is neither a mechanism nor an anonymity method: see docs/extend.md"
            )
