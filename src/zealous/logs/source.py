"""A log opened on an engine: text staged as Parquet once, entries cleaned and named by role."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Engine, Stored
from zealous.engines.sql import Step, identifier, listed, literal
from zealous.errors import LogError, UsageError, ZealousError
from zealous.files.lines import Layout, Skipped, records
from zealous.logs.log import Cleaning, Log
from zealous.logs.times import NUMBER, is_pattern, moment
from zealous.privacy.guarantee import SESSION_GAP, Unit
from zealous.privacy.period import Period

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("halffloat", "float", "double")
_REAL = (*_FLOATS, "decimal")
_TEXT = ("string", "large_string", "string_view")
BLANKS = r"[\p{Z}\p{Cc}]+"
_MOMENTS = ("timestamp", "date")
_LOOKED_AHEAD = 999_999  # entries, of all users together, that are held to see where others end
_FIRST = ("known", "looked_at")  # the steps with which a log's entries begin
_NESTED = ("list<", "struct<", "map<", "binary", "large_binary", "fixed_size_binary")


@dataclass(frozen=True, kw_only=True)
class Source:
    """The entries of a log, ready to be selected from.

    Attributes:
        engine: Where the entries are.
        entries: The steps that yield them, one row an entry, with a column for each role.
        everyone: The steps to `entries` of all users, also of those who are left out.
        users: How many these are, where they were counted; never published.
        rows: How many entries there are at most; only sizes work by it.
        text: The bytes of the column of each role, and of extra columns; likewise.
        roles: The roles that have a column.
        lists: Those whose column is a list of texts.
        skipped: Lines that were left out, by reason; for the owner's eyes.
    """

    engine: Engine
    entries: tuple[Step, ...]
    rows: int
    roles: frozenset[str]
    lists: frozenset[str]
    everyone: tuple[Step, ...] = ()
    users: int | None = None
    text: Mapping[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    def bucket(self, number: int, buckets: int) -> Source:
        """The entries of one bucket of users: all of a user's entries are in the same one."""
        chosen = f"{self.engine.bucket('user', buckets)} = {number}"
        parts = (
            step._replace(sql=f"select * from ({step.sql}) where {chosen}")
            if step.name in _FIRST
            else step
            for step in self.entries
        )
        return replace(self, entries=tuple(parts))

    def buckets(self, columns: Iterable[str]) -> int:
        """In how many buckets it must be worked through, where some columns are worked on."""
        text = sum(self.text.get(name, 0) for name in {"user", *columns})
        return self.engine.buckets(self.rows, text)


def open_log(
    log: Log,
    engine: Engine,
    extra: Iterable[str] = (),
    *,
    unit: Unit = "user",
    period: Period | None = None,
    key: int = 0,
) -> Source:
    """Make a log's entries available on an engine.

    Args:
        log: The log.
        engine: Where to work.
        extra: Columns that play no role but are items or part of items.
        unit: Whose data is protected as a whole: the `user` of the entries.
        period: Only entries of these days, where the log has times.
        key: The public key, by which some entries are chosen of whoever has too many.
    """
    if log.engine is not None and isinstance(engine, DuckDB):
        raise UsageError(
            "this does more than count, and does not run on Spark: give it a log on this machine"
        )
    extra = tuple(dict.fromkeys(extra))
    _check_extra(log, extra)
    _check_time_format(log, engine)
    wanted = tuple(dict.fromkeys([*log.columns.given().values(), *extra]))
    if len({name.lower() for name in wanted}) < len(wanted):
        raise UsageError("two of the columns to use differ only in case: rename one of them")
    lists = [each for each in (log.columns.url, log.columns.keywords) if each]
    types, skipped, sizes = engine.open(
        "source", log.paths, log.layout, wanted, lists, log.cleaning.limits
    )
    if log.cleaning.exclude_users is not None:
        _open_excluded(log.cleaning.exclude_users, engine)
        _check_excluded(engine, types[log.columns.user or ""])
    roles = log.columns.given()
    everybody = replace(log, cleaning=Cleaning(limits=log.cleaning.limits))
    bytes_of = sizes.columns if sizes else {}
    source = Source(
        engine=engine,
        entries=(*_entries(log, types, extra), *_units(log, unit, period)),
        everyone=(*_entries(everybody, types, extra), *_units(everybody, unit, period)),
        rows=sizes.rows if sizes else 0,
        text={each: bytes_of.get(roles.get(each, each), 0) for each in (*roles, *extra)},
        roles=frozenset(roles),
        lists=frozenset(role for role, name in roles.items() if types[name].startswith("list<")),
        skipped=skipped,
    )
    most = log.cleaning.limits.entries
    if sizes is not None and sizes.rows <= most:
        return source
    return _limit_entries(source, most, [*roles, *(f"column:{name}" for name in extra)], key)


