"""The report: whole, self-contained, escaped, and there whatever was measured."""

from __future__ import annotations

import csv
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reported import FINDINGS, SMALL, STUDY, Finding, context, made

from zealous.evaluate.results import Point, Results, Spread, as_table
from zealous.report import style
from zealous.report.asked import Asked, Entry
from zealous.report.draw import figure, plain
from zealous.report.figures import distributions
from zealous.report.page import inline, number, shown
from zealous.report.parts import Axis, Chart, Line, Panel, Sheet
from zealous.report.sections import own_measures
from zealous.report.sheets import promise
from zealous.report.study import write_report
from zealous.report.style import BLACK, LADDER, METHODS, OTHERS

CHARTS = {
    "top-j-over-m", "top-j-over-j", "distributions", "average-difference", "rms-difference",
    "total-variation", "caching", "substitution", "coverage", "phrase-pairs", "accuracy",
}  # fmt: skip
TABLES = {
    "in-a-hurry", "privacy", "thresholds", "distinct-over-m", "total-over-m", "average-items",
    "phrase-pairs-coverage", "accuracy-without-slack",
}  # fmt: skip
KINDS = ("keywords", "queries", "query-pairs", "phrase-pairs")
EVIL = "<script>alert(1)</script>\"'&$x$"


class Text(HTMLParser):
    """What a page says, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags = "", list[tuple[str, dict[str, str | None]]]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def files(folder: Path, ending: str) -> set[str]:
    return {path.stem for path in (folder / "figures").glob(f"*.{ending}")}


def said(page: str) -> str:
    return " ".join(Text(page).text.split())


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that look at no picture: drawing takes most of the time."""
    monkeypatch.setattr(style, "svg_and_png", lambda _: ("<svg></svg>", b""))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of everything, with a method and measures of one's own and nasty names."""
    folder = tmp_path_factory.mktemp("whole")
    results = made(SMALL, KINDS, {EVIL: 3.0, "plain-own": None}, ["my-measure", "_odd $"])
    audits = [
        {
            "method": EVIL,
            "epsilon": 3.0,
            "delta": 1e-6,
            "proven": 2.5,
            "seen_from": None,
            "failures": ["it shows"],
        }
    ]
    findings = [*FINDINGS, Finding(EVIL, EVIL, EVIL, EVIL, False, EVIL)]
    about = context(SMALL, audits=audits)
    assert write_report(folder, results, findings, about) == folder / "report.html"
    return folder


