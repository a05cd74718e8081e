"""What people do at a search engine: they ask, they click, they ask again.

Guarantee:
    An item follows from entries of one user. No spelling, list or ranking is learned from the log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import ReleaseError, UsageError
from zealous.items.kind import Entries, Kind, as_text_column, register
from zealous.items.text import clicked_urls
from zealous.libraries import pa, pc
from zealous.logs.normalization import has_word, is_visible, normalized_query, words
from zealous.logs.source import Source
from zealous.privacy.guarantee import SESSION_GAP, check_session_gap

_TYPED_SHARE = 0.10  # of pairs: more are no reformulations
_ASKED = "what was asked, in lower case"
_CLICKED = "an address that was clicked"
_FOLDED = "A query is a set of words: their order is ignored."
_FOLLOWING = "Clicks are counted only for queries that count for their user in `queries`."
_SESSION = "A session is the log's own, or ends after {session_gap} minutes without a query."
_QUERY, _TIME = "zealous:query", "zealous:time"  # no item's column is called so
_FIRST, _SECOND = datetime(2000, 1, 1, 0, 0, 0), datetime(2000, 1, 1, 0, 0, 1)


@register
@dataclass(frozen=True, kw_only=True)
class Queries(Kind):
    """What was asked."""

    fold: bool = False
    label = "queries"
    item = ("query",)
    item_meaning = (_ASKED,)
    lowered = ("query",)
    in_weak_units = MappingProxyType({"query": 1})

    def notes(self) -> list[str]:
        """What its settings mean."""
        return [*super().notes(), *([_FOLDED] if self.fold else [])]

    def is_plain(self) -> bool:
        """Whether an item is a query as it was asked, and nothing else."""
        return self.by is None and not self.fold

    def _steps(self, source: Source) -> list[Step]:
        item = {"query": normalized_query(self.fold, source.limits.words)}
        return [Step("items", self._select(source, item, has_word("query")))]


@register
@dataclass(frozen=True, kw_only=True)
class Keywords(Kind):
    """The words that were asked.

    They are runs of letters, marks and digits of the lower-cased query; or, where the log has a
    column of lists of keywords (Chinese, Japanese, Thai), those.
    """

    label = "keywords"
    default_items_per_user = 5
    item = ("keyword",)
    item_meaning = ("a word of what was asked, or a keyword of the log's own, in lower case",)
    lowered = ("keyword",)
    may_use = ("keywords",)
    in_weak_units = MappingProxyType({"query": None, "keyword": 1})

    def check(self, roles: Collection[str]) -> None:
        if "keywords" not in roles:
            super().check(roles)

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """A query each, or a list of one keyword where the log has such lists."""
        if "keywords" not in roles:
            return Entries(self, table, {"query": "keyword"})
        lists = [
            pa.ListArray.from_arrays(pa.array(range(len(chunk) + 1), pa.int32()), chunk)
            for chunk in as_text_column(table["keyword"], "keyword").chunks
        ]
        place = table.schema.get_field_index("keyword")
        column = pa.chunked_array(lists, pa.list_(pa.string()))
        return Entries(self, table.set_column(place, "keyword", column), {"keywords": "keyword"})

    def _steps(self, source: Source) -> list[Step]:
        if "keywords" in source.roles:
            each = self._select(source, {"keyword": "unnest(keywords)"})
            lowered = "select * replace (lower(keyword) as keyword) from unnested"
            return [Step("unnested", each), Step("listed", lowered), self._tidy_step("keyword")]
        item = {"keyword": f"unnest({words('query', source.limits.words)})"}
        return [Step("items", self._select(source, item))]


@register
@dataclass(frozen=True, kw_only=True)
class Clicks(Kind):
    """The addresses that were clicked."""

    label = "clicks"
    item = ("url",)
    item_meaning = (_CLICKED,)
    lowered = ()
    required_roles = ("url",)
    in_weak_units = MappingProxyType({"query": None})

    def _steps(self, source: Source) -> list[Step]:
        each = self._select(source, {"url": clicked_urls(source)})
        return [Step("listed", each), self._tidy_step("url")]


@register
@dataclass(frozen=True, kw_only=True)
class QueryClicks(Kind):
    """A query together with an address clicked for it.

    With `follow` only clicks for those queries that count for their user among the queries of the
    same release: clicked over asked is then a rate.
    """

    fold: bool = False
    follow: bool = False
    label = "query-clicks"
    item = ("query", "url")
    item_meaning = (_ASKED, f"{_CLICKED} for it")
    lowered = ("query",)
    required_roles = ("query", "url")
    in_weak_units = MappingProxyType({"query": None})

    def notes(self) -> list[str]:
        """What its settings mean."""
        folded = [_FOLDED] if self.fold else []
        return [*super().notes(), *folded, *([_FOLLOWING] if self.follow else [])]

    def restricting_kind(self) -> str | None:
        """With `follow`, the queries."""
        return Queries.label if self.follow else None

    def restricting_columns(self) -> tuple[str, ...]:
        """The query, and its attribute."""
        return (*Queries.item, *([self.by] if self.by else []))

    def check_before(self, before: Mapping[str, Kind]) -> None:
        """Refuse rates of clicks over queries that are not published, or are not the same."""
        super().check_before(before)
        if not self.follow:
            return
        asked = before.get(Queries.label)
        if asked is None:
            raise UsageError("click rates need queries and query-clicks, in this order")
        if (asked.by, asked.settings()["fold"]) != (self.by, self.fold):
            raise UsageError(
                "click rates need queries and query-clicks that are alike: the same --by, and "
                "--fold-words for both or neither"
            )

    def _steps(self, source: Source) -> list[Step]:
        query = normalized_query(self.fold, source.limits.words)
        item = {"query": query, "url": clicked_urls(source)}
        each = self._select(source, item, has_word("query"))
        return [Step("listed", each), self._tidy_step("url")]


@dataclass(frozen=True, kw_only=True)
class Pairs(Kind):
    """Made of two subsequent different queries of one user in one session.

    A session is the log's own where it has a session column, else it ends after `session_gap`
    minutes without a query. Entries of the same moment are taken in the order of their text, so
    that no other order of the log's lines gives other pairs. Entries without a time take no part,
    nor do those with a blank session id, where the log has such ids.
    """

    session_gap: int = SESSION_GAP
    required_roles = ("query", "time")
    may_use = ("session",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_session_gap(self.session_gap)

    def notes(self) -> list[str]:
        """What its settings mean."""
        return [*super().notes(), _SESSION]

    def as_entries(self, table: pa.Table, roles: Collection[str]) -> Entries:
        """Two queries, one after the other."""
        parts = []
        for name, time in zip(self.item, (_FIRST, _SECOND), strict=True):
            moments = pa.repeat(pa.scalar(time, pa.timestamp("us")), table.num_rows)
            kept = table.drop_columns(list(self.item))
            kept = kept.append_column(_QUERY, as_text_column(table[name], name))
            parts.append(kept.append_column(_TIME, moments))
        return Entries(self, pa.concat_tables(parts), {"query": _QUERY, "time": _TIME})

    def check_items(self, table: pa.Table, longest: int) -> None:
        """Refuse published items that no log gives: the two of a pair are different."""
        super().check_items(table, longest)
        if pc.any(pc.equal(*(table[name] for name in self.item))).as_py():
            raise ReleaseError("there are pairs of the same twice")

    def _pair_steps(self, source: Source, last: str, *, fold: bool) -> list[Step]:
        """Steps that end in `last`: the two normalised queries under the names of the item."""
        query, following = self.item
        item, known = {following: normalized_query(fold, source.limits.words)}, ["time is not null"]
        session = "session" in source.roles
        if session:
            item["role:session"] = "session"
            known = [*known, is_visible("session")]
        partition = 'user, "role:session"' if session else "user"
        order = f"partition by {partition} order by time, {following}"
        if self.by:
            order += f", {identifier(self.by)}"
        before = f"lag({following}) over ({order}) as {query}"
        same = f"{query} <> {following}"
        if not session:
            before += f', lag(time) over ({order}) as "before:time"'
            same += f' and time <= "before:time" + interval {self.session_gap} minute'
        return [
            Step("asked", self._select(source, item, *known, has_word("query"))),
            Step("followed", f"select *, {before} from asked"),
            Step(last, f"select * from followed where {same}"),
        ]


@register
@dataclass(frozen=True, kw_only=True)
class QueryPairs(Pairs):
    """Two subsequent different queries of one user in one session."""

    fold: bool = False
    label = "query-pairs"
    item = ("query", "next_query")
    item_meaning = (_ASKED, "what was asked next in the same session")
    lowered = ("query", "next_query")

    def data_warning(self, source: Source) -> str | None:
        """Where many pairs are a query, and the same query with one or two characters more."""
        # Queries are normalised: no line ends within them, which a dot would not match.
        shorter = comma_separated(
            f"regexp_replace(next_query, '{end}$', '')" for end in (".", "..")
        )
        share = Step("typed", f"select avg((query in ({shorter}))::int) from items")
        found = source.engine.rows([*source.entries, *self.steps(source), share])[0][0] or 0
        if found <= _TYPED_SHARE:
            return None
        return (
            f"{float(found):.0%} of the query pairs only add a letter or two to the query before: "
            "search-as-you-type would be counted as reformulation. Log whole queries only."
        )

    def notes(self) -> list[str]:
        """What its settings mean."""
        return [*super().notes(), *([_FOLDED] if self.fold else [])]

    def _steps(self, source: Source) -> list[Step]:
        return self._pair_steps(source, "items", fold=self.fold)


@register
@dataclass(frozen=True, kw_only=True)
class PhrasePairs(Pairs):
    """What was changed between two subsequent queries: a phrase, and the one in its place.

    The words that both queries begin with are cut away, then those that both end with, but at
    least one word of each query is left; where nothing can be cut, the item is the two queries as
    they are. Queries of the same words give no item. So a word that was added or dropped keeps a
    neighbour (hotels, hotels paris): as a rule for other queries that is worth more than the two
    whole queries, each of which few people ask. The order of words matters: nothing is folded.
    """

    label = "phrase-pairs"
    item = ("phrase", "next_phrase")
    item_meaning = ("what was changed in a query", "what took its place in the next one")
    lowered = ("phrase", "next_phrase")

    def _steps(self, source: Source) -> list[Step]:
        pair = dict(zip(self.item, ('"words:before"', '"words:after"'), strict=True))
        before, after = pair.values()
        worded = comma_separated(
            f"{words(text, source.limits.words)} as {split}" for text, split in pair.items()
        )
        head = _common_prefix_length(before, after)
        head = f"case when {before}[1] = {after}[1] then {head} else 0 end"
        tail = _common_prefix_length(f"list_reverse({before})", f"list_reverse({after})")
        tail = f"case when {before}[-1] = {after}[-1] then {tail} else 0 end"
        most = f"least(array_length({before}), array_length({after})) - 1"
        cut = comma_separated(
            f"""case when "same:head" + "same:tail" = 0 then {text} else array_to_string("""
            f"""{split}["same:head" + 1 : array_length({split}) - "same:tail"], ' ')"""
            f" end as {text}"
            for text, split in pair.items()
        )
        different = f"from worded where {before} <> {after}"
        return [
            *self._pair_steps(source, "pairs", fold=False),
            # (user, phrase, next_phrase, ...): whole queries, until the last step
            Step("worded", f"select *, {worded} from pairs"),
            Step("headed", f'select *, least({head}, {most}) as "same:head" {different}'),
            Step(
                "tailed",
                f'select *, least({tail}, {most} - "same:head") as "same:tail" from headed',
            ),
            Step("items", f"select * replace ({cut}) from tailed"),
        ]


def _common_prefix_length(one: str, other: str) -> str:
    """SQL: how many words two different lists have in common before the first difference.

    Beyond the end of the shorter list stands a null. Each word is looked at once, however long the
    lists are: whoever writes a query of a megabyte must not stop the run.
    """
    zipped = f"list_zip({one}, {other})"
    same = f"list_transform({zipped}, lambda two: two[1] is not distinct from two[2])"
    return f"list_position({same}, false) - 1"
