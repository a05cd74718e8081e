"""zealous audit: an attempt to break the program."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import click

from zealous.audit.audit import Audit, Measurement
from zealous.audit.audit import audit as run
from zealous.cli import terminal
from zealous.cli.help import JSON
from zealous.cli.option_values import count_option
from zealous.privacy.guarantee import format_bound
from zealous.release.build import build_hash
from zealous.version import VERSION

_HELP = """Test the guarantees by attacking the program on artificial logs.

Publishes pairs of neighbouring logs many times through the real pipeline, looks for anything that
tells them apart better than the guarantee allows, and compares everything else in whole releases.
Needs no log. Prints for each pair what is claimed, what the runs prove (a correct program stays
below its claim) and what would have been detected with 95 % probability. Exit code 1 if a violation
is found; a correct program fails at most one audit in 10,000,000.

\b
Examples:
  zealous audit
  zealous audit --trials 1000000
  zealous audit --json > audit.json
"""


@click.command(help=_HELP)
@count_option("--trials", least=100, default=20_000, description="How often each log is published.")
@JSON
def audit(trials: int, as_json: bool) -> None:
    """Test the guarantees by attacking the program."""
    with terminal.reporting_progress() as say:
        found = run(trials, say=say)
    if as_json:
        terminal.as_json(_audit_as_json(found))
    else:
        _print_audit(found)
    if not found.passed:
        click.get_current_context().exit(1)


def _print_audit(found: Audit) -> None:
    for setting, each in groupby(found.measurements, key=lambda each: each.setting):
        terminal.table(
            setting,
            [
                "neighbouring logs",
                "epsilon",
                "proven",
                "seen from",
                "delta",
                "proven",
                "seen from",
                "",
            ],
            [_measurement_row(measurement) for measurement in each],
        )
    terminal.table(
        "Whole releases and plans",
        ["must hold", ""],
        [(c.name, _verdict(c.passed)) for c in found.checks],
    )
    _print_power(found)
    failures = found.failures()
    for failure in failures:
        terminal.echo(f"VIOLATION: {failure}")
    terminal.echo("FAILED" if failures else "passed: no violation found")
    if not failures and found.power():
        terminal.echo(f'For publisher.toml:\n  audit = "{_in_one_line(found)}"')


def _in_one_line(found: Audit) -> str:
    """What a release can state of the audit of the build that made it."""
    return (
        f"zealous {VERSION}, build {build_hash()[:12]}: {len(found.measurements)} pairs of logs, "
        f"each published {found.trials:,} times, no violation, {datetime.now(UTC):%Y-%m-%d}"
    )


def _print_power(found: Audit) -> None:
    """What the best and the worst pair of each guarantee would have seen: no pair sees for all."""
    if not found.power():
        terminal.echo(f"{found.trials:,} runs on each log: too few to see any violation.")
        return
    terminal.echo(f"{found.trials:,} runs on each log. Seen with 95 % probability:")
    for guarantee, (best, worst) in found.power().items():
        for pair, how in ((best, "best"), (worst, "worst")):
            terminal.echo(
                f"  {guarantee}, {how} pair: an epsilon {pair.power:.1%} too large "
                f"({pair.setting}: {pair.pair})"
            )


def _measurement_row(each: Measurement) -> tuple[str, ...]:
    return (
        each.pair,
        f"{float(format_bound(each.claim.epsilon, 6)):g}",
        _format_number(each.epsilon),
        _format_number(each.detectable_epsilon),
        f"{float(format_bound(each.claim.delta, 4)):g}",
        _format_number(each.delta),
        _format_number(each.detectable_delta),
        _verdict(each.passed),
    )


def _format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _verdict(passed: bool) -> str:
    return "ok" if passed else "VIOLATION"


def _audit_as_json(found: Audit) -> dict[str, Any]:
    return {
        "passed": found.passed,
        "trials": found.trials,
        "false_alarms": found.false_alarms,
        "power": {
            guarantee: {
                how: {"excess": pair.power, "setting": pair.setting, "pair": pair.pair}
                for how, pair in (("best", best), ("worst", worst))
            }
            for guarantee, (best, worst) in found.power().items()
        },
        "violations": found.failures(),
        "pairs": [
            {
                "setting": each.setting,
                "pair": each.pair,
                "passed": each.passed,
                "epsilon": {
                    "claimed": each.claim.epsilon,
                    "proven": each.epsilon,
                    "seen_from": each.detectable_epsilon,
                },
                "delta": {
                    "claimed": each.claim.delta,
                    "proven": each.delta,
                    "seen_from": each.detectable_delta,
                },
            }
            for each in found.measurements
        ],
        "checks": [{"name": each.name, "passed": each.passed} for each in found.checks],
    }
