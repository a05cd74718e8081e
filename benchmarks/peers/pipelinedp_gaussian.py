"""Users per item by PipelineDP with Gaussian noise and Gaussian thresholding, at its best bound.

    python pipelinedp_gaussian.py INPUT OUTPUT [--bounds 1 2 3 5 8 10 15 20 30] [--draws 5]

The noisy count decides itself whether an item appears, which serves PipelineDP best: chosen apart
(`partition_selection_strategy`), items cost half of the budget. See best_bound.py.
"""

from typing import Any

import pipeline_dp
from best_bound import Published, Rows, main
from setting import DELTA, EPSILON


def release(rows: Rows, bound: int) -> Published:
    """(item, count), under neighbours that add or remove a user."""
    return [(item, metrics.privacy_id_count) for item, metrics in _metrics(rows, bound)]


def _metrics(rows: Rows, bound: int) -> Any:
    budget = pipeline_dp.NaiveBudgetAccountant(EPSILON, DELTA)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    counted = engine.aggregate(
        rows,
        pipeline_dp.AggregateParams(
            metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
            max_partitions_contributed=bound,
            max_contributions_per_partition=1,
            post_aggregation_thresholding=True,
        ),
        pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        ),
    )
    budget.compute_budgets()
    return counted


if __name__ == "__main__":
    main({"": release})
