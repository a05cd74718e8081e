"""A new series.toml, with comments."""

from __future__ import annotations

import json
from pathlib import Path

from zealous.errors import UsageError, reason
from zealous.series.series import Every, Series

_TEXT = """\
# A series of releases (docs/guide/series.md). Paths are relative to the folder of this file.
name = {name}
log = {log}  # {{period}} becomes {first}, and so on
every = "{every}"  # day, week, month, quarter or year
first = {first}
# last = {first}  # without it the series goes on
plan = "plan.json"  # made by: zealous plan ... -o plan.json
ledger = "ledger.sqlite"
releases = "releases"  # in it a folder for each period

# due_after_days = 1  # how many days after its end a period is published
# prior = false  # true: take the last release as the list of items known to be frequent
# publisher = "publisher.toml"  # who publishes
# approval = "plan.json.sig"  # the plan's signature, if the ledger has approvers
# format = "csv"  # how logs are read; also delimiter, encoding, names, time_format
# all_in_period = false  # true: a log without times holds entries of its own period only

# [total]  # the ledger's cap over all releases
# epsilon = 6
# delta = 1e-5
"""


def write_series_file(path: Path, *, name: str, log: str, every: Every, first: str) -> None:
    """Write a series.toml to start from.

    Raises:
        UsageError: It would be no series; or there is such a file already.
    """
    text = _TEXT.format(name=_quote(name), log=_quote(log), every=every, first=_quote(first))
    try:
        file = path.open("x", encoding="utf-8")
    except OSError as error:
        raise _not_written(path, error) from None
    try:
        with file:
            file.write(text)
        Series.read(path)
    except BaseException as error:
        path.unlink()
        if isinstance(error, OSError):
            raise _not_written(path, error) from None
        raise


def _not_written(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {reason(error)}")


def _quote(text: str) -> str:
    """As a string of TOML, which JSON's are too."""
    return json.dumps(text, ensure_ascii=False)
