"""The report: whole, self-contained, escaped, and there whatever was measured."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.text as mpl_text
import pytest
from reported import EVIL, FINDINGS, SMALL, STUDY, UNEVEN, Run, context, drawn, made

from zealous.mechanisms import Zealous
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.study.claims.claim import Case, Finding, judge
from zealous.study.extra import backend_agg
from zealous.study.grid.result_table import Point, Results, Spread, as_table
from zealous.study.report import style
from zealous.study.report.algorithm_picture import algorithm, example
from zealous.study.report.application_charts import caching, coverage
from zealous.study.report.application_charts import custom_measure as own_chart
from zealous.study.report.chart_drawing import draw_chart, format_tick
from zealous.study.report.first_screen import tradeoff
from zealous.study.report.page import (
    _mark_code,
    cell_view,
    finding_view,
    format_number,
    inline_svg,
    table_view,
)
from zealous.study.report.parts import Axis, Chart, Line, Panel, Scale, Sheet
from zealous.study.report.report import write_report
from zealous.study.report.results_view import Entry, ResultsView
from zealous.study.report.sections import custom_measures
from zealous.study.report.sheets import promise_text
from zealous.study.report.statistics_charts import distributions
from zealous.study.report.style import BLACK, CURVES, LADDER, OTHERS

CHARTS = {
    "algorithm",
    "top-j-over-m",
    "top-j-over-j",
    "tradeoff",
    "distributions",
    "average-difference",
    "rms-difference",
    "total-variation",
    "caching",
    "substitution",
    "coverage",
    "phrase-pairs",
    "accuracy",
}
TABLES = {
    "summary",
    "privacy",
    "thresholds",
    "distinct-over-m",
    "total-over-m",
    "average-items",
    "phrase-pairs-coverage",
    "accuracy-without-slack",
}


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of everything, with a method and measures of one's own and nasty names."""
    return drawn(tmp_path_factory)


@pytest.mark.extended
def test_every_figure_and_table_is_there_with_its_files(whole: Path) -> None:
    own = {"own-measure-1", "own-measure-2"}
    assert not CHARTS & TABLES  # or one's data would lie over the other's
    assert files(whole, "svg") == files(whole, "png") == CHARTS | own
    assert files(whole, "csv") == CHARTS | TABLES | own | {"own-measures", "audit"}
    page = Text((whole / "report.html").read_text())
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert ids >= {f"figure-{name}" for name in CHARTS | own} | {f"table-{n}" for n in TABLES}
    headings = re.findall(r"<h2>(\d+)\.", (whole / "report.html").read_text())
    assert headings == [str(n) for n in range(1, 18)]
    for path in (whole / "figures").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.extended
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


