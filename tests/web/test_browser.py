"""The workbench in a real browser: the whole way, on a screen and a phone, light and dark.

Pictures are kept where WORKBENCH_PICTURES says: with -m "" of every screen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import CHROMIUM, DRIVER, Browser, Live, Scheme, live
from sampling import sampled
from walk import approve, begin_ledger, confirm, publish, write_plan

from zealous.verification.verify import verify
from zealous.web.bench import Bench
from zealous.web.decisions import plan_hash, write_decision
from zealous.web.folders import Folders

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="NO CHROMIUM: nobody opened the workbench"
)
PLAN = quote("logs/march 2026.plan.json")
SCREENS = {
    "home": "/",
    "plan": "/plan?log=logs/log.tsv&users=1000",
    "columns": "/plan?log=logs/ausleihen.csv&header=yes&delimiter=%3B",
    "unreadable": "/plan?log=logs/ausleihen.csv&delimiter=%7C",
    "job": f"/publish?plan={PLAN}&job=1",
    "approve": f"/approve?plan={PLAN}",
    "approve-waiting": "/approve?plan=logs/waiting.plan.json",
    "publish-approved": "/publish?plan=logs/approved.plan.json",
    "plans": "/publish",
    "choose": "/explore",
    "publish": f"/publish?plan={PLAN}",
    "ledger": "/ledger",
    "explore": "/explore?release=logs/march&table=queries",
    "review": "/review?release=logs/march&show=all",
    "sign": "/sign?release=logs/march-reviewed",
    "compare": "/compare?old=logs/march&new=logs/march-reviewed",
    "tour": "/tour",
    "study": "/study?log=logs/log.tsv",
    "error": "/explore?release=none",
}

LOOKS: tuple[tuple[int, Scheme], ...] = (
    (1280, "light"),
    (1280, "dark"),
    (400, "light"),
    (400, "dark"),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "logs"
    folder.mkdir()
    rows = ["user\tquery\ttime\n"]
    for user in range(200):
        asked = ("green tea", "shoes", f"shop{user % 3}@mail.example", f"my own {user}")
        rows += [f"u{user}\t{query}\t2026-03-01 12:00:00\n" for query in asked]
    (folder / "log.tsv").write_text("".join(rows))
    loans = [f"k{user};Märchen;07.03.2026" for user in range(20)]
    text = "\n".join(["Wer;Werk;Ausgeliehen am", *loans, ""])
    (folder / "ausleihen.csv").write_text(text, encoding="cp1252")
    return folder


@pytest.fixture(scope="module")
def bench(logs: Path) -> Iterator[Live]:
    folders = Folders([logs])
    with live(Bench(folders=folders, internal=True, scratch=logs.parent)) as running:
        yield running


@pytest.fixture(scope="module")
def walked(browser: Browser, bench: Live, logs: Path) -> Browser:
    """The whole way, with the mouse and the keyboard alone."""
    browser.show(1280, "light")
    browser.open(bench.entrance())
    browser.open(f"{bench.address}/ledger")
    assert not browser.barriers()
    browser.open(f"{bench.address}/")
    begin_ledger(browser, "tea drinkers", epsilon="60")
    # Plan: a slider, and what it means at once.
    browser.open(f"{bench.address}/plan?log=logs/log.tsv&users=1000")
    browser.wait_for("becomes at most 45.1 %")
    browser.driver.execute_script(
        "const slider = document.getElementById('slider'); slider.value = 100;"
        "slider.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    browser.wait_for("nearly 100 %")
    assert browser.find("input[value=custom]").is_selected()
    assert "20 after this release" in browser.says()
    browser.type("#delta", "0.002")
    browser.wait_for("0.002 for anybody at all")
    for guarantee, said in (
        ("indistinguishable", "0.0001 per person"),
        ("probabilistic", "99.9 %"),
    ):
        browser.find(f"input[value={guarantee}]").click()  # with the delta that is usual for it
        browser.wait_for(said)
    write_plan(browser, "march 2026")
    approve(browser)
    confirm(browser, "tea drinkers", output="march", title="What people drink")
    publish(browser)
    browser.open(f"{bench.address}/")  # the page is closed, and it goes on
    browser.open(f"{bench.address}{SCREENS['publish']}")
    browser.wait_for("Published.")
    # Review, by the keyboard.
    browser.click("Review it next")
    browser.wait_for("flagged")
    boxes = browser.find_all("input.goes")
    assert [box.is_selected() for box in boxes] == [True] * 3
    boxes[0].send_keys("\ue015")  # arrow down
    browser.driver.switch_to.active_element.send_keys(" ")
    assert [box.is_selected() for box in boxes] == [True, False, True]
    browser.click("Write the reviewed release")
    browser.wait_for("All checks passed.")
    # Two more plans, one of which waits and one is approved.
    plan = json.loads((logs / "march 2026.plan.json").read_text())
    (logs / "waiting.plan.json").write_text(json.dumps(plan))
    approved = logs / "approved.plan.json"
    approved.write_text(json.dumps(plan, indent=1))
    write_decision(approved, "approved", seen=plan_hash(approved), by="Ito")
    return browser


def test_the_whole_way_ends_in_a_sound_release(walked: Browser, logs: Path) -> None:
    found = verify(logs / "march-reviewed", logs / "zealous-ledger.sqlite", logs / "march")
    assert found.ok
    assert all(check.ok for check in found)


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    sampled(
        [(name, width, scheme) for name in SCREENS for width, scheme in LOOKS],
        lambda case: f"{case[0]}-{case[1]}-{case[2]}",
        share=len(LOOKS),
        group=lambda case: case[0],
    ),
)
def test_a_screen_fits_and_has_no_barriers(
    walked: Browser, bench: Live, name: str, width: int, scheme: Scheme, tmp_path: Path
) -> None:
    pictures = Path(os.environ.get("WORKBENCH_PICTURES", tmp_path))
    walked.complaints()
    walked.show(width, scheme)
    walked.open(f"{bench.address}{SCREENS[name]}")
    assert not walked.too_wide()
    assert not walked.barriers()
    walked.picture(pictures / f"{name}-{width}-{scheme}.png", width, scheme)
    for other in (360, 400, 1000, 1280):
        walked.show(other, scheme)
        assert not walked.too_wide(), other
    complaints = [each for each in walked.complaints() if name != "error" or "404" not in each]
    assert not complaints


def test_barriers_would_be_found(walked: Browser) -> None:
    walked.open("data:text/html,<html><body><input><p style='color:%23ddd'>grey</p></body></html>")
    assert len(walked.barriers()) >= 3  # no language, no label, no contrast


def test_internal_pages_are_framed_red(walked: Browser, bench: Live) -> None:
    walked.open(f"{bench.address}{SCREENS['study']}")
    assert walked.find("body").value_of_css_property("border-top-color") == "rgba(193, 18, 31, 1)"
    assert "INTERNAL" in walked.find(".banner").text


def test_search_by_the_keyboard(walked: Browser, bench: Live) -> None:
    walked.show(1280, "light")
    walked.open(f"{bench.address}{SCREENS['explore']}")
    walked.find("body").send_keys("/")
    walked.driver.switch_to.active_element.send_keys("green\n")
    walked.wait_for("hold “green”")
    assert len(walked.find_all("table.rows tbody tr")) == 1


def test_a_table_that_nobody_recognises_is_planned_by_its_owner(
    walked: Browser, bench: Live
) -> None:
    walked.show(1280, "light")
    walked.open(f"{bench.address}/plan")
    for field, chosen, said in (
        ("log", "logs/ausleihen.csv", "The first line is taken for data"),
        ("header", "names the columns", "No name tells which column is the person"),
        ("user-column", "Wer", "Werk: an item needs"),
        ("time-column", "Ausgeliehen am", "Write the plan"),
        ("like", "logs/march", "the earlier release has no such table"),
    ):
        walked.choose(f"#{field}", chosen)
        walked.wait_for(said)
    assert walked.find("input[value=user-day]").is_enabled()
    assert "Märchen" not in walked.says()


def test_the_slider_alone_needs_a_script(browser: Browser, walked: Browser, bench: Live) -> None:
    walked.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        walked.open(f"{bench.address}/plan?log=logs/log.tsv&users=1000")
        assert not walked.find("#slider").is_displayed()
        walked.find("input[value=strict]").click()
        walked.click("Show what this means")
        walked.wait_for("becomes at most 23.2 %")
    finally:
        walked.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
