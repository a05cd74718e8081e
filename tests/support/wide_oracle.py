"""A second implementation of every kind of items, and logs to try it on.

It takes from the package what a kind is called, and nothing else.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import strategies as st

from zealous.items import Kind

GAP = 30 * 60
Item = tuple[str, ...]


class Entry(NamedTuple):
    user: str
    query: str | None
    time: int | None  # seconds after BEGIN
    urls: list[str | None] | None
    session: str | None
    country: str | None
    keywords: list[str | None] | None


# The same words over and over, so that people share items; and any character that there is.
ODD = "ΣσςİIıJÌßẞǅﬀ é\u0301١日ก\u0e33🙂\U00010570-'\"=\\%_$"
ODD += "\t\n\0\x1f\x7f\u0085\u00a0\u200b\u2028\u3000"
anything = st.characters(exclude_categories=("Cs", "Cn"))
text = st.one_of(
    st.sampled_from(
        ["a", "b", "a b", "b a", "A  B", " a", "Σας ΣΑΣ", "", " ", "\u00a0", "c-a b", "?"]
    ),
    st.lists(st.sampled_from(["a", "b", "c", "D"]), max_size=5).map(" ".join),
    st.text(st.sampled_from(ODD) | anything, max_size=5),
)
maybe = st.one_of(text, text, text, st.none())
logs = st.lists(
    st.builds(
        Entry,
        user=st.sampled_from([*"uuuuuuvvv", " v", "U", "\u00a0u\u00a0", "\tu", "7", "", " ", "\0"]),
        query=maybe,
        time=st.sampled_from([None, *range(0, 4801, 600)]),
        urls=st.none() | st.lists(maybe, max_size=3),
        session=st.sampled_from([*"sssst", None, "", " ", "\u3000"]),
        country=st.sampled_from(["uk", "uk", "uk", "de ", " de", "", "\t", None]),
        keywords=st.none() | st.lists(maybe, max_size=3),
    ),
    min_size=6,
    max_size=12,
)


def is_blank(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "Z" or category == "Cc"


def seen(text: str | None) -> bool:
    return text is not None and not all(map(is_blank, text))


def tidied(text: str) -> str:
    return " ".join("".join(" " if is_blank(c) else c for c in text).split())


def small(text: str) -> str:
    return "".join(c.lower()[0] for c in text)


def words_of(text: str) -> list[str]:
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in small(text))
    return "".join(kept).split(" ")


def asked(text: str | None, *, fold: bool = False) -> str | None:
    if not any(unicodedata.category(c)[0] in "LN" for c in text or ""):
        return None
    assert text is not None
    return " ".join(sorted({*words_of(text)} - {""})) if fold else small(tidied(text))


def known(entries: list[Entry]) -> list[Entry]:
    """Those of somebody, by the name that an engine gives to her."""
    zs = "".join(chr(c) for c in range(0x3001) if unicodedata.category(chr(c)) == "Zs")
    return [each._replace(user=each.user.strip(zs)) for each in entries if seen(each.user)]


def cut(one: str, other: str) -> Item | None:
    before, after = ([w for w in words_of(text) if w] for text in (one, other))
    if before == after:
        return None
    most = min(len(before), len(after)) - 1
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if not head + tail:
        return one, other
    return tuple(" ".join(each[head : len(each) - tail]) for each in (before, after))


def pairs(kind: str, entries: list[Entry], *, session: bool, by: bool) -> Iterator[tuple[Any, ...]]:
    histories: dict[Any, list[tuple[int, str, str]]] = defaultdict(list)
    for each in entries:
        query = asked(each.query)
        if each.time is None or query is None or (session and not seen(each.session)):
            continue
        if by and not seen(each.country):
            continue
        key = (each.user, each.session if session else None)
        histories[key].append((each.time, query, tidied(each.country or "")))
    for (user, _), history in histories.items():
        for (before, one, _), (time, other, country) in pairwise(sorted(history)):
            if one == other or (not session and time - before > GAP):
                continue
            item = (one, other) if kind == "query-pairs" else cut(one, other)
            if item is not None:
                yield user, (*item, country) if by else item, time


def occurrences(
    kind: Kind, roles: Collection[str], entries: list[Entry]
) -> Iterator[tuple[Any, ...]]:
    name, by, fold = kind.name(), kind.by is not None, getattr(kind, "fold", False)
    if name in ("query-pairs", "phrase-pairs"):
        yield from pairs(name, entries, session="session" in roles, by=by)
        return
    for each in entries:
        urls = [tidied(url) for url in each.urls or [] if url is not None and seen(url)]
        query = asked(each.query, fold=fold)
        found: list[Item] = []
        if name == "queries":
            found = [(query,)] if query else []
        elif name == "keywords" and "keywords" in roles:
            found = [(small(tidied(word)),) for word in each.keywords or [] if word and seen(word)]
        elif name == "keywords":
            found = [(word,) for word in words_of(each.query or "") if word]
        elif name == "clicks":
            found = [(url,) for url in urls]
        elif name == "query-clicks":
            found = [(query, url) for url in urls if query]
        elif seen(each.session) and seen(each.country):  # columns:visit+country
            found = [(tidied(each.session or ""), tidied(each.country or ""))]
        for item in found:
            if not by:
                yield each.user, item, each.time
            elif seen(each.country):
                yield each.user, (*item, tidied(each.country or "")), each.time


def expected(
    kind: Kind, roles: Collection[str], entries: list[Entry], *, bound: int, select: str, key: int
) -> Counter[Item]:
    """What is counted; `roles` are those of the session and of lists of keywords, if any."""
    held: dict[str, dict[Item, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for user, item, time in occurrences(kind, roles, known(entries)):
        held[user][item].append(time)
    counts: Counter[Item] = Counter()
    for user, items in held.items():

        def order(item: Item, user: str = user, items: Any = items) -> tuple[Any, ...]:
            rank = hashlib.md5("|".join([str(key), user, *item]).encode()).hexdigest()
            first = min((time for time in items[item] if time is not None), default=10**9)
            rule = {"first": first, "frequent": -len(items[item])}
            return (rule.get(select, 0), rank, item)

        counts.update(sorted(items, key=order)[:bound])
    return counts
