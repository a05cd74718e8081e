"""What can be told of queries that are too rare to be published.

These are the queries of each user that are not among the published ones. Nothing here is one of
them: parts that many have in common, and facts that every query has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from zealous.engines.engine import table_name
from zealous.engines.sql import Step, comma_separated, identifier, literal
from zealous.errors import UsageError
from zealous.items.candidate_sets import CandidateSets, candidate_sequences
from zealous.items.kind import FREQUENT_PARTS_FIRST, Kind, parse_sized_name, register
from zealous.items.searches import Keywords, Queries
from zealous.items.sets import LAST, PARENT, CodedKind
from zealous.libraries import pa, pc
from zealous.logs.normalization import has_word, normalized_query, words
from zealous.logs.source import Source
from zealous.privacy.guarantee import positive_integer

LONGEST = 3  # words of a phrase
_QUESTION = (
    "who", "what", "when", "where", "why", "which", "whose", "whom", "how", "is", "are", "am",
    "was", "were", "do", "does", "did", "can", "could", "should", "would", "will", "may", "has",
    "have", "had",
)  # fmt: skip
_MARKS = "?\u037e\u061f\uff1f"  # the others are of Greek, Arabic, Chinese and Japanese questions
# The letters of a script, the same for every engine and version; no digit and no mark of its own.
_SCRIPTS = {
    "latin": "a-z 00aa 00ba 00c0-00d6 00d8-00f6 00f8-02af 1e00-1eff fb00-fb06 ff41-ff5a",
    "greek": "0370-0374 0376-037d 0386 0388-03e1 03f0-03f5 03f7-03ff 1f00-1fbc 1fbe 1fc2-1fcc "
    "1fd0-1fdb 1fe0-1fec 1ff2-1ffc",
    "cyrillic": "0400-0481 048a-052f 1c80-1c88 a640-a66e a67f-a69d",
    "hebrew": "05d0-05ea 05ef-05f2 fb1d fb1f-fb28 fb2a-fb4f",
    "arabic": "0620-064a 066e-066f 0671-06d3 06d5 06e5-06e6 06ee-06ef 06fa-06fc 06ff 0750-077f "
    "08a0-08c7 fb50-fbb1 fbd3-fd3d fd50-fdc7 fdf0-fdfb fe70-fefc",
    "devanagari": "0904-0939 093d 0950 0958-0961 0971-097f",
    "thai": "0e01-0e30 0e32-0e33 0e40-0e46",
    "hangul": "1100-11ff 3131-318e a960-a97c ac00-d7a3 d7b0-d7fb ffa1-ffdc",
    "chinese": "3400-4dbf 4e00-9fff f900-fad9 20000-2a6df 2a700-2ebe0",
    "japanese": "3041-3096 309d-309f 30a1-30fa 30fc-30ff 31f0-31ff ff66-ff9f",
}
_WORDS = identifier("words:all")


@dataclass(frozen=True, kw_only=True)
class TailKind(Kind):
    """Made from each user's queries that are not published.

    Attributes:
        queries: The published queries; None until `with_inputs` gives them.
    """

    queries: pa.Table | None = field(default=None, compare=False, repr=False)
    no_setting: ClassVar[tuple[str, ...]] = ("items_per_user", "size", "queries", "listed", "grown")
    required_roles: ClassVar[tuple[str, ...]] = ("query",)
    usage = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by is not None:
            raise UsageError("--by does not go with --tail: leave one of them out")

    def check(self, roles: Collection[str]) -> None:
        super().check(roles)
        if "keywords" in roles:
            raise UsageError(
                "--tail takes the words of the queries themselves, not a column of keywords: "
                "leave out --keywords"
            )

    def builds_on(self) -> tuple[str, ...]:
        return (Queries.label,)

    def made_of(self) -> tuple[str, ...]:
        """The published queries say whose queries count, and not what there can be."""
        return tuple(name for name in self.builds_on() if name != Queries.label)

    def check_smaller(self, kinds: Iterable[Kind]) -> None:
        """Refuse queries and keywords that are not as they were asked."""
        if any(any(kind.settings().values()) for kind in kinds):
            raise UsageError(
                f"{self.name()} are by queries and keywords as they were asked: --tail goes with "
                "neither --by nor --fold-words"
            )

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries were published."""
        return replace(self, queries=released[Queries.label].select(Queries.item))

    def _rare_steps(self, source: Source) -> list[Step]:
        """Steps to `rare`: (user, query, time), whenever one asked what is not published."""
        if self.queries is None:
            raise UsageError(f"{self.name()} are of queries that are not published: publish those")
        table = table_name(source.engine, self.queries)
        own = comma_separated(
            ["user", f"{normalized_query(fold=False)} as query", *_time_columns(source)]
        )
        return [
            Step("all_asked", f"select {own} from entries where {has_word('query')}"),
            Step(
                "rare",
                f"select all_asked.* from all_asked anti join {table} as known "
                "on all_asked.query = known.query",
            ),
        ]

    def _word_steps(self, source: Source, rows: str, least: int = 1) -> list[Step]:
        """Steps from some of `rare` to `worded`: with their words, at least so many."""
        split = words("query", source.limits.words)
        return [
            Step("split", f"select *, {split} as {_WORDS} from {rows}"),
            Step("worded", f"select * from split where array_length({_WORDS}) >= {least}"),
        ]


