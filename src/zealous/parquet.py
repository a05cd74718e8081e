"""The columns of Parquet files and their types."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zealous.errors import LogError
from zealous.remote import Place, StoreError, opened, why

_LIST = re.compile(r"^(large_|fixed_size_)?list(_view)?<")


def schema(path: Place) -> dict[str, str]:
    """The columns of a Parquet file and their Arrow types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with opened(path) as file:
            found = pq.read_schema(file)
    except StoreError as error:
        raise LogError(f"{path.name} cannot be read: {why(error)}") from None
    except (OSError, pa.ArrowException):
        raise LogError(f"{path.name} is not a readable Parquet file") from None
    # The engine cannot tell such names apart: it would take one column for the other.
    if len({name.lower() for name in found.names}) < len(found.names):
        raise LogError(f"{path.name} has columns whose names differ in case at most: rename them")
    return {field.name: plain(str(field.type)) for field in found}


def types(paths: Sequence[Place], wanted: Sequence[str]) -> dict[str, str]:
    """The types of the wanted columns, which must be the same in all files."""
    known = schema(paths[0])
    first = {name: known[name] for name in wanted}
    for path in paths[1:]:
        other = schema(path)
        if {name: other.get(name) for name in wanted} != first:
            raise LogError(
                f"the columns of {path.name} and {paths[0].name} have different types: "
                "convert them to one"
            )
    return first


def plain(kind: str) -> str:
    """An Arrow type's name, in which all lists are `list<...>`."""
    return _LIST.sub("list<", kind)
