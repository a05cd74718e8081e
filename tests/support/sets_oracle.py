"""Sets and sequences once more, short and slow: all that could be is tried one by one.

It shares no code with the pipeline. A published table is a dict from things to a count; names are
in the order of their code points.
"""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from oracle import tidy as tidied

Names = tuple[str, ...]
Published = dict[Names, int]  # of one size
MAX_CANDIDATES = 1 << 23
tidy = cache(tidied)
LARGE = 500  # sequences of baskets that follow each other, at most


# What can be made of what was published


def parts(family: str, item: Names) -> list[Names]:
    """What must have been published of it: those of one thing less."""
    if family == "sequences":
        return [item[:-1], item[1:]]
    return list(combinations(item, len(item) - 1))


def makers(family: str, item: Names) -> tuple[Names, Names]:
    """The two of one thing less that make it."""
    return item[:-1], item[1:] if family == "sequences" else (*item[:-2], item[-1])


def possible(family: str, names: Iterable[str], size: int) -> list[Names]:
    if family == "sequences":
        return list(product(sorted(names), repeat=size))
    return list(combinations(sorted(names), size))


def looked_at(family: str, top: Published, wider: list[Names], most: int) -> set[Names]:
    """Those of the largest counts, as many as make no more than `most`."""
    order = sorted(top, key=lambda item: (-top[item], item))
    for number in range(len(order), 0, -1):
        kept = set(order[:number])
        if sum(kept.issuperset(makers(family, item)) for item in wider) <= most:
            return kept
    return set()


def candidates(family: str, levels: Sequence[Published], most: int = MAX_CANDIDATES) -> Published:
    """Each that is one thing larger than the last level, with the least count of its parts."""
    names, top = [name for (name,) in levels[0]], levels[-1]
    wider = possible(family, names, len(levels) + 1)
    kept = looked_at(family, top, wider, most)
    found = {}
    for item in wider:
        of = parts(family, item)
        if kept.issuperset(makers(family, item)) and all(part in top for part in of):
            found[item] = min(top[part] for part in of)
    return found


def table(published: Published, size: int) -> pa.Table:
    """As it is released."""
    columns = {
        f"item_{n + 1}": pa.array([i[n] for i in published], pa.string()) for n in range(size)
    }
    return pa.table({**columns, "count": pa.array(published.values(), pa.int64())})


def released(
    chance: random.Random, family: str, names: Iterable[str], largest: int, share: float = 0.97
) -> list[Published]:
    """Tables of sizes 1, 2, ...: at each size most of what there could be, with any counts."""
    levels: list[Published] = [{(name,): chance.randint(-3, 9) for name in names}]
    while len(levels) < largest:
        wider = candidates(family, levels)
        levels.append({i: chance.randint(-3, 9) for i in wider if chance.random() < share})
    return levels


# Who counts for what


class Row(NamedTuple):
    user: str
    things: tuple[str | None, ...]
    basket: str | None = None
    time: int | None = None


# As they stand in a table: some are the same thing, some are none.
WRITTEN = [
    "tea", " tea", "Tea", "a  b", "a\tb", "é", "日本", "x, y", "7", "10", '"q"', "p + q", "m|n",
    "\ufb01", "\U00010400", "?", "-", "", " ", "\u3000", "...", None,
]  # fmt: skip
NAMES = [
    "tea",
    "Tea",
    "a b",
    "é",
    "日本",
    "x, y",
    "7",
    "10",
    '"q"',
    "p + q",
    "m|n",
    "nobody's",
    "\ufb01",
    "\U00010400",
]
BASKETS = ["7", "12", "007", "7.0", "100", "99999999999999999999999", "0", "A 1", " A  1", "B", "é",
           "7.5", "\u0667", "-", "", " ", None]  # fmt: skip


def people(chance: random.Random, columns: int, users: int = 30) -> list[Row]:
    """Small and large histories, of few and of many things."""
    rows = []
    for user in range(users):
        few = chance.sample(WRITTEN, chance.choice([2, 6, len(WRITTEN)]))
        baskets = chance.sample(BASKETS, chance.choice([1, 1, 2, 5, len(BASKETS)]))
        for _ in range(chance.choice([1, 5, 20, 40, 60])):
            things = tuple(chance.choice(few) for _ in range(columns))
            time = chance.choice([None, *range(8)])
            rows.append(Row(f"u{user}", things, chance.choice(baskets), time))
    return [*rows, Row(" ", ("tea",) * columns, "7", 1), Row("", ("7",) * columns, "7", 1)]


