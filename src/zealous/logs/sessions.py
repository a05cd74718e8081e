"""Where a session ends, in a log that has no sessions of its own.

Guarantee:
    A session's name and entries depend on nothing but the session itself.
"""

from __future__ import annotations

from zealous.engines.sql import Step
from zealous.privacy.guarantee import SESSION_GAP

_GAP = SESSION_GAP * 60 * 10**6  # microseconds
_MONTH = 1440 * _GAP  # a month and every moment since the year 1 are whole numbers of gaps
_SINCE_YEAR_1 = f"(epoch_us(time) + {62_135_596_800 * 10**6})"


def session_steps() -> list[Step]:
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
