"""What a notebook shows: the promise, the first rows, where it is; and nothing that runs."""

from __future__ import annotations

import html
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from bundles import made
from records import changed

import zealous as z
from zealous.ledger import Cap, Caps, Charge
from zealous.notebook import ROWS, block, grid, line, note
from zealous.release.bundle import Release
from zealous.release.table import Table

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "https://phish.example/login",
    r"$\href{javascript:alert(1)}{tea}$",
    r"\(x\) \[y\] $$z$$",
    "\u202egnp.exe\u2066",
    "\x1b]8;;https://phish.example\x07tea",
    "&lt;b&gt; & <b>",
    "tea",
]
TAGS = {"div", "b", "small", "span", "bdi", "table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"class", "style", "translate"}


class Page(HTMLParser):
    """The tags and texts of a page; two texts with a tag between them are two."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return made(tmp_path_factory.mktemp("log"), kinds=[z.queries(3)])


def with_items(release: Release, items: list[str]) -> Release:
    counts = pa.array(range(100 + len(items), 100, -1), pa.int64())
    table = Table(arrow=pa.table({"query": pa.array(items, pa.string()), "count": counts}))
    return replace(release, tables={"queries": table})


@pytest.mark.parametrize("item", HOSTILE)
def test_an_item_is_text_and_nothing_else(item: str, release: Release) -> None:
    shown = with_items(release, [item])
    for page in (Page(shown._repr_html_()), Page(shown["queries"]._repr_html_())):
        seen = "".join(each if each.isprintable() else "�" for each in item)
        assert seen in "".join(page.texts)
        assert all("$" not in text or text == "$" for text in page.texts)
        assert all("\\" not in text or text == "\\" for text in page.texts)


def test_a_release_shows_its_promise_its_first_rows_and_where_it_is(release: Release) -> None:
    shown = with_items(release, [f"item {number}" for number in range(20)])
    text = html.unescape(shown._repr_html_())
    assert "this release changes nobody's odds" in text
    assert "Charged to no ledger" in text
    assert "item 0" in text
    assert f"item {ROWS}" not in text
    assert "and 15 more" in text
    assert "95 % interval" in text
    assert "In memory alone" in text
    seeded = replace(release, record=changed(release.record, private=False))
    assert "NOT PRIVATE" in seeded._repr_html_()


def test_an_empty_table_says_so(release: Release) -> None:
    assert "No row." in with_items(release, [])["queries"]._repr_html_()


def test_a_log_shows_columns_and_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,<b>query\nu1,secret\n", encoding="utf-8")
    log = z.read_log(path, columns=z.Columns(query="<b>query"))
    page = Page(log._repr_html_())
    assert "<b>query" in page.texts
    assert "secret" not in "".join(page.texts) + repr(log)
    assert repr(log) == f"Log({path}, Columns(user='user', query='<b>query'))"


def test_a_plan_shows_what_to_expect() -> None:
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=100_000)
    planned = z.plan(goal, z.queries(5))
    text = "".join(Page(planned._repr_html_()).texts)
    assert "nobody's odds" in text
    assert str(planned.parts[0].mechanism.noise_quantile(0.95)) in text
    assert repr(planned) == f"Plan({goal!r}: queries, at most 5 a user)"
    assert eval(repr(goal), {"ProbabilisticDP": z.ProbabilisticDP}) == goal


def test_a_ledger_shows_its_last_entries_and_what_is_left(tmp_path: Path) -> None:
    ledger = z.Ledger.open(tmp_path / "x.sqlite", create=True, dataset="<i>people")
    assert "Nothing has been charged" in ledger._repr_html_()
    goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=9)
    for number in range(ROWS + 2):
        ledger.reserve(f"r{number}", Charge.of(goal), again=True)
    ledger.set_caps(Caps(all=Cap(epsilon=goal.epsilon * 12)))
    page = Page(ledger._repr_html_())
    text = "".join(page.texts)
    assert "Ledger of <i>people" in text
    assert "Spent epsilon 7 of 12, delta 0.007 over all releases." in text
    assert "r1" not in page.texts
    assert f"r{ROWS + 1}" in page.texts
    assert "and 2 earlier entries" in text
    assert [entry.release for entry in ledger] == [f"r{number}" for number in range(ROWS + 2)]
    both = Cap(epsilon=goal.epsilon * 120, delta=goal.delta * 20)
    ledger.set_caps(Caps(all=both, compose="losses"), reason="a new promise")
    text = "".join(Page(ledger._repr_html_()).texts)
    assert " of 120, exposed 0.007 of 0.01, composed at delta 0.02 over all releases." in text


def test_parts_of_a_page_are_escaped() -> None:
    page = Page(block("<a>", line("<a>"), line(""), note("<a>"), grid(["<a>"], [["<a>"], [5]])))
    assert page.texts.count("<a>") == 5
    assert "a" not in page.tags
