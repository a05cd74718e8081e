"""All that a release says besides its items and counts, ready to be compared.

Some of it is random or follows from the rows: the selection key, what the ledger drew, the day, the
hashes of files. Each of these values is read at its own place, must look as it should, and is
replaced in all texts wherever exactly that value stands. Nothing else may differ between runs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from zealous.audit.runs import Run

_KEY, _LEDGER, _HASH = (re.compile(rf"[0-9a-f]{{{digits}}}") for digits in (16, 32, 64))


def published_alike(runs: Mapping[str, Run]) -> bool:
    """Whether all runs said the same, apart from what may differ."""
    first, *rest = (_published_content(run) for run in runs.values())
    return all(other == first for other in rest)


def constants_agree(runs: Mapping[str, Run], control: tuple[str, str]) -> bool:
    """What two runs on the same log have in common is not random: then all runs have it.

    It looks at what `published_alike` leaves out. A key, say, that is made from the log shows
    itself here.
    """
    one, other = (_values_that_may_differ(runs[name]) for name in control)
    common = {name for name, value in one.items() if other.get(name) == value}
    return all(
        _values_that_may_differ(run).get(name) == one[name]
        for run in runs.values()
        for name in common
    )


def _values_that_may_differ(run: Run) -> dict[str, str]:
    """The values that two runs on one log may differ in, by where they stand."""
    record = run.record()
    drawn = [("selection_key", record.selection_key, _KEY)]
    if record.ledger is not None:
        drawn += [
            ("ledger.ledger", record.ledger.ledger, _LEDGER),
            ("ledger.hash", record.ledger.hash, _HASH),
        ]
    found = {name: value for name, value, shape in drawn if shape.fullmatch(value)}
    for file in run.directory.iterdir():
        if file.suffix in (".csv", ".parquet"):  # other files are compared word by word
            found[f"sha256.{file.name}"] = _sha256(file)
    return found


def _published_content(run: Run) -> dict[str, Any]:
    """Everything that was published, without items and counts and what may differ."""
    known = {
        **{value: name for name, value in _values_that_may_differ(run).items()},
        **{_sha256(path): f"sha256.{path.name}" for path in run.directory.iterdir()},
        **dict.fromkeys(_days_of_run(run), "created"),
    }
    said: dict[str, Any] = {"stdout": _mask_values(run.stdout, known)}
    for path in sorted(run.directory.iterdir()):
        said[path.name] = (path.stat().st_mode, _file_content(path, known))
    return said


def _file_content(path: Path, known: Mapping[str, str]) -> Any:
    if path.suffix == ".parquet":
        return _parquet_metadata(path)
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return text.partition("\n")[0] if path.suffix == ".csv" else _mask_values(text, known)


def _mask_values(text: str, known: Mapping[str, str]) -> str:
    for value, name in sorted(known.items(), key=lambda each: -len(each[0])):
        text = text.replace(value, f"<{name}>")
    return text


def _parquet_metadata(path: Path) -> list[Any]:
    """All of a Parquet file that is not its rows: its metadata too is published."""
    about = pq.read_metadata(path)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(each) for group in groups for each in range(group.num_columns)]
    return [
        about.metadata,
        about.created_by,
        about.format_version,
        str(pq.read_schema(path)),
        [group.num_rows for group in groups],
        [(each.path_in_schema, each.compression, each.encodings) for each in chunks],
    ]


def _days_of_run(run: Run) -> set[str]:
    """The day of the run; two where it was midnight in between."""
    moments = (run.log, run.directory / "release.json")
    return {f"{datetime.fromtimestamp(each.stat().st_mtime, UTC):%Y-%m-%d}" for each in moments}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
