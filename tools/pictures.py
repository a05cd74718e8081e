"""Draw the pictures of the documentation: `python tools/pictures.py [NAME...]`.

Every number in them is computed by the package. The files are committed, so that the documentation
can be read without running anything; the same version of matplotlib draws the same bytes again.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Rectangle
from msgspec.structs import replace
from pictures_associations import associations_figure
from pictures_tail import tail_figure

import zealous as z
from zealous.ledger.budgets import Charge, Measure
from zealous.ledger.budgets import accounts as ledger_accounts
from zealous.mechanisms import Zealous
from zealous.noise import DiscreteLaplace, seeded_bytes
from zealous.owner.parameter_search import advise
from zealous.privacy.accounting.expected import tau_prime_curve
from zealous.privacy.accounting.several_accounts import guarantee_for_accounts
from zealous.privacy.calibrate import calibrate, publication_probability, tail
from zealous.privacy.guarantee import Neighbors
from zealous.privacy.period import Period
from zealous.release.derived.associations import associations as rules_of
from zealous.study.report.algorithm_picture import draw_algorithm
from zealous.study.report.attack_figure import draw_attacks
from zealous.study.report.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    PERCENT,
    RED,
    STYLE,
    figure_with_panels,
)
from zealous.synthetic import generate

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "figures"
PALER = {BLUE: "#cfe0ee", ORANGE: "#f7e3cf"}


def blank(axes: Axes, width: float, height: float) -> None:
    """A panel to draw in, without axes."""
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")


def box(axes: Axes, x: float, y: float, width: float, height: float, color: str, text: str) -> None:
    """A rounded box with a word in it."""
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=color, edgecolor="none")
    )
    axes.text(
        x + width / 2,
        y + height / 2,
        text,
        ha="center",
        va="center",
        fontsize=8,
        color="white" if color in (BLUE, ORANGE, RED) else INK,
    )


def noise_chance(scale: Fraction, value: int) -> float:
    """P(eta = value)."""
    return tail(scale, value - 1) - tail(scale, value)


def suspicion() -> Figure:
    """Where a suspicion of one tenth stays, whatever the release shows."""
    before, epsilons = 0.1, (0.5, 1, 2, 4, 10)
    figure, (panel,) = figure_with_panels(1, height=2.2, width=5)
    for place, epsilon in enumerate(reversed(epsilons)):
        factor = math.exp(epsilon)
        odds = before / (1 - before)
        low, high = odds / factor / (1 + odds / factor), odds * factor / (1 + odds * factor)
        panel.barh(place, high - low, left=low, height=0.55, color=BLUE if epsilon == 2 else PALE)
        digits = 2 if high > 0.99 else 1
        most = math.ceil(high * 10 ** (digits + 2)) / 10**digits
        panel.text(high + 0.01, place, f"at most {most:.{digits}f} %", va="center")
    panel.axvline(before, color=ORANGE, linewidth=1.5)
    panel.text(before + 0.01, len(epsilons) - 0.4, "before: 10 %", color=ORANGE)
    panel.set_yticks(range(len(epsilons)), [f"epsilon {each:g}" for each in reversed(epsilons)])
    panel.set(xlim=(0, 1.18), ylim=(-0.5, len(epsilons)), xlabel="how sure he can be afterwards")
    panel.set_xticks([n / 5 for n in range(6)])
    panel.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
    return figure


def probabilistic() -> Figure:
    """One bad release in many, bad for anybody; in the others nobody's odds move far."""
    delta = Fraction(1, 100)
    number = round(1 / delta)
    figure, (releases, belief) = figure_with_panels(1, 1.25, height=3.4)
    side = math.isqrt(number)
    for n in range(number):
        bad = n == 37
        releases.add_patch(
            Rectangle(
                (n % side + 0.08, n // side + 0.08),
                0.84,
                0.84,
                facecolor=RED if bad else BLUE,
                edgecolor="none",
                alpha=1 if bad else 0.55,
            )
        )
    blank(releases, side, side + 2.6)
    releases.set_aspect("equal")
    releases.set_title(f"delta = {float(delta):g}: the release as a whole")
    releases.text(
        0,
        side + 1.3,
        f"Of {number} releases that the noise could make,\n"
        "on average at most one is bad for anybody.",
        va="center",
    )
    prior = [n / 200 for n in range(1, 200)]
    for epsilon, color in ((2, ORANGE), (1, BLUE)):
        factor = math.exp(epsilon)
        high = [p * factor / (1 - p + p * factor) for p in prior]
        low = [p / (p + (1 - p) * factor) for p in prior]
        belief.fill_between(prior, low, high, color=PALER[color], linewidth=0)
        belief.plot(prior, high, color=color, label=f"epsilon = {epsilon}: odds x {factor:.2f}")
        belief.plot(prior, low, color=color)
    belief.set(xlim=(0, 1), ylim=(0, 1), xlabel="how sure he was before", ylabel="and after")
    for axis in (belief.xaxis, belief.yaxis):
        axis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
    belief.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
    belief.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
    belief.set_title("epsilon: what a good release reveals")
    return figure


def indistinguishable() -> Figure:
    """With and without one person: covered by a factor, and the part that is not."""
    goal = z.Indistinguishability(epsilon=1, delta="0.05", neighbors="add-remove")
    best = calibrate(goal, 1)
    figure, (common, own) = figure_with_panels(1, 1)
    count = best.tau_prime + 12
    values = list(range(count - 6, count + 8))
    without = [noise_chance(best.scale, x - count) for x in values]
    with_her = [noise_chance(best.scale, x - count - 1) for x in values]
    common.bar([x - 0.2 for x in values], without, 0.4, color=GREY, label="without her")
    common.bar([x + 0.2 for x in values], with_her, 0.4, color=BLUE, label="with her")
    factor = math.exp(1 / best.scale)
    common.set(xlabel="published count", ylabel="probability", ylim=(0, 0.66))
    common.set_xticks(values[::2])
    common.set_title("an item of many people")
    common.text(
        0.02,
        0.98,
        f"each bar within a factor of\nexp(epsilon) = {factor:.2f} of its twin",
        transform=common.transAxes,
        va="top",
    )
    common.legend(loc="upper right")
    shown = list(range(best.tau_prime + 1, best.tau_prime + 7))
    hidden = 1 - publication_probability(best, 1)
    own.bar([-0.2], [1], 0.4, color=GREY)
    own.bar([0.2], [hidden], 0.4, color=BLUE)
    chances = [noise_chance(best.scale, x - 1) for x in shown]
    places = range(2, 2 + len(shown))
    own.bar(list(places), chances, 0.4, color=RED)
    own.set_xticks([0, *places], ["absent", *map(str, shown)])
    own.set(xlabel="published count", ylim=(0, 1.12))
    own.set_title("an item of hers alone")
    uncovered = publication_probability(best, 1)
    own.annotate(
        f"impossible without her:\n{uncovered:.3f} together, within\n"
        f"delta = {float(goal.delta):g}, which is\nfor each single person",
        (2, chances[0]),
        (2.4, 0.36),
        color=RED,
        va="bottom",
        arrowprops={"arrowstyle": "-", "color": RED},
    )
    return figure


def neighbours() -> Figure:
    """Which two logs must be hard to tell apart."""
    figure, both = figure_with_panels(1, 1, height=2.9)
    people = {"Ann": ["tea", "maps"], "Bob": ["news"], "Eve": ["tea", "a clinic"]}
    others: dict[Neighbors, tuple[str, list[str]]] = {
        "replace": ("Eve's history is another", ["news", "a school"]),
        "add-remove": ("Eve is not there", []),
    }
    for axes, (name, (title, other)) in zip(both, others.items(), strict=True):
        blank(axes, 10.6, 5.6)
        axes.set_title(f"{name}: {title}")
        for row, (person, history) in enumerate(people.items()):
            y = 3.5 - 1.1 * row
            axes.text(0, y + 0.37, person, va="center")
            for left, items in ((1.5, history), (6.3, other if person == "Eve" else history)):
                for place, item in enumerate(items):
                    color = ORANGE if person == "Eve" else PALE
                    box(axes, left + 2.05 * place, y, 1.95, 0.75, color, item)
        axes.text(1.5, 4.75, "one log")
        axes.text(6.3, 4.75, "its neighbour")
        goal = z.ProbabilisticDP(epsilon=1, delta="0.1", users=3, neighbors=name)
        axes.text(
            0,
            0.1,
            f"At m = 2 at most {goal.moved_counts(2)} counts move, each by one:\n"
            f"noise of scale {float(calibrate(goal, 2).scale):g} at epsilon 1.",
        )
    return figure


def unit() -> Figure:
    """What is protected as one: everything, a day, a session."""
    sessions = [(0.5, 1.1), (2.0, 2.5), (4.6, 5.2), (7.3, 7.8), (8.3, 8.9), (9.3, 9.7)]
    days = [(0, 3), (3.5, 6.5), (7, 10)]
    figure, (axes,) = figure_with_panels(1, height=3.3)
    blank(axes, 15.2, 6.2)
    for number, (start, end) in enumerate(days):
        axes.text(1.9 + (start + end) / 2, 5.75, f"day {number + 1}", ha="center")
        axes.plot([1.9 + start, 1.9 + end], [5.45, 5.45], color=GREY, linewidth=1)
    held: dict[str, Sequence[tuple[float, float]]] = {
        "user": [(0, 10)],
        "user-day": [day for day in days if any(day[0] <= s < day[1] for s, _ in sessions)],
        "session": sessions,
    }
    axes.text(12.3, 5.6, "her whole history:", va="center")
    for row, (name, parts) in enumerate(held.items()):
        y = 3.9 - 1.6 * row
        axes.text(0, y + 0.5, f"--unit\n{name}", va="center")
        for start, end in parts:
            pad = 0.13 if name == "session" else 0.05
            axes.add_patch(
                FancyBboxPatch(
                    (1.9 + start - pad, y - 0.05),
                    end - start + 2 * pad,
                    1.1,
                    boxstyle="round,pad=0,rounding_size=0.15",
                    facecolor=PALER[BLUE],
                    edgecolor=BLUE,
                    linewidth=1.4,
                )
            )
        for start, end in sessions:
            axes.plot(
                [1.9 + start, 1.9 + end],
                [y + 0.5] * 2,
                color=ORANGE,
                linewidth=6,
                solid_capstyle="round",
            )
        times = f"{len(parts)} x epsilon" if len(parts) > 1 else "epsilon"
        axes.text(
            12.3, y + 0.5, f"{times}\nat 0.5: odds x {math.exp(len(parts) / 2):.1f}", va="center"
        )
    axes.text(1.9, 0.05, "orange: what one user did; a blue box: what the promise covers as one")
    return figure


def composition() -> Figure:
    """Twelve monthly releases: what one person loses in a month, and over the year."""
    goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=1000)
    months = list(range(1, 13))
    charges = [Charge.of(goal, period=Period.parse(f"2026-{month:02}")) for month in months]
    measure = Measure(unit="user", neighbors="replace")
    kept = [ledger_accounts(measure, charges[:month], None) for month in months]
    figure, (axes,) = figure_with_panels(1, height=2.9)
    sums = [0.0, *(float(each.all.epsilon) for each in kept)]
    for month in months:
        for earlier in range(month):
            newest = earlier == month - 1
            axes.bar(
                month,
                sums[earlier + 1] - sums[earlier],
                0.62,
                bottom=sums[earlier],
                color=BLUE if newest else PALER[BLUE],
                edgecolor="white",
            )
    last = kept[-1]
    axes.set(xlim=(0.4, 15.6), ylim=(0, 13.4), ylabel="epsilon spent", xlabel="month")
    axes.set_xticks(months)
    axes.text(
        12.6,
        11.5,
        f"over all releases:\n{float(last.all.epsilon):g}, delta {float(last.all.delta):g}",
        va="center",
        color=BLUE,
    )
    axes.axhline(float(last.period.epsilon), color=ORANGE, linewidth=1.4)
    axes.text(
        12.6,
        2.4,
        f"about one month:\n{float(last.period.epsilon):g}, delta {float(last.period.delta):g}",
        va="center",
        color=ORANGE,
    )
    axes.set_title("a release a month, each of epsilon 1 about its own month")
    return figure


