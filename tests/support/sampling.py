"""Long lists of cases: `make test` runs some of them, `make extended` the others too."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def sampled(
    cases: Sequence[T],
    name: Callable[[T], str],
    *,
    share: int,
    group: Callable[[T], Hashable] = lambda _: None,
) -> list[Any]:
    """All cases as parameters of a test, of which `make test` runs a part.

    It is the same part in every run: whether a change passes does not depend on its commit.

    Args:
        cases: What the test is to be run with.
        name: The name of a case, which no other has.
        share: `make test` runs one in so many of each group, and at least one.
        group: What cases have in common that are sampled together.
    """
    assert len({name(case) for case in cases}) == len(cases), "two cases of the same name"
    groups = defaultdict(list)
    for case in cases:
        groups[group(case)].append(name(case))
    chosen = {
        each
        for names in groups.values()
        for each in sorted(names, key=_place)[: -(-len(names) // share)]
    }
    return [
        pytest.param(
            *_values(case),
            id=name(case),
            marks=() if name(case) in chosen else pytest.mark.extended,
        )
        for case in cases
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)  # not a named one, which is one value


def _place(name: str) -> str:
    """An order that has nothing to do with what the cases are."""
    return hashlib.sha256(name.encode()).hexdigest()
