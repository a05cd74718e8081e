"""Users per item by SmartNoise SQL on a pandas table.

python smartnoise_sql.py INPUT OUTPUT
"""

from typing import Any

import pandas as pd
from setting import main
from snsql import Privacy, from_df

QUERY = "SELECT item, COUNT(DISTINCT user) AS users FROM log.rows GROUP BY item"


def reader(source: str, epsilon: float, delta: float, items_per_user: int) -> Any:
    columns = {
        "user": {"type": "int", "private_id": True},
        "item": {"type": "string"},
    }
    options = {
        "max_ids": items_per_user,
        "sample_max_ids": True,
        "censor_dims": True,
        "row_privacy": False,
    }
    return from_df(
        pd.read_parquet(source, columns=["user", "item"]),
        privacy=Privacy(epsilon=epsilon, delta=delta),
        metadata={"": {"log": {"rows": {**options, **columns}}}},
    )


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    _, *rows = reader(source, epsilon, delta, items_per_user).execute(QUERY)
    return [(item, count) for item, count in rows]


if __name__ == "__main__":
    main(release)
