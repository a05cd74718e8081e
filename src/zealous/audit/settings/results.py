"""Clicks on the documents of a public list, for published queries."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit import pairs_followed as follows
from zealous.audit import pairs_keys as keys
from zealous.audit.layout import Layout, PublicList
from zealous.audit.setting import (
    Setting,
    build_pairs,
    popular_count_and_edges,
    public_file,
    register,
    with_watched_items_listed,
)
from zealous.items import queries, query_clicks
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability

_LAYOUT = Layout(
    header="user,url,query",
    column="url",
    lists={
        "queries": PublicList("query", follows.ASKED),
        "query-clicks": PublicList("query,url", f"{follows.ASKED},{{}}"),
    },
)


@register("results")
def settings() -> list[Setting]:
    """After queries that a public list names."""
    planned = plan_with_files(
        Indistinguishability(epsilon=2, delta=0),
        [queries(1), query_clicks(1)],
        {"queries": public_file("domain"), "query-clicks": public_file("results")},
        mechanism={"queries": "domain", "query-clicks": "results"},
    )
    popular, edges = popular_count_and_edges(planned.parts[-1].mechanism)
    builders = [
        pairs.user_arrives,
        pairs.popular_items_replaced,
        pairs.repeated_rows,
        keys.several_listed_items,
    ]
    return [
        Setting(
            name="results, m = 1",
            planned=planned,
            pairs=tuple(
                with_watched_items_listed(follows.as_clicks(pair))
                for pair in build_pairs(planned, builders, popular)
            ),
            popular=popular,
            edges=edges,
            layout=_LAYOUT,
        )
    ]