def accounts() -> Figure:
    """A person with several ids: epsilon grows with them, and so does delta."""
    goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=500_000)
    best = calibrate(goal, 2)
    part = Zealous(items_per_user=2, scale=best.scale, tau=best.tau, tau_prime=best.tau_prime)
    held = [(g, guarantee_for_accounts(goal, [part], g)) for g in range(1, 6)]
    proven = [(g, each) for g, each in held if each is not None]
    figure, (left, right) = figure_with_panels(1, 1, height=2.6)
    for axes in (left, right):
        axes.set_xticks([g for g, _ in proven])
        axes.set_xlabel("ids that one person holds")
    left.bar([g for g, _ in proven], [float(each.epsilon) for _, each in proven], 0.6, color=BLUE)
    for g, each in proven:
        left.text(
            g,
            float(each.epsilon) + 0.12,
            f"odds x {math.exp(each.epsilon):.3g}",
            ha="center",
            fontsize=8,
        )
    left.set(ylabel="epsilon for her", ylim=(0, 6), xlim=(0.25, len(proven) + 0.75))
    left.set_title("her odds")
    deltas = [1000 * float(each.delta) for _, each in proven]
    right.bar([g for g, _ in proven], deltas, 0.6, color=RED)
    for g, delta in zip([g for g, _ in proven], deltas, strict=True):
        right.text(g, delta + 0.04, f"{delta:.2f}", ha="center", fontsize=8)
    right.set(ylabel="delta, in thousandths", ylim=(0, max(deltas) * 1.2))
    right.set_title("the chance of a bad release")
    return figure