@dataclass(frozen=True, kw_only=True)
class Phrases(TailKind):
    """So many subsequent words of rare queries."""

    size: int
    item = ("phrase",)
    lowered = ("phrase",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if positive_integer(self.size, "the size of phrases") > LONGEST:
            raise UsageError(f"phrases have up to {LONGEST} words")

    @classmethod
    def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
        """As `ngrams-2`."""
        sized = parse_sized_name(name, cls.label)
        return None if sized is None else {"size": sized[0]}

    def column_meanings(self) -> dict[str, str]:
        """Which words."""
        return {"phrase": f"{self._words()} of a query that is not in queries, in lower case"}

    def meaning(self) -> str:
        """Words of queries that are not published."""
        return (
            f"An item is {self._words()} of queries that are not in `queries`. `count` is the "
            "number of {units} that asked such queries, not the number of queries."
        )

    def _words(self) -> str:
        """Which words, for recipients."""
        return f"{self.size} consecutive words"

    def name(self) -> str:
        return f"{self.label}-{self.size}"


def _phrases_kind(size: int) -> str:
    """The kind that has the published phrases of so many words."""
    return Keywords.label if size == 1 else f"{Ngrams.label}-{size}"


@register
@dataclass(frozen=True, kw_only=True)
class Ngrams(CodedKind, Phrases):
    """So many subsequent words of rare queries, made of published phrases of one word less."""

    label = "ngrams"
    no_setting: ClassVar[tuple[str, ...]] = TailKind.no_setting

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size == 1:
            raise UsageError("phrases of one word are keywords: publish those")

    def selection(self) -> str:
        """Those made of frequent parts."""
        return f"{{each}} contributes at most {self.items_per_user} items. {FREQUENT_PARTS_FIRST}"

    def default_mechanism(self) -> str:
        return "of-smaller"

    def budget_weight(self) -> Fraction:
        """Its weight in the budget: most for pairs of words, without which nothing is longer."""
        return Fraction(1) if self.size == 2 else Fraction(1, 4)

    def builds_on(self) -> tuple[str, ...]:
        return (*super().builds_on(), *(_phrases_kind(size) for size in range(1, self.size)))

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and which shorter phrases were published."""
        shorter = [
            _split_phrases(released[_phrases_kind(size)], size) for size in range(1, self.size)
        ]
        return replace(super()._with_released(released), grown=candidate_sequences(shorter))

    def texts(self, things: list[pa.Array]) -> list[pa.Array]:
        """The columns of items by their things: words with single spaces between."""
        return [pc.binary_join_element_wise(*things, " ")]

    def things_of(self, table: pa.Table) -> list[pa.ChunkedArray]:
        """The words of published phrases; one that has more or fewer of them is none."""
        spaces = pc.count_substring(table["phrase"], " ")
        none = pa.scalar(None, pa.string())
        whole = pc.if_else(pc.equal(spaces, self.size - 1), table["phrase"], none)
        by_word = _split_phrases(table.set_column(0, "phrase", whole), self.size)
        return [by_word.column(number) for number in range(self.size)]

    def _steps(self, source: Source) -> list[Step]:
        grown, engine = self._candidate_sets(), source.engine
        phrase = _WORDS
        for size in range(2, self.size + 1):
            rest = f"{_WORDS}[{size} : array_length({_WORDS})]"
            pair = "lambda two: two[1] || ' ' || two[2]"
            phrase = f"list_transform(list_zip({phrase}, {rest}), {pair})"
        steps = [
            *self._rare_steps(source),
            Step("once", "select distinct user, query from rare"),
            *self._word_steps(source, "once", self.size),
            Step("phrased", f"select user, unnest({phrase}) as phrase from worded"),
            # Beyond the end of the shorter list stands a null.
            Step("each_phrase", "select distinct user, phrase from phrased where phrase <> ''"),
            Step("parted", f"select user, string_split(phrase, ' ') as {_WORDS} from each_phrase"),
        ]
        things, each = table_name(engine, grown.used_things()), range(1, self.size + 1)
        own = comma_separated(f'{_WORDS}[{number}] as "words:{number}"' for number in each)
        steps.append(Step("by_word", f"select user, {own} from parted"))
        joins = " ".join(
            f'join {things} as word_{number} on "words:{number}" = word_{number}."grown:name"'
            for number in each
        )
        codes = comma_separated(
            f'word_{number}."grown:code" as "grown:{number}"' for number in each
        )
        worth = 'least(word_1."order:worth", word_2."order:worth") as "order:worth"'
        steps.append(Step("coded", f"select user, {codes}, {worth} from by_word {joins}"))
        if self.size == 2:
            pair = f'"grown:1" as "{PARENT}", "grown:2" as "{LAST}", "order:worth"'
            return [*steps, Step("items", f"select user, {pair} from coded")]
        shorter, whole_ones = (
            table_name(engine, grown.smaller_sets(2)),
            table_name(engine, grown.candidate_table()),
        )
        begun = (
            f'select user, known."grown:place" as "{PARENT}", "grown:3" as "{LAST}" from coded '
            f'join {shorter} as known on "grown:1" = known."{PARENT}" '
            f'and "grown:2" = known."{LAST}"'
        )
        full = (
            f'select begun.*, known."order:worth" from begun join {whole_ones} as known '
            f'on begun."{PARENT}" = known."{PARENT}" and begun."{LAST}" = known."{LAST}"'
        )
        return [*steps, Step("begun", begun), Step("items", full)]

    def priority_column(self) -> str:
        """The least published count of the shorter phrases in it."""
        return "order:worth"


@dataclass(frozen=True, kw_only=True)
class ListedKind(TailKind):
    """Items that are all known before: by a public rule, or since they were published.

    Attributes:
        listed: (item,), all there are; None until `with_inputs` gives them.
    """

    listed: pa.Table | None = field(default=None, compare=False, repr=False)

    def default_mechanism(self) -> str:
        return "listed"

    def known_items(self) -> pa.Table | CandidateSets | None:
        """Every item that there can be."""
        return self.listed

    def _items_step(self, source: Source, rows: str, *item: str) -> Step:
        """The last step: (user, item..., time)."""
        return Step(
            "items",
            f"select {comma_separated(['user', *item, *_time_columns(source)])} from {rows}",
        )


@register
@dataclass(frozen=True, kw_only=True)
class Prefixes(ListedKind, Phrases):
    """What rare queries begin with, of the published phrases of so many words."""

    label = "prefixes"

    def _words(self) -> str:
        return "the first word" if self.size == 1 else f"the first {self.size} words"

    def builds_on(self) -> tuple[str, ...]:
        return (*super().builds_on(), _phrases_kind(self.size))

    def budget_weight(self) -> Fraction:
        """Its weight in the budget: what counts is first that a phrase is published."""
        return Fraction(1, 10)

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and phrases were published."""
        phrases = released[_phrases_kind(self.size)].select([0]).rename_columns(["phrase"])
        return replace(super()._with_released(released), listed=phrases)

    def _steps(self, source: Source) -> list[Step]:
        begin = f"array_to_string({_WORDS}[1 : {self.size}], ' ') as phrase"
        items = self._items_step(source, "worded", begin)
        return [*self._rare_steps(source), *self._word_steps(source, "rare", self.size), items]


@dataclass(frozen=True, kw_only=True)
class QueryFact(ListedKind):
    """A fact of one of each user's rare queries: so each user counts once.

    Which one it is is up to `select`: by chance, where all her different ones are as likely, the
    first in time, or the one that she asked most often.
    """

    item = ("value",)
    values: ClassVar[tuple[str, ...]]
    fact: ClassVar[str]
    """What a value says of a query, for recipients."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.items_per_user != 1:
            raise UsageError(f"{self.label} are of one query of each user: items_per_user is 1")

    def column_meanings(self) -> dict[str, str]:
        """Which fact."""
        return {"value": f"of a query that is not in queries: {self.fact.replace('`', '')}"}

    def meaning(self) -> str:
        """Which fact."""
        return (
            f"`value` says of a query that is not in `queries` {self.fact}. `count` is the number "
            "of {units}, each with one such query: it shows how the values compare, not how many "
            "queries there are."
        )

    def selection(self) -> str:
        """One query."""
        return "{each} counts at most once, with one such query ({one})."

    def made_of(self) -> tuple[str, ...]:
        """A public rule tells which values there are."""
        return ()

    def kept_columns(self) -> tuple[str, ...]:
        """What a user keeps one of: a query with its fact."""
        return ("query", *self.counted_columns())

    def budget_weight(self) -> Fraction:
        """Its weight in the budget: little, since everybody counts and few values are there."""
        return Fraction(1, 50)

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries were published."""
        listed = pa.table({"value": pa.array(self.values, pa.string())})
        return replace(super()._with_released(released), listed=listed)


@register
@dataclass(frozen=True, kw_only=True)
class Lengths(QueryFact):
    """How many words a query has."""

    label = "lengths"
    fact = "how many words it has"
    values = (*map(str, range(1, 10)), "10+")

    def _steps(self, source: Source) -> list[Step]:
        number = f"array_length({_WORDS})"
        value = f"case when {number} > 9 then '10+' else {number}::varchar end"
        items = self._items_step(source, "worded", "query", f"{value} as value")
        return [*self._rare_steps(source), *self._word_steps(source, "rare"), items]


@register
@dataclass(frozen=True, kw_only=True)
class Questions(QueryFact):
    """Whether a query is a question: by a question mark, or the first of its words in English.

    One that is a single word is none by that word.
    """

    label = "questions"
    fact = (
        "whether it is a question (it has a question mark; or several words, the first of which is "
        "who, what, how, is, can or the like in English)"
    )
    values = ("no", "yes")

    def _steps(self, source: Source) -> list[Step]:
        asks = f"{_WORDS}[1] in ({comma_separated(map(literal, _QUESTION))})"
        is_one = f"array_length({_WORDS}) > 1 and {asks} or regexp_matches(query, '[{_MARKS}]')"
        value = f"case when {is_one} then 'yes' else 'no' end as value"
        items = self._items_step(source, "worded", "query", value)
        return [*self._rare_steps(source), *self._word_steps(source, "rare"), items]


@register
@dataclass(frozen=True, kw_only=True)
class Scripts(QueryFact):
    """The script of a query's letters; `mixed` where it has those of several, `none` without.

    Japanese is what has a kana, with or without Chinese characters; these alone are Chinese.
    """

    label = "scripts"
    fact = (
        "the script of its letters (`mixed` for several, `other` for none that is listed, `none` "
        "where it has no letter; Chinese characters with kana are `japanese`)"
    )
    values = (*_SCRIPTS, "mixed", "other", "none")

    def _steps(self, source: Source) -> list[Step]:
        has = {name: f"regexp_matches(query, '[{_letter_class(name)}]')" for name in _SCRIPTS}
        has["chinese"] = f"({has['chinese']} and not {has['japanese']})"  # which has both
        found = " + ".join(f"({each})::integer" for each in has.values())
        each = " ".join(f"when {each} then '{name}'" for name, each in has.items())
        letters = r"regexp_matches(query, '\p{L}')"
        value = (
            f"case when {found} > 1 then 'mixed' {each} when {letters} then 'other' else 'none' end"
        )
        return [
            *self._rare_steps(source),
            self._items_step(source, "rare", "query", f"{value} as value"),
        ]


@register
@dataclass(frozen=True, kw_only=True)
class Hours(QueryFact):
    """The hour of the day at which a query was asked: as the log writes it, or in UTC.

    The latter where the log's times say how far from UTC they are. A user counts with one of her
    different pairs of a rare query and an hour: who asked a query at two hours has two of them, and
    it is twice as likely to be taken. Entries without a time are ignored.
    """

    label = "hours"
    fact = (
        "at which hour of the day it was asked (as the log writes its times, or in UTC where they "
        "have an offset; a query asked at several hours is one query for each)"
    )
    values = tuple(map(str, range(24)))
    required_roles = ("query", "time")

    def _steps(self, source: Source) -> list[Step]:
        value = "extract(hour from time)::varchar as value"
        timed = Step("timed", "select * from rare where time is not null")
        return [*self._rare_steps(source), timed, self._items_step(source, "timed", "query", value)]


@register
@dataclass(frozen=True, kw_only=True)
class WithKeywords(QueryFact):
    """Whether a query contains a published keyword."""

    label = "with-keywords"
    fact = "whether one of its words is in `keywords`"
    values = ("no", "yes")
    keywords: pa.Table | None = field(default=None, compare=False, repr=False)
    no_setting: ClassVar[tuple[str, ...]] = (*TailKind.no_setting, "keywords")

    def builds_on(self) -> tuple[str, ...]:
        return (*super().builds_on(), Keywords.label)

    def _with_released(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and keywords were published."""
        keywords = released[Keywords.label].select(Keywords.item)
        return replace(super()._with_released(released), keywords=keywords)

    def _steps(self, source: Source) -> list[Step]:
        if self.keywords is None:
            raise UsageError("with-keywords are by published keywords: publish those first")
        table, number = table_name(source.engine, self.keywords), identifier("words:query")
        # A word goes with a number in place of its query: whoever writes a query of many words must
        # not have it copied for each of them.
        once = "select distinct user, query from rare"
        place = f"row_number() over (partition by user order by query) as {number}"
        found = (
            f"select distinct each_word.user, each_word.{number} from each_word "
            f"semi join {table} as known on each_word.word = known.keyword"
        )
        known = (
            "select numbered.user, numbered.query, 'yes' as value from numbered semi join found "
            f"on numbered.user = found.user and numbered.{number} = found.{number}"
        )
        value = (
            "select rare.*, coalesce(with_known.value, 'no') as value from rare left join "
            "with_known on rare.user = with_known.user and rare.query = with_known.query"
        )
        return [
            *self._rare_steps(source),
            Step("once", once),
            Step("numbered", f"select *, {place} from once", shared=True),
            *self._word_steps(source, "numbered"),
            Step("each_word", f"select user, {number}, unnest({_WORDS}) as word from worded"),
            Step("found", found),
            Step("with_known", known),
            Step("valued", value),
            self._items_step(source, "valued", "query", "value"),
        ]


def _time_columns(source: Source) -> list[str]:
    """The column with the time, where the log has one."""
    return ["time"] if "time" in source.roles else []


def _letter_class(script: str) -> str:
    """The letters of a script, as a class of characters has them."""
    ends = (
        [chr(int(end, 16)) if len(end) > 1 else end for end in each.split("-")]
        for each in _SCRIPTS[script].split()
    )
    return "".join("-".join(each) for each in ends)


def _split_phrases(table: pa.Table, size: int) -> pa.Table:
    """Published phrases with a column for each word."""
    parts = pc.split_pattern(table.column(0), " ")
    each = [pc.list_element(parts, number) for number in range(size)]
    names = [f"word_{number}" for number in range(1, size + 1)]
    return pa.table([*each, table["count"]], names=[*names, "count"])
