"""Kinds of items. Each is SQL that yields (user, item..., time) from a log's entries.

An item depends on its own user's history alone: no spelling, segmentation or ranking learned from
the log. Normalising comes before bounding, so that nobody counts twice for two spellings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from zealous.engines.sql import Step, identifier, listed
from zealous.errors import UsageError
from zealous.guarantee import SESSION_GAP, whole
from zealous.source import BLANKS, Source, column

_YEAR = 525_600
# How the columns are called that steps add on the way.
_OWN = ("order:", "role:", "before:", "words:", "same:", "unit:", "column:", "zealous:", "made:")

_WORD = r"[\p{L}\p{M}\p{N}]+"
# Most text is plain and needs no more than this look; normalising all of it costs twice the time.
_TIDY = "[!-~]+( [!-~]+)*"
_PLAIN = "[a-z0-9]+( [a-z0-9]+)*"


def tidy(text: str) -> str:
    """SQL: blanks and control characters become single spaces, none at the ends."""
    tidied = f"trim(regexp_replace({text}, '{BLANKS}', ' ', 'g'))"
    return f"case when regexp_full_match({text}, '{_TIDY}') then {text} else {tidied} end"


def visible(text: str) -> str:
    """SQL: there is more than blanks; an item without that is no item."""
    return rf"regexp_matches({text}, '[^\p{{Z}}\p{{Cc}}]')"


def has_word(text: str) -> str:
    """SQL: there is at least one letter or digit; a query without any is no query."""
    # Most queries begin with a letter from a to z, and two comparisons tell; the rest are searched.
    begins = f"{text} >= 'a' and {text} < '{{'"
    return rf"({begins} or regexp_matches({text}, '[\p{{L}}\p{{N}}]'))"


def words(text: str) -> str:
    """SQL: the words of a text, lower-cased."""
    found = f"regexp_extract_all(lower({text}), '{_WORD}')"
    plain = f"regexp_full_match({text}, '{_PLAIN}')"
    return f"case when {plain} then string_split({text}, ' ') else {found} end"


def asked(fold: bool) -> str:
    """SQL: the normalised query; folded, it is its sorted set of words."""
    if fold:
        return f"array_to_string(list_sort(list_distinct({words('query')})), ' ')"
    plain = f"regexp_full_match(query, '{_PLAIN}')"
    return f"case when {plain} then query else lower({tidy('query')}) end"


def clicked(source: Source) -> str:
    """SQL: each clicked URL of an entry."""
    return "unnest(url)" if "url" in source.lists else "url"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is counted, and how many of it one user may have.

    Attributes:
        items_per_user: m, the most distinct items a user contributes.
        by: A column with a public attribute, such as the country, that becomes part of the item.
    """

    items_per_user: int
    by: str | None = None

    label: ClassVar[str]
    item: ClassVar[tuple[str, ...]]
    needs: ClassVar[tuple[str, ...]] = ("query",)

    def __post_init__(self) -> None:
        """Check before anything is read."""
        whole(self.items_per_user, "items_per_user")
        named = (*self.item_columns(), *([self.by] if self.by else []))
        if any(name.lower().startswith(_OWN) for name in named):
            raise UsageError(
                f"a column whose name begins with {', '.join(_OWN)} cannot be used: rename it"
            )
        taken = {name.lower() for name in (*self.item_columns(), "count", "user", "time")}
        if self.by and self.by.lower() in taken:
            raise UsageError(f"--by {self.by} would clash with another column: rename it")

    def name(self) -> str:
        """What the kind is called on the command line and in a release."""
        return self.label

    def item_columns(self) -> tuple[str, ...]:
        """The columns of an item, without the attribute."""
        return self.item

    def columns(self) -> tuple[str, ...]:
        """The columns of an item in a release."""
        return (*self.item_columns(), *([self.by] if self.by else []))

    def extra(self) -> tuple[str, ...]:
        """Columns of the log that play no role but are needed."""
        return (self.by,) if self.by else ()

    def settings(self) -> dict[str, Any]:
        """What else defines an item of this kind, for the recipient to know."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value for name, value in own.items() if name not in ("items_per_user", "names")
        }

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give such items."""
        for role in self.needs:
            if role not in roles:
                raise UsageError(
                    f"{self.name()} need a column with the {role}: say --{role} COLUMN"
                )

    def steps(self, source: Source) -> list[Step]:
        """The steps that yield this kind's items, the last one named `items`."""
        self.check(source.roles)
        return self._steps(source)

    def _steps(self, source: Source) -> list[Step]:
        """Steps that end in `items`: (user, item..., time), one row an occurrence."""
        raise NotImplementedError

    def _select(self, source: Source, item: Mapping[str, str], *where: str) -> str:
        """From the entries: user, item, attribute and, where the log has one, time."""
        columns = ["user", *(f"{sql} as {identifier(name)}" for name, sql in item.items())]
        if self.by:
            columns.append(f"{tidy(column(self.by))} as {identifier(self.by)}")
            where = (*where, visible(column(self.by)))
        if "time" in source.roles:
            columns.append("time")
        if not where:
            return f"select {listed(columns)} from entries"
        return f"select {listed(columns)} from entries where {' and '.join(where)}"

    def _tidied(self, name: str) -> Step:
        """From `listed`, whose texts could not be looked at before they were unnested."""
        return Step(
            "items", f"select * replace ({tidy(name)} as {name}) from listed where {visible(name)}"
        )


