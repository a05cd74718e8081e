"""A log opened on an engine: text staged as Parquet once, entries cleaned and named by role."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, identifier, listed, literal
from zealous.errors import LogError, UsageError
from zealous.lines import Layout, Skipped, records
from zealous.log import Log, parquet_schema

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_TEXT = ("string", "large_string", "string_view")


@dataclass(frozen=True, kw_only=True)
class Source:
    """The entries of a log, ready to be selected from.

    Attributes:
        engine: Where the entries are.
        entries: The steps that yield them, one row an entry, with a column for each role.
        rows: How many rows the files hold, as their metadata says; only sizes work by it.
        roles: The roles that have a column.
        lists: Those whose column is a list of texts.
        skipped: Lines that were left out, by reason; for the owner's eyes.
    """

    engine: DuckDB
    entries: tuple[Step, ...]
    rows: int
    roles: frozenset[str]
    lists: frozenset[str]
    skipped: Skipped = field(default_factory=Skipped)

    def bucket(self, number: int, buckets: int) -> Source:
        """The entries of one bucket of users: all of a user's entries are in the same one."""
        known, *rest = self.entries
        chosen = f"{self.engine.bucket('user', buckets)} = {number}"
        part = Step(known.name, f"select * from ({known.sql}) where {chosen}")
        return replace(self, entries=(part, *rest))


def open_log(log: Log, engine: DuckDB, extra: Iterable[str] = ()) -> Source:
    """Make a log's entries available on an engine.

    Args:
        log: The log.
        engine: Where to work.
        extra: Columns that play no role but are items or part of items.
    """
    import pyarrow.parquet as pq

    extra = tuple(dict.fromkeys(extra))
    _check_extra(log, extra)
    wanted = tuple(dict.fromkeys([*log.columns.given().values(), *extra]))
    skipped = Skipped()
    paths = log.paths
    if log.layout is not None:
        lists = [each for each in (log.columns.url, log.columns.keywords) if each]
        staged = engine.directory / "entries.parquet"
        _stage(log, log.layout, wanted, lists, staged, skipped)
        paths = (staged,)
    types = _types(paths, wanted)
    engine.open("source", paths)
    if log.cleaning.exclude_users is not None:
        _open_excluded(log.cleaning.exclude_users, engine)
    roles = log.columns.given()
    return Source(
        engine=engine,
        entries=_entries(log, types, extra),
        rows=sum(pq.read_metadata(path).num_rows for path in paths),
        roles=frozenset(roles),
        lists=frozenset(role for role, name in roles.items() if types[name].startswith("list<")),
        skipped=skipped,
    )


def column(name: str) -> str:
    """What an extra column is called among the entries: no role's name can clash with it."""
    return identifier(f"column:{name}")


def _check_extra(log: Log, extra: Iterable[str]) -> None:
    present = log.names()
    for name in extra:
        if present is not None and name not in present:
            raise UsageError(f"the log has no column {name!r}: `zealous inspect` lists its columns")