@pytest.mark.extended
def test_ids_are_unique_and_all_that_is_referred_to_is_there(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    ids = Counter(a["id"] for _, a in Text(text).tags if "id" in a)
    assert max(ids.values()) == 1
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
    names = {one or two for one, two in used}
    assert len(names) > 50
    assert names <= set(ids)


@pytest.mark.extended
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
    results = made(SMALL, ["queries"], own=[Run("=1+1")])
    write_report(tmp_path, results, (), context(SMALL))
    for name in ("summary", "average-difference"):
        with (tmp_path / "figures" / f"{name}.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert "'=1+1" in cells
        assert "=1+1" not in cells


@pytest.mark.extended
def test_it_is_marked_internal(whole: Path) -> None:
    text = (whole / "report.html").read_text()
    body = said(text[text.index("<body>") :])
    assert body.startswith("INTERNAL: not for publication.")
    unmarked = {
        path.stem
        for path in (whole / "figures").glob("*.svg")
        if "internal: not for publication" not in path.read_text()
    }
    assert unmarked == {"algorithm"}  # drawn from an invented log


@pytest.mark.extended
def test_findings_are_a_checklist(whole: Path) -> None:
    page = said((whole / "report.html").read_text())
    marks = ("✓ as in the paper", "✗ differs", "? too little data")
    for mark, finding in zip(marks, FINDINGS, strict=True):
        assert page.count(f"{mark} {finding.claim}") == 2
        assert f"{mark} {finding.claim} Here: {finding.measured}" in page
    assert "The paper: 55 % fewer keywords" in page
    assert "Margin: +12.5% (the items at m = 1); judged on m = 1 and 40" in page
    assert "Why: Noise outweighs what is regained." in page


@pytest.mark.usefixtures("undrawn")
def test_the_paper_stands_beside_ours(tmp_path: Path) -> None:
    study = SMALL.__class__(**{**SMALL.as_object(), "items_per_user": (1, 4, 40)})
    write_report(tmp_path, made(study), (), context(study))
    with (tmp_path / "figures" / "distinct-over-m.csv").open(newline="") as file:
        rows = {row[""]: row for row in csv.DictReader(file)}
    assert [rows["queries, paper"][f"m = {m}"] for m in (1, 4, 40)] == [
        "3334.0",
        "2087.0",
        "408.0",
    ]
    assert float(rows["queries"]["m = 1"]) == pytest.approx(3e3 / 1.2, rel=0.05)
    page = said((tmp_path / "report.html").read_text())
    assert "The paper prints no data for its figures" in page
    assert "we infer" in page
    assert "Above 0.36 at m = 6 and below 0.33 at m = 1" in page
    assert "tau' is about 10" in page


@pytest.mark.extended
def test_the_first_table_says_what_is_kept_and_promised(whole: Path) -> None:
    with (whole / "figures" / "summary.csv").open(newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert list(rows) == [
        "original",
        "zealous, epsilon = 5, m = 1",
        "zealous, epsilon = 5, m = 6",
        "zealous, epsilon = 1, m = 1",
        "k-query, k = 10",
        f"{EVIL}, epsilon = 3, m = 2",
        "plain-own",
        "both, epsilon = 1, m = 1",
        "both, epsilon = 5, m = 1",
        "both, epsilon = 5, m = 4",
    ]
    assert rows["plain-own"]["promise"] == (f"claimed, not audited: nobody is named {EVIL}")
    assert "149-fold" in rows["zealous, epsilon = 5, m = 1"]["promise"]
    assert "at least 10 users" in rows["k-query, k = 10"]["promise"]
    assert "REFUTED" in rows[f"{EVIL}, epsilon = 3, m = 2"]["promise"]
    assert float(rows["original"]["queries kept"]) == 3e6
    kept = rows["zealous, epsilon = 1, m = 1"]
    assert float(kept["share of top 100 queries kept"]) == 1
    assert float(kept["hit probability"]) == pytest.approx(0.37, rel=0.05)


@pytest.mark.usefixtures("undrawn")
def test_curves_hold_the_figures_with_their_spread(tmp_path: Path) -> None:
    measure = ("queries", "average-difference", None)
    rows: list[Any] = [
        ("zealous", epsilon, None, 1, draw, *measure, value)
        for epsilon, values in ((1.0, (5.0, 7.0)), (2.0, (1.0, 3.0)))
        for draw, value in enumerate(values)
    ]
    rows.append(("k-query", None, 10, None, 0, *measure, 4.0))
    write_report(tmp_path, Results(table=as_table(rows)), (), context(SMALL))
    with (tmp_path / "figures" / "average-difference.csv").open(newline="") as file:
        found = [
            (
                row["curve"],
                float(row["x"]),
                float(row["mean"]),
                float(row["low"]),
                float(row["high"]),
                row["draws"],
            )
            for row in csv.DictReader(file)
        ]
    assert found == [
        ("zealous, m = 1", 1, 6, 5, 7, "2"),
        ("zealous, m = 1", 2, 2, 1, 3, "2"),
        ("k-query", 10, 4, 4, 4, "1"),
    ]


@pytest.mark.usefixtures("undrawn")
def test_a_log_without_clicks_and_times(tmp_path: Path) -> None:
    write_report(tmp_path, made(SMALL, ["keywords", "queries"]), FINDINGS, context(SMALL))
    page = said((tmp_path / "report.html").read_text())
    assert "Not in this report: clicks, query pairs, phrase pairs." in page
    assert "for which the release has a substitution" not in page  # a note on what is not there
    assert "The paper's findings with numbers" in page
    with (tmp_path / "figures" / "summary.csv").open(newline="") as file:
        assert next(csv.reader(file))[2:] == [
            "keywords kept",
            "queries kept",
            "share of top 100 queries kept",
            "average difference of queries",
            "hit probability",
        ]
    assert page.count("Not measured on this log.") == 3  # quality, coverage, phrase pairs
    assert not files(tmp_path, "svg") & {"substitution", "coverage", "phrase-pairs"}
    assert "caching" in files(tmp_path, "svg")


@pytest.mark.usefixtures("undrawn")
def test_nothing_measured_is_a_page_all_the_same(tmp_path: Path) -> None:
    write_report(tmp_path, Results(table=as_table([])), (), context(SMALL))
    page = said((tmp_path / "report.html").read_text())
    assert "No finding was checked." in page
    assert files(tmp_path, "svg") == {"algorithm"}  # which shows no result


def columns(path: Path, *names: str) -> list[tuple[Any, ...]]:
    with path.open(newline="") as file:
        return [tuple(row[name] for name in names) for row in csv.DictReader(file)]


@pytest.mark.usefixtures("undrawn")
def test_an_empty_release_does_not_look_good(tmp_path: Path) -> None:
    nothing = [Run("zealous", 1.0, m=1), Run("zealous", 5.0, m=6), Run("flat")]
    results = made(SMALL, ["queries"], own=[Run("flat")], nothing=nothing)
    write_report(tmp_path, results, (), context(SMALL))
    figures = tmp_path / "figures"
    names = ("method", "average difference of queries")
    told: dict[str, str] = dict(columns(figures / "summary.csv", *names))
    assert [told[name] for name in ("zealous, epsilon = 1, m = 1", "flat")] == ["", ""]
    assert told["zealous, epsilon = 5, m = 1"]
    for name in ("average-difference", "rms-difference", "total-variation"):
        found = columns(figures / f"{name}.csv", "curve", "x")
        assert found == [("zealous, m = 1", "5.0"), ("k-query", "5.0"), ("k-query", "10.0")]
    over_m = set(columns(figures / "top-j-over-m.csv", "y", "x"))
    assert over_m == {
        ("average L1 distance", "1.0"),
        ("KL divergence, nats", "1.0"),
        *((y, x) for y in ("top-j items missing", "share missing") for x in ("1.0", "6.0")),
    }
    over_j = set(columns(figures / "top-j-over-j.csv", "y", "curve"))
    assert ("KL divergence, nats", "m = 1") in over_j
    assert ("KL divergence, nats", "m = 6") not in over_j
    page = said((tmp_path / "report.html").read_text())
    assert page.count("at which some draw of the noise publishes nothing are left out") == 3


@pytest.mark.usefixtures("undrawn")
def test_one_empty_draw_is_enough_to_leave_a_setting_out(tmp_path: Path) -> None:
    rows = [
        ("zealous", 1.0, None, 1, draw, "queries", measure, None, value)
        for measure in ("distinct", "average-difference")
        for draw, value in enumerate((0.0, 3.0))
    ]
    write_report(tmp_path, Results(table=as_table(rows)), (), context(SMALL))
    assert "average-difference" not in files(tmp_path, "csv")
    assert "No release published anything to compare." in said(
        (tmp_path / "report.html").read_text()
    )
    with (tmp_path / "figures" / "summary.csv").open(newline="") as file:
        assert next(csv.reader(file)) == [
            "method",
            "promise",
            "queries kept",
            "queries kept, low",
            "queries kept, high",
        ]


def test_a_panel_without_figures_is_not_drawn_and_one_without_items_says_so() -> None:
    lines = [Line(label="l", points=[], look=BLACK, gaps=gaps) for gaps in ([], [1])]
    panels = [Panel(title="t", x=Axis("x"), y="y", lines=[line]) for line in lines]
    chart = draw_chart(Chart(name="c", title="c", rows=[panels]))
    assert [axes.get_visible() for axes in chart.axes] == [False, True]
    assert [text.get_text() for text in chart.axes[1].texts] == ["nothing published"]


def test_rows_and_columns_without_figures_are_left_out() -> None:
    point = Point(1, Spread(1, 1, 1, 1))

    def panel(name: str, *points: Point, gaps: Sequence[float] = ()) -> Panel:
        line = Line(label="l", points=points, look=BLACK, gaps=gaps)
        return Panel(title=name, x=Axis("x"), y="y", lines=[line])

    rows = [
        [panel("a"), panel("b"), panel("c")],
        [panel("d", point), panel("e", gaps=[1]), panel("f", gaps=[1])],
        [panel("g"), panel("h"), panel("i", point)],
    ]
    chart = Chart(name="c", title="c", rows=rows, y=("linear", "log", "symlog")).without_empty()
    assert [[each.title for each in row] for row in chart.rows] == [["d", "f"], ["g", "i"]]
    assert list(chart.y) == ["log", "symlog"]
    assert Chart(name="c", title="c", rows=[]).without_empty().is_empty()


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_no_axis_cuts_off_the_highest_curve(scale: Scale) -> None:
    """Nor where panels side by side share it, and the higher one comes first."""

    def panel(height: float) -> Panel:
        points = [Point(x, Spread(height, height, height, 1)) for x in (1, 5)]
        lines = [Line(label="l", points=points, look=BLACK)]
        return Panel(title="t", x=Axis("x"), y="y", lines=lines)

    for heights in ((96, 40), (40, 96)):
        rows = [[panel(height) for height in heights]]
        chart = Chart(name="c", title="c", rows=rows, y=(scale,), share="row")
        for axes in draw_chart(chart).axes:
            assert axes.get_ylim()[1] > 96


def test_text_between_backticks_is_code() -> None:
    assert _mark_code("tau < 3: see `plan`") == "tau &lt; 3: see <code>plan</code>"


def test_an_axis_shows_what_was_tried_and_left_out() -> None:
    line = Line(label="l", points=[Point(4, Spread(1, 1, 1, 1))], look=BLACK, gaps=[1, 9000])
    panel = Panel(title="t", x=Axis("x", log=True), y="y", lines=[line])
    axes = draw_chart(Chart(name="c", title="c", rows=[[panel]])).axes[0]
    low, high = axes.get_xlim()
    assert low < 1
    assert high > 9000


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.usefixtures("undrawn")
def test_the_page_says_whose_documents_they_are(tmp_path: Path, *, fits: bool) -> None:
    about = context(SMALL, documents="They are of my corpus.", documents_fit=fits)
    write_report(tmp_path, made(SMALL, ["keywords"]), (), about)
    text = (tmp_path / "report.html").read_text()
    assert said(text).count("They are of my corpus.") == 2  # beside the figure, and at the end
    warned = re.findall(
        r"<b>([^<]*These hit probabilities were computed on an invented[^<]*)</b>", text
    )
    assert len(warned) == (0 if fits else 3)  # and on page one
    assert all("--documents" in each for each in warned)


@pytest.mark.usefixtures("undrawn")
def test_what_is_ones_own_and_what_was_left_out_is_told(tmp_path: Path) -> None:
    about = context(SMALL, own=["mine", "<b>"], left_out=["k-query: needs times.", "x", "x"])
    write_report(tmp_path, made(SMALL, ["clicks"]), (), about)
    text = (tmp_path / "report.html").read_text()
    assert "your methods and measures" in said(text[text.index('id="made"') :])
    assert "mine; <b>" in said(text)
    assert "Left out: k-query: needs times. Left out: x" in said(text[: text.index("<nav")])


@pytest.mark.parametrize(
    ("claim", "short"),
    [
        (
            "It falls (at m = 6) a little. (By 10% (or so) or less.)",
            "It falls (at m = 6) a little.",
        ),
        ("It falls (at m = 6).", "It falls (at m = 6)."),
        ("It (a) falls. (Judged: x.) Always.", "It (a) falls. (Judged: x.) Always."),
    ],
)
def test_a_claim_in_a_line_is_without_how_it_is_judged(claim: str, short: str) -> None:
    def finding_of(cases: list[Case]) -> Finding:
        return judge("name", claim, cases, margin_of="items", judged_on="m = 1")

    finding = finding_of([Case("3 at m = 1", None)])
    assert finding_view(finding).short == short
    assert finding_view(finding).measured == "3 at m = 1. This is too little to judge."
    assert "not measured" not in finding_view(finding_of([])).measured
    assert finding_view(finding_of([Case("3", holds=True)])).measured == "3"


def test_a_method_of_ones_own_is_shown_at_each_setting() -> None:
    own = [
        Run("mine", 1.0, m=2),
        Run("mine", 3.0, m=2),
        Run("mine", 3.0, m=7),
        Run("mine", m=9),
        Run("other", k=3),
        Run("other", k=4),
    ]
    view = ResultsView(results=made(SMALL, ["queries"], own), study=SMALL.as_object())
    assert [each for each in view.compared_entries() if each.method in ("mine", "other")] == [
        Entry(method=name, epsilon=epsilon, k=k, m=m) for name, epsilon, k, m in own
    ]
    lines = view.lines("distinct", "queries", "epsilon")
    assert {line.label: [point.x for point in line.points] for line in lines} == {
        "zealous, m = 1": [1, 5],
        "mine, m = 2": [1, 3],
        "mine, m = 7": [3],
        "mine, m = 9": [0],
    }
    looks = [line.look for line in lines]
    assert len({(look.marker, str(look.stroke), look.hollow) for look in looks}) == len(looks)
    over_k = {line.label: len(line.points) for line in view.lines("distinct", "queries", "k")}
    assert over_k == {"k-query": 2, "mine, m = 9": 1, "other": 2}
    drawn = {line.label for line in distributions(view).rows[0][0].lines}
    assert {"mine, epsilon = 3, m = 7", "mine, m = 9", "other, k = 4"} <= drawn


def test_a_panel_of_ones_own_measure_is_titled_by_its_kind_alone() -> None:
    view = ResultsView(results=made(SMALL, measures=["mine"]), study=SMALL.as_object())
    rows = own_chart(view, "mine", "own-measure-1").rows
    kinds = ["keywords", "queries", "clicks", "query pairs", "phrase pairs"]
    assert [[panel.title for panel in row] for row in rows] == [kinds, kinds]
    assert [row[-1].x.label for row in rows] == ["epsilon", "k, users"]


@pytest.mark.parametrize("along", [None, 4.0])
@pytest.mark.parametrize("worst", [math.inf, -math.inf, math.nan, 1.7e308, None])
def test_only_what_is_finite_is_drawn(worst: float | None, along: float | None) -> None:
    values = [worst, -1e149, 3.0, 1e-300, 1e149]
    rows: list[Any] = [
        ("zealous", float(place), None, 1, 0, "queries", "mine", along, value)
        for place, value in enumerate(values)
    ]
    rows.append(("flat", None, None, None, 0, "queries", "mine", along, worst))
    view = ResultsView(results=Results(table=as_table(rows)), study=SMALL.as_object())
    chart = own_chart(view, "mine", "own-measure-1")
    svg, _ = style.render_svg_and_png(lambda: draw_chart(chart))
    assert svg
    means = {
        point.y.mean
        for row in chart.rows
        for panel in row
        for line in panel.lines
        for point in line.points
    }
    assert means == ({-1e149, 3, 1e-300, 1e149} if along is None else {1e149})


@pytest.mark.extended
def test_what_is_not_finite_is_in_the_table(whole: Path) -> None:
    column = f"{UNEVEN}, queries"
    found = dict(columns(whole / "figures" / "own-measures.csv", "method", column))
    assert found["zealous, epsilon = 1, m = 1"] == "inf"
    assert {y for (y,) in columns(whole / "figures" / "own-measure-2.csv", "y")} == {UNEVEN}
    drawn = [float(mean) for (mean,) in columns(whole / "figures" / "own-measure-2.csv", "mean")]
    assert drawn
    assert all(map(math.isfinite, drawn))


def test_the_same_results_give_the_same_bytes() -> None:
    chart = distributions(ResultsView(results=made(SMALL, ["queries"]), study=SMALL.as_object()))
    one, two = (style.render_svg_and_png(lambda: draw_chart(chart)) for _ in range(2))
    assert one == two


def test_methods_look_different_without_colour() -> None:
    looks = [*CURVES.values(), *OTHERS]
    assert len({look.color for look in looks}) == len(looks)
    assert len({(look.marker, str(look.stroke)) for look in looks}) == len(looks)
    assert len({(look.marker, str(look.stroke)) for look in LADDER}) == len(LADDER)


def test_settings_that_were_not_tried_are_replaced_by_the_next() -> None:
    study = SMALL.__class__(**{**SMALL.as_object(), "k": (4, 50), "epsilon": 6})
    view = ResultsView(results=made(study), study=study.as_object())
    assert view.epsilon == 5
    assert view.nearest_entry("k-query") == Entry(method="k-query", k=4)
    assert view.nearest_entry("zealous", m=40) == Entry(method="zealous", epsilon=5, m=6)
    assert view.value("distinct", "clicks", Entry(method="original")) is not None
    assert (
        view.value("l1", "clicks", view.nearest_entry("zealous")) is None
    )  # it has an axis of its own


def test_a_method_without_a_parameter_goes_across() -> None:
    view = ResultsView(
        results=made(SMALL, own=[Run("flat"), Run("noisy", 2.0, m=2)]), study=SMALL.as_object()
    )
    over = {
        axis: {line.label: line.constant for line in view.lines("distinct", "queries", axis)}
        for axis in ("epsilon", "k")
    }
    assert over == {
        "epsilon": {"zealous, m = 1": False, "flat": True, "noisy": False},
        "k": {"k-query": False, "flat": True},
    }


def test_what_is_not_of_the_program_is_a_measure_of_ones_own() -> None:
    view = ResultsView(results=made(measures=["mine"]), study=STUDY.as_object())
    assert custom_measures(view) == ["mine"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry(method="original"), "nothing"),
        (Entry(method="k-session", k=7), "at least 6 other users"),
        (Entry(method="pseudonym"), "cannot be traced back"),
        (Entry(method="else", m=1), "nothing claimed, nothing audited"),
        (Entry(method="else", epsilon=1), "not audited: epsilon = 1"),
        (Entry(method="mine", k=9), "not audited: everybody is one of 9 or of 8 others"),
        (Entry(method="known", epsilon=1, m=1), "epsilon = 1, delta = 0.1; not refuted"),
        (Entry(method="known", epsilon=2, m=1), "epsilon = 2, delta = 0.1; not refuted"),
        (Entry(method="known", epsilon=2, m=5), "epsilon = 2, delta = 0.1; REFUTED"),
        (Entry(method="known", epsilon=3, m=5), "not audited: epsilon = 3"),
    ],
)
def test_promises(entry: Entry, words: str) -> None:
    audits = [
        {"method": "known", "epsilon": epsilon, "delta": 0.1, "failures": failures} | more
        for epsilon, failures, more in ((1.0, [], {}), (2.0, [], {"m": 1}), (2.0, ["x"], {"m": 5}))
    ]
    own = {"mine": "everybody is one of k or of k - 1 others."}
    assert words in promise_text(entry, 0.001, audits, own)


def test_no_promise_is_rounded_down() -> None:
    """Else 3.49e-9 would be shown as 3e-9; and 0.001 over 600,000 is 1.67e-9."""
    for m in (1, 6, 20):
        goal = ProbabilisticDP(epsilon=5, delta="0.001", users=600_000)
        exact = Zealous.calibrate(goal, m).other_guarantee(goal)
        assert exact is not None
        entry = Entry(method="zealous", epsilon=5.0, m=m)
        told = promise_text(entry, 0.001, [], people=600_000)
        epsilon, delta = told.partition("so (")[2].partition(")")[0].split(", ")
        assert Fraction(epsilon) == exact.epsilon
        assert exact.delta <= Fraction(delta) <= exact.delta * Fraction(11, 10)
    korolova = promise_text(Entry(method="korolova", epsilon=5.0, m=1), 0.001, [], people=600_000)
    assert korolova.endswith("(5, 1.7e-9)-indistinguishability")
    sheet = Sheet(
        name="x",
        title="x",
        headings=["delta", "tau"],
        rows=[[1.4201e-41, 2.001]],
        bounds=frozenset([0]),
    )
    assert [cell.text for cell in table_view(sheet).rows[0]] == ["1.43e-41", "2"]


def test_numbers_in_print() -> None:
    spread = Spread(1234.4, 1200, 1300, 5)
    assert cell_view(spread) == ("1,234", "1,200 to 1,300")
    assert cell_view(spread._replace(draws=1)) == ("1,234", "")
    assert cell_view("text") == ("text", "")
    assert [format_number(value) for value in (None, True, 0.0, 7, 99.95, float("inf"))] == [
        "–",
        "yes",
        "0",
        "7",
        "100",
        "inf",
    ]
    assert [format_tick(value) for value in (0.3, 1e-6, 2.5e-5, 1500)] == [
        "0.3",
        "10⁻⁶",
        "2.5·10⁻⁵",
        "1.5k",
    ]


def test_inlined_pictures_keep_only_ids_that_are_used() -> None:
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="9pt">'
        '<g id="axes_1"><path id="m1"/><use xlink:href="#m1" clip-path="url(#c)"/></g>'
        '<clipPath id="c"/></svg>'
    )
    assert inline_svg(svg, "one", 'a "b"') == (
        '<svg role="img" aria-label="a &#34;b&#34;"><g><path id="one-m1"/>'
        '<use href="#one-m1" clip-path="url(#one-c)"/></g><clipPath id="one-c"/></svg>'
    )


