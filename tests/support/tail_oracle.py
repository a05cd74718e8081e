"""A second implementation of what is told of rare queries, in plain Python; and logs to try it on.

It takes from the package what a kind is called and how many things count, and nothing else.
"""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from wide_oracle import ODD, anything, asked, seen, words_of

BEGIN = datetime(2026, 3, 1, 22, 30)
Tables = Mapping[str, Mapping[str, int]]  # by name of table: item and published count
NAMES = (
    "ngrams-2",
    "ngrams-3",
    "prefixes-1",
    "prefixes-2",
    "prefixes-3",
    "lengths",
    "questions",
    "scripts",
    "hours",
    "with-keywords",
)
FACTS = NAMES[5:]
QUESTIONS = """
    who what when where why which whose whom how is are am was were do does did can could should
    would will may has have had
""".split()  # noqa: SIM905
# What the letters of a script are called, and those that are too odd to be counted to it.
LETTERS = {
    "latin": ("LATIN", "FULLWIDTH LATIN", "FEMININE ORDINAL", "MASCULINE ORDINAL"),
    "greek": ("GREEK",),
    "cyrillic": ("CYRILLIC", "MODIFIER LETTER CYRILLIC"),
    "hebrew": ("HEBREW",),
    "arabic": ("ARABIC",),
    "devanagari": ("DEVANAGARI",),
    "thai": ("THAI",),
    "hangul": ("HANGUL", "HALFWIDTH HANGUL"),
    "chinese": ("CJK UNIFIED", "CJK COMPATIBILITY"),
    "japanese": ("HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA"),
}
# Phonetic and mathematical letters, letters of old manuscripts, and what is newer than Unicode 13.
ODDITIES = [
    (0x0870, 0x089F),
    (0x08C8, 0x08C9),
    (0x1D00, 0x1DBF),
    (0x2090, 0x209C),
    (0x2184, 0x2184),
    (0x2C60, 0x2C7F),
    (0xA720, 0xA7FF),
    (0xA8F2, 0xA8FE),
    (0xAB30, 0xAB68),
    (0xFFA0, 0xFFA0),
    (0x10780, 0x107BA),
    (0x1AFF0, 0x1B167),
    (0x1DF00, 0x1DF2A),
    (0x1EE00, 0x1EEBB),
    (0x2EBF0, 0x323AF),
]


class Entry(NamedTuple):
    user: str
    query: str | None
    time: int | None = None  # seconds after BEGIN


def write(path: Path, entries: Sequence[Entry], *, timed: bool = True) -> Path:
    table = {
        "user": pa.array([each.user for each in entries], pa.string()),
        "query": pa.array([each.query for each in entries], pa.string()),
    }
    if timed:
        times = [None if e.time is None else BEGIN + timedelta(seconds=e.time) for e in entries]
        table["time"] = pa.array(times, pa.timestamp("us"))
    pq.write_table(pa.table(table), path)
    return path


def as_arrow(tables: Tables) -> dict[str, pa.Table]:
    """As `Kind.after` is given them."""
    columns = {"queries": "query", "keywords": "keyword"}
    return {
        name: pa.table(
            {
                columns.get(name, "phrase"): pa.array(each, pa.string()),
                "count": pa.array(each.values(), pa.int64()),
            }
        )
        for name, each in tables.items()
    }


def split(text: str) -> list[str]:
    return [word for word in words_of(text) if word]


def script_of(letter: str) -> str | None:
    """The script of one character; None for what is no letter."""
    if unicodedata.category(letter)[0] != "L":
        return None
    if not any(low <= ord(letter) <= high for low, high in ODDITIES):
        name = unicodedata.name(letter, "")  # none for a letter of Tangut
        for script, begins in LETTERS.items():
            if name.startswith(begins):
                return script
    return "other"


def fact(name: str, query: str, time: int | None, tables: Tables) -> str | None:
    words = split(query)
    if name == "lengths":
        return str(len(words)) if len(words) < 10 else "10+"
    if name == "questions":
        begins = len(words) > 1 and words[0] in QUESTIONS
        return "yes" if begins or any(mark in query for mark in "?؟？\u037e") else "no"
    if name == "scripts":
        found = {script_of(each) for each in query} - {None}
        if "japanese" in found:
            found -= {"chinese"}
        known = found - {"other"}
        return "mixed" if len(known) > 1 else next(iter(known or found or {"none"}))
    if name == "hours":
        return None if time is None else str((BEGIN + timedelta(seconds=time)).hour)
    return "yes" if set(words) & set(tables["keywords"]) else "no"


def phrases(name: str, words: Sequence[str], tables: Tables) -> Iterator[tuple[str, ...]]:
    """N-grams that can be published, or the beginning."""
    size = int(name[-1])
    if name.startswith("prefixes"):
        if len(words) >= size:
            yield tuple(words[:size])
        return
    for start in range(len(words) - size + 1):
        phrase = tuple(words[start : start + size])
        pairs = [" ".join(each) for each in (phrase[:2], phrase[1:])] if size == 3 else []
        if {*phrase} <= tables["keywords"].keys() and all(p in tables["ngrams-2"] for p in pairs):
            yield phrase


