"""zealous review: a person looks before a release leaves."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import NUMBER, path_argument, path_option
from zealous.record.codec import to_json
from zealous.verification.review import ReviewResult
from zealous.verification.review import review as run

_HELP = """Remove sensitive rows from a release before handing it over.

Lists the rows that match a rule and writes the rest as a new release, a child, at no budget.
Without -o nothing is written: look first, put what may stay on the --allow list, then write. Names
of people are not recognised: read the tables, and block what must be removed. --top K cuts each
table to its K most frequent rows. The child keeps (epsilon, delta)-indistinguishability, but not
probabilistic differential privacy.

\b
Examples:
  zealous review release --flag-pii
  zealous review release --block names.txt --allow fine.txt --flag-pii \\
      -o reviewed
  zealous review release --top 100 -o top-100
"""


@click.command(help=_HELP)
@path_argument("release")
@path_option(
    "--block",
    metavar="FILE",
    help="Terms, one per line. Rows that contain one as whole words are removed.",
)
@path_option(
    "--remove", metavar="FILE", help="Items to remove, one per line, columns separated by tabs."
)
@path_option(
    "--allow", metavar="FILE", help="Items to keep, one per line, columns separated by tabs."
)
@click.option("--flag-pii", is_flag=True, help="Remove rows that look like personal data.")
@click.option(
    "--top",
    type=NUMBER,
    metavar="K",
    help="Keep the K most frequent rows of each table that the other rules leave, by their "
    "published counts, and remove the others.",
)
@path_option(
    "-o",
    "--output",
    metavar="DIR",
    help="Where to write the child; nothing is written if left out.",
)
@JSON
def review(
    release: Path,
    block: Path | None,
    remove: Path | None,
    allow: Path | None,
    flag_pii: bool,
    top: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Remove rows from a release before it leaves."""
    with terminal.reporting_progress() as say:
        found = run(
            release,
            block=block,
            remove=remove,
            allow=allow,
            flag_pii=flag_pii,
            top=top,
            output=output,
            say=say,
        )
    if as_json:
        terminal.as_json(
            {
                "directory": str(found.directory) if found.directory else None,
                "review": to_json(found.release.record)["review"],
                "flagged": [asdict(each) for each in found.flagged],
            }
        )
    else:
        _print_review(found, output)


def _print_review(found: ReviewResult, output: Path | None) -> None:
    if found.flagged:
        terminal.table(
            "Caught by a rule",
            ["kind", "item", "count", "why", ""],
            [
                (
                    each.kind,
                    " | ".join(each.item),
                    each.count,
                    each.why,
                    "stays" if each.kept else "goes",
                )
                for each in found.flagged
            ],
        )
    allowed = Counter(each.kind for each in found.flagged if each.kept)
    rows = [
        (kind, before, len(found.release[kind]), before - len(found.release[kind]), allowed[kind])
        for kind, before in found.before.items()
    ]
    terminal.table("Rows", ["kind", "before", "after", "gone", "allowed to stay"], rows)
    if output is None:
        terminal.echo("Nothing was written: give -o DIR to write what is left as a release.")
        return
    if not found.release.record.is_filtered():
        terminal.echo(f"Written to {output}. No row was removed: it keeps all that the parent has.")
        return
    terminal.echo(
        f"Written to {output}. It keeps (epsilon, delta)-indistinguishability, and not "
        "probabilistic differential privacy. No budget was charged."
    )