def _stage(
    log: Log,
    layout: Layout,
    names: tuple[str, ...],
    lists: list[str],
    target: Path,
    skipped: Skipped,
) -> None:
    """Split the lines once and keep the named columns as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if layout.delimiter is not None:
        lists = []
    kinds = [(name, pa.list_(pa.string()) if name in lists else pa.string()) for name in names]
    schema = pa.schema(kinds)
    try:
        with pq.ParquetWriter(target, schema, compression="snappy", use_dictionary=False) as writer:
            for path in log.paths:
                for batch in records(path, layout, names, lists, skipped):
                    writer.write_batch(batch.cast(schema))
    except OSError as error:
        raise LogError(
            f"the log cannot be staged in the temporary directory: {error.strerror or 'disk error'}"
        ) from None


def _types(paths: tuple[Path, ...], wanted: tuple[str, ...]) -> dict[str, str]:
    first = {name: parquet_schema(paths[0])[name] for name in wanted}
    for path in paths[1:]:
        if {name: parquet_schema(path)[name] for name in wanted} != first:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    return {name: kind.replace("large_list", "list") for name, kind in first.items()}


def _open_excluded(path: Path, engine: DuckDB) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = engine.directory / "excluded.parquet"
    layout = Layout(delimiter="\x1f", names=("id",))
    with pq.ParquetWriter(target, pa.schema([("id", pa.string())])) as writer:
        for batch in records(path, layout, ["id"], [], Skipped()):
            writer.write_batch(batch)
    engine.open("excluded", [target])


def _entries(log: Log, types: dict[str, str], extra: tuple[str, ...]) -> tuple[Step, ...]:
    user = identifier(log.columns.user or "")
    kind = types[log.columns.user or ""]
    columns = [f"{_user(user, kind)} as user"]
    for role, name in log.columns.given().items():
        if role != "user":
            columns.append(f"{_ROLE[role](identifier(name), types[name], log)} as {role}")
    columns += [f"{_text(identifier(name), types[name])} as {column(name)}" for name in extra]
    present = _present(user, kind)
    where = [present]
    if log.cleaning.exclude_users is not None:
        excluded = "select trim(id) from excluded where id is not null"
        where.append(f"trim({user}::varchar) not in ({excluded})")
    steps = [
        # (user, query, time, url, ..., "column:X"): one row an entry whose user is known
        Step("known", f"select {listed(columns)} from source where {' and '.join(where)}")
    ]
    most = log.cleaning.max_entries_per_user
    few = f"select user from known group by user having count(*) <= {most}"
    steps.append(
        Step("entries", "select * from known" + (f" where user in ({few})" if most else ""))
    )
    return tuple(steps)


def _user(name: str, kind: str) -> str:
    return name if kind in (*_WHOLE, *_TEXT) else f"{name}::varchar"


def _present(name: str, kind: str) -> str:
    """An id that is missing, blank or not a number belongs to nobody: its entry is dropped."""
    if kind in _WHOLE:
        return f"{name} is not null"
    if kind in ("float", "double"):
        return f"{name} is not null and not isnan({name})"
    return f"trim({name}::varchar) <> ''"


def _text(name: str, kind: str, _: Log | None = None) -> str:
    if kind in _TEXT:
        return name
    if kind.startswith(("list<", "struct<", "map<", "binary", "fixed_size_binary")):
        raise UsageError(f"column {name} holds {kind.split('<')[0]} values, not text")
    return f"{name}::varchar"


def _texts(name: str, kind: str, _: Log) -> str:
    if kind.startswith("list<"):
        return f"{name}::varchar[]"
    return _text(name, kind)


def _keywords(name: str, kind: str, _: Log) -> str:
    if kind.startswith("list<"):
        return f"{name}::varchar[]"
    raise UsageError(
        "the keywords column must hold lists (Parquet or JSON); leave it out and the words are "
        "taken from the query"
    )


def _time(name: str, kind: str, log: Log) -> str:
    """A timestamp, or NULL where the text is none: such an entry is without a time."""
    if kind.startswith(("timestamp", "date")):
        return f"{name}::timestamp"
    if log.time_format in ("epoch", "epoch-ms"):
        number = f"try_cast({name} as double)" + (
            " / 1000" if log.time_format == "epoch-ms" else ""
        )
        usable = f"case when {number} between -6e10 and 2.5e11 then {number} end"
        return f"make_timestamp(round({usable} * 1e6)::bigint)"
    if kind in _WHOLE and log.time_format is None:
        raise UsageError("the times are numbers: say --time-format epoch or epoch-ms")
    if log.time_format is not None:
        return f"try_strptime({name}::varchar, {literal(log.time_format)})"
    return f"try_cast({name} as timestamp)"


_ROLE: dict[str, Callable[[str, str, Log], str]] = {
    "query": _text,
    "time": _time,
    "url": _texts,
    "session": _text,
    "keywords": _keywords,
}


def count_users(source: Source) -> int:
    """How many user ids the entries hold; checked against the declared bound, never published."""
    count = Step("counted", "select count(distinct user) from entries")
    return int(source.engine.rows([*source.entries, count])[0][0])
