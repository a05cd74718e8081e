"""zealous ledger: what has been spent on the same people, and what is left."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from zealous.cli import balance
from zealous.cli import show as say
from zealous.cli.help import JSON
from zealous.cli.values import PLACE
from zealous.errors import LedgerError, UsageError
from zealous.files.places import Place
from zealous.ledger import Cap, Caps, Ledger, existing_ledger, ledger_path, verify
from zealous.ledger.location import ensure_folder
from zealous.privacy.guarantee import exact_fraction
from zealous.privacy.period import Period

_HELP = """Keep account of what has been spent on the same people.

Every `zealous publish` charges a ledger: the file zealous-ledger.sqlite in the log's folder or the
nearest one above. PLACE is a ledger, or a log or folder whose ledger is meant.

\b
Example:
  zealous ledger init logs --dataset shop --cap-epsilon 8 --cap-delta 0.001
  zealous ledger show logs
"""

_INIT = """Name the people a ledger is about, and set or change the caps.

Makes the ledger if there is none. Changes are recorded, with who made them. There is no default
cap; `none` removes one.

\b
Example:
  zealous ledger init logs --dataset shop --cap-epsilon 8 --cap-delta 0.001
  zealous ledger init logs --period-cap-epsilon 2 --signed-by "R. Ito, privacy officer"
"""

_SHOW = """Show what was published, what one person has lost, and what is left.

Two accounts: what one person has lost about her entries of one period, and over all releases.

\b
Example:
  zealous ledger show logs
  zealous ledger show logs --period 2026-Q1
"""

_REPORT = """Reconstruct what was known at the end of a day (UTC).

\b
Example:
  zealous ledger report logs --as-of 2026-03-31
"""

_VERIFY = """Check that nothing in a ledger was changed, removed or made up.

With releases it also finds a ledger that was written anew or cut: each release carries the hash of
its entry. Exits with 1 if something is wrong.

