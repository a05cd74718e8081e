"""How a log is read: what its first lines show, and what somebody on the plan screen corrects.

Guarantee:
    Of a log's lines nothing is kept or shown but the names of its columns and what their values
    look like, as `zealous start` shows its owner.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from zealous.errors import UsageError, reason
from zealous.logs.column_names import Guess, Role
from zealous.owner.file_format import StatedFormat
from zealous.owner.start import FoundLog, look_at_log, with_values
from zealous.owner.start_text import TAKEN_FOR
from zealous.owner.value_shapes import TIME_PATTERNS

COLUMNS: dict[Role, str] = {
    "user": "The person",
    "item": "A thing to publish",
    "query": "The query",
    "time": "The time",
    "url": "The clicked address",
    "keywords": "Lists of values",
}
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
ENCODINGS = ("utf-8", "cp1252", "latin-1", "gb18030", "shift_jis", "euc_kr", "big5")
_ISO = "iso"  # which needs no option
TIME_FORMATS = (_ISO, *TIME_PATTERNS, "epoch", "epoch-ms")
HEADERS = {"yes": True, "no": False}
_COLUMN, _NO_COLUMN = "=", "-"  # how a form says a column, or that there is none
_LARGEST = 100_000  # bytes
_EXAMPLE = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What somebody says of a file; None where it is to be found out.

    Attributes:
        file: Its name, without its folder.
        delimiter: What stands between fields.
        encoding: Of the text.
        header: Whether the first line names the columns.
        names: Of all columns, where the file names none.
        time_format: How times are written.
    """

    file: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    names: tuple[str, ...] = ()
    time_format: str | None = None

    @classmethod
    def from_fields(cls, asked: Mapping[str, str], log: str) -> Reading:
        """What a form says of a log; nothing where its fields were of another one."""
        file = log.rpartition("/")[2]
        if asked.get("read_of", log) != log:
            return cls(file=file)
        names = tuple(name.strip() for name in asked.get("names", "").split(",") if name.strip())
        header = HEADERS.get(asked.get("header", ""))
        return cls(
            file=file,
            delimiter=asked.get("delimiter") or None,
            encoding=asked.get("encoding") or None,
            header=header,
            names=() if header else names,
            time_format=asked.get("time_format") or None,
        )

    def fields(self) -> dict[str, str]:
        """The same as fields of a form."""
        header = {True: "yes", False: "no", None: ""}[self.header]
        said = {"delimiter": self.delimiter, "encoding": self.encoding, "header": header}
        said |= {"names": ",".join(self.names), "time_format": self.time_format}
        return {name: value or "" for name, value in said.items()}

    def _stated_format(self) -> StatedFormat:
        return StatedFormat(
            delimiter=self.delimiter,
            encoding=self.encoding,
            columns=self.names,
            header=self.header,
        )

    def look(self, path: Path, said: Mapping[Role, str]) -> FoundLog:
        """What is understood of a log by its first lines; an empty name says that there is none.

        Raises:
            LogError: There is no table in it.
            UsageError: A column that is said is not there.
        """
        file = path.stat()
        return _look(
            path, (file.st_mtime_ns, file.st_size), self._stated_format(), tuple(said.items())
        )

    def options(self, found: FoundLog, time: str | None) -> list[str]:
        """The options by which `zealous publish` reads such a log, whose time is in a column."""
        said = found.format.options(found.first)
        form = self.time_format or found.format.time_formats.get(time or "", _ISO)
        return with_values([*said, "--time-format", form] if form != _ISO and time else said)

    def write_beside(self, plan: Path) -> None:
        """Keep it for whoever publishes by a plan."""
        try:
            _file(plan).write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"how to read the log cannot be written: {reason(error)}") from None

    @classmethod
    def of_plan(cls, plan: Path) -> Reading:
        """What was said when a plan was written; nothing where another program wrote it."""
        try:
            content = _file(plan).read_bytes()
            found: dict[str, Any] = json.loads(content) if len(content) < _LARGEST else {}
            made = cls(**found)
            return replace(made, names=tuple(made.names))
        except (OSError, ValueError, TypeError):
            return cls()


def columns_from_fields(
    asked: Mapping[str, str], columns: tuple[str, ...], log: str
) -> dict[Role, str]:
    """The column that a form names for each role, empty for none; only if it knew these columns."""
    if asked.get("columns_of", fingerprint(columns, log)) != fingerprint(columns, log):
        return {}
    said: dict[Role, str] = {}
    for role in reversed(COLUMNS):  # whatever else a column is said to be, the person comes first
        text = asked.get(f"{role} column", "")
        if text == _NO_COLUMN:
            said[role] = ""
        elif text.startswith(_COLUMN):
            said[role] = text.removeprefix(_COLUMN)
    return said


def newly_chosen_item(asked: Mapping[str, str]) -> list[str]:
    """The items that a form asks for because another column was chosen for them."""
    chosen = asked.get("item column", "")
    if not chosen.startswith(_COLUMN) or asked.get("item_shown", chosen) == chosen:
        return []
    return [f"columns:{chosen.removeprefix(_COLUMN)}"]


def column_field(column: str | None) -> str:
    """How a form says a column."""
    return _NO_COLUMN if column is None else f"{_COLUMN}{column}"


def fingerprint(columns: tuple[str, ...], log: str) -> str:
    """What tells whether a form was made for a log with these columns."""
    return sha256(json.dumps([log, *columns]).encode()).hexdigest()[:16]


def taken_for(guess: Guess, found: FoundLog) -> str:
    """What a column was taken for, in words; what its values look like where it has no name."""
    words = {**TAKEN_FOR, "list": "lists of values"}[guess.role]
    near = f" (near: {guess.near})" if guess.near and words else ""
    shape = "" if found.format.has_header else f"looks like: {found.format.shape(guess.column)}"
    return ", ".join(filter(None, [f"{words}{near}", shape]))


def form_in_words(form: str) -> str:
    """A way to write times, by an example.

    >>> form_in_words("%d.%m.%Y %H:%M"), form_in_words("epoch")
    ('31.12.2026 23:59', '1798761540 (seconds since 1970)')
    """
    seconds = {"epoch": 1, "epoch-ms": 1000}
    if form in seconds:
        what = "seconds" if form == "epoch" else "milliseconds"
        return f"{int(_EXAMPLE.timestamp()) * seconds[form]} ({what} since 1970)"
    return _EXAMPLE.strftime("%Y-%m-%d %H:%M:%S" if form == _ISO else form)


@lru_cache(maxsize=64)
def _look(
    path: Path,
    file: tuple[int, int],  # its time and size: a log that was changed is looked at again
    stated: StatedFormat,
    said: tuple[tuple[Role, str], ...],
) -> FoundLog:
    found = look_at_log([str(path)], stated, {role: name for role, name in said if name})
    without = {role for role, name in said if not name}
    guesses = tuple(
        Guess(column=each.column, role="attribute") if each.role in without else each
        for each in found.guesses
    )
    return replace(found, guesses=guesses)


def _file(plan: Path) -> Path:
    return plan.with_name(f"{plan.name}.reading")
