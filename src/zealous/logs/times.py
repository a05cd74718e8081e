"""How times are written in a log: which texts are moments, the same for every engine.

Each engine by itself reads more than that, and each something else: "now", 24:00, a missing digit,
the names of time zones.
"""

from __future__ import annotations

import re

from zealous.engines.sql import literal

_EPOCHS = {"epoch": 1, "epoch-ms": 1000}
# 2026-03-01, then perhaps a time of day, then perhaps an offset from UTC.
_ISO = (
    r" *\d{4}-\d{1,2}-\d{1,2}([ T]([01]?\d|2[0-3]):[0-5]?\d(:[0-5]?\d([.]\d{1,9})?)?"
    r"(Z| UTC|[+-](0\d|1[0-5])(:?[0-5]\d)?)? *)?"
)
# What most logs have, and what is read in half the time.
_PLAIN = r"\d{4}-\d{2}-\d{2}[ T]([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
# No digit can belong to two parts of it: a long text would be tried in all ways by some engines.
NUMBER = r"[+-]?(\d+([.]\d*)?|[.]\d+)([eE][+-]?\d+)?"
_DIRECTIVES = {
    "%Y": r"\d{4}",
    "%y": r"\d{2}",
    "%f": r"\d{1,6}",
    "%z": r"[+-]\d{2}(:?\d{2})?",
    "%%": "%",
    "%p": "[AaPp][Mm]",
    "%b": "[A-Za-z]+",
    "%B": "[A-Za-z]+",
}
_TWO_DIGITS = ("%m", "%d", "%H", "%I", "%M", "%S")


def is_pattern(time_format: str | None) -> bool:
    """Whether times are written by a strptime pattern."""
    return time_format is not None and time_format not in _EPOCHS


def tells_date(time_format: str | None) -> bool:
    """Whether times that are written so have a year, a month and a day.

    >>> tells_date("%d/%m/%Y %H:%M"), tells_date("%H:%M:%S"), tells_date(None)
    (True, False, True)
    """
    if time_format is None or not is_pattern(time_format):
        return True
    directives = {each[-1] for each in re.findall(r"%-?.", time_format)}
    whole = directives & set("cxDFs")
    day = {"j"} & directives or ("d" in directives and directives & set("mbBh"))
    return bool(whole or (day and directives & set("Yy")))


def timestamp_sql(column: str, text: str, time_format: str | None) -> str:
    """SQL: a timestamp in UTC, or NULL."""
    if time_format in _EPOCHS:
        number = f"try_cast({column} as double) / {_EPOCHS[time_format]}"
        # Of a column of a Parquet file DuckDB knows a least and a greatest value, to which NaN does
        # not count: where these are within the limits it compares no more, and NaN passes.
        usable = f"isfinite({number}) and {number} between -6e10 and 2.5e11"
        if column == text:  # engines read numbers such as 1d and 1_000 too
            usable += " and " + _fits(text, f" *{NUMBER} *")
        usable = f"case when {usable} then {number} end"
        return f"make_timestamp(round({usable} * 1e6)::bigint)"
    if time_format is not None:
        found = f"try_cast(try_strptime({text}, {literal(time_format)}) as timestamp)"
        return f"case when {_fits(text, _texts_of_pattern(time_format))} then {found} end"
    plain = f"when {_fits(text, _PLAIN)} then try_cast({text} as timestamp)"
    other = f"when {_fits(text, _ISO)} then try_cast({text} as timestamptz)::timestamp"  # UTC
    return f"case {plain} {other} end"


def _fits(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, {literal(pattern)})"


def _texts_of_pattern(pattern: str) -> str:
    r"""The texts of a strptime pattern. A number that stands beside another has all its digits.

    >>> _texts_of_pattern("%d/%m/%Y, %H%M")
    '\\d{1,2}/\\d{1,2}/\\d{4},\\ \\d{2}\\d{2}'
    """
    parts = re.findall(r"%.?|[^%]+", pattern)
    written = []
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        if part in _TWO_DIGITS:
            beside = before.startswith("%") or after.startswith("%")
            written.append(r"\d{2}" if beside else r"\d{1,2}")
        elif part.startswith("%"):
            written.append(_DIRECTIVES.get(part, r"[^\n]*"))
        else:
            written.append(re.escape(part))
    return "".join(written)