def write(path: Path, rows: Sequence[Row]) -> Path:
    columns = len(rows[0].things) if rows else 1
    things = {
        f"thing_{n}": pa.array([row.things[n] for row in rows], pa.string()) for n in range(columns)
    }
    moments = [None if row.time is None else row.time * 10**6 for row in rows]
    table = {
        "user": pa.array([row.user for row in rows], pa.string()),
        **things,
        "basket": pa.array([row.basket for row in rows], pa.string()),
        "when": pa.array(moments, pa.timestamp("us")),
    }
    pq.write_table(pa.table(table), path)
    return path


def visible(text: str | None) -> bool:
    return text is not None and bool(tidy(text))


def is_thing(text: str | None) -> bool:
    return any(unicodedata.category(c)[0] in "LN" for c in text or "")


def number(basket: str) -> tuple[bool, int]:
    digits = basket.removesuffix(".0")
    known = bool(digits) and set(digits) <= set("0123456789")
    return not known, int(digits) if known else 0


def histories(
    family: str, rows: Iterable[Row], *, basket: bool, timed: bool
) -> dict[str, list[set[str]]]:
    """The baskets of each person, in their order."""
    held: dict[str, dict[object, set[str]]] = defaultdict(lambda: defaultdict(set))
    since: dict[tuple[str, object], int] = {}
    for row in rows:
        things = {tidy(each) for each in row.things if each is not None and is_thing(each)}
        if not visible(row.user) or not things or (basket and not visible(row.basket)):
            continue
        if family == "sequences" and timed and row.time is None:
            continue
        own = tidy(row.basket or "") if basket else row.time if family == "sequences" else None
        held[row.user][own] |= things
        if row.time is not None:
            since[row.user, own] = min(row.time, since.get((row.user, own), row.time))

    def order(user: str, name: object) -> tuple[object, ...]:
        if family == "itemsets" or not basket:
            return (name,)
        return (since[user, name] if timed else 0, *number(str(name)), name)

    return {
        user: [of[name] for name in sorted(of, key=partial(order, user))]
        for user, of in held.items()
    }


def counts(
    family: str,
    people: Mapping[str, Sequence[set[str]]],
    levels: Sequence[Published],
    *,
    size: int,
    things: int,
    m: int,
    key: int,
) -> Counter[Names]:
    """How many people count for each.

    Args:
        family: What is counted.
        people: Their baskets.
        levels: What was published of smaller sizes.
        size: Of what is counted.
        things: With how many of her things a person counts.
        m: The most that she counts for.
        key: Of the random order, which breaks ties.
    """
    known = {name: count for (name,), count in levels[0].items()}
    worth = candidates(family, levels[: size - 1]) if size > 1 else levels[0]
    code = {name: place for place, name in enumerate(sorted(known))}
    places = {item: place for place, item in enumerate(sorted(levels[max(size - 2, 0)]))}
    found: Counter[Names] = Counter()
    for user, baskets in people.items():
        own = sorted(known.keys() & set().union(*baskets), key=lambda name: (-known[name], name))
        held = joined(family, [[n for n in own[:things] if n in each] for each in baskets], size)

        def rank(item: Names, user: str = user) -> tuple[object, ...]:
            two = places.get(item[:-1], 0), code[item[-1]]
            text = "|".join(map(str, (key, user, *two)))
            return (-worth[item], hashlib.md5(text.encode()).hexdigest(), two)

        found.update(sorted((item for item in held if item in worth), key=rank)[:m])
    return found


def joined(family: str, baskets: Sequence[Sequence[str]], size: int) -> set[Names]:
    """All of one size that somebody has; her things are in the order of their counts."""
    if family == "itemsets" or size == 1:
        return {item for each in baskets for item in combinations(sorted(each), size)}
    most = max(most for most in range(1, LARGE + 1) if most**size <= LARGE)
    few = [each[:most] for each in baskets]
    following = (few[first : first + size] for first in range(len(few) - size + 1))
    return {item for each in following for item in product(*each)}
