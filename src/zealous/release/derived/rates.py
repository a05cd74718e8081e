"""Click rates: clicked over asked for each published query and address, from the release alone.

Where the clicks that count are those for queries that count, everybody who clicked had asked, and
clicked over asked is a share of people, in [0, 1] but for the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zealous.libraries import np, pa, pc
from zealous.mechanisms.choose import MECHANISMS
from zealous.record.record import Record

FILE = "click-rates.csv"
COLUMNS = ("asked", "clicked", "rate", "low", "high")
_QUERIES, _CLICKS = "queries", "query-clicks"
_EACH = 0.975  # both intervals of such counts hold in 95 of 100 cases, whatever the two share


def has_click_rates(record: Record) -> bool:
    """Whether the clicks of a release are those for the queries that it counted."""
    return any(bool(part.settings.follow) for part in record.plan)


def click_rates(record: Record, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Rows of (query, url, asked, clicked, rate, low, high), sorted as the clicks are.

    For 95 of 100 published rows the share before noise lies between `low` and `high`: the fewest
    who can have clicked over the most who can have asked, and the most over the fewest, cut to
    [0, 1]. A rate is cut likewise. See `Interval` for what a count can stand for: just above a
    threshold that is a wide range.

    Args:
        record: release.json.
        tables: The published rows by kind.
    """
    parts = {part.kind: part for part in record.plan}
    queries, clicks = tables[_QUERIES], tables[_CLICKS]

    def ends(kind: str, counts: Any) -> Any:
        mechanism = MECHANISMS[parts[kind].mechanism].from_record(parts[kind])
        lowest = pc.min(tables[kind]["count"]).as_py()
        return mechanism.interval(_EACH, lowest=lowest).endpoints(counts)

    shared = [name for name in queries.column_names if name != "count"]
    place = pa.array(range(clicks.num_rows), pa.int64())
    joined = clicks.append_column("zealous:place", place).join(
        queries.rename_columns([*shared, "asked"]), shared, join_type="inner"
    )
    joined = joined.sort_by("zealous:place")
    asked, clicked = (joined[name].to_numpy().astype(float) for name in ("asked", "count"))
    (fewest_asked, most_asked), (fewest_clicked, most_clicked) = (
        ends(kind, counts) for kind, counts in ((_QUERIES, asked), (_CLICKS, clicked))
    )

    def share(over: Any, under: Any, towards: int = 0) -> pa.Array:
        """Rounded down (-1), up (1) or to the nearest (0)."""
        unknown = np.full_like(over, 0 if towards < 0 else 1)
        known = np.clip(np.divide(over, under, out=unknown, where=under > 0), 0, 1)
        rounded = (np.floor, np.rint, np.ceil)[towards + 1](known * 1e6 - towards * 1e-6)
        return pa.array(rounded / 1e6)

    figures = [
        joined["asked"],
        joined["count"],
        share(clicked, asked),
        share(fewest_clicked, most_asked, -1),
        share(most_clicked, fewest_asked, 1),
    ]
    items = [name for name in clicks.column_names if name != "count"]
    return pa.table([*(joined[name] for name in items), *figures], names=[*items, *COLUMNS])
