"""What release.json holds, key by key, in the order in which it is written.

These types are the format: what they do not name is refused, and
`docs/reference/release.schema.json` is made from them. A field that is None by default is left out
of the file where it is None; the comment says which releases lack it.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta, Struct, field, to_builtins

from zealous.privacy.guarantee import Definition, Neighbors, Unit
from zealous.privacy.units import Select

FORMAT: Literal["zealous release 1"] = "zealous release 1"

# `$` alone would let a line end follow.
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?!\n)$")]
LawName = Annotated[str, Meta(pattern=r"^[a-z]+(-[a-z]+)*(?!\n)$")]
Exact = Annotated[str, Meta(pattern=r"^[0-9]+(/[0-9]+)?(?!\n)$")]
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\n)$")]
Number = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Users = Annotated[int, Meta(le=2**63 - 1)]
ParquetName = Annotated[str, Meta(pattern=r"^[\w~-]+\.parquet(?!\n)$")]
# What else defines an item, by name: which there are is known to the kind, of whatever package.
Settings = dict[str, str | int | bool | None]
# What a mechanism needs besides: which there are is known to the mechanism, of whatever package.
Parameters = dict[str, str | int | bool | tuple[dict[str, str | int | bool], ...]]
CsvName = Annotated[str, Meta(pattern=r"^[\w~-]+\.csv(?!\n)$")]


class Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of the record: an object with these keys and no others."""


class AuditFigures(Strict, frozen=True, kw_only=True):
    """An audit that found no violation: of which build, when, and how much it tried."""

    build: Hash
    day: Day
    pairs: int
    runs: int


class Software(Strict, frozen=True, kw_only=True):
    """What made the release."""

    name: Literal["zealous"]
    version: str
    build: Hash | None = None  # 0.1.0 wrote none
    audit: AuditFigures | None = None  # of versions that come with figures of their audit


class ExactBudget(Strict, frozen=True, kw_only=True):
    """Epsilon and delta as fractions."""

    epsilon: Exact
    delta: Exact


class Claim(Strict, frozen=True, kw_only=True):
    """A guarantee: its numbers, and what they say in words."""

    definition: Definition
    title: str
    epsilon: Number
    delta: Number
    users: Users | None
    neighbors: Neighbors
    unit: Unit
    in_words: str
    theorem: str


class ExactClaim(Claim, frozen=True, kw_only=True):
    """The guarantee of the whole release, also in exact numbers."""

    exact: ExactBudget


class ColumnNames(Strict, frozen=True, kw_only=True):
    """Which column of the log played which role; roles that it has no column for are left out."""

    user: str
    query: str | None = None
    time: str | None = None
    url: str | None = None
    session: str | None = None
    keywords: str | None = None

    def assigned(self) -> dict[str, str]:
        """The roles that have a column."""
        found: dict[str, str] = to_builtins(self)
        return found


class LimitsRecord(Strict, frozen=True, kw_only=True):
    """The most that was looked at of one person."""

    text: int
    entries: int
    words: int


class CleaningRecord(Strict, frozen=True, kw_only=True):
    """Who was left out, without telling whom."""

    users_excluded_by_list: bool
    max_entries_per_user: int | None
    limits: LimitsRecord | None = None  # 0.1.0 had none


class ExactPart(ExactBudget, frozen=True, kw_only=True):
    """The numbers of a table as fractions."""

    scale: Exact


class RoundRecord(Strict, frozen=True, kw_only=True):
    """One of the rounds in which keys are found."""

    items_per_user: int
    scale: int
    threshold: int


class PublicFileRecord(Strict, frozen=True, kw_only=True):
    """A public file that a mechanism uses."""

    name: str
    sha256: Hash


class UsersToAppear(Strict, frozen=True, kw_only=True):
    """How many users an item needs to appear with 5, 50 and 95 % probability."""

    low: int = field(name="5%")
    half: int = field(name="50%")
    high: int = field(name="95%")


class ForecastRecord(Strict, frozen=True, kw_only=True):
    """What was to be expected of a table."""

    users_to_appear: UsersToAppear
    error_95: int
    single_person_items: Number | None


class MechanismParameters(Strict, frozen=True, kw_only=True):
    """What a mechanism needs besides scale and thresholds: one of these keys of its table."""

    rounds: tuple[RoundRecord, ...] | None = None
    longer: Exact | None = None
    parameters: Parameters | None = None


class PartRecord(Strict, frozen=True, kw_only=True):
    """One table: what it counts, its share of the budget, its mechanism and parameters."""

    kind: str
    settings: Settings
    select: Select  # 0.x wrote that of the plan, also for kinds that rank items by themselves
    guarantee: Definition
    neighbors: Neighbors
    epsilon: Number
    delta: Number
    users: Users | None
    unit: Unit
    items_per_user: int
    mechanism: str
    noise: LawName
    scale: Number
    tau: int
    tau_prime: int | None
    delta_achieved: Number
    exact: ExactPart
    rounds: tuple[RoundRecord, ...] | None = None  # of mechanisms that find keys first
    longer: Exact | None = None  # of a mechanism whose noise is held longer
    parameters: Parameters | None = None  # of mechanisms with more than the keys above
    public: PublicFileRecord | None = None  # of mechanisms that use a public file
    forecast: ForecastRecord