def coded(phrase: tuple[str, ...], tables: Tables) -> tuple[str, str]:
    """Published words by their place among them; then pairs of words by theirs."""
    places = {word: place for place, word in enumerate(sorted(tables["keywords"]))}
    first, *rest = (places[word] for word in phrase)
    for number, last in enumerate(rest, 2):
        if number == len(phrase):
            return str(first), str(last)
        pairs = sorted(tuple(places[w] for w in each.split(" ")) for each in tables["ngrams-2"])
        first = pairs.index((first, last))
    raise AssertionError


class Had(NamedTuple):
    """What a user can count with: an item, what is ranked, its worth, and when she had it."""

    item: str
    ranked: tuple[str, ...]
    worth: int
    times: list[int | None]


def had(name: str, entries: Sequence[Entry], tables: Tables) -> dict[str, list[Had]]:
    """By user."""
    found: dict[str, dict[Any, Had]] = defaultdict(dict)
    for user, text, time in entries:
        query = asked(text)
        if not seen(user) or query is None or query in tables["queries"]:
            continue
        held: list[tuple[str, tuple[str, ...], int]] = []
        if name in FACTS:
            value = fact(name, query, time, tables)
            held = [(value, (query, value), 0)] if value is not None else []
        for phrase in phrases(name, split(query), tables) if name not in FACTS else ():
            item = " ".join(phrase)
            if name == "ngrams-2":
                worth = min(tables["keywords"][word] for word in phrase)
                held.append((item, coded(phrase, tables), worth))
            elif name == "ngrams-3":
                parts = (" ".join(each) for each in (phrase[:2], phrase[1:]))
                worth = min(tables["ngrams-2"][part] for part in parts)
                held.append((item, coded(phrase, tables), worth))
            else:
                held.append((item, (item,), 0))
        for item, ranked, worth in held:
            new = Had(item, ranked, worth, [])
            found[user].setdefault(ranked, new).times.append(time)
    return {user: list(each.values()) for user, each in found.items()}


def expected(
    name: str,
    entries: Sequence[Entry],
    tables: Tables,
    *,
    bound: int,
    select: str = "random",
    key: int = 0,
    listed: bool = False,
) -> Counter[str]:
    """Users per item; `listed` leaves aside prefixes that are nowhere published."""
    counts: Counter[str] = Counter()
    source = "keywords" if name == "prefixes-1" else f"ngrams-{name[-1]}"
    for user, items in had(name, entries, tables).items():

        def order(one: Had, user: str = user) -> tuple[Any, ...]:
            rank = hashlib.md5("|".join([str(key), user, *one.ranked]).encode()).hexdigest()
            first = min((time for time in one.times if time is not None), default=10**9)
            rule = {"first": first, "frequent": -len(one.times)}
            chosen = 0 if name.startswith("ngrams") else rule.get(select, 0)
            return (-one.worth, chosen, rank)

        if listed and name.startswith("prefixes"):
            items = [each for each in items if each.item in tables[source]]
        counts.update(each.item for each in sorted(items, key=order)[:bound])
    return counts


WORDS = ["a", "b", "c", "d", "A", "who", "how", "is", "é", "Ω", "語", "ก", "7", "c++", "o'b", "か"]
query = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.lists(st.sampled_from(WORDS[:3]), min_size=2, max_size=12).map(" ".join),
    st.lists(st.sampled_from(WORDS[:4]), max_size=4).map("  ".join),
    st.text(st.sampled_from(f"{ODD}?;؟？-.!'ab ") | anything, max_size=6),
    st.sampled_from(["", " ", "?", "what", "what's up", '"how to" x', "b a?", "日本 x", "かな 語"]),
    st.none(),
)


def many(number: int = 400) -> list[Entry]:
    """The histories of many people, each made by hypothesis: one statement looks at all."""
    found: list[Entry] = []
    times = st.none() | st.integers(0, 3 * 86_400)

    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.tuples(query, times), max_size=9), st.booleans())
    def collect(history: list[tuple[str | None, int | None]], twice: bool) -> None:
        user = f"u{len(found)}"
        found.extend(Entry(user, *each) for each in history + history[: 2 * twice])

    collect()
    found += [Entry("", "a b", 5), Entry(" ", "b c", 5), Entry("\t", "c d", None)]
    assert len(found) > 2 * number
    return found


def published(entries: Sequence[Entry], seed: int) -> dict[str, dict[str, int]]:
    """Some of what people asked, some of it that nobody did, with counts as noise leaves them."""
    chance = random.Random(seed)
    queries = sorted({query for each in entries if (query := asked(each.query))})
    words = sorted({word for query in queries for word in split(query)})

    def some(items: list[str], share: float) -> dict[str, int]:
        return {each: chance.randint(-3, 6) for each in items if chance.random() < share}

    tables = {"queries": some([*queries, "of nobody"], 0.2), "keywords": some(words, 0.3)}
    tables["keywords"] |= {word: chance.randint(1, 6) for word in ("a", "b", "c", "nobody")}
    pairs = [f"{one} {other}" for one in tables["keywords"] for other in tables["keywords"]]
    frequent = {f"{one} {other}": chance.randint(1, 6) for one in "abc" for other in "ab"}
    tables["ngrams-2"] = some(pairs, 0.1) | frequent
    triples = [f"{pair} {word}" for pair in frequent for word in "abc"]
    tables["ngrams-3"] = some(triples, 0.5) | {"a b nobody": 3}
    return tables
