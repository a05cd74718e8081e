"""What is tried in a study: the grid, as a value that a file can hold."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from zealous.errors import UsageError, reason
from zealous.items import query_pairs
from zealous.privacy.guarantee import SESSION_GAP, ProbabilisticDP, positive_integer
from zealous.study.anonymity import METHODS, method_by_name
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES
from zealous.study.measures.jones import LEARNERS

KINDS = ("keywords", "queries", "clicks", "query-pairs", "phrase-pairs")
_NUMBERS = ("delta", "epsilon", "epsilons")
_TEXTS = ("mechanisms", "methods", "kinds", "substitution")


@dataclass(frozen=True, kw_only=True)
class Study:
    """The settings of a study. The defaults are the paper's, if it states them.

    Numbers are int or float, a float being the decimal that it prints as.

    Attributes:
        epsilons: The epsilons of ZEALOUS, of each table by itself, as in the paper.
        delta: The delta of all.
        items_per_user: The values of m.
        top: The values of j for the j most frequent items.
        k: The values of k for each anonymity method.
        mechanisms: What is compared at each epsilon beside ZEALOUS under the paper's guarantee, at
            m = 1 and 6: see `grid.other_guarantees`.
        methods: The anonymity methods.
        kinds: What is counted; what the log's columns do not allow is left out.
        draws: How often noise is drawn for each epsilon and m.
        substituted: For how many of the most frequent queries substitutions are looked for.
        substitution: How they are learned: `ratio` ranks by log-likelihood ratio, `jones` and
            `model` by more features than that, which takes longer.
        memory_for_lists: The memory for index caching, in bytes.
        epsilon: The epsilon of the tables and figures that vary something else. The paper does not
            state it; 5 is plausible.
        session_gap: Minutes without a query that end a session, where the log has no session ids.
        by_similarity: Whether, for the anonymity methods, a query without a word in common with the
            last one ends a session too.
        seed: Fixes noise and selection.
    """

    epsilons: tuple[float, ...] = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
    delta: float = 0.001
    items_per_user: tuple[int, ...] = (1, 2, 4, 6, 8, 10, 20, 40)
    top: tuple[int, ...] = (10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000)
    k: tuple[int, ...] = (5, 10, 50, 60, 100)
    mechanisms: tuple[str, ...] = ("indistinguishable", "korolova", "gaussian")
    methods: tuple[str, ...] = ("k-query", "k-session", "k-keyword")
    kinds: tuple[str, ...] = KINDS
    draws: int = 5
    substituted: int = 100_000
    substitution: str = "ratio"
    memory_for_lists: int = 10**9
    epsilon: float = 5
    session_gap: int = SESSION_GAP
    by_similarity: bool = False
    seed: int = 7

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if not isinstance(field.default, tuple):
                _check_value(field.name, given)
                continue
            if not isinstance(given, list | tuple):
                raise UsageError(f"{field.name} of a study must be a list")
            for each in given:  # before equal ones become one: True equals 1
                _check_value(field.name, each)
            object.__setattr__(self, field.name, tuple(dict.fromkeys(given)))
        _check(self)

    def as_object(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def _check_value(name: str, value: object) -> None:
    """Refuse what is not of the type that a setting, or each of its list, must have."""
    if name in _TEXTS:
        if not isinstance(value, str):
            many = "a name" if name == "substitution" else "names"
            raise UsageError(f"{name} of a study must be {many} in quotes")
    elif name == "by_similarity":
        if not isinstance(value, bool):
            raise UsageError(f"{name} of a study must be true or false")
    elif name in _NUMBERS:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise UsageError(f"{name} of a study must be a number such as 0.5, without quotes")
    elif not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{name} of a study must be a whole number, without quotes")


def _check(study: Study) -> None:
    for name in ("draws", "substituted", "memory_for_lists"):
        positive_integer(getattr(study, name), name)
    for name in ("items_per_user", "top", "epsilons"):
        if not getattr(study, name):
            raise UsageError(f"{name} of a study must not be empty")
    for name in ("items_per_user", "top"):
        for each in getattr(study, name):
            positive_integer(each, name)
    for epsilon in (*study.epsilons, study.epsilon):
        ProbabilisticDP(epsilon=epsilon, delta=study.delta, users=1)
    if unknown := [name for name in study.kinds if name not in KINDS]:
        raise UsageError(f"a study knows no {unknown[0]!r}: kinds are {', '.join(KINDS)}")
    if unknown := [name for name in study.mechanisms if name not in OTHER_GUARANTEES]:
        raise UsageError(
            f"a study knows no {unknown[0]!r}: mechanisms are {', '.join(OTHER_GUARANTEES)}"
        )
    if unknown := [name for name in study.methods if name not in METHODS]:
        raise UsageError(f"a study knows no {unknown[0]!r}: methods are {', '.join(METHODS)}")
    if study.substitution not in LEARNERS:
        raise UsageError(
            f"a study knows no {study.substitution!r}: substitution is {' or '.join(LEARNERS)}"
        )
    for name in study.methods:
        for k in study.k:
            method_by_name(name, k=k)
    query_pairs(1, session_gap=study.session_gap)  # which refuses what is no gap
    if not 0 <= study.seed < 2**32:
        raise UsageError("seed of a study must be a whole number from 0 to 2^32 - 1")


def read_study(path: Path) -> Study:
    """A study from a TOML file, whose keys are those of `Study`; others stay as they are."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}") from None
    except ValueError:
        raise UsageError(f"{path} is not TOML: see the example in docs/study/README.md") from None
    return study_from(given)


def study_from(given: Mapping[str, Any]) -> Study:
    """A study from plain values."""
    known = [field.name for field in fields(Study)]
    if unknown := [name for name in given if name not in known]:
        raise UsageError(f"a study has no {unknown[0]!r}: it has {', '.join(known)}")
    return Study(**given)
