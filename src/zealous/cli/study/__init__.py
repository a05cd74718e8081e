"""zealous study: how methods compare, what attackers get, and what the theory says.

Commands of the study; of the others `demo` alone uses it too.
"""

from __future__ import annotations

import click

from zealous.cli.registry import Commands

COMMANDS = {
    "anonymize": "Anonymise a log by a method that is NOT differentially private, to compare it.",
    "attack": "Show what an attacker learns from each anonymity method and from ZEALOUS on a log.",
    "compare": "Compare how useful a log remains with ZEALOUS and with the anonymity methods.",
    "evaluate": "Measure how useful releases of a log are.",
    "guarantees": "Show what else a plan guarantees, or which guarantees given parameters satisfy.",
    "mechanisms": "Compare what each mechanism publishes of a log, at equal epsilon and delta.",
    "suggest": "Suggest substitutes for a query, learned from a release only.",
    "tables": "Print the paper's analytic tables, as printed and as computed by this program.",
}


_HELP = """Compare methods on a log: utility, attacks and theory.

Publishing needs none of these commands. What they print about a log is internal. Commands that draw
figures or rank results need more packages: pip install 'zealous[study]'.

\b
Examples:
  zealous study compare log.parquet -o study
  zealous study attack
"""


@click.group(cls=Commands, package=__name__, sections={"Commands": COMMANDS}, help=_HELP)
def study() -> None:
    """Study methods on a log."""