def column(name: str) -> str:
    """What an extra column is called among the entries: no role's name can clash with it."""
    return identifier(f"column:{name}")


def _check_extra(log: Log, extra: Iterable[str]) -> None:
    present = log.names()
    for name in extra:
        if present is not None and name not in present:
            raise UsageError(f"the log has no column {name!r}: `zealous inspect` lists its columns")


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
    import pyarrow as pa

    layout = Layout(delimiter="\x1f", names=("id",))
    skipped = Skipped()
    ids = list(records(path, layout, ["id"], [], skipped))
    if skipped.total():
        raise LogError(
            f"{path.name} holds ids that cannot be read, whose users would not be left out: make "
            "it a UTF-8 text with one id a line"
        )
    engine.put("excluded", pa.Table.from_batches(ids, pa.schema([("id", pa.string())])))


def _limit_entries(source: Source, most: int, columns: Sequence[str], key: int) -> Source:
    """The same, but of whoever has more entries than `most` the first of them alone.

    They are the first in time where the log has times, then by the public key, and each different
    one of them is there once. So what is left of somebody depends on her own entries and the key.

    Args:
        source: All entries.
        most: How many of a user's entries count.
        columns: All of an entry.
        key: The public key.
    """
    engine = source.engine
    each_user = Step("each_user", "select user, count(*) as entries from entries group by user")
    figures = (
        f"count(*), coalesce(sum(least(entries, {most})), 0)::bigint, coalesce(max(entries), 0)"
    )
    counted = Step("counted", f"select {figures} from each_user")
    ((users, rows, largest),) = engine.rows([*source.everyone, each_user, counted])
    source = replace(source, users=int(users), rows=int(rows))
    if largest <= most:
        return source
    over = Step("over", f"select user, entries from each_user where entries > {most}")
    heavy = Stored.new(engine).name
    engine.store(heavy, [*source.everyone, each_user, over])
    *before, cleaned = source.entries
    steps = (*before, cleaned._replace(name="cleaned"))
    own = listed(map(identifier, columns))
    times, place, rank = '"entry:times"', '"entry:place"', '"entry:rank"'
    moment = ["time"] if "time" in source.roles else []
    order = listed([*(f"{each} nulls last" for each in moment), rank])
    short = listed(["user", *moment, rank])
    of_heavy = f"join {heavy} as heavy on cleaned.user = heavy.user"
    # Texts are looked at again only once it is known which ones: all of them may not fit.
    ranked = f"select *, {engine.rank_key(key, columns)} as {rank} from cleaned semi {of_heavy}"
    theirs = _without_late(engine, [*steps, Step("theirs", ranked)], heavy, most, [*moment, rank])
    same = f"theirs.user = near.user and theirs.{rank} = near.{rank}"
    alone = f"row_number() over (partition by user, {rank} order by {own}) = 1"
    first = [
        Step("different", f"select {short}, count(*) as {times} from theirs group by {short}"),
        Step(
            "placed",
            f"select *, sum({times}) over (partition by user order by {order}) as {place} "
            "from different",
        ),
        Step("near", f"select user, {rank} from placed where {place} - {times} < {most}"),
        Step("chosen", f"select theirs.* from theirs semi join near on {same}"),
        Step("once", f"select distinct {own}, {rank} from chosen"),
        Step("first_ones", f"select {own} from once qualify {alone}"),
    ]
    looked_at = Stored.new(engine).name
    engine.store(looked_at, [*theirs, *first])
    entries = (
        f"select {own} from (select cleaned.* from cleaned anti {of_heavy}) "
        f"union all select {own} from looked_at"
    )
    limited = (*steps, Step("looked_at", f"select * from {looked_at}"), Step("entries", entries))
    return replace(source, entries=limited, text=_text_sizes(source, limited))