def tau_curve() -> Figure:
    """The least tau' for each tau, and the lowest point."""
    figure, (axes,) = figure_with_panels(1, height=3.2)
    m = 2
    for users, color in ((5_000_000, ORANGE), (500_000, BLUE), (50_000, GREY)):
        goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=users)
        best = calibrate(goal, m)
        curve = tau_prime_curve(goal, m, range(1, 31))
        axes.step(
            [each.tau for each in curve],
            [each.tau_prime for each in curve],
            where="mid",
            color=color,
            label=f"{users:,} people",
        )
        axes.plot([best.tau], [best.tau_prime], "o", color=color)
        axes.annotate(
            f"tau {best.tau}, tau' {best.tau_prime}",
            (best.tau, best.tau_prime),
            (0, -14),
            textcoords="offset points",
            ha="center",
        )
    low, high = axes.get_ylim()
    axes.set(
        xlabel="tau, the threshold before noise",
        ylabel="tau', after noise",
        ylim=(low - 4, high),
        xlim=(0, 31),
    )
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.32))
    axes.set_title(
        f"epsilon 1, delta 0.001, m = {m}: the scale of the noise is {float(best.scale):g}"
    )
    return figure


def choosing_m() -> Figure:
    """Coverage wants a small m, the top items a larger one: on a synthetic log."""
    users = 50_000
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "log.parquet", users=users, seed=7)
        log = z.read_log(Path(folder) / "log.parquet")
        goal = z.ProbabilisticDP(epsilon=5, delta="0.001", users=users)
        advice = advise(goal, z.queries(1), log)
    rows = advice.choices_at(goal.epsilon)
    ms = [each.items_per_user for each in rows]
    figure, (left, right) = figure_with_panels(1, 1)
    counted = [each.published for each in rows if each.published is not None]
    left.fill_between(
        ms, [p.low for p in counted], [p.high for p in counted], color=BLUE, alpha=0.25, linewidth=0
    )
    left.plot(ms, [p.mean for p in counted], "o-", color=BLUE, markersize=4)
    left.set(ylabel="queries published", ylim=(0, None))
    left.set_title("coverage: a small m")
    j = min(rows[0].top)
    right.plot(
        ms, [100 * (each.top[j].error or 0) for each in rows], "o-", color=ORANGE, markersize=4
    )
    right.set(ylabel="error, %", ylim=(0, None))
    right.set_title(f"proportions of the top {j}: a larger m")
    for axes, best in ((left, advice.best_for_coverage()), (right, advice.best_for_top())):
        axes.set_xscale("log")
        axes.set_xticks(ms, [str(m) if m not in (6, 8) else "" for m in ms])
        axes.minorticks_off()
        axes.set_xlabel("m, the most items of a user that count")
        if best is not None:
            axes.axvline(best.items_per_user, color=GREY, linewidth=1, linestyle=":")
    right.axvline(advice.average or 0, color=RED, linewidth=1, linestyle="--")
    right.text(
        (advice.average or 1) * 1.05,
        right.get_ylim()[1],
        f"an average user\nhas {advice.average:.1f}",
        color=RED,
        va="top",
    )
    return figure


