"""A person who writes as much as she can does not decide whether a release is there.

Each log is an ordinary one with the lines of one more person, who wants the run to fail for want of
memory. The small ones run always; those of a gigabyte are marked `soak`.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.items import Kind

GOAL = z.Indistinguishability(epsilon=10, delta="1e-6", neighbors="add-remove")
BYTES, SMALL = 10**9, 10**7
BLOCK = 10**6  # bytes of lines, which are written again and again with another number
NAMES = ["user", "query", "time"]
QUERIES, KEYWORDS = z.queries(items_per_user=2), z.keywords(items_per_user=2)
Text = Callable[[random.Random], str]
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
    return f"{chance.randbytes(2040).hex()}#"


def many_words(chance: random.Random) -> str:
    return f"{' '.join(chance.choices('abcdefgh', k=2000))}#"


def tiny(chance: random.Random) -> str:
    return f"{chance.randrange(10**4)}#"


def at_all_times(chance: random.Random) -> str:
    return tiny(chance)


def in_all_years(chance: random.Random) -> str:
    return tiny(chance)


def the_same(chance: random.Random) -> str:
    del chance
    return "one query"


HOSTILE: list[Text] = [huge, just_under, many_words, tiny, at_all_times, in_all_years, the_same]


def ordinary() -> Iterator[list[str]]:
    for n in range(3_000):
        asked = ("red tea", "green tea", "red hat")[n % 3]
        yield [f"u{n // 3}", asked, f"2026-01-01 10:00:{n % 3:02}"]


def one_person(text: Text) -> Iterator[list[str]]:
    """About BLOCK bytes of lines; their # are another number in each block."""
    chance, written = random.Random(1), 0
    while written < BLOCK:
        time = f"2026-01-01 10:{written // 60 % 60:02}:{written % 60:02}"
        if text is at_all_times:
            time = f"2026-01-{written % 28 + 1:02}{time[10:]}.#{written % 97:02}"
        if text is in_all_years:
            time = f"{written % 8999 + 1000}-{written % 12 + 1:02}-{time[8:]}.#"
        row = ["mallory", text(chance), time]
        yield row
        written += len(",".join(row)) + 1


def as_lines(rows: Iterator[list[str]], suffix: str) -> str:
    if suffix == "jsonl":
        written = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows)
    else:
        written = ("\t".join(row) if suffix == "tsv" else ",".join(row) for row in rows)
    return "".join(f"{line}\n" for line in written)


def blocks(text: Text, size: int, suffix: str) -> Iterator[str]:
    """Ordinary lines, and so many bytes by one person."""
    yield as_lines(ordinary(), suffix)
    block = as_lines(one_person(text), suffix)
    for number in range(size // len(block) + 1 if size else 0):
        yield block.replace("#", f"{number:04}")


def write(path: Path, text: Text, size: int) -> None:
    suffix = path.suffix.removeprefix(".")
    if suffix == "parquet":
        options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pyarrow.string()))
        read = pyarrow.csv.ReadOptions(column_names=NAMES, block_size=4 * BLOCK)
        schema = pyarrow.schema([(name, pyarrow.string()) for name in NAMES])
        with pq.ParquetWriter(path, schema) as writer:
            for block in blocks(text, size, "csv"):
                source = io.BytesIO(block.encode())
                writer.write_table(pyarrow.csv.read_csv(source, read, convert_options=options))
        return
    with path.open("w") as file:
        if suffix != "jsonl":
            file.write(("\t" if suffix == "tsv" else ",").join(NAMES) + "\n")
        file.writelines(blocks(text, size, suffix))


def published(path: Path, text: Text, name: str, size: int) -> bool:
    write(path, text, size)
    with DuckDB(memory="1GB", threads=2, temporary=path.parent) as engine:
        release = z.publish(
            z.read_log(path, columns=z.Columns(user="user", query="query", time="time")),
            replace(GOAL, unit="session" if name == "sessions" else "user"),
            KINDS[name],
            account=None,
            engine=engine,
            mechanism="rounds" if name == "rounds" else None,
        )
    path.unlink()  # pytest keeps the folders of some runs
    return len(next(iter(release.tables.values()))) >= 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("phrase-pairs", huge),
        *(("phrase-pairs", text) for text in (just_under, many_words)),
        *((name, just_under) for name in ("query-pairs", "sessions", "rounds", "sets")),
        ("tail", many_words),
        ("sessions", at_all_times),
        ("sessions", in_all_years),
    ],
)
def test_one_person_does_not_stop_a_run(text: Text, name: str, tmp_path: Path) -> None:
    size = SMALL // 4 if name == "tail" or text in (at_all_times, in_all_years) else SMALL
    assert published(tmp_path / "log.csv", text, name, size)


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "parquet"])
def test_one_person_does_not_stop_a_run_in_other_formats(suffix: str, tmp_path: Path) -> None:
    assert published(tmp_path / f"log.{suffix}", just_under, "queries", SMALL // 4)


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_one_person_with_a_gigabyte_of_parquet_does_not_stop_a_run(
    text: Text, name: str, tmp_path: Path
) -> None:
    assert published(tmp_path / "log.parquet", text, name, BYTES)


@pytest.mark.soak
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["query-pairs", "sessions"])
def test_one_person_with_a_gigabyte_of_lines_does_not_stop_a_run(
    name: str, text: Text, suffix: str, tmp_path: Path
) -> None:
    """Lines are staged as Parquet, whatever is then counted."""
    assert published(tmp_path / f"log.{suffix}", text, name, BYTES)
