"""The report in a browser: nothing overflows on a screen or a phone, and it prints."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from reported import STUDY, context, drawn, made

from zealous.study.claims.findings import findings
from zealous.study.report.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="NO CHROMIUM: nobody looked at the report"),
    pytest.mark.extended,
]

# In a frame, since the window of a headless browser is 500 pixels wide at least.
_FRAME = """<title>waiting</title><iframe width={width} height=2000 style="border: 0"
srcdoc="{page}"></iframe><script>addEventListener("message", (event) => {{
  document.title = event.data; }});</script>"""

# Run in a copy of the page alone: the report itself has no program in it.
_MEASURE = """<script>addEventListener("load", () => {
  const wide = [...document.querySelectorAll("svg text")].filter((text) => {
    const inner = text.getBoundingClientRect();
    const outer = text.ownerSVGElement.getBoundingClientRect();
    return inner.left < outer.left - 1 || inner.right > outer.right + 1;
  }).map((text) => text.textContent);
  parent.postMessage(JSON.stringify({
    page: document.documentElement.scrollWidth, window: innerWidth, wide,
    drawn: [...document.querySelectorAll("figure svg")].map((svg) => svg.getBoundingClientRect())
      .filter((box) => box.width > 300 && box.height > 100).length,
    small: Math.min(...[...document.querySelectorAll("figure svg")].map((svg) =>
      8 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)),
    broken: [...document.querySelectorAll("td:not(.text)")].filter((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell.firstChild);
      return range.getClientRects().length > 1;
    }).length,
    texts: Math.max(...[...document.querySelectorAll(".summary tbody tr")].map((row) =>
      row.cells[0].offsetWidth + row.cells[1].offsetWidth)),
  }), "*");
});</script></body>"""


def chromium(tmp_path: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            *arguments,
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return done.stdout.decode()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn(tmp_path_factory) / "report.html"


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_overflows(report: Path, tmp_path: Path, width: int) -> None:
    measured = tmp_path / "measured.html"
    page = html.escape(report.read_text().replace("</body>", _MEASURE))
    measured.write_text(_FRAME.format(width=width, page=page))
    dumped = chromium(
        tmp_path, "--window-size=1400,2000", "--virtual-time-budget=9000", "--dump-dom",
        measured.as_uri(),
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", dumped)
    assert title is not None
    found = json.loads(title[1].replace("&amp;", "&"))
    assert found["window"] == width
    assert found["page"] <= found["window"]
    assert found["small"] >= 9, "pixels of the smallest text of a figure"
    assert found["broken"] == 0, "numbers are not broken into lines"
    assert found["texts"] <= 0.8 * width, "figures stand beside the two columns of text"
    assert found["wide"] == []
    assert found["drawn"] == report.read_text().count("<figure ")


def printed(tmp_path: Path, report: Path) -> int:
    """How many pages it has on paper."""
    pdf = tmp_path / "report.pdf"
    chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", report.as_uri())
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def test_it_prints(report: Path, tmp_path: Path) -> None:
    assert 8 <= printed(tmp_path, report) <= 25


@pytest.mark.usefixtures("undrawn")
def test_the_summary_is_one_page(tmp_path: Path) -> None:
    study = replace(STUDY, epsilons=(1, 5, 10), items_per_user=(1, 6, 40))
    results = made(study)
    about = context(
        study, documents_fit=False, left_out=["k-query with k = 1,000 needs more users."]
    )
    path = write_report(tmp_path, results, findings(results, study), about)
    text = path.read_text()
    assert text.index('id="numbers"') < text.index("<nav>") < text.index("<h2>1. ")
    hurried = text[: text.index('<section id="numbers">')]
    assert hurried.count("<li>") == 22
    path.write_text(hurried)
    assert printed(tmp_path, path) == 1