def _without_late(
    engine: Engine, steps: Sequence[Step], heavy: str, most: int, order: Sequence[str]
) -> list[Step]:
    """The steps to `theirs`, of few users without most of what is not among their first entries.

    Sorting all entries of somebody with tens of millions of them would take minutes. Nothing is
    left out that could be among the first: entries up to the last of so many are all kept.

    Args:
        engine: Where the entries are.
        steps: The steps to `theirs`, all entries of whoever has too many.
        heavy: The table of these users and their numbers of entries.
        most: How many of a user's entries count.
        order: By what they are ordered: a moment that may be NULL, if there are moments; a rank.
    """
    *moment, rank = order
    # One number of 128 bits: microseconds, of which there are never as many as stand for NULL.
    micros = (f"coalesce(epoch_us({each}), {2**63 - 1})::hugeint * {2**64} + " for each in moment)
    place = f"{''.join(micros)}{rank}"
    last, users = engine.last_of_smallest(place, most), _LOOKED_AHEAD // most
    if last is None or not users:
        return list(steps)
    heaviest = f"select user from {heavy} order by entries desc limit {users}"
    of_heaviest = f"select * from theirs where user in ({heaviest})"
    end = '"entry:end"'
    ends = Stored.new(engine).name
    each_end = f"select user, {last} as {end} from of_heaviest group by user"
    engine.store(ends, [*steps, Step("of_heaviest", of_heaviest), Step("each_end", each_end)])
    *before, theirs = steps
    early = (
        f"select all_of_theirs.* from all_of_theirs left join {ends} as ends "
        f"on all_of_theirs.user = ends.user where {end} is null or {place} <= {end}"
    )
    return [*before, theirs._replace(name="all_of_theirs"), Step("theirs", early)]


def _text_sizes(source: Source, entries: Sequence[Step]) -> dict[str, int]:
    """The bytes that are left in each column: what metadata told is mostly of entries that went."""
    names = {each: each if each in source.roles else f"column:{each}" for each in source.text}
    texts = [f"{identifier(name)}::varchar" for name in names.values()]
    size = listed(f"coalesce(sum(strlen({text})), 0)::bigint" for text in texts)
    ((*sizes,),) = source.engine.rows([*entries, Step("sizes", f"select {size} from entries")])
    return dict(zip(names, map(int, sizes), strict=True))


def _entries(log: Log, types: dict[str, str], extra: tuple[str, ...]) -> tuple[Step, ...]:
    user = identifier(log.columns.user or "")
    kind = types[log.columns.user or ""]
    columns = [f"{_id(user, kind)} as user"]
    for role, name in log.columns.given().items():
        if role != "user":
            columns.append(f"{_ROLE[role](identifier(name), types[name], log)} as {role}")
    columns += [f"{_text(identifier(name), types[name], log)} as {column(name)}" for name in extra]
    where = [_present(user, kind)]
    if kind not in (*_WHOLE, *_FLOATS):
        where.append(f"strlen({user}::varchar) <= {log.cleaning.limits.text}")
    if log.cleaning.exclude_users is not None:
        where.append(f"{_comparable(user, kind)} not in ({_excluded(kind)})")
    # (user, query, time, url, ..., "column:X"): one row an entry whose user is known
    return (Step("known", f"select {listed(columns)} from source where {' and '.join(where)}"),)


