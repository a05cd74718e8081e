"""What is told of rare queries, against a second implementation."""

from __future__ import annotations

import random
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracle import md5_place, md5_rank
from sampling import sampled
from tail_counts import KINDS, NOBODY, after, counted, opened
from tail_oracle import (
    FACTS,
    NAMES,
    ODDITIES,
    Entry,
    Tables,
    expected,
    had,
    many,
    published,
    script_of,
    write,
)

import zealous as z
from zealous.counting.histogram import histogram
from zealous.engines import duckdb
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import candidate_sets as grown
from zealous.items import kind_by_name, rare_queries
from zealous.items.candidate_sets import CandidateSets
from zealous.items.rare_queries import Hours, Lengths, Ngrams, Prefixes, Scripts
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.mechanisms.choose import MECHANISMS
from zealous.noise import DiscreteLaplace

SELECTS = ("random", "first", "frequent")


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    """For one small log after the other: only the last that was opened is there."""
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


# Against the oracle


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return many()


@pytest.fixture(scope="module")
def source(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield opened(engine, tmp_path_factory.mktemp("tail"), entries)


def test_the_kinds() -> None:
    assert tuple(KINDS) == NAMES
    assert [kind.items_per_user for kind in KINDS.values()] == [99] * 5 + [1] * 5
    assert [str(kind.budget_weight()) for kind in KINDS.values()] == (
        ["1", "1/4"] + ["1/10"] * 3 + ["1/50"] * 5
    )
    for name, kind in KINDS.items():
        assert kind_by_name(name, kind.items_per_user, kind.settings()) == kind
        assert kind.settings() == {"by": None}


@pytest.mark.parametrize(
    ("name", "select"), sampled([*product(NAMES, SELECTS)], "-".join, share=3, group=itemgetter(0))
)
def test_same_as_the_oracle(
    name: str,
    select: str,
    entries: list[Entry],
    source: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(DuckDB, "rank_key", lambda _, key, columns: md5_rank(key, columns))
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
    for bound, listed in ((1, True), (2, False), (99, True)) if name not in FACTS else ((1, True),):
        seed = random.getrandbits(64)
        tables = published(entries, seed)
        how: dict[str, Any] = {"bound": bound, "select": select, "key": seed, "listed": listed}
        right = expected(name, entries, tables, **how)
        assert right.total() > 10
        found = counted(source, name, tables, **how)
        assert found == right, (seed, found - right, right - found)


@pytest.mark.parametrize("name", NAMES)
def test_without_times(
    name: str, entries: list[Entry], engine: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(engine, tmp_path, entries, timed=False)
    if name == "hours":
        with pytest.raises(UsageError, match="hours need a column with the time"):
            counted(source, name, NOBODY)
        return
    monkeypatch.setattr(DuckDB, "rank_key", lambda _, key, columns: md5_rank(key, columns))
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
    tables = published(entries, 3)
    bound = 1 if name in FACTS else 2
    for select in ("random", "frequent"):
        right = expected(name, entries, tables, bound=bound, select=select, key=7)
        assert counted(source, name, tables, bound=bound, select=select, key=7) == right


@pytest.mark.parametrize("name", NAMES)
def test_nothing_published_and_nothing_asked(
    name: str, entries: list[Entry], source: Source, engine: DuckDB, tmp_path: Path
) -> None:
    """Empty tables are no error: a budget is spent by then."""
    right = expected(name, entries, NOBODY, bound=99, listed=True)
    found = counted(source, name, NOBODY, listed=True)
    if name in FACTS:  # everybody who asked anything counts
        assert found.total() == len(had(name, entries, NOBODY))
    else:
        assert not right
        assert not found
    nothing = opened(engine, tmp_path, [Entry("", "a b", 0), Entry("u", "?!", 0)])
    assert not counted(nothing, name, published(entries, 1), listed=True)


@pytest.mark.parametrize("name", NAMES)
def test_buckets_of_users_give_the_same(
    name: str, entries: list[Entry], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, bound = published(entries, 11), 1 if name in FACTS else 2
    whole = counted(source, name, tables, bound=bound)
    engine = source.engine
    assert isinstance(engine, DuckDB)
    monkeypatch.setattr(duckdb, "_BYTES_PER_ROW", engine.working_memory * 3 // len(entries))
    assert engine.buckets(source.rows, 0) >= 3
    assert counted(source, name, tables, bound=bound) == whole


def test_the_order_of_lines_and_repeated_lines_change_nothing(
    entries: list[Entry], source: Source, engine: DuckDB, tmp_path: Path
) -> None:
    tables = published(entries, 4)
    shuffled = [*entries, *entries[::3]]
    random.Random(2).shuffle(shuffled)
    other = opened(engine, tmp_path, shuffled)
    for name in NAMES:
        for select in ("random", "first"):
            bound = 1 if name in FACTS else 2
            one, two = (
                counted(each, name, tables, bound=bound, select=select) for each in (source, other)
            )
            assert one == two, (name, select)


def test_each_user_counts_once_for_a_fact(entries: list[Entry], source: Source) -> None:
    tables = published(entries, 9)
    for name in FACTS:
        assert counted(source, name, tables, bound=1).total() == len(had(name, entries, tables))


# What is what


def one(engine: DuckDB, folder: Path, name: str, query: str, tables: Tables = NOBODY) -> list[str]:
    source = opened(engine, folder, [Entry("u", query, 0)])
    return sorted(counted(source, name, tables))


def each_value(engine: DuckDB, folder: Path, name: str, queries: Sequence[str]) -> list[str]:
    """The fact of each query, told by one statement: the users are numbers that count."""
    rows = [Entry(str(n), query, 0) for n, query in enumerate(queries)]
    kind, source = after(name, NOBODY), opened(engine, folder, rows)
    steps = [*source.entries, *kind.steps(source)]
    found = {row[0]: row[2] for row in engine.rows(steps)}
    return [found[str(n)] for n in range(len(queries))]


def test_lengths(engine: DuckDB, tmp_path: Path) -> None:
    cases = {"a": "1", "a-b's": "3", "c++ 日本語": "2", "a " * 9: "9", "a " * 10: "10+", "1.5": "2"}
    assert each_value(engine, tmp_path, "lengths", list(cases)) == list(cases.values())


def test_questions(engine: DuckDB, tmp_path: Path) -> None:
    cases = {
        "how to tie a tie": "yes",
        "What's new": "yes",
        '"Who is" he': "yes",
        "  is  it ok": "yes",
        "weather today?": "yes",
        "που ειναι\u037e": "yes",
        "كيف حالك؟": "yes",
        "天気は？": "yes",
        "who": "no",
        "whoever did it": "no",
        "tell me how": "no",
        "howto knots": "no",
        "island trips": "no",
        "the who": "no",
        "x;": "no",
    }
    assert each_value(engine, tmp_path, "questions", list(cases)) == list(cases.values())


def test_scripts(engine: DuckDB, tmp_path: Path) -> None:
    cases = {
        "Straße 12": "latin", "ＦＵＬＬ ｗｉｄｔｈ": "latin", "ﬁne": "latin", "καλημέρα": "greek",
        "Погода": "cyrillic", "שלום": "hebrew", "طقس ٢٠٢٦؟": "arabic", "मौसम १२": "devanagari",
        "อากาศ ๑๒ ฿": "thai", "날씨": "hangul", "ㅋㅋ": "hangul", "天气": "chinese",
        "𠀀": "chinese",
        "天気は": "japanese", "ｶﾀｶﾅ": "japanese", "テスト・1": "japanese", "iphone 价格": "mixed",
        "кот cat": "mixed", "iphone ケース": "mixed", "ამინდი": "other", "ⴰⵎⴰⵏ 7": "other",
        "123": "none", "٣٤": "none", "१२": "none", "100 ฿": "none", "1\u037e": "none",
        "1؟": "none", "①": "none", "hello؟": "latin", "what\u037e": "latin", "ა a": "latin",
    }  # fmt: skip
    assert each_value(engine, tmp_path, "scripts", list(cases)) == list(cases.values())
    assert set(cases.values()) == set(Scripts.values)


def test_the_script_of_every_character(engine: DuckDB, tmp_path: Path) -> None:
    """By its name in Unicode; no digit, mark or sign has any."""
    points = [
        point
        for point in range(0x1, 0x20000)
        if unicodedata.category(chr(point)) not in ("Cs", "Co", "Cn")
        and not 0x4E10 < point < 0x9FF0
        and not 0xAC10 < point < 0xD790
        and not 0x17010 < point < 0x18AF0
    ]
    points += [0x20000, 0x2A6DF, 0x2A700, 0x2B81D, 0x2CEA1, 0x2EBE0]
    texts = [f"1{chr(point)}" for point in points]
    found = each_value(engine, tmp_path, "scripts", texts)
    wrong = []
    for point, value in zip(points, found, strict=True):
        small = chr(point).lower()[0]
        if value != (script_of(small) or "none"):
            wrong.append(f"{point:x} {unicodedata.name(chr(point), '')}: {value}")
    assert wrong == []
    assert len(Counter(found)) == len(Scripts.values) - 1
    letters = sum(script_of(chr(point)) is not None for point in points)
    odd = sum(high - low + 1 for low, high in ODDITIES if high < 0x20000)
    assert odd < letters / 10


def test_hours(engine: DuckDB, tmp_path: Path) -> None:
    """BEGIN is half past ten in the evening."""
    rows = [Entry(str(hour), "x", hour * 3600) for hour in range(24)]
    rows += [Entry("99", "x", None), Entry("98", "x", None), Entry("98", "x", 3600 - 1)]
    found = counted(opened(engine, tmp_path, rows), "hours", NOBODY)
    assert found == Counter({str(hour): 1 for hour in range(24)}) + Counter({"23": 1})
    assert set(found) == set(Hours.values)


def test_hours_are_of_the_time_as_it_is_written_or_in_utc(engine: DuckDB, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query,time\na,x,2026-03-01 05:10\nb,x,2026-03-01T05:10:00+02:00\n")
    source = open_log(z.read_log(path), engine)
    assert counted(source, "hours", NOBODY) == {"5": 1, "3": 1}


def test_with_keywords(engine: DuckDB, tmp_path: Path) -> None:
    tables = NOBODY | {"keywords": {"tea": 4}}
    for query, right in {
        "green TEA": "yes",
        "teas": "no",
        "tea": "yes",
        "x tea tea": "yes",
    }.items():
        assert one(engine, tmp_path, "with-keywords", query, tables) == [right]


def test_phrases(engine: DuckDB, tmp_path: Path) -> None:
    tables = {
        "queries": {"published one": 9},
        "keywords": dict.fromkeys(["new", "york", "cheap", "hotels", "one", "published"], 5),
        "ngrams-2": {"new york": 5, "cheap hotels": 5, "hotels new": 5},
        "ngrams-3": {"hotels new york": 5},
    }
    query = "Cheap,  hotels: in-New York new"
    assert one(engine, tmp_path, "ngrams-2", query, tables) == [
        "cheap hotels",
        "new york",
        "york new",
    ]
    assert one(engine, tmp_path, "ngrams-3", query, tables) == []
    assert one(engine, tmp_path, "ngrams-3", "cheap hotels new york", tables) == [
        "cheap hotels new",
        "hotels new york",
    ]
    assert one(engine, tmp_path, "ngrams-3", "new york cheap hotels", tables) == []
    assert one(engine, tmp_path, "prefixes-1", query, tables) == ["cheap"]
    assert one(engine, tmp_path, "prefixes-2", query, tables) == ["cheap hotels"]
    assert one(engine, tmp_path, "prefixes-2", "york", tables) == []
    for name in NAMES:
        assert one(engine, tmp_path, name, "  Published ONE ", tables) == []
    assert one(engine, tmp_path, "ngrams-2", "published one?", tables) == ["published one"]


# What was published decides all the rest


def test_what_there_can_be_follows_from_what_was_published(entries: list[Entry]) -> None:
    tables = published(entries, 6)
    words = sorted(tables["keywords"])

    def texts(name: str) -> list[str]:
        kind = after(name, tables)
        known = kind.known_items()
        if isinstance(known, pa.Table):
            assert known.column_names == list(kind.columns())
            return sorted(known.column(0).to_pylist())
        assert isinstance(known, CandidateSets)
        batch = pa.record_batch(
            [known.parent, known.last, known.worth], names=[*kind.counted_columns(), "count"]
        )
        return sorted(kind.as_published(batch)["phrase"].to_pylist())

    assert texts("ngrams-2") == sorted(f"{a} {b}" for a in words for b in words)
    pairs = [pair.split() for pair in tables["ngrams-2"]]
    assert texts("ngrams-3") == sorted(
        f"{a} {b} {c}" for a, b in pairs for other, c in pairs if b == other
    )
    assert texts("prefixes-1") == words
    for size in (2, 3):
        assert texts(f"prefixes-{size}") == sorted(tables[f"ngrams-{size}"])
    assert texts("lengths") == sorted([*map(str, range(1, 10)), "10+"])
    assert texts("questions") == texts("with-keywords") == ["no", "yes"]
    assert texts("hours") == sorted(map(str, range(24)))
    assert len(texts("scripts")) == 13


def test_phrases_are_made_of_published_words_alone(entries: list[Entry], source: Source) -> None:
    for seed in (1, 2):
        tables = published(entries, seed)
        for name in ("ngrams-2", "ngrams-3"):
            found = counted(source, name, tables)
            assert found
            assert {word for phrase in found for word in phrase.split(" ")} <= set(
                tables["keywords"]
            )


def test_of_too_many_words_the_most_frequent_are_used(
    entries: list[Entry], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no candidate takes nobody's place."""
    monkeypatch.setattr(
        rare_queries, "candidate_sequences", partial(grown.candidate_sequences, most=8)
    )
    tables = published(entries, 12) | {"keywords": {"a": 50, "b": 40, "c": 60, "d": 2}}
    frequent = tables | {"keywords": {"a": 50, "c": 60}}
    for bound in (1, 99):
        found = counted(source, "ngrams-2", tables, bound=bound)
        assert found.total() > 10
        assert set(found) <= {"a a", "a c", "c a", "c c"}
        if bound == 99:
            assert found == expected("ngrams-2", entries, frequent, bound=bound)


class Noiseless:
    """Notes for how many items noise is asked for, and adds none."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked: list[int] = []
        patch.setattr(DiscreteLaplace, "sample", self)

    def __call__(self, size: int, _: object) -> np.ndarray[Any, np.dtype[np.int64]]:
        self.asked.append(size)
        return np.zeros(size, np.int64)


@pytest.mark.parametrize("name", NAMES)
def test_noise_goes_on_all_that_there_can_be(
    name: str,
    entries: list[Entry],
    source: Source,
    engine: DuckDB,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever has what: the same rows get noise, and of a list all of them are published."""
    tables, noise = published(entries, 8), Noiseless(monkeypatch)
    kind = replace(after(name, tables), items_per_user=1 if name in FACTS else 2)
    known = kind.known_items()
    assert known is not None
    size = len(known)
    mechanism: Any = MECHANISMS[kind.default_mechanism()]
    made = mechanism(items_per_user=kind.items_per_user, scale=Fraction(1, 4))
    made = made.with_inputs(known)
    somebody = [Entry("u", "q", 0)]
    for each, rows in ((source, entries), (opened(engine, tmp_path, somebody), somebody)):

        def count(each: Source = each, **how: Any) -> Any:
            return histogram(kind, each, select="random", key=9, **how)

        noise.asked.clear()
        batches = [kind.as_published(batch) for batch in made.release(count)]
        assert sum(noise.asked) == size > 1
        found = {
            row[kind.columns()[0]]: row["count"] for batch in batches for row in batch.to_pylist()
        }
        bound = kind.items_per_user
        right = counted(each, name, tables, bound=bound, listed=True, key=9)
        if kind.default_mechanism() == "listed":
            assert len(found) == size
            assert +Counter(found) == right
        else:
            above = made.threshold(size)
            assert found == {item: n for item, n in right.items() if n > above}
        assert right.total() <= bound * len({row.user for row in rows})


# Nobody stops the run


@pytest.mark.parametrize("word", ["w", "É", "a"])
def test_a_query_of_very_many_words(word: str, tmp_path: Path) -> None:
    """Neither time nor memory may grow with the square of its length."""
    number = 100_000
    unlimited = z.Cleaning(limits=z.Limits(text=10**6))
    text = " ".join(word if word == "a" else f"{word}{n % 977}" for n in range(number))
    rows = [Entry("u", text, 0), Entry("v", "a b", 0), Entry("v", f"{text}!", 9)]
    small = word.lower()
    keywords = {small if word == "a" else f"{small}{n}": 3 for n in range(50)}
    tables = NOBODY | {"keywords": keywords | {"a": 2}}
    pairs = pairwise([*keywords] * 2)
    tables |= {"ngrams-2": {f"{one} {other}": 1 for one, other in pairs}}
    tables |= {"ngrams-3": {"a b c": 1}}
    with DuckDB(memory="1GB", threads=1) as engine:
        path = write(tmp_path / "log.parquet", rows)
        source = open_log(z.read_log(path, cleaning=unlimited), engine)
        for name in NAMES:
            began = time.process_time()
            bound = 1 if name in FACTS else 5
            found = counted(source, name, tables, bound=bound)
            assert time.process_time() - began < 10
            assert found, name
            assert found.total() <= 2 * bound


def test_a_very_long_word(engine: DuckDB, tmp_path: Path) -> None:
    long = "x" * 2000
    source = opened(engine, tmp_path, [Entry("u", f"{long} {long} a", 0)])
    tables = NOBODY | {"keywords": {long: 2, "a": 2}, "ngrams-2": {f"{long} a": 1}}
    assert counted(source, "ngrams-2", tables) == {f"{long} {long}": 1, f"{long} a": 1}
    assert counted(source, "prefixes-1", tables) == {long: 1}
    assert counted(source, "with-keywords", tables) == {"yes": 1}


# What is refused


def test_what_is_no_such_kind() -> None:
    with pytest.raises(UsageError, match="lengths are of one query of each user"):
        Lengths(items_per_user=2)
    with pytest.raises(UsageError, match=r"by does not go with tail"):
        Lengths(items_per_user=1, by="country")
    with pytest.raises(UsageError, match="phrases of one word are keywords"):
        Ngrams(size=1, items_per_user=2)
    for kind in (Ngrams, Prefixes):
        with pytest.raises(UsageError, match="phrases have up to 3 words"):
            kind(size=4, items_per_user=2)
        with pytest.raises(UsageError, match="the size of phrases"):
            kind(size=0, items_per_user=2)


@pytest.mark.parametrize("name", NAMES)
def test_before_anything_is_published(name: str, source: Source) -> None:
    with pytest.raises(UsageError, match="publish those"):
        KINDS[name].steps(source)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_with_lists_of_keywords(name: str) -> None:
    with pytest.raises(UsageError, match=r"leave out columns=z.Columns.keywords"):
        KINDS[name].check(["user", "query", "time", "keywords"])
    with pytest.raises(UsageError, match="need a column with the query"):
        KINDS[name].check(["user", "time"])


def test_queries_and_keywords_must_be_plain() -> None:
    """Else what is rare, and what is made of what, would mean something else."""
    goal = z.ProbabilisticDP(epsilon=1, delta="1e-6", users=1000)
    queries, keywords = z.queries(5), z.keywords(5)
    for name, kind in KINDS.items():
        size = int(name[-1]) - name.startswith("ngrams") if name not in FACTS else 0
        made_of = [KINDS[f"ngrams-{smaller}"] for smaller in range(2, size + 1)]
        assert z.plan(goal, [queries, keywords, *made_of, kind])
        for wrong in (z.queries(5, fold_words=True), z.queries(5, by="country")):
            with pytest.raises(UsageError, match=r"tail goes with neither by nor fold_words=True"):
                z.plan(goal, [wrong, keywords, *made_of, kind])
        with pytest.raises(UsageError, match=f"{name} are to be published after queries"):
            z.plan(goal, [keywords, kind])
    with pytest.raises(UsageError, match=r"tail goes with neither"):
        z.plan(goal, [queries, z.keywords(5, by="country"), KINDS["with-keywords"]])
    with pytest.raises(UsageError, match="are to be published after ngrams-2"):
        z.plan(goal, [queries, keywords, KINDS["ngrams-3"]])
