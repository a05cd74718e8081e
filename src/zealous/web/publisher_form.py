"""Who publishes and what for: fields of a form, kept in a publisher.toml beside the log."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import asdict

from zealous.errors import UsageError, reason
from zealous.release.publisher import check_lines, read_publisher

FIELDS = {
    "title": ("Title", "Frequent searches of the city library"),
    "publisher": ("Publisher", "City Library, Statistics"),
    "contact": ("Contact", "privacy@library.example"),
    "purpose": ("Purpose", "Research on search behaviour"),
    "licence": ("Licence", "CC BY 4.0"),
    "retention": ("What happens to the raw log", "It is deleted after 90 days"),
}


def publisher_file(log: Path) -> Path | None:
    """The publisher.toml beside a log, if there is one."""
    path = _file(log)
    return path if path.is_file() and not path.is_symlink() else None


def read_fields(log: Path) -> dict[str, str]:
    """What it says, also of what the form does not ask for.

    Raises:
        UsageError: It cannot be read.
    """
    path = publisher_file(log)
    said = asdict(read_publisher(path)) if path else {}
    return {name: value for name, value in said.items() if value}


def write_fields(log: Path, form: Mapping[str, str]) -> None:
    """Keep what a form says; what it does not ask for stays as it was.

    Raises:
        UsageError: Something is no line of text, or it cannot be written.
    """
    before = read_fields(log)
    said = before | {name: form[name].strip() for name in FIELDS if name in form}
    said = {name: value for name, value in said.items() if value}
    if said == before:
        return
    check_lines(said, "the form")
    path = _file(log)
    new = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in said.items()]
    try:
        new.write_text("".join(lines), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be written: {reason(error)}") from None
    finally:
        new.unlink(missing_ok=True)


def _file(log: Path) -> Path:
    return log.parent / "publisher.toml"
