"""SQL that reads a column: ids, texts, lists and times, whatever type a file gives them.

Guarantee:
    An id has one text, however a file writes it, and two ids never have the same.
"""

from __future__ import annotations

from collections.abc import Callable

from zealous.engines.sql import literal
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.logs.times import NUMBER, timestamp_sql

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("halffloat", "float", "double")
_REAL = (*FLOATS, "decimal")
TEXT = ("string", "large_string", "string_view")
BLANKS = r"[\p{Z}\p{Cc}]+"
WORD = r"[\p{L}\p{M}\p{N}]+"
_MOMENTS = ("timestamp", "date")
_TIMES_OF_DAY = ("time32", "time64")
_NESTED = ("list<", "struct<", "map<", "binary", "large_binary", "fixed_size_binary")


def excluded_ids(kind: str) -> str:
    """SQL: the listed ids, in every way in which a program may have written such an id."""
    bare = f"trim(regexp_replace(id, '^{BLANKS}|{BLANKS}$', '', 'g'), '\"')"
    if kind in WHOLE:
        return f"select try_cast(regexp_replace({bare}, '[.]0*$', '') as hugeint) from excluded"
    if kind.startswith(_REAL):  # engines read numbers such as 1d and 1_000 too
        number = f"case when regexp_full_match({bare}, {literal(NUMBER)}) then {bare} end"
        return f"select try_cast({number} as {_number(kind)}) from excluded"
    return (
        f"select {_id_of_text('id')} from excluded union select {_id_of_text(bare)} from excluded"
    )


def comparable_id(user: str, kind: str) -> str:
    """SQL: a user's id as it is compared with the listed ones."""
    if kind in WHOLE:
        return f"{user}::hugeint"
    if kind.startswith(_REAL):
        return f"{user}::{_number(kind)}"
    return user_id(user, kind)


def _number(kind: str) -> str:
    """The type in which a listed number and a user's id are the same: that of the ids."""
    if kind.startswith("decimal"):
        return f"decimal(38, {kind.rpartition(',')[2].strip(' )')})"
    return "double" if kind == "double" else "float"


def user_id(name: str, kind: str) -> str:
    """SQL: the id of a user, one text for each person however a file writes it."""
    if kind in TEXT:
        return _id_of_text(name)
    if kind in FLOATS:  # 17850.0 is how a table with gaps writes 17850
        whole = f"case when {name} = round({name}) then try_cast({name} as bigint)::varchar end"
        return f"coalesce({whole}, {_float_text(name)}, {name}::varchar)"
    return name if kind in WHOLE else _as_text(name, kind)


def _id_of_text(text: str) -> str:
    """SQL: an id without spaces around it and, if it is a whole number, without `.0` behind it.

    A table with gaps writes 17850 as 17850.0: two ids of one person would protect her half.
    """
    bare = f"trim({text})"
    number = f"{text} like '%.0%' and regexp_full_match({bare}, '-?[0-9]+[.]0+')"
    return f"case when {number} then regexp_replace({bare}, '[.]0+$', '') else {bare} end"


def _session(name: str, kind: str, log: Log) -> str:
    if kind in TEXT:
        return _within_limit(name, user_id(name, kind), log)
    return user_id(name, kind) if kind in FLOATS else _as_text(name, kind)


def is_present(name: str, kind: str) -> str:
    """An id that is missing, blank or not a number belongs to nobody: its entry is dropped."""
    if kind in WHOLE:
        return f"{name} is not null"
    if kind in FLOATS:
        return f"isfinite({name})"
    text = _as_text(name, kind) if kind.startswith(_MOMENTS) else f"{name}::varchar"
    # Nearly all ids begin with printable ASCII, and one comparison tells; the rest are searched.
    return rf"({text} between '!' and '~' or regexp_matches({text}, '[^\p{{Z}}\p{{Cc}}]'))"


def text_value(name: str, kind: str, log: Log) -> str:
    """SQL: a value as text, where it is no longer than public limits allow."""
    return _within_limit(name, name, log) if kind in TEXT else _as_text(name, kind)


def _within_limit(text: str, value: str, log: Log) -> str:
    """SQL: a value, where a text is no longer than public limits allow."""
    return f"case when strlen({text}) <= {log.cleaning.limits.text} then {value} end"


def _as_text(name: str, kind: str) -> str:
    """SQL: what is no text, as a text."""
    if kind.startswith("list<"):
        raise UsageError(
            f"column {name} holds list values, not text: to publish the values of the lists, name "
            "it by --keywords and say --items keywords"
        )
    if kind.startswith(_NESTED):
        raise UsageError(f"column {name} holds {kind.split('<')[0]} values, not text: convert it")
    if kind in FLOATS:
        return _float_text(name)
    if kind.startswith(_MOMENTS):
        return _moment_text(name, kind)
    if kind.startswith(_TIMES_OF_DAY):  # the end of a day is none, as in a file that is staged
        return f"nullif({name}::varchar, '24:00:00')"
    return f"{name}::varchar"


