"""The rows of the public files that a plan names."""

from __future__ import annotations

import pyarrow as pa

from zealous.errors import LogError, UsageError
from zealous.release.progress import Say
from zealous.release.request import Request


def public_tables(request: Request, say: Say) -> dict[str, pa.Table]:
    """The rows by name of kind; refuses a file that is not the one that the plan names."""
    planned, roles, tables = request.plan, request.log.columns.assigned(), {}
    for part in planned.parts:
        file = part.public
        public = part.mechanism.public_input
        if file is None or public is None:
            continue
        if file.path is None:
            raise UsageError(f"say where {file.name} is, which the plan names for {part.name()}")
        read = public.read(file.path, part.kind, roles=roles)
        if read.sha256 != file.sha256:
            raise LogError(f"{file.name} changed since it was planned with: plan again")
        if read.name != file.name and planned.approved is None:
            raise LogError(f"{file.name} is called otherwise than when it was planned: plan again")
        left_out = f", {read.skipped:,} of them no such item" if read.skipped else ""
        say(f"{file.name}: {read.rows:,} rows of {part.name()}{left_out}")
        tables[part.name()] = read.table
    return tables
