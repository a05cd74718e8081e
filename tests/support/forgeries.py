"""Forgeries of earlier versions: changes that somebody could make, and what is told of each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from forging import About, Tables, add, drop, part, reorder

from zealous.verification.verify import verify

Change = Callable[[About, Tables], object]
SECRET = "caviar"  # stands in forged rows, and in no message


class Forgery(NamedTuple):
    """What is forged, in which release, and by which check and for what reason it is refused."""

    name: str
    of: str
    change: Change
    check: str
    reason: str
    edit: Callable[[Path], object] = lambda _: None


def failed(path: Path, **options: Any) -> dict[str, str]:
    return {check.name: check.detail for check in verify(path, **options) if check.ok is False}


def raw_queries(about: About, tables: Tables) -> None:
    """The queries with their true counts, which no mechanism ever saw."""
    drop(about, "keywords", "clicks", "query-pairs")
    one = part(about, "queries")
    claim = about["guarantee"]
    for each in (one, claim):
        each.update(epsilon=float(3), delta=0.0)
        each["exact"].update(epsilon="3", delta="0")
    one.update(mechanism="listed", tau=0, tau_prime=None, scale=2.0, delta_achieved=0.0)
    one["exact"]["scale"] = "2"
    about["also_guaranteed"] = None
    add(tables, "queries", SECRET, 1)


def every(about: About, **values: object) -> None:
    for each in (about["guarantee"], *about["plan"]):
        each.update(values)


def smaller_epsilon(about: About, _: Tables) -> None:
    for each in (about["guarantee"], *about["plan"]):
        half = Fraction(each["exact"]["epsilon"]) / 2
        each["epsilon"], each["exact"]["epsilon"] = float(half), str(half)


def other_delta(about: About, _: Tables) -> None:
    one = about["plan"][0]
    one["delta"], one["exact"]["delta"] = 0.009, "9/1000"


def by_land(about: About, tables: Tables) -> None:
    """The same keyword for two lands: two places in the list of what there can be."""
    part(about, "keywords")["settings"]["by"] = "land"
    about["files"]["keywords"]["columns"].append("land")
    table = tables["keywords"]
    land = pa.array(["at"] * table.num_rows)
    tables["keywords"] = table.add_column(1, "land", land)


def with_count(kind: str, row: int, count: int) -> Change:
    def change(_: About, tables: Tables) -> None:
        counts = tables[kind]["count"].to_pylist()
        counts[row] = count
        place = tables[kind].schema.get_field_index("count")
        tables[kind] = tables[kind].set_column(place, "count", pa.array(counts, pa.int64()))

    return change


def without_row(kind: str) -> Change:
    return lambda _, tables: tables.update({kind: tables[kind].slice(1)})


def row(kind: str, *values: object) -> Change:
    return lambda _, tables: add(tables, kind, *values)


def edited(name: str, column: str) -> Callable[[Path], object]:
    """The last row's number in some column of a CSV, another one."""

    def edit(path: Path) -> None:
        *lines, last = (path / name).read_text().splitlines()
        cells = last.split(",")
        cells[lines[0].split(",").index(column)] = "0.123456"
        (path / name).write_text("\n".join([*lines, ",".join(cells)]) + "\n")

    return edit


def reversed_set(_: About, tables: Tables) -> None:
    table = tables["itemsets-2:product"]
    first, second = (table[name].to_pylist() for name in ("item_1", "item_2"))
    first[0], second[0] = second[0], first[0]
    tables["itemsets-2:product"] = pa.table([first, second, table["count"]], schema=table.schema)


def fewer_things(about: About, _: Tables) -> None:
    one = part(about, "itemsets-2:product")
    one["settings"]["things"], one["items_per_user"] = 3, 3


def no_planner(about: About, tables: Tables) -> None:
    del tables
    about["cleaning"]["limits"] = {"text": 4096, "entries": 100_000, "words": 256}
    about.update(planner=0)


def columns_renamed(about: About, tables: Tables) -> None:
    about["files"]["queries"]["columns"] = ["name"]
    tables["queries"] = tables["queries"].rename_columns(["name", "count"])


def timeless(about: About, _: Tables) -> None:
    about["columns"].pop("time")


def days_without_times(about: About, _: Tables) -> None:
    every(about, unit="user-day")
    about["columns"].pop("time")


def settings(kind: str, **values: object) -> Change:
    return lambda about, _: part(about, kind)["settings"].update(values)


