"""Records for tests: of a plan without a log, or changed by keys of release.json."""

from __future__ import annotations

import json
from typing import Any

from msgspec import structs

from zealous.items import queries
from zealous.mechanisms import CalibratedMechanism
from zealous.planning.part import Part, part_record
from zealous.planning.plan import PLANNER, Plan
from zealous.privacy.guarantee import Guarantee
from zealous.record.codec import decode, to_json
from zealous.record.record import (
    FORMAT,
    CleaningRecord,
    ColumnNames,
    PartRecord,
    Record,
    TableFiles,
)
from zealous.release.provenance import exact_claim, software, today


def record_of(planned: Plan) -> Record:
    """What a release of a plan says of itself, before anything is drawn."""
    return Record(
        format=FORMAT,
        software=software(),
        created=today(),
        private=True,
        guarantee=exact_claim(planned.goal, planned.goal.theorem),
        also_guaranteed=None,
        selection_key="0" * 16,
        columns=ColumnNames(user="u", query="q", time="t", url="l"),
        cleaning=CleaningRecord(users_excluded_by_list=False, max_entries_per_user=None),
        planner=PLANNER,
        plan=tuple(part_record(part, "random") for part in planned.parts),
        assumptions=(),
        parameters_from="unstated",
        period=None,
        approved_plan=None,
        id="made-up",
        ledger=None,
        review=None,
        files={
            part.name(): TableFiles(
                parquet="t.parquet", csv="t.csv", columns=part.kind.columns(), rows=0
            )
            for part in planned.parts
        },
        sha256={},
    )


def changed(record: Record, **keys: Any) -> Record:
    """The record with other values of keys, as release.json has them."""
    return decode(json.dumps({**to_json(record), **keys}))


def part_of(
    mechanism: CalibratedMechanism, goal: Guarantee, *, scale: str | None = None
) -> PartRecord:
    """What release.json says of a table that a mechanism makes, perhaps with another scale."""
    kind = queries(mechanism.items_per_user)
    part = Part(kind=kind, goal=goal, mechanism=mechanism, delta=goal.delta)
    found = part_record(part, "random")
    if scale is None:
        return found
    return structs.replace(found, exact=structs.replace(found.exact, scale=scale))
