"""Queries that are made of published keywords."""

from __future__ import annotations

from zealous.audit import pairs
from zealous.audit import pairs_followed as follows
from zealous.audit import pairs_keys as keys
from zealous.audit.layout import Layout, PublicList
from zealous.audit.setting import Setting, build_pairs, public_file, register
from zealous.audit.small_releases import QUERIES
from zealous.items import keywords, queries
from zealous.mechanisms.of_keywords import MOST_KEYWORDS, OfKeywords
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability

_LAYOUT = Layout(
    lists={"keywords": PublicList("keyword", always=2 * follows.keyword_alphabet())},
    shared=follows.KeywordNames,
)


@register("of-keywords")
def settings() -> list[Setting]:
    """After keywords that a public list names."""
    planned = plan_with_files(
        Indistinguishability(epsilon=4, delta=0),
        [keywords(1), queries(1)],
        {"keywords": public_file("domain")},
        mechanism={"keywords": "domain", "queries": OfKeywords.name},
    )
    above = OfKeywords.calibrate(planned.parts[-1].goal, 1).threshold(MOST_KEYWORDS)
    builders = [
        pairs.popular_items_replaced,
        pairs.repeated_rows,
        keys.several_listed_items,
        follows.not_of_keywords,
    ]
    return [
        Setting(
            name="of-keywords, m = 1",
            planned=planned,
            pairs=tuple(pair._replace(every=4) for pair in build_pairs(planned, builders, above)),
            popular=above,
            edges=(above + 2, above + 3),
            layout=_LAYOUT,
            small=(QUERIES,),
        )
    ]
