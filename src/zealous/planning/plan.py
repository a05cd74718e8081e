"""What will be published at which guarantee, decided without the data.

Guarantee:
    The shares of all parts keep the goal together. Nothing here looks at the log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Self, TypedDict, get_args

from zealous.counting.bound import check_select
from zealous.errors import Refused, ReleaseError, UsageError
from zealous.files.places import absolute_name
from zealous.items import Kind, Kinds, list_kinds
from zealous.logs.log import Cleaning, Columns, Log
from zealous.logs.person_sql import query_assumption, query_hash
from zealous.logs.smaller_units import check_unit
from zealous.planning.added_kinds import with_looks, with_tail
from zealous.planning.declared import Files, PublicFile, public_files
from zealous.planning.from_record import goal_from_record
from zealous.planning.log_binding import LogBinding
from zealous.planning.parameter_source import PARAMETERS_FROM, THIS_LOG, UNSTATED
from zealous.planning.part import Part
from zealous.planning.part_text import describe
from zealous.planning.plan_text import claim_text, plan_html
from zealous.planning.solving import check_delta, choose_mechanisms, solve_parts
from zealous.planning.together import losses, proven_delta
from zealous.privacy.composition import delta_at, proof_at
from zealous.privacy.guarantee import (
    Guarantee,
    Number,
)
from zealous.privacy.units import Select

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.record.record import Record

# Which planner chose the parameters: one more whenever the same wish gives other parameters.
# Releases of 0.1.0 do not say it; theirs was 1.
PLANNER = 6
COMPOSITION = "docs/proofs/composition.md"


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """Everything that determines a release, apart from the log: `publish` carries it out exactly.

    Attributes:
        goal: The guarantee of the whole release.
        parts: The tables that share it, each with its parameters.
        select: How each user's items are chosen, except for kinds that rank them by what was
            published before (`part_select`).
        accept_delta: Whether a large per-person delta was confirmed.
        parameters_from: How the parameters were chosen.
        log: How the log is to be read; None if the plan is for no particular log.
        advised_by: The files whose figures were shown to choose the parameters by.
        approved_file: The bytes of the file that was approved.
        seed: Fixes noise and selection, for tests. A release with a seed is not private.
    """

    goal: Guarantee
    parts: tuple[Part, ...]
    select: Select = "random"
    accept_delta: bool = False
    parameters_from: str = UNSTATED
    log: LogBinding | None = None
    advised_by: tuple[str, ...] = ()
    approved_file: bytes | None = field(default=None, repr=False)
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.select not in get_args(Select):
            raise UsageError(f"select must be one of {', '.join(get_args(Select))}")
        if self.parameters_from not in PARAMETERS_FROM:
            raise UsageError(f"parameters_from must be one of {', '.join(PARAMETERS_FROM)}")

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """The plan that a release says it was made by, with the parameters that it states.

        It may be a stranger's: `check_possible` and `plan_again` tell whether it was planned.

        Raises:
            ReleaseError: What it states is no plan.
        """
        goal, parts = goal_from_record(record), []
        for part in record.plan:
            try:
                parts.append(Part.from_record(part, record.files[part.kind].columns))
            except LookupError:
                raise ReleaseError("the plan and the tables do not name the same kinds") from None
            except (ReleaseError, UsageError) as why:
                raise ReleaseError(f"{part.kind}: {why}") from None
        return cls(
            goal=goal,
            parts=tuple(parts),
            select=record.plan[0].select,
            parameters_from=record.parameters_from,
        )

    @property
    def approved(self) -> str | None:
        """The SHA-256 of the file in which it was approved, for the release to name."""
        return None if self.approved_file is None else sha256(self.approved_file).hexdigest()

    @property
    def composed(self) -> bool:
        """Whether the goal follows from composed losses, and not from the sum of the shares."""
        return sum((part.goal.epsilon for part in self.parts), Fraction(0)) > self.goal.epsilon

    @property
    def delta_achieved(self) -> Fraction:
        """The delta that all histograms achieve together, at most the goal's."""
        return proven_delta(self.goal, self.parts)

    def for_log(
        self, columns: Columns, cleaning: Cleaning | None = None, sql: str | None = None
    ) -> Self:
        """The same plan, for logs that are read so and no others."""
        kinds, unit = self.kinds(), self.goal.unit
        return replace(self, log=LogBinding.of(columns, cleaning or Cleaning(), kinds, unit, sql))

    def for_people(self, dataset: str | None = None, people: str | None = None) -> Self:
        """The same plan, for the ledger of these people and no other.

        Args:
            dataset: The name of the ledger's people; None for any ledger.
            people: The name in it for those of the log; None for whoever is said.
        """
        if dataset is None and people is None:
            return self
        if self.log is None:
            raise UsageError(
                "a plan that names people must say which column is the person: --items"
            )
        return replace(self, log=replace(self.log, dataset=dataset, people=people))

    def bind(self, log: Log) -> tuple[Self, Log]:
        """The plan for this log, and the log as the plan has it read.

        Whoever chose parameters by the figures of this very log has looked at it, whatever is said.

        Raises:
            Refused: The plan is for a log that is read otherwise.
        """
        kinds, unit = self.kinds(), self.goal.unit
        binding = self.log or LogBinding.of(log.columns, log.cleaning, kinds, unit, log.sql)
        bound = self if self.log else replace(self, log=binding)
        if set(self.advised_by) & {absolute_name(each) for each in log.paths}:
            bound = replace(bound, parameters_from=THIS_LOG)
        return bound, binding.bind(log, kinds, unit)

    def assumptions(self) -> list[str]:
        """What must be true outside the program for the claim to hold."""
        person = self.log.columns.user if self.log else None
        sql = self.log.sql if self.log else None
        queried = [] if sql is None else [query_assumption(query_hash(sql), self.goal.unit)]
        return [
            *self.goal.assumptions(person),
            PARAMETERS_FROM[self.parameters_from].assumption,
            *queried,
        ]

    def check_possible(self, roles: Collection[str]) -> None:
        """Refuse a plan that nobody could have made, or not for a log that has such columns.

        Raises:
            UsageError: A mechanism does not serve its kind, what it makes use of does not come
                before it, or a column is missing.
        """
        choose_mechanisms(
            self.goal, self.kinds(), mechanism=self.mechanisms(), public=self.public()
        )
        check_unit(self.goal.unit, roles)
        for part in self.parts:
            part.check(roles)
        check_select(self.select, roles)

    def check_claim(self) -> None:
        """Refuse a plan that `plan` does not make: one that was changed after it was made.

        What it promises would not follow from its parameters, or `verify` would not find it so.

        Raises:
            UsageError: This cannot be planned.
            Refused: Planned again it is another plan, or its delta was not confirmed.
        """
        check_delta(self.goal, self.accept_delta)
        again = self.plan_again()
        if (again.goal, again.parts) != (self.goal, self.parts):
            raise Refused("this plan is not what its goal and kinds of items give: plan again")

    def plan_again(self) -> Plan:
        """What this version plans for the same goal, kinds, shares, mechanisms and files."""
        goal, parts = solve_parts(
            self.goal,
            self.kinds(),
            self.public(),
            split={part.name(): part.goal.epsilon for part in self.parts},
            accept_delta=True,
            mechanism=self.mechanisms(),
        )
        return replace(self, goal=goal, parts=parts)

    def with_inputs(self, released: Mapping[str, pa.Table]) -> Self:
        """The same, with what follows from published tables: see `Part.with_inputs`."""
        return replace(self, parts=tuple(part.with_inputs(released) for part in self.parts))

    def mechanisms(self) -> dict[str, str]:
        """How each kind is published."""
        return {part.name(): part.mechanism.name for part in self.parts}

    def kinds(self) -> list[Kind]:
        """What will be published."""
        return [part.kind for part in self.parts]

    def public(self) -> dict[str, PublicFile]:
        """The public file of each kind that has one."""
        return {part.name(): part.public for part in self.parts if part.public is not None}

    def with_files(self, **files: Files | None) -> Self:
        """The same plan with its public files, for a plan that was read from a file.

        Args:
            files: The files, each under the name that it has in `plan`: `domain`, `prior`, ...

        Raises:
            UsageError: A file is missing, has another SHA-256, or is not in the plan.
        """
        found = public_files(self.kinds(), **files)
        planned = self.public()
        if {kind: file.sha256 for kind, file in found.items()} != {
            kind: file.sha256 for kind, file in planned.items()
        }:
            names = ", ".join(f"{file.name} for {kind}" for kind, file in planned.items())
            raise UsageError(
                "the public files are not those of the plan, by their SHA-256: give "
                f"{names or 'none'}"
            )
        parts = tuple(
            replace(part, public=replace(part.public, path=found[part.name()].path))
            if part.public
            else part
            for part in self.parts
        )
        return replace(self, parts=parts)

    def __repr__(self) -> str:
        each = (
            f"{part.name()}, at most {part.kind.items_per_user} a {self.goal.unit}"
            for part in self.parts
        )
        return f"Plan({self.goal!r}: {'; '.join(each)})"

    def _repr_html_(self) -> str:
        return plan_html(self, other_guarantee(self))

    def __str__(self) -> str:
        """A table in words, for a terminal."""
        read = [self.log.describe(self.kinds())] if self.log else []
        parts = (describe(part) for part in self.parts)
        claim = claim_text(self, other_guarantee(self))
        return "\n\n".join([claim, *read, *parts])


