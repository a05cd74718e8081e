"""What `zealous demo` shows, measured on a synthetic log: the log, two attacks, two releases.

All of it is invented, so true figures of the log may be shown here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zealous.files.scratch import working_directory
from zealous.items import queries
from zealous.logs.log import Log, read_log
from zealous.planning.plan import Plan, plan
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.release.account import Account
from zealous.release.bundle import Release
from zealous.release.publish import publish
from zealous.study.anonymity.k_query import KQuery
from zealous.study.attacks.active import (
    ActiveAttack,
    accounts_to_be_shown,
    run_active_attack,
    run_active_attack_on_zealous,
)
from zealous.study.attacks.planted_entries import choose_guesses
from zealous.study.attacks.staged_log import stage_log
from zealous.synthetic import generate, is_personal
from zealous.verification.verify import Verdict, verify

EPSILON = 2
ITEMS_PER_USER = 2
K = 10
_DELTA, _DELTA_PER_PERSON = "0.001", "1e-6"
_VICTIMS = 100
_LINES = 5
_SEED = 7
_FACT = " divorce"  # how the query ends whose asker is shown

Say = Callable[[str], None]


class Entry(NamedTuple):
    """A line of the log."""

    user: int
    time: datetime
    query: str


@dataclass(frozen=True, kw_only=True)
class Published:
    """A plan, and what came of it.

    Attributes:
        plan: What was planned.
        release: What was published.
        personal: How many personal queries of the log are in it.
    """

    plan: Plan
    release: Release
    personal: int


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """Everything that was measured.

    Attributes:
        users: How many users the log was made for.
        entries: How many lines it has.
        person: Some lines of one user who asked for a person by name; none in a small log.
        personal: How many different queries of the log are about one invented person.
        attacks: The active attack on k-anonymity, and on ZEALOUS.
        published: The release, which is written.
        per_person: The same log at the same epsilon under the guarantee whose delta is per person.
        checks: What `verify` found.
    """

    users: int
    entries: int
    person: list[Entry]
    personal: int
    attacks: tuple[ActiveAttack, ActiveAttack]
    published: Published
    per_person: Published
    checks: Verdict

    def verified(self) -> bool:
        """Whether the release holds all that it says."""
        return all(check.ok for check in self.checks)


def demonstrate(folder: Path, *, users: int, say: Say = lambda _: None) -> Demonstration:
    """Make a log, publish it, and attack it.

    Args:
        folder: Where log.parquet, the directory release and the ledger are written.
        users: How many users the log is made for.
        say: Receives progress.
    """
    path = folder / "log.parquet"
    say(f"making a log of {users:,} people")
    generate(path, users=users, seed=_SEED)
    rows = pq.read_table(path, columns=["user", "time", "query"])
    personal = {text for text in _lower_case_queries(rows) if is_personal(text)}
    log = read_log(path)

    say("publishing it")
    goal = ProbabilisticDP(epsilon=EPSILON, delta=_DELTA, users=users)
    ledger, output = folder / "zealous-ledger.sqlite", folder / "release"
    published = _publish(
        log, goal, personal, account=Account(ledger=ledger), output=output, mechanism=None
    )
    say("publishing under the other guarantee")
    weaker = Indistinguishability(epsilon=EPSILON, delta=_DELTA_PER_PERSON, users=users)
    per_person = _publish(log, weaker, personal, account=None, output=None, mechanism="auto")
    return Demonstration(
        users=users,
        entries=len(rows),
        person=_lines_of_one_person(rows, personal),
        personal=len(personal),
        attacks=_attack_at_best(log, goal, say),
        published=published,
        per_person=per_person,
        checks=verify(output, ledger),
    )


def _publish(
    log: Log,
    goal: Guarantee,
    personal: set[str],
    *,
    account: Account | None,
    output: Path | None,
    mechanism: str | None,
) -> Published:
    planned = plan(
        goal, [queries(ITEMS_PER_USER)], mechanism=mechanism, parameters_from="synthetic-log"
    )
    release = publish(log, planned, account=account, output=output)
    shown = set(release["queries"].arrow["query"].to_pylist())
    return Published(plan=planned, release=release, personal=len(personal & shown))


def _attack_at_best(log: Log, goal: ProbabilisticDP, say: Say) -> tuple[ActiveAttack, ActiveAttack]:
    """Both in her best case: enough accounts that the output shows what she guesses."""
    accounts = accounts_to_be_shown(goal, ITEMS_PER_USER)
    with working_directory() as folder:
        say("attacking k-anonymity")
        staged = stage_log(log, folder / "staged.parquet")
        guesses = choose_guesses(staged, victims=_VICTIMS, seed=_SEED, among_first=ITEMS_PER_USER)
        first = run_active_attack(staged, KQuery(k=K), guesses, seed=_SEED)
        say("attacking zealous")
        with_accounts = ProbabilisticDP(
            epsilon=goal.epsilon, delta=goal.delta, users=(goal.users or 0) + accounts * _VICTIMS
        )
        second = run_active_attack_on_zealous(
            staged,
            with_accounts,
            guesses,
            items_per_user=ITEMS_PER_USER,
            accounts=accounts,
        )
    return first, second


def _lower_case_queries(rows: pa.Table) -> set[str]:
    return set(pc.unique(pc.utf8_lower(rows["query"])).to_pylist())


def _lines_of_one_person(rows: pa.Table, personal: set[str]) -> list[Entry]:
    """Some lines of a user who asked about a person by name: that line among her others."""
    named = [text for text in personal if text.endswith(_FACT)]
    lines = rows.filter(pc.is_in(rows["query"], pa.array(named, pa.string())))
    for user in pc.unique(lines["user"]):
        hers = rows.filter(pc.equal(rows["user"], user)).sort_by("time").to_pylist()
        place = next(n for n, entry in enumerate(hers) if entry["query"] in named)
        first = max(0, min(place - _LINES // 2, len(hers) - _LINES))
        lines_shown = [Entry(**entry) for entry in hers[first : first + _LINES]]
        if len({entry.query for entry in lines_shown}) == _LINES:
            return lines_shown
    return []
