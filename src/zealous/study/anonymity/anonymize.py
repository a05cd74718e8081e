"""From a log to a directory with what an anonymity method makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.engine import Engine, require_local
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import LogError
from zealous.files.folder import check_new, new_folder
from zealous.items import clicks, keywords, possible_kinds, queries, query_pairs
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source, count_users
from zealous.privacy.guarantee import SESSION_GAP
from zealous.release.progress import report_skipped
from zealous.study.anonymity.method import Changed, Method, Say, check_engine
from zealous.study.anonymity.output import Bundle, metadata, read_bundle, write_bundle

_ANY = 1  # how many items one id may have plays no role here


@dataclass(frozen=True, kw_only=True)
class Anonymized:
    """What was written, and what only the owner may know.

    Attributes:
        bundle: The directory, read back.
        changed: Internal: how much of the log was suppressed, shortened, deleted or added.
    """

    bundle: Bundle
    changed: list[Changed]


def anonymize(
    directory: str | Path,
    log: Log,
    method: Method,
    *,
    engine: Engine | None = None,
    say: Say = lambda _: None,
) -> Anonymized:
    """Anonymise a log by a method that is NOT differentially private.

    Args:
        directory: Must not exist yet; it is written whole or not at all.
        log: What to anonymise.
        method: How.
        engine: Where to run; an embedded DuckDB where not given.
        say: Receives progress, for the owner's eyes.
    """
    target = Path(directory)
    what = "anonymize writes the rows of people on one machine"
    require_local(log.engine_for(None), what)
    running = require_local(log.engine_for(engine), what)
    check_new(target)
    method.check(log.columns.assigned())
    writing = new_folder(target, "anonymised log", mode=0o700)  # no safer than the log itself
    with running, writing as partial:
        columns, tables, changed = _apply_method(log, method, running, partial, say)
        write_bundle(partial, method, columns, tables)
    return Anonymized(bundle=read_bundle(target), changed=changed)


def histograms(
    log: Log, method: Method, *, engine: Engine | None = None, session_gap: int = SESSION_GAP
) -> dict[str, pa.Table]:
    """What a bundle would count, without one: by kind, those alone that the method gives.

    Args:
        log: What to anonymise.
        method: How.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        session_gap: Minutes without a query that end a session, where an id is a user's.
    """
    method.check(log.columns.assigned())
    running = log.engine_for(engine)
    check_engine(method, running)
    with running:
        local = running.local()
        folder = local.directory if local else None
        return _apply_method(log, method, running, folder, lambda _: None, session_gap)[1]


def _apply_method(
    log: Log,
    method: Method,
    engine: Engine,
    folder: Path | None,
    say: Say,
    session_gap: int = SESSION_GAP,
) -> tuple[tuple[str, ...], dict[str, pa.Table], list[Changed]]:
    """The columns of the log that is written to the folder, its histograms, what was changed.

    Without a folder nothing is written, and the rows are counted where they are.
    """
    say("reading the log")
    source = open_log(log, engine)
    report_skipped(source.skipped, say)
    check_users(count_users(source), method)
    say(f"anonymising by {method.name}")
    changed = method.apply(source, say)
    say("counting keywords, queries, clicks and query pairs in the output")
    columns = method.published_columns(source.roles)
    if not columns:
        return (
            columns,
            {"keywords": _count_users_per_item(engine, [], "anonymous", ("keyword",))},
            changed,
        )
    if folder is None:
        return columns, _histograms(_source_in_place(source, columns, method), session_gap), changed
    _write_log(source, columns, folder / "log.parquet", method)
    reopened = _open_output(folder / "log.parquet", columns, method, engine)
    return columns, _histograms(reopened, session_gap), changed


def check_users(users: int, method: Method) -> None:
    """Refuse a log with too few users for a method."""
    if users == 0:
        raise LogError("no entry with a user id was understood: see `zealous inspect`")
    method.check_users(users)


def _write_log(source: Source, columns: tuple[str, ...], path: Path, method: Method) -> None:
    """The rows in the order of their random ids: the order of the log's lines is not told."""
    lists = dict.fromkeys(_lists(source), pa.list_(pa.string()))
    types = {"time": pa.timestamp("us"), **lists}
    fields = [(name, types.get(name, pa.string())) for name in columns]
    schema = pa.schema(fields, metadata=metadata(method))
    names = comma_separated(identifier(name) for name in columns)
    rows = Step("ordered", f"select {names} from anonymous order by {names}")
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in source.engine.batches([rows]):
            writer.write_batch(batch.cast(schema))


def _open_output(path: Path, columns: tuple[str, ...], method: Method, engine: Engine) -> Source:
    """The output as a log of its own, whose users are the ids: all that a recipient has."""
    roles = {name: name for name in columns if name != "id"}
    if method.session_ids:
        roles["session"] = "id"
    return open_log(read_log(path, columns=Columns(user="id", **roles)), engine)


def _source_in_place(source: Source, columns: tuple[str, ...], method: Method) -> Source:
    """The same, of rows that were not written."""
    roles = {name: name for name in columns if name != "id"}
    if method.session_ids:
        roles["session"] = "id"
    names = comma_separated(f"{name} as {role}" for role, name in {"user": "id", **roles}.items())
    return replace(
        source,
        entries=(Step("entries", f"select {names} from anonymous where id is not null"),),
        roles=frozenset(["user", *roles]),
        lists=frozenset(roles) & _lists(source),
    )


def _lists(source: Source) -> frozenset[str]:
    """The columns of an output that hold lists: clicks do where they do in the log."""
    return frozenset({"keywords", *(source.lists & {"url"})})


def _histograms(source: Source, session_gap: int) -> dict[str, pa.Table]:
    """Of each kind that the output has: in how many ids each item is."""
    found = {}
    pairs = query_pairs(_ANY, session_gap=session_gap)
    kinds = (keywords(_ANY), queries(_ANY), clicks(_ANY), pairs)
    for kind in possible_kinds(kinds, source.roles):
        steps = [*source.entries, *kind.steps(source)]
        found[kind.name()] = _count_users_per_item(source.engine, steps, "items", kind.columns())
    return found


def _count_users_per_item(
    engine: Engine, steps: list[Step], table: str, columns: Sequence[str]
) -> pa.Table:
    """Of each item in a table of (user, item...): how many users hold it."""
    item = comma_separated(identifier(name) for name in columns)
    held = Step("held", f"select distinct user, {item} from {table}")
    count = Step("histogram", f"select {item}, count(*) as count from held group by {item}")
    schema = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    batches = engine.batches([*steps, held, count])
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)
