"""Where a log is and what its columns mean. Holds no rows."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Engine
from zealous.engines.spark import OnCluster, Spark, is_frame
from zealous.errors import LogError, UsageError, did_you_mean
from zealous.files import parquet
from zealous.files.limits import Limits
from zealous.files.lines import Layout, common_header
from zealous.files.places import Place, Remote, opened, place_of, why
from zealous.libraries import pa, pq
from zealous.privacy.guarantee import whole

ANONYMIZED = "anonymized.json"
NOT_PRIVATE = "NOT DIFFERENTIALLY PRIVATE"
INTERNAL = "zealous-internal.json"
_ABOUT = ("release.json", ANONYMIZED, INTERNAL)  # what a directory that zealous wrote has
COMPRESSED = (".gz", ".zst", ".bz2")
_CSV = Layout(delimiter=",", quoted=True)
_TSV = Layout(delimiter="\t")
_JSON = Layout(delimiter=None)
_BY_SUFFIX: dict[str, str] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column of the log plays which role; None where the log has none."""

    user: str | None = None
    query: str | None = None
    time: str | None = None
    url: str | None = None
    session: str | None = None
    keywords: str | None = None

    def given(self) -> dict[str, str]:
        """The roles that have a column."""
        roles = {field.name: getattr(self, field.name) for field in fields(self)}
        return {role: name for role, name in roles.items() if name is not None}


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What is left out; each rule looks at one user's own rows alone.

    Attributes:
        exclude_users: A file with one user id a line: deletion requests, minors, staff.
        max_entries_per_user: Users with more entries than this (robots) are left out whole.
        limits: The most that is looked at of a user who is not left out.
    """

    exclude_users: Path | None = None
    max_entries_per_user: int | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Check before anything is read."""
        if self.max_entries_per_user is not None:
            whole(self.max_entries_per_user, "max_entries_per_user")
        if self.exclude_users is not None and not _is_file(self.exclude_users):
            raise UsageError("the file named by --exclude-users cannot be found")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A layout that many logs share, with the meaning of its columns."""

    layout: Layout | None
    columns: Columns
    time_format: str | None = None


# What a column is called when nobody says otherwise. JSON lines have no schema, and which columns
# there are must not depend on the lines: what would change the meaning of others has to be said.
_USUAL = Columns(user="user", query="query", time="time", url="url")
_NAMED = replace(_USUAL, session="session")

PRESETS: dict[str, Preset] = {
    "parquet": Preset(layout=None, columns=replace(_NAMED, keywords="keywords")),
    "csv": Preset(layout=_CSV, columns=_NAMED),
    "tsv": Preset(layout=_TSV, columns=_NAMED),
    "jsonl": Preset(layout=_JSON, columns=_USUAL),
    "aol": Preset(
        layout=replace(
            _TSV, names=("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"), least=3
        ),
        columns=Columns(user="AnonID", query="Query", time="QueryTime", url="ClickURL"),
    ),
    "excite": Preset(
        layout=replace(_TSV, names=("user", "time", "query")),
        columns=Columns(user="user", time="time", query="query"),
        time_format="%y%m%d%H%M%S",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Log:
    """A log that can be opened: files, how they are read, what the columns mean, who is left out.

    Attributes:
        paths: The files, in order of name.
        layout: How lines are split; None for Parquet.
        columns: What the columns mean.
        time_format: How times are written: None for ISO or a timestamp type, `epoch`, `epoch-ms`,
            or a strptime pattern.
        cleaning: Whose entries are left out.
        engine: Where it is read and worked on; None for the embedded one.
    """

    paths: tuple[Place | OnCluster, ...]
    layout: Layout | None
    columns: Columns
    time_format: str | None
    cleaning: Cleaning
    engine: Spark | None = None

    def files(self) -> tuple[Place, ...]:
        """Those of the paths that this program can look at itself."""
        return tuple(path for path in self.paths if not isinstance(path, OnCluster))

    def on(self, engine: Engine | None) -> Engine:
        """Where to run: where somebody says, else where the log is."""
        return engine or self.engine or DuckDB()

    def names(self) -> tuple[str, ...] | None:
        """The columns that every file has; None for JSON, whose lines may each have others."""
        if self.engine is not None:
            known = self.engine.columns(self.paths, self.layout)
            return None if known is None else tuple(known)
        if self.layout is None:
            return tuple(parquet.common_columns(self.files()))
        if self.layout.delimiter is None:
            return None
        return common_header(self.files(), self.layout)

    def has_list(self, name: str) -> bool:
        """Whether a column of a Parquet log holds lists."""
        if self.layout is not None:
            return False
        if self.engine is not None:
            known = self.engine.columns(self.paths, self.layout)
        else:
            known = parquet.schema(self.files()[0])
        return (known or {}).get(name, "").startswith("list<")


def read_log(
    paths: Any,
    preset: str | None = None,
    *,
    engine: Spark | None = None,
    columns: Columns | None = None,
    names: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    time_format: str | None = None,
    cleaning: Cleaning | None = None,
) -> Log:
    """Say where a log is and what its columns mean; reads no more than headers.

    Args:
        paths: A file, a folder, a pattern such as `logs/*.tsv.gz`, or several of them; each a path
            or the URL of an object store. With Spark also `table:NAME`, or a DataFrame.
        preset: `aol`, `excite`, `csv`, `tsv`, `jsonl` or `parquet`; from the file's ending where
            not given.
        engine: `Spark(...)` for a log on a cluster; the embedded engine where not given.
        columns: The roles that differ from the preset's; `Columns(user="CustomerID")`.
        names: The names of the columns in order, for delimited files without a header.
        delimiter: What stands between fields, where it is not the preset's.
        encoding: The files' encoding, where it is not UTF-8.
        time_format: How times are written; see `Log`.
        cleaning: Whose entries are left out.
    """
    found = log_files(paths, preset, engine)
    chosen = PRESETS.get(preset or _format_of(found))
    if chosen is None:
        raise UsageError(
            f"format must be one of {', '.join(PRESETS)}" + did_you_mean(preset or "", PRESETS)
        )
    layout = chosen.layout
    if names or delimiter or encoding:
        if layout is None:
            raise UsageError("Parquet files carry their own column names and encoding")
        if layout.delimiter is None and (names or delimiter):
            raise UsageError(
                "JSON lines carry their own column names: leave out --columns and --delimiter"
            )
        layout = replace(
            layout,
            names=tuple(names) or layout.names,
            least=None if names else layout.least,
            delimiter=delimiter or layout.delimiter,
            encoding=encoding or layout.encoding,
        )
    log = Log(
        paths=tuple(found),
        layout=layout,
        columns=chosen.columns,
        time_format=time_format or chosen.time_format,
        cleaning=cleaning or Cleaning(),
        engine=engine,
    )
    return replace(log, columns=_meaning(log, columns or Columns()))


def _meaning(log: Log, said: Columns) -> Columns:
    """What was said, then what is usual, of the columns that exist."""
    present = log.names()
    for role, name in said.given().items():
        if present is not None and name not in present:
            raise UsageError(
                f"the log has no column {name!r} (given as --{role}): "
                "`zealous inspect` lists its columns" + did_you_mean(name, present)
            )
    usual = log.columns.given()
    if present is not None and "url" not in present and usual.get("url") == "url":
        usual["url"] = "urls"
    if log.layout is None and not log.has_list("keywords"):
        usual.pop("keywords", None)
    kept = {role: name for role, name in usual.items() if present is None or name in present}
    merged = Columns(**(kept | said.given()))
    if merged.user is None:
        raise UsageError("say which column holds the user's id with --user")
    return merged


def log_files(
    paths: Any, preset: str | None = None, engine: Spark | None = None
) -> list[Place | OnCluster]:
    """The files of a log, each known to be readable; arguments as for `read_log`."""
    found: list[Place | OnCluster] = []
    one = isinstance(paths, str | Path | Remote) or is_frame(paths)
    for path in [paths] if one else paths:
        away = engine.place(path) if engine else None
        if away is not None:
            found.append(away)
            continue
        if is_frame(path):
            raise UsageError("a DataFrame is read with engine=Spark(session)")
        place = place_of(path)
        try:
            folder, matches = place.find() if isinstance(place, Remote) else _find(place)
        except OSError as error:
            raise LogError(f"{place} cannot be read: {why(error)}") from None
        if folder:
            logs = _logs(place, matches)
            matches = [each for each in logs if preset or _suffix(each) in _BY_SUFFIX]
        if not matches:
            raise LogError(f"no log found at {place}: give a file, a folder or a quoted pattern")
        found += matches
    if not found:
        raise UsageError("no log given")
    for each in found:
        try:
            if isinstance(each, Path):
                with each.open("rb"):
                    pass
        except OSError as error:
            raise LogError(f"{each} cannot be read: {error.strerror}") from None
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        return False


def _find(path: Path) -> tuple[bool, Sequence[Place]]:
    """The files of a file, a folder or a pattern, in order, and whether it is a folder."""
    if path.is_dir():
        return True, [each for each in sorted(path.rglob("*")) if each.is_file()]
    if path.exists():
        return False, [path]
    return False, [Path(each) for each in sorted(glob.glob(str(path), recursive=True))]


def _logs(folder: Place, files: Sequence[Place]) -> list[Place]:
    """Those files of a folder that may be logs: not hidden ones, ledgers, or what zealous wrote."""
    parts = {each: _below(each, folder) for each in files}
    known = set(parts.values())
    written = {each[:-1] for each in known if each[-1] in _ABOUT}
    hidden = (".", "_", "zealous-ledger.sqlite")
    return [
        each
        for each, names in parts.items()
        if not any(name.startswith(hidden) for name in names)
        and not any(names[:depth] in written for depth in range(len(names)))
    ]


def _below(place: Place, folder: Place) -> tuple[str, ...]:
    if isinstance(place, Remote):
        return place.below(folder) if isinstance(folder, Remote) else ()
    return place.relative_to(str(folder)).parts


def inside_release(path: Path) -> bool:
    """Whether a path is, or would be, in a directory that may leave."""
    above = path.absolute().parents
    return any((each / name).is_file() for each in above for name in ("release.json", ANONYMIZED))


def is_anonymized(path: Place | OnCluster) -> bool:
    """Whether a file is the output of an anonymity method, by its metadata or what is beside it."""
    if isinstance(path, OnCluster):
        return False
    try:
        beside = (path.parent / ANONYMIZED).is_file()
    except PermissionError:  # what a store says of an object that is not there, to some
        beside = False
    except OSError as error:
        raise LogError(f"{path} cannot be read: {why(error)}") from None
    return beside or NOT_PRIVATE in label(path)


def is_synthetic(path: Place | OnCluster) -> bool:
    """Whether a file is a log that was generated."""
    return not isinstance(path, OnCluster) and label(path).startswith("synthetic log")


def label(path: Place) -> str:
    """What zealous wrote into the metadata of a Parquet file; empty for any other file."""
    if isinstance(path, Remote) and _BY_SUFFIX.get(_suffix(path), "parquet") != "parquet":
        return ""  # saves two requests for each file
    try:
        with opened(path) as file:
            said: bytes = (pq.read_schema(file).metadata or {}).get(b"zealous", b"")
    except (OSError, pa.ArrowException):
        return ""
    return said.decode(errors="replace")


def _suffix(path: Place | OnCluster) -> str:
    packed = path.suffix.lower() in COMPRESSED
    return (Path(path.stem).suffix if packed else path.suffix).lower()


def format_by_ending(path: Place | OnCluster) -> str | None:
    """The format that the ending of a file's name tells, if it does."""
    return _BY_SUFFIX.get(_suffix(path))


def _format_of(paths: Sequence[Place | OnCluster]) -> str:
    formats = {format_by_ending(path) for path in paths}
    if len(formats) > 1:
        raise UsageError("the files have different formats: publish them as one with --format")
    only = formats.pop()
    if only is None:
        raise UsageError(
            f"the ending of {paths[0].name} does not tell its format: "
            f"say --format {', '.join(PRESETS)}"
        )
    return only