def attacks() -> Figure:
    """What an attacker gets: drawn from the figures that the command gave."""
    return draw_attacks(json.loads((ROOT / "docs" / "study" / "attacks.json").read_text()))


def associations() -> Figure:
    """Rules between products of an invented shop, as a release with such noise tells them."""
    sold = {
        "bread": 4100,
        "butter": 2300,
        "jam": 1200,
        "coffee": 3000,
        "filters": 640,
        "soap": 1500,
        "bread, butter": 1500,
        "bread, jam": 830,
        "butter, jam": 700,
        "bread, coffee": 1230,
        "coffee, filters": 480,
        "filters, soap": 110,
        "bread, butter, jam": 560,
    }
    scales = {
        "people": 1,
        "itemsets-1:product": 8,
        "itemsets-2:product": 12,
        "itemsets-3:product": 12,
    }
    with tempfile.TemporaryDirectory() as folder:  # any record will do: its plan is replaced
        log = Path(folder) / "log.csv"
        log.write_text("user,query\na,b\n", encoding="utf-8")
        goal = z.Indistinguishability(epsilon=1, delta="0.1")
        record = z.publish(z.read_log(log), goal, [z.queries(8)], seed=0).record
    like = replace(record.plan[0], mechanism="domain")
    kinds = z.itemsets("product", max_size=3, items_per_user=8)
    parts, tables = [], {}
    for size, (kind, scale) in enumerate(scales.items()):
        exact = replace(like.exact, scale=str(scale))
        (of,) = (each for each in kinds if each.name() == kind)
        asked = {"items_per_user": of.items_per_user, "settings": of.settings()}
        parts.append(replace(like, kind=kind, exact=exact, **asked))
        sets = {each: n for each, n in sold.items() if each.count(",") == size - 1}
        sets = sets if size else {"everyone": 10_000}
        noise = DiscreteLaplace(scale=Fraction(scale)).sample(len(sets), seeded_bytes(size))
        members = zip(*(each.split(", ") for each in sets), strict=True)
        columns = {f"item_{n}": list(each) for n, each in enumerate(members, 1)}
        counts = [n + int(eta) for n, eta in zip(sets.values(), noise, strict=True)]
        tables[kind] = pa.table({**columns, "count": counts})
    family = "itemsets:product"
    (file,) = record.files.values()
    files = {each.name(): replace(file, columns=each.columns()) for each in kinds}
    rules = rules_of(replace(record, plan=tuple(parts), files=files), tables, family)
    return associations_figure(rules.to_pylist(), family)


