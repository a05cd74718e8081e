"""The privacy unit of each entry: its user, the user's day, or the user's session.

Guarantee:
    Each entry belongs to one unit, and units are named one-to-one.
"""

from __future__ import annotations

from collections.abc import Collection

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.logs.times import tells_date
from zealous.logs.values import is_present
from zealous.privacy.guarantee import SESSION_GAP, Unit
from zealous.privacy.period import Period

_GAP = SESSION_GAP * 60 * 10**6  # microseconds
_MONTH = 1440 * _GAP  # a month and every moment since the year 1 are whole numbers of gaps
_SINCE_YEAR_1 = f"(epoch_us(time) + {62_135_596_800 * 10**6})"


def check_unit(unit: Unit, roles: Collection[str]) -> None:
    """Refuse a unit that a log's columns cannot tell."""
    told = unit == "user" or "time" in roles or (unit == "session" and "session" in roles)
    if not told:
        raise UsageError(f"--unit {unit} needs a column with the time: say --time COLUMN")


def _check_dates(log: Log, unit: Unit, period: Period | None) -> None:
    """Refuse days, sessions and periods of times that have no date: all of them would be one."""
    by_time = unit == "user-day" or (unit == "session" and log.columns.session is None)
    asked = f"--unit {unit}" if by_time else "--period" if period is not None else None
    if asked and log.columns.time is not None and not tells_date(log.time_format):
        raise UsageError(
            f"{asked} needs times with a year, a month and a day, which --time-format "
            f"{log.time_format} does not have"
        )


def unit_steps(log: Log, unit: Unit, period: Period | None) -> list[Step]:
    """From `known` to `entries`, whose user is the unit of privacy.

    A unit's name and which entries it has depend on nothing but the unit itself: a user's other
    days and sessions neither rename it nor decide whether it is left out. Entries of which nobody
    can tell the day or the session are dropped, since they would belong to two units.
    """
    roles = log.columns.assigned()
    check_unit(unit, roles)
    _check_dates(log, unit, period)
    dated, cut = "select * from known", list[Step]()
    if period is not None and "time" in roles:
        dated += f" where time >= timestamp '{period.first}' and time < timestamp '{period.end}'"
    if unit == "user":
        named = "select * from dated"
    elif unit == "session" and "session" in roles:
        # The length tells where the user's id ends, so that no two pairs share a name.
        label = "length(user::varchar)::varchar || ':' || user::varchar || session"
        named = (
            f"select * replace ({label} as user) from dated where {is_present('session', 'string')}"
        )
    elif unit == "user-day":
        label = "user::varchar || ' ' || time::date::varchar"
        named = f"select * replace ({label} as user) from dated where time is not null"
    else:
        cut = _session_steps()
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


def _session_steps() -> list[Step]:
    """From `dated` to `unit_cut`, with the first moment of each entry's session as unit:begun.

    Time is cut into slots as long as the gap. Moments of one slot are in one session, so a session
    is a run of slots, each next to the last. What is looked at in one go is bounded, however many
    moments a user has: the slots of a month, then the months that there are from year 1 to 9999.
    """
    slots = '"unit:slot"'
    timed = f"select *, {_SINCE_YEAR_1} - {_SINCE_YEAR_1} % {_GAP} as {slots} from dated"
    each = f"user, {slots}, min(time) as first_moment, max(time) as last_moment"
    goes_on = f"slots.first_moment <= before.last_moment + interval {SESSION_GAP} minute"
    return [
        # Without a filter on times, though those without one go away: see `shared` below.
        Step("unit_timed", timed),
        Step("unit_slots", f"select {each} from unit_timed group by user, {slots}", shared=True),
        # (user, unit:slot, month, begun): NULL where a session goes on that began before
        Step(
            "unit_begun",
            f"select slots.user, slots.{slots}, slots.{slots} - slots.{slots} % {_MONTH} as month, "
            f"case when {goes_on} then null else slots.first_moment end as begun "
            "from unit_slots as slots left join unit_slots as before "
            f"on slots.user = before.user and slots.{slots} - {_GAP} = before.{slots}",
            shared=True,
        ),
        Step(
            "unit_months",
            "select user, month, max(begun) as begun from unit_begun group by user, month",
        ),
        Step(
            "unit_carried",
            "select user, month, max(begun) over (partition by user order by month "
            "rows between unbounded preceding and 1 preceding) as carried from unit_months",
        ),
        Step(
            "unit_running",
            f"select user, {slots}, month, max(begun) over "
            f"(partition by user, month order by {slots}) as running from unit_begun",
        ),
        # Named by its first moment: a number would change when an earlier session goes away.
        Step(
            "unit_sessions",
            f"select running.user, running.{slots}, "
            'coalesce(running.running, carried.carried) as "unit:begun" '
            "from unit_running as running join unit_carried as carried "
            "on running.user = carried.user and running.month = carried.month",
            shared=True,  # so that it is known to have no more rows than what it is joined with
        ),
        Step(
            "unit_cut",
            f'select timed.* exclude ({slots}), sessions."unit:begun" from unit_timed as timed '
            "join unit_sessions as sessions "
            f"on timed.user = sessions.user and timed.{slots} = sessions.{slots}",
        ),
    ]
