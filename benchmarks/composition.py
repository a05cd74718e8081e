"""What composed losses gain in published items: over the kinds of a release, over a year.

    python benchmarks/composition.py [--users 20000] [--epsilon 4] [--delta 1e-5]
        [--items-per-user 5] [--mechanism gaussian] [--neighbors add-remove]
        [--only generated shop] [--without-year] [--draws 1] [-o FILE]

The same total is divided in two ways: epsilons and deltas that add up to it, as everybody may, and
losses that compose to it, as `zealous plan` divides it. Once over four kinds of one release, and
once over twelve months of which each is published by itself (`zealous plan --releases 12`). The
year is charged to a ledger whose cap is the total; what it shows after the last month stands below.

A generated search log of 360 days; and the purchases in ../shared/data, where available. Items are
counted over all tables of a release, and over all months. Results go to composition.json, in place
of what was measured of the same before, and all are printed as Markdown, with the least and the
most of several draws; `--report` only prints.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from best_setting import HERE, add_output, say
from mechanisms_data import REAL
from publish import DATA

import zealous as z
from zealous.items import Kind
from zealous.ledger import Cap, Caps
from zealous.logs.log import Log
from zealous.planning.plan import Plan
from zealous.planning.several_releases import plan_series
from zealous.privacy.guarantee import Guarantee
from zealous.synthetic import generate
from zealous.synthetic.write import START

MONTHS, DAYS = 12, 30
SAME = ("what", "epsilon", "delta", "items_per_user", "mechanism", "neighbors")


@dataclass(frozen=True, kw_only=True)
class Table:
    """People, what they did in a year, and what is counted of it."""

    name: str
    log: Log
    kinds: list[Kind]
    first: date

    def months(self) -> list[z.Period]:
        """Twelve periods of thirty days."""
        starts = [self.first + timedelta(days=DAYS * n) for n in range(MONTHS)]
        return [z.Period(first=each, end=each + timedelta(days=DAYS)) for each in starts]


def main() -> None:
    """Print both ways side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=20_000, help="of the generated log")
    parser.add_argument("--epsilon", default="4", help="in total")
    parser.add_argument("--delta", default="1e-5", help="in total")
    parser.add_argument("--items-per-user", type=int, default=5)
    parser.add_argument("--mechanism", default="gaussian")
    parser.add_argument("--neighbors", choices=("add-remove", "replace"), default="add-remove")
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--without-year", action="store_true", help="the kinds of a release alone")
    parser.add_argument("--draws", type=int, default=1)
    add_output(parser, HERE / "composition.json")
    given = parser.parse_args()
    path = given.output
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    for row in () if given.report else _measured(given):
        say(f"{row['what']}: {_ratio(row)}")
        rows = [each for each in rows if any(each[key] != row[key] for key in SAME)] + [row]
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("\n".join(_markdown(rows)))


