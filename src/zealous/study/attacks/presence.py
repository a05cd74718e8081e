"""Attack 5: whether what one person alone asked can be read in an output at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query, words
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.release.table import Table
from zealous.study.attacks.rate import Rate
from zealous.synthetic.chance import mix

_CHOICE = 50  # stream of hashes
_QUERIES = ("query", "next_query", "phrase", "next_phrase")  # columns that hold queries


@dataclass(frozen=True, kw_only=True)
class Presence:
    """How many rare things of people can be read in an output.

    Attributes:
        query: Queries that one user alone asked, and that the output holds whole.
        word: Of those queries that hold a word that nobody else used, those whose word the output
            holds whole, in a query or by itself.
    """

    query: Rate
    word: Rate


def measure_presence(
    log: Log,
    tables: Mapping[str, Table],
    log_rows: pa.Table | None,
    *,
    sample: int,
    seed: int,
    engine: DuckDB | None = None,
) -> Presence:
    """Look for queries that one user alone asked in an output's log and in all its histograms.

    Nothing but text is compared, so the output may be of any method, or a release. A token that
    stands for a word cannot be read and is not found. Where several words of a query are the
    user's alone, the one she used least is looked for. Where a method shortens words, hers may be
    found because it begins longer words of others: a reader cannot tell which it is. Each such
    query is as likely to be in the sample as any other, so that whoever asks much is in it more
    often.

    Args:
        log: The log the output was made of.
        tables: The output's histograms.
        log_rows: The output's log, where it has one.
        sample: How many queries to look for; fewer where the log has no more.
        seed: What distinguishes this sample from others.
        engine: Where to run; an embedded DuckDB where not given.
    """
    if sample < 1:
        raise UsageError("sample must be at least 1: how many queries to look for")
    outputs = [table.arrow for table in tables.values()]
    if log_rows is not None:
        outputs.append(log_rows)
    with engine or DuckDB() as running:
        _choose_rare_queries(log, sample, seed, running)
        _load_output_texts(outputs, running)
        return _count_found(running)


def _choose_rare_queries(log: Log, sample: int, seed: int, engine: DuckDB) -> None:
    """Store `chosen` (query, word): a query that one user alone asked, and her rarest own word."""
    source = open_log(log, engine)
    typed = (
        f"select user, {normalized_query(False)} as query from entries where {has_word('query')}"
    )
    lone = "select query from typed group by query having min(user) = max(user)"
    numbered = f"select query, row_number() over (order by query) - 1 as number from ({lone})"
    engine.append_rows("typed", [*source.entries, Step("typed", typed)])
    engine.append_rows("alone", [Step("alone", numbered)])
    there = engine.rows([Step("counted", "select count(*) from alone")])[0][0]
    order = np.argsort(mix(seed, _CHOICE, np.arange(there)), kind="stable")
    engine.add_table("numbers", pa.table({"number": order[:sample]}))
    each = Step("each", f"select user, unnest({words('query')}) as word from typed")
    own = "select word, count(*) as times from each group by word having min(user) = max(user)"
    split = f"select query, unnest({words('query')}) as word from alone semi join numbers using "
    rarest = "select query, arg_min(word, (times, word)) as word from split join own using (word)"
    engine.append_rows(
        "chosen",
        [
            each,
            Step("own", own),
            Step("split", f"{split} (number)"),
            Step("rarest", f"{rarest} group by query"),
            Step(
                "chosen",
                "select query, word from alone semi join numbers using (number) "
                "left join rarest using (query)",
            ),
        ],
    )


def _load_output_texts(outputs: Iterable[pa.Table], engine: DuckDB) -> None:
    """Let all that can be read be selected from: `queries` (query) and `keywords` (keyword)."""
    queries, keywords = [pa.array([], pa.string())], [pa.array([], pa.string())]
    for table in outputs:
        for name in _QUERIES:
            if name in table.column_names:
                queries += table[name].cast(pa.string()).chunks
        if "keyword" in table.column_names:
            keywords += table["keyword"].cast(pa.string()).chunks
        if "keywords" in table.column_names:
            lists = table["keywords"].cast(pa.list_(pa.string())).chunks
            keywords += [each.flatten() for each in lists]
    engine.add_table("queries", pa.table({"query": pa.chunked_array(queries)}))
    engine.add_table("keywords", pa.table({"keyword": pa.chunked_array(keywords)}))


def _count_found(engine: DuckDB) -> Presence:
    whole = f"select distinct {normalized_query(False)} as query from queries"
    parts = f"select unnest({words('query')}) as word from shown"
    alone = "select lower(keyword) as word from keywords"
    count = (
        "select count(*), count(*) filter (where query in (from shown)), count(word), "
        "count(*) filter (where word in (from read)) from chosen"
    )
    shown, read = Step("shown", whole), Step("read", f"{parts} union {alone}")
    queries, seen, own, known = engine.rows([shown, read, Step("found", count)])[0]
    return Presence(
        query=Rate(successes=seen, trials=queries), word=Rate(successes=known, trials=own)
    )
