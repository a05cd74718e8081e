"""zealous study attack: what an attacker gets from each method, on your log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zealous.cli import terminal
from zealous.cli.help import JSON, command, options
from zealous.cli.one_machine import ONE_MACHINE
from zealous.cli.option_values import count_option, path_option
from zealous.cli.options.log import SEARCHES, log_from
from zealous.cli.options.machine import ENGINE, embedded_from
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.files.folder import check_new, new_folder
from zealous.files.scratch import working_directory
from zealous.logs.log import is_synthetic
from zealous.privacy.levels import percent
from zealous.study.anonymity import METHODS
from zealous.study.attacks import AttackSettings, as_object, run_attacks
from zealous.study.extra import check_installed
from zealous.study.report.attack_figure import draw_attacks
from zealous.study.report.style import format_percent, render_svg
from zealous.synthetic import generate

_HELP = """Show what an attacker learns from each anonymity method and from ZEALOUS on a log.

Without LOG, a synthetic log is generated, in which it is known which queries are personal. The
methods run on the log, and on copies into which the attacker has planted entries. Sessions are
separated by pauses, even if the log has session ids. The output has success rates, counts and the
number of users. On your own log it is internal and not for publication.

\b
  seen        Is a rare query of one person, or its rare word, in the output?
  active      How often does an attacker with fake accounts decide correctly
              whether a person asked something? Guessing is right in 50 %.
  picked out  How many people are identified by 1 to 5 known queries?
  personal    Which names, addresses and numbers can still be read?
              (synthetic logs)
  read back   Which tokens can be turned back into words with the help of
              another log?

\b
Examples:
  zealous study attack
  zealous study attack log.parquet -k 10 --epsilon 1 --delta 0.001 -o attacks
  zealous study attack log.parquet --methods k-query,pseudonym --json
"""


@command(help=_HELP)
@click.option(
    "-k",
    type=int,
    default=10,
    show_default=True,
    metavar="K",
    help="The k of the methods that have one.",
)
@click.option(
    "--methods",
    default=",".join(METHODS),
    metavar="NAME,..",
    help="Methods to attack; ZEALOUS is always included. [default: all]",
)
@click.option("--epsilon", default="1", show_default=True, metavar="E", help="Epsilon of ZEALOUS.")
@click.option("--delta", default="0.001", show_default=True, metavar="D", help="Delta of ZEALOUS.")
@click.option(
    "--items-per-user", type=int, default=1, show_default=True, metavar="M", help="m of ZEALOUS."
)
@count_option(
    "--victims",
    least=10,
    default=300,
    description="Number of people that the active attack targets.",
)
@count_option(
    "--users", least=1000, default=20_000, description="Users of the synthetic log.", metavar="U"
)
@click.option(
    "--seed",
    type=int,
    default=7,
    show_default=True,
    metavar="S",
    help="Seed of the synthetic log and of the choice of people; the noise is always new.",
)
@path_option(
    "--reference",
    metavar="FILE",
    help="A log of the same format for reading tokens back. [default: half of the users]",
)
@path_option(
    "-o", "--output", metavar="DIR", help="Where to write attacks.json and the figure attacks.svg."
)
@options(SEARCHES, ENGINE, ONE_MACHINE)
@JSON
@click.pass_context
def attack(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    methods: str,
    users: int,
    reference: Path | None,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show what an attacker learns from each anonymity method and from ZEALOUS."""
    names = [name.strip() for name in methods.split(",") if name.strip()]
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        raise UsageError(f"--methods takes {', '.join(METHODS)}")
    if output is not None:
        check_installed()
        check_new(output)
    asked = ("k", "epsilon", "delta", "items_per_user", "victims", "seed")
    settings = AttackSettings(**{name: given[name] for name in asked})
    engine = embedded_from(given)
    with ExitStack() as stack:
        if paths and context.get_parameter_source("users") is not ParameterSource.DEFAULT:
            terminal.note("zealous: --users only affects the synthetic log and is ignored here")
        given["paths"] = paths or [_synthetic(stack, users, given["seed"], engine)]
        log = log_from(given)
        other = log_from({**given, "paths": [reference]}) if reference else None
        done = run_attacks(
            log,
            settings,
            methods=names,
            reference=other,
            synthetic=all(map(is_synthetic, log.paths)),
            engine=engine,
            say=stack.enter_context(terminal.reporting_progress()),
        )
    found = as_object(done)
    if output is not None:
        _write(found, output)
    if as_json:
        terminal.as_json(found)
    else:
        _print(found)
        if output is not None:
            terminal.echo(f"Written to {output}: attacks.json, and the figure attacks.svg")


def _synthetic(stack: ExitStack, users: int, seed: int, engine: DuckDB) -> Path:
    """Generate a log that is deleted when the attacks are done."""
    path = stack.enter_context(working_directory(engine.temporary)) / "log.parquet"
    terminal.note(f"zealous: no LOG given: generating a synthetic one of {users:,} users")
    generate(path, users=users, seed=seed)
    return path


def _write(found: Mapping[str, Any], output: Path) -> None:
    with new_folder(output, "result", mode=0o700) as partial:
        text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
        (partial / "attacks.json").write_text(text, encoding="utf-8")
        (partial / "attacks.svg").write_text(
            render_svg(lambda: draw_attacks(found)), encoding="utf-8"
        )


def _print(found: Mapping[str, Any]) -> None:
    if not found["synthetic"]:
        terminal.echo("INTERNAL: true figures of the log, not for publication.\n")
    rows = found["methods"]
    terminal.table(
        "What an attacker learns, by method and attack (--help explains the attacks)",
        ["method", "seen: query", "seen: word", "active", "picked out", "personal", "read back"],
        [(row["method"], *map(format_percent, row["summary"].values())) for row in rows],
    )
    terminal.table(
        "Active attack: did she ask it? Guessing is right in 50 %",
        [
            "method",
            "accounts",
            "right",
            "of",
            "95 % interval",
            "limit by epsilon",
            "attacker knows",
        ],
        [
            (
                row["method"],
                each["accounts"],
                format_percent(each["share"]),
                each["trials"],
                f"{format_percent(each['low'])} to {format_percent(each['high'])}",
                "–" if each["bound"] is None else percent(each["bound"]),
                each["knows"],
            )
            for row in rows
            for each in row["active"]
        ],
    )
    picked = [row for row in rows if row["picked_out"]]
    if picked:
        most = len(picked[0]["picked_out"])
        terminal.table(
            "People picked out by known queries",
            ["method", *(f"{p} known, people" for p in range(1, most + 1))],
            [
                (
                    row["method"],
                    *(f"{format_percent(p['share'])}, {p['trials']:,}" for p in row["picked_out"]),
                )
                for row in picked
            ],
        )
    _print_personal([row for row in rows if row["personal"]])
    for row in rows:
        _print_read_back(row)


def _print_personal(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    shares = [[format_percent(each["share"]) for each in row["personal"]] for row in rows]
    kinds = [each["kind"] for each in rows[0]["personal"]]
    terminal.table(
        "Personal queries still readable, by method",
        ["kind", *(row["method"] for row in rows)],
        list(zip(kinds, *shares, strict=True)),
    )


def _print_read_back(row: Mapping[str, Any]) -> None:
    if row["aligned"]:
        terminal.table(
            "Tokens read back with another log",
            ["how", "of the most frequent", "tokens", "share", "of their occurrences"],
            [
                (
                    a["how"],
                    a["top"] or "all",
                    a["trials"],
                    format_percent(a["share"]),
                    format_percent(a["weighted"]),
                )
                for a in row["aligned"]
            ],
        )
