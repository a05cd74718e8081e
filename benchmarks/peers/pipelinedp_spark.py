"""Users per item by PipelineDP on Spark.

python pipelinedp_spark.py INPUT OUTPUT
"""

import pipeline_dp
from pipelinedp_query import users_per_item
from setting import main
from spark_session import spark_session


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    session = spark_session()
    rows = session.read.parquet(source).select("user", "item").rdd.map(tuple)
    budget = pipeline_dp.NaiveBudgetAccountant(epsilon, delta)
    backend = pipeline_dp.SparkRDDBackend(session.sparkContext)
    counted = users_per_item(rows, backend, budget, items_per_user).collect()
    return [(item, metrics.privacy_id_count) for item, metrics in counted]


if __name__ == "__main__":
    main(release)
