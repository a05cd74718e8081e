"""What a release says of the ledger's accounts, checked against what it says of itself."""

from __future__ import annotations

from fractions import Fraction

from zealous.ledger import Cap
from zealous.ledger.budgets import Charge, Measure, periods_overlap
from zealous.ledger.cap_spending import standing
from zealous.planning.from_record import goal_from_record
from zealous.planning.plan import Plan
from zealous.privacy.calibrate import float_rounded_up
from zealous.privacy.guarantee import exact_fraction
from zealous.privacy.period import Period
from zealous.record.record import (
    AccountsRecord,
    CapRecord,
    LedgerStamp,
    PeriodAccount,
    Record,
    WholeAccount,
)
from zealous.release.charging import losses_of
from zealous.verification.claimed_guarantee import CheckFailed


def check_accounts(record: Record, entry: LedgerStamp) -> None:
    """The accounts hold at least this release. A cap may be lower: caps can be lowered later."""
    goal = goal_from_record(record)
    period = Period.parse(record.period) if record.period is not None else None
    measure = Measure(unit=entry.unit, neighbors=entry.neighbors)
    if goal.unit not in ("user", measure.unit):
        raise CheckFailed("the ledger counts what another unit loses than the release protects")
    accounts = entry.accounts
    within = _account_period(accounts.period.within, period)
    charge = Charge.of(goal, period=period, losses=losses_of(Plan.from_record(record)))
    for spent, change, caps in (
        (accounts.all, None, entry.caps.all),
        (accounts.period, within, entry.caps.period),
    ):
        if spent.composed:
            _check_composed(charge, measure, change, spent, caps)
            continue
        # Where no period is named a history may change, which costs more. Earlier versions did not
        # count it, and their releases stay valid.
        cost = measure.cost(charge, change)
        for name, total, printed, least in (
            ("epsilon", spent.exact.epsilon, spent.epsilon, cost.epsilon),
            ("delta", spent.exact.delta, spent.delta, cost.delta),
        ):
            if exact_fraction(total, name) > Fraction(printed):
                raise CheckFailed("an account is smaller in print than it is")
            if exact_fraction(total, name) < least:
                raise CheckFailed("an account is smaller than what this release alone costs")
    if not 1 <= accounts.period.releases <= accounts.all.releases:
        raise CheckFailed("the accounts count fewer releases than there are")
    if Fraction(accounts.delta_for_anybody) < goal.delta:
        raise CheckFailed(
            "the chance that anybody is breached is smaller than this release's delta"
        )
    if accounts.definition not in (goal.definition, "indistinguishable") and not goal.pure:
        raise CheckFailed("the accounts amount to more than this release gives")
    _check_composed_definition(accounts)


def _check_composed_definition(accounts: AccountsRecord) -> None:
    composed = accounts.all.composed or accounts.period.composed
    if composed and accounts.definition != "indistinguishable":
        raise CheckFailed("composed losses are indistinguishable only, and the accounts say more")


def _check_composed(
    charge: Charge,
    measure: Measure,
    change: Period | None,
    spent: WholeAccount | PeriodAccount,
    caps: CapRecord | None,
) -> None:
    """An account of composed losses is worth at least what this release alone is at that delta."""
    if caps is None or caps.epsilon is None or caps.delta is None:
        raise CheckFailed("an account composes losses and has no cap of epsilon and delta")
    delta = exact_fraction(spent.exact.delta, "delta")
    if float_rounded_up(delta) != caps.delta:
        raise CheckFailed("an account composes losses at another delta than its cap's")
    cap = Cap(epsilon=Fraction(caps.epsilon), delta=delta)
    alone = standing(cap, measure, [charge], change, composed=True)
    told = exact_fraction(spent.exact.epsilon, "epsilon")
    if told > Fraction(spent.epsilon) or delta > Fraction(spent.delta):
        raise CheckFailed("an account is smaller in print than it is")
    if alone.epsilon is None or told < alone.epsilon:
        raise CheckFailed("an account is smaller than what this release alone costs")


def _account_period(text: str, period: Period | None) -> Period | None:
    """The period that the account of one period is about; None for all days."""
    found = None if text == "all" else Period.parse(text)
    if found is None and period is None:
        return None
    if found is None or str(found) != text or not periods_overlap(period, found):
        raise CheckFailed("the account of one period is about another period than the release")
    return found
