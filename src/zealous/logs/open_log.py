"""From a log to its entries on an engine: columns found, roles read, limits kept.

Guarantee:
    Every entry has a user who is known, or it is dropped; no two people are taken for one, and one
    person's values cannot change how those of another are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from zealous.engines.engine import Engine, Opened, require_local
from zealous.engines.sql import Step, comma_separated, identifier, literal
from zealous.errors import LogError, UsageError, ZealousError
from zealous.files.delimited import Delimited
from zealous.files.lines import Skipped, records
from zealous.libraries import pa
from zealous.logs.entry_limits import WHOSE, Join, limit_entries
from zealous.logs.entry_units import unit_steps
from zealous.logs.log import Cleaning, Log
from zealous.logs.source import WITHOUT_ID, Source, extra_column
from zealous.logs.times import is_pattern
from zealous.logs.values import (
    READ_ROLE,
    TEXT,
    comparable_id,
    excluded_ids,
    is_present,
    text_over_limit,
    text_value,
    usable_time,
    user_id,
    words_over_limit,
)
from zealous.privacy.guarantee import Unit
from zealous.privacy.period import Period


def open_log(
    log: Log,
    engine: Engine,
    extra: Iterable[str] = (),
    *,
    unit: Unit = "user",
    period: Period | None = None,
    key: int = 0,
    sketch_key: str | None = None,
) -> Source:
    """Make a log's entries available on an engine.

    Args:
        log: The log.
        engine: Where to work.
        extra: Columns that play no role but are items or part of items.
        unit: Whose data is protected as a whole: the `user` of the entries.
        period: Only entries of these days, where the log has times.
        key: The public key, by which some entries are chosen of whoever has too many.
        sketch_key: The key of a sketch of the ids, if there is to be one: `sketch_ids`.
    """
    if engine.local() is not None:
        require_local(log.engine_for(None), "this does more than count")
    extra = tuple(dict.fromkeys(extra))
    _check_extra(log, extra)
    _check_time_format(log, engine)
    wanted = tuple(dict.fromkeys([*log.columns.assigned().values(), *extra]))
    if len({name.lower() for name in wanted}) < len(wanted):
        raise UsageError("two of the columns to use differ only in case: rename one of them")
    lists = [each for each in (log.columns.url, log.columns.keywords) if each]
    opened = engine.open("source", log.paths, log.layout, wanted, lists, limits=log.cleaning.limits)
    types, sizes = opened.types, opened.sizes
    if log.cleaning.exclude_users is not None:
        _open_excluded(log.cleaning.exclude_users, engine)
        _check_excluded(engine, types[log.columns.user or ""])
    skipped = opened.skipped + _count_over_limits(log, opened, engine)
    roles = log.columns.assigned()
    everybody = replace(log, cleaning=Cleaning(limits=log.cleaning.limits))

    def entries_of(join: Join, persons: str) -> tuple[Step, ...]:
        return (*_known_step(log, types, extra, (join, persons)), *unit_steps(log, unit, period))

    bytes_of = sizes.columns if sizes else {}
    source = Source(
        engine=engine,
        entries=(*_known_step(log, types, extra), *unit_steps(log, unit, period)),
        everyone=(*_known_step(everybody, types, extra), *unit_steps(everybody, unit, period)),
        rows=sizes.rows if sizes else 0,
        text={each: bytes_of.get(roles.get(each, each), 0) for each in (*roles, *extra)},
        roles=frozenset(roles),
        lists=frozenset(role for role, name in roles.items() if types[name].startswith("list<")),
        skipped=skipped,
        limits=log.cleaning.limits,
    )
    if sizes is not None and sizes.rows <= source.limits.entries:
        return source
    columns = [*roles, *(f"column:{name}" for name in extra)]
    limited = limit_entries(source, entries_of, columns, key, sketch_key)
    every_unit_is_a_person = unit == "user" and period is None
    users = limited.ids.number if limited.ids and every_unit_is_a_person else None
    return replace(limited, users=users)


def _count_over_limits(log: Log, opened: Opened, engine: Engine) -> Skipped:
    """How many lines have no user id, or a text or words over a limit; for the owner's eyes.

    Texts that were left out while lines were split are NULL by now, and were counted there. Columns
    whose longest value is within a limit are not looked at.
    """
    limits, user = log.cleaning.limits, log.columns.user or ""

    def longer_than(most: int) -> dict[str, str]:
        longest = opened.longest
        return {name: kind for name, kind in types.items() if longest.get(name, most + 1) > most}

    types = opened.types
    of_words = {log.columns.query}
    lists = {log.columns.keywords, log.columns.url}
    reasons = {
        WITHOUT_ID: [f"coalesce(not ({_has_id(log, identifier(user), types[user])}), true)"],
        limits.long_text(): [
            text_over_limit(identifier(name), kind, log)
            for name, kind in longer_than(limits.text).items()
        ],
        limits.many_words(): [
            words_over_limit(identifier(name), kind, log)
            for name, kind in longer_than(limits.words).items()
            if name in (lists if kind.startswith("list<") else of_words)
        ],
    }
    met = {why: " or ".join(each) or "false" for why, each in reasons.items()}
    counts = comma_separated(f"count(case when {each} then 1 end)" for each in met.values())
    ((*numbers,),) = engine.rows([Step("over_limits", f"select {counts} from source")])
    return Skipped(dict(zip(met, numbers, strict=True)))


def _check_extra(log: Log, extra: Iterable[str]) -> None:
    present = log.names()
    for name in extra:
        if present is not None and name not in present:
            raise log.no_column(name)


def _check_time_format(log: Log, engine: Engine) -> None:
    if not is_pattern(log.time_format):
        return
    try:
        engine.rows([Step("tried", f"select try_strptime('', {literal(log.time_format or '')})")])
    except UsageError:
        raise
    except ZealousError:
        raise UsageError(
            "time_format must be epoch, epoch-ms or a pattern such as %d/%m/%Y %H:%M"
        ) from None


def _open_excluded(path: Path, engine: Engine) -> None:
    """Make the ids to leave out available: every one of them, or none is published."""
    layout = Delimited(delimiter="\x1f", names=("id",))
    skipped = Skipped()
    ids = list(records(path, layout, ["id"], [], skipped))
    if skipped.total():
        raise LogError(
            f"{path.name} holds ids that cannot be read, whose users would not be left out: make "
            "it a UTF-8 text with one id a line"
        )
    engine.add_table("excluded", pa.Table.from_batches(ids, pa.schema([("id", pa.string())])))


def _known_step(
    log: Log, types: dict[str, str], extra: Sequence[str], only: tuple[Join, str] | None = None
) -> tuple[Step, ...]:
    """The step `known`: one row an entry whose user is known; of all, or of some persons only."""
    user = identifier(log.columns.user or "")
    kind = types[log.columns.user or ""]
    columns = [f"{user_id(user, kind)} as user"]
    for role, name in log.columns.assigned().items():
        if role != "user":
            columns.append(f"{READ_ROLE[role](identifier(name), types[name], log)} as {role}")
    columns += [
        f"{text_value(identifier(name), types[name], log)} as {extra_column(name)}"
        for name in extra
    ]
    where = [_has_id(log, user, kind)]
    if log.cleaning.exclude_users is not None:
        where.append(f"{comparable_id(user, kind)} not in ({excluded_ids(kind)})")
    rows = "source"
    if only is not None:  # here, where nothing else of an entry has been worked out
        join, persons = only
        rows += f" {join} join {persons} as persons on {user_id(user, kind)} = persons.{WHOSE}"
    known = f"select {comma_separated(columns)} from {rows} where {' and '.join(where)}"
    if log.columns.time is not None:  # a step of its own, else each time would be read twice
        known = f"select * replace ({usable_time('time')} as time) from ({known})"
    # (user, query, time, url, ..., "column:X"): one row an entry whose user is known
    return (Step("known", known),)


def _has_id(log: Log, user: str, kind: str) -> str:
    """SQL: whether an entry is somebody's, by an id within the limit."""
    if kind not in TEXT:
        return is_present(user, kind)
    return f"{is_present(user, kind)} and strlen({user}) <= {log.cleaning.limits.text}"


def _check_excluded(engine: Engine, kind: str) -> None:
    """A listed id that could belong to nobody is a mistake that would leave somebody in."""
    sql = f"select count(*) from ({excluded_ids(kind)}) ids(id) where id is null"
    if engine.rows([Step("unknown", sql)])[0][0]:
        raise LogError(
            "--exclude-users lists ids that are not numbers, while the log's are: their users "
            "would not be left out"
        )