\b
Example:
  zealous ledger verify logs
  zealous ledger verify logs --releases published/*
"""

_VOID = """State that nobody saw an output, so that its charge no longer counts.

For runs that crashed. Nobody includes you: an output that was looked at, even only to see whether
it is any good, has been seen. The statement is recorded with its author and cannot be taken back.

\b
Example:
  zealous ledger void logs 7 --signed-by "R. Ito" --reason "power cut, nothing written" \\
      --nobody-saw-it
"""

_PLACE = click.argument("where", metavar="PLACE", type=PLACE)
_PERIOD = click.option(
    "--period", metavar="P", help="The account of this period: 2026-03, 2026-Q1."
)
_CAPS = ("cap_epsilon", "cap_delta", "period_cap_epsilon", "period_cap_delta")


@click.group(help=_HELP)
def ledger() -> None:
    """Keep account of what has been spent on the same people."""


@ledger.command(help=_INIT)
@_PLACE
@click.option("--dataset", metavar="NAME", help="Which people: a name, given once.")
@click.option("--cap-epsilon", metavar="E", help="The most one person may lose over all releases.")
@click.option("--cap-delta", metavar="D")
@click.option("--period-cap-epsilon", metavar="E", help="The most one person may lose in a period.")
@click.option("--period-cap-delta", metavar="D")
@click.option(
    "--unit",
    type=click.Choice(["user", "user-day", "session"]),
    help="Whose loss is counted.  [default: user, once there is a cap]",
)
@click.option(
    "--neighbors",
    type=click.Choice(["replace", "add-remove"]),
    help="Which neighbours; those of the first release if left out.",
)
@click.option(
    "--signed-by", "by", metavar="WHO", help="Who decides this.  [default: the login's name]"
)
def init(where: Place, **given: Any) -> None:
    """Name the people a ledger is about, and set or change the caps."""
    caps = {name: _cap_value(given[name], name) for name in _CAPS if given[name] is not None}
    by, fixed = given["by"], {name: given[name] for name in ("unit", "neighbors")}
    path = _named_ledger(where) or ensure_folder(ledger_path([_check_exists(where)]))
    found = Ledger.open(path, create=True, dataset=given["dataset"], by=by, **fixed)
    book = found.book()
    wanted = fixed["neighbors"]
    if wanted is not None and wanted != book.opened["neighbors"]:
        raise UsageError(f"--neighbors is fixed when a ledger is made: {path} exists already")
    if given["dataset"] is not None:
        found.name_dataset(given["dataset"], by=by)
    changed = bool(caps) or fixed["unit"] not in (None, book.unit)
    if changed:
        found.set_caps(_merge_caps(book.caps, caps), unit=fixed["unit"], by=by)
    say.note(f"{'made' if found.created else 'changed' if changed else 'unchanged'}: {path}")
    balance.print_ledger(found.path, found.book())


@ledger.command(help=_SHOW)
@_PLACE
@_PERIOD
@JSON
def show(where: Place, period: str | None, as_json: bool) -> None:
    """Show what was published, what one person has lost, and what is left."""
    _print_book(where, None, period, as_json)


@ledger.command(help=_REPORT)
@_PLACE
@click.option("--as-of", metavar="DATE", required=True, help="2026-03-31, or a time in UTC.")
@_PERIOD
@JSON
def report(where: Place, as_of: str, period: str | None, as_json: bool) -> None:
    """Reconstruct what was known at the end of a day (UTC)."""
    try:
        when = date.fromisoformat(as_of) if len(as_of) <= 10 else datetime.fromisoformat(as_of)
    except ValueError:
        raise UsageError("--as-of takes a day such as 2026-03-31") from None
    if isinstance(when, datetime) and when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    _print_book(where, when, period, as_json)


@ledger.command("verify", help=_VERIFY)
@_PLACE
@click.option(
    "--releases",
    multiple=True,
    type=PLACE,
    metavar="DIR...",
    help="Releases, or folders of releases, that were charged to it.",
)
@click.argument("more", nargs=-1, type=PLACE, metavar="")
@JSON
def verify_(
    where: Place, releases: tuple[Place, ...], more: tuple[Place, ...], as_json: bool
) -> int:
    """Check that nothing in a ledger was changed, removed or made up."""
    if more and not releases:
        raise UsageError("verify takes one PLACE; releases come after --releases")
    path = _find_ledger(where)
    problems = verify(path, [*releases, *more])
    if as_json:
        say.as_json({"ledger": str(path), "problems": problems})
    elif problems:
        click.echo("\n".join([f"{path}: {len(problems)} wrong", *(f"  {p}" for p in problems)]))
    else:
        last = Ledger.open(path).book().last
        assert last is not None  # noqa: S101
        checked = len(releases) + len(more)
        click.echo(
            f"{path}: all {last.seq} events hold together"
            + (", and the releases agree with them" if checked else "")
            + f".\nThe last one's hash is {last.hash}"
        )
        if not checked:
            say.note("A ledger that was written anew is found only with --releases.")
    return 1 if problems else 0


@ledger.command(help=_VOID)
@_PLACE
@click.argument("entry", type=int)
@click.option("--signed-by", "by", metavar="WHO", required=True, help="Who states it.")
@click.option("--reason", metavar="TEXT", required=True)
@click.option("--nobody-saw-it", is_flag=True, help="The statement itself.")
def void(where: Place, entry: int, by: str, reason: str, nobody_saw_it: bool) -> None:
    """State that nobody saw an output, so that its charge no longer counts."""
    if not nobody_saw_it:
        raise UsageError("an entry is voided only if nobody saw its output: say --nobody-saw-it")
    found = Ledger.open(_find_ledger(where))
    found.void(entry, by=by, reason=reason)
    balance.print_ledger(found.path, found.book())


def _check_exists(where: Place) -> Place:
    local = where.local()
    if local is not None and not local.exists():
        raise LedgerError(f"there is nothing at {where}: name a ledger, a log or a folder")
    return where


def _is_ledger(where: Path) -> bool:
    """By its contents: a log could have any name."""
    try:
        with where.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _named_ledger(where: Place) -> Path | None:
    """The ledger itself, if it is what was named."""
    local = where.local()
    if local is not None and (_is_ledger(local) or local.suffix == ".sqlite"):
        return local
    return None


def _find_ledger(where: Place) -> Path:
    found = _named_ledger(where) or existing_ledger([_check_exists(where)])
    if found is None:
        raise LedgerError(f"{where} has no ledger: make one with `zealous ledger init {where}`")
    return found


def _cap_value(text: str, name: str) -> Fraction | None:
    return None if text == "none" else exact_fraction(text, f"--{name.replace('_', '-')}")


def _merge_caps(old: Caps, new: dict[str, Fraction | None]) -> Caps:
    return Caps(
        all=Cap(
            epsilon=new.get("cap_epsilon", old.all.epsilon),
            delta=new.get("cap_delta", old.all.delta),
        ),
        period=Cap(
            epsilon=new.get("period_cap_epsilon", old.period.epsilon),
            delta=new.get("period_cap_delta", old.period.delta),
        ),
    )


def _print_book(where: Place, as_of: date | None, period: str | None, as_json: bool) -> None:
    within = Period.parse(period) if period else None
    found = Ledger.open(_find_ledger(where))
    book = found.book(as_of)
    if as_json:
        as_of_said = {"as_of": str(as_of)} if as_of else {}
        say.as_json({**as_of_said, **balance.ledger_as_json(found.path, book, within)})
        return
    if as_of is not None:
        click.echo(f"What was known at {as_of} (UTC).\n")
    balance.print_ledger(found.path, book, within)
