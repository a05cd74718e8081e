"""The paper's findings, each judged by what was measured on this log."""

from __future__ import annotations

from zealous.study.claims import on_caching as caching
from zealous.study.claims import on_counts as counts
from zealous.study.claims import on_items as items
from zealous.study.claims import on_substitution as substitution
from zealous.study.claims.claim import Finding, StudyCurves
from zealous.study.grid.result_table import Results
from zealous.study.grid.study import Study

__all__ = ["Finding", "findings"]

_CLAIMS = (
    items.coverage_falls,
    items.coverage_falls_most_for_pairs,
    items.total_rises_then_falls,
    items.epsilon_of_the_table,
    items.small_j_prefers_larger_m,
    counts.power_law,
    counts.more_single_clicks_than_keywords,
    counts.difference_falls,
    counts.difference_falls_with_k,
    counts.keywords_beat_k_query,
    counts.queries_equal_k_query,
    counts.pairs_lose_to_k_query,
    caching.caching_suffers_little,
    caching.caching_prefers_larger_m,
    caching.caching_falls_at_large_m,
    caching.caching_beats_k_query,
    caching.few_lists_suffice,
    substitution.substitution_hardly_varies,
    substitution.substitution_quality_similar,
    substitution.substitution_covers_less,
    substitution.substitution_coverage_falls,
    substitution.phrase_pairs_regain_coverage,
)


def findings(results: Results, study: Study) -> list[Finding]:
    """Judge all claims, in the paper's order."""
    curves = StudyCurves(results, study)
    return [claim(curves) for claim in _CLAIMS]