class Options(TypedDict, total=False):
    """What can be asked of `plan` beside a goal and kinds; `publish` hands it on."""

    split: Mapping[str, Number] | None
    accept_delta: bool
    mechanism: str | Mapping[str, str] | None
    domain: Files | None
    prior: Files | None
    results: Files | None
    select: Select
    parameters_from: str
    seed: int | None
    look: bool
    tail: Number | None


def plan(
    goal: Guarantee,
    kinds: Kinds,
    *,
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
    mechanism: str | Mapping[str, str] | None = None,
    domain: Files | None = None,
    prior: Files | None = None,
    results: Files | None = None,
    select: Select = "random",
    parameters_from: str = UNSTATED,
    seed: int | None = None,
    look: bool = False,
    tail: Number | None = None,
    log: Log | None = None,
    **other_files: Files | None,
) -> Plan:
    """Plan a release: split a goal over kinds of items and find the best parameters for each.

    If no table needs a delta, the plan's goal has delta 0, whatever was given.

    Args:
        goal: The guarantee of the whole release, over all kinds.
        kinds: What to publish: `queries(5)`, or a list of kinds.
        split: Weights by name of kind. By default, mostly even. Delta is split only over the tables
            that need one.
        accept_delta: Confirms a delta per person that is so large that items of single persons are
            expected to be published (indistinguishability only).
        mechanism: A name, or a name for each kind: `zealous`, `laplace`, `gaussian`, ..., or `auto`
            for the one that publishes most, judged without the log. By default, ZEALOUS, or the
            mechanism that a given public file is for. A single name does not apply to kinds that
            are made of other published items, which have mechanisms of their own.
        domain: A public file with items; for several kinds, a mapping from their names to files.
            All of these items are published, and no others.
        prior: A public file of items with frequencies, or an earlier release; for several kinds, a
            mapping. Of each person's items, those that are frequent there are preferred.
        results: A public file with the documents that a search shows for a query (columns `query`,
            `url`, and `rank` if known). Of the clicks for published queries, those on these
            documents are published.
        select: How each user's items are chosen: `random`, `first` or `frequent`.
        parameters_from: How the parameters were chosen: `public-facts`, `earlier-release`,
            `synthetic-log`, `this-log` (which the guarantee does not cover) or `unstated`.
        seed: Fixes noise and selection, for tests; such a release is marked as not private, and
            charged to nobody.
        look: If `auto` chooses, first publishes how many items each user has, and chooses the
            mechanism, m and all bounds by that. The items_per_user of these kinds is then not used.
        tail: Also publishes statistics of rare queries, for this much more epsilon than the goal's.
            Queries and keywords must be among the kinds, and the split is that of these kinds.
        log: The log that the plan is for, if it is known. The plan then names the log's columns,
            and covers the hours of rare queries only if the log has times.
        other_files: Public files for mechanisms of other packages, under the names that they chose.
    """
    if not isinstance(goal, Guarantee):
        raise UsageError(
            "a plan begins with the guarantee to give: "
            "z.ProbabilisticDP(epsilon=2, delta=0.001, users=100_000)"
        )
    if log is not None and not isinstance(log, Log):
        raise UsageError("a log is published once it is read: z.read_log(PATH)")
    named = list_kinds(kinds)
    if tail is not None:
        roles = log.columns.assigned() if log else None
        named, goal, split = with_tail(named, goal, tail, split=split, roles=roles)
    public = public_files(named, domain=domain, prior=prior, results=results, **other_files)
    if look:
        named, split = with_looks(named, goal, mechanism=mechanism, split=split, files=public)
    planned = plan_with_files(
        goal, named, public, split=split, accept_delta=accept_delta, mechanism=mechanism
    )
    planned = replace(planned, select=select, parameters_from=parameters_from, seed=seed)
    return planned.for_log(log.columns, log.cleaning, log.sql) if log else planned


