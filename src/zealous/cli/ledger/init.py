"""zealous ledger init: name the people, set the caps."""

from __future__ import annotations

import shlex
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from zealous.cli import balance, terminal
from zealous.cli.ledger.place import PLACE_ARGUMENT, SIGNING_KEY
from zealous.cli.option_values import path_option
from zealous.cli.options import Given
from zealous.errors import Refused, UsageError
from zealous.files.places import Place
from zealous.ledger import FILE_NAME, Cap, Caps, Ledger, ledger_path
from zealous.ledger.budgets import Compose
from zealous.ledger.location import check_exists, ensure_folder, is_above, named_ledger
from zealous.privacy.guarantee import exact_fraction
from zealous.privacy.units import PRIVACY_UNITS

_HELP = """Name the people a ledger is about, and set or change its caps.

Makes the ledger if there is none. Changes are recorded, with who made them and why: see `zealous
ledger events`. There is no default cap; `none` removes one.

\b
Example:
  zealous ledger init logs --dataset shop --cap-epsilon 12 --cap-delta 0.01
  zealous ledger init logs --period-cap-epsilon 2 \\
      --signed-by "R. Ito, privacy officer" \\
      --reason "monthly releases from 2027 on"
"""

_CAPS = ("cap_epsilon", "cap_delta", "period_cap_epsilon", "period_cap_delta")


@click.command(help=_HELP)
@PLACE_ARGUMENT
@click.option(
    "--dataset", metavar="NAME", help="A name for the people of the log. It cannot be changed."
)
@click.option("--cap-epsilon", metavar="E", help="The largest epsilon over all releases.")
@click.option("--cap-delta", metavar="D", help="The largest delta over all releases.")
@click.option("--period-cap-epsilon", metavar="E", help="The largest epsilon in a period.")
@click.option("--period-cap-delta", metavar="D", help="The largest delta in a period.")
@click.option(
    "--compose",
    type=click.Choice(["losses", "sums"]),
    help="What caps limit: composed losses (indistinguishability alone), or sums of epsilon and "
    "delta.  [default: what allows more releases like the first]",
)
@click.option(
    "--unit",
    type=click.Choice(list(PRIVACY_UNITS)),
    help="Whose loss is counted.  [default: user, once there is a cap]",
)
@click.option(
    "--neighbors",
    type=click.Choice(["replace", "add-remove"]),
    help="The neighbours that the accounts are about; those of the first release if left out.",
)
@click.option(
    "--signed-by", "by", metavar="WHO", help="Who decides this.  [default: the login's name]"
)
@click.option("--reason", metavar="TEXT", help="Why the caps are changed.")
@path_option(
    "--approvers",
    metavar="FILE",
    help="Who must sign plans, caps and voided charges: an allowed signers file of ssh-keygen.",
)
@SIGNING_KEY
def init(where: Place, **given: Any) -> None:
    """Name the people a ledger is about, and set or change the caps."""
    caps = {name: _cap_value(given[name], name) for name in _CAPS if given[name] is not None}
    path = named_ledger(where) or _ledger_of(where)
    if not path.exists():  # what is refused leaves no ledger behind
        with TemporaryDirectory() as folder:
            _decide(Path(folder) / FILE_NAME, caps, given)
    found, changed = _decide(path, caps, given)
    terminal.note(f"{'made' if found.created else 'changed' if changed else 'unchanged'}: {path}")
    balance.print_ledger(found.path, found.book())


def _decide(path: Path, caps: dict[str, Fraction | None], given: Given) -> tuple[Ledger, bool]:
    """Make or change a ledger; and whether an earlier one is changed."""
    by, fixed = given["by"], {name: given[name] for name in ("unit", "neighbors")}
    found = Ledger.open(path, create=True, dataset=given["dataset"], by=by, **fixed)
    book = found.book()
    wanted = fixed["neighbors"]
    if wanted is not None and wanted != book.opened["neighbors"]:
        raise UsageError(f"--neighbors is fixed when a ledger is made: {path} exists already")
    if given["dataset"] is not None:
        found.name_dataset(given["dataset"], by=by)
    compose = given["compose"]
    changed = (
        bool(caps)
        or fixed["unit"] not in (None, book.unit)
        or compose not in (None, book.caps.compose)
    )
    if changed:
        merged = _merge_caps(book.caps, caps, compose)
        found.set_caps(merged, unit=fixed["unit"], by=by, reason=given["reason"], key=given["key"])
    if given["approvers"] is not None:
        found.set_approvers(_read_approvers(given["approvers"]), by=by, key=given["key"])
        changed = True
    return found, changed


def _ledger_of(where: Place) -> Path:
    """The ledger of a log or folder; one of a folder above, only while nothing is charged to it."""
    path = ensure_folder(ledger_path([check_exists(where)]))
    charged = len(Ledger.open(path).history()) if path.exists() else 0
    if charged and is_above(path, where):
        folder = where.folders()[0]
        raise Refused(
            f"the ledger of {where} is {path}, of a folder above, and {charged} "
            f"release{'s are' if charged > 1 else ' is'} charged to it. To change that one, name "
            f"its file: zealous ledger init {shlex.quote(str(path))} ... For other people make "
            f"one: zealous ledger init {shlex.quote(str(folder / FILE_NAME))} ..."
        )
    return path


def _read_approvers(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UsageError(f"{path} holds no allowed signers: see `man ssh-keygen`") from None


def _cap_value(text: str, name: str) -> Fraction | None:
    if text == "none":
        return None
    option = f"--{name.replace('_', '-')}"
    value = exact_fraction(text, option)
    if name.endswith("delta") and value > 1:
        raise UsageError(f"{option} must be at most 1: it is a probability")
    return value


def _merge_caps(old: Caps, new: dict[str, Fraction | None], compose: Compose | None) -> Caps:
    return Caps(
        compose=compose or old.compose,
        all=Cap(
            epsilon=new.get("cap_epsilon", old.all.epsilon),
            delta=new.get("cap_delta", old.all.delta),
        ),
        period=Cap(
            epsilon=new.get("period_cap_epsilon", old.period.epsilon),
            delta=new.get("period_cap_delta", old.period.delta),
        ),
    )
