"""zealous study compare: the whole study on a log."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.option_values import path_option
from zealous.cli.options.log import LOG, log_from
from zealous.cli.options.machine import ANY_ENGINE
from zealous.cli.options.public_inputs import DOCUMENTS
from zealous.study.compare import StudyResult, is_resumable
from zealous.study.compare import compare as run
from zealous.study.grid.study import read_study

_HELP = """Compare how useful a log remains with ZEALOUS and with the anonymity methods.

Runs every method over a grid of epsilon, k and m, with several draws of the noise, and measures
statistics, index caching and query substitution against the log itself. Writes a new directory:
report.html (tables and figures of the paper on this log), internal-results.parquet and .csv (one
row per figure), findings.json, and figures/ (SVG, PNG, CSV). To resume an interrupted run, repeat
the command. The output contains true figures of the log: it is internal.

\b
Examples:
  zealous study compare log.parquet -o study
  zealous study compare log.parquet --study study.toml \\
      --documents documents.csv -o study
"""


@command(help=_HELP)
@path_option("-o", "--output", required=True, metavar="DIR", help="A new directory.")
@path_option(
    "--study",
    "study_file",
    metavar="FILE",
    help="The parameter grid as TOML (docs/study/README.md). [default: the paper's]",
)
@DOCUMENTS
@options(LOG, ANY_ENGINE)
@JSON
def compare(
    output: Path, study_file: Path | None, documents: Path | None, as_json: bool, **given: Any
) -> None:
    """Compare how useful a log remains with ZEALOUS and with the anonymity methods."""
    study = read_study(study_file) if study_file else None
    log = log_from(given)
    try:
        with terminal.reporting_progress() as say:
            done = run(
                log,
                study,
                documents=documents,
                output=output,
                engine=log.engine,
                say=say,
            )
    except KeyboardInterrupt:
        if (output / "unfinished").is_dir():
            again = "zealous: repeat the command to resume the study; until then "
            terminal.note(
                f"{again if is_resumable(log) else 'zealous: '}"
                f"{output / 'unfinished'} holds true counts of the log"
            )
        raise
    if as_json:
        terminal.as_json(
            {
                "internal": True,
                "directory": str(output),
                "report": str(output / "report.html"),
                "study": done.study.as_object(),
                "findings": [asdict(each) for each in done.findings],
            }
        )
    else:
        findings(done)
        terminal.echo(f"Report: {output / 'report.html'}")
    terminal.note_internal()


def findings(done: StudyResult) -> None:
    """Print the paper's findings and whether they hold on this log."""
    rows = [
        (
            each.verdict,
            each.claim,
            f"{each.measured} {each.why if each.holds is False else ''}",
            each.margin_text,
        )
        for each in done.findings
    ]
    headings = ["verdict", "finding", "measured", "margin"]
    terminal.table("The paper's findings on this log", headings, rows)