def test_a_sheet_has_a_spread_in_three_columns() -> None:
    sheet = Sheet(
        name="s",
        title="s",
        headings=["who", "n"],
        rows=[["a", Spread(2, 1, 3, 2)], ["b", None], ["c", 4]],
    )
    assert sheet.table().to_pydict() == {
        "who": ["a", "b", "c"],
        "n": [2, None, 4],
        "n, low": [1, None, None],
        "n, high": [3, None, None],
    }


def test_a_chart_without_points_is_empty() -> None:
    line = Line(label="l", points=[], look=BLACK)
    panel = Panel(title="t", x=Axis("x"), y="y", lines=[line])
    assert Chart(name="c", title="c", rows=[[panel]]).is_empty()
    assert Chart(name="c", title="c", rows=[]).is_empty()
    full = Line(label="l", points=[Point(1, Spread(1, 1, 1, 1))], look=BLACK)
    assert not Chart(
        name="c", title="c", rows=[[panel], [Panel(title="t", x=Axis("x"), y="y", lines=[full])]]
    ).is_empty()


def test_the_picture_of_the_algorithm_obeys_both_thresholds() -> None:
    log = example()
    rows = algorithm().table().to_pylist()
    assert {row["published"] for row in rows} == {True, False}
    assert None in log.noisy  # the first threshold drops something
    for row in rows:
        assert (row["with noise"] is None) == (row["people"] < log.plan.tau)
        assert row["published"] == ((row["with noise"] or 0) > log.plan.tau_prime)
    # Noise moves an item below the second threshold, and another one above it.
    assert {(row["people"] > log.plan.tau_prime, row["published"]) for row in rows} >= {
        (True, False),
        (False, True),
    }


