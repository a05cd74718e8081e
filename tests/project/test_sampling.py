"""`make test` runs a part of each group of cases, and `make extended` the rest."""

from __future__ import annotations

from collections import Counter

import pytest
from sampling import sampled

CASES = [
    f"{group}{number}" for group, size in (("a", 7), ("b", 2), ("c", 1)) for number in range(size)
]


def test_each_group_has_its_share_and_the_rest_is_extended() -> None:
    made = sampled(CASES, str, share=3, group=lambda name: name[0])
    assert [each.id for each in made] == CASES
    assert [each.values for each in made] == [(name,) for name in CASES]
    chosen = [each.id for each in made if not each.marks]
    assert Counter(name[0] for name in chosen) == {"a": 3, "b": 1, "c": 1}
    assert {mark.name for each in made for mark in each.marks} == {"extended"}


def test_it_is_the_same_part_in_every_run() -> None:
    assert sampled(CASES, str, share=3) == sampled(CASES, str, share=3)


def test_two_cases_of_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="same name"):
        sampled(["a", "a"], str, share=2)
