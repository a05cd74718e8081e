"""Where Spark alone can look: files by its own URLs, a table, a frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from zealous.files.object_store import is_known
from zealous.files.on_engine import OnEngine
from zealous.files.places import Place, place_of


@dataclass(frozen=True, kw_only=True)
class OnCluster(OnEngine):
    """A log where Spark alone can look: files by their URL, a table, or a DataFrame."""

    url: str | None = field(default=None, repr=False)
    table: str | None = None
    frame: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix if self.url else ".parquet"

    def ledger_place(self) -> Place:
        """The object store that a URL names, if that is what it names."""
        return place_of(self.url) if self.url and is_known(self.url) else super().ledger_place()
