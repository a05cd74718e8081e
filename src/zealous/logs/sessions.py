"""The privacy unit of each entry: its user, the user's day, or the user's session."""

from __future__ import annotations

from collections.abc import Collection

from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.logs.values import is_present
from zealous.privacy.guarantee import SESSION_GAP, Unit
from zealous.privacy.period import Period


def check_unit(unit: Unit, roles: Collection[str]) -> None:
    """Refuse a unit that a log's columns cannot tell."""
    told = unit == "user" or "time" in roles or (unit == "session" and "session" in roles)
    if not told:
        raise UsageError(f"--unit {unit} needs a column with the time: say --time COLUMN")


def unit_steps(log: Log, unit: Unit, period: Period | None) -> list[Step]:
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
            f"select * replace ({label} as user) from dated where {is_present('session', 'string')}"
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