def check_unit(unit: Unit, roles: Collection[str]) -> None:
    """Refuse a unit that a log's columns cannot tell."""
    told = unit == "user" or "time" in roles or (unit == "session" and "session" in roles)
    if not told:
        raise UsageError(f"--unit {unit} needs a column with the time: say --time COLUMN")


def _units(log: Log, unit: Unit, period: Period | None) -> list[Step]:
    """From `known` to `entries`, whose user is the unit of privacy.

    A unit's name and which entries it has depend on nothing but the unit itself: a user's other
    days and sessions neither rename it nor decide whether it is left out. Entries of which nobody
    can tell the day or the session are dropped, since they would belong to two units.
    """
    roles = log.columns.given()
    check_unit(unit, roles)
    dated, cut = "select * from known", []
    if period is not None and "time" in roles:
        dated += f" where time >= timestamp '{period.first}' and time < timestamp '{period.end}'"
    if unit == "user":
        named = "select * from dated"
    elif unit == "session" and "session" in roles:
        # The length tells where the user's id ends, so that no two pairs share a name.
        label = "length(user::varchar)::varchar || ':' || user::varchar || session"
        named = (
            f"select * replace ({label} as user) from dated where {_present('session', 'string')}"
        )
    elif unit == "user-day":
        label = "user::varchar || ' ' || time::date::varchar"
        named = f"select * replace ({label} as user) from dated where time is not null"
    else:
        by_time = "over (partition by user order by time)"
        pause = f"time > lag(time) {by_time} + interval {SESSION_GAP} minute"
        # Named by its first moment: a number would change when an earlier session goes away.
        first = 'min(time) over (partition by user, "unit:number")'
        cut = [
            # Without texts: all that one user wrote may be more than fits into memory at once.
            Step("unit_moments", "select distinct user, time from dated where time is not null"),
            Step(
                "unit_paused",
                f'select *, coalesce(({pause})::integer, 1) as "unit:new" from unit_moments',
            ),
            Step(
                "unit_numbered",
                f'select *, sum("unit:new") {by_time} as "unit:number" from unit_paused',
            ),
            Step("unit_begun", f'select user, time, {first} as "unit:begun" from unit_numbered'),
            Step(
                "unit_cut",
                'select dated.*, begun."unit:begun" from dated join unit_begun as begun '
                "on dated.user = begun.user and dated.time = begun.time",
            ),
        ]
        label = "user::varchar || ' ' || epoch_us(\"unit:begun\")::varchar"
        named = f'select * exclude ("unit:begun") replace ({label} as user) from unit_cut'
    most = log.cleaning.max_entries_per_user
    few = f"select user from units group by user having count(*) <= {most}"
    return [
        Step("dated", dated),
        *cut,
        Step("units", named),
        Step("entries", "select * from units" + (f" where user in ({few})" if most else "")),
    ]


def _excluded(kind: str) -> str:
    """SQL: the listed ids, in every way in which a program may have written such an id."""
    bare = f"trim(regexp_replace(id, '^{BLANKS}|{BLANKS}$', '', 'g'), '\"')"
    if kind in _WHOLE:
        return f"select try_cast(regexp_replace({bare}, '[.]0*$', '') as hugeint) from excluded"
    if kind.startswith(_REAL):  # engines read numbers such as 1d and 1_000 too
        number = f"case when regexp_full_match({bare}, {literal(NUMBER)}) then {bare} end"
        return f"select try_cast({number} as {_number(kind)}) from excluded"
    return (
        f"select {_id_of_text('id')} from excluded union select {_id_of_text(bare)} from excluded"
    )


