"""Logs with the lines of one more person, who wants a run to fail for want of memory."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow.compute as pc
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
FULL = 10**9
BLOCK = 10**6  # bytes of lines, which are written again and again with another number
NAMES = ["user", "query", "time"]
QUERIES, KEYWORDS = z.queries(items_per_user=2), z.keywords(items_per_user=2)
ONE_OF_EACH, WORD = z.columns("query", items_per_user=1), z.keywords(items_per_user=1)
ADDRESSES, LISTS = z.Columns(url="query"), z.Columns(keywords="words")
ASKED = ("red tea", "green tea", "red hat")
LIST = "query\nred tea\ngreen tea\nblue tea\n"
DOCUMENTS = "query,url\nred tea,red tea\nred tea,red hat\ngreen tea,green tea\n"
Text = Callable[[random.Random], str]


class Case(NamedTuple):
    """What is published.

    Attributes:
        kinds: The items.
        mechanism: Its name, or that of a kind; None for the default.
        unit: Whose entries are protected together.
        columns: Other columns than those of the user, the query and the time.
        files: What is in each public file, by its option.
    """

    kinds: list[Kind]
    mechanism: str | Mapping[str, str] | None = None
    unit: Unit = "user"
    columns: z.Columns = z.Columns()
    files: Mapping[str, str] = MappingProxyType({})


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
    "clicks": Case([z.clicks(items_per_user=2)], columns=ADDRESSES),
    "query-clicks": Case([z.query_clicks(items_per_user=2)], columns=ADDRESSES),
    "listed-keywords": Case([KEYWORDS], columns=LISTS),
    "domain": Case([ONE_OF_EACH], files={"domain": LIST}),
    "prior": Case([QUERIES], files={"prior": LIST}),
    "results": Case(
        [QUERIES, z.query_clicks(items_per_user=2)],
        columns=ADDRESSES,
        files={"results": DOCUMENTS},
    ),
    "of-keywords": Case([KEYWORDS, QUERIES], {"queries": "of-keywords"}),
    "selection": Case([ONE_OF_EACH], "selection"),
    "auto": Case([QUERIES, ONE_OF_EACH], "auto"),
    "user-days": Case([QUERIES], unit="user-day"),
    "of-queries": Case([z.queries(items_per_user=1)], unit="query"),
    "of-words": Case([WORD], unit="keyword"),
    "of-listed-words": Case([WORD], unit="keyword", columns=LISTS),
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
        yield [f"u{n // 3}", ASKED[n % 3], f"2026-01-01 10:00:{n % 3:02}"]


def lines_of(user: str, text: Text) -> Iterator[list[str]]:
    """About BLOCK bytes of lines; their # are another number in each block.

    Args:
        user: Who writes them; `{}` is the number of bytes before.
        text: What each asks.
    """
    chance, written = random.Random(1), 0
    while written < BLOCK:
        time = f"2026-01-01 10:{written // 60 % 60:02}:{written % 60:02}"
        if text is at_all_times:
            time = f"2026-01-{written % 28 + 1:02}{time[10:]}.#{written % 97:02}"
        if text is in_all_years:
            time = f"{written % 8999 + 1000}-{written % 12 + 1:02}-{time[8:]}.#"
        row = [user.format(written), text(chance), time]
        yield row
        written += len(",".join(row)) + 1


def as_lines(rows: Iterator[list[str]], suffix: str, *, lists: bool) -> str:
    if suffix == "jsonl":
        objects = (dict(zip(NAMES, row, strict=True)) for row in rows)
        written = (
            json.dumps(each | ({"words": each["query"].split()} if lists else {}))
            for each in objects
        )
    else:
        written = ("\t".join(row) if suffix == "tsv" else ",".join(row) for row in rows)
    return "".join(f"{line}\n" for line in written)


def blocks(
    text: Text, size: int, suffix: str, user: str = "mallory", *, lists: bool = False
) -> Iterator[str]:
    """Ordinary lines, and so many bytes by one person."""
    yield as_lines(ordinary(), suffix, lists=lists)
    block = as_lines(lines_of(user, text), suffix, lists=lists)
    for number in range(size // len(block) + 1 if size else 0):
        yield block.replace("#", f"{number:04}")


def write(path: Path, text: Text, size: int, name: str, user: str = "mallory") -> None:
    """A log for a case."""
    suffix, lists = path.suffix.removeprefix("."), CASES[name].columns == LISTS
    if suffix == "parquet":
        options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pyarrow.string()))
        read = pyarrow.csv.ReadOptions(column_names=NAMES, block_size=4 * BLOCK)
        fields = [(each, pyarrow.string()) for each in NAMES]
        if lists:
            fields.append(("words", pyarrow.list_(pyarrow.string())))
        with pq.ParquetWriter(path, pyarrow.schema(fields)) as writer:
            for block in blocks(text, size, "csv", user):
                source = io.BytesIO(block.encode())
                table = pyarrow.csv.read_csv(source, read, convert_options=options)
                if lists:
                    table = table.append_column("words", pc.split_pattern(table["query"], " "))
                writer.write_table(table)
        return
    with path.open("w") as file:
        if suffix != "jsonl":
            file.write(("\t" if suffix == "tsv" else ",").join(NAMES) + "\n")
        file.writelines(blocks(text, size, suffix, user, lists=lists))


def published(path: Path, text: Text, name: str, size: int, engine: Engine) -> bool:
    """Whether ordinary people's items are in a release of a log with so many bytes by another."""
    write(path, text, size, name)
    found = publishes(path, name, engine)
    path.unlink()  # pytest keeps the folders of some runs
    return found


def publishes(path: Path, name: str, engine: Engine) -> bool:
    """Whether there are items in a release of a log."""
    case = CASES[name]
    columns = {"user": "user", "query": "query", "time": "time"} | case.columns.assigned()
    log = z.read_log(
        path,
        columns=z.Columns(**columns),
        engine=engine if isinstance(engine, z.Spark) else None,
    )
    files: dict[str, Any] = {}
    for option, text in case.files.items():
        files[option] = path.with_name(f"{option}.csv")
        files[option].write_text(text)
    release = z.publish(
        log,
        replace(GOAL, unit=case.unit),
        case.kinds,
        account=None,
        engine=engine,
        mechanism=case.mechanism,
        **files,
    )
    return len(next(iter(release.tables.values()))) >= 1


if __name__ == "__main__":
    with z.DuckDB(memory="1GB", threads=2) as embedded:
        sys.exit(0 if publishes(Path(sys.argv[1]), sys.argv[2], embedded) else 3)
