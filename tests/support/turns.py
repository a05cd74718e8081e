"""Long lists of cases: at each commit some have their turn, and `make soak` runs the others too."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import pytest
from soak import checked_out

T = TypeVar("T")
Test = TypeVar("Test", bound=Callable[..., object])


def have_turn(
    cases: Sequence[T],
    name: Callable[[T], str],
    *,
    share: int,
    group: Callable[[T], Hashable] = lambda _: None,
    commit: str | None = None,
) -> set[str]:
    """The names of those whose turn it is: of each group one in `share`, and at least one."""
    at = checked_out() if commit is None else commit
    groups = defaultdict(list)
    for case in cases:
        groups[group(case)].append(name(case))
    return {
        each
        for names in groups.values()
        for each in sorted(names, key=lambda name: _place(at, name))[: -(-len(names) // share)]
    }


def in_turn(
    cases: Sequence[T],
    name: Callable[[T], str],
    *,
    share: int,
    group: Callable[[T], Hashable] = lambda _: None,
) -> list[Any]:
    """All cases as parameters of a test; those whose turn it is not are for `make soak`."""
    assert len({name(case) for case in cases}) == len(cases), "two cases of the same name"
    names = have_turn(cases, name, share=share, group=group)
    return [
        pytest.param(
            *_values(case),
            id=name(case),
            marks=() if name(case) in names else pytest.mark.soak,
        )
        for case in cases
    ]


# What takes many seconds, such as studies from end to end: each commit has one of all these, and
# `make soak` runs the others.
LONG = [
    "alignment",
    "attacks",
    "demo",
    "demonstration",
    "guide",
    "mechanisms",
    "report",
    "page of anonymity",
    "page of attacks",
    "page of extending",
    "page of mechanisms",
    "command on a cluster",
    "counts on a cluster",
    "driver killed on a cluster",
    "slow task on a cluster",
    "Spark Connect",
    "advise on Spark",
    "evaluate on Spark",
    "inspect on Spark",
    "pseudonym on Spark",
    "token-hash on Spark",
]


def turn_of(name: str) -> Callable[[Test], Test]:
    """Leave a long test to `make soak`, unless it is its turn; tests of one name go together."""
    marks = marks_of_turn(name)
    return lambda test: marks[0](test) if marks else test


def marks_of_turn(name: str) -> list[pytest.MarkDecorator]:
    """The same for all tests of a module, as its `pytestmark`."""
    assert name in LONG
    return [] if name in have_turn(LONG, str, share=len(LONG)) else [pytest.mark.soak]


def at_one_commit_in(share: int) -> Callable[[Test], Test]:
    """Leave a test to `make soak`, but for one commit of so many."""

    def mark(test: Test) -> Test:
        place = int(_place(checked_out(), test.__qualname__), 16)
        return test if place % share == 0 else pytest.mark.soak(test)

    return mark


def _values(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)  # not a named one, which is one value


def _place(commit: str, name: str) -> str:
    return hashlib.sha256(f"{commit} {name}".encode()).hexdigest()
