"""A person who writes as much as she can does not decide whether a release is there.

Each log is an ordinary one with the lines of one more person, who wants the run to fail for want of
memory. The small ones run always; those of a gigabyte are marked `soak`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind

GOAL = z.Indistinguishability(epsilon=10, delta="1e-6", neighbors="add-remove")
BYTES, SMALL = 10**9, 4 * 10**7
QUERIES, KEYWORDS = z.queries(items_per_user=2), z.keywords(items_per_user=2)
KINDS: dict[str, list[Kind]] = {
    "queries": [QUERIES],
    "rounds": [QUERIES],
    "sessions": [QUERIES],
    "query-pairs": [z.query_pairs(items_per_user=2)],
    "phrase-pairs": [z.phrase_pairs(items_per_user=2)],
    "keywords": [KEYWORDS],
    "tail": [QUERIES, KEYWORDS, *z.tail(items_per_user=2)],
    "sets": z.itemsets("query", max_size=2, items_per_user=2, basket="time"),
}


def huge(chance: random.Random) -> str:
    del chance
    return "x " * 499_000


def just_under(chance: random.Random) -> str:
    return chance.randbytes(2040).hex()


def many_words(chance: random.Random) -> str:
    return " ".join(chance.choices("abcdefgh", k=2000))


def tiny(chance: random.Random) -> str:
    return f"{chance.randrange(10**8)}"


def the_same(chance: random.Random) -> str:
    del chance
    return "one query"


HOSTILE: list[Callable[[random.Random], str]] = [huge, just_under, many_words, tiny, the_same]


def lines(text: Callable[[random.Random], str], size: int) -> Iterator[str]:
    """Ordinary ones, and so many bytes by one person."""
    for n in range(3_000):
        asked = ("red tea", "green tea", "red hat")[n % 3]
        yield f"u{n // 3},{asked},2026-01-01 10:00:{n % 3:02}\n"
    chance, written, number = random.Random(1), 0, 0
    while written < size:
        line = f"mallory,{text(chance)},2026-01-01 10:{number // 60 % 60:02}:{number % 60:02}\n"
        yield line
        written += len(line)
        number += 1


def published(folder: Path, text: Callable[[random.Random], str], name: str, size: int) -> bool:
    path = folder / "log.csv"
    with path.open("w") as file:
        file.write("user,query,time\n")
        file.writelines(lines(text, size))
    with DuckDB(memory="1GB", threads=2, temporary=folder) as engine:
        release = z.publish(
            z.read_log(path),
            replace(GOAL, unit="session" if name == "sessions" else "user"),
            KINDS[name],
            account=None,
            engine=engine,
            mechanism="rounds" if name == "rounds" else None,
        )
    return len(next(iter(release.tables.values()))) >= 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("phrase-pairs", huge),
        *(("phrase-pairs", text) for text in (just_under, many_words)),
        *((name, just_under) for name in ("query-pairs", "sessions", "rounds", "sets")),
        ("tail", many_words),
    ],
)
def test_one_person_does_not_stop_a_run(
    text: Callable[[random.Random], str], name: str, tmp_path: Path
) -> None:
    assert published(tmp_path, text, name, SMALL // 4 if name == "tail" else SMALL)


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_one_person_with_a_gigabyte_does_not_stop_a_run(
    text: Callable[[random.Random], str], name: str, tmp_path: Path
) -> None:
    assert published(tmp_path, text, name, BYTES)
