"""All analytic tables of the paper, as printed and as this program does it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Overflow
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.accounting.expected import expected_published, tau_prime_curve
from zealous.privacy.calibrate import (
    any_published_probability,
    calibrate,
    covers_absence,
    float_rounded_up,
)
from zealous.privacy.guarantee import Indistinguishability, Number
from zealous.study.theory.a_hat import AHat
from zealous.study.theory.accuracy_theorem import (
    AccuracyTarget,
    missing_probability,
    printed_miss_two_xi,
    printed_miss_xi,
    target_of,
)
from zealous.study.theory.explicit_domain import DomainHistogram, scale_for, threshold_for
from zealous.study.theory.negative import DomainSetting, log_hopeless_domain, printed_log_domain
from zealous.study.theory.printed_formulas import Continuous
from zealous.study.theory.theory_table import Cell, Table, TableParameters, remark_if

PAIRS_OF_QUERIES = 900_000**6  # two queries of up to three words out of 900,000
_MOST_AT_THE_TOP = 1_000_000
_WRITTEN_OUT = 10**12  # numbers from here on are shown by their size alone
_VAST = Context(prec=17, Emin=MIN_EMIN, Emax=MAX_EMAX)


def tables(parameters: TableParameters | None = None) -> list[Table]:
    """All tables; with given numbers, the same tables for those.

    Raises:
        UsageError: A number is not allowed, or so large that no table can hold what follows.
    """
    makers = (privacy, thresholds, best_tau, indistinguishable, accuracy, negative, domain, a_hat)
    try:
        return [make(parameters or TableParameters()) for make in makers]
    except (OverflowError, Overflow):
        raise UsageError(
            "these numbers are too large for the tables: try an epsilon between 0.1 and 10, and "
            "users and items_per_user as they could be"
        ) from None


def privacy(parameters: TableParameters) -> Table:
    """What lambda and tau' guarantee, at tau = 1."""
    users, m = parameters.goal().users, parameters.bound(5)
    scales = [Fraction(1), Fraction(5)]
    if parameters.epsilon is not None:
        scales = [scale_for(parameters.epsilon, m)]
    rows: list[tuple[Cell, ...]] = []
    for scale in scales:
        paper = Continuous(scale=scale, items_per_user=m)
        for tau_prime in (50, 100, 150, 200):
            t = tau_prime - 1
            continuous = paper.probabilistic_delta(tau=1, tau_prime=tau_prime, users=users)
            rows.append(
                (
                    float(scale),
                    float(2 * m / scale),
                    tau_prime,
                    min(1.0, continuous),
                    float_rounded_up(any_published_probability(scale, t, users * m))
                    if covers_absence(scale, t)
                    else None,
                    min(1.0, paper.indistinguishable_delta_of_its_table(tau_prime)),
                    min(1.0, paper.indistinguishable_delta(tau_prime)),
                    float_rounded_up(any_published_probability(scale, t, m)),
                )
            )
    return Table(
        name="privacy",
        title=f"What noise and threshold guarantee: U = {users:,}, m = {m}, tau = 1",
        columns={
            "scale": "lambda",
            "epsilon": "epsilon",
            "tau_prime": "tau'",
            "delta_continuous": "pDP delta, printed",
            "delta_discrete": "pDP delta, discrete",
            "delta_prime_paper": "delta', printed",
            "delta_prime_continuous": "delta', moves by 1",
            "delta_prime_discrete": "delta', discrete",
        },
        rows=rows,
        note="The paper's delta' lets one user move one count by m. Here people are counted, a "
        "count moves by 1, and delta' is lower. A delta of 1 promises nothing. The discrete "
        "columns are what `zealous plan` claims."
        + remark_if(
            parameters.uses_paper_values("users", "items_per_user", "epsilon"),
            "The paper rounds some second digits up.",
        ),
    )


