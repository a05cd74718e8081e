"""Where the log is and how to read it."""

from __future__ import annotations

from pathlib import Path

import click

from zealous.cli.help import options_of
from zealous.cli.options import Given
from zealous.cli.options.machine import engine_from
from zealous.cli.values import pairs, whole_number
from zealous.files.limits import Limits
from zealous.logs.log import FORMATS, Cleaning, Columns, Log, read_log
from zealous.owner.file_format import StatedFormat

_option = options_of("The log")

_SEARCHES = (
    _option("--format", "preset", metavar="F",
            help=f"{', '.join(FORMATS)}; from the file's ending if left out."),
    _option("--user", metavar="COLUMN", help="The column with the user's id."),
    _option("--query", metavar="COLUMN", help="The column with the query."),
    _option("--time", metavar="COLUMN", help="The column with the time."),
)  # fmt: skip
_MORE_COLUMNS = (
    _option("--url", metavar="COLUMN", help="The column with the clicked URL, or a list."),
    _option("--session", metavar="COLUMN", help="The column with the session's id."),
    _option("--keywords", metavar="COLUMN", help="A column with lists of keywords."),
)
_READING = (
    _option("--columns", "names", metavar="A,B,..",
            help="The columns in order, for files without a header."),
    _option("--delimiter", help="Between fields, where it is not the format's."),
    _option("--encoding", help="Where it is not UTF-8: latin-1, gb18030, shift_jis, ..."),
    _option("--time-format", metavar="F",
            help="epoch, epoch-ms or a pattern such as %d/%m/%Y %H:%M."),
    _option("--exclude-users", type=click.Path(path_type=Path), metavar="FILE",
            help="Ids to leave out, one a line: deletion requests, minors, staff."),
    _option("--max-entries-per-user", type=int, metavar="N",
            help="Leave out users with more entries than this (robots)."),
    _option("--limits", metavar="NAME=N,..",
            help="How much one person can bring: text=4096 (bytes) and entries=10000."),
)  # fmt: skip

NAMED_COLUMNS = (*_SEARCHES, *_MORE_COLUMNS[:2])
READING = (*_SEARCHES, *_MORE_COLUMNS, *_READING)  # of a log that is named by an option
LOG = (click.argument("paths", nargs=-1, required=True, metavar="LOG..."), *READING)
SEARCHES = (  # users, times and queries alone, of a log that need not be given
    click.argument("paths", nargs=-1, metavar="[LOG...]"),
    *_SEARCHES,
    *_READING,
)


def log_from(given: Given) -> Log:
    """The log that LOG options describe."""
    roles = ("user", "query", "time", "url", "session", "keywords")
    return read_log(
        given["paths"],
        given["preset"],
        columns=Columns(**{role: given.get(role) for role in roles}),
        names=_names(given),
        delimiter=_delimiter(given),
        encoding=given["encoding"],
        time_format=given["time_format"],
        cleaning=Cleaning(
            exclude_users=given["exclude_users"],
            max_entries_per_user=given["max_entries_per_user"],
            limits=_limits(given["limits"]),
        ),
        engine=engine_from(given) if "engine" in given else None,
    )


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