def said(kind: str, **values: object) -> Change:
    return lambda about, _: part(about, kind).update(values)


FILE = {"name": "x", "sha256": "ab" * 32}
AFTER = "this cannot be planned: "
OLD = [
    # The mechanism is none for such items, or what it makes use of is not there
    Forgery(
        "raw queries",
        "searches",
        raw_queries,
        "plan",
        f"{AFTER}the listed mechanism is for what is made of other items alone",
    ),
    Forgery(
        "a public list for sequences",
        "sequences",
        said("sequences-1:product", mechanism="domain", public=FILE),
        "plan",
        "domain does not serve items that are made of others",
    ),
    Forgery(
        "a domain without its file",
        "domain",
        lambda about, _: about["plan"][0].pop("public"),
        "plan",
        "must name a public file",
    ),
    Forgery(
        "results without their file",
        "results",
        lambda about, _: part(about, "query-clicks").pop("public"),
        "plan",
        "must name a public file",
    ),
    Forgery(
        "a file that nothing uses",
        "searches",
        lambda about, _: about["plan"][0].update(public=FILE),
        "plan",
        "must name a public file",
    ),
    Forgery(
        "sets without things",
        "itemsets",
        lambda about, _: drop(about, "things:product"),
        "plan",
        "are to be published after things:product",
    ),
    Forgery(
        "sets of three without pairs",
        "itemsets",
        lambda about, _: drop(about, "itemsets-2:product"),
        "plan",
        "are to be published after itemsets-2:product",
    ),
    Forgery(
        "larger sets first",
        "itemsets",
        lambda about, _: reorder(
            about,
            "people",
            "things:product",
            "itemsets-2:product",
            "itemsets-1:product",
            "itemsets-3:product",
        ),
        "plan",
        "are to be published after itemsets-1:product",
    ),
    Forgery(
        "queries before their keywords",
        "results",
        lambda about, _: reorder(about, "queries", "keywords", "query-clicks"),
        "plan",
        "are to be published after keywords",
    ),
    Forgery(
        "clicks before their queries",
        "results",
        lambda about, _: reorder(about, "keywords", "query-clicks", "queries"),
        "plan",
        "are to be published after queries",
    ),
    Forgery(
        "rates before their queries",
        "rates",
        lambda about, _: reorder(about, "query-clicks", "queries"),
        "plan",
        "click rates need queries and query-clicks, in this order",
    ),
    Forgery(
        "rates of other queries",
        "rates",
        settings("queries", fold=True),
        "plan",
        "queries and query-clicks that are alike",
    ),
    Forgery("of keywords by land", "results", by_land, "plan", "without by"),
    Forgery(
        "a tail of folded queries",
        "tail",
        settings("queries", fold=True),
        "plan",
        "as they were asked",
    ),
    # No such kind, or not of such a log
    Forgery(
        "keywords that are folded",
        "searches",
        settings("keywords", fold=True),
        "plan",
        "not one with such settings",
    ),
    Forgery(
        "queries with a pause",
        "searches",
        settings("queries", session_gap=30),
        "plan",
        "not one with such settings",
    ),
    Forgery(
        "pairs without a pause",
        "searches",
        settings("query-pairs", session_gap=0),
        "plan",
        "session_gap must be",
    ),
    Forgery(
        "an attribute that is a count",
        "searches",
        settings("keywords", by="count"),
        "plan",
        "would clash",
    ),
    Forgery("other columns", "searches", columns_renamed, "plan", "columns are not those of such"),
    Forgery(
        "more sets than things make",
        "itemsets",
        said("itemsets-2:product", items_per_user=5),
        "plan",
        "make 6 sets of 2",
    ),
    Forgery("sets of other things", "itemsets", fewer_things, "plan", "as many things of a user"),
    Forgery(
        "two facts of a person",
        "tail",
        said("lengths", items_per_user=2),
        "plan",
        "of one query of each user",
    ),
    Forgery("hours without times", "tail", timeless, "plan", "need a column with the time"),
    Forgery(
        "the first without times",
        "rates",
        timeless,
        "plan",
        'select="first" needs a column with the time',
    ),
    Forgery(
        "days without times",
        "domain",
        days_without_times,
        "plan",
        'unit="user-day" needs a column with the time',
    ),
    Forgery(
        "two ways to choose",
        "searches",
        said("queries", select="frequent"),
        "plan",
        "select is one for all",
    ),
    Forgery(
        "a planner that is none",
        "searches",
        no_planner,
        "plan",
        "no planner of such a number",
    ),
    # The claim does not follow
    Forgery(
        "half of epsilon",
        "searches",
        smaller_epsilon,
        "guarantee",
        "smaller than what its parameters give",
    ),
    Forgery("delta twice", "searches", other_delta, "guarantee", "add up to more than the total"),
    Forgery(
        "users dropped",
        "searches",
        lambda about, _: every(about, users=None),
        "guarantee",
        "needs users",
    ),
    Forgery(
        "another unit",
        "searches",
        lambda about, _: about["guarantee"].update(unit="user-day"),
        "guarantee",
        "not those of the whole release",
    ),
    Forgery(
        "two items, one counted",
        "prior",
        said("columns:land", items_per_user=2),
        "guarantee",
        "counts one item of each user",
    ),
    Forgery(
        "noise for fewer items",
        "domain",
        said("columns:product", items_per_user=5),
        "guarantee",
        "smaller than what its parameters give",
    ),
    # Rows that cannot be
    Forgery(
        "a count at the threshold",
        "searches",
        with_count("queries", -1, 1),
        "tables",
        "at or below the threshold",
    ),
    Forgery(
        "a set of what is not published",
        "itemsets",
        row("itemsets-2:product", "bread", SECRET, 90),
        "rows",
        "itemsets-2:product: there are rows that cannot be made of the published smaller",
    ),
    Forgery("a set in another order", "itemsets", reversed_set, "rows", "cannot be made of"),
    Forgery(
        "a set by noise alone",
        "itemsets",
        with_count("itemsets-2:product", -1, 0),
        "rows",
        "threshold for so many candidates",
    ),
    Forgery(
        "a sequence of what is not published",
        "sequences",
        row("sequences-2:product", SECRET, SECRET, 90),
        "rows",
        "cannot be made of",
    ),
    Forgery(
        "a thing more",
        "itemsets",
        row("itemsets-1:product", SECRET, 90),
        "rows",
        "none of all that there can be",
    ),
    Forgery(
        "a thing fewer", "sequences", without_row("itemsets-1:product"), "rows", "rows are missing"
    ),
    Forgery(
        "somebody", "itemsets", row("people", SECRET, 4), "rows", "none of all that there can be"
    ),
    Forgery(
        "a phrase of what is not published",
        "tail",
        row("ngrams-2", f"tea {SECRET}", 300),
        "rows",
        "ngrams-2: there are rows that cannot be made of",
    ),
    Forgery(
        "a phrase too long",
        "tail",
        row("ngrams-2", "green tea shop", 300),
        "rows",
        "cannot be made of",
    ),
    Forgery(
        "another beginning",
        "tail",
        row("prefixes-2", f"tea {SECRET}", 300),
        "rows",
        "prefixes-2: there are rows that are none of all",
    ),
    Forgery(
        "a value that is none",
        "tail",
        row("lengths", SECRET, 7),
        "rows",
        "lengths: there are rows that are none of all",
    ),
    Forgery("a value fewer", "tail", without_row("hours"), "rows", "rows are missing"),
    Forgery(
        "a query of what is no keyword",
        "results",
        row("queries", f"tea {SECRET}", 300),
        "rows",
        "not made of up to 3 keywords",
    ),
    Forgery(
        "a query of four keywords",
        "results",
        row("queries", "tea tea tea tea", 300),
        "rows",
        "not made of up to 3 keywords",
    ),
    Forgery(
        "a query by noise alone",
        "results",
        row("queries", "tea tea tea", 1),
        "rows",
        "threshold for so many keywords",
    ),
    Forgery(
        "clicks for no published query",
        "results",
        row("query-clicks", SECRET, "x", 300),
        "rows",
        "clicks for queries that are not published",
    ),
    Forgery(
        "keywords of two words",
        "results",
        row("keywords", f"green {SECRET}", 300),
        "rows",
        "not single words",
    ),
    Forgery(
        "a rate",
        "rates",
        lambda *_: None,
        "rows",
        "click-rates.csv is not what",
        edited("click-rates.csv", "rate"),
    ),
    Forgery(
        "an association",
        "itemsets",
        lambda *_: None,
        "rows",
        "associations.csv is not what",
        edited("associations.csv", "lift"),
    ),
]