def thresholds(parameters: TableParameters) -> Table:
    """The least tau' for each tau."""
    m = parameters.bound(2)
    deltas = ["0.001", "0.01"] if parameters.delta is None else [parameters.delta]
    goals = [parameters.goal(delta=delta) for delta in deltas]
    users, epsilon = goals[0].users, goals[0].epsilon
    paper = Continuous(scale=scale_for(epsilon, m), items_per_user=m)
    taus = range(1, min(10, users) + 1)
    columns = {"tau": "tau"}
    values: list[Sequence[Cell]] = [taus]
    for goal in goals:
        delta = f"{float(goal.delta):g}"
        columns[f"tau_prime_continuous_{delta}"] = f"tau' at delta {delta}, continuous"
        columns[f"tau_prime_discrete_{delta}"] = "discrete"
        values.append(
            [paper.probabilistic_tau_prime(tau=tau, delta=goal.delta, users=users) for tau in taus]
        )
        values.append([each.tau_prime for each in tau_prime_curve(goal, m, taus)])
    return Table(
        name="thresholds",
        title=f"tau' for each tau: m = {m}, epsilon = {float(epsilon):g}, U = {users:,}",
        columns=columns,
        rows=list(zip(*values, strict=True)),
        note="An item is published when its noisy count is above tau'."
        + remark_if(
            parameters.uses_paper_values(),
            "The paper's caption says delta = 0.01; its numbers are those of delta = 0.001.",
        ),
    )


def best_tau(parameters: TableParameters) -> Table:
    """The paper's rule for tau against a scan."""
    cases: list[tuple[int, Number]] = [(2, 1), (1, 2 / Fraction("4.05")), (1, 2 / Fraction("2.4"))]
    if parameters.items_per_user is not None or parameters.epsilon is not None:
        cases = [(parameters.bound(2), parameters.goal().epsilon)]
    rows: list[tuple[Cell, ...]] = []
    for m, epsilon in cases:
        goal = parameters.goal(epsilon=epsilon)
        scale = scale_for(goal.epsilon, m)
        paper = Continuous(scale=scale, items_per_user=m)
        rule, found = min(goal.users, math.ceil(scale)), calibrate(goal, m)
        best = min(goal.users, paper.best_tau(delta=goal.delta, users=goal.users))
        at_rule, at_best = (
            paper.probabilistic_tau_prime(tau=tau, delta=goal.delta, users=goal.users)
            for tau in (rule, best)
        )
        discrete = tau_prime_curve(goal, m, [rule])[0].tau_prime
        rows.append(
            (float(scale), rule, at_rule, discrete, best, at_best, found.tau, found.tau_prime)
        )
    return Table(
        name="best_tau",
        title="The best tau: the rule against a scan",
        columns={
            "scale": "lambda",
            "rule_tau": "ceil(lambda), at most U",
            "rule_tau_prime_continuous": "its tau', continuous",
            "rule_tau_prime_discrete": "discrete",
            "best_tau_continuous": "best tau, continuous",
            "best_tau_prime_continuous": "its tau'",
            "best_tau_discrete": "best tau, discrete",
            "best_tau_prime_discrete": "its tau'",
        },
        rows=rows,
        note="The rule tau = ceil(2m/epsilon) is not always best. `zealous plan` tries every tau, "
        "and takes the least delta where several give one tau'."
        + remark_if(parameters.uses_paper_values(), "At lambda = 4.05 the 4 beats the 5."),
    )


def indistinguishable(parameters: TableParameters) -> Table:
    """The threshold of indistinguishability, as printed and right."""
    cases: list[tuple[int, Number, Number]] = [
        (5, 10, "7.6e-83"),
        (2, 1, "0.001"),
        (5, 2, "0.001"),
        (5, 1, "1e-6"),
    ]
    if not parameters.uses_paper_values("items_per_user", "epsilon", "delta"):
        goal = parameters.goal()
        cases = [(parameters.bound(5), goal.epsilon, goal.delta)]
    rows: list[tuple[Cell, ...]] = []
    for m, epsilon, delta in cases:
        goal_, scale = Indistinguishability(epsilon=epsilon, delta=delta), scale_for(epsilon, m)
        paper = Continuous(scale=scale, items_per_user=m)
        low = paper.indistinguishable_tau_prime_too_low(goal_.delta)
        rows.append(
            (
                m,
                float(goal_.epsilon),
                float(goal_.delta),
                low,
                min(1.0, paper.indistinguishable_delta(low)),
                float_rounded_up(any_published_probability(scale, math.ceil(low) - 1, m)),
                paper.indistinguishable_tau_prime(goal_.delta),
                calibrate(goal_, m).tau_prime,
            )
        )
    return Table(
        name="indistinguishable",
        title="The threshold of indistinguishability at lambda = 2m/epsilon', tau = 1",
        columns={
            "items_per_user": "m",
            "epsilon": "epsilon'",
            "delta": "delta' wanted",
            "tau_prime_printed": "tau' as printed",
            "delta_of_printed_continuous": "its true delta', continuous",
            "delta_of_printed_discrete": "discrete, tau' rounded up",
            "tau_prime_continuous": "right tau', continuous",
            "tau_prime_discrete": "discrete",
        },
        rows=rows,
        note="The printed threshold m (1 - ln(2 delta'/m)/epsilon') is too low for its own noise: "
        "the privacy it promises is not there. Never use it."
        + remark_if(
            parameters.uses_paper_values("items_per_user", "epsilon", "delta"),
            "First row: for lambda = 1, m = 5 "
            "and tau' = 100 it claims 7.6e-83 where the paper's own table says 1.4e-41.",
        ),
    )


