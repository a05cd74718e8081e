"""Who publishes and what for, as publisher.toml says it: for README, statement and registry."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from zealous.errors import ReleaseError, UsageError, did_you_mean
from zealous.record.codec import structure
from zealous.record.record import PublisherRecord

_MOST = 500  # characters


def read_publisher(path: str | Path) -> PublisherRecord:
    """What a publisher.toml says.

    Raises:
        UsageError: It cannot be read, holds a key that is unknown, or a value that is no line of
            text.
    """
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError(f"{path} cannot be read as TOML: see docs/guide/releases.md") from None
    known = PublisherRecord.__struct_fields__
    for name in found:
        if name not in known:
            raise UsageError(
                f"{path} may say {', '.join(known)}, and not {name!r}{did_you_mean(name, known)}"
            )
    check_lines(found, str(path))
    try:
        return structure(found, PublisherRecord)
    except ReleaseError as error:
        raise UsageError(f"{path}: {error}") from None


def check_lines(said: Mapping[str, object], where: str) -> None:
    """Refuse what is no line of text; None is not said.

    Raises:
        UsageError: Something is.
    """
    for name, value in said.items():
        if value is None:
            continue
        if not isinstance(value, str) or not 0 < len(value.strip()) <= _MOST:
            raise UsageError(f"{name} in {where} must be a text of 1 to {_MOST} characters")
        if not value.isprintable():
            raise UsageError(f"{name} in {where} must be one line that can be printed")