def test_every_figure_and_table_is_there_with_its_files(whole: Path) -> None:
    own = {"own-measure-1", "own-measure-2"}
    assert not CHARTS & TABLES  # or one's data would lie over the other's
    assert files(whole, "svg") == files(whole, "png") == CHARTS | own
    assert files(whole, "csv") == CHARTS | TABLES | own | {"own-measures", "audit"}
    page = Text((whole / "report.html").read_text())
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert ids >= {f"figure-{name}" for name in CHARTS | own} | {f"table-{n}" for n in TABLES}
    headings = re.findall(r"<h2>(\d+)\.", (whole / "report.html").read_text())
    assert headings == [str(n) for n in range(1, 17)]
    for path in (whole / "figures").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_page_needs_nothing_else(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    page = Text(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "form",
        "image",
        "foreignobject",
    }
    for _, attributes in page.tags:
        assert not {name for name in attributes if name.startswith("on") or name == "src"}
        href = attributes.get("href", attributes.get("xlink:href", "#"))
        assert href is not None
        assert href.startswith("#")
    assert not re.search(r"https?:|@import|url\((?!#)", text)
    assert len(text) < 5_000_000


def test_ids_are_unique_and_all_that_is_referred_to_is_there(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    ids = Counter(a["id"] for _, a in Text(text).tags if "id" in a)
    assert max(ids.values()) == 1
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
    names = {one or two for one, two in used}
    assert len(names) > 50
    assert names <= set(ids)


def test_a_nasty_name_is_text_everywhere(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    assert "<script" not in text
    assert EVIL in Text(text).text
    for path in (whole / "figures").glob("*.svg"):
        drawn = path.read_text()
        assert "<script" not in drawn
        ElementTree.fromstring(drawn)  # it is well formed
    assert "alert(1)" in (whole / "figures" / "caching.svg").read_text()


@pytest.mark.usefixtures("undrawn")
def test_a_cell_that_a_spreadsheet_would_run_is_inert(tmp_path: Path) -> None:
    results = made(SMALL, ["queries"], own={"=1+1": None})
    write_report(tmp_path, results, (), context(SMALL))
    for name in ("in-a-hurry", "average-difference"):
        with (tmp_path / "figures" / f"{name}.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert "'=1+1" in cells
        assert "=1+1" not in cells


def test_it_is_marked_internal(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    body = said(text[text.index("<body>") :])
    assert body.startswith("INTERNAL: not for publication.")
    for path in (whole / "figures").glob("*.svg"):
        assert "internal: not for publication" in path.read_text()


def test_findings_are_a_checklist(whole: Path) -> None:
    page = said((whole / "report.html").read_text())
    for mark, finding in zip(("✓ holds", "✗ does not hold", "? cannot tell"), FINDINGS,
                             strict=True):  # fmt: skip
        assert f"{mark} {finding.claim} Here: {finding.measured}" in page
    assert "The paper: 55 % fewer keywords" in page
    assert "Why: Noise outweighs what is regained." in page


@pytest.mark.usefixtures("undrawn")
def test_the_paper_stands_beside_ours(tmp_path: Path) -> None:
    study = SMALL.__class__(**{**SMALL.as_object(), "items_per_user": (1, 4, 40)})
    write_report(tmp_path, made(study), (), context(study))
    with (tmp_path / "figures" / "distinct-over-m.csv").open(newline="") as file:
        rows = {row[""]: row for row in csv.DictReader(file)}
    assert [rows["queries, the paper"][f"m = {m}"] for m in (1, 4, 40)] == [
        "3334.0", "2087.0", "408.0",
    ]  # fmt: skip
    assert float(rows["queries"]["m = 1"]) == pytest.approx(3e3 / 1.2, rel=0.05)
    page = said((tmp_path / "report.html").read_text())
    assert "The paper's figures carry no data" in page
    assert "inferred" in page
    assert "Above 0.36 at m = 6 and less than 0.33 at m = 1" in page
    assert "tau' is about 10" in page


def test_the_first_table_says_what_is_kept_and_promised(whole: Path) -> None:
    with (whole / "figures" / "in-a-hurry.csv").open(newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert list(rows) == [
        "original", "zealous, epsilon = 5, m = 1", "zealous, epsilon = 5, m = 6",
        "zealous, epsilon = 1, m = 1", "k-query, k = 10", f"{EVIL}, epsilon = 3, m = 2",
        "plain-own",
    ]  # fmt: skip
    assert "149-fold" in rows["zealous, epsilon = 5, m = 1"]["what it promises"]
    assert "at least 10 users" in rows["k-query, k = 10"]["what it promises"]
    assert "REFUTED" in rows[f"{EVIL}, epsilon = 3, m = 2"]["what it promises"]
    assert float(rows["original"]["queries kept"]) == 3e6
    kept = rows["zealous, epsilon = 1, m = 1"]
    assert float(kept["share of top 100 queries kept"]) == 1
    assert float(kept["hit probability"]) == pytest.approx(0.37, rel=0.05)


@pytest.mark.usefixtures("undrawn")
def test_curves_hold_the_figures_with_their_spread(tmp_path: Path) -> None:
    rows = [("zealous", epsilon, None, 1, draw, "queries", "average-difference", None, value)
            for epsilon, values in ((1.0, (5.0, 7.0)), (2.0, (1.0, 3.0)))
            for draw, value in enumerate(values)]  # fmt: skip
    rows.append(("k-query", None, 10, None, 0, "queries", "average-difference", None, 4.0))
    write_report(tmp_path, Results(table=as_table(rows)), (), context(SMALL))
    with (tmp_path / "figures" / "average-difference.csv").open(newline="") as file:
        found = [(row["curve"], float(row["x"]), float(row["mean"]), float(row["low"]),
                  float(row["high"]), row["draws"]) for row in csv.DictReader(file)]  # fmt: skip
    assert found == [("zealous, m = 1", 1, 6, 5, 7, "2"), ("zealous, m = 1", 2, 2, 1, 3, "2"),
                     ("k-query", 10, 4, 4, 4, "1")]  # fmt: skip


@pytest.mark.usefixtures("undrawn")
def test_a_log_without_clicks_and_times(tmp_path: Path) -> None:
    write_report(tmp_path, made(SMALL, ["keywords", "queries"]), FINDINGS, context(SMALL))
    page = said((tmp_path / "report.html").read_text())
    assert "Not in this report: clicks, query pairs, phrase pairs." in page
    assert page.count("Not measured on this log.") == 3  # quality, coverage, phrase pairs
    assert not files(tmp_path, "svg") & {"substitution", "coverage", "phrase-pairs"}
    assert "caching" in files(tmp_path, "svg")


@pytest.mark.usefixtures("undrawn")
def test_nothing_measured_is_a_page_all_the_same(tmp_path: Path) -> None:
    write_report(tmp_path, Results(table=as_table([])), (), context(SMALL))
    page = said((tmp_path / "report.html").read_text())
    assert "No finding was checked." in page
    assert files(tmp_path, "svg") == set()


def test_the_same_results_give_the_same_bytes() -> None:
    chart = distributions(Asked(results=made(SMALL, ["queries"]), study=SMALL.as_object()))
    one, two = (style.svg_and_png(lambda: figure(chart, "internal")) for _ in range(2))
    assert one == two


def test_methods_look_different_without_colour() -> None:
    looks = [*METHODS.values(), *OTHERS]
    assert len({look.color for look in looks}) == len(looks)
    assert len({(look.marker, str(look.stroke)) for look in looks}) == len(looks)
    assert len({(look.marker, str(look.stroke)) for look in LADDER}) == len(LADDER)


def test_settings_that_were_not_tried_are_replaced_by_the_next() -> None:
    study = SMALL.__class__(**{**SMALL.as_object(), "k": (4, 50), "epsilon": 6})
    asked = Asked(results=made(study), study=study.as_object())
    assert asked.epsilon == 5
    assert asked.entry("k-query") == Entry(method="k-query", k=4)
    assert asked.entry("zealous", m=40) == Entry(method="zealous", epsilon=5, m=6)
    assert asked.value("distinct", "clicks", Entry(method="original")) is not None
    assert asked.value("l1", "clicks", asked.entry("zealous")) is None  # it has an axis of its own


def test_a_method_without_a_parameter_goes_across() -> None:
    asked = Asked(results=made(SMALL, own={"flat": None, "noisy": 2.0}), study=SMALL.as_object())
    over = {
        axis: {line.label: line.across for line in asked.lines("distinct", "queries", axis)}
        for axis in ("epsilon", "k")
    }
    assert over == {
        "epsilon": {"zealous, m = 1": False, "flat": True, "noisy": False},
        "k": {"k-query": False, "flat": True},
    }


def test_what_is_not_of_the_program_is_a_measure_of_ones_own() -> None:
    asked = Asked(results=made(measures=["mine"]), study=STUDY.as_object())
    assert own_measures(asked) == ["mine"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry(method="original"), "nothing"),
        (Entry(method="k-session", k=7), "at least 6 other users"),
        (Entry(method="pseudonym"), "cannot be traced back"),
        (Entry(method="else", epsilon=1), "nothing was claimed"),
    ],
)
def test_promises(entry: Entry, words: str) -> None:
    assert words in promise(entry, 0.001, ())


def test_numbers_in_print() -> None:
    spread = Spread(1234.4, 1200, 1300, 5)
    assert shown(spread) == ("1,234", "1,200 to 1,300")
    assert shown(spread._replace(draws=1)) == ("1,234", "")
    assert shown("text") == ("text", "")
    assert [number(value) for value in (None, True, 0.0, 7, 99.95, float("inf"))] == [
        "–", "yes", "0", "7", "100", "inf",
    ]  # fmt: skip
    assert [plain(value) for value in (0.3, 1e-6, 2.5e-5, 1500)] == [
        "0.3",
        "10⁻⁶",
        "2.5·10⁻⁵",
        "1.5k",
    ]


def test_inlined_pictures_keep_only_ids_that_are_used() -> None:
    svg = ('<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="9pt">'
           '<g id="axes_1"><path id="m1"/><use xlink:href="#m1" clip-path="url(#c)"/></g>'
           '<clipPath id="c"/></svg>')  # fmt: skip
    assert inline(svg, "one", 'a "b"') == (
        '<svg role="img" aria-label="a &#34;b&#34;"><g><path id="one-m1"/>'
        '<use href="#one-m1" clip-path="url(#one-c)"/></g><clipPath id="one-c"/></svg>'
    )


def test_a_sheet_has_a_spread_in_three_columns() -> None:
    sheet = Sheet(name="s", title="s", headings=["who", "n"],
                  rows=[["a", Spread(2, 1, 3, 2)], ["b", None], ["c", 4]])  # fmt: skip
    assert sheet.table().to_pydict() == {
        "who": ["a", "b", "c"], "n": [2, None, 4], "n, low": [1, None, None],
        "n, high": [3, None, None],
    }  # fmt: skip


def test_a_chart_without_points_is_empty() -> None:
    line = Line(label="l", points=[], look=BLACK)
    panel = Panel(title="t", x=Axis("x"), y="y", lines=[line])
    assert Chart(name="c", title="c", rows=[[panel]]).empty()
    assert Chart(name="c", title="c", rows=[]).empty()
    full = Line(label="l", points=[Point(1, Spread(1, 1, 1, 1))], look=BLACK)
    assert not Chart(name="c", title="c", rows=[[panel], [Panel(
        title="t", x=Axis("x"), y="y", lines=[full])]]).empty()  # fmt: skip
