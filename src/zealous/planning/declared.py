"""The public files that a release uses, as whoever publishes declares them.

A file is known by its SHA-256: a plan names it before it is read, and a release for good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

from zealous.errors import UsageError, did_you_mean
from zealous.items import Kind
from zealous.items.lists import find_list
from zealous.mechanisms.protocol import MECHANISMS, public_input_name, public_inputs
from zealous.record.record import PublicFileRecord

Files: TypeAlias = str | Path | Mapping[str, str | Path]


@dataclass(frozen=True, kw_only=True)
class PublicFile:
    """A public file.

    Attributes:
        use: What it is for: the name of a mechanism's `public_input`.
        name: What it is called in a release.
        sha256: Of what will be read of it.
        path: Where it is, or the directory of a release; None until somebody says it. The same
            file at another place is the same file.
    """

    use: str
    name: str
    sha256: str
    path: str | Path | None = field(default=None, compare=False)

    @classmethod
    def from_record(cls, record: PublicFileRecord, use: str) -> Self:
        """The file that a release or a plan in a file names."""
        return cls(use=use, name=record.name, sha256=record.sha256)

    def as_record(self) -> PublicFileRecord:
        """What a release says of it."""
        return PublicFileRecord(name=self.name, sha256=self.sha256)


def public_files(kinds: Sequence[Kind], **files: Files | None) -> dict[str, PublicFile]:
    """The public file of each kind that has one.

    Args:
        kinds: What is published.
        files: By what they are for: a file for the only kind, or files by name of kind.

    Raises:
        UsageError: No mechanism needs such a file, or none for these kinds.
    """
    known = public_inputs()
    for use in files.keys() - known.keys():
        raise UsageError(
            f"there is no {use} to give: public files are {', '.join(known)}"
            + did_you_mean(use, [*known])
        )
    by_name = {kind.name(): kind for kind in kinds}
    found: dict[str, PublicFile] = {}
    for use in known:
        for name, path in _by_kind(files.get(use), by_name, use).items():
            if name in found:
                raise UsageError(f"{name} can have one public file: --{' or --'.join(known)}")
            named, _, sha256 = find_list(path, by_name[name])
            found[name] = PublicFile(use=use, path=path, name=named, sha256=sha256)
    return found


def _by_kind(files: Files | None, kinds: Mapping[str, Kind], use: str) -> Mapping[str, str | Path]:
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


def served_kinds(kinds: Mapping[str, Kind], use: str) -> list[str]:
    """The kinds that a mechanism with such a file serves, by name.

    Raises:
        UsageError: There is none.
    """
    found, refused = [], None
    for name, kind in kinds.items():
        for mechanism in MECHANISMS.values():
            if public_input_name(mechanism) != use:
                continue
            try:
                mechanism.check_kinds(kind, kinds)
                found.append(name)
            except UsageError as error:
                refused = error
    if refused is not None and not found:
        raise refused
    return list(dict.fromkeys(found))
