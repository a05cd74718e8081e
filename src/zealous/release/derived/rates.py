"""Click rates: clicked over asked for each published query and address, from the release alone.

Where the clicks that count are those for queries that count, everybody who clicked had asked, and
clicked over asked is a share of people, in [0, 1] but for the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from zealous.libraries import np, pa, pc
from zealous.mechanisms.retired import recorded_class
from zealous.planning.from_record import kind_of_table
from zealous.privacy.guarantee import UNIT_PLURALS
from zealous.record.record import PartRecord, Record
from zealous.release.columns import Column, item_columns
from zealous.release.derived.derived import Derived

FILE = "click-rates.csv"
_README = f"""\
### Click rates: `{FILE}`

Computed from the tables above alone: `rate` is `clicked` over `asked`. `low` and `high` are its \
95 % interval, which covers the noise of both counts."""
COLUMNS = ("asked", "clicked", "rate", "low", "high")
_EACH = 0.975  # both intervals of such counts hold in 95 of 100 cases, whatever the two share


def derive(record: Record) -> list[Derived]:
    """Rates, where the clicks of a release are those for the queries that it counted."""
    return [
        Derived(
            file=FILE,
            make=partial(click_rates, record),
            readme=_README,
            columns=_columns(part, record),
        )
        for part in record.plan
        if kind_of_table(part, record).restricting_kind() is not None
    ]


def click_rates(record: Record, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Rows of (query, url, asked, clicked, rate, low, high), sorted as the clicks are.

    For 95 of 100 published rows the share before noise lies between `low` and `high`: the fewest
    who can have clicked over the most who can have asked, and the most over the fewest, cut to
    [0, 1]. A rate is cut likewise. See `Interval` for what a count can stand for: just above a
    threshold that is a wide range.
    """
    parts = {part.kind: part for part in record.plan}
    ((first, second),) = (
        (follows, part.kind)
        for part in record.plan
        if (follows := kind_of_table(part, record).restricting_kind()) is not None
    )
    queries, clicks = tables[first], tables[second]

    def ends(kind: str, counts: Any) -> Any:
        mechanism = recorded_class(parts[kind]).from_record(parts[kind])
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
        ends(kind, counts) for kind, counts in ((first, asked), (second, clicked))
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


def _columns(part: PartRecord, record: Record) -> list[Column]:
    units = UNIT_PLURALS[part.unit]
    counts = {
        "asked": f"the count of the query: {units} that asked it, plus noise",
        "clicked": f"the count of query and address: {units} that clicked it, plus noise",
    }
    shares = {
        "rate": "clicked over asked, within 0 and 1",
        "low": "the least that the rate can be, with 95 % certainty",
        "high": "the most that the rate can be, with 95 % certainty",
    }
    return [
        *item_columns(part, record),
        *(Column(name=name, type="integer", meaning=counts[name], unit=units) for name in counts),
        *(Column(name=name, type="number", meaning=shares[name]) for name in shares),
    ]
