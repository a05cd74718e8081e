"""What the workbench sees: files below the folders that it was started with, and no others.

Guarantee:
    A name that a request gives leads to nothing outside those folders, whatever links, dots or
    encoded characters are in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zealous.errors import UsageError
from zealous.files.places import place_of
from zealous.ledger.location import FILE_NAME
from zealous.logs.log import format_by_ending
from zealous.series.drafts import ENDING

_DEEPEST = 3  # folders below a named one
_MOST = 2_000  # entries that are looked at
_CLOSED = ("release.json", "findings.json", "attacks.json")  # in folders of a release or a study
PLAN_ENDING = ".plan.json"


class NotThere(UsageError):
    """There is no such thing where the workbench looks."""


@dataclass(frozen=True)
class FolderContents:
    """What lies in the folders, by the names that addresses use.

    Attributes:
        releases: Directories with a release.json.
        ledgers: Ledgers.
        plans: Plans in files.
        logs: Files that may be logs, by their endings.
    """

    releases: tuple[str, ...]
    ledgers: tuple[str, ...]
    plans: tuple[str, ...]
    logs: tuple[str, ...]


class Folders:
    """The folders that the workbench was started with."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Name each folder by its last part, made unique.

        Raises:
            UsageError: One is no folder.
        """
        self._roots: dict[str, Path] = {}
        for each in roots:
            if not each.is_dir():
                raise UsageError(f"{each} is no folder: name the folder that holds the log")
            whole = each.resolve()
            base = whole.name or "root"
            names = (base, *(f"{base}-{number}" for number in range(2, len(roots) + 2)))
            name = next(name for name in names if name not in self._roots)
            if whole not in self._roots.values():
                self._roots[name] = whole

    def add(self, name: str, folder: Path) -> None:
        """See one more folder, by a name of its own."""
        self._roots[name] = folder.resolve()

    @property
    def names(self) -> tuple[str, ...]:
        """What the folders are called."""
        return tuple(self._roots)

    def path(self, name: str) -> Path:
        """The file or folder of a name, such as `logs/release`, with links resolved.

        Raises:
            NotThere: Nothing is there, or it is outside.
        """
        found, root = self._path_and_root(name)
        try:
            whole = found.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise NotThere("there is no such file in the folders of this workbench") from None
        if not whole.is_relative_to(root) or _is_unpublished(whole.relative_to(root)):
            raise NotThere("there is no such file in the folders of this workbench")
        return whole

    def new_path(self, folder: str, name: str) -> Path:
        """Where something new may be written: a plain name in a folder that is there.

        Raises:
            UsageError: The name is no plain one, or is taken.
        """
        name = name.strip()
        plain = name.replace("-", "").replace("_", "").replace(".", "").replace(" ", "")
        if not plain.isalnum() or name.startswith((".", "-", " ")) or len(name.encode()) > 100:
            raise UsageError(
                "a name has letters, digits, dots, spaces and dashes, at most 100, and begins with "
                "a letter or digit"
            )
        target = self.path(folder) / name
        if os.path.lexists(target):
            raise UsageError(f"{name} exists already: choose another name")
        return target

    def name_of(self, path: Path) -> str:
        """The name of a file below one of the folders."""
        whole = path.resolve()
        for name, root in self._roots.items():
            if whole.is_relative_to(root):
                return str(PurePosixPath(name, *whole.relative_to(root).parts))
        raise NotThere("there is no such file in the folders of this workbench")

    def _path_and_root(self, name: str) -> tuple[Path, Path]:
        parts = name.split("/")
        strange = any(each in ("", ".", "..") or "\0" in each or "\\" in each for each in parts)
        if strange or parts[0] not in self._roots:
            raise NotThere("there is no such file in the folders of this workbench")
        root = self._roots[parts[0]]
        return root.joinpath(*parts[1:]), root

    def look(self) -> FolderContents:
        """What lies in the folders now."""
        releases, ledgers, plans, logs = [], [], [], []
        for name, path in self._walk():
            if path.is_dir():
                if (path / "release.json").is_file():
                    releases.append(name)
            elif path.name == FILE_NAME or path.name.endswith(".ledger.sqlite"):
                ledgers.append(name)
            elif path.name.endswith(PLAN_ENDING) or path.name == "plan.json":
                plans.append(name)
            elif _may_be_log(path):
                logs.append(name)
        return FolderContents(*map(tuple, (releases, ledgers, plans, logs)))

    def _walk(self) -> Iterator[tuple[str, Path]]:
        """Files and folders by name, not inside releases, studies, hidden ones, drafts or links."""
        looked = 0
        for root_name, root in self._roots.items():
            waiting = [(root_name, root, 0)]
            while waiting:
                name, folder, depth = waiting.pop(0)
                yield name, folder
                if depth > _DEEPEST or any((folder / each).exists() for each in _CLOSED):
                    continue
                try:
                    entries = sorted(folder.iterdir(), key=lambda each: (each.is_file(), each.name))
                except OSError:
                    continue
                for each in entries:
                    looked += 1
                    if looked > _MOST:
                        break
                    if each.name.startswith(".") or each.is_symlink():
                        continue
                    if _is_unpublished(each.relative_to(root)):
                        continue
                    below = f"{name}/{each.name}"
                    if each.is_dir():
                        waiting.append((below, each, depth + 1))
                    else:
                        yield below, each


def _is_unpublished(path: Path) -> bool:
    """Whether it is what a series has drawn and not published yet."""
    return any(part.endswith(ENDING) for part in path.parts)


def _may_be_log(path: Path) -> bool:
    return path.suffix != ".json" and format_by_ending(place_of(path)) is not None
