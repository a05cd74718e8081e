"""A file of a release that follows from its tables, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zealous.release.columns import Column

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A file that is written beside the tables, and that `verify` makes anew.

    Attributes:
        file: Its name, which ends in `.csv`.
        make: Makes its rows from the published ones, by kind.
        readme: What the README says of it: a section with its heading.
        columns: What its columns hold.
    """

    file: str
    make: Callable[[Mapping[str, pa.Table]], pa.Table]
    readme: str
    columns: Sequence[Column]
