"""All attacks on one log: methods down, attacks across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.files.scratch import working_directory
from zealous.items import keywords, queries, query_pairs
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.privacy.guarantee import Number, ProbabilisticDP, positive_integer
from zealous.release.publish import publish
from zealous.release.untracked import INTERNAL
from zealous.study.anonymity import METHODS, Bundle, Method, anonymize, check_users, method_by_name
from zealous.study.anonymity.method import Say, check_k
from zealous.study.attacks.active import (
    ActiveAttack,
    accounts_to_be_shown,
    run_active_attack,
    run_active_attack_on_zealous,
)
from zealous.study.attacks.alignment import Alignment, align_tokens
from zealous.study.attacks.attack_plans import knowledge_levels
from zealous.study.attacks.personal_queries import ASKERS, ReadableShare, measure_personal_queries
from zealous.study.attacks.planted_entries import choose_guesses
from zealous.study.attacks.presence import Presence, measure_presence
from zealous.study.attacks.rate import Rate
from zealous.study.attacks.staged_log import split_users, stage_log
from zealous.study.attacks.uniqueness import measure_uniqueness
from zealous.version import VERSION

ZEALOUS = "ZEALOUS"
_SHOWS_WITH_TIMES = (
    "words",
    "tokens",
    "frequent queries",
)  # what outputs show that have queries' times
_KNOWN_QUERIES = 3  # queries known, in the summary
_RELEASES = 5  # of ZEALOUS, each with new noise, so that its rate is not one draw of luck


@dataclass(frozen=True, kw_only=True)
class AttackSettings:
    """How the attacks are made.

    Attributes:
        k: Among how many users the anonymity methods hide each.
        epsilon: Of the ZEALOUS release that is attacked, under probabilistic differential privacy.
        delta: Of that release.
        items_per_user: m, of that release.
        victims: How many people the active attack is tried on, the same for all methods.
        sample: How many people, or queries, the other attacks are tried on.
        seed: Fixes who they are. The noise and the ids are new in every run.
    """

    k: int
    epsilon: Number = 1
    delta: Number = "0.001"
    items_per_user: int = 1
    victims: int = 300
    sample: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_k(self.k)
        for name in ("items_per_user", "victims", "sample"):
            positive_integer(getattr(self, name), name)
        if not 0 <= self.seed < 2**63:
            raise UsageError("seed must be at least 0 and below 2^63")
        self.goal(users=1)

    def goal(self, users: int) -> ProbabilisticDP:
        """The guarantee for a log of so many users."""
        return ProbabilisticDP(epsilon=self.epsilon, delta=self.delta, users=users)


@dataclass(frozen=True, kw_only=True)
class MethodAttacks:
    """What an attacker gets from one method; None where an attack does not apply.

    Attributes:
        method: Its name.
        seen: Whether a person's rare query, and its rare word, can be seen in the output at all.
        active: Each way of deciding presence with fake accounts.
        picked_out: Users picked out by 1, 2, ... known queries.
        personal: What is left of personal queries, by kind; on generated logs only.
        aligned: How many tokens are read back.
    """

    method: str
    seen: Presence
    active: list[ActiveAttack]
    picked_out: list[Rate] | None = None
    personal: list[ReadableShare] | None = None
    aligned: list[Alignment] | None = None


@dataclass(frozen=True, kw_only=True)
class AttackResults:
    """What came of it.

    Attributes:
        settings: How the attacks were made.
        users: How many users the log has.
        synthetic: Whether it was generated.
        rows: What an attacker gets from each method, ZEALOUS last.
    """

    settings: AttackSettings
    users: int
    synthetic: bool
    rows: list[MethodAttacks]


def run_attacks(
    log: Log,
    settings: AttackSettings,
    *,
    methods: Sequence[str] = tuple(METHODS),
    reference: Log | None = None,
    synthetic: bool = False,
    engine: DuckDB | None = None,
    say: Say = lambda _: None,
) -> AttackResults:
    """Attack each method, and ZEALOUS, on the same log. The figures are for the log's owner.

    Args:
        log: The log, with users, times and queries.
        settings: How.
        methods: Which methods; ZEALOUS is always among them.
        reference: Another log of the same language, to read tokens back by; where not given, one
            half of the users' entries serves to read those of the other half.
        synthetic: Whether the log was generated, so that it is known which queries are personal.
        engine: Where to run; an embedded DuckDB where not given.
        say: Receives progress.
    """
    running = engine or DuckDB()
    with working_directory(running.temporary) as folder:
        say("reading the log")
        staged = stage_log(log, folder / "log.parquet", running)
        if reference is not None:
            reference = stage_log(reference, folder / "reference.parquet", running)
        chosen = [method_by_name(name, k=settings.k) for name in dict.fromkeys(methods)]
        users = _check_and_count_users(staged, chosen, running)
        say("choosing whom to guess")
        guesses = choose_guesses(
            staged,
            victims=settings.victims,
            seed=settings.seed,
            among_first=settings.items_per_user,  # ZEALOUS counts no others
            engine=running,
        )
        rows = []
        for number, method in enumerate(chosen, 1):
            name = method.name
            say(f"attacking {name} ({number} of {len(chosen) + 1})")
            bundle = anonymize(folder / name, staged, method, engine=running).bundle
            row = _attack_method(staged, method, bundle, guesses, settings, running)
            if synthetic and method.shows in _SHOWS_WITH_TIMES:
                row = replace(
                    row, personal=measure_personal_queries(staged, bundle, engine=running)
                )
            if method.shows == "tokens":
                other = _align(staged, method, bundle, reference, running)
                row = replace(row, aligned=other)
            rows.append(row)
        say(f"attacking {ZEALOUS} ({len(chosen) + 1} of {len(chosen) + 1})")
        rows.append(_attack_zealous(staged, users, guesses, settings, running))
    return AttackResults(settings=settings, users=users, synthetic=synthetic, rows=rows)


def _check_and_count_users(log: Log, methods: Sequence[Method], engine: DuckDB) -> int:
    """How many there are; refused before the first attack if one of the methods would refuse."""
    with engine as running:
        users = count_users(open_log(log, running))
    for method in methods:
        check_users(users, method)
    return users


def _attack_method(
    log: Log,
    method: Method,
    bundle: Bundle,
    guesses: pa.Table,
    settings: AttackSettings,
    engine: DuckDB,
) -> MethodAttacks:
    seen = measure_presence(
        log,
        bundle.tables,
        bundle.log(),
        sample=settings.sample,
        seed=settings.seed,
        engine=engine,
    )
    tried = [
        run_active_attack(
            log,
            method,
            guesses,
            seed=settings.seed,
            knowing=knowing,
            engine=engine,
        )
        for knowing in knowledge_levels(method)
    ]
    picked_out = None
    if method.public_rule() is not None:
        picked_out = measure_uniqueness(
            log, bundle, users=settings.sample, seed=settings.seed, engine=engine
        )
    return MethodAttacks(method=method.name, seen=seen, active=tried, picked_out=picked_out)


def _align(
    log: Log, method: Method, bundle: Bundle, reference: Log | None, engine: DuckDB
) -> list[Alignment] | None:
    if reference is not None:
        return align_tokens(log, bundle, reference, engine=engine)
    folder = bundle.directory.parent
    hashed, known = split_users(log, folder, engine)
    if not all(pq.read_metadata(half.paths[0]).num_rows for half in (hashed, known)):
        return None  # one user has no other half
    half = anonymize(folder / "half", hashed, method, engine=engine).bundle
    return align_tokens(hashed, half, known, engine=engine)


def _attack_zealous(
    log: Log, users: int, guesses: pa.Table, settings: AttackSettings, engine: DuckDB
) -> MethodAttacks:
    """A release of the same log, and releases of logs into which the attacker has planted."""
    goal, m = settings.goal(users), settings.items_per_user
    kinds = [keywords(m), queries(m), query_pairs(m)]
    release = publish(
        log,
        goal,
        kinds,
        accept_delta=True,
        account=INTERNAL,
        engine=engine,
        attendance="proceed",
    )
    seen = measure_presence(
        log, release.tables, None, sample=settings.sample, seed=settings.seed, engine=engine
    )
    tried = [
        run_active_attack_on_zealous(
            log,
            settings.goal(users + accounts * settings.victims),
            guesses,
            items_per_user=m,
            accounts=accounts,
            releases=_RELEASES,
            engine=engine,
        )
        for accounts in (settings.k - 1, accounts_to_be_shown(goal, m))
    ]
    return MethodAttacks(method=ZEALOUS, seen=seen, active=tried)


def as_object(found: AttackResults) -> dict[str, Any]:
    """The rates as plain values, for JSON and for the picture."""
    settings, goal = found.settings, found.settings.goal(found.users)
    return {
        "internal": not found.synthetic,
        "synthetic": found.synthetic,
        "users": found.users,
        "k": settings.k,
        "victims": settings.victims,
        "sample": settings.sample,
        "seed": settings.seed,
        "software": {"name": "zealous", "version": VERSION},
        "zealous": {
            "guarantee": goal.definition,
            "epsilon": float(goal.epsilon),
            "delta": float(goal.delta),
            "items_per_user": settings.items_per_user,
        },
        "methods": [
            {
                "method": row.method,
                "summary": _summary(row),
                "seen": {
                    "query": _rate_as_object(row.seen.query),
                    "word": _rate_as_object(row.seen.word),
                },
                "active": [
                    {
                        "accounts": each.accounts,
                        "knows": each.knows,
                        **_rate_as_object(each.rate),
                        "bound": each.bound,
                    }
                    for each in row.active
                ],
                "picked_out": row.picked_out and [_rate_as_object(each) for each in row.picked_out],
                "personal": row.personal
                and [{"kind": each.kind, **_rate_as_object(each.rate)} for each in row.personal],
                "aligned": row.aligned
                and [
                    # No interval: tokens are matched together, so one error makes another.
                    {
                        "how": each.how,
                        "top": each.top,
                        "successes": each.recovered.successes,
                        "trials": each.recovered.trials,
                        "share": each.recovered.share,
                        "weighted": each.weighted,
                    }
                    for each in row.aligned
                ],
            }
            for row in found.rows
        ],
    }


def _summary(row: MethodAttacks) -> dict[str, float | None]:
    """The share that each attack reaches at its best; None where it does not apply."""
    people = [each.rate.share for each in row.personal or [] if each.kind == ASKERS]
    back = [each.weighted for each in row.aligned or [] if each.top is None]
    right = [each.rate.share for each in row.active]
    return {
        "query_seen": row.seen.query.share,
        "word_seen": row.seen.word.share,
        "active": _highest(right),
        "picked_out": row.picked_out[_KNOWN_QUERIES - 1].share if row.picked_out else None,
        "personal": people[0] if people else None,
        "read_back": _highest(back),
    }


def _highest(shares: Sequence[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)


def _rate_as_object(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval()
    return {
        "successes": rate.successes,
        "trials": rate.trials,
        "share": rate.share,
        "low": low,
        "high": high,
    }
