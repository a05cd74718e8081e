"""The strongest rules of a release, for the person who made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zealous.cli import terminal
from zealous.release.bundle import Release
from zealous.release.derived.associations import (
    association_files,
    associations,
    rule_families,
    rule_text,
)

_MOST = 5


def print_strongest_rules(release: Release) -> None:
    """Print for each family the rules that stand out most, as far as the noise lets them."""
    tables = {kind: table.arrow for kind, table in release.tables.items()}
    families = rule_families(release.record)
    for family, file in association_files(release.record).items():
        rules = associations(release.record, tables, family).slice(0, _MOST).to_pylist()
        rows = [
            (
                rule_text(rule, ordered=families[family].ordered),
                rule["count_both"],
                _measure_with_interval(rule, "confidence", 100),
                _measure_with_interval(rule, "lift"),
            )
            for rule in rules
            if rule["lift_low"] > 1
        ]
        if rows:
            names = ["rule", "count", "confidence, %", "lift"]
            terminal.table(
                f"The strongest of {file}, with 95 % intervals of the noise", names, rows
            )
        else:
            terminal.echo(
                f"{file}: the noise leaves open for each rule whether it is more than chance."
            )


def _measure_with_interval(rule: Mapping[str, Any], measure: str, factor: int = 1) -> str:
    """A measure and its interval: 3.1 (2.8 to 3.4)."""
    middle, low, high = (rule[f"{measure}{end}"] for end in ("", "_low", "_high"))
    shown = ["" if each is None else f"{factor * each:.3g}" for each in (middle, low, high)]
    ends = f"{shown[1]} to {shown[2]}" if high is not None else f"{shown[1]} or more"
    return f"{shown[0]} ({ends})".lstrip()
