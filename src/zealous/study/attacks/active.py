"""The active attack: an attacker with accounts of her own finds out what somebody asked.

For each of many users a coin decides whether what she alone asked stays in the log. The
attacker plants entries, sees the output and nothing else, and decides for each user. Whoever learns
nothing is right in half of the cases. Her rule is the same everywhere: the user has asked it if the
output shows it more often than it would show what the attacker alone has asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.files.scratch import working_directory
from zealous.items import queries
from zealous.logs.log import Log
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Guarantee, positive_integer
from zealous.release.publish import publish
from zealous.release.untracked import INTERNAL
from zealous.study.anonymity import Method, anonymize
from zealous.study.attacks.attack_plans import (
    AttackPlan,
    Knowledge,
    guesses_per_account,
    plan_attack,
    shown_counts,
)
from zealous.study.attacks.planted_entries import PlantedEntries, write_planted_log
from zealous.study.attacks.rate import Rate

if TYPE_CHECKING:
    import pyarrow as pa

_FACTOR_ABOVE_TAU_PRIME = 3


@dataclass(frozen=True, kw_only=True)
class ActiveAttack:
    """How often the attacker was right.

    Attributes:
        name: What was attacked.
        rate: Right decisions; one half is guessing. Of none where the log has nothing to guess.
        accounts: How many accounts one guess takes.
        knows: What she knew of each user before, in a sentence.
        bound: The largest chance to be right that the guarantee allows; None where nothing is
            guaranteed. A rate of a few guesses may lie above it by luck.
    """

    name: str
    rate: Rate
    accounts: int
    knows: str
    bound: float | None = None


def run_active_attack(
    log: Log,
    method: Method,
    guesses: pa.Table,
    *,
    seed: int,
    knowing: Knowledge = "all",
    engine: DuckDB | None = None,
) -> ActiveAttack:
    """Attack a method that is not differentially private.

    Args:
        log: What `stage` gave.
        method: What to attack.
        guesses: What `choose_guesses` gave, with the method's gap between sessions.
        seed: Fixes the words that the attacker makes up.
        knowing: What the attacker knows; see `plot`.
        engine: Where to run; an embedded DuckDB where not given.
    """
    how = plan_attack(method, seed=seed, knowing=knowing)
    decided = []
    if len(guesses):
        decided = decide(log, method, how, guesses, engine=engine)
    return ActiveAttack(
        name=method.name,
        rate=count_right_decisions(decided, guesses),
        accounts=how.accounts,
        knows=how.knows,
    )


def decide(
    log: Log,
    method: Method,
    how: AttackPlan,
    guesses: pa.Table,
    *,
    engine: DuckDB | None = None,
) -> list[bool]:
    """Play once, for all guesses together, and say of each whether it was asked.

    Args:
        log: What `stage` gave.
        method: What to attack.
        how: The attack.
        guesses: What `choose` gave; its coins make the log, and are not looked at afterwards.
        engine: Where to run; an embedded DuckDB where not given.
    """
    with working_directory(engine.temporary if engine else None) as folder:
        played = write_planted_log(log, guesses, how.plants, folder / "log.parquet", engine)
        out = folder / "anonymous"
        bundle = anonymize(out, played, method, engine=engine).bundle
        seen = how.seen(bundle, guesses[how.guess].to_pylist())
    return [count > how.alone for count in seen]


def count_right_decisions(decided: list[bool], guesses: pa.Table) -> Rate:
    """How many decisions agree with the coins."""
    agree = [
        said == truth for said, truth in zip(decided, guesses["heads"].to_pylist(), strict=True)
    ]
    return Rate(successes=sum(agree), trials=len(agree))


def run_active_attack_on_zealous(
    log: Log,
    goal: Guarantee,
    guesses: pa.Table,
    *,
    items_per_user: int,
    accounts: int,
    releases: int = 1,
    engine: DuckDB | None = None,
) -> ActiveAttack:
    """Attack a release of queries by ZEALOUS, with true noise and a budget that nobody tracks.

    The first queries of each user are published, and what is guessed is one of them: so bounding
    never takes the guess away, and the attacker has the best case. Her rule is the best there is,
    whatever the number of accounts: the noise is symmetric and falls to both sides, so that a count
    above what was planted is likelier with the user, and a lower one, or none, is not. Well above
    tau' she is right with probability 1 / (1 + exp(-1 / lambda)), which is less than the bound: one
    guess moves one count, and the guarantee is for all that a user's history can move.

    Args:
        log: What `stage` gave.
        goal: The guarantee of the release; its users must include the planted accounts.
        guesses: What `choose_guesses` gave, each among the first m queries of its user.
        items_per_user: m; an account serves so many guesses.
        accounts: How many accounts ask each guess. With k - 1 nothing is shown; well above tau'
            every guess is, and the noise alone protects it.
        releases: How many releases to attack, one by one: the noise of each is its own, and so is
            what she makes of it.
        engine: Where to run; an embedded DuckDB where not given.
    """
    if goal.unit != "user":
        raise UsageError("the attack guesses what a user asked: choose the unit user")
    positive_integer(accounts, "accounts")
    decided = []
    if len(guesses):
        planted = _plant_guesses(accounts, items_per_user)
        with working_directory(engine.temporary if engine else None) as folder:
            played = write_planted_log(log, guesses, planted, folder / "log.parquet", engine)
            for _ in range(releases):
                release = publish(
                    played,
                    goal,
                    [queries(items_per_user)],
                    select="first",
                    accept_delta=True,
                    account=INTERNAL,
                    engine=engine,
                    attendance="proceed",
                )
                seen = shown_counts(release["queries"], guesses["query"].to_pylist())
                decided.append([count > accounts for count in seen])
    return ActiveAttack(
        name="zealous",
        rate=Rate(
            successes=sum(count_right_decisions(each, guesses).successes for each in decided),
            trials=len(guesses) * len(decided),
        ),
        accounts=accounts,
        knows="a query that nobody else asks, and that it would be among her first.",
        bound=largest_success_rate(goal),
    )


def _plant_guesses(accounts: int, items_per_user: int) -> PlantedEntries:
    """Each guess from so many accounts, of which each serves as many guesses as count."""
    own = f"number // {items_per_user} * {accounts} + account as account"
    return PlantedEntries(sql=f"select {own}, number, query from {guesses_per_account(accounts)}")


def accounts_to_be_shown(goal: Guarantee, items_per_user: int) -> int:
    """So many accounts that every guess is published, and the noise alone is against her."""
    return _FACTOR_ABOVE_TAU_PRIME * calibrate(goal, items_per_user).tau_prime


def largest_success_rate(goal: Guarantee) -> float:
    """The largest share of fair coins that anybody can tell from a release with this guarantee.

    Let p be the chance that she says heads when it is heads, q when it is tails. The two logs
    differ in one user's history, so under `replace` they are neighbours. Both guarantees give
    p <= exp(epsilon) q + delta and 1 - q <= exp(epsilon) (1 - p) + delta. Added, with
    s = (p + 1 - q) / 2, the chance to be right: s <= exp(epsilon) (1 - s) + delta, hence

        s <= (exp(epsilon) + delta) / (1 + exp(epsilon)).

    Under `add-remove` the two logs are two steps apart, by the log without the user: 2 epsilon for
    epsilon and (1 + exp(epsilon)) delta for delta.

    >>> from zealous.privacy.guarantee import ProbabilisticDP
    >>> round(largest_success_rate(ProbabilisticDP(epsilon=1, delta="0.001", users=1000)), 4)
    0.7313
    """
    # Divided by exp(epsilon), nothing overflows.
    small, delta = math.exp(-goal.epsilon), float(goal.delta)
    if goal.neighbors == "replace":
        return (1 + small * delta) / (1 + small)
    return min(1.0, (1 + small * (1 + small) * delta) / (1 + small * small))