def _measured(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each that is asked for, of all draws."""
    goal = z.Indistinguishability(
        epsilon=given.epsilon, delta=given.delta, neighbors=given.neighbors
    )
    for name in given.only:
        for table in TABLES[name](given.users, given.items_per_user):
            found = [_of_kinds(table, goal, given)] if len(table.kinds) > 1 else []
            found += [] if given.without_year else [_of_a_year(table, goal, given)]
            for each in found:
                yield {**{key: getattr(given, key) for key in SAME[1:]}, **each}


def _of_kinds(table: Table, goal: Guarantee, given: argparse.Namespace) -> dict[str, Any]:
    kinds, mechanism = table.kinds, given.mechanism
    share = goal.share(Fraction(1, len(kinds)))
    shares = [z.plan(share, each, mechanism=mechanism) for each in kinds]
    together = z.plan(goal, kinds, mechanism=mechanism)
    draws = range(given.draws)
    return {
        "what": f"{table.name}: {len(kinds)} kinds in a release",
        "added": [sum(_published(table.log, each) for each in shares) for _ in draws],
        "composed": [_published(table.log, together) for _ in draws],
        "shown": "",
    }


def _of_a_year(table: Table, goal: Guarantee, given: argparse.Namespace) -> dict[str, Any]:
    kinds, mechanism = table.kinds, given.mechanism
    apart = z.plan(_part(goal), kinds[0], mechanism=mechanism)
    together = plan_series(goal, MONTHS, lambda each: z.plan(each, kinds[0], mechanism=mechanism))
    composed = [_year(table, goal, together) for _ in range(given.draws)]
    return {
        "what": f"{table.name}: {MONTHS} months of {kinds[0].name()}",
        "added": [_year(table, goal, apart)[0] for _ in range(given.draws)],
        "composed": [items for items, _ in composed],
        "shown": composed[-1][1],
    }


def _markdown(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table for each goal and mechanism."""
    for asked in dict.fromkeys(tuple(row[key] for key in SAME[1:]) for row in rows):
        epsilon, delta, most, mechanism, neighbors = asked
        yield f"\n{mechanism}, ({epsilon}, {delta}), {neighbors}, m = {most}\n"
        yield "| items published | draws | added | composed | ratio | the ledger shows |"
        yield "|---|---|---|---|---|---|"
        for row in rows:
            if tuple(row[key] for key in SAME[1:]) == asked:
                added, composed = _spread(row["added"]), _spread(row["composed"])
                head = f"| {row['what']} | {len(row['added'])} | {added} | {composed}"
                yield f"{head} | {_ratio(row)} | {row['shown']} |"


def _ratio(row: dict[str, Any]) -> str:
    added = sum(row["added"])
    return f"{sum(row['composed']) / added:.2f}" if added else ""


def _spread(items: Sequence[int]) -> str:
    """The mean, and the least and the most of several."""
    mean = sum(items) / len(items)
    return f"{mean:,.1f} ({min(items):,} to {max(items):,})" if len(items) > 1 else f"{mean:,.0f}"


def _part(goal: Guarantee) -> Guarantee:
    return goal.share(Fraction(1, MONTHS))


def _published(log: Log, plan: Plan) -> int:
    release = z.publish(log, plan, account=None, attendance="proceed")
    return sum(map(len, release.tables.values()))


def _year(table: Table, goal: Guarantee, plan: Plan) -> tuple[int, str]:
    """How many items twelve months have, and what their ledger shows then."""
    items = 0
    with tempfile.TemporaryDirectory() as made:
        ledger = z.Ledger.open(Path(made) / "year.sqlite", create=True, neighbors=goal.neighbors)
        ledger.set_caps(Caps(all=Cap(epsilon=goal.epsilon, delta=goal.delta)))
        account = z.Account(ledger=ledger.path)
        for month in table.months():
            release = z.publish(
                table.log, plan, account=account, period=month, attendance="unattended"
            )
            items += sum(map(len, release.tables.values()))
        shown = ledger.book().standing()
    assert shown.epsilon is not None
    return items, f"{float(shown.epsilon):.3f} of {float(goal.epsilon):g}"


def _generated(users: int, most: int) -> Iterator[Table]:
    path = DATA / f"year-{users}.parquet"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        generate(path, users=users, seed=1, days=MONTHS * DAYS)
    made = (z.queries, z.keywords, z.clicks, z.query_pairs)
    yield Table(
        name=f"generated, {users:,} users",
        log=z.read_log(path),
        kinds=[each(most) for each in made],
        first=START.date(),
    )


def _shop(_: int, most: int) -> Iterator[Table]:
    path = REAL / "online_retail.csv.gz"
    if path.exists():
        columns = z.Columns(user="CustomerID", time="InvoiceDate")
        yield Table(
            name="online_retail, 4,372 customers",
            log=z.read_log(path, columns=columns),
            kinds=[z.columns("StockCode", items_per_user=most)],
            first=date(2010, 12, 1),
        )


TABLES = {"generated": _generated, "shop": _shop}

if __name__ == "__main__":
    main()