@pytest.mark.parametrize("make", [tradeoff, caching, coverage])
def test_no_text_leaves_the_picture(make: Callable[[ResultsView], Chart]) -> None:
    """Also where the file is seen by itself: labels, ticks, legend and title."""
    chart = make(ResultsView(results=made(), study=STUDY.as_object())).without_empty()
    with style._fixed_style(style.STUDY):
        figure = draw_chart(chart, title="A title that takes two\nlines of a picture")
        backend_agg.FigureCanvasAgg(figure).draw()
        for each in figure.findobj(mpl_text.Text):
            if each.get_text() and each.get_visible():
                box = each.get_window_extent()
                assert min(box.x0, box.y0) >= -1, each.get_text()
                assert box.x1 <= figure.bbox.x1 + 1, each.get_text()
                assert box.y1 <= figure.bbox.y1 + 1, each.get_text()


def test_coverage_is_drawn_once_and_m_6_looks_like_nothing_else() -> None:
    chart = coverage(ResultsView(results=made(), study=STUDY.as_object()))
    lines = [line for row in chart.rows for panel in row for line in panel.lines]
    assert not any("top" in line.label for line in lines)
    looks = {line.label: line.look for line in lines}
    second = looks.pop("zealous, m = 6")
    assert second not in looks.values()
    assert second not in CURVES.values()
