"""The game that an active attack plays: guesses about users, a coin for each, planted entries."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, literal
from zealous.items import has_word, words
from zealous.logs.log import Log, read_log
from zealous.logs.open_log import open_log
from zealous.privacy.guarantee import SESSION_GAP
from zealous.study.anonymity.session_steps import session_steps
from zealous.synthetic.chance import mix

_COIN = 1  # sets the coins apart from whatever else is made of the seed


@dataclass(frozen=True, kw_only=True)
class PlantedEntries:
    """What the attacker asks from accounts of her own.

    Attributes:
        sql: Selects (account, number, query) from `guesses`: what an account asks at one moment,
            in a session for each number.
        gap: Minutes without a query that end a session.
    """

    sql: str
    gap: int = SESSION_GAP


def choose_guesses(
    log: Log,
    *,
    victims: int,
    seed: int,
    gap: int = SESSION_GAP,
    among_first: int | None = None,
    engine: DuckDB | None = None,
) -> pa.Table:
    """Choose users and, for each, a query to guess and whether she is to have asked it.

    A user is a victim if she used a word that nobody else did, and that begins no other word, in a
    query of at least two words: the first such query is the guess. Where she used several such
    words one is chosen, and then as many victims as asked for, by hash, all by the seed. So names,
    addresses and numbers are guessed, and typing errors too.

    Args:
        log: What `stage` gave.
        victims: How many; fewer where the log has no more.
        seed: What distinguishes this game from others.
        gap: Minutes without a query that end a session.
        among_first: The guess must be among so many different queries that the user asked first.
        engine: Where to run; an embedded DuckDB where not given.

    Returns:
        The rows (number, user, query, word, others, heads): the guess and its word, the other words
        of the session in which it was asked, and a coin. Half of all coins, chosen by hash, show
        heads: so whoever learns nothing is right in just half of the cases, and not in more by
        luck. No rows where there is nothing to guess.
    """
    schema = pa.schema(
        [
            ("number", pa.int64()),
            ("user", pa.string()),
            ("query", pa.string()),
            ("word", pa.string()),
            ("others", pa.list_(pa.string())),
        ]
    )
    with engine or DuckDB() as running:
        source = open_log(log, running)
        with_words = f"select *, list_distinct({words('query')}) as words from sessions"
        asked = [*source.entries, *session_steps(source, gap), Step("asked", with_words)]
        running.append_rows("asked", asked)
        running.append_rows("chosen", _choice_steps(victims, seed, among_first))
        batches = [batch.cast(schema) for batch in running.batches(_description_steps())]
    table = pa.Table.from_batches(batches, schema).sort_by("number")
    table = table.slice(0, len(table) // 2 * 2)
    turn = np.argsort(mix(seed, _COIN, table["number"].to_numpy()), kind="stable")
    heads = np.zeros(len(table), bool)
    heads[turn[: len(table) // 2]] = True
    return table.append_column("heads", pa.array(heads))


def _choice_steps(victims: int, seed: int, among_first: int | None) -> list[Step]:
    """From `asked` (user, session, time, query, words) to (number, user, session, query, word)."""
    drawn = f"md5({literal(f'{seed} ')} || length(user) || ' ' || user || word)"
    early = f"(select (user, query) from ranked where earlier <= {among_first})"
    usable = f"first.words > 1 and {has_word('word')}"
    if among_first is not None:
        usable += f" and (user, first.query) in {early}"
    return [
        Step("used", "select user, session, time, query, words, unnest(words) as word from asked"),
        Step(
            "lone",
            "select word, min(user) as user, min({'time': time, 'session': session, 'query': "
            "query, 'words': len(words)}) as first from used group by word "
            "qualify min(user) = max(user) "
            # In this order, what begins with the word comes next to it.
            "and not coalesce(starts_with(lead(word) over (order by word), word), false)",
        ),
        Step("since", "select user, query, min(time) as time from asked group by user, query"),
        Step(
            "ranked",
            # Queries of the same moment all count as earlier ones.
            "select user, query, count(*) over (partition by user order by time) as earlier "
            "from since",
        ),
        Step(
            "possible",
            f"select user, word, first.session as session, first.query as query, {drawn} as drawn "
            f"from lone where {usable}",
        ),
        Step(
            "one",
            "select * from possible "
            "qualify row_number() over (partition by user order by drawn) = 1",
        ),
        Step(
            "chosen",
            "select row_number() over (order by drawn) - 1 as number, user, session, query, word "
            f"from one order by drawn limit {victims}",
        ),
    ]


def _description_steps() -> list[Step]:
    """From `chosen` and `asked` to the guesses with all that an attacker could know beside them."""
    return [
        Step(
            "around",
            "select number, list_sort(list_distinct(flatten(list(words)))) as words from chosen "
            "join asked using (user, session) group by number",
        ),
        Step(
            "guesses",
            "select number, user, query, word, list_filter(words, lambda w: w <> word) as others "
            "from chosen join around using (number)",
        ),
    ]


def write_planted_log(
    log: Log, guesses: pa.Table, plants: PlantedEntries, path: Path, engine: DuckDB | None = None
) -> Log:
    """Write the log as the coins and the attacker make it, and read that as a log.

    Where the coin shows tails, all entries of the user that hold the guessed word are left out.

    Args:
        log: What `stage` gave.
        guesses: What `choose_guesses` gave.
        plants: What the attacker asks.
        path: The file to write: it holds the log's data, so put it where nobody else can look.
        engine: Where to run; an embedded DuckDB where not given.
    """
    with engine or DuckDB() as running:
        source = open_log(log, running)
        running.add_table("guesses", guesses)
        schema = pq.read_schema(log.paths[0])
        with pq.ParquetWriter(path, schema) as writer:
            for batch in running.batches([*source.entries, *_planted_steps(plants)]):
                writer.write_batch(batch.cast(schema))
    return read_log(path)


def _planted_steps(plants: PlantedEntries) -> list[Step]:
    """From `entries` and `guesses` to (user, time, query)."""
    account = f"{literal(secrets.token_hex(16))} || account::varchar"  # nobody else's id
    moment = f"(number + 1) * interval {plants.gap + 1} minute"
    return [
        Step("tails", "select user, word from guesses where not heads"),
        Step(
            "left_in",
            "select user, time, query from entries left join tails using (user) "
            f"where word is null or not list_contains({words('query')}, word)",
        ),
        Step("planted", plants.sql),
        Step("start", "select min(time) as start from entries"),
        Step(
            "played",
            f"select * from left_in union all select {account} as user, start + {moment} as time, "
            "query from planted, start",
        ),
    ]
