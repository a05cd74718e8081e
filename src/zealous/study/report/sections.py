"""The sections of the report, in the paper's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zealous.study.measures.measured import BUILT_IN
from zealous.study.releases.truth import LEARNED_FROM
from zealous.study.report import application_charts, sheets, statistics_charts
from zealous.study.report.algorithm_picture import algorithm
from zealous.study.report.parts import Section
from zealous.study.report.results_view import ResultsView, kind_label
from zealous.study.theory.theory_table import Table

DIFFERENCE_LABELS = {
    "average-difference": "average difference, users",
    "rms-difference": "RMS difference, users",
    "total-variation": "total variation",
}
INVENTED_CORPUS_WARNING = (
    "These hit probabilities were computed on an invented corpus. Use --documents to give the "
    "document frequencies of yours."
)
_SCALED_NOTE = "The counts of each release are scaled to the original's total."
_EMPTY_DRAW_NOTE = (
    "settings at which some draw of the noise publishes nothing are left out: an empty release has "
    "no frequencies to compare."
)

_LEARNERS = {
    "ratio": "log-likelihood ratio, of whole queries and of the one phrase that was changed",
    "jones": "a model of features, as Jones et al. did, from pairs with a log-likelihood ratio "
    "above 100",
    "model": "a model of features, as Jones et al. did, from all pairs that go together",
}


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """What sections are made from.

    Attributes:
        view: The results.
        tables: The tables of the theory, by name.
        paper: What the paper prints, by name: values, where, note.
        audits: The audits of custom methods.
        documents: Where document frequencies come from, in a sentence.
        documents_fit: Whether they belong to a corpus that goes with the log.
    """

    view: ResultsView
    tables: Mapping[str, Table]
    paper: Mapping[str, Mapping[str, Any]]
    audits: tuple[Mapping[str, Any], ...]
    documents: str = ""
    documents_fit: bool = True

    def printed(self, name: str) -> Any:
        """Values that the paper prints; empty where they were not given."""
        return self.paper.get(name, {}).get("values", {})

    def note(self, *names: str) -> list[str]:
        """What must be known to compare with these values, each note once."""
        notes = [self.paper.get(name, {}).get("note", "") for name in names]
        return list(dict.fromkeys(note for note in notes if note))


def sections(data: ReportData) -> list[Section]:
    """All sections; those on custom measures and audits only where there are any."""
    found = [make(data) for make in _SECTIONS]
    if measures := custom_measures(data.view):
        found.append(_custom_measures_section(data, measures))
    if data.audits:
        found.append(_audits_section(data))
    return found


def custom_measures(view: ResultsView) -> list[str]:
    """Measures that are not built in."""
    return [name for name in view.results.names("measure") if name not in BUILT_IN]


def left_out_notes(view: ResultsView, data: Sequence[str]) -> list[str]:
    """What the study asked for and this report does not have, in sentences."""
    wanted = [kind for kind in view.study["kinds"] if kind not in view.kinds]
    found = []
    if wanted:
        found.append(
            f"Not in this report: {', '.join(map(kind_label, wanted))}. "
            "The log lacks the columns to count them, such as clicks or times."
        )
    return found + [f"Left out: {each}" for each in dict.fromkeys(data)]


def _algorithm_section(_: ReportData) -> Section:
    return Section(
        key="algorithm",
        title="What zealous does",
        intro="From each person at most m different items are kept, and the people who kept each "
        "item are counted. Items of fewer than tau people are dropped. Noise is added to each "
        "count, and what is not above tau' then is dropped too. The rest is published.",
        parts=[algorithm()],
        notes=[
            "The picture is the same for every log. tau and tau' follow from epsilon, delta, m "
            "and the number of users."
        ],
    )


def _privacy_section(data: ReportData) -> Section:
    table = data.tables.get("privacy")
    return Section(
        key="privacy",
        title="More noise gives a smaller epsilon, a higher second threshold a smaller delta",
        intro="The noise has the scale lambda, the second threshold is tau'. This table does not "
        "depend on the log.",
        paper="The columns marked printed use the paper's formulas and its parameters.",
        parts=[sheets.theory_table(table)] if table else [],
        notes=[table.note] if table else [],
    )


def _thresholds_section(data: ReportData) -> Section:
    table, printed = data.tables.get("thresholds"), data.printed("thresholds")
    return Section(
        key="thresholds",
        title="The second threshold is lowest where the first is above 1",
        intro="With the paper's parameters tau' is lowest at tau = 4. This table does not depend "
        "on the log.",
        paper="The last column has the paper's values.",
        parts=[sheets.thresholds(table, printed)] if table else [],
        notes=[table.note] if table else [],
    )


def _released_section(data: ReportData) -> Section:
    view = data.view
    at = f"at epsilon = {view.epsilon:g}"
    return Section(
        key="released",
        finding="coverage-falls-with-m",
        title="Items released by m",
        intro="As m grows, are fewer distinct items released, above all fewer query pairs? Does "
        "the "
        "total of the counts first rise and then fall?",
        paper="Below each of our rows is the paper's. It used another log: compare the trends, not "
        "the values.",
        parts=[
            sheets.over_m(
                view,
                "distinct",
                f"Distinct items released by zealous, {at}",
                data.printed("distinct"),
            ),
            sheets.over_m(
                view,
                "total",
                f"Total of the counts released by zealous, {at}",
                data.printed("total"),
            ),
        ],
        notes=data.note("distinct"),
    )


def _average_items_section(data: ReportData) -> Section:
    return Section(
        key="average-items",
        finding="total-rises-then-falls",
        title="Average items per user",
        intro="The paper recommends an m below this average: above it the total of the counts "
        "falls.",
        paper="The last column has the paper's values.",
        parts=[sheets.average_items(data.view, data.printed("average-items"))],
        notes=[],
    )


def _top_over_m_section(data: ReportData) -> Section:
    return Section(
        key="top-j-over-m",
        finding="few-top-items-prefer-larger-m",
        title="Most frequent items, by m",
        intro="Upper two rows, precision (lower is better): is a small top-j best at m > 1, and a "
        "large one at m = 1? Lower two rows, coverage: do more items go missing as m and j grow?",
        parts=[statistics_charts.top_over_m(data.view)],
        notes=[
            f"zealous at epsilon = {data.view.epsilon:g}. The KL divergence takes the count of a "
            "missing item as 1; where most items are missing it says little else.",
            f"In the upper two rows {_EMPTY_DRAW_NOTE}",
        ],
    )


def _top_over_j_section(data: ReportData) -> Section:
    best = data.printed("lowest-kl")
    return Section(
        key="top-j-over-j",
        finding="few-top-items-prefer-larger-m",
        title="Most frequent items, by j",
        intro="The same figures with one curve for each m. Which m is best depends on j.",
        paper=f"The lowest KL divergence is at m = {best['keywords']} for keywords and at "
        f"m = {best['queries']} for queries."
        if best
        else "",
        parts=[statistics_charts.top_over_j(data.view)],
        notes=[
            f"zealous at epsilon = {data.view.epsilon:g}. In the upper two rows {_EMPTY_DRAW_NOTE}"
        ],
    )


def _distributions_section(data: ReportData) -> Section:
    threshold = data.printed("tau-prime")
    return Section(
        key="distributions",
        finding="power-law-kept",
        title="Distribution of counts",
        intro="Is the straight line of a power law kept? Where does each method cut it off: the "
        "k-anonymity methods at k, zealous at tau'?",
        paper=f"tau' is about {threshold:g} at epsilon = 5 and m = 1, hence k = 10."
        if threshold
        else "",
        parts=[statistics_charts.distributions(data.view)],
        notes=[
            "Both axes are logarithmic. Counts are grouped into bins; the number of items in a bin "
            "is divided by its width.",
            *data.note("tau-prime"),
        ],
    )


def _differences_section(data: ReportData) -> Section:
    same, above = data.printed("same-difference"), data.printed("better-above")
    said = []
    if above:
        said.append(
            "For keywords, zealous is closer than k-query at every epsilon above "
            f"{above['epsilon']}."
        )
    if same:
        said.append(
            f"For queries, zealous at epsilon = {same['epsilon']} and k-query at k = {same['k']} "
            "are "
            "about equally close. For query pairs, k-query is closer."
        )
    return Section(
        key="differences",
        finding="difference-falls-with-epsilon",
        title="Differences between released and original counts",
        intro="Does the difference fall as epsilon grows and as k falls? The paper draws epsilon "
        "and "
        "k in one panel; here k is below epsilon, with the same y axis.",
        paper=" ".join(said),
        parts=[
            statistics_charts.difference(data.view, *each) for each in DIFFERENCE_LABELS.items()
        ],
        notes=[
            f"{_SCALED_NOTE} zealous at m = 1. On all three {_EMPTY_DRAW_NOTE}",
            "k-query and k-session give each session a new id, so they count sessions: a user who "
            "asks again in another session counts again. The original counts users.",
        ],
        if_empty=_empty_text(
            data.view, "average-difference", "No release published anything to compare."
        ),
    )


def _caching_section(data: ReportData) -> Section:
    hits, lists = data.printed("hit-probability"), data.printed("cached")
    printed = ""
    if hits and lists:
        printed = (
            f"Above {hits[6]} at m = 6 and below {hits[1]} at m = 1, on the paper's log and index; "
            f"about {lists:g} keywords matter."
        )
    memory = data.view.study.get("memory_for_lists", 0)
    return Section(
        key="caching",
        finding="caching-suffers-little",
        title="Index caching",
        intro="Does the hit probability fall only a little as epsilon becomes smaller, and is it "
        "higher at m = 6 than at m = 1? The black line is a cache filled from the original log.",
        paper=printed,
        parts=[application_charts.caching(data.view)],
        notes=[
            f"{memory / 1e9:g} GB of memory, 8 bytes per posting, lists cut at 200,000 postings. "
            "The "
            "hit probability is the share of the original's keyword occurrences whose posting list "
            "is in memory; for whole queries, the lists of all keywords of the query must be.",
            "Lists are chosen by the paper's score: frequency by number of documents. It can "
            "choose worse lists from a release that has more of them, since it charges a long list "
            "for all of its documents, of which memory holds 200,000. Scores by memory charge for "
            "those that memory holds.",
            "Answered from memory: whole queries, without those whose lists have no document in "
            "common while one of them was cut. What lists have in common is estimated as if words "
            "stood on pages independently of each other.",
            *([data.documents] if data.documents and data.documents_fit else []),
        ],
        warnings=[]
        if data.documents_fit
        else [f"{data.documents} {INVENTED_CORPUS_WARNING}".strip()],
    )


def _substitution_section(data: ReportData) -> Section:
    return Section(
        key="substitution",
        finding="substitution-hardly-varies",
        title="Query substitution: quality",
        intro="Do epsilon and k hardly matter, and is zealous as good as k-query for the queries "
        "that have a substitution?",
        paper="It says so, and prints no numbers.",
        parts=[application_charts.substitution(data.view)],
        notes=[
            "zealous at m = 1. Filled markers: the best two substitutions; hollow markers: the "
            "best "
            "five. Averages over those of the "
            f"{data.view.study['substituted']:,} most frequent queries for which the release has a "
            "substitution.",
            f"Learned by {_LEARNERS[data.view.study.get('substitution', 'ratio')]}.",
            "MAP as the paper prints it is a sum over ranks: it can exceed 1, and treats a missing "
            "substitution as if it were ranked first. Average precision is shown next to it.",
        ],
        if_empty=_empty_text(data.view, "coverage", "No release has a substitution for any query."),
    )


def _coverage_section(data: ReportData) -> Section:
    return Section(
        key="coverage",
        finding="substitution-covers-less",
        title="Query substitution: coverage",
        intro="How many queries have a substitution, and are there fewer at m = 6 than at m = 1?",
        paper="Coverage is not good, and smaller at m = 6. It prints no numbers.",
        parts=[application_charts.coverage(data.view)],
        notes=["Share of the queries for which the original log gives a substitution."],
    )


def _phrase_pairs_section(data: ReportData) -> Section:
    both = set(LEARNED_FROM) <= set(data.view.kinds)
    return Section(
        key="phrase-pairs",
        finding="phrase-pairs-regain-coverage",
        title="Phrase pairs instead of query pairs",
        intro="How much does coverage gain at the same guarantee if only the phrase that changed "
        "between two queries is published, instead of both queries?",
        paper="A phrase pair can be frequent although every query pair that contains it is rare. "
        "The paper names this loss; publishing phrase pairs is our addition.",
        parts=[application_charts.phrase_pairs(data.view), sheets.phrase_pair_coverage(data.view)]
        if both
        else [],
        notes=[
            "zealous at m = 1. Coverage is the share of the queries for which the original's query "
            "pairs give a substitution."
        ]
        if both
        else [],
    )


def _accuracy_section(data: ReportData) -> Section:
    return Section(
        key="accuracy",
        title="Accuracy: exact and simulated",
        intro="Do the hollow markers (counted in releases) lie on the lines (computed from the "
        "plan "
        "and the true counts)?",
        parts=[application_charts.accuracy(data.view), sheets.accuracy(data.view)],
        notes=[
            "With tau* = tau': missing items that have tau* + xi users or more, and shown items "
            "that "
            "have fewer than tau* - xi users. True counts are taken after contribution bounding."
        ],
    )


def _empty_text(view: ResultsView, measure: str, otherwise: str) -> str:
    """What to say where there is nothing to draw: `otherwise` if the measure was taken."""
    if measure in view.results.names("measure"):
        return otherwise
    return "Not measured on this log."


def _custom_measures_section(data: ReportData, measures: list[str]) -> Section:
    return Section(
        key="own-measures",
        title="Your measures",
        intro="The values of your measures for each method.",
        parts=[
            sheets.custom_measures(data.view, measures),
            *(
                application_charts.custom_measure(data.view, measure, f"own-measure-{number}")
                for number, measure in enumerate(measures, 1)
            ),
        ],
        notes=["Infinite and undefined values are in the table but not in the figures."],
    )


def _audits_section(data: ReportData) -> Section:
    return Section(
        key="audit",
        title="Audit of your methods",
        intro="Do runs on neighbouring logs contradict the guarantee that a method claims?",
        parts=[sheets.audits(data.audits)],
        notes=["An audit can refute a guarantee, but never prove one."],
    )


_SECTIONS = (
    _algorithm_section,
    _privacy_section,
    _thresholds_section,
    _released_section,
    _average_items_section,
    _top_over_m_section,
    _top_over_j_section,
    _distributions_section,
    _differences_section,
    _caching_section,
    _substitution_section,
    _coverage_section,
    _phrase_pairs_section,
    _accuracy_section,
)
