"""What the paper found, each claim beside what was measured on this log."""

from __future__ import annotations

from zealous.study.claims import on_applications as applications
from zealous.study.claims import on_counts as counts
from zealous.study.claims import on_items as items
from zealous.study.claims.claim import Asked, Finding
from zealous.study.grid.results import Results
from zealous.study.grid.study import Study

__all__ = ["Finding", "findings"]

_CLAIMS = (
    items.coverage_falls,
    items.coverage_falls_most_for_pairs,
    items.total_tips,
    items.epsilon_of_the_table,
    items.small_j_prefers_more,
    counts.power_law,
    counts.difference_falls,
    counts.keywords_beat_k_query,
    counts.queries_equal_k_query,
    counts.pairs_lose_to_k_query,
    applications.caching_suffers_little,
    applications.caching_prefers_more,
    applications.caching_beats_k_query,
    applications.substitution_similar,
    applications.substitution_covers_less,
    applications.substitution_coverage_falls,
    applications.phrases_regain,
)


def findings(results: Results, study: Study) -> list[Finding]:
    """All claims, in the paper's order."""
    asked = Asked(results, study)
    return [claim(asked) for claim in _CLAIMS]
