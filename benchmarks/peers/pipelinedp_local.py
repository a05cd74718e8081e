"""Users per item by PipelineDP in one process.

python pipelinedp_local.py INPUT OUTPUT
"""

import pipeline_dp
import pyarrow.parquet as pq
from pipelinedp_query import users_per_item
from setting import main


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    table = pq.read_table(source, columns=["user", "item"])
    rows = list(zip(table["user"].to_pylist(), table["item"].to_pylist(), strict=True))
    budget = pipeline_dp.NaiveBudgetAccountant(epsilon, delta)
    counted = users_per_item(rows, pipeline_dp.LocalBackend(), budget, items_per_user)
    return [(item, metrics.privacy_id_count) for item, metrics in counted]


if __name__ == "__main__":
    main(release)
