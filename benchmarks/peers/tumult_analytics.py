"""Users per item by Tumult Analytics.

    python tumult_analytics.py INPUT OUTPUT

Its way of choosing items privately is `get_groups`; half of epsilon goes there and half to the
counts.
"""

from setting import main
from spark_session import spark_session
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    session = Session.from_dataframe(
        ApproxDPBudget(epsilon, delta),
        "rows",
        spark_session().read.parquet(source).select("user", "item"),
        protected_change=AddRowsWithID("user"),
    )
    bounded = (
        QueryBuilder("rows")
        .enforce(MaxRowsPerGroupPerID("item", 1))
        .enforce(MaxGroupsPerID("item", items_per_user))
    )
    items = session.evaluate(bounded.get_groups(["item"]), ApproxDPBudget(epsilon / 2, delta))
    keys = KeySet.from_dataframe(items)
    counted = session.evaluate(bounded.groupby(keys).count(), ApproxDPBudget(epsilon / 2, 0))
    return [(row["item"], row["count"]) for row in counted.collect()]


if __name__ == "__main__":
    main(release)
