"""What was measured for `zealous demo`, as a story of about 40 lines and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from zealous.owner.start_text import Page, align_columns
from zealous.planning.part import forecast
from zealous.privacy.guarantee import format_number
from zealous.privacy.promise import promise
from zealous.study.attacks.active import ActiveAttack
from zealous.study.demonstration import EPSILON, Demonstration, K, Published

_TOP = 6
_CONFIDENCE = 0.95


class Row(NamedTuple):
    """A published query, and between which numbers of people the true one is."""

    query: str
    people: int
    low: int
    high: int


def story_text(found: Demonstration, folder: Path, *, width: int) -> str:
    """The story, for people."""
    return "\n".join(_sections(found, folder, Page(width))).rstrip("\n")


def as_object(found: Demonstration) -> dict[str, Any]:
    """The same for programs."""
    ours = found.published
    return {
        "synthetic": True,
        "users": found.users,
        "entries": found.entries,
        "epsilon": EPSILON,
        "attacks": [
            {
                "method": each.name,
                "accounts": each.accounts,
                "right": each.rate.successes,
                "of": each.rate.trials,
            }
            for each in found.attacks
        ],
        "personal_queries": found.personal,
        "verified": found.verified(),
        "releases": [
            {
                "guarantee": each.plan.goal.definition,
                "delta": float(each.plan.goal.delta),
                "in_words": promise(each.plan.goal),
                "queries": len(each.release["queries"]),
                "personal_queries": each.personal,
            }
            for each in (ours, found.per_person)
        ],
        "top": [row._asdict() for row in _top_rows(ours)],
    }


def _sections(found: Demonstration, folder: Path, page: Page) -> Iterator[str]:
    yield page.section(
        f"1. The raw log: {found.entries:,} searches of {found.users:,} invented people",
        align_columns([(str(e.user), f"{e.time:%d %b %H:%M}", e.query) for e in found.person]),
        "Five searches of one person. A number in place of her name hides little.",
    )
    yield page.section(
        f"2. k-anonymity: publish every query that at least {K} people asked",
        "Did a certain person ask a certain query? An attacker asks it from fake accounts and "
        "looks whether it is published. How often she is right:",
        align_columns([*map(_success, found.attacks), ("half", "by tossing a coin")]),
    )
    ours = found.published
    yield page.section("3. What zealous promises instead", promise(ours.plan.goal))
    rows = [
        (row.query, f"{row.people:,}", f"{row.low:,} to {row.high:,}") for row in _top_rows(ours)
    ]
    yield page.section(
        f"4. The release: {len(ours.release['queries']):,} queries, the most frequent first",
        align_columns([("query", "people", "95 % interval"), *rows]),
        f"{found.personal:,} personal queries in the log, {ours.personal} published.",
        f"Verified, with its ledger: {len(found.checks)} checks passed."
        if found.verified()
        else "FAILED: the release does not hold what it says.",
    )
    yield page.section(
        f"5. The same log at epsilon {EPSILON} under both guarantees",
        align_columns(_compare_guarantees(found)),
    )
    release = folder / "release"
    files = [
        (str(release / "statement.html"), "the page to sign"),
        (str(release / "README.md"), "for the recipient"),
        (str(release / "queries.csv"), "the table"),
    ]
    yield page.section("Open these, or try your own log: zealous start LOG", align_columns(files))


def _success(attack: ActiveAttack) -> tuple[str, str]:
    what = f"zealous at epsilon {EPSILON}" if attack.bound is not None else "k-anonymity"
    rate = attack.rate
    return f"{rate.successes} of {rate.trials}", f"{what}, {attack.accounts} accounts a guess"


def _top_rows(published: Published) -> list[Row]:
    (part,) = published.plan.parts
    interval = part.mechanism.interval(_CONFIDENCE)
    rows = published.release["queries"].arrow.slice(0, _TOP).to_pylist()
    return [
        Row(query, people, interval.low(people), interval.high(people))
        for query, people in map(dict.values, rows)
    ]


def _compare_guarantees(found: Demonstration) -> list[list[str]]:
    """Names down, guarantees across."""
    columns = [
        [
            "",
            "delta",
            "which is for",
            "noise at most (95 %)",
            "queries published",
            "personal queries published",
        ]
    ]
    for each in (found.published, found.per_person):
        goal = each.plan.goal
        (part,) = each.plan.parts
        columns.append(
            [
                goal.definition,
                format_number(goal.delta),
                "everybody together" if goal.needs_users else "each person",
                str(forecast(part).error_95),
                f"{len(each.release['queries']):,}",
                str(each.personal),
            ]
        )
    return list(map(list, zip(*columns, strict=True)))
