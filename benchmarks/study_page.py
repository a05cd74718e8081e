"""The figures of docs/study/README.md, from a finished study: no figure there is typed.

    python benchmarks/study.py -o DIR
    python benchmarks/study_page.py DIR [--name study] [--measured COMMIT] [--pooled FOLDER]

Judges the findings anew from the figures of the study, and writes docs/study/NAME.json. For the
study of the generated log (`--name study`) it also draws docs/figures/study and writes the table of
findings and the other tables into the page. Sentences around them are for a person to write.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from zealous.study.claims import paper
from zealous.study.claims.claim import Finding, StudyCurves
from zealous.study.claims.findings import findings
from zealous.study.grid.result_table import Results
from zealous.study.grid.study import Study, study_from
from zealous.study.report.application_charts import caching
from zealous.study.report.chart_drawing import draw_chart
from zealous.study.report.first_screen import tradeoff
from zealous.study.report.parts import Chart
from zealous.study.report.results_view import ResultsView
from zealous.study.report.statistics_charts import difference
from zealous.study.report.style import render_svg_and_png

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "study" / "README.md"
METHODS = {
    "zealous": "ZEALOUS, the paper's guarantee",
    "indistinguishable": "ZEALOUS, indistinguishability",
    "korolova": "as Korolova et al. set it (tau = 1)",
    "gaussian": "Gaussian noise",
}
EPSILONS = (2.0, 5.0, 10.0)
TITLES = {
    "tradeoff": "ZEALOUS limits what an attacker learns,\nk-query does not",
    "average-difference": "Counts come closer as epsilon grows and as k falls",
    "caching": "The cache loses little by a smaller epsilon, and more by a large m",
}
Run = dict[str, Any]


def main() -> None:
    arguments = _arguments()
    results = Results(table=pq.read_table(arguments.directory / "internal-results.parquet"))
    about = json.loads((arguments.directory / "zealous-internal.json").read_text())
    study = study_from(about["study"])
    run = _run(results, study, arguments)
    target = DOCS / "study" / f"{arguments.name}.json"
    target.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
    page = write_table(PAGE.read_text(), run, arguments.name)
    if arguments.name == "study":
        page = write_figures(page, run)
        draw(results, study)
    PAGE.write_text(page)
    print(tally_text(Counter(each["verdict"] for each in run["findings"])))


def _run(results: Results, study: Study, arguments: argparse.Namespace) -> Run:
    found: Run = {"command": arguments.command, "log": arguments.log}
    if arguments.measured:
        found["measured_at"] = arguments.measured
    found["findings"] = [finding_object(each) for each in findings(results, study)]
    if arguments.name == "study":
        curves = StudyCurves(results, study)
        found["multiples_of_the_paper"] = _multiples(curves)
        found["items_at_m_1"] = _items(results)
        if arguments.pooled:
            found["pooled_at_m_1"] = pooled(arguments.pooled)
    return found


def finding_object(finding: Finding) -> Run:
    """A finding as the page shows it."""
    return {
        "name": finding.name,
        "claim": finding.claim,
        "verdict": finding.verdict,
        "measured": finding.measured,
        "margin": finding.margin_text.partition(" (")[0],
        "judged_on": finding.judged_on,
        "why": finding.why,
    }


def _multiples(curves: StudyCurves) -> Run:
    tables = {"distinct": paper.DISTINCT, "total": paper.TOTAL}
    return {
        measure: {
            kind: [
                round(found.mean / value, 2)
                for m, value in row.items()
                if (found := curves.zealous(measure, kind, m)) is not None
            ]
            for kind, row in table.values.items()
        }
        for measure, table in tables.items()
    }


def _items(results: Results) -> Run:
    return {
        method: {
            kind: [
                round(found.mean)
                for epsilon in EPSILONS
                if (found := results.value("distinct", kind, method, epsilon=epsilon, m=1))
            ]
            for kind in paper.KINDS
        }
        for method in METHODS
    }


def pooled(folder: Path) -> Run:
    """The items by pooled rounds, of what `zealous study mechanisms --json` printed by kind.

    None of a kind that was not run.
    """
    found: Run = {}
    for kind in paper.KINDS:
        path = folder / f"{kind}.json"
        text = path.read_text() if path.exists() else ""
        rows = json.loads(text)["rows"] if text else []
        found[kind] = [
            round(row["items"]["mean"])
            for epsilon in EPSILONS
            for row in rows
            if row["mechanism"] == "pooled" and row["epsilon"] == epsilon
        ]
    return found


def write_table(page: str, run: Run, name: str) -> str:
    """The table of findings below the line that names its JSON file."""
    rows = ["| verdict | what the paper found | here | margin |", "|---|---|---|---|"]
    rows += [finding_row(each) for each in run["findings"]]
    head = re.compile(rf"(\[{name}\.json\]\({name}\.json\).*?\n)\| verdict .*?\n\n", re.DOTALL)
    page, times = head.subn(lambda found: found[1] + "\n".join(rows) + "\n\n", page, count=1)
    assert times == 1, f"no table of {name}.json in the page"
    verdicts = Counter(each["verdict"] for each in run["findings"])
    return re.sub(
        rf"\*\*[^*]*\*\* (?=\[{name}\.json\])", f"**{tally_text(verdicts)}** ", page, count=1
    )


def tally_text(verdicts: Counter[str]) -> str:
    """How many findings have each verdict."""
    text = f"{verdicts['as in the paper']} of the 22 findings are as in the paper, "
    text += f"{verdicts['differs']} differ"
    unknown = verdicts["too little data"]
    return (
        f"{text}, {unknown} {'has' if unknown == 1 else 'have'} too little data."
        if unknown
        else f"{text}."
    )


def finding_row(each: Run) -> str:
    """A line of the table."""
    verdict = "**differs**" if each["verdict"] == "differs" else each["verdict"]
    why = f" *{each['why']}*" if each["verdict"] == "differs" and each["why"] else ""
    claim = each["claim"].partition(". (")[0].rstrip(".")
    return f"| {verdict} | {claim}. | {each['measured']}{why} | {each['margin']} |"


def write_figures(page: str, run: Run) -> str:
    """The other tables of the study of the generated log."""
    names = {"distinct": "distinct", "total": "total of"}
    for measure, kinds in run["multiples_of_the_paper"].items():
        for kind, times in kinds.items():
            start = f"| {names[measure]} {kind.replace('-', ' ')} | "
            page = _replace_line(page, start, start + " | ".join(f"{x:.2f}" for x in times) + " |")
    rows = {METHODS[name]: row for name, row in run["items_at_m_1"].items()}
    if "pooled_at_m_1" in run:
        rows["pooled rounds"] = run["pooled_at_m_1"]
    for label, row in rows.items():
        cells = [", ".join(f"{each:,}" for each in items) or "not run" for items in row.values()]
        page = _replace_line(page, f"| {label} | ", f"| {label} | {' | '.join(cells)} |")
    return page


def _replace_line(page: str, start: str, line: str) -> str:
    lines = page.splitlines()
    (place,) = [number for number, each in enumerate(lines) if each.startswith(start)]
    lines[place] = line
    return "\n".join(lines) + "\n"


def draw(results: Results, study: Study) -> None:
    """The pictures, whose log is generated: anybody may see them."""
    view = ResultsView(results=results, study=study.as_object())
    charts = (
        tradeoff(view),
        difference(view, "average-difference", "average difference, users"),
        caching(view),
    )
    for chart in charts:
        (DOCS / "figures" / "study" / f"{chart.name}.svg").write_text(picture(chart))


def picture(chart: Chart) -> str:
    """A chart with a finding as its title, as SVG."""
    shown = chart.without_empty()
    return render_svg_and_png(lambda: draw_chart(shown, title=TITLES[chart.name]))[0]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="what zealous study compare wrote")
    parser.add_argument("--name", default="study", help="of the JSON file in docs/study")
    parser.add_argument("--measured", metavar="COMMIT", help="whose code measured")
    parser.add_argument("--pooled", type=Path, help="<kind>.json of zealous study mechanisms")
    parser.add_argument("--command", default="zealous study compare log.parquet -o study")
    parser.add_argument(
        "--log",
        default="zealous generate -o log.parquet --users 500000 --seed 7 --behaviour visitors",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
