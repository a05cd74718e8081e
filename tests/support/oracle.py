"""A second implementation, short and slow: items, bounding and counting in plain Python.

It shares no code with the pipeline. The rank key is md5, which both sides can compute.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Item = tuple[str, ...]


class Entry(NamedTuple):
    user: str
    query: str
    time: int | None  # seconds
    urls: tuple[str, ...] = ()


def md5_rank(key: int, columns: Sequence[str]) -> str:
    """SQL, in place of DuckDB.rank_key."""
    quoted = ", ".join(f'"{column}"' for column in columns)
    return f"md5(concat_ws('|', '{key}', {quoted}))"


def md5_place(rank: str) -> str:
    """SQL, in place of DuckDB.rank_bin: the first of its hexadecimal digits."""
    return f"(instr('0123456789abcdef', substr({rank}, 1, 1)) - 1)::tinyint"


def normal(text: str) -> str:
    blank = lambda c: unicodedata.category(c)[0] == "Z" or unicodedata.category(c) == "Cc"  # noqa: E731
    return " ".join("".join(" " if blank(c) else c for c in text).split(" ")).strip()


def tidy(text: str) -> str:
    return re.sub(" +", " ", normal(text))


def words(text: str) -> list[str]:
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text.lower())
    return kept.split(" ")


def asked(entry: Entry) -> str:
    has_word = any(unicodedata.category(c)[0] in "LN" for c in entry.query)
    return tidy(entry.query).lower() if has_word else ""


def occurrences(
    kind: str, entries: Iterable[Entry], gap: int = 30 * 60
) -> list[tuple[str, Item, int | None]]:
    found: list[tuple[str, Item, int | None]] = []
    known = [entry for entry in entries if entry.user.strip(" ")]
    if kind == "query-pairs":
        histories = defaultdict(list)
        for entry in known:
            if entry.time is not None and asked(entry):
                histories[entry.user].append((entry.time, asked(entry)))
        for user, history in histories.items():
            history.sort()
            for (before, query), (time, following) in pairwise(history):
                if query != following and time - before <= gap:
                    found.append((user, (query, following), time))
        return found
    for entry in known:
        items: list[Item]
        if kind == "queries":
            items = [(asked(entry),)]
        elif kind == "keywords":
            items = [(word,) for word in words(entry.query)]
        elif kind == "clicks":
            items = [(tidy(url),) for url in entry.urls]
        else:
            items = [(asked(entry), tidy(url)) for url in entry.urls]
        found += [(entry.user, item, entry.time) for item in items if all(item)]
    return found


def histogram(kind: str, entries: Iterable[Entry], m: int, select: str, key: int) -> Counter[Item]:
    held: dict[str, dict[Item, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for user, item, time in occurrences(kind, entries):
        held[user][item].append(time)
    counts: Counter[Item] = Counter()
    for user, items in held.items():

        def order(item: Item, user: str = user, items: Any = items) -> tuple[object, ...]:
            rank = hashlib.md5("|".join([str(key), user, *item]).encode()).hexdigest()
            times = [time for time in items[item] if time is not None]
            first = {"first": min(times, default=10**18), "frequent": -len(items[item])}
            return (first.get(select, 0), rank, item)

        counts.update(sorted(items, key=order)[:m])
    return counts