@dataclass(frozen=True, kw_only=True)
class Queries(Kind):
    """What was asked."""

    fold: bool = False
    label = "queries"
    item = ("query",)

    def plain(self) -> bool:
        """Whether an item is a query as it was asked, and nothing else."""
        return self.by is None and not self.fold

    def _steps(self, source: Source) -> list[Step]:
        return [Step("items", self._select(source, {"query": asked(self.fold)}, has_word("query")))]


@dataclass(frozen=True, kw_only=True)
class Keywords(Kind):
    """The words that were asked.

    They are runs of letters, marks and digits of the lower-cased query; or, where the log has a
    column of lists of keywords (Chinese, Japanese, Thai), those.
    """

    label = "keywords"
    item = ("keyword",)

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give such items."""
        if "keywords" not in roles:
            super().check(roles)

    def _steps(self, source: Source) -> list[Step]:
        if "keywords" in source.roles:
            each = self._select(source, {"keyword": "unnest(keywords)"})
            lowered = "select * replace (lower(keyword) as keyword) from unnested"
            return [Step("unnested", each), Step("listed", lowered), self._tidied("keyword")]
        return [Step("items", self._select(source, {"keyword": f"unnest({words('query')})"}))]


@dataclass(frozen=True, kw_only=True)
class Clicks(Kind):
    """The addresses that were clicked."""

    label = "clicks"
    item = ("url",)
    needs = ("url",)

    def _steps(self, source: Source) -> list[Step]:
        each = self._select(source, {"url": clicked(source)})
        return [Step("listed", each), self._tidied("url")]


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
    needs = ("query", "url")

    def _steps(self, source: Source) -> list[Step]:
        item = {"query": asked(self.fold), "url": clicked(source)}
        each = self._select(source, item, has_word("query"))
        return [Step("listed", each), self._tidied("url")]


@dataclass(frozen=True, kw_only=True)
class Pairs(Kind):
    """Made of two subsequent different queries of one user in one session.

    A session is the log's own where it has a session column, else it ends after `session_gap`
    minutes without a query. Entries of the same moment are taken in the order of their text, so
    that no other order of the log's lines gives other pairs. Entries without a time take no part,
    nor do those with a blank session id, where the log has such ids.
    """

    session_gap: int = SESSION_GAP
    needs = ("query", "time")

    def __post_init__(self) -> None:
        """Check before anything is read."""
        super().__post_init__()
        if whole(self.session_gap, "session_gap") > _YEAR:
            raise UsageError("session_gap must be at most a year, which is 525600 minutes")

    def _followed(self, source: Source, last: str, *, fold: bool) -> list[Step]:
        """Steps that end in `last`: the two normalised queries under the names of the item."""
        query, following = self.item
        item, known = {following: asked(fold)}, ["time is not null"]
        session = "session" in source.roles
        if session:
            item["role:session"] = "session"
            known = [*known, visible("session")]
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


@dataclass(frozen=True, kw_only=True)
class QueryPairs(Pairs):
    """Two subsequent different queries of one user in one session."""

    fold: bool = False
    label = "query-pairs"
    item = ("query", "next_query")

    def _steps(self, source: Source) -> list[Step]:
        return self._followed(source, "items", fold=self.fold)


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

    def _steps(self, source: Source) -> list[Step]:
        pair = dict(zip(self.item, ('"words:before"', '"words:after"'), strict=True))
        before, after = pair.values()
        worded = listed(f"{words(text)} as {split}" for text, split in pair.items())
        head = f"case when {before}[1] = {after}[1] then {_alike(before, after)} else 0 end"
        tail = _alike(f"list_reverse({before})", f"list_reverse({after})")
        tail = f"case when {before}[-1] = {after}[-1] then {tail} else 0 end"
        most = f"least(array_length({before}), array_length({after})) - 1"
        cut = listed(
            f"""case when "same:head" + "same:tail" = 0 then {text} else array_to_string("""
            f"""{split}["same:head" + 1 : array_length({split}) - "same:tail"], ' ')"""
            f" end as {text}"
            for text, split in pair.items()
        )
        different = f"from worded where {before} <> {after}"
        return [
            *self._followed(source, "pairs", fold=False),
            # (user, phrase, next_phrase, ...): whole queries, until the last step
            Step("worded", f"select *, {worded} from pairs"),
            Step("headed", f'select *, least({head}, {most}) as "same:head" {different}'),
            Step(
                "tailed",
                f'select *, least({tail}, {most} - "same:head") as "same:tail" from headed',
            ),
            Step("items", f"select * replace ({cut}) from tailed"),
        ]


def _alike(one: str, other: str) -> str:
    """SQL: how many words two different lists have in common before the first difference.

    Beyond the end of the shorter list stands a null. Each word is looked at once, however long the
    lists are: whoever writes a query of a megabyte must not stop the run.
    """
    zipped = f"list_zip({one}, {other})"
    same = f"list_transform({zipped}, lambda two: two[1] is not distinct from two[2])"
    return f"list_position({same}, false) - 1"


@dataclass(frozen=True, kw_only=True)
class AnyColumns(Kind):
    """Any column of any table, or several together: a product bought, a diagnosis given."""

    names: tuple[str, ...]
    label = "columns"
    item = ()
    needs = ()

    def __post_init__(self) -> None:
        """Check before anything is read."""
        if not self.names or len(set(self.names)) < len(self.names):
            raise UsageError("columns needs one or more different column names: columns:A+B")
        if {name.lower() for name in self.names} & {"count", "user", "time"}:
            raise UsageError("a column called count, user or time cannot be an item: rename it")
        super().__post_init__()

    def name(self) -> str:
        """What the kind is called on the command line and in a release."""
        return "columns:" + "+".join(self.names)

    def item_columns(self) -> tuple[str, ...]:
        """The columns of an item, without the attribute."""
        return self.names

    def extra(self) -> tuple[str, ...]:
        """Columns of the log that play no role but are needed."""
        return (*self.names, *super().extra())

    def _steps(self, source: Source) -> list[Step]:
        item = {name: tidy(column(name)) for name in self.names}
        present = [visible(column(name)) for name in self.names]
        return [Step("items", self._select(source, item, *present))]


@dataclass(frozen=True, kw_only=True)
class Unnamed(Kind):
    """Items of some kind, for a plan that is made before the log is known."""

    label = "items"
    item = ("item",)


def queries(items_per_user: int, *, by: str | None = None, fold: bool = False) -> Queries:
    """Queries, at most this many different ones a user; `fold` makes a query a set of words."""
    return Queries(items_per_user=items_per_user, by=by, fold=fold)


def keywords(items_per_user: int, *, by: str | None = None) -> Keywords:
    """The words of queries, at most this many different ones a user."""
    return Keywords(items_per_user=items_per_user, by=by)


def clicks(items_per_user: int, *, by: str | None = None) -> Clicks:
    """Clicked addresses, at most this many different ones a user."""
    return Clicks(items_per_user=items_per_user, by=by)


def query_clicks(
    items_per_user: int, *, by: str | None = None, fold: bool = False, follow: bool = False
) -> QueryClicks:
    """Queries with an address clicked for them, at most this many different pairs a user.

    `follow` counts clicks for those queries alone that count for their user among `queries` of the
    same release, and adds a table of click rates to it.
    """
    return QueryClicks(items_per_user=items_per_user, by=by, fold=fold, follow=follow)


def query_pairs(
    items_per_user: int,
    *,
    by: str | None = None,
    fold: bool = False,
    session_gap: int = SESSION_GAP,
) -> QueryPairs:
    """Subsequent different queries of a session, at most this many different pairs a user."""
    return QueryPairs(items_per_user=items_per_user, by=by, fold=fold, session_gap=session_gap)


def phrase_pairs(
    items_per_user: int, *, by: str | None = None, session_gap: int = SESSION_GAP
) -> PhrasePairs:
    """What was changed between subsequent queries, at most this many different changes a user."""
    return PhrasePairs(items_per_user=items_per_user, by=by, session_gap=session_gap)


def columns(*names: str, items_per_user: int, by: str | None = None) -> AnyColumns:
    """Any columns of a table, at most this many different values a user."""
    return AnyColumns(items_per_user=items_per_user, by=by, names=names)


def possible(kinds: Iterable[Kind], roles: Collection[str]) -> list[Kind]:
    """Those of the kinds that a log's columns allow."""
    allowed = []
    for kind in kinds:
        with suppress(UsageError):
            kind.check(roles)
            allowed.append(kind)
    return allowed


KINDS = ("keywords", "queries", "clicks", "query-pairs", "phrase-pairs", "query-clicks")


def named(
    name: str,
    items_per_user: int,
    *,
    by: str | None = None,
    fold: bool = False,
    session_gap: int = SESSION_GAP,
    follow: bool = False,
) -> Kind:
    """The kind that is called so; settings that it does not have are left aside."""
    if name == "keywords":
        return keywords(items_per_user, by=by)
    if name == "queries":
        return queries(items_per_user, by=by, fold=fold)
    if name == "clicks":
        return clicks(items_per_user, by=by)
    if name == "query-clicks":
        return query_clicks(items_per_user, by=by, fold=fold, follow=follow)
    if name == "query-pairs":
        return query_pairs(items_per_user, by=by, fold=fold, session_gap=session_gap)
    if name == "phrase-pairs":
        return phrase_pairs(items_per_user, by=by, session_gap=session_gap)
    if name.startswith("columns:"):
        return columns(
            *name.removeprefix("columns:").split("+"), items_per_user=items_per_user, by=by
        )
    raise UsageError(f"--items takes {', '.join(KINDS)} and columns:NAME[+NAME]")
