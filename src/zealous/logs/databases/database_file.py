"""Databases that are files: what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from zealous.errors import LogError
from zealous.files.local import LocalPath
from zealous.files.passwords import without_password


@dataclass(frozen=True, kw_only=True)
class DatabaseFile:
    """A file that is a database."""

    scheme: ClassVar[str]  # what its URLs begin with
    path: LocalPath

    @classmethod
    def of_url(cls, given: str) -> Self:
        """A path, or a URL as SQLAlchemy has them: three slashes before a relative path."""
        scheme, found, path = given.partition(":///")
        return cls(path=LocalPath(path if found and scheme.lower() == cls.scheme else given))

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def ledger_place(self) -> LocalPath:
        """Its ledger is beside it."""
        return self.path

    def check_file(self) -> None:
        """Raise if there is no such file."""
        if not self.path.is_file():
            raise LogError(f"{without_password(str(self.path))} is not a file")


def check_names(names: Sequence[str]) -> None:
    """Raise if two columns of a result have one name."""
    if len({each.lower() for each in names}) < len(names):
        raise LogError("--sql returns two columns of one name: name them apart with as")