class PeriodAccount(Strict, frozen=True, kw_only=True):
    """What one person has lost about one period."""

    within: str
    epsilon: Number
    delta: Number
    exact: ExactBudget
    releases: int
    composed: bool | None = None  # where its cap limits composed losses, which these are worth


class WholeAccount(Strict, frozen=True, kw_only=True):
    """What one person has lost over all releases."""

    epsilon: Number
    delta: Number
    exact: ExactBudget
    releases: int
    composed: bool | None = None  # where its cap limits composed losses, which these are worth


class AccountsRecord(Strict, frozen=True, kw_only=True):
    """What all charges came to, with this one."""

    period: PeriodAccount
    all: WholeAccount
    delta_for_anybody: Number
    definition: Definition


class CapRecord(Strict, frozen=True, kw_only=True):
    """The most that may be lost; None where there is no cap."""

    epsilon: Number | None
    delta: Number | None


class CapsRecord(Strict, frozen=True, kw_only=True):
    """The caps of both accounts when the release was charged."""

    all: CapRecord | None
    period: CapRecord | None


class LedgerStamp(Strict, frozen=True, kw_only=True):
    """The entry of a ledger that paid for the release. The file has `"tracked": true` before it."""

    ledger: str
    entry: int
    hash: Hash
    accounts: AccountsRecord
    unit: Unit
    neighbors: Neighbors
    dataset: str | None
    caps: CapsRecord
    approver: str | None = None  # who signed the plan, where the ledger has approvers
    promised: CapsRecord | None = None  # of all caps so far, where it is more


class ReviewRecord(Strict, frozen=True, kw_only=True):
    """Which rows of a parent were removed to make this release."""

    parent: Hash
    parent_id: str
    rules: tuple[str, ...]
    removed: dict[str, int]
    earlier: ReviewRecord | None


class TableFiles(Strict, frozen=True, kw_only=True):
    """The files of a table, the columns of its items, and the number of its rows."""

    parquet: ParquetName
    csv: CsvName
    columns: tuple[str, ...]
    rows: int


class PublisherRecord(Strict, frozen=True, kw_only=True):
    """Who publishes and what for, as publisher.toml says it; what it does not say is left out."""

    title: str | None = None
    publisher: str | None = None
    contact: str | None = None
    purpose: str | None = None
    licence: str | None = None
    url: str | None = None
    region: str | None = None
    period: str | None = None
    collection: str | None = None
    access: str | None = None
    retention: str | None = None
    audit: str | None = None


class Record(Strict, frozen=True, kw_only=True):
    """All that a release says of itself: public parameters, and what follows from its tables.

    Attributes:
        ledger: None for a release whose budget is not tracked; the file says `"tracked": false`.
        planner: The number of the planner; None for releases of 0.1.0, whose planner was 1.
        files: By name of kind, in the order of the plan.
        sha256: The SHA-256 of each other file; empty until they are written.
    """

    format: Literal["zealous release 1"]
    software: Software
    created: Day
    private: bool
    guarantee: ExactClaim
    also_guaranteed: Claim | None
    selection_key: str
    columns: ColumnNames
    query: Hash | None = None  # of releases of a query's result: the SHA-256 of its text
    cleaning: CleaningRecord
    planner: int | None = None  # 0.1.0 wrote none
    plan: tuple[PartRecord, ...]
    assumptions: tuple[str, ...]
    parameters_from: str
    period: str | None
    approved_plan: Hash | None
    id: str
    ledger: LedgerStamp | None
    review: ReviewRecord | None
    publisher: PublisherRecord | None = None  # of releases made with a publisher.toml
    files: dict[str, TableFiles]
    sha256: dict[str, Hash]

    def reviews(self) -> list[ReviewRecord]:
        """The reviews that the release went through, the first one first."""
        found, last = [], self.review
        while last is not None:
            found.append(last)
            last = last.earlier
        return found[::-1]

    def is_filtered(self) -> bool:
        """Whether a review removed rows: what is left promises less than the whole."""
        return any(number for each in self.reviews() for number in each.removed.values())

    def losses_compose(self) -> bool:
        """Whether the total follows from the composed losses of the tables, and is below a sum."""
        added = sum((Fraction(part.exact.epsilon) for part in self.plan), Fraction(0))
        return added > Fraction(self.guarantee.exact.epsilon)

    def planner_number(self) -> int:
        """Which planner chose the parameters."""
        return 1 if self.planner is None else self.planner
