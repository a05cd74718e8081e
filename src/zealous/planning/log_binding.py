"""What a plan says of the log: which columns mean what, whose entries are left out, the limits.

Whoever approves a plan approves this too: a plan is carried out on a log that is read so, or not at
all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Self

from msgspec import structs

from zealous.errors import Refused, UsageError
from zealous.files.limits import Limits
from zealous.items import Kind
from zealous.logs.log import Cleaning, Columns, Log
from zealous.logs.smaller_units import UNIT_ROLES
from zealous.privacy.guarantee import Unit, person_in_words
from zealous.record.codec import structure
from zealous.record.plan_record import CleaningRule, LogRecord
from zealous.record.record import ColumnNames, LimitsRecord

_MAKE_ITEMS = ("query", "url", "keywords")  # other roles put entries in order, or together
_TIME = "time"  # the column of the time where a plan names none: a log need not have it


@dataclass(frozen=True, kw_only=True)
class LogBinding:
    """How the log of a plan is to be read.

    Attributes:
        columns: The column of each role that the plan makes use of.
        excludes_listed: Whether people on a list are left out; which ones is no part of a plan.
        max_entries_per_user: Whoever has more entries is left out.
        limits: The most that is looked at of anybody else.
        sql: The query whose result is the log; None for a log that is none's.
        dataset: Whose ledger is to be charged, by the name of its people; None for any.
        people: The name in that ledger for the people of the log; None for any.
    """

    columns: Columns
    excludes_listed: bool = False
    max_entries_per_user: int | None = None
    limits: Limits = field(default_factory=Limits)
    sql: str | None = None
    dataset: str | None = None
    people: str | None = None

    @classmethod
    def of(
        cls,
        columns: Columns,
        cleaning: Cleaning,
        kinds: Collection[Kind],
        unit: Unit,
        sql: str | None = None,
    ) -> Self:
        """What such a plan makes use of.

        Raises:
            UsageError: It would publish who people are.
        """
        _check_nobody_shown(columns, kinds)
        return cls(
            columns=_columns_of_roles(columns, roles_used(kinds, unit)),
            excludes_listed=cleaning.exclude_users is not None,
            max_entries_per_user=cleaning.max_entries_per_user,
            limits=cleaning.limits,
            sql=sql,
        )

    @classmethod
    def from_record(cls, said: LogRecord) -> Self:
        """What a plan in a file says."""
        cleaning = said.cleaning
        return cls(
            columns=Columns(**said.columns.assigned()),
            excludes_listed=cleaning.users_excluded_by_list,
            max_entries_per_user=cleaning.max_entries_per_user,
            limits=Limits(**structs.asdict(cleaning.limits)),
            sql=said.sql,
            dataset=said.dataset,
            people=said.people,
        )

    def as_record(self) -> LogRecord:
        """For a plan in a file."""
        return LogRecord(
            person=person_in_words(self.columns.user),
            columns=structure(self.columns.assigned(), ColumnNames),
            sql=self.sql,
            dataset=self.dataset,
            people=self.people,
            cleaning=CleaningRule(
                users_excluded_by_list=self.excludes_listed,
                max_entries_per_user=self.max_entries_per_user,
                limits=LimitsRecord(**asdict(self.limits)),
            ),
        )

    def bind(self, log: Log, kinds: Collection[Kind], unit: Unit) -> Log:
        """The log, read as the plan says.

        Raises:
            Refused: It is read otherwise.
        """
        _check_nobody_shown(self.columns, kinds)
        if self.sql != log.sql:
            raise Refused(
                "the plan is for the result of another query, or of none: read the log with the "
                "--sql that it names, or plan again and have that approved"
            )
        log = log.without_recognised(self.columns.assigned())  # nobody approved those
        own, read = self.columns.assigned(), log.columns.assigned()
        if read.get("time") == _TIME:
            own = {"time": _TIME, **own}
        for role in sorted({*own, *(roles_used(kinds, unit) & read.keys())}):
            if own.get(role) != read.get(role):
                raise Refused(_difference(role, own.get(role), read.get(role)))
        different = self._other_cleaning(log.cleaning)
        if different:
            raise Refused(
                f"the plan says otherwise who is left out and how much of each person is read: "
                f"{'; '.join(different)}. Read the log as planned, or plan again and have that "
                "approved"
            )
        return replace(log, columns=_columns_of_roles(log.columns, roles_used(kinds, unit)))

    def _other_cleaning(self, cleaning: Cleaning) -> list[str]:
        """Options by which a log is cleaned otherwise than planned."""
        planned = _cleaning_options(self.excludes_listed, self.max_entries_per_user, self.limits)
        given = _cleaning_options(
            cleaning.exclude_users is not None, cleaning.max_entries_per_user, cleaning.limits
        )
        return [
            f"--{option} is {given[option] or 'none'}, and {planned[option] or 'none'} in the plan"
            for option in planned
            if planned[option] != given[option]
        ]

    def describe(self, kinds: Iterable[Kind]) -> str:
        """In words, for a terminal or a notebook."""
        listed = other_columns(self.columns.assigned(), kinds)
        if self.columns.time is None:
            listed.append(("the time, if the log has it", _TIME))
        said = [person_in_words(self.columns.user)]
        if self.dataset is not None or self.people is not None:
            names = (("dataset", self.dataset), ("people", self.people))
            whose = " and ".join(f"the {what} {name}" for what, name in names if name is not None)
            said.append(f"For {whose} alone, as the ledger names them.")
        if self.sql is not None:
            said.append(f"The log is the result of: {self.sql}")
        said.append(
            "Other columns: " + ", ".join(f"{name} ({what})" for what, name in listed) + "."
        )
        left_out = [
            *(["people on a list"] if self.excludes_listed else []),
            *(
                [f"whoever has more than {self.max_entries_per_user:,} entries"]
                if self.max_entries_per_user
                else []
            ),
        ]
        said.append(
            f"Left out: {' and '.join(left_out) or 'nobody'}. Read of each person: at most "
            f"{self.limits.entries:,} entries, texts of at most {self.limits.text:,} bytes."
        )
        return "\n".join(said)


def _check_nobody_shown(columns: Columns, kinds: Collection[Kind]) -> None:
    """Refuse to publish who people are."""
    also = [
        role
        for role, name in columns.assigned().items()
        if name == columns.user and role in _MAKE_ITEMS
    ]
    for kind in kinds:
        if columns.user in kind.shown_columns():
            raise UsageError(
                f"{kind.name()} would publish {columns.user!r}, the column that says who a "
                "person is: name other columns"
            )
        for role in also:
            if role in (*kind.required_roles, *kind.may_use):
                raise UsageError(
                    f"{kind.name()} would be made of {columns.user!r}, the column that says who a "
                    f"person is: name another one by --{role}"
                )


def other_columns(roles: Mapping[str, str], kinds: Iterable[Kind]) -> list[tuple[str, str]]:
    """What each column is that is read beside the person's, and its name."""
    items = dict.fromkeys(name for kind in kinds for name in kind.extra_columns())
    own = [(f"the {role}", name) for role, name in roles.items() if role != "user"]
    return [*own, *(("part of the items", name) for name in items)]


