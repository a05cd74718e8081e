"""The record of a release that is made: public parameters, then what was drawn and charged.

Guarantee:
    Everything in the record was fixed before the log was read, or follows from published rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from msgspec.structs import asdict, replace

from zealous.logs.log import Log
from zealous.logs.person_sql import query_hash
from zealous.planning.part import part_record, part_select
from zealous.planning.plan import PLANNER, Plan, other_guarantee, theorem
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.promise import promise
from zealous.record.codec import structure
from zealous.record.record import (
    FORMAT,
    Claim,
    CleaningRecord,
    ColumnNames,
    ExactBudget,
    ExactClaim,
    LedgerStamp,
    LimitsRecord,
    PartRecord,
    Record,
    Software,
    TableFiles,
)
from zealous.release.assumptions import assumptions
from zealous.release.build import audit_figures, build_hash
from zealous.release.bundle import file_names
from zealous.release.publisher import read_publisher
from zealous.release.request import Request
from zealous.release.table import Table
from zealous.version import VERSION

# What a release of the same id must have in common with the one that is asked for.
ASKED = (
    "format",
    "private",
    "guarantee",
    "also_guaranteed",
    "columns",
    "query",
    "cleaning",
    "plan",
    "assumptions",
    "parameters_from",
    "period",
    "approved_plan",
)


def provenance(request: Request, *, others: bool, publisher: str | Path | None = None) -> Record:
    """The promise, and everything that was fixed before the log was read; no charge and no table.

    Args:
        request: What is published, from which log.
        others: Whether its people are claimed to be others than those of other releases.
        publisher: A publisher.toml, where there is one: who publishes and what for.
    """
    planned, log, period = request.plan, request.log, request.period
    goal, other = planned.goal, other_guarantee(planned)
    public = planned.public().values()
    return Record(
        format=FORMAT,
        software=software(),
        created=today(),
        private=planned.seed is None,
        guarantee=exact_claim(goal, theorem(planned)),
        also_guaranteed=claim_record(other, float_rounded_up, other.theorem) if other else None,
        selection_key=f"{request.key:016x}",
        columns=structure(log.columns.assigned(), ColumnNames),
        query=None if log.sql is None else query_hash(log.sql),
        cleaning=cleaning_record(log),
        planner=PLANNER,
        plan=plan_record(planned),
        assumptions=assumptions(
            goal,
            log.columns,
            period,
            public,
            others=others,
            parameters_from=planned.parameters_from,
            query=None if log.sql is None else query_hash(log.sql),
        ),
        parameters_from=planned.parameters_from,
        period=str(period) if period else None,
        approved_plan=planned.approved,
        publisher=None if publisher is None else read_publisher(publisher),
        id="",
        ledger=None,
        review=None,
        files={},
        sha256={},
    )


def with_tables(
    record: Record,
    planned: Plan,
    tables: Mapping[str, Table],
    *,
    name: str,
    ledger: LedgerStamp | None,
) -> Record:
    """The same with what was drawn and what follows from it, and who paid for it."""
    plan = plan_record(planned.with_inputs({kind: table.arrow for kind, table in tables.items()}))
    return replace(record, plan=plan, id=name, ledger=ledger, files=table_files(tables))


def plan_record(planned: Plan) -> tuple[PartRecord, ...]:
    """What is said of each table."""
    return tuple(
        part_record(part, part_select(part.kind, planned.select)) for part in planned.parts
    )


def software() -> Software:
    """This program."""
    return Software(name="zealous", version=VERSION, build=build_hash(), audit=audit_figures())


def today() -> str:
    """The day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def cleaning_record(log: Log) -> CleaningRecord:
    """Who was left out of a log, without telling whom."""
    limits = log.cleaning.limits
    return CleaningRecord(
        users_excluded_by_list=log.cleaning.exclude_users is not None,
        max_entries_per_user=log.cleaning.max_entries_per_user,
        limits=LimitsRecord(text=limits.text, entries=limits.entries, words=limits.words),
    )


def table_files(tables: Mapping[str, Table]) -> dict[str, TableFiles]:
    """The files of each kind."""
    names = file_names(list(tables))
    return {
        kind: TableFiles(
            parquet=f"{names[kind]}.parquet",
            csv=f"{names[kind]}.csv",
            columns=tuple(name for name in table.arrow.column_names if name != "count"),
            rows=len(table),
        )
        for kind, table in tables.items()
    }


def claim_record(goal: Guarantee, number: Callable[[Fraction], float], proof: str) -> Claim:
    """A guarantee for programs: what was asked as it was, what was computed rounded up."""
    claim = Claim(
        definition=goal.definition,
        title=goal.title,
        epsilon=number(goal.epsilon),
        delta=number(goal.delta),
        users=goal.users,
        neighbors=goal.neighbors,
        unit=goal.unit,
        in_words="",
        theorem=proof,
    )
    return replace(claim, in_words=promise(claim))  # of the very numbers that it states


def exact_claim(goal: Guarantee, proof: str) -> ExactClaim:
    """The guarantee of a whole release, as it was asked for."""
    exact = ExactBudget(epsilon=str(goal.epsilon), delta=str(goal.delta))
    return ExactClaim(**asdict(claim_record(goal, float, proof)), exact=exact)