def plan_with_files(
    goal: Guarantee,
    kinds: Sequence[Kind],
    public: Mapping[str, PublicFile],
    *,
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
    mechanism: str | Mapping[str, str] | None = None,
) -> Plan:
    """As `plan`, where each kind's public file is known by its hash, wherever it is."""
    goal, parts = solve_parts(
        goal, kinds, public, split=split, accept_delta=accept_delta, mechanism=mechanism
    )
    return Plan(goal=goal, parts=parts, accept_delta=accept_delta)


def other_guarantee(planned: Plan) -> Guarantee | None:
    """The other guarantee that the planned parameters give, over all histograms together.

    None where it would promise nothing: its delta reaches 1, or needs a number of users that is
    not declared; and where a mechanism takes part that gives one of them alone.
    """
    found = [part.mechanism.other_guarantee(planned.goal) for part in planned.parts]
    others = [each for each in found if each is not None]
    delta = sum((each.delta for each in others), Fraction(0))
    if len(others) < len(found) or delta >= 1:
        return None
    epsilon = sum((each.epsilon for each in others), Fraction(0))
    return planned.goal.with_budget(type(others[0]), epsilon=epsilon, delta=delta)


def theorem(planned: Plan) -> str:
    """Where it is proved that the parameters give the goal."""
    goal = planned.goal
    if planned.composed:
        return proof_at(losses(planned.parts, goal.neighbors), goal.epsilon)
    proofs = {part.mechanism.theorem(goal) for part in planned.parts}
    return proofs.pop() if len(proofs) == 1 else COMPOSITION


def covers_replaced(planned: Plan) -> bool:
    """Whether an `add-remove` plan holds for `replace` too, at twice the epsilon and its own delta.

    A ledger charges it so (docs/proofs/ledger.md). ZEALOUS does by its theorem; others are looked
    at: where delta is large, two moved counts can tell more than twice what one tells.
    """
    goal = planned.goal
    if goal.neighbors != "add-remove" or goal.pure:
        return True
    if planned.composed:
        return delta_at(losses(planned.parts, "replace"), 2 * goal.epsilon) <= goal.delta
    replaced = (part.mechanism.delta_if_replaced(part.goal) for part in planned.parts)
    return sum(replaced, Fraction(0)) <= goal.delta
