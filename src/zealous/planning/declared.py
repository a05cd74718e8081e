"""The public files that a release uses, as whoever publishes declares them.

A file is known by its SHA-256: a plan names it before it is read, and a release for good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

from zealous.errors import UsageError
from zealous.items import Kind
from zealous.items.lists import find_list
from zealous.mechanisms.protocol import MECHANISMS, PublicInput
from zealous.record.record import PublicFileRecord

Files: TypeAlias = str | Path | Mapping[str, str | Path]


@dataclass(frozen=True, kw_only=True)
class PublicFile:
    """A public file.

    Attributes:
        use: What it is for.
        name: What it is called in a release.
        sha256: Of what will be read of it.
        path: Where it is, or the directory of a release; None until somebody says it. The same
            file at another place is the same file.
    """

    use: PublicInput
    name: str
    sha256: str
    path: str | Path | None = field(default=None, compare=False)

    @classmethod
    def from_record(cls, record: PublicFileRecord, use: PublicInput) -> Self:
        """The file that a release or a plan in a file names."""
        return cls(use=use, name=record.name, sha256=record.sha256)

    def as_record(self) -> PublicFileRecord:
        """What a release says of it."""
        return PublicFileRecord(name=self.name, sha256=self.sha256)


def public_files(
    kinds: Sequence[Kind],
    *,
    domain: Files | None = None,
    prior: Files | None = None,
    results: Files | None = None,
) -> dict[str, PublicFile]:
    """The public file of each kind that has one.

    Args:
        kinds: What is published.
        domain: The items that may be published: a file for the only kind, or by name of kind.
        prior: What is known to be frequent, likewise.
        results: The documents that a search shows, for query-clicks.
    """
    by_name = {kind.name(): kind for kind in kinds}
    found: dict[str, PublicFile] = {}
    given: tuple[tuple[PublicInput, Files | None], ...] = (
        ("domain", domain),
        ("prior", prior),
        ("results", results),
    )
    for use, files in given:
        for name, path in _by_kind(files, by_name, use).items():
            if name in found:
                raise UsageError(f"{name} can have one public file: a domain, a prior or results")
            named, _, sha256 = find_list(path, by_name[name])
            found[name] = PublicFile(use=use, path=path, name=named, sha256=sha256)
    return found


def _by_kind(
    files: Files | None, kinds: Mapping[str, Kind], use: PublicInput
) -> Mapping[str, str | Path]:
    if not files:
        return {}
    names = served_kinds(kinds, use)
    if not isinstance(files, Mapping):
        if len(names) != 1:
            raise UsageError(f"with several kinds say which one the {use} is for, by its name")
        return {names[0]: files}
    if set(files) - set(names):
        raise UsageError(f"the {use} is for a kind of items that is not published")
    return files


def served_kinds(kinds: Mapping[str, Kind], use: PublicInput) -> list[str]:
    """The kinds that a mechanism with such a file serves, by name.

    Raises:
        UsageError: There is none.
    """
    found, refused = [], None
    for name, kind in kinds.items():
        for mechanism in MECHANISMS.values():
            if mechanism.public_input != use:
                continue
            try:
                mechanism.check_kinds(kind, kinds)
                found.append(name)
            except UsageError as error:
                refused = error
    if refused is not None and not found:
        raise refused
    return list(dict.fromkeys(found))
