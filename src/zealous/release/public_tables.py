"""The rows of the public files that a plan names."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from zealous.errors import LogError, UsageError
from zealous.planning.plan import Plan
from zealous.release.progress import Say


def public_tables(planned: Plan, roles: Collection[str], say: Say) -> dict[str, pa.Table]:
    """The rows by name of kind; refuses a file that is not the one that the plan names."""
    tables = {}
    for part in planned.parts:
        file = part.public
        if file is None:
            continue
        if file.path is None:
            raise UsageError(f"say where {file.name} is, which the plan names for {part.name()}")
        read = part.mechanism.read_public_file(file.path, part.kind, roles=roles)
        if read.sha256 != file.sha256:
            raise LogError(f"{file.name} changed since it was planned with: plan again")
        if read.name != file.name and planned.approved is None:
            raise LogError(f"{file.name} is called otherwise than when it was planned: plan again")
        left_out = f", {read.skipped:,} of them no such item" if read.skipped else ""
        say(f"{file.name}: {read.rows:,} rows of {part.name()}{left_out}")
        tables[part.name()] = read.table
    return tables
