"""The unit of privacy of each entry: its user, or one of logs/smaller_units.py.

Guarantee:
    Each entry belongs to one unit, and what is left out depends on that unit alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zealous.engines.sql import Step
from zealous.logs.log import Log
from zealous.logs.smaller_units import SMALLER_UNITS, check_dates, check_unit
from zealous.privacy.period import Period
from zealous.privacy.units import Unit


def unit_steps(log: Log, unit: Unit, period: Period | None) -> list[Step]:
    """From `known` to `entries`, whose user is the unit of privacy.

    A unit's name and which entries it has depend on nothing but the unit itself: a user's other
    days, sessions and queries neither rename it nor decide whether it is left out. Entries of which
    nobody can tell the unit are dropped, since they would belong to two units.
    """
    roles = log.columns.assigned()
    check_unit(unit, roles)
    check_dates(log, unit, period)
    dated = "select * from known"
    if period is not None and "time" in roles:
        dated += f" where time >= timestamp '{period.first}' and time < timestamp '{period.end}'"
    most = log.cleaning.max_entries_per_user
    few = f"select user from units group by user having count(*) <= {most}"
    return [
        Step("dated", dated),
        *_STEPS[unit](log),
        Step("entries", "select * from units" + (f" where user in ({few})" if most else "")),
    ]


def _users(log: Log) -> list[Step]:
    del log
    return [Step("units", "select * from dated")]


_STEPS: Mapping[Unit, Callable[[Log], list[Step]]] = {"user": _users, **SMALLER_UNITS}
