"""No case is left out for ever, and no group is left out at any commit."""

from __future__ import annotations

import pytest
import turns
from turns import LONG, have_turn, in_turn, turn_of

CASES = [
    f"{group}{number}" for group, size in (("a", 7), ("b", 2), ("c", 1)) for number in range(size)
]


def turn(commit: str) -> set[str]:
    return have_turn(CASES, str, share=3, group=lambda name: name[0], commit=commit)


def test_of_each_group_a_third_has_its_turn() -> None:
    for commit in ("", "0", "c8970a5"):
        found = turn(commit)
        assert [sum(name[0] == group for name in found) for group in "abc"] == [3, 1, 1]
        assert turn(commit) == found


def test_every_case_has_its_turn_at_some_commit() -> None:
    assert set().union(*(turn(str(number)) for number in range(40))) == set(CASES)


def test_those_whose_turn_it_is_not_are_for_the_soak() -> None:
    made = in_turn(CASES, str, share=5)
    assert [each.id for each in made] == CASES
    assert [each.values for each in made] == [(name,) for name in CASES]
    soaked = [each.id for each in made if [mark.name for mark in each.marks] == ["soak"]]
    assert set(soaked) == set(CASES) - have_turn(CASES, str, share=5)
    assert len(soaked) == 8


def test_of_all_long_tests_one_has_its_turn() -> None:
    def marks(name: str) -> list[str]:
        def test() -> None:
            pass

        return [mark.name for mark in getattr(turn_of(name)(test), "pytestmark", [])]

    assert sorted(map(marks, LONG)) == [[], *[["soak"]] * (len(LONG) - 1)]


def test_a_test_has_its_turn_at_one_commit_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    def soaked(commit: int) -> bool:
        def test() -> None:
            pass

        monkeypatch.setattr(turns, "checked_out", lambda: str(commit))
        return hasattr(turns.at_one_commit_in(4)(test), "pytestmark")

    assert 60 <= sum(map(soaked, range(100))) <= 90