def roles_used(kinds: Iterable[Kind], unit: Unit) -> set[str]:
    """The roles of columns that a plan makes use of, where the log has a column for them."""
    used = {"user", "time", *UNIT_ROLES[unit]}
    return used.union(*((*kind.required_roles, *kind.may_use) for kind in kinds))


def _cleaning_options(
    listed: bool, most: int | None, limits: Limits
) -> dict[str, str | int | None]:
    each = {f"limits {name}": value for name, value in asdict(limits).items()}
    return {"exclude-users": "a list" if listed else None, "max-entries-per-user": most, **each}


def _columns_of_roles(columns: Columns, roles: Collection[str]) -> Columns:
    return Columns(**{role: name for role, name in columns.assigned().items() if role in roles})


def _difference(role: str, planned: str | None, read: str | None) -> str:
    what = "the person" if role == "user" else f"the {role}"
    plan = f"column {planned!r} as {what}" if planned else f"no column as {what}"
    if role == planned == "user":
        plan += ", as every plan made without --user does"
    log = f"column {read!r}" if read else "none"
    as_planned = f"read it as planned (--{role} {planned}), or " if planned else ""
    again = f"with --{role} {read}" if read else f"without --{role}"
    return (
        f"the plan names {plan}, and the log is read with {log}: {as_planned}plan again {again} "
        "and have that approved"
    )
