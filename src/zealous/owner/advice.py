"""Choices of epsilon and m side by side, as a value, in tables and in words.

`advise` makes it. Nothing here knows where the figures come from but what it is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from zealous.privacy.accounting.expected import Published
from zealous.privacy.calibrate import Calibration, float_rounded_up, least_count, noise_quantile
from zealous.privacy.guarantee import Guarantee

Basis = Literal["nothing", "earlier-release", "public-log"]


@dataclass(frozen=True, kw_only=True)
class TopAccuracy:
    """What becomes of the j most frequent items.

    Attributes:
        coverage: The share of them that is expected to be published.
        error: How far their relative frequencies are expected to be off: 0 is perfect, 1 as bad
            as publishing nothing. None where the true ones are not known.
    """

    coverage: float
    error: float | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One choice of epsilon and m, and what to expect of it where a source says."""

    epsilon: Fraction
    items_per_user: int
    parameters: Calibration
    published: Published | None = None
    top: Mapping[int, TopAccuracy]

    def figures(self) -> dict[str, Any]:
        """The numbers, for programs."""
        found: dict[str, Any] = {
            "epsilon": float(self.epsilon),
            "items_per_user": self.items_per_user,
            "scale": float(self.parameters.scale),
            "tau": self.parameters.tau,
            "tau_prime": self.parameters.tau_prime,
            "delta_achieved": float_rounded_up(self.parameters.delta),
            "users_to_appear_95": least_count(self.parameters, 0.95),
            "error_95": noise_quantile(self.parameters.scale, 0.95),
        }
        if self.published is not None:
            found["published"] = {
                "mean": self.published.mean,
                "low": self.published.low,
                "high": self.published.high,
            }
            found["top"] = {
                str(j): {"coverage": top.coverage, "error": top.error}
                for j, top in self.top.items()
            }
        return found


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table to print: a title, the columns' names, and rows of texts and numbers."""

    title: str
    names: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        """The table in plain text, numbers to the right."""
        cells = [[_cell(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.names, *cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in [list(self.names), *cells]
        ]
        return "\n".join([self.title, *lines])


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to expect of several choices, and which serves what.

    Attributes:
        goal: The guarantee asked for; its epsilon is the middle one of those tried.
        kind: The name of the kind of items.
        basis: Where the expectation comes from.
        choices: One for each epsilon and m tried.
        users: How many users the public log has.
        average: How many different items a user of the public log has on average.
    """

    goal: Guarantee
    kind: str
    basis: Basis
    choices: Sequence[Choice]
    users: int | None = None
    average: float | None = None

    def __str__(self) -> str:
        """Tables and words, for a terminal or a notebook."""
        return "\n\n".join([*map(str, self.tables()), *self.explanation()])

    def choices_at(self, epsilon: Fraction) -> list[Choice]:
        """The choices at one epsilon, from the least m to the largest."""
        return [each for each in self.choices if each.epsilon == epsilon]

    def best_for_coverage(self, epsilon: Fraction | None = None) -> Choice | None:
        """The m that publishes the most items; None where hardly one is expected."""
        known = [
            each
            for each in self.choices_at(epsilon or self.goal.epsilon)
            if _expected_number(each) >= 1
        ]
        return max(known, key=_expected_number, default=None)

    def best_for_top(self, epsilon: Fraction | None = None) -> Choice | None:
        """The least m with nearly the truest relative frequencies of the most frequent items.

        Nearly is within a tenth of the least error: a smaller m publishes more items besides.
        """
        known = [
            (top.error, each)
            for each in self.choices_at(epsilon or self.goal.epsilon)
            for top in list(each.top.values())[:1]
            if top.error is not None and top.error < 1 and _expected_number(each) >= 1
        ]
        least = min((error for error, _ in known), default=0.0)
        near = [each for error, each in known if error <= 1.1 * least]
        return min(near, key=lambda each: each.items_per_user, default=None)

    def figures(self) -> dict[str, Any]:
        """All of it, for programs."""
        coverage, top = self.best_for_coverage(), self.best_for_top()
        return {
            "kind": self.kind,
            "basis": self.basis,
            "public_users": self.users,
            "average_items_per_user": self.average,
            "serves_coverage": coverage.items_per_user if coverage else None,
            "serves_top": top.items_per_user if top else None,
            "choices": [each.figures() for each in self.choices],
            "explanation": self.explanation(),
        }

    def tables(self) -> list[TextTable]:
        """The tables: every m at the goal's epsilon, then other epsilons."""
        goal = float(self.goal.epsilon)
        if self.basis == "nothing":
            return [_thresholds_table(self, goal)]
        if self.basis == "earlier-release":
            m = self.choices[0].items_per_user
            return [_choices_table(f"{self.kind}: what to expect at m = {m}", self.choices)]
        title = f"{self.kind}: what to expect at epsilon {goal:g}"
        return [_choices_table(title, self.choices_at(self.goal.epsilon)), _epsilons_table(self)]

    def explanation(self) -> list[str]:
        """In words: which m serves what, what the figures rest on, what to do next."""
        if self.basis == "nothing":
            return _RULES
        if self.basis == "earlier-release":
            return _OF_A_RELEASE
        return [*_recommendations(self), *_log_remarks(self)]


def _expected_number(choice: Choice) -> float:
    return choice.published.mean if choice.published else 0.0


def _choices_table(title: str, choices: Sequence[Choice]) -> TextTable:
    tops = list(choices[0].top) if choices else []
    errors = [j for j in tops if choices[0].top[j].error is not None]
    one = len({each.epsilon for each in choices}) == 1
    names = ["m" if one else "epsilon", "tau'", "items", "from", "to"]
    names += [f"top {j} covered %" for j in tops] + [f"top {j} error %" for j in errors]
    rows = []
    for each in choices:
        expected = each.published or Published(mean=0, deviation=0, most=0)
        row: list[object] = [
            each.items_per_user if one else float(each.epsilon),
            each.parameters.tau_prime,
            round(expected.mean, 1),
            expected.low,
            expected.high,
        ]
        row += [round(100 * each.top[j].coverage, 1) for j in tops]
        row += [round(100 * (each.top[j].error or 0), 1) for j in errors]
        rows.append(row)
    return TextTable(title=title, names=names, rows=rows)


def _epsilons_table(advice: Advice) -> TextTable:
    rows = []
    for epsilon in dict.fromkeys(each.epsilon for each in advice.choices):
        coverage, top = advice.best_for_coverage(epsilon), advice.best_for_top(epsilon)
        error = next(iter(top.top.values())).error if top else None
        rows.append(
            (
                float(epsilon),
                coverage.items_per_user if coverage else "-",
                round(_expected_number(coverage), 1) if coverage else 0.0,
                top.items_per_user if top else "-",
                round(100 * error, 1) if error is not None else "-",
            )
        )
    j = next(iter(advice.choices[0].top), 0)
    names = ["epsilon", "m for coverage", "items", "m for the top", f"top {j} error %"]
    return TextTable(title=f"{advice.kind}: the best m at other epsilons", names=names, rows=rows)


def _thresholds_table(advice: Advice, goal: float) -> TextTable:
    epsilons = list(dict.fromkeys(each.epsilon for each in advice.choices))
    rows = []
    for each in advice.choices_at(advice.goal.epsilon):
        m = each.items_per_user
        same = [
            other for e in epsilons for other in advice.choices_at(e) if other.items_per_user == m
        ]
        rows.append(
            [
                m,
                noise_quantile(each.parameters.scale, 0.95),
                *(least_count(other.parameters, 0.95) for other in same),
            ]
        )
    names = ["m", "noise of a count"]
    names += [f"at epsilon {float(e):g}" for e in epsilons]
    title = (
        f"{advice.kind}: the noise a count stays within in 95 of 100 cases at epsilon {goal:g}, "
        f"and the {advice.goal.units()} an item needs to appear with 95 %"
    )
    return TextTable(title=title, names=names, rows=rows)


def _recommendations(advice: Advice) -> list[str]:
    coverage, top = advice.best_for_coverage(), advice.best_for_top()
    if coverage is None or coverage.published is None:
        return [
            "Not one item is expected at any m: raise epsilon, publish fewer kinds in one release, "
            "or gather more users. The table of other epsilons shows how far that is."
        ]
    said = [
        f"To publish the most items take m = {coverage.items_per_user}: about "
        f"{coverage.published.mean:,.0f} items (95 % range {coverage.published.low:,} to "
        f"{coverage.published.high:,}). The noise and the thresholds grow with m, while a larger m "
        "brings ever fewer contributions, so a small m covers most; the study behind this program "
        "found m = 1."
    ]
    if top is not None:
        j, best = next(iter(top.top.items()))
        said.append(
            f"To have the {j} most frequent items in the right proportions take "
            f"m = {top.items_per_user}: their relative frequencies are off by "
            f"{100 * (best.error or 0):.1f} % in total, where publishing nothing is 100 %. With a "
            "small m each user's few kept items speak for all of hers, which distorts; with a "
            "large one noise takes over. The study found about the average number of items a user, "
            f"here {advice.average or 0:.1f}."
        )
    return said


def _log_remarks(advice: Advice) -> list[str]:
    declared = advice.goal.users
    counted = f"{advice.users or 0:,} {advice.goal.units()}"
    users = f"The figures are for a log like the public one, with its {counted}"
    if declared is not None and declared != advice.users:
        users += f"; you declared {declared:,}, which sets the thresholds. Nothing was scaled"
    return [
        f"{users}. A larger log of the same nature publishes more.",
        "This costs no privacy because that log is public or invented. When you publish, say "
        "--parameters-from synthetic-log, or public-facts for a log that was published before. "
        "Never advise on the log that is to be published.",
    ]


_RULES = [
    "Rules of thumb, from the thresholds alone. What an item needs to appear grows about linearly "
    "with m and falls about linearly with epsilon; delta and the number of users hardly matter "
    "(ten times the users or a tenth of the delta cost 2.3 times the scale of the noise).",
    "To publish as many items as possible take m = 1 or 2. To have the most frequent items in the "
    "right proportions take about the number of different items an average user has, known from "
    "experience and not from this log. Most choose something between.",
    "For expected numbers give a public source: an earlier release, or a log of "
    "`zealous generate`. When you publish, say --parameters-from public-facts.",
]

_OF_A_RELEASE = [
    "An earlier release speaks for its own m and for the items above its own threshold only, so m "
    "is not varied, and items it does not hold are not expected here. Its noisy counts are used as "
    "they are.",
    "Where tau' is at or below the earlier one, the expectation is a low estimate: items below the "
    "earlier threshold are unseen. Where tau' is well above, it can be a little high: counts near "
    "the earlier threshold are those that the noise raised. The top is the earlier release's own.",
    "This costs no further privacy: the earlier release is accounted for. When you publish, say "
    "--parameters-from earlier-release.",
]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
