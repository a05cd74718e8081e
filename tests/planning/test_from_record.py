"""A plan is read back from release.json as it was made, and made again the same."""

from __future__ import annotations

from typing import Any

import pytest
from records import record_of

from zealous.errors import ReleaseError, UsageError
from zealous.items import (
    Kind,
    clicks,
    columns,
    itemsets,
    keywords,
    phrase_pairs,
    queries,
    query_clicks,
    query_pairs,
    sequences,
    tail,
)
from zealous.planning.declared import PublicFile
from zealous.planning.plan import Plan, plan, plan_with_files
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP


def listing(use: str) -> PublicFile:
    """A public file that nobody reads."""
    return PublicFile(use=use, name="list.txt", sha256="ab" * 32)


ANYBODY = ProbabilisticDP(epsilon="7/3", delta="1e-3", users=5_000)
EACH = Indistinguishability(epsilon=3, delta="1e-7", neighbors="add-remove", unit="user-day")
ASKED: list[tuple[Guarantee, list[Kind], dict[str, Any]]] = [
    (ANYBODY, [keywords(3), queries(2, fold_words=True, by="land"), clicks(1)], {}),
    (ANYBODY, [query_pairs(2, session_gap=5), phrase_pairs(3, by="land")], {}),
    (ANYBODY, [queries(2), keywords(2)], {"split": {"queries": "0.3", "keywords": "1/7"}}),
    (ANYBODY, [columns("a+b", "c", items_per_user=2, by="land")], {}),
    (ANYBODY, [*itemsets("a", "b", max_size=3, items_per_user=4, basket="bill")], {}),
    (EACH, [*sequences("a", max_size=3, items_per_user=4)], {}),
    (ANYBODY, [queries(2), keywords(3), *tail(3)], {}),
    (EACH, [queries(2), query_clicks(2, rates=True)], {"mechanism": "gaussian"}),
    (EACH, [columns("a", items_per_user=1)], {"mechanism": "auto"}),
    (EACH, [queries(3)], {"mechanism": "pooled"}),
    (EACH, [queries(3)], {"mechanism": "selection-twice"}),
    (EACH, [queries(3)], {"mechanism": "laplace"}),
    (EACH, [queries(3)], {"public": {"queries": listing("prior")}}),
    (ANYBODY, [queries(3)], {"public": {"queries": listing("domain")}}),
    (
        EACH,
        [keywords(3), queries(3), query_clicks(2)],
        {
            "mechanism": {"queries": "of-keywords"},
            "public": {"query-clicks": listing("results")},
        },
    ),
]


@pytest.mark.parametrize(("goal", "kinds", "options"), ASKED)
def test_it_is_read_back_as_it_was_made(
    goal: Guarantee, kinds: list[Kind], options: dict[str, Any]
) -> None:
    asked = {name: value for name, value in options.items() if name != "public"}
    planned = plan_with_files(goal, kinds, options.get("public", {}), **asked)
    record = record_of(planned)
    found = Plan.from_record(record)
    assert found == planned
    found.check_possible(record.columns.assigned())
    found.check_claim()
    assert found.plan_again() == planned


def test_a_kind_that_has_no_table() -> None:
    record = record_of(plan(ANYBODY, [queries(2), keywords(2)]))
    record.files.pop("keywords")
    with pytest.raises(ReleaseError, match="do not name the same kinds"):
        Plan.from_record(record)


def test_sizes_of_sets_belong_together() -> None:
    three = itemsets("a", max_size=2, items_per_user=3)
    four = itemsets("a", max_size=2, items_per_user=4)
    with pytest.raises(UsageError, match="ask for them together"):
        plan(ANYBODY, [*three[:3], four[3]])
    # Single things of two families may be of other numbers: each keeps to its own.
    plan(ANYBODY, [*three, *sequences("a", max_size=2, items_per_user=4)[2:]])