def _comparable(user: str, kind: str) -> str:
    """SQL: a user's id as it is compared with the listed ones."""
    if kind in _WHOLE:
        return f"{user}::hugeint"
    if kind.startswith(_REAL):
        return f"{user}::{_number(kind)}"
    return _id_of_text(f"{user}::varchar")


def _number(kind: str) -> str:
    """The type in which a listed number and a user's id are the same: that of the ids."""
    if kind.startswith("decimal"):
        return f"decimal(38, {kind.rpartition(',')[2].strip(' )')})"
    return "double" if kind == "double" else "float"


def _check_excluded(engine: Engine, kind: str) -> None:
    """A listed id that could belong to nobody is a mistake that would leave somebody in."""
    sql = f"select count(*) from ({_excluded(kind)}) ids(id) where id is null"
    if engine.rows([Step("unknown", sql)])[0][0]:
        raise LogError(
            "--exclude-users lists ids that are not numbers, while the log's are: their users "
            "would not be left out"
        )


def _id(name: str, kind: str) -> str:
    if kind in _TEXT:
        return _id_of_text(name)
    if kind in _FLOATS:  # 17850.0 is how a table with gaps writes 17850
        whole = f"case when {name} = round({name}) then try_cast({name} as bigint)::varchar end"
        return f"coalesce({whole}, {_float_text(name)}, {name}::varchar)"
    if kind in _WHOLE:
        return name
    if kind.startswith(_MOMENTS):  # of whatever year: an id that became NULL would be pooled
        return _moment_text(name, kind)
    return _written(name, kind)


def _id_of_text(text: str) -> str:
    """SQL: an id without spaces around it and, if it is a whole number, without `.0` behind it.

    A table with gaps writes 17850 as 17850.0: two ids of one person would protect her half.
    """
    bare = f"trim({text})"
    number = f"{text} like '%.0%' and regexp_full_match({bare}, '-?[0-9]+[.]0+')"
    return f"case when {number} then regexp_replace({bare}, '[.]0+$', '') else {bare} end"


def _session(name: str, kind: str, log: Log) -> str:
    if kind in _TEXT:
        return _within_limit(name, _id(name, kind), log)
    return _id(name, kind) if kind in _FLOATS else _written(name, kind)


def _present(name: str, kind: str) -> str:
    """An id that is missing, blank or not a number belongs to nobody: its entry is dropped."""
    if kind in _WHOLE:
        return f"{name} is not null"
    if kind in _FLOATS:
        return f"isfinite({name})"
    text = f"{name}::varchar"
    # Nearly all ids begin with printable ASCII, and one comparison tells; the rest are searched.
    return rf"({text} between '!' and '~' or regexp_matches({text}, '[^\p{{Z}}\p{{Cc}}]'))"


def _text(name: str, kind: str, log: Log) -> str:
    return _within_limit(name, name, log) if kind in _TEXT else _written(name, kind)


def _within_limit(text: str, value: str, log: Log) -> str:
    """SQL: a value, where a text is no longer than public limits allow."""
    return f"case when strlen({text}) <= {log.cleaning.limits.text} then {value} end"


def _written(name: str, kind: str) -> str:
    """SQL: what is no text, as a text."""
    if kind.startswith(_NESTED):
        raise UsageError(f"column {name} holds {kind.split('<')[0]} values, not text: convert it")
    if kind in _FLOATS:
        return _float_text(name)
    if kind.startswith(_MOMENTS):  # each engine writes years beyond these in its own way
        usual = "between timestamp '0001-01-01' and timestamp '9999-12-31 23:59:59.999999'"
        written = _moment_text(name, kind)
        return f"case when try_cast({name} as timestamp) {usual} then {written} end"
    return f"{name}::varchar"


def _moment_text(name: str, kind: str) -> str:
    return f"{name}::timestamp::varchar || '+00'" if "tz=" in kind else f"{name}::varchar"


