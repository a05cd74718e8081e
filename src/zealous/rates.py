"""Clicked over asked: a rate for each published query and address, from the release alone.

Where the clicks that count are those for queries that count, everybody who clicked had asked, and
clicked over asked is a share of people, in [0, 1] but for the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zealous.mechanism.choose import MECHANISMS

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "click-rates.csv"
COLUMNS = ("asked", "clicked", "rate", "low", "high")
_QUERIES, _CLICKS = "queries", "query-clicks"
_EACH = 0.975  # two counts are both within such errors in 95 of 100 cases, whatever they share


def rated(about: Mapping[str, Any]) -> bool:
    """Whether the clicks of a release are those for the queries that it counted."""
    return any(part["settings"].get("follow", False) for part in about["plan"])


def click_rates(about: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> pa.Table:
    """Rows of (query, url, asked, clicked, rate, low, high), sorted as the clicks are.

    `low` and `high` hold for 95 of 100 rows before a threshold on queries left out the unlucky
    ones: with e the largest error of a count, (clicked - e)/(asked + e) and (clicked + e)/(asked -
    e), cut to [0, 1]. A rate is cut likewise.

    Args:
        about: release.json.
        tables: The published rows by kind.
    """
    import numpy as np
    import pyarrow as pa

    parts = {part["kind"]: part for part in about["plan"]}
    asked_off, clicked_off = (
        MECHANISMS[parts[kind]["mechanism"]].again(parts[kind]).error(_EACH)
        for kind in (_QUERIES, _CLICKS)
    )
    queries, clicks = tables[_QUERIES], tables[_CLICKS]
    shared = [name for name in queries.column_names if name != "count"]
    place = pa.array(range(clicks.num_rows), pa.int64())
    joined = clicks.append_column("zealous:place", place).join(
        queries.rename_columns([*shared, "asked"]), shared, join_type="inner"
    )
    joined = joined.sort_by("zealous:place")
    asked, clicked = (joined[name].to_numpy().astype(float) for name in ("asked", "count"))

    def share(over: Any, under: Any) -> pa.Array:
        known = np.divide(over, under, out=np.ones_like(over), where=under > 0)
        return pa.array(np.round(np.clip(known, 0, 1), 6))

    figures = [
        joined["asked"],
        joined["count"],
        share(clicked, asked),
        share(clicked - clicked_off, asked + asked_off),
        share(clicked + clicked_off, asked - asked_off),
    ]
    items = [name for name in clicks.column_names if name != "count"]
    return pa.table([*(joined[name] for name in items), *figures], names=[*items, *COLUMNS])
