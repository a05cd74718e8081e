"""zealous study: how methods compare, what attackers get, and what the theory says.

Commands of the study; of the others `demo` alone uses it too.
"""

from __future__ import annotations

import click

from zealous.cli.registry import Commands

COMMANDS = {
    "anonymize": "Anonymise a log by a method that is NOT differentially private, to compare it.",
    "attack": "Show what an attacker gets from each anonymity method, and from ZEALOUS, on the "
    "same log.",
    "compare": "Compare how useful ZEALOUS and the anonymity methods leave a log.",
    "evaluate": "Measure how much of a log given releases keep.",
    "guarantees": "Show what else a plan guarantees, or which guarantees given parameters satisfy.",
    "mechanisms": "Compare what each mechanism publishes of a log, at equal epsilon and delta.",
    "suggest": "Suggest what to ask instead of a query, learned from a release alone.",
    "tables": "Print the paper's analytic tables, as printed and as this program does it.",
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