def _float_text(name: str) -> str:
    """SQL: a number as text, the same from every engine; NULL for what is not finite.

    Each engine has its own range in which it writes no power of ten, and its own way to write one.
    """
    text, size = f"{name}::varchar", f"abs({name}::double)"
    # At most 17 digits, from the 16th before the point to the 21st after it. The limits are no
    # engine's own, so that it does not matter on which side of them an engine sees a number.
    decimal = f"regexp_replace(try_cast({text} as decimal(38, 21))::varchar, '0+$', '')"
    power = f"lower({text})"
    for written, plain in (("[.]0e", "e"), ("e[+]", "e"), ("e-0", "e-")):
        power = f"regexp_replace({power}, '{written}', '{plain}', 'g')"
    # The first part keeps the engine from working out the rest for what is no number.
    cases = {
        f"{size} < 1e16 and {name} = round({name})": f"{name}::bigint::varchar || '.0'",
        f"{size} >= 1e-3 and {size} < 1e7": text,
        f"{size} >= 1e-5 and {size} < 1e16": decimal,
        "true": power,
    }
    whens = " ".join(
        f"when isfinite({name}) and {when} then {then}" for when, then in cases.items()
    )
    return f"case {whens} end"


def _texts(name: str, kind: str, log: Log) -> str:
    if not kind.startswith("list<"):
        return _text(name, kind, log)
    element, texts = kind.removeprefix("list<element: ").removesuffix(">"), name
    if element not in _TEXT:
        try:
            texts = f"list_transform({name}, lambda each: {_written('each', element)})"
        except UsageError:
            what = element.split("<")[0]
            raise UsageError(f"column {name} holds lists of {what} values") from None
    most = log.cleaning.limits.text
    number = f"array_length({name})"
    size = f"coalesce(strlen(array_to_string({texts}, '')), 0) + {number}"
    # Of too many elements no texts are made.
    return f"case when {number} > {most} then null when {size} <= {most} then {texts} end"


def _keywords(name: str, kind: str, log: Log) -> str:
    if kind.startswith("list<"):
        return _texts(name, kind, log)
    raise UsageError(
        "the keywords column must hold lists (Parquet or JSON); leave it out and the words are "
        "taken from the query"
    )


def _time(name: str, kind: str, log: Log) -> str:
    """A timestamp, or NULL where the text is none: such an entry is without a time.

    Only years of four digits are times: with later ones one entry could stop the whole run.
    """
    if kind.startswith(_MOMENTS):
        found = f"try_cast({name} as timestamp)"
    elif log.time_format is None and kind.startswith((*_WHOLE, *_REAL)):
        raise UsageError("the times are numbers: say --time-format epoch or epoch-ms")
    else:
        found = moment(name, name if kind in _TEXT else _written(name, kind), log.time_format)
    usable = f"{found} between timestamp '0001-01-01' and timestamp '9999-01-01'"
    usable = f"case when {usable} then {found} end"
    return _within_limit(name, usable, log) if kind in _TEXT else usable


_ROLE: dict[str, Callable[[str, str, Log], str]] = {
    "query": _text,
    "time": _time,
    "url": _texts,
    "session": _session,
    "keywords": _keywords,
}


def count_users(source: Source) -> int:
    """How many user ids the entries hold; for the owner's eyes."""
    return _count(source.engine, source.entries)


def count_everyone(source: Source) -> int:
    """How many users the log has, to be checked against the declared bound; never published.

    Also those who are left out by a list or for their many entries: else the check would tell
    whether an id that somebody puts on a list is in the log.
    """
    if source.users is not None:
        return source.users
    return _count(source.engine, source.everyone)


def _count(engine: Engine, entries: Sequence[Step]) -> int:
    count = Step("counted", "select count(distinct user) from entries")
    return int(engine.rows([*entries, count])[0][0])


def has_users(source: Source) -> bool:
    """Whether anybody is in the entries at all; for the owner's eyes."""
    some = Step("some", "select 1 as one from entries limit 1")
    return bool(source.engine.rows([*source.entries, some]))