def _moment_text(name: str, kind: str) -> str:
    """SQL: a day or time as text; NULL outside the years 1 to 9999.

    Each engine writes other years in its own way. DuckDB fails at the first ones that there are,
    and may write out all rows before it chooses some: what it writes is never one of them.
    """
    first, last = "timestamp '0001-01-01'", "timestamp '9999-12-31 23:59:59.999999'"
    moment = f"try_cast({name} as timestamp)"
    within = f"least(greatest({moment}, {first}), {last})"
    text = f"{within}::date::varchar" if kind.startswith("date") else f"{within}::varchar"
    utc = " || '+00'" if "tz=" in kind else ""
    return f"case when {moment} between {first} and {last} then {text}{utc} end"


def _float_text(name: str) -> str:
    """SQL: a number as text, the same from every engine; NULL for what is not finite.

    A whole number is written as one: pandas makes 7.0 of all 7 in a column in which one value is
    missing, and whoever has the one without a value would change what everybody's are called.

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
        f"{size} < 9e18 and {name} = round({name})": f"{name}::bigint::varchar",
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
        return text_value(name, kind, log)
    element, texts = kind.removeprefix("list<element: ").removesuffix(">"), name
    if element not in TEXT:
        try:
            texts = f"list_transform({name}, lambda each: {_as_text('each', element)})"
        except UsageError:
            what = element.split("<")[0]
            raise UsageError(f"column {name} holds lists of {what} values") from None
    within = f"case when {_list_over_limit(name, texts, log)} then null else {texts} end"
    return f"({within})[1 : {log.cleaning.limits.words}]"


def _list_over_limit(name: str, texts: str, log: Log) -> str:
    """SQL: whether a list is over the limit; of too many elements no texts are made."""
    most, number = log.cleaning.limits.text, f"array_length({name})"
    size = f"coalesce(strlen(array_to_string({texts}, '')), 0) + {number}"
    return f"case when {number} > {most} then true else {size} > {most} end"


def text_over_limit(name: str, kind: str, log: Log) -> str:
    """SQL: whether a value is a text, or a list of texts, over the limit."""
    if kind in TEXT:
        return f"strlen({name}) > {log.cleaning.limits.text}"
    if kind.startswith("list<") and kind.removeprefix("list<element: ").startswith(TEXT):
        return _list_over_limit(name, name, log)
    return "false"


def words_over_limit(name: str, kind: str, log: Log) -> str:
    """SQL: whether a query, or a list of texts, within the limit has more words than count."""
    limits = log.cleaning.limits
    if kind.startswith("list<"):
        over = text_over_limit(name, kind, log)
        return f"case when {over} then false else array_length({name}) > {limits.words} end"
    if kind not in TEXT:
        return "false"
    # Only texts that have room for more are searched.
    room = f"strlen({name}) between {2 * limits.words + 1} and {limits.text}"
    number = f"array_length(regexp_extract_all({name}, '{WORD}'))"
    return f"case when {room} then {number} > {limits.words} else false end"


def _keywords(name: str, kind: str, log: Log) -> str:
    if kind.startswith("list<"):
        return _texts(name, kind, log)
    raise UsageError(
        "the keywords column must hold lists (Parquet or JSON); leave it out and the words are "
        "taken from the query"
    )


def _time(name: str, kind: str, log: Log) -> str:
    """A timestamp, of whatever year, or NULL where the text is none."""
    if kind.startswith(_MOMENTS):
        found = f"try_cast({name} as timestamp)"
    elif log.time_format is None and kind.startswith((*WHOLE, *_REAL)):
        raise UsageError("the times are numbers: say --time-format epoch or epoch-ms")
    else:
        found = timestamp_sql(name, name if kind in TEXT else _as_text(name, kind), log.time_format)
    return _within_limit(name, found, log) if kind in TEXT else found


def usable_time(time: str) -> str:
    """SQL: a timestamp, or NULL where it is out of range: such an entry is without a time.

    Only years of four digits are times: with later ones one entry could stop the whole run.
    """
    usable = f"{time} between timestamp '0001-01-01' and timestamp '9999-01-01'"
    return f"case when {usable} then {time} end"


READ_ROLE: dict[str, Callable[[str, str, Log], str]] = {
    "query": text_value,
    "time": _time,
    "url": _texts,
    "session": _session,
    "keywords": _keywords,
}
