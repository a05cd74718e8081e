"""The report's sections, in the paper's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zealous.study.report import applications, figures, sheets
from zealous.study.report.parts import Section
from zealous.study.report.results_view import PHRASES, Asked, words
from zealous.study.theory.tables import Table

KNOWN = frozenset([
    "distinct", "total", "l1", "kl", "missing", "missing-share", "average-difference",
    "rms-difference", "total-variation", "items-with-count", "average-items",
    "average-distinct-items", "people", "inaccuracy-retain", "inaccuracy-filter",
    "inaccuracy-retain-exact", "inaccuracy-filter-exact", "hit-probability", "whole-queries",
    "lists", "precision", "recall", "map-printed", "average-precision", "ndcg", "coverage",
])  # fmt: skip
DIFFERENCES = {
    "average-difference": "average difference, users",
    "rms-difference": "RMS difference, users",
    "total-variation": "total variation",
}
INVENTED = "These hit probabilities are of an invented corpus: give your own by --documents."
_SCALED = "Counts of a release are scaled so that its total is the original's."
_UNPUBLISHED = (
    "a setting at which a draw publishes nothing at all is left out: nothing has no frequencies "
    "and no total to scale, and would look good."
)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What sections are made from.

    Attributes:
        asked: The results.
        tables: Those of the theory, by name.
        paper: What the paper prints, by name: values, where, note.
        audits: Of methods of one's own.
        documents: Where document frequencies come from, in a sentence.
        documents_fit: Whether they are of a corpus that goes with the log.
    """

    asked: Asked
    tables: Mapping[str, Table]
    paper: Mapping[str, Mapping[str, Any]]
    audits: tuple[Mapping[str, Any], ...]
    documents: str = ""
    documents_fit: bool = True

    def printed(self, name: str) -> Any:
        """Values that the paper prints; nothing where they were not given."""
        return self.paper.get(name, {}).get("values", {})

    def note(self, *names: str) -> list[str]:
        """What must be known to compare with them, once."""
        notes = [self.paper.get(name, {}).get("note", "") for name in names]
        return list(dict.fromkeys(note for note in notes if note))


def sections(told: Told) -> list[Section]:
    """All sections; those on one's own methods and measures only where there are some."""
    makers = (
        _privacy, _thresholds, _released, _average, _top_over_m, _top_over_j, _distributions,
        _differences, _caching, _substitution, _coverage, _phrases, _accuracy,
    )  # fmt: skip
    found = [make(told) for make in makers]
    if own := own_measures(told.asked):
        found.append(_own(told, own))
    if told.audits:
        found.append(_audits(told))
    return found


def own_measures(asked: Asked) -> list[str]:
    """Measures that are not the program's."""
    return [name for name in asked.results.names("measure") if name not in KNOWN]


def left_out(asked: Asked, told: Sequence[str]) -> list[str]:
    """What the study asked for and the log does not have, and what else was left out."""
    wanted = [kind for kind in asked.study["kinds"] if kind not in asked.kinds]
    found = []
    if wanted:
        found.append(
            f"Not in this report: {', '.join(map(words, wanted))}. "
            "The log has no columns to count them from, such as a click or a time."
        )
    return found + [f"Left out: {each}" for each in dict.fromkeys(told)]


def _privacy(told: Told) -> Section:
    table = told.tables.get("privacy")
    return Section(
        key="privacy",
        title="What noise and threshold guarantee",
        see="More noise (lambda) buys a smaller epsilon; a higher threshold (tau') a smaller delta."
        " No log was used for this.",
        paper="The columns marked printed are the paper's formulas, in its own setting.",
        parts=[sheets.analytic(table)] if table else [],
        notes=[table.note] if table else [],
    )


def _thresholds(told: Told) -> Section:
    table, printed = told.tables.get("thresholds"), told.printed("thresholds")
    return Section(
        key="thresholds",
        title="The second threshold over the first",
        see="tau' is lowest at a tau between, not at tau = 1: in the paper's setting at tau = 4.",
        paper="Its table is the last column.",
        parts=[sheets.thresholds(table, printed)] if table else [],
        notes=[table.note] if table else [],
    )


