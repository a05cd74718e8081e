"""What a command cannot do without: all that is missing is named at once, with a command to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from zealous.cli.options import Given
from zealous.cli.options.goal import epsilon_from, stated_delta
from zealous.cli.options.log import log_from, stated_from
from zealous.errors import UsageError, ZealousError
from zealous.files.passwords import without_password
from zealous.items import Kind, default_items_per_user
from zealous.logs.column_names import ROLES, is_known
from zealous.owner.draft import Draft, default_delta
from zealous.owner.start import (
    USERS,
    FoundLog,
    command_line,
    default_offer,
    look_at_log,
    new_output_name,
    reading_options,
    with_values,
)
from zealous.privacy.guarantee import DEFINITIONS, exact_fraction, format_number
from zealous.privacy.levels import LEVELS

_EXAMPLE = "moderate"
_WHY = {
    "--items": "what to publish, or an approved --plan",
    "--epsilon": f"or --privacy {'|'.join(LEVELS)}: how much to protect",
    "--delta": "what epsilon does not cover",
    "--users": "a public bound on the people, known without counting the log",
    "--items-per-user": "how many items of one user may count",
    "--user": "which column is the person",
}


def check_complete(items: str | None, given: Given) -> None:
    """Refuse options that make no plan yet.

    Args:
        items: What --items says.
        given: All other options; with `paths` where there is a log, whose items must be named.

    Raises:
        UsageError: Something is missing. It says what, and proposes a complete command; an epsilon
            is proposed there, and never taken without being asked for.
    """
    missing = list(_missing(items, given))
    if not missing or (missing == ["--users"] and "paths" not in given):
        return  # alone, the guarantee itself asks for it
    for name in filter(None, (items or "").split(",")):
        default_items_per_user(name.strip())  # one that is misspelt is not proposed again
    proposed = _proposed_options(items, given, missing)
    if "--user" in proposed and given["user"] is None:
        missing.append("--user")
    why = "\n".join(f"  {option:<16}  {_WHY[option]}" for option in missing)
    context = click.get_current_context()
    typed = _given_arguments(context)
    named = {word.partition("=")[0] for word in typed}
    more = with_values([word for pair in proposed.items() if pair[0] not in named for word in pair])
    name = context.command_path.partition(" ")[2]
    command = command_line(["zealous", *name.split(), *typed, *more], 76)
    start = "zealous start LOG leads through all of it. " if "paths" in given else ""
    raise UsageError(f"missing:\n{why}\n{start}For example:\n  " + command.replace("\n", "\n  "))


def _missing(items: str | None, given: Given) -> Iterator[str]:
    if items is None and "paths" in given:
        yield "--items"
    if epsilon_from(given) is None:
        yield "--epsilon"
    delta = stated_delta(given)
    if delta is None:
        yield "--delta"
    if (
        given["users"] is None
        and DEFINITIONS[given["guarantee"]].needs_users
        and (delta is None or exact_fraction(delta, "delta"))
    ):
        yield "--users"
    if items is None and "paths" not in given and given["items_per_user"] is None:
        yield "--items-per-user"


def _proposed_options(items: str | None, given: Given, missing: Sequence[str]) -> dict[str, str]:
    """Options that complete a command, and their values."""
    users = given["users"] or USERS
    values = {
        "--epsilon": ("--privacy", _EXAMPLE),
        "--delta": ("--delta", format_number(default_delta(given["guarantee"], users))),
        "--users": ("--users", str(users)),
        "--items-per-user": ("--items-per-user", str(Kind.default_items_per_user)),
        "--items": ("--items", "queries"),
    }
    said = dict(values[option] for option in missing)
    if "paths" in given:
        with suppress(UsageError):  # where there is no such log, that is what is wrong
            log_from(given)
        found = None
        with suppress(ZealousError):  # one that is not a file cannot be looked at
            found = look_at_log(given["paths"], stated_from(given))
        if found is not None:
            found = _with_roles(given)  # a column that is not there is what is wrong
            with suppress(ZealousError):
                said |= _of_log(items, given, found)
    return said


def _with_roles(given: Given) -> FoundLog:
    return look_at_log(given["paths"], stated_from(given), {role: given[role] for role in ROLES})


def _of_log(items: str | None, given: Given, found: FoundLog) -> dict[str, str]:
    """How to read the log, and items that its columns allow."""
    if not found.format.certain_names:  # no message quotes what may be data, unless it was typed
        typed = {given[role] for role in ROLES}
        quotable = [each for each in found.guesses if is_known(each.column) or each.column in typed]
        found = replace(found, guesses=tuple(quotable))
    offer = default_offer(found)
    names = items.split(",") if items else [offer.items] if offer else []
    draft = Draft(
        goal=DEFINITIONS[given["guarantee"]](
            epsilon=1, delta=0, users=given["users"] or USERS, unit=given["unit"]
        ),
        items={name.strip(): default_items_per_user(name.strip()) for name in names},
        basket=given["basket"],
    )
    said = _pairs(offer.options()) if offer else {"--items": "columns:COLUMN"}
    said = {} if items else said
    return said | _reading(found, draft, given) | {"-o": new_output_name(found, Path.cwd())}


def _reading(found: FoundLog, draft: Draft, given: Given) -> dict[str, str]:
    said = _pairs(reading_options(found, draft, given["time_format"]))
    return said if found.column("user") else {**said, "--user": "COLUMN"}


def _pairs(words: Sequence[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def _given_arguments(context: click.Context) -> list[str]:
    """The arguments of a command as they were given, but for passwords."""
    words: list[str] = []
    for each in context.command.params:
        if context.get_parameter_source(each.name or "") is not ParameterSource.COMMANDLINE:
            continue
        value = context.params.get(each.name or "")
        values = value if isinstance(value, tuple) else (value,)
        if isinstance(each, click.Option):
            option = "-o" if "-o" in each.opts else each.opts[-1]
            for one in values:
                words += [option] if each.is_flag else with_values([option, str(one)])
        else:
            words = [*(without_password(str(one)) for one in values), *words]
    return words
