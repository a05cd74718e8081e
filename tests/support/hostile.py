"""Logs with the lines of one more person, who wants a run to fail for want of memory."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow.csv
import pyarrow.parquet as pq

import zealous as z
from zealous.engines.engine import Engine
from zealous.items import Kind
from zealous.privacy.guarantee import Unit

GOAL = z.Indistinguishability(epsilon=10, delta="1e-6", neighbors="add-remove")
SMALL = 10**7
# More than the working memory that `--memory 1GB` leaves, once lines are texts in a table.
LARGE = 4 * 10**8
BLOCK = 10**6  # bytes of lines, which are written again and again with another number
NAMES = ["user", "query", "time"]
QUERIES, KEYWORDS = z.queries(items_per_user=2), z.keywords(items_per_user=2)
Text = Callable[[random.Random], str]


class Case(NamedTuple):
    """What is published.

    Attributes:
        kinds: The items.
        mechanism: Its name; None for the default.
        unit: Whose entries are protected together.
    """

    kinds: list[Kind]
    mechanism: str | None = None
    unit: Unit = "user"


CASES = {
    "queries": Case([QUERIES]),
    "gaussian": Case([QUERIES], "gaussian"),
    "pooled": Case([QUERIES], "pooled"),
    "sessions": Case([QUERIES], unit="session"),
    "query-pairs": Case([z.query_pairs(items_per_user=2)]),
    "phrase-pairs": Case([z.phrase_pairs(items_per_user=2)]),
    "keywords": Case([KEYWORDS]),
    "columns": Case([z.columns("query", items_per_user=2)]),
    "tail": Case([QUERIES, KEYWORDS, *z.tail(items_per_user=2)]),
    "sets": Case(z.itemsets("query", max_size=2, items_per_user=2, basket="time")),
    "sequences": Case(z.sequences("query", max_size=2, items_per_user=2)),
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


def published(path: Path, text: Text, name: str, size: int, engine: Engine) -> bool:
    """Whether ordinary people's items are in a release of a log with so many bytes by another."""
    write(path, text, size)
    case = CASES[name]
    log = z.read_log(
        path,
        columns=z.Columns(user="user", query="query", time="time"),
        engine=engine if isinstance(engine, z.Spark) else None,
    )
    goal = replace(GOAL, unit=case.unit)
    release = z.publish(
        log, goal, case.kinds, account=None, engine=engine, mechanism=case.mechanism
    )
    path.unlink()  # pytest keeps the folders of some runs
    return len(next(iter(release.tables.values()))) >= 1
