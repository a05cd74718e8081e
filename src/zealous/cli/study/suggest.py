"""zealous study suggest: what to ask instead, learned from a release alone."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import count_option, path_argument
from zealous.study.measures.suggestions import suggest as run

_HELP = """Suggest substitutes for a query, learned from a release only.

The release must contain query-pairs or phrase-pairs. If it also contains queries, they show which
words belong together. A substitution of the whole query or of one phrase scores higher the more
people made it (a log-likelihood ratio). The output of `zealous study anonymize` works as well.
Reads no log and charges no budget.

\b
Examples:
  zealous study suggest release "cheap flights rome"
  zealous study suggest release weather "hotels paris" -n 3 --json
"""


@click.command(help=_HELP)
@path_argument("release")
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@count_option("-n", "most", least=1, default=5, description="How many for each query at most.")
@JSON
def suggest(release: Path, queries: tuple[str, ...], most: int, as_json: bool) -> None:
    """Suggest what to ask instead of a query."""
    made = run(release, queries, most)
    answers = list(zip(queries, made.found, strict=True))
    if as_json:
        suggested = [
            {"query": query, "instead": [each._asdict() for each in found]}
            for query, found in answers
        ]
        terminal.as_json({"learned_from": made.kind, "suggestions": suggested})
    elif any(made.found):
        rows = [(query, each.instead, each.score) for query, found in answers for each in found]
        terminal.table(f"Learned from {made.kind}", ["query", "instead", "score"], rows)
    for query, found in answers:
        if not found:
            terminal.note(f"Nothing was learned from this release for: {query}")