def accuracy(parameters: TableParameters) -> Table:
    """The accuracy theorem against the exact chance that an item is missing."""
    goal, m = parameters.goal(), parameters.bound(2)
    plan = calibrate(goal, m)
    wanted = target_of(plan)
    steps = (0, 1, *(math.ceil(plan.scale * times) for times in (1, 2, 5, 10)))
    rows: list[tuple[Cell, ...]] = [
        (
            wanted.frequent + more,
            printed_miss_two_xi(plan.scale, wanted),
            printed_miss_xi(plan.scale, wanted),
            math.exp(-more / plan.scale) / 2,
            missing_probability(plan, wanted.frequent + more),
        )
        for more in sorted(set(steps))
    ]
    return Table(
        name="accuracy",
        title=f"The chance that a very frequent item is missing: tau* = {float(wanted.tau_star):g},"
        f" xi = {float(wanted.xi):g}, lambda = {float(plan.scale):g}, tau = {plan.tau},"
        f" tau' = {plan.tau_prime}",
        columns={
            "users": "users of the item",
            "printed_two_xi": "printed: exp(-2 xi/lambda)/2",
            "printed_xi": "printed: exp(-xi/lambda)/2",
            "missing_continuous": "exact, continuous",
            "missing_discrete": "exact, discrete",
        },
        rows=rows,
        note="The theorem prints two forms, and neither belongs to its thresholds tau = tau* - xi "
        "and tau' = tau* + xi: an item of tau* + xi users stands at tau' and is missing every "
        "other time or more often. The first form is right for tau' = tau* - xi, the second for "
        "tau' = tau*. Very infrequent items never appear: that part of the theorem is right.",
    )


def negative(parameters: TableParameters) -> Table:
    """The negative result: the paper's example, and at the counts that ZEALOUS itself serves."""
    users, epsilon = parameters.goal(users=1_000_000).users, parameters.goal().epsilon
    rows: list[tuple[Cell, ...]] = []
    for m, share, about in ((10, "0.01", None), (1, "0.5", "zealous"), (10, "0.5", "zealous")):
        m = parameters.bound(m)
        frequent = 50
        if about:
            frequent = calibrate(parameters.goal(users=1_000_000), m).tau_prime + 1
        wanted = AccuracyTarget(Fraction(frequent + 1, 2), Fraction(frequent - 1, 2))
        setting = DomainSetting(epsilon=epsilon, users=users, items_per_user=m, accuracy=share)
        needed = log_hopeless_domain(setting, wanted)
        applies = needed <= math.log(PAIRS_OF_QUERIES)
        row = (
            m,
            frequent,
            float(setting.accuracy),
            _huge_number(printed_log_domain(setting, wanted)),
            _huge_number(needed),
            Decimal(PAIRS_OF_QUERIES),
            applies,
        )
        if row not in rows:
            rows.append(row)
    return Table(
        name="negative",
        title="Where no epsilon-differentially private algorithm beats publishing nothing: "
        f"U = {users:,}, epsilon = {float(epsilon):g}",
        columns={
            "items_per_user": "m",
            "frequent": "users of an item",
            "accuracy": "its chance to be shown",
            "domain_printed": "domain needed, as printed",
            "domain_needed": "domain needed",
            "domain": "pairs of queries",
            "applies": "enough",
        },
        rows=rows,
        note="In a domain at least as large as needed, no algorithm that shows items of so many "
        "users with that chance is better than publishing nothing; a dash is where no domain is "
        "large enough. The printed figure divides epsilon by m, which is not right when people "
        "are counted. Rows with a chance of 0.5 ask for the items that ZEALOUS shows at least "
        f"every other time, at delta = {float(parameters.goal().delta):g}."
        + remark_if(
            parameters.uses_paper_values("users", "items_per_user", "epsilon"),
            "The paper's example (first row) survives.",
        ),
    )


