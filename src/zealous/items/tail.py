"""What can be told of queries that are too rare to be published.

These are the queries of each user that are not among the published ones. Nothing here is one of
them: parts that many have in common, and facts that every query has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.engines.engine import named
from zealous.engines.sql import Step, identifier, listed, literal
from zealous.errors import UsageError
from zealous.guarantee import whole
from zealous.items.kind import Kind
from zealous.items.searches import Keywords, Queries
from zealous.items.sets import LAST, PARENT, Coded
from zealous.items.text import asked, has_word, words
from zealous.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.items.grown import Grown

LONGEST = 3  # words of a phrase
_QUESTION = (
    "who|what|when|where|why|which|whose|whom|how|is|are|am|was|were|do|does|did|can|could|should|"
    "would|will|may|has|have|had"
)
_MARKS = "\u037e\u061f\uff1f"  # of Greek, Arabic, Chinese and Japanese questions
# The blocks of a script's letters, the same for every engine and version.
_SCRIPTS = {
    "latin": "a-z 00aa 00ba 00c0-00d6 00d8-00f6 00f8-02af 1e00-1eff",
    "greek": "0370-03ff 1f00-1fff",
    "cyrillic": "0400-052f",
    "hebrew": "0590-05ff",
    "arabic": "0600-06ff 0750-077f",
    "devanagari": "0900-097f",
    "thai": "0e00-0e7f",
    "hangul": "1100-11ff ac00-d7a3",
    "chinese": "3400-4dbf 4e00-9fff",
    "japanese": "3041-30ff",
}
_WORDS = identifier("words:all")


@dataclass(frozen=True, kw_only=True)
class Tail(Kind):
    """Made from each user's queries that are not published, each of them once.

    Attributes:
        queries: The published queries; None until `after` gives them.
    """

    queries: pa.Table | None = field(default=None, compare=False, repr=False)
    no_setting: ClassVar[tuple[str, ...]] = ("items_per_user", "size", "queries", "listed", "grown")
    needs: ClassVar[tuple[str, ...]] = ("query",)

    def __post_init__(self) -> None:
        """Check before anything is read."""
        super().__post_init__()
        if self.by is not None:
            raise UsageError("--by does not go with --tail: leave one of them out")

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not give such items."""
        super().check(roles)
        if "keywords" in roles:
            raise UsageError(
                "--tail takes the words of the queries themselves, not a column of keywords: "
                "leave out --keywords"
            )

    def builds_on(self) -> tuple[str, ...]:
        """The kinds that must have been published before, by name."""
        return (Queries.label,)

    def after(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries were published."""
        return replace(self, queries=released[Queries.label].select(Queries.item))

    def _rare(self, source: Source, *more: str) -> list[Step]:
        """Steps to `rare`: (user, query, more...), each user's queries that are not published."""
        if self.queries is None:
            raise UsageError(f"{self.name()} are of queries that are not published: publish those")
        table = named(source.engine, self.queries)
        own = listed(["user", f"{asked(fold=False)} as query", *more])
        present = [has_word("query"), *(f"{each} is not null" for each in more)]
        return [
            Step("all_asked", f"select {own} from entries where {' and '.join(present)}"),
            Step(
                "rare",
                f"select distinct all_asked.* from all_asked anti join {table} as known "
                "on all_asked.query = known.query",
            ),
        ]

    def _worded(self, source: Source, least: int) -> list[Step]:
        """Steps to `worded`: (user, query, words), of at least so many words."""
        worded = f"select user, query, {words('query')} as {_WORDS} from rare"
        long = f"select * from split where array_length({_WORDS}) >= {least}"
        return [*self._rare(source), Step("split", worded), Step("worded", long)]


@dataclass(frozen=True, kw_only=True)
class Phrases(Tail):
    """So many subsequent words of rare queries."""

    size: int
    item = ("phrase",)

    def __post_init__(self) -> None:
        """Check before anything is read."""
        super().__post_init__()
        if whole(self.size, "the size of phrases") > LONGEST:
            raise UsageError(f"phrases have up to {LONGEST} words")

    def name(self) -> str:
        """What the kind is called on the command line and in a release."""
        return f"{self.label}-{self.size}"


def _phrases(size: int) -> str:
    """The kind that has the published phrases of so many words."""
    return Keywords.label if size == 1 else f"{Ngrams.label}-{size}"


@dataclass(frozen=True, kw_only=True)
class Ngrams(Coded, Phrases):
    """So many subsequent words of rare queries, made of published phrases of one word less."""

    label = "ngrams"
    no_setting: ClassVar[tuple[str, ...]] = Tail.no_setting

    def __post_init__(self) -> None:
        """Check before anything is read."""
        super().__post_init__()
        if self.size == 1:
            raise UsageError("phrases of one word are keywords: publish those")

    def usual(self) -> str:
        """The mechanism where none is asked for."""
        return "of-smaller"

    def builds_on(self) -> tuple[str, ...]:
        """The kinds that must have been published before, by name."""
        return (*super().builds_on(), *(_phrases(size) for size in range(1, self.size)))

    def after(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and which shorter phrases were published."""
        from zealous.items.grown import sequences

        shorter = [_by_word(released[_phrases(size)], size) for size in range(1, self.size)]
        return replace(super().after(released), grown=sequences(shorter))

    def texts(self, things: list[pa.Array]) -> list[pa.Array]:
        """The columns of items by their things: words with single spaces between."""
        import pyarrow.compute as pc

        return [pc.binary_join_element_wise(*things, " ")]

    def _steps(self, source: Source) -> list[Step]:
        grown, engine = self._grown(), source.engine
        phrase = _WORDS
        for size in range(2, self.size + 1):
            rest = f"{_WORDS}[{size} : array_length({_WORDS})]"
            pair = "lambda two: two[1] || ' ' || two[2]"
            phrase = f"list_transform(list_zip({phrase}, {rest}), {pair})"
        steps = [
            *self._worded(source, self.size),
            Step("phrased", f"select user, unnest({phrase}) as phrase from worded"),
            # Beyond the end of the shorter list stands a null.
            Step("each_phrase", "select distinct user, phrase from phrased where phrase <> ''"),
            Step("parted", f"select user, string_split(phrase, ' ') as {_WORDS} from each_phrase"),
        ]
        things, each = named(engine, grown.used()), range(1, self.size + 1)
        own = listed(f'{_WORDS}[{number}] as "words:{number}"' for number in each)
        steps.append(Step("by_word", f"select user, {own} from parted"))
        joins = " ".join(
            f'join {things} as word_{number} on "words:{number}" = word_{number}."grown:name"'
            for number in each
        )
        codes = listed(f'word_{number}."grown:code" as "grown:{number}"' for number in each)
        worth = 'least(word_1."order:worth", word_2."order:worth") as "order:worth"'
        steps.append(Step("coded", f"select user, {codes}, {worth} from by_word {joins}"))
        if self.size == 2:
            pair = f'"grown:1" as "{PARENT}", "grown:2" as "{LAST}", "order:worth"'
            return [*steps, Step("items", f"select user, {pair} from coded")]
        shorter, whole_ones = named(engine, grown.smaller(2)), named(engine, grown.candidates())
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

    def worth(self) -> str | None:
        """The least published count of the shorter phrases in it."""
        return None if self.grown is None else "order:worth"


@dataclass(frozen=True, kw_only=True)
class Listed(Tail):
    """Items that are all known before: by a public rule, or since they were published.

    Attributes:
        listed: (item,), all there are; None until `after` gives them.
    """

    listed: pa.Table | None = field(default=None, compare=False, repr=False)

    def usual(self) -> str:
        """The mechanism where none is asked for."""
        return "listed"

    def known(self) -> pa.Table | Grown | None:
        """Every item that there can be."""
        return self.listed


@dataclass(frozen=True, kw_only=True)
class Prefixes(Listed, Phrases):
    """What rare queries begin with, of the published phrases of so many words."""

    label = "prefixes"

    def builds_on(self) -> tuple[str, ...]:
        """The kinds that must have been published before, by name."""
        return (*super().builds_on(), _phrases(self.size))

    def share(self) -> Fraction:
        """Its weight in the budget: phrases that are nowhere published have no beginnings."""
        return Fraction(1, 4)

    def after(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and phrases were published."""
        phrases = released[_phrases(self.size)].select([0]).rename_columns(["phrase"])
        return replace(super().after(released), listed=phrases)

    def _steps(self, source: Source) -> list[Step]:
        begin = f"array_to_string({_WORDS}[1 : {self.size}], ' ') as phrase"
        items = Step("items", f"select user, {begin} from worded")
        return [*self._worded(source, self.size), items]


@dataclass(frozen=True, kw_only=True)
class Fact(Listed):
    """A fact of one of each user's rare queries, drawn by chance: so each user counts once."""

    item = ("value",)
    values: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        """Check before anything is read."""
        super().__post_init__()
        if self.items_per_user != 1:
            raise UsageError(f"{self.label} are of one query of each user: items_per_user is 1")

    def chosen(self) -> tuple[str, ...]:
        """What a user keeps one of: a query with its fact."""
        return ("query", *self.counted())

    def share(self) -> Fraction:
        """Its weight in the budget: little, since everybody counts and few values are there."""
        return Fraction(1, 20)

    def after(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries were published."""
        import pyarrow as pa

        listed = pa.table({"value": pa.array(self.values, pa.string())})
        return replace(super().after(released), listed=listed)


@dataclass(frozen=True, kw_only=True)
class Lengths(Fact):
    """How many words a query has."""

    label = "lengths"
    values = (*map(str, range(1, 10)), "10+")

    def _steps(self, source: Source) -> list[Step]:
        number = f"array_length({_WORDS})"
        value = f"case when {number} > 9 then '10+' else {number}::varchar end"
        items = Step("items", f"select user, query, {value} as value from worded")
        return [*self._worded(source, 1), items]


@dataclass(frozen=True, kw_only=True)
class Questions(Fact):
    """Whether a query is a question: by its first word in English, or a question mark."""

    label = "questions"
    values = ("no", "yes")

    def _steps(self, source: Source) -> list[Step]:
        is_one = f"regexp_matches(query, '^({_QUESTION}) |[?{_MARKS}]')"
        value = f"case when {is_one} then 'yes' else 'no' end"
        items = Step("items", f"select user, query, {value} as value from rare")
        return [*self._rare(source), items]


@dataclass(frozen=True, kw_only=True)
class Scripts(Fact):
    """The script of a query's letters; `mixed` where it has those of several, `none` without."""

    label = "scripts"
    values = (*_SCRIPTS, "mixed", "other", "none")

    def _steps(self, source: Source) -> list[Step]:
        has = {name: f"regexp_matches(query, '[{_letters(name)}]')" for name in _SCRIPTS}
        has["chinese"] = f"({has['chinese']} and not {has['japanese']})"  # which has both
        found = " + ".join(f"({each})::integer" for each in has.values())
        each = " ".join(f"when {each} then '{name}'" for name, each in has.items())
        letters = r"regexp_matches(query, '\p{L}')"
        value = (
            f"case when {found} > 1 then 'mixed' {each} when {letters} then 'other' else 'none' end"
        )
        items = Step("items", f"select user, query, {value} as value from rare")
        return [*self._rare(source), items]


@dataclass(frozen=True, kw_only=True)
class Hours(Fact):
    """The hour of the day, as the log writes it, at which a query was asked."""

    label = "hours"
    values = tuple(map(str, range(24)))
    needs = ("query", "time")

    def _steps(self, source: Source) -> list[Step]:
        value = "extract(hour from time)::varchar as value"
        return [
            *self._rare(source, "time"),
            Step("items", f"select user, query, {value} from rare"),
        ]


@dataclass(frozen=True, kw_only=True)
class WithKeywords(Fact):
    """Whether a query contains a published keyword."""

    label = "with-keywords"
    values = ("no", "yes")
    keywords: pa.Table | None = field(default=None, compare=False, repr=False)
    no_setting: ClassVar[tuple[str, ...]] = (*Tail.no_setting, "keywords")

    def builds_on(self) -> tuple[str, ...]:
        """The kinds that must have been published before, by name."""
        return (*super().builds_on(), Keywords.label)

    def after(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, knowing which queries and keywords were published."""
        keywords = released[Keywords.label].select(Keywords.item)
        return replace(super().after(released), keywords=keywords)

    def _steps(self, source: Source) -> list[Step]:
        if self.keywords is None:
            raise UsageError("with-keywords are by published keywords: publish those first")
        table = named(source.engine, self.keywords)
        each = f"select user, query, unnest({_WORDS}) as word from worded"
        held = (
            f"select distinct user, query, 'yes' as held from each_word semi join {table} as known "
            "on each_word.word = known.keyword"
        )
        value = f"select rare.*, coalesce(held, {literal('no')}) as value from rare "
        value += (
            "left join with_known on rare.user = with_known.user and rare.query = with_known.query"
        )
        return [
            *self._worded(source, 1),
            Step("each_word", each),
            Step("with_known", held),
            Step("items", value),
        ]


def _letters(script: str) -> str:
    """The letters of a script, as a class of characters has them."""
    ends = ([chr(int(end, 16)) if len(end) > 1 else end for end in each.split("-")]
            for each in _SCRIPTS[script].split())  # fmt: skip
    return "".join("-".join(each) for each in ends)


def _by_word(table: pa.Table, size: int) -> pa.Table:
    """Published phrases with a column for each word."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.split_pattern(table.column(0), " ")
    each = [pc.list_element(parts, number) for number in range(size)]
    names = [f"word_{number}" for number in range(1, size + 1)]
    return pa.table([*each, table["count"]], names=[*names, "count"])
