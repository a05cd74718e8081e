"""The query that PipelineDP is asked, whatever runs it.

The noisy count decides itself whether an item appears (`post_aggregation_thresholding`), so that no
budget is spent on choosing the items; the default would halve it.
"""

from typing import Any

import pipeline_dp


def users_per_item(
    rows: Any, backend: Any, budget: Any, items_per_user: int, *, thresholding: bool = True
) -> Any:
    """(item, metrics) of (user, item) rows."""
    engine = pipeline_dp.DPEngine(budget, backend)
    counted = engine.aggregate(
        rows,
        pipeline_dp.AggregateParams(
            metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            max_partitions_contributed=items_per_user,
            max_contributions_per_partition=1,
            post_aggregation_thresholding=thresholding,
        ),
        pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        ),
    )
    budget.compute_budgets()
    return counted
