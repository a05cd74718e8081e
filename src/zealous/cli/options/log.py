"""Where the log is and how to read it."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.help import options_of
from zealous.cli.option_values import pairs, whole_number
from zealous.cli.options import Given
from zealous.cli.options.machine import engine_from
from zealous.errors import UsageError
from zealous.files.limits import Limits
from zealous.logs.column_names import ROLES, columns_called
from zealous.logs.log import FORMATS, Cleaning, Columns, Log, format_named, read_log
from zealous.owner.file_format import StatedFormat
from zealous.planning.log_binding import LogBinding
from zealous.planning.plan import Plan

_option = options_of("The log")

_SEARCHES = (
    _option(
        "--format",
        "preset",
        metavar="F",
        help=f"{', '.join(FORMATS)}; from the file's ending if left out.",
    ),
    _option("--user", metavar="COLUMN", help="The column with the user's id."),
    _option("--query", metavar="COLUMN", help="The column with the query."),
    _option("--time", metavar="COLUMN", help="The column with the time."),
)
_MORE_COLUMNS = (
    _option("--url", metavar="COLUMN", help="The column with the clicked URL, or a list."),
    _option("--session", metavar="COLUMN", help="The column with the session's id."),
    _option("--keywords", metavar="COLUMN", help="A column with lists of keywords."),
)
CLEANING = (
    _option(
        "--exclude-users",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Ids to leave out, one per line: deletion requests, minors, staff.",
    ),
    _option(
        "--max-entries-per-user",
        type=int,
        metavar="N",
        help="Leave out users with more entries than this (robots).",
    ),
    _option(
        "--limits",
        metavar="NAME=N,..",
        help="The most that is read of one person: text=4096 (bytes of a text), entries=10000 "
        "and words=256 (of a query, or elements of a list).",
    ),
)
_READING = (
    _option(
        "--columns",
        "names",
        metavar="A,B,..",
        help="The columns in order, for files without a header.",
    ),
    _option("--delimiter", help="The delimiter, if it is not the default of the format."),
    _option("--encoding", help="The encoding, if it is not UTF-8: latin-1, gb18030, ..."),
    _option(
        "--time-format", metavar="F", help="epoch, epoch-ms or a pattern such as %d/%m/%Y %H:%M."
    ),
)

SQL = (
    _option(
        "--sql",
        metavar="QUERY",
        help="A query on one table or view, if LOG is a database; see docs/guide/logs.md.",
    ),
)

NAMED_COLUMNS = (*_SEARCHES, *_MORE_COLUMNS)
READING = (*_SEARCHES, *_MORE_COLUMNS, *_READING, *SQL, *CLEANING)  # of a log named by an option
LOG = (click.argument("paths", nargs=-1, required=True, metavar="LOG..."), *READING)
SEARCHES = (  # users, times and queries alone, of a log that need not be given
    click.argument("paths", nargs=-1, metavar="[LOG...]"),
    *_SEARCHES,
    *_READING,
    *CLEANING,
)
_ROLES = ("user", "query", "time", "url", "session", "keywords")


def log_from(given: Given, planned: Plan | None = None) -> Log:
    """The log that LOG options describe; what they leave open is as a plan has it."""
    binding = planned.log if planned else None
    planned_sql = binding.sql if binding else None
    log = read_log(
        given["paths"],
        given["preset"],
        sql=given.get("sql") or planned_sql,
        columns=_said_columns(given, binding.columns if binding else None),
        names=_names(given),
        delimiter=_delimiter(given),
        encoding=given["encoding"],
        time_format=given["time_format"],
        cleaning=cleaning_from(given, binding),
        engine=engine_from(given) if "engine" in given else None,
    )
    if log.left_out:
        terminal.note(f"zealous: not read, because of their names: {log.files_left_out()}")
    if binding is not None:
        return log.without_recognised(binding.columns.assigned())
    _tell_recognised(log)
    return log


def _tell_recognised(log: Log) -> None:
    """Say which columns were taken for what, and which of them nobody but the owner can tell."""
    roles = log.columns.assigned()
    taken = [f"{roles[each]} as the {each}" for each in roles if each in log.recognised]
    if taken:
        terminal.note(
            f"zealous: columns recognised by name: {', '.join(taken)} (--user, --time, ... choose "
            "others)"
        )
    for role in ROLES:
        several = columns_called(role, log.quotable_names()) if role not in roles else []
        if len(several) > 1:
            which = " or ".join(several)
            terminal.note(
                f"zealous: the {role} may be {which}: none is used unless --{role} names it"
            )


def cleaning_from(given: Given, binding: LogBinding | None = None) -> Cleaning:
    """Who is left out, and how much is read of anybody else, as CLEANING options say."""
    most, limits = given["max_entries_per_user"], given["limits"]
    if binding is not None and most is None:
        most = binding.max_entries_per_user
    return Cleaning(
        exclude_users=given["exclude_users"],
        max_entries_per_user=most,
        limits=binding.limits if binding is not None and limits is None else _limits(limits),
    )


def columns_for(planned: Plan, given: Given) -> Columns:
    """The columns that a plan needs, for a log that nobody has looked at.

    They are those that NAMED_COLUMNS options name, the time that each log of the format has, and
    where that is not enough the other columns of the format.
    """
    chosen = format_named(given["preset"] or "parquet")
    usual = chosen.columns.assigned()
    always = chosen.layout.names if chosen.layout else ()
    roles = {each: usual[each] for each in ("user", "time") if usual.get(each) in always}
    roles = {"user": usual["user"], **roles, **_said_columns(given).assigned()}
    for role, name in usual.items():
        try:
            planned.check_possible(roles)
            break
        except UsageError:
            roles = {role: name, **roles}
    return Columns(**roles)


def _said_columns(given: Given, planned: Columns | None = None) -> Columns:
    usual = planned.assigned() if planned else {}
    return Columns(**{role: given.get(role) or usual.get(role) for role in _ROLES})


def stated_from(given: Given) -> StatedFormat:
    """What LOG options say of the format of a log."""
    return StatedFormat(
        format=given["preset"],
        delimiter=_delimiter(given),
        encoding=given["encoding"],
        columns=tuple(_names(given)),
        header=given.get("header"),
    )


def _delimiter(given: Given) -> str | None:
    delimiter: str | None = given["delimiter"]
    return {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter)


def _names(given: Given) -> list[str]:
    return [name.strip() for name in given["names"].split(",")] if given["names"] else []


def _limits(text: str | None) -> Limits:
    found = pairs(text, "--limits") if text else {}
    return Limits.from_options(
        {name: whole_number(n, f"--limits {name}") for name, n in found.items()}
    )
