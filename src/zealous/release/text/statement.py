"""statement.html of a release: what the person who signs reads, all of weight on the first page.

It says how far anybody's odds can move, what delta means, what has been spent, what is assumed and
what is not protected. It recommends no epsilon. Everything comes from release.json; figures that
are computed here are rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from zealous.libraries import jinja2
from zealous.mechanisms.choose import DEFAULT
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.planning.part_text import undercount
from zealous.privacy.guarantee import (
    UNIT_PLURALS,
    UNITS,
    WHOEVER,
    exact_fraction,
    format_number,
    person_in_words,
)
from zealous.privacy.levels import percent, strength, suspicion_after
from zealous.privacy.promise import factor, promise
from zealous.privacy.units import PRIVACY_UNITS
from zealous.record.record import Claim, LedgerStamp, Record
from zealous.release.text import method_wording as wording
from zealous.release.text.circumstances import circumstances
from zealous.release.text.claims import delta_for_anybody, deltas, leading_claim
from zealous.release.text.readme import (
    differing_accounts,
    filtered_text,
    has_no_delta,
    parameter_source_text,
    period_account,
    prominent_notes,
    publisher_facts,
)

_PRIORS = (0.01, 0.1, 0.5)


class Comparator(NamedTuple):
    """A published release of somebody else, with the unit its numbers are for."""

    name: str
    epsilon: str
    delta: str
    unit: str
    source: str


COMPARATORS = (
    Comparator(
        "Google, COVID-19 symptom searches, 2020", "1.68", "0", "one user's day", "arXiv 2009.01265"
    ),
    Comparator(
        "Google, vaccination searches, 2021", "2.19", "1e-5", "one user's day", "arXiv 2107.01179"
    ),
    Comparator(
        "Wikimedia, page views by country, 2023",
        "about 1",
        "1e-7",
        "one device's day, 10 pages",
        "arXiv 2308.16298",
    ),
    Comparator(
        "LinkedIn, top employers, 2020",
        "4.8",
        "4e-10",
        "one hiring, each month",
        "arXiv 2010.13981",
    ),
    Comparator(
        "US Census, redistricting (persons), 2021",
        "17.14",
        "1e-10",
        "one person",
        "arXiv 2204.08986",
    ),
)


@cache
def template() -> jinja2.Template:
    """The page, compiled once."""
    text = files("zealous.release.text").joinpath("statement.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = format_number
    return environment.from_string(text)


def statement(record: Record) -> str:
    """The text of statement.html, made from release.json and nothing else.

    Of `sha256` it uses the hashes of the tables alone, so that it can be hashed itself.
    """
    goal, entry = leading_claim(record), record.ledger
    return (
        template().render(
            whoever=WHOEVER[(entry or goal).unit],
            record=record,
            goal=goal,
            stamps=prominent_notes(record),
            promise=promise(goal),
            deltas=deltas(record),
            period=record.period,
            about=[each for each in publisher_facts(record) if each[0] != "Period"],
            person=person_in_words(record.columns.user),
            protected=PRIVACY_UNITS[goal.unit].protected,
            circumstances=circumstances(record),
            unit=UNITS[goal.unit],
            units=UNIT_PLURALS[goal.unit],
            rows=_rows(record),
            undercount=undercount([part.items_per_user for part in record.plan], goal.unit),
            odds=_odds(goal),
            delta=_delta(goal),
            pure=has_no_delta(goal),
            noise=_noise(record),
            composed=record.losses_compose(),
            ledger=entry,
            accounts=_accounts(record, entry) if entry else [],
            delta_for_anybody=delta_for_anybody(entry.accounts) if entry else None,
            otherwise=differing_accounts(record, entry) if entry else [],
            counted=UNITS[(entry or goal).unit],
            unprotected=_unprotected(record),
            chosen=parameter_source_text(record),
            filtered=filtered_text(record) if record.review else None,
            comparators=COMPARATORS,
        )
        + "\n"
    )


def one_in(chance: Fraction) -> str:
    """A chance in print, as one in so many.

    >>> one_in(Fraction(1, 1000)), one_in(Fraction(3, 10**20))
    ('1 in 1,000', '1 in 10^19')
    """
    times = math.floor(1 / chance)
    return f"1 in {times:,}" if times < 10**10 else f"1 in 10^{len(str(times)) - 1}"


def _noise(record: Record) -> str:
    """Which noise, and by which mechanisms where it is not the default one alone."""
    noises = " and ".join(dict.fromkeys(map(wording.noise, record.plan)))
    others = dict.fromkeys(part.mechanism for part in record.plan)
    named = "" if list(others) == [DEFAULT] else f" (mechanisms: {', '.join(others)})"
    return f"{noises} noise{named}"


def _rows(record: Record) -> list[dict[str, Any]]:
    """One line a table: its parameters and the hashes of its files."""
    lines = []
    for part in record.plan:
        names = record.files[part.kind]
        lines.append(
            {
                "part": part,
                "threshold": wording.threshold(part),
                "noise": wording.noise_at_most(part),
                "rows": names.rows,
                "hashes": [record.sha256.get(each) for each in (names.parquet, names.csv)],
            }
        )
    return lines


def _unbroken(percentage: str) -> str:
    """A number and its sign on one line of the page."""
    return percentage.replace(" %", "\N{NO-BREAK SPACE}%")


def _odds(goal: Claim) -> dict[str, Any]:
    epsilon = goal.epsilon
    between = None
    if goal.neighbors == "add-remove":
        between = factor(2 * epsilon)
    return {
        "factor": factor(epsilon),
        "between": between,
        "strength": strength(epsilon),
        "moves": [
            {
                "prior": _unbroken(percent(prior)),
                "after": _unbroken(percent(suspicion_after(epsilon, prior))),
                "from": round(100 * prior, 2),
                "to": round(100 * suspicion_after(epsilon, prior), 2),
            }
            for prior in _PRIORS
        ],
    }


def _delta(goal: Claim) -> str:
    delta = exact_fraction(goal.delta, "delta")
    if not delta:
        return f"delta = 0: the bound holds whatever the noise, and for {WHOEVER[goal.unit]}."
    chance = f"{format_number(delta)} ({one_in(delta)})"
    units, one = UNIT_PLURALS[goal.unit], UNITS[goal.unit]
    if goal.definition == "probabilistic":
        return (
            f"delta = {chance} limits the probability, over the noise, that this bound fails for "
            f"{WHOEVER[goal.unit]}. It is for the release as a whole, not per person."
        )
    each = (
        f"delta = {chance} is for {one}: it may be added to the probability of any event, so a "
        "breach with this probability is not ruled out for each of them. "
    )
    if goal.users is None:
        return each + f"The number of {units} is not declared: multiply delta by it."
    expected = format_number(delta * goal.users)
    return each + f"With up to {goal.users:,} {units} that is up to {expected} of them on average."


def _accounts(record: Record, entry: LedgerStamp) -> list[dict[str, Any]]:
    accounts, caps = entry.accounts, entry.caps
    found = (
        (period_account(record, entry), accounts.period, caps.period),
        ("over all releases", accounts.all, caps.all),
    )
    return [
        {
            "title": title,
            "account": account,
            "epsilon": Fraction(account.exact.epsilon),
            "delta": Fraction(account.exact.delta),
            "factor": factor(account.epsilon),
            "cap": cap,
        }
        for title, account, cap in found
    ]


def _unprotected(record: Record) -> list[str]:
    unit = record.guarantee.unit
    said = [
        "What many people have in common: that is what is published. Frequent items can be harmful "
        "too, so somebody should look at the rows (zealous review).",
        "Conclusions about a person from what is true of similar people.",
        "Groups as a whole: for n people who act alike, epsilon is n times as large"
        f"{'.' if has_no_delta(record.guarantee) else ' and delta grows.'}",
        "The log, the machine, and figures or messages shown to the owner: they are not part of "
        "the release and must not be published.",
    ]
    if unit != "user":
        said.insert(
            0,
            f"A user as a whole: the guarantee is for {UNITS[unit]}. What a single user does again "
            "and again can be published.",
        )
    if not record.ledger:
        said.insert(0, "The total over several releases: no ledger was kept for this one.")
    if not PARAMETERS_FROM[record.parameters_from].covered:
        said.append(
            "What the parameters themselves reveal: they were chosen "
            f"{parameter_source_text(record)}."
        )
    if not record.private:
        said.insert(0, "Anything: the noise has a fixed seed and can be subtracted.")
    return said