def _released(told: Told) -> Section:
    asked = told.asked
    at = f"at epsilon = {asked.epsilon:g}"
    return Section(
        key="released",
        title="Items released over m",
        see="Whether fewer distinct items are released as m grows, most of all of query pairs, and "
        "whether the total of the counts rises and then falls.",
        paper="Beneath each row of ours is the paper's. It was another log: compare the shape.",
        parts=[
            sheets.over_m(
                asked,
                "distinct",
                f"Distinct items released by zealous, {at}",
                told.printed("distinct"),
            ),
            sheets.over_m(
                asked,
                "total",
                f"Total of the counts released by zealous, {at}",
                told.printed("total"),
            ),
        ],
        notes=told.note("distinct"),
    )


def _average(told: Told) -> Section:
    return Section(
        key="average-items",
        title="Average items a user",
        see="The paper advises an m below this number: beyond it the total of the counts falls.",
        paper="Its table is the last column.",
        parts=[sheets.average_items(told.asked, told.printed("average-items"))],
        notes=[],
    )


def _top_over_m(told: Told) -> Section:
    return Section(
        key="top-j-over-m",
        title="The most frequent items, over m",
        see="Whether coverage (the lower two rows) gets worse with m and with j; and for precision "
        "(the upper two, lower is better) whether a small top-j is best at m > 1 and a large one "
        "at m = 1.",
        parts=[figures.top_over_m(told.asked)],
        notes=[
            f"zealous at epsilon = {told.asked.epsilon:g}. An item that is missing enters the KL"
            " divergence as if its count were 1: where most are missing it tells little else.",
            f"In the upper two rows {_UNPUBLISHED}",
        ],
    )


def _top_over_j(told: Told) -> Section:
    best = told.printed("lowest-kl")
    return Section(
        key="top-j-over-j",
        title="The most frequent items, over j",
        see="The same figures, a curve for each m: which m is lowest depends on how far down the "
        "list one looks.",
        paper=f"The lowest KL divergence is at m = {best['keywords']} for keywords and at "
        f"m = {best['queries']} for queries."
        if best
        else "",
        parts=[figures.top_over_j(told.asked)],
        notes=[
            f"zealous at epsilon = {told.asked.epsilon:g}. In the upper two rows {_UNPUBLISHED}"
        ],
    )


def _distributions(told: Told) -> Section:
    threshold = told.printed("tau-prime")
    return Section(
        key="distributions",
        title="The distribution of counts",
        see="Whether the straight line of a power law is kept, and where each method cuts it off: "
        "at k, and at tau'.",
        paper=f"tau' is about {threshold:g} at epsilon = 5 and m = 1, therefore k = 10."
        if threshold
        else "",
        parts=[figures.distributions(told.asked)],
        notes=["Both axes are logarithmic. Counts are in bins, divided by the bin's width."],
    )


def _differences(told: Told) -> Section:
    same, above = told.printed("same-difference"), told.printed("better-above")
    said = []
    if above:
        said.append(
            f"For keywords zealous is closer than k-query at all epsilon above {above['epsilon']}."
        )
    if same:
        said.append(
            f"For queries epsilon = {same['epsilon']} and k = {same['k']} are about the same. For "
            "query pairs k-query is closer."
        )
    return Section(
        key="differences",
        title="How far counts are from the original's",
        see="Whether the difference falls as epsilon grows and as k falls. The paper draws epsilon "
        "and k in one panel; here k is beneath, with the same y axis.",
        paper=" ".join(said),
        parts=[figures.difference(told.asked, *each) for each in DIFFERENCES.items()],
        notes=[
            f"{_SCALED} zealous at m = 1. On all three {_UNPUBLISHED}",
            "k-query and k-session give each session an id of its own, so that their counts are of "
            "sessions: who asks again in another one counts again. The original's are of users.",
        ],
        absent=_absent(told.asked, "average-difference", "Nothing was published to compare."),
    )