def domain(parameters: TableParameters) -> Table:
    """Differential privacy over an explicit domain, as the domain grows."""
    goal, m = parameters.goal(users=1_000_000), parameters.bound(10)
    plan = calibrate(goal, m)
    top = min(max(1, goal.users // 20), _MOST_AT_THE_TOP)
    counts = zipf(top)
    ours = expected_published(plan, counts).mean
    same = DomainHistogram(scale=scale_for(goal.epsilon, m), threshold=plan.tau_prime)
    rows: list[tuple[Cell, ...]] = []
    for digits in (3, 6, 9, 12, 18, 24, 30, 36):
        size = 10**digits
        threshold = threshold_for(same.scale, size)
        raised = DomainHistogram(scale=same.scale, threshold=threshold).expected(counts, size)
        at_ours = same.expected(counts, size)
        rows.append(
            (
                Decimal(size),
                threshold,
                raised.held,
                raised.empty,
                at_ours.held,
                at_ours.empty,
                ours,
                0,
            )
        )
    return Table(
        name="domain",
        title=f"Items shown, expected: U = {goal.users:,}, m = {m}, epsilon = "
        f"{float(goal.epsilon):g}; ZEALOUS: delta = {float(goal.delta):g}, tau' = {plan.tau_prime}",
        columns={
            "domain": "domain",
            "threshold": "threshold for at most 1 false",
            "true": "true",
            "false": "false",
            "true_at_tau_prime": "at tau': true",
            "false_at_tau_prime": "at tau': false",
            "true_of_zealous": "ZEALOUS: true",
            "nothing": "publish nothing",
        },
        rows=rows,
        note="epsilon-differential privacy (delta = 0) needs noise on everything that could be "
        "there, and what nobody has passes the threshold by chance. Either false items swamp the "
        "true ones, or the threshold grows with the domain. ZEALOUS never shows what nobody has. "
        f"The log: the r-th item has {top:,}/r users. A small domain holds the most frequent, and "
        "is then the better way: noise on a public list needs no delta.",
    )


def a_hat(parameters: TableParameters) -> Table:
    """A-hat: indistinguishable, and a breach in every output."""
    sizes = [10**3, 10**6, 10**9, 10**12]
    if parameters.histories is not None:
        sizes = [parameters.histories]
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        algorithm = AHat(histories=size)
        rows.append(
            (
                size if size < _WRITTEN_OUT else Decimal(size),
                float_rounded_up(algorithm.delta_prime()),
                float(algorithm.breach_probability()),
            )
        )
    return Table(
        name="a_hat",
        title="A-hat, which shows a history that the first user does not have",
        columns={
            "histories": "histories a user can have",
            "delta_prime": "delta', at every epsilon'",
            "breach": "share of outputs that are a breach",
        },
        rows=rows,
        note="A-hat draws one of all possible histories except the first user's, and shows it. It "
        "is (epsilon', delta')-indistinguishable for every epsilon', with delta' = 1/(histories - "
        "1), and no smaller delta' will do. Yet each output says for certain what the first user's "
        "history is not, so its delta under probabilistic differential privacy is 1.",
    )


def zipf(top: int) -> dict[int, int]:
    """A textbook log: the r-th most frequent item has floor(top/r) users.

    Returns:
        From a number of users to how many items have it.
    """
    found, rank = {}, 1
    while rank <= top:
        last = top // (top // rank)  # the last rank with as many users
        found[top // rank] = last - rank + 1
        rank = last + 1
    return found


def _huge_number(log: float) -> Decimal | None:
    return _VAST.exp(Decimal(log)) if math.isfinite(log) else None
