"""The plan that options describe."""

from __future__ import annotations

from collections.abc import Mapping

from zealous.cli.missing import check_complete
from zealous.cli.option_values import whole_number
from zealous.cli.options import Given
from zealous.cli.options.goal import GOAL, confirm_epsilon, goal_from, warn_of_delta
from zealous.cli.options.items import (
    CHOICE,
    ITEMS,
    kinds_from,
    mechanism_from,
    split_from,
)
from zealous.cli.options.public_inputs import files_from
from zealous.items import UnknownKind
from zealous.logs.log import Log
from zealous.planning.added_kinds import with_tail
from zealous.planning.plan import Plan, plan
from zealous.planning.several_releases import plan_series
from zealous.privacy.guarantee import Guarantee, Number

PLAN = (*GOAL, *ITEMS, *CHOICE)  # all that a plan says


def plan_from(items: str | None, given: Given, log: Log | None = None) -> Plan:
    """The plan that PLAN and FILES options ask for; where it is known, for such a log."""
    check_complete(items, given)
    goal = goal_from(given)
    split: Mapping[str, Number] | None = split_from(given)
    if items:
        kinds = kinds_from(items, given)
    else:
        most = whole_number(given["items_per_user"], "--items-per-user")
        kinds = [UnknownKind(items_per_user=most)]
    if given["tail"] is not None:
        roles = log.columns.assigned() if log else None
        kinds, goal, split = with_tail(kinds, goal, given["tail"], split=split, roles=roles)
    confirm_epsilon(goal.epsilon, given)
    warn_of_delta(goal)
    files = files_from(given, kinds)

    def plan_for(each: Guarantee) -> Plan:
        return plan(
            each,
            kinds,
            split=split,
            accept_delta=given["accept_delta"],
            mechanism=mechanism_from(given),
            select=given["select"],
            parameters_from=given["parameters_from"],
            look=given["items_per_user"] is None,  # whoever says it states a fact
            log=log,
            **files,
        )

    releases = given.get("releases")
    number = 1 if releases is None else whole_number(releases, "--releases")
    return plan_series(goal, number, plan_for)
