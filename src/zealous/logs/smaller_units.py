"""Units of privacy that are less than a user: her days, sessions, queries or keywords.

Guarantee:
    Units are named one-to-one. With keywords as the unit an entry is one for each of its keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.logs.normalization import has_word, is_visible, normalized_query, tidy, words
from zealous.logs.sessions import session_steps
from zealous.logs.times import tells_date
from zealous.logs.values import is_present
from zealous.privacy.period import Period
from zealous.privacy.units import Unit

# The roles of columns that tell a unit, one of which is enough: the first that a log has.
UNIT_ROLES: Mapping[Unit, tuple[str, ...]] = {
    "user": (),
    "user-day": ("time",),
    "session": ("session", "time"),
    "query": ("query",),
    "keyword": ("keywords", "query"),
}


def check_unit(unit: Unit, roles: Collection[str]) -> None:
    """Refuse a unit that a log's columns cannot tell."""
    needed = UNIT_ROLES[unit]
    if needed and not any(role in roles for role in needed):
        raise UsageError(
            f"--unit {unit} needs a column with the {needed[-1]}: say --{needed[-1]} COLUMN"
        )


def check_dates(log: Log, unit: Unit, period: Period | None) -> None:
    """Refuse days, sessions and periods of times that have no date: all of them would be one."""
    by_time = unit == "user-day" or (unit == "session" and log.columns.session is None)
    asked = f"--unit {unit}" if by_time else "--period" if period is not None else None
    if asked and log.columns.time is not None and not tells_date(log.time_format):
        raise UsageError(
            f"{asked} needs times with a year, a month and a day, which --time-format "
            f"{log.time_format} does not have"
        )


def _label(part: str) -> str:
    """SQL: a name for a part of a user's entries.

    The length tells where the user's id ends, so that no two pairs share a name.
    """
    return f"length(user::varchar)::varchar || ':' || user::varchar || {part}"


def _days(log: Log) -> list[Step]:
    del log
    label = "user::varchar || ' ' || time::date::varchar"
    return [
        Step("units", f"select * replace ({label} as user) from dated where time is not null"),
    ]


def _sessions(log: Log) -> list[Step]:
    if log.columns.session is None:
        label = "user::varchar || ' ' || epoch_us(\"unit:begun\")::varchar"
        named = f'select * exclude ("unit:begun") replace ({label} as user) from unit_cut'
        return [*session_steps(), Step("units", named)]
    present = is_present("session", "string")
    label = _label("session")
    return [Step("units", f"select * replace ({label} as user) from dated where {present}")]


def _queries(log: Log) -> list[Step]:
    """A query is one however often she asks it, and in whichever case and with whichever blanks."""
    del log
    label = _label(f"({normalized_query(fold=False)})")
    return [
        Step("units", f"select * replace ({label} as user) from dated where {has_word('query')}")
    ]


def _keywords(log: Log) -> list[Step]:
    """An entry for each different keyword of an entry, with that keyword alone."""
    keyword = '"unit:keyword"'
    listed = log.columns.keywords is not None
    found = "keywords" if listed else words("query", log.cleaning.limits.words)
    lowered = tidy(f"lower({keyword})") if listed else keyword
    alone = f"[{keyword}] as keywords" if listed else f"{keyword} as query"
    return [
        Step("unit_words", f"select *, unnest(list_distinct({found})) as {keyword} from dated"),
        Step("unit_tidied", f"select * replace ({lowered} as {keyword}) from unit_words"),
        Step(
            "units",
            f"select * exclude ({keyword}) replace ({_label(keyword)} as user, {alone}) "
            f"from unit_tidied where {is_visible(keyword)}",
        ),
    ]


SMALLER_UNITS: Mapping[Unit, Callable[[Log], list[Step]]] = {
    "user-day": _days,
    "session": _sessions,
    "query": _queries,
    "keyword": _keywords,
}
"""The steps from `dated` to `units`, whose user is the unit."""
