"""Attack 2: how many known queries pick a person out of an output that keeps queries together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, normalized_query
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.privacy.guarantee import positive_integer
from zealous.study.anonymity.method import METHODS
from zealous.study.anonymity.output import Bundle
from zealous.study.anonymity.session_steps import session_steps
from zealous.study.attacks.rate import Rate
from zealous.synthetic.chance import integers_below, mix

Ids: TypeAlias = npt.NDArray[np.int64]
_WHO, _SESSION, _QUERY = range(60, 63)  # streams of hashes
_HELD = pa.schema([("query", pa.string()), ("id", pa.string())])


class _SampledQuery(NamedTuple):
    """A query of a sampled user; `typed` as she once typed it."""

    who: int
    session: int
    typed: str


def measure_uniqueness(
    log: Log,
    bundle: Bundle,
    *,
    most: int = 5,
    users: int = 2000,
    seed: int,
    engine: DuckDB | None = None,
) -> list[Rate]:
    """Try to pick users out of an output by p of their queries, for p = 1, ..., `most`.

    The attacker knows p different queries of a user, chosen at random; where an id of the output
    is a session, p queries of one of her sessions, itself chosen at random among those that have so
    many. She applies the method's public rules to what she knows, and leaves aside what the output
    holds nowhere: it was suppressed. The user is picked out if exactly one id holds all that
    remains, and something does. That id is hers: these methods leave or remove a query for all who
    asked it alike, so her own id holds whatever remains.

    Args:
        log: The log the output was made of.
        bundle: The output of a method with a public rule for queries.
        most: The most queries the attacker knows.
        users: How many users to try; fewer where the log has no more.
        seed: What distinguishes this sample from others.
        engine: Where to run; an embedded DuckDB where not given.

    Returns:
        For each p, of the sampled users with at least p different queries (in one session, where
        an id is a session), those picked out. So each p has fewer users than the one before.
    """
    method = METHODS.get(bundle.record.method)
    rules = None if method is None else method.public_rule()
    if rules is None:
        others = ", ".join(name for name, each in METHODS.items() if each.public_rule() is not None)
        raise UsageError(f"uniqueness is measured for {others}, not for this method")
    if most < 1 or users < 1:
        raise UsageError("most and users must be at least 1: known queries, and users to try")
    with engine or DuckDB() as running:
        entries = _sample_queries(open_log(log, running), bundle, users, seed)
        known = [_known_queries(entries, p, seed) for p in range(1, most + 1)]
        used = sorted({row for each in known for rows in each for row in rows})
        texts = [(row, text) for row in used if (text := rules(entries[row].typed)) is not None]
        holders = _holders(bundle, texts, running)
    return [
        Rate(successes=sum(_is_picked_out(rows, holders) for rows in each), trials=len(each))
        for each in known
    ]


def _sample_queries(source: Source, bundle: Bundle, users: int, seed: int) -> list[_SampledQuery]:
    """The different queries of a sample of users, in order of user, session and text."""
    engine = source.engine
    if bundle.log_file().an_id_is == "a session":
        how = bundle.record.settings
        cut = session_steps(
            source,
            positive_integer(how.get("session_gap"), "session_gap"),
            by_similarity=how.get("by_similarity") is True,  # which earlier versions did not have
        )
        each = "select user, session, query, query as typed from sessions"
    else:
        cut = []
        columns = f"user, 0 as session, {normalized_query(False)} as query, query as typed"
        each = f"select {columns} from entries where {has_word('query')}"
    # Numbers in place of ids and sessions, which may be of any type.
    ranks = (
        "dense_rank() over (order by user) - 1 as who, "
        "dense_rank() over (partition by user order by session) as session"
    )
    different = "select who, session, query, min(typed) as typed from ranked group by all"
    steps = [
        *cut,
        Step("each", each),
        Step("ranked", f"select {ranks}, query, typed from each"),
        Step("histories", different),
    ]
    engine.append_rows("histories", [*source.entries, *steps])
    there = engine.rows([Step("there", "select count(distinct who) from histories")])[0][0]
    chosen = np.argsort(mix(seed, _WHO, np.arange(there)), kind="stable")[:users]
    engine.add_table("chosen", pa.table({"who": chosen}))
    rows = "select who, session, typed from histories semi join chosen using (who)"
    found = engine.rows([Step("sampled", f"{rows} order by who, session, query")])
    return [_SampledQuery(*row) for row in found]


def _known_queries(entries: Sequence[_SampledQuery], p: int, seed: int) -> list[list[int]]:
    """What the attacker knows of each user with so many queries: p places in `entries`."""
    known = []
    numbered = enumerate(entries)
    for who, hers in groupby(numbered, key=lambda each: each[1].who):
        cut = [
            [row for row, _ in session]
            for _, session in groupby(hers, key=lambda each: each[1].session)
        ]
        enough = [session for session in cut if len(session) >= p]
        if enough:
            which = int(integers_below(len(enough), seed, _SESSION, who, p)[0])
            rows = np.array(enough[which])
            order = np.argsort(mix(seed, _QUERY, who, rows), kind="stable")
            known.append(rows[order[:p]].tolist())
    return known


def _holders(bundle: Bundle, texts: Sequence[tuple[int, str]], engine: DuckDB) -> dict[int, Ids]:
    """Which ids of the output hold each text, ascending; without those that none does."""
    rows = pa.array([row for row, _ in texts], pa.int64())
    queries = pa.array([text for _, text in texts], pa.string())
    engine.add_table("learned", pa.table({"row": rows, "query": queries}))
    wanted = Step(
        "wanted",
        f"select row, {normalized_query(False)} as query from learned where {has_word('query')}",
    )
    path = bundle.directory / bundle.log_file().file
    source = open_log(read_log(path, columns=Columns(user="id", query="query")), engine)
    query = normalized_query(False)
    shown = f"select user as id, {query} as query from entries where {has_word('query')}"
    held = "select distinct query, id from shown semi join wanted using (query)"
    steps = [*source.entries, wanted, Step("shown", shown), Step("held", held)]
    ids = _postings(pa.Table.from_batches(engine.batches(steps), _HELD))
    return {row: ids[query] for row, query in engine.rows([wanted]) if query in ids}


def _postings(held: pa.Table) -> dict[str, Ids]:
    """From (query, id), each once: the numbers of the ids that hold a query, ascending."""
    query = held["query"].combine_chunks().dictionary_encode()
    number = held["id"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    text = query.indices.to_numpy()
    order = np.lexsort((number, text))
    ends = np.cumsum(np.bincount(text, minlength=len(query.dictionary)))
    parts = np.split(number[order], ends[:-1])
    return dict(zip(query.dictionary.to_pylist(), parts, strict=False))


def _is_picked_out(rows: Iterable[int], holders: dict[int, Ids]) -> bool:
    """Whether exactly one id holds all that remains, the rarest first."""
    present = sorted((holders[row] for row in rows if row in holders), key=len)
    if not present:
        return False
    found = present[0]
    for other in present[1:]:
        place = np.minimum(np.searchsorted(other, found), len(other) - 1)
        found = found[other[place] == found]
    return len(found) == 1