def itemsets() -> Figure:
    """How many of the sets that most people hold are published, as benchmarks/itemsets.py found."""
    path = ROOT / "benchmarks" / "itemsets.json"
    found = json.loads(path.read_text())
    figure, panel = figure_with_panels(
        *[1] * len(found["tables"]), width=0.6 + 2.8 * len(found["tables"])
    )
    for axes, (name, table) in zip(panel, found["tables"].items(), strict=True):
        # Wide ones first: where two coincide, both are seen.
        for size, color, wide in (("1", GREY, 4), ("2", BLUE, 2.4), ("3", ORANGE, 1.8)):
            for relation, stroke in (("add-remove", "o-"), ("replace", "o:")):
                rows = [row for row in table["rows"] if row["neighbors"] == relation]
                axes.plot(
                    [row["epsilon"] for row in rows],
                    [100 * row["sizes"][size]["found"] / found["wanted"] for row in rows],
                    stroke,
                    color=color,
                    markersize=wide + 2,
                    linewidth=wide,
                )
        epsilons = sorted({row["epsilon"] for row in table["rows"]})
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(PERCENT)
        axes.set(xlabel="epsilon", ylim=(-4, 104))
        axes.set_title(name)
    panel[0].set_ylabel(f"published, of the top {found['wanted']}")
    handles = [
        Line2D([], [], color=GREY, label="things"),
        Line2D([], [], color=BLUE, label="sets of two"),
        Line2D([], [], color=ORANGE, label="sets of three"),
        Line2D([], [], color=INK, label="add-remove"),
        Line2D([], [], color=INK, linestyle=":", label="replace"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def rare_queries() -> Figure:
    """What a release tells of queries that are not in it: drawn from what a benchmark measured."""
    measured = ROOT / "benchmarks" / "tail.json"
    return tail_figure(json.loads(measured.read_text()))


PICTURES: dict[str, Callable[[], Figure]] = {
    "thresholds": draw_algorithm,
    "suspicion": suspicion,
    "probabilistic": probabilistic,
    "indistinguishable": indistinguishable,
    "neighbours": neighbours,
    "unit": unit,
    "accounts": accounts,
    "composition": composition,
    "tau-curve": tau_curve,
    "choosing-m": choosing_m,
    "attacks": attacks,
    "associations": associations,
    "itemsets": itemsets,
    "tail": rare_queries,
}


def main(names: list[str], folder: Path = FOLDER, form: str = "svg") -> None:
    """Draw the named pictures, or all."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in names or PICTURES:
            figure = PICTURES[name]()
            metadata = {"Date": None, "Creator": None} if form == "svg" else None
            figure.savefig(folder / f"{name}.{form}", dpi=110, facecolor="white", metadata=metadata)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    main(parser.parse_args().names)