def _caching(told: Told) -> Section:
    hits, lists = told.printed("hit-probability"), told.printed("cached")
    printed = ""
    if hits and lists:
        printed = (
            f"Above {hits[6]} at m = 6 and less than {hits[1]} at m = 1, of its own log and its "
            f"own index; about {lists:g} keywords matter."
        )
    memory = told.asked.study.get("memory_for_lists", 0)
    return Section(
        key="caching",
        title="Index caching",
        see="Whether the hit probability suffers little as privacy grows, and is better at m = 6 "
        "than at m = 1. The black line is what the original itself would reach.",
        paper=printed,
        parts=[applications.caching(told.asked)],
        notes=[
            f"{memory / 1e9:g} GB of memory, 8 bytes a posting, lists cut at 200,000. The share "
            "of the original's keyword occurrences that find their list in memory; for whole "
            "queries, all keywords of a query must.",
            *([told.documents] if told.documents and told.documents_fit else []),
        ],
        warnings=[] if told.documents_fit else [f"{told.documents} {INVENTED}".strip()],
    )


def _substitution(told: Told) -> Section:
    return Section(
        key="substitution",
        title="Query substitution: quality",
        see="Whether epsilon and k have hardly any influence, and zealous is as good as k-query on "
        "the queries for which it has a substitution at all.",
        paper="It says so in words and prints no number.",
        parts=[applications.substitution(told.asked)],
        notes=[
            "zealous at m = 1. Filled: the best two substitutions; hollow: the best five. An "
            "average over the queries for which the release has a substitution, of the "
            f"{told.asked.study['substituted']:,} most frequent.",
            "MAP as printed sums over ranks and is no average precision, which is beside it: it "
            "can be above 1, and counts a missing substitution as if it were ranked first.",
        ],
        absent=_absent(told.asked, "coverage", "No release has a substitution for any query."),
    )


def _coverage(told: Told) -> Section:
    return Section(
        key="coverage",
        title="Query substitution: coverage",
        see="How few queries have a substitution, and whether m = 6 has fewer than m = 1.",
        paper="It says in words that coverage is not good, and smaller at m = 6.",
        parts=[applications.coverage(told.asked)],
        notes=["Of the queries for which the original has a substitution."],
    )


def _phrases(told: Told) -> Section:
    both = PHRASES in told.asked.kinds and "query-pairs" in told.asked.kinds
    return Section(
        key="phrase-pairs",
        title="Phrase pairs as items of their own",
        see="How much coverage comes back at the same guarantee where what changed between two "
        "queries is published instead of both queries.",
        paper="It names the loss: a phrase pair can be frequent though all query pairs that "
        "contain it are rare. The cure is ours.",
        parts=[applications.regained(told.asked), sheets.regained(told.asked)] if both else [],
        notes=[
            "zealous at m = 1. Coverage is of the queries for which the original's query pairs "
            "have a substitution."
        ]
        if both
        else [],
    )


def _accuracy(told: Told) -> Section:
    return Section(
        key="accuracy",
        title="Accuracy: exact beside simulated",
        see="Whether the hollow markers (counted in releases, least to most) lie on the lines "
        "(computed from the plan and the true counts).",
        parts=[applications.accuracy(told.asked), sheets.accuracy(told.asked)],
        notes=[
            "Around tau* = tau': items of tau* + xi users or more that are missing, and items of "
            "fewer than tau* - xi users that are shown. True counts are those after bounding."
        ],
    )


def _absent(asked: Asked, measure: str, otherwise: str) -> str:
    """What to say where there is nothing to draw, though this was measured."""
    if measure in asked.results.names("measure"):
        return otherwise
    return "Not measured on this log."


def _own(told: Told, measures: list[str]) -> Section:
    return Section(
        key="own-measures",
        title="Your own measures",
        see="What your measures say of each method.",
        parts=[
            sheets.own(told.asked, measures),
            *(
                applications.own(told.asked, measure, f"own-measure-{number}")
                for number, measure in enumerate(measures, 1)
            ),
        ],
        notes=["What is infinite or no number is in the table and not in the figures."],
    )


def _audits(told: Told) -> Section:
    return Section(
        key="audit",
        title="The audit of your own methods",
        see="Whether runs on neighbouring logs contradict what the method claims.",
        parts=[sheets.audits(told.audits)],
        notes=["An audit refutes or finds nothing; it proves no guarantee."],
    )
