"""Picture the workbench: `python tools/workbench_pictures.py`.

Goes the whole way in a real browser, on a generated log in an empty folder, and takes pictures for
docs/guide/workbench.md. It needs Debian's chromium and chromium-driver. Each run draws other noise.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "support"))

from browser import Browser, live  # noqa: E402
from walk import approve, begin_ledger, confirm, publish, write_plan  # noqa: E402

from zealous.web.bench import Bench  # noqa: E402
from zealous.web.folders import Folders  # noqa: E402

FOLDER = ROOT / "docs" / "figures" / "screens"
USERS = "50000"
WIDTH = 1100


def picture(browser: Browser, name: str, height: int) -> None:
    """The upper part of the page."""
    browser.show(WIDTH, "light", height)
    browser.driver.execute_script("scrollTo(0, 0)")
    browser.driver.save_screenshot(str(FOLDER / f"workbench-{name}.png"))
    browser.show(WIDTH, "light", 2000)


def loans() -> bytes:
    """A table as a spreadsheet of a German library writes it, invented."""
    rows = [f"k{reader};Märchen;{1 + reader % 28:02}.03.2026;Süd" for reader in range(50)]
    return "\n".join(["Karte;Werk;Ausgeliehen am;Ort", *rows, ""]).encode("cp1252")


def walk(browser: Browser, address: str, entrance: str, logs: Path) -> None:
    """From an empty folder to a release that was reviewed and verified."""
    browser.show(WIDTH, "light", 2000)
    browser.open(entrance)
    begin_ledger(browser, "web searchers")
    browser.open(f"{address}/plan?log=logs/searches.parquet&users={USERS}")
    browser.wait_for("becomes at most 45.1 %")
    picture(browser, "plan", 1300)
    write_plan(browser, "march 2026")
    picture(browser, "approve", 1240)
    approve(browser)
    who = {"title": "Frequent searches", "publisher": "City Library"}
    confirm(browser, "web searchers", by="Ann", **who)
    picture(browser, "publish", 1420)
    publish(browser)
    browser.wait_for("Published.")
    browser.open(f"{address}/ledger")
    picture(browser, "ledger", 640)
    browser.open(f"{address}/explore?release=logs/march-2026-release")
    picture(browser, "explore", 700)
    browser.open(f"{address}/review?release=logs/march-2026-release")
    picture(browser, "review", 560)
    browser.click("Write the reviewed release")
    browser.wait_for("All checks passed.")
    picture(browser, "sign", 640)
    (logs / "ausleihen.csv").write_bytes(loans())
    browser.open(f"{address}/plan")
    for field, chosen, said in (
        ("log", "logs/ausleihen.csv", "The first line is taken for data"),
        ("header", "names the columns", "No name tells which column is the person"),
        ("user-column", "Karte", "Werk: an item needs"),
        ("time-column", "Ausgeliehen am", "31.12.2026"),
    ):
        browser.choose(f"#{field}", chosen)
        browser.wait_for(said)
    picture(browser, "columns", 720)


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder, "logs")
        logs.mkdir()
        log = str(logs / "searches.parquet")
        made = ["generate", "-o", log, "--users", USERS, "--seed", "7"]
        program = Path(sys.executable).with_name("zealous")
        subprocess.run(  # noqa: S603
            [program, *made, "--no-figures"], check=True, capture_output=True
        )
        browser = Browser()
        try:
            with live(Bench(folders=Folders([logs]), scratch=Path(folder))) as bench:
                walk(browser, bench.address, bench.entrance(), logs)
        finally:
            browser.close()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
