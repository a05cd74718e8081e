"""Logs that were charged or looked at before, by sketches of their ids: how a copy is recognised.

They stand in one file that its owner alone can read, with the key of their hashes: what a sketch
tells whoever reads it is in docs/reference/ledger.md, "How copies of a log are recognised". It is
no part of a ledger, since a copy in another place has another ledger, and since ledgers and their
hashes leave.

The file is only added to, a line at a time. Nothing that is wrong with it stops a release.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from zealous.ledger.location import state_folder
from zealous.logs.id_sketch import SLOTS, Sketch

FILE_NAME = "known-logs.jsonl"


class LogName(NamedTuple):
    """Under which name a log is charged.

    Attributes:
        log: Where it is.
        ledger: The id of its ledger; empty where it is charged to none.
        people: The name that was given to its people.
    """

    log: str
    ledger: str = ""
    people: str | None = None

    def counted_with(self, other: LogName) -> bool:
        """Whether one ledger counts both as of the same people."""
        apart = self.people and other.people and self.people != other.people
        return bool(self.ledger) and self.ledger == other.ledger and not apart


class KnownLog(NamedTuple):
    """A log that was charged, or whose figures were laid out.

    Attributes:
        name: Under which name; of one that was looked at, without a ledger.
        ledger: The ledger's file; None where it was looked at.
        day: When.
        sketch: Of its ids.
    """

    name: LogName
    ledger: str | None
    day: str
    sketch: Sketch


class Overlap(NamedTuple):
    """A log that shares people with another, by its ids."""

    known: KnownLog
    share: float

    def text(self) -> str:
        """How many of the smaller log's ids both have: no better than a sketch can tell."""
        tenths = round(10 * self.share)
        return "nearly all" if tenths == 10 else f"about {max(tenths, 1)} in 10"


@dataclass(frozen=True, kw_only=True)
class KnownLogs:
    """The contents of the file.

    Attributes:
        key: Of the hashes.
        logs: The last that is known of each name, in order.
        noticed: Pairs of names that share people, and were told and gone on with.
        entries: Of each ledger and file, by its id and name, the hash of the entry charged last.
    """

    key: str
    logs: tuple[KnownLog, ...] = ()
    noticed: frozenset[tuple[LogName, LogName]] = field(default_factory=frozenset)
    entries: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls) -> Self:
        """What is known; a new key and nothing else, where there is no file.

        Raises:
            OSError: There is one, and it cannot be read or is not this user's own.
        """
        try:
            lines = _read_lines(path())
        except FileNotFoundError:
            lines = []
        keys = [str(each["key"]) for each in lines if "key" in each]
        logs: dict[tuple[LogName, bool], KnownLog] = {}
        noticed, entries = set(), {}
        for each in lines:
            with suppress(KeyError, TypeError, ValueError):  # a line that was cut off by a crash
                if "sketch" in each:
                    found = _known_log(each)
                    logs[found.name, found.ledger is None] = found
                elif "like" in each:
                    noticed.add((_log_name(each), _log_name(each["like"])))
                elif "entry" in each:
                    entries[str(each["ledger"]), str(each["ledger_file"])] = str(each["entry"])
        key = keys[0] if keys else secrets.token_hex(16)
        return cls(key=key, logs=tuple(logs.values()), noticed=frozenset(noticed), entries=entries)

    def overlaps(self, sketch: Sketch) -> list[Overlap]:
        """The logs that share people with one, those with most first."""
        found = ((each, each.sketch.shared_with(sketch)) for each in self.logs)
        every = [Overlap(each, share) for each, share in found if share is not None]
        return sorted(every, key=lambda each: -each.share)

    def as_json(self) -> dict[str, Any]:
        """For programs; without sketches and key."""
        return {
            "logs": [
                {**each.name._asdict(), "ledger_file": each.ledger, "day": each.day}
                for each in self.logs
            ],
            "noticed": [
                {**first._asdict(), "like": second._asdict()}
                for first, second in sorted(self.noticed, key=str)
            ],
        }

    def add(self, new: KnownLog) -> None:
        """Keep a log, if it is not known so.

        Raises:
            OSError: Nothing can be written.
        """
        if any(each._replace(day=new.day) == new for each in self.logs):
            return
        ids, slots, numbers = new.sketch
        sketch = {"ids": ids, "sketch": "".join(slots), "numbers": numbers}
        said = {**new.name._asdict(), "ledger_file": new.ledger, "day": new.day}
        _append_lines(path(), self.key, [{**said, **sketch}])

    def add_entry(self, ledger: str, file: str, entry: str) -> None:
        """Keep which entry of a ledger was charged last, by its hash.

        Raises:
            OSError: Nothing can be written.
        """
        line = {"ledger": ledger, "ledger_file": file, "entry": entry}
        _append_lines(path(), self.key, [line])

    def note(self, name: LogName, found: Sequence[Overlap]) -> None:
        """Keep what a log shares people with, so that it is told once.

        Raises:
            OSError: Nothing can be written.
        """
        lines = [
            {
                **name._asdict(),
                "like": each.known.name._asdict(),
                "day": today(),
                "share": each.text(),
            }
            for each in found
        ]
        if lines:
            _append_lines(path(), self.key, lines)


def path() -> Path:
    """Where the file is."""
    return state_folder() / FILE_NAME


def today() -> str:
    """The day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def _known_log(line: dict[str, Any]) -> KnownLog:
    slots = str(line["sketch"])
    if len(slots) != 2 * SLOTS:
        raise ValueError
    pairs = tuple(slots[at : at + 2] for at in range(0, len(slots), 2))
    file = None if line["ledger_file"] is None else str(line["ledger_file"])
    numbers = line.get("numbers", [])  # files of earlier versions have none
    known = tuple((int(low), int(number)) for low, number in numbers if int(low) > 0)
    sketch = Sketch(ids=int(line["ids"]), slots=pairs, numbers=known)
    return KnownLog(name=_log_name(line), ledger=file, day=str(line["day"]), sketch=sketch)


def _log_name(line: dict[str, Any]) -> LogName:
    return LogName(log=str(line["log"]), ledger=str(line["ledger"]), people=line["people"])


def _read_lines(file: Path) -> list[dict[str, Any]]:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, encoding="utf-8", errors="replace") as opened:
        _check_own(descriptor)
        return _parse(opened.read())


def _parse(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        with suppress(ValueError):
            value = json.loads(line)
            found += [value] if isinstance(value, dict) else []
    return found


def _append_lines(file: Path, key: str, lines: Sequence[dict[str, Any]]) -> None:
    """Add lines; none where somebody else began the file meanwhile, with another key."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(file, flags, 0o600)
    with open(descriptor, "r+b", buffering=0) as opened:
        _check_own(descriptor)
        if not _keys(opened.read()):
            opened.write(_line({"key": key}))
            opened.seek(0)
            if _keys(opened.read())[:1] != [key]:
                return
        opened.write(b"".join(map(_line, lines)))


def _keys(content: bytes | None) -> list[str]:
    lines = _parse((content or b"").decode("utf-8", "replace"))
    return [str(each["key"]) for each in lines if "key" in each]


def _line(value: dict[str, Any]) -> bytes:
    """A line by itself, whatever a crash left before it; one write, which others do not part."""
    return b"\n" + json.dumps(value).encode() + b"\n"


def _check_own(descriptor: int) -> None:
    """Refuse a file of somebody else, and take from others what they may do with it."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError("not a file of this user")
    if found.st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
