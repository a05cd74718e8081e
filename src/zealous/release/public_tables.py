"""The rows of the public files that a plan names."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from zealous.errors import LogError
from zealous.logs.log import Log
from zealous.planning.declared import PublicFile
from zealous.planning.plan import Plan
from zealous.planning.public_files import READ_AS
from zealous.release.progress import Say


def public_tables(
    planned: Plan, files: Mapping[str, PublicFile], log: Log, say: Say
) -> dict[str, pa.Table]:
    """The rows of the public files, by name of kind."""
    tables = {}
    for part in planned.parts:
        if part.name() in files:
            file = files[part.name()]
            read = READ_AS[file.use](file.path, part.kind, roles=log.columns.given())
            if read.sha256 != file.sha256:
                raise LogError(f"{file.name} changed while it was read: try again")
            left_out = f", {read.skipped:,} of them no such item" if read.skipped else ""
            say(f"{file.name}: {read.rows:,} rows of {part.name()}{left_out}")
            tables[part.name()] = read.table
    return tables
