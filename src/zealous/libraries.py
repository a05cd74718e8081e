"""Libraries that take long to import, each loaded when it is first used.

`--help`, `plan` and `import zealous` need none of them and stay quick. A module that runs only
where they are needed anyway imports them as usual.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import jinja2
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv
    import pyarrow.fs as pafs
    import pyarrow.parquet as pq
    import sqlglot
    from sqlglot import exp

__all__ = [
    "LazyModule",
    "duckdb",
    "exp",
    "jinja2",
    "np",
    "pa",
    "pacsv",
    "pafs",
    "pc",
    "pq",
    "sqlglot",
]


class LazyModule:
    """Stands for a module, and imports it when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # the next time it is there at once
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self._name,)


if not TYPE_CHECKING:
    duckdb = LazyModule("duckdb")
    exp = LazyModule("sqlglot.expressions")
    jinja2 = LazyModule("jinja2")
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pacsv = LazyModule("pyarrow.csv")
    pafs = LazyModule("pyarrow.fs")
    pc = LazyModule("pyarrow.compute")
    pq = LazyModule("pyarrow.parquet")
    sqlglot = LazyModule("sqlglot")
