"""verify passes nothing that the program would never make, whatever version is named."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bundles import made
from forging import FIXTURES, About, Tables, add, drop, forged, part, reorder, restate
from turns import in_turn

from zealous.items import itemsets, keywords, queries, query_pairs
from zealous.items.text import is_normalized
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.verification.review import review
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


@pytest.mark.parametrize("forgery", in_turn(OLD, lambda forgery: forgery.name, share=3))
def test_a_forgery_that_names_an_earlier_version(forgery: Forgery, tmp_path: Path) -> None:
    target = forged(FIXTURES / forgery.of, tmp_path / "out", forgery.change, forgery.edit)
    found = failed(target)
    assert forgery.reason in found.get(forgery.check, ""), found
    assert not any(SECRET in detail for detail in found.values())


def test_raw_queries_agree_with_all_but_the_plan(tmp_path: Path) -> None:
    target = forged(FIXTURES / "searches", tmp_path / "out", raw_queries)
    about = {check.name: check for check in verify(target)}
    assert about["guarantee"].detail.startswith("epsilon = 3 and delta = 0 follow")
    assert set(failed(target)) == {"plan"}


@pytest.mark.parametrize("where", ["table", "column"])
def test_a_parquet_file_holds_the_table_and_no_log(where: str, tmp_path: Path) -> None:
    def hide(about: About, tables: Tables) -> None:
        del about
        kept, table = {"log": SECRET}, tables["queries"]
        schema = table.schema.with_metadata(kept)
        if where == "column":
            schema = table.schema.set(0, table.schema.field(0).with_metadata(kept))
        tables["queries"] = table.cast(schema)

    found = failed(forged(FIXTURES / "searches", tmp_path / "out", hide))
    assert "holds more than the table" in found.get("tables", "")


def with_gap(file: Path) -> None:
    """Bytes between columns and metadata, where no reader looks."""
    data = file.read_bytes()
    metadata = int.from_bytes(data[-8:-4], "little") + 8
    file.write_bytes(data[:-metadata] + SECRET.encode() + data[-metadata:])


def in_small_groups(file: Path) -> None:
    pq.write_table(pq.read_table(file), file, compression="zstd", row_group_size=2)


def without_dictionary(file: Path) -> None:
    pq.write_table(pq.read_table(file), file, compression="zstd", use_dictionary=False)


def by_another_program(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"parquet-cpp-arrow", b"the log says: tea"))


@pytest.mark.parametrize(
    "hide", [with_gap, in_small_groups, without_dictionary, by_another_program]
)
def test_a_parquet_file_is_as_we_write_it(hide: Callable[[Path], None], tmp_path: Path) -> None:
    target = forged(
        FIXTURES / "searches",
        tmp_path / "out",
        lambda *_: None,
        lambda path: hide(path / "queries.parquet"),
    )
    assert "holds more than the table" in failed(target).get("tables", "")


def test_a_parquet_file_of_another_arrow_is_told(tmp_path: Path) -> None:
    """What its bytes should be is not known here: that they were not compared is said."""

    def renumber(path: Path) -> None:
        data = (path / "queries.parquet").read_bytes()
        ours = pq.read_metadata(path / "queries.parquet").created_by.encode()
        other = ours[:-1] + (b"8" if ours.endswith(b"9") else b"9")
        (path / "queries.parquet").write_bytes(data.replace(ours, other))

    target = forged(FIXTURES / "searches", tmp_path / "out", lambda *_: None, renumber)
    (tables,) = (check for check in verify(target) if check.name == "tables")
    assert tables.ok is None
    assert "bytes beside these rows was not checked" in tables.detail


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda about: about["software"].update(version="0.1.7"), "does not know"),
        (lambda about: about.update(created="0001-01-01"), "before there was any version"),
        (lambda about: about.update(id="a\nb"), "printable"),
        (lambda about: about.update(id=" a"), "not written as zealous writes it"),
        (lambda about: about["ledger"].update(entry=0), "ledger.entry"),
        (lambda about: about["ledger"].update(dataset="\x1b[2J"), "printable"),
        (lambda about: about.update(publisher={"title": "a\nb"}), "one line"),
    ],
)
def test_a_value_that_no_version_writes(
    change: Callable[[About], object], reason: str, tmp_path: Path
) -> None:
    target = forged(FIXTURES / "searches", tmp_path / "out", lambda about, _: change(about))
    assert reason in failed(target).get("release.json", "")


@pytest.mark.parametrize("of", sorted({forgery.of for forgery in OLD}))
def test_a_copy_that_is_not_changed_passes(of: str, tmp_path: Path) -> None:
    assert failed(forged(FIXTURES / of, tmp_path / "out", lambda *_: None)) == {}


@pytest.mark.parametrize(
    ("of", "name", "column"),
    [("rates", "click-rates.csv", "low"), ("itemsets", "associations.csv", "lift_high")],
)
def test_intervals_of_another_planner_are_its_own(
    of: str, name: str, column: str, tmp_path: Path
) -> None:
    target = forged(FIXTURES / of, tmp_path / "out", lambda *_: None, edited(name, column))
    assert failed(target) == {}


def exclusive(target: Path, kind: str, threshold: int) -> None:
    """One above the threshold passes, and what is at it does not."""
    above = forged(target, target.parent / "above", with_count(kind, -1, threshold + 1))
    assert failed(above) == {}
    at = forged(target, target.parent / "at", with_count(kind, -1, threshold))
    assert f"{kind}: there are counts at or below the threshold" in failed(at).get("rows", "")


def test_the_threshold_of_queries_follows_from_the_keywords(tmp_path: Path) -> None:
    target = forged(FIXTURES / "results", tmp_path / "out", lambda *_: None)
    about = json.loads((target / "release.json").read_text())
    number = about["files"]["keywords"]["rows"]
    scale = part(about, "queries")["scale"]
    size = number + number**2 + number**3
    exclusive(target, "queries", math.ceil(scale * math.log(size)))


def test_the_threshold_of_sequences_follows_from_the_candidates(tmp_path: Path) -> None:
    target = forged(FIXTURES / "sequences", tmp_path / "out", lambda *_: None)
    about = json.loads((target / "release.json").read_text())
    alpha = math.exp(-1 / part(about, "sequences-2:product")["scale"])

    def threshold(candidates: int) -> int:
        return next(t for t in range(999) if candidates * alpha ** (t + 1) / (1 + alpha) <= 1)

    counts = pq.read_table(target / "sequences-1-product.parquet")["count"].to_pylist()
    first = threshold(len(counts) ** 2)
    known = sum(min(one, other) > first for one in counts for other in counts)
    exclusive(target, "sequences-2:product", threshold(known))


# This version's own releases: planning again gives exactly the parameters


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ours")
    goal = ProbabilisticDP(epsilon=20, delta="0.001", users=100)
    return made(folder, goal, [keywords(2), queries(2)]).write(folder / "out")


def restated(change: Callable[[About], object]) -> Change:
    """A change after which everything in release.json that follows is said anew."""

    def whole(about: About, _: Tables) -> None:
        change(about)
        restate(about)

    return whole


def less_likely(about: About) -> None:
    """A higher threshold, which gives the claim all the more."""
    part(about, "queries")["tau_prime"] += 1


def more_noise(about: About) -> None:
    for each in about["plan"]:
        scale = 2 * Fraction(each["exact"]["scale"])
        each.update(scale=float(scale), tau_prime=2 * each["tau_prime"])
        each["exact"]["scale"] = str(scale)


def higher_delta(about: About) -> None:
    """A total that the tables do not use."""
    about["guarantee"]["delta"], about["guarantee"]["exact"]["delta"] = 0.002, "1/500"


def delta_moved(about: About) -> None:
    for each, delta in zip(about["plan"], ("6/10000", "4/10000"), strict=True):
        each["delta"], each["exact"]["delta"] = float(Fraction(delta)), str(Fraction(delta))
    part(about, "queries")["tau_prime"] += 9


def epsilon_moved(about: About) -> None:
    for each, epsilon in zip(about["plan"], (15, 5), strict=True):
        each["epsilon"], each["exact"]["epsilon"] = float(epsilon), str(epsilon)
        each["scale"], each["exact"]["scale"] = 4 / epsilon, str(Fraction(4, epsilon))
        each["tau_prime"] += 99


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (less_likely, "queries: planned again, it has other parameters"),
        (more_noise, "keywords: planned again, it has other parameters"),
        (higher_delta, "keywords: planned again, it has another share of the budget"),
        (delta_moved, "keywords: planned again, it has another share of the budget"),
        (epsilon_moved, "keywords: planned again, it has another share of the budget"),
    ],
)
def test_parameters_that_planning_would_not_choose(
    change: Callable[[About], object], reason: str, ours: Path, tmp_path: Path
) -> None:
    assert failed(ours) == {}
    above = lambda about, tables: tables.update(  # noqa: E731
        {kind: table.slice(0, 0) for kind, table in tables.items()}
    )
    forged(ours, tmp_path / "empty", above)
    assert failed(tmp_path / "empty") == {}
    target = forged(tmp_path / "empty", tmp_path / "out", restated(change))
    found = failed(target)
    assert set(found) == {"plan"}
    assert reason in found["plan"]


def test_a_release_of_ours_names_our_planner(ours: Path, tmp_path: Path) -> None:
    target = forged(ours, tmp_path / "out", lambda about, _: about.pop("planner"))
    assert failed(target) == {"plan": "this version of zealous plans by another planner"}


@pytest.mark.parametrize(
    "text",
    [
        "RED TEA",
        " red tea",
        "red tea ",
        "red  tea",
        "red\ntea",
        "red\0tea",
        "",
        "x" * 8193,
        "r\u00c9d tea",
        "red\u00a0tea",
        "red\u2028tea",
        "red\x85tea",
    ],
    ids=repr,
)
def test_an_item_that_no_log_gives(text: str, ours: Path, tmp_path: Path) -> None:
    def change(_: About, tables: Tables) -> None:
        table = tables["queries"]
        items = pa.array([text, *table["query"].to_pylist()[1:]], pa.string())
        tables["queries"] = table.set_column(0, "query", items)

    assert failed(forged(ours, tmp_path / "out", change)) == {
        "rows": "queries: no log gives an item with such a query"
    }


def test_letters_of_which_engines_may_not_know_that_they_are_capitals() -> None:
    """Of Unicode 8 and 11, and one that has no small letter at all."""
    texts = pa.chunked_array([["\u13a0", "\u1c90", "\U0001d400", "stra\u00dfe"]])
    assert is_normalized(texts, True, 100)


def test_a_pair_that_no_log_gives(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=40, delta="1e-6", users=100)
    ours = made(tmp_path, goal, [query_pairs(2)]).write(tmp_path / "ours")
    assert failed(ours) == {}

    def change(_: About, tables: Tables) -> None:
        table = tables["query-pairs"]
        tables["query-pairs"] = table.set_column(1, "next_query", table["query"])

    found = failed(forged(ours, tmp_path / "out", change))
    assert found["rows"] == "query-pairs: there are pairs of the same twice"


@pytest.mark.parametrize("column", ["support", "confidence_low", "lift_high"])
def test_an_association_of_ours(column: str, tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=40, delta="1e-6", users=100)
    kinds = itemsets("query", max_size=2, items_per_user=3)
    ours = made(tmp_path, goal, kinds).write(tmp_path / "ours")
    assert failed(ours) == {}
    edit = edited("associations.csv", column)
    target = forged(ours, tmp_path / "out", lambda *_: None, edit)
    assert failed(target) == {"rows": "associations.csv is not what the tables give"}


# A filtered child: what was made of removed rows is judged by the parent alone


def test_a_child_is_judged_by_what_is_left(tmp_path: Path) -> None:
    child, parent = FIXTURES / "itemsets-reviewed", FIXTURES / "itemsets"
    (alone,) = (check for check in verify(child) if check.name == "rows")
    assert alone.ok is None
    assert "took out rows of what itemsets-1:product, itemsets-2:product" in alone.detail
    assert "--parent DIR" in alone.detail
    (beside,) = (check for check in verify(child, parent=parent) if check.name == "rows")
    assert beside.ok
    more = row("itemsets-2:product", "apples", SECRET, 90)
    target = forged(child, tmp_path / "out", more)
    assert failed(target) == {}
    assert "another number of rows" in failed(target, parent=parent)["review"]


def test_what_a_review_cannot_change_is_judged_in_a_child_too(tmp_path: Path) -> None:
    child = FIXTURES / "tail-reviewed"
    target = forged(child, tmp_path / "value", row("lengths", SECRET, 7))
    assert "none of all that there can be" in failed(target)["rows"]
    target = forged(child, tmp_path / "fewer", without_row("lengths"))
    assert "rows are missing" in failed(target)["rows"]

    def told(about: About, tables: Tables) -> None:
        without_row("lengths")(about, tables)
        about["review"]["removed"]["lengths"] += 1

    assert failed(forged(child, tmp_path / "told", told)) == {}


@pytest.mark.parametrize("of", ["rates", "itemsets", "results"])
def test_what_an_earlier_version_made_can_be_reviewed(of: str, tmp_path: Path) -> None:
    review(FIXTURES / of, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=FIXTURES / of) == {}


def test_a_child_keeps_the_forecasts_of_its_parent_s_version(tmp_path: Path) -> None:
    def another(about: About, _: Tables) -> None:
        for each in about["plan"]:
            each["forecast"]["error_95"] += 1

    parent = forged(FIXTURES / "rates", tmp_path / "parent", another)
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=parent) == {}


# A review that removed nothing, or was never made, is no way to say more


def probabilistic(about: About, _: Tables) -> None:
    about["guarantee"]["definition"] = "probabilistic"
    restate(about)


@pytest.fixture
def per_person(tmp_path: Path) -> Path:
    """A release that is indistinguishable and no more."""
    goal = Indistinguishability(epsilon=3, delta="5e-5", users=2000)
    return made(tmp_path, goal, [queries(3)]).write(tmp_path / "release")


def test_a_review_that_removed_nothing_gives_no_other_guarantee(
    per_person: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.txt").write_text("nobody asks this\n")
    review(per_person, block=tmp_path / "words.txt", output=tmp_path / "child")
    assert failed(tmp_path / "child", parent=per_person) == {}
    target = forged(tmp_path / "child", tmp_path / "out", probabilistic)
    for options in ({}, {"parent": per_person}):
        why = failed(target, **options).get("guarantee")
        assert why == "its guarantee is another than that of its tables"


def test_the_plan_of_a_child_by_another_planner_is_the_parent_s_to_show(
    per_person: Path, tmp_path: Path
) -> None:
    review(per_person, flag_pii=True, output=tmp_path / "child")
    target = forged(tmp_path / "child", tmp_path / "out", lambda about, _: about.update(planner=1))
    verdict = verify(target)
    assert {check.name: check.ok for check in verdict}["plan"] is None
    assert verdict.summary() != "All checks passed."
    assert "planner" in failed(target, parent=per_person)["review"]
