"""Keywords that at least k users hold, the rare ones shortened until they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from zealous.engines.engine import Engine
from zealous.engines.sql import Step
from zealous.items import keywords
from zealous.logs.source import Source, count_users
from zealous.study.anonymity.method import AmongK, Changed, Say, Shows, register
from zealous.study.curve_look import Look

_WORKING = ("held", "counted", "texts", "nodes", "pending", "merged", "targets")


@register
@dataclass(frozen=True, kw_only=True)
class KKeyword(AmongK):
    """Cut each keyword of fewer than k users to its longest prefix that k users share.

    The longest texts come first. The users of a text are those of the keyword that equals it and
    of the longer ones that were cut to it, each counted once. Where they are k or more it is
    published; otherwise all of these keywords lose one more character. A character is a code
    point. A keyword of which nothing is left is suppressed.
    """

    name: ClassVar[str] = "k-keyword"
    summary: ClassVar[str] = "keywords shortened until k users share them (He, Naughton)"
    shows: ClassVar[Shows | None] = "frequent words"
    look: ClassVar[Look | None] = Look("#CC79A7", "D", ":")
    promises: ClassVar[str] = (
        "each keyword of the output, whole or shortened, stands for keywords that together were "
        "asked by at least k users of the log, and nothing tells which user's or which query's."
    )
    lacks: ClassVar[str] = (
        "whoever has k - 1 accounts asks a keyword from each and sees whether somebody else asked "
        "it too; the counts are exact, so that whoever knows all other users reads off the last."
    )
    origin: ClassVar[str] = (
        'He and Naughton, "Anonymization of Set-Valued Data via Top-Down, Local Generalization", '
        "VLDB 2009, with prefixes in place of a hierarchy"
    )

    def published_columns(self, roles: Collection[str]) -> tuple[str, ...]:
        """None: the output is a histogram of keywords."""
        return ()

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not allow the method."""
        keywords(1).check(roles)

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, keyword), one row for each different keyword that a user held."""
        engine = source.engine
        try:
            each = [*source.entries, *keywords(1).steps(source)]
            engine.append_rows(
                "held", [*each, Step("held", "select distinct user, keyword from items")]
            )
            count = "select keyword, count(*) as users from held group by keyword"
            engine.append_rows("counted", [Step("counted", count)])
            say("shortening rare keywords")
            _store_nodes(engine, self.k)
            _store_targets(engine, _merge(engine, self.k))
            kept = (
                "select user, if(targets.keyword is null, held.keyword, target) as keyword "
                "from held left join targets on held.keyword = targets.keyword "
                "where targets.keyword is null or target is not null"
            )
            engine.append_rows("anonymous", [Step("kept", kept)])
            return _count_changes(source)
        finally:
            for table in _WORKING:
                engine.drop(table)


def _store_nodes(engine: Engine, k: int) -> None:
    """Store `nodes`: the texts at which keywords can merge, each with the next shorter of them.

    These are the keywords and the longest prefixes that two of them share. Between a node and its
    parent no other keyword joins, so that one cut may skip all characters that lie between.
    `known` tells of a keyword that has k users of its own.
    """
    ((longest,),) = engine.rows(
        [Step("n", "select coalesce(max(length(keyword)), 0) from counted")]
    )
    words = "select keyword as text from counted"
    shared = f"select left(text, common) from ({_common_prefixes(words, longest)}) where common > 0"
    engine.append_rows("texts", [Step("texts", f"{words} union {shared}")])
    known = f"coalesce(users >= {k}, false) as known"
    numbered = (
        f"select text, common, {known}, row_number() over (order by text) as node "
        f"from ({_common_prefixes('from texts', longest)}) left join counted on keyword = text"
    )
    # Whatever two of the texts share is one of them too. So in the order of code points the text
    # before is the parent, or it shares just the parent with this one.
    nodes = (
        "select child.node, child.text, length(child.text) as length, child.known, "
        "parent.node as parent, parent.known as parent_known, child.common as parent_length "
        "from numbered child left join numbered parent "
        "on parent.text = left(child.text, child.common) order by length desc"
    )
    engine.append_rows("nodes", [Step("numbered", numbered), Step("nodes", nodes)])


def _common_prefixes(texts: str, longest: int) -> str:
    """SQL: different texts, and how many characters each has in common with the one before."""
    sql = (
        "select text, before, least(length(text), length(before)) as most, 0 as common "
        f"from (select text, lag(text) over (order by text) as before from ({texts}))"
    )
    for bit in reversed(range(int(longest).bit_length())):
        more = f"common + {1 << bit}"
        same = f"case when {more} <= most then left(text, {more}) = left(before, {more}) end"
        sql = f"select * replace (if({same}, {more}, common) as common) from ({sql})"
    return f"select text, common from ({sql})"


def _merge(engine: Engine, k: int) -> int:
    """Store `merged`: the nodes at which rare keywords have k users together.

    Returns:
        In how many rounds, one for each length: no way from a node to the shortest is longer.
    """
    # Sorted by length, so that a round need not look at the rows of other lengths.
    rare = (
        "select node, length, user from held join nodes on keyword = text where not known "
        "order by length desc"
    )
    engine.append_rows("pending", [Step("pending", rare)])
    lengths = "select distinct length from nodes where not known order by length desc"
    rounds = engine.rows([Step("lengths", lengths)])
    engine.append_rows("merged", [Step("none", "select node from nodes where false")])
    for (length,) in rounds:
        users = f"select node from pending where length = {length} group by node"
        full = f"{users} having count(distinct user) >= {k}"
        engine.append_rows("merged", [Step("full", full)])
        # What reaches a known keyword is published there, and need not be counted.
        cut = (
            "select distinct parent as node, parent_length as length, user "
            f"from pending join nodes using (node) where pending.length = {length} "
            f"and nodes.length = {length} and not parent_known "
            "and node not in (select node from merged)"
        )
        engine.append_rows("pending", [Step("cut", cut)])
    return len(rounds)


def _store_targets(engine: Engine, rounds: int) -> None:
    """Store `targets`: (keyword, users, target) of all that are cut; no target is suppressed."""
    cut = (
        "select node, parent as target from nodes "
        "where not known and node not in (select node from merged)"
    )
    engine.append_rows("cuts0", [Step("cut", cut)])
    # Each turn doubles how far the targets reach; where one is not cut itself, it stays.
    turns = rounds.bit_length()
    for turn in range(turns):
        reach = (
            "select near.node, if(far.node is null, near.target, far.target) as target "
            f"from cuts{turn} near left join cuts{turn} far on near.target = far.node"
        )
        engine.append_rows(f"cuts{turn + 1}", [Step("reach", reach)])
        engine.drop(f"cuts{turn}")
    targets = (
        "select keyword, users, short.text as target from counted join nodes long "
        f"on keyword = long.text join cuts{turns} cut on cut.node = long.node "
        "left join nodes short on short.node = cut.target"
    )
    engine.append_rows("targets", [Step("targets", targets)])
    engine.drop(f"cuts{turns}")


def _count_changes(source: Source) -> list[Changed]:
    """What is missing from `anonymous` or shorter in it, of what the log has."""
    both = "select count(*), coalesce(sum(users), 0)::bigint from"
    (words, pairs), (gone, gone_pairs), (short, short_pairs) = (
        source.engine.rows([Step("n", f"{both} {which}")])[0]
        for which in ("counted", "targets where target is null", "targets where target is not null")
    )
    left = source.engine.rows([Step("n", "select count(distinct user) from anonymous")])[0][0]
    users = count_users(source)
    return [
        Changed(what="users suppressed", number=users - left, of=users),
        Changed(what="keywords suppressed", number=gone_pairs, of=pairs),
        Changed(what="keywords shortened", number=short_pairs, of=pairs),
        Changed(what="distinct keywords suppressed", number=gone, of=words),
        Changed(what="distinct keywords shortened", number=short, of=words),
    ]
