"""Where a log is and what its columns mean. Holds no rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Engine
from zealous.errors import LogError, UsageError, did_you_mean
from zealous.files.limits import Limits
from zealous.files.lines import Layout
from zealous.files.places import Place, error_text, place_of
from zealous.libraries import pa, pq
from zealous.privacy.guarantee import positive_integer
from zealous.registry import Registry

ANONYMIZED = "anonymized.json"
NOT_PRIVATE = "NOT DIFFERENTIALLY PRIVATE"
INTERNAL = "zealous-internal.json"
_ABOUT = ("release.json", ANONYMIZED, INTERNAL)  # what a directory that zealous wrote has
COMPRESSED = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column of the log plays which role; None where the log has none."""

    user: str | None = None
    query: str | None = None
    time: str | None = None
    url: str | None = None
    session: str | None = None
    keywords: str | None = None

    def assigned(self) -> dict[str, str]:
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
            positive_integer(self.max_entries_per_user, "max_entries_per_user")
        if self.exclude_users is not None and not _is_file(self.exclude_users):
            raise UsageError("the file named by --exclude-users cannot be found")


@dataclass(frozen=True, kw_only=True)
class Format:
    """What many logs have in common: how they are read, and the meaning of their columns.

    Attributes:
        name: What it is called in --format.
        layout: How lines are split; None for Parquet.
        columns: What its columns mean, where nobody says otherwise.
        suffixes: The endings of files that have it, such as `.csv`.
        time_format: How times are written; see `Log`.
    """

    name: str
    layout: Layout | None
    columns: Columns
    suffixes: tuple[str, ...] = ()
    time_format: str | None = None


FORMATS: Registry[Format] = Registry(
    "zealous.logs.formats",
    key=lambda each: each.name,
    first=("parquet", "csv", "tsv", "jsonl", "aol", "excite"),
)
register = FORMATS.register


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

    paths: tuple[Place, ...]
    layout: Layout | None
    columns: Columns
    time_format: str | None
    cleaning: Cleaning
    engine: Engine | None = None

    def engine_for(self, engine: Engine | None) -> Engine:
        """Where to run: where somebody says, else where the log is."""
        return engine or self.engine or DuckDB()

    def types(self) -> dict[str, str] | None:
        """The columns that every file has and their Arrow types; None where lines may differ."""
        return self.engine_for(None).columns(self.paths, self.layout)

    def names(self) -> tuple[str, ...] | None:
        """The columns that every file has; None where lines may differ."""
        known = self.types()
        return None if known is None else tuple(known)

    def no_column(self, name: str, given_as: str = "") -> UsageError:
        """What is wrong where a column is named that the log does not have.

        The first line of a text file may be somebody's entry and no header: nothing of it is said.
        """
        in_first_line = self.layout is not None and self.layout.has_header
        near = "" if in_first_line else did_you_mean(name, self.names() or ())
        return UsageError(
            f"the log has no column {name!r}{given_as}: `zealous start` lists its columns{near}"
        )


def read_log(
    paths: Any,
    preset: str | None = None,
    *,
    engine: Engine | None = None,
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
            or the URL of an object store. With `Spark` also `table:NAME`, or a DataFrame.
        preset: The format: `aol`, `excite`, `csv`, `tsv`, `jsonl`, `parquet` or one that another
            package added; from the file's ending where not given.
        engine: `Spark(...)` for a log on a cluster; the embedded engine where not given.
        columns: The roles that differ from the preset's; `Columns(user="CustomerID")`.
        names: The names of the columns in order, for delimited files without a header.
        delimiter: What stands between fields, where it is not the preset's.
        encoding: The files' encoding, where it is not UTF-8.
        time_format: How times are written; see `Log`.
        cleaning: Whose entries are left out.
    """
    found = log_files(paths, preset, engine)
    chosen = FORMATS.get(preset) if preset else _format_of(found)
    if chosen is None:
        raise UsageError(
            f"format must be one of {', '.join(FORMATS)}" + did_you_mean(preset or "", FORMATS)
        )
    layout = chosen.layout
    if names or delimiter or encoding:
        if layout is None:
            raise UsageError("Parquet files carry their own column names and encoding")
        layout = layout.with_options(names, delimiter, encoding or layout.encoding)
    log = Log(
        paths=tuple(found),
        layout=layout,
        columns=chosen.columns,
        time_format=time_format or chosen.time_format,
        cleaning=cleaning or Cleaning(),
        engine=engine,
    )
    return replace(log, columns=_assign_columns(log, columns or Columns()))


def _assign_columns(log: Log, said: Columns) -> Columns:
    """What was said, then what is usual, of the columns that exist."""
    present = log.types()
    for role, name in said.assigned().items():
        if present is not None and name not in present:
            raise log.no_column(name, f" (given as --{role})")
    usual = log.columns.assigned()
    if present is not None and "url" not in present and usual.get("url") == "url":
        usual["url"] = "urls"
    if present is not None and not present.get("keywords", "").startswith("list<"):
        usual.pop("keywords", None)
    kept = {role: name for role, name in usual.items() if present is None or name in present}
    merged = Columns(**(kept | said.assigned()))
    if merged.user is None:
        raise UsageError("say which column holds the user's id with --user")
    return merged


def log_files(paths: Any, preset: str | None = None, engine: Engine | None = None) -> list[Place]:
    """The files of a log, each known to be readable; arguments as for `read_log`."""
    engine = engine or DuckDB()
    found: list[Place] = []
    one = isinstance(paths, str) or not isinstance(paths, Iterable)
    for path in [paths] if one else paths:
        away = engine.place(path)
        if away is not None:
            found.append(away)
            continue
        place = place_of(path)
        try:
            folder, matches = place.find_files()
        except OSError as error:
            raise LogError(f"{place} cannot be read: {error_text(error)}") from None
        if folder:
            logs = _log_files_in(place, matches)
            matches = [each for each in logs if preset or _suffix(each) in _by_suffix()]
        if not matches:
            raise LogError(f"no log found at {place}: give a file, a folder or a quoted pattern")
        found += matches
    if not found:
        raise UsageError("no log given")
    for each in found:
        try:
            each.check_readable()
        except OSError as error:
            raise LogError(f"{each} cannot be read: {error_text(error)}") from None
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        return False


def _log_files_in(folder: Place, files: Sequence[Place]) -> list[Place]:
    """Those files of a folder that may be logs: not hidden ones, ledgers, or what zealous wrote."""
    parts = {each: each.parts_below(folder) for each in files}
    known = set(parts.values())
    written = {each[:-1] for each in known if each[-1] in _ABOUT}
    hidden = (".", "_", "zealous-ledger.sqlite")
    return [
        each
        for each, names in parts.items()
        if not any(name.startswith(hidden) for name in names)
        and not any(names[:depth] in written for depth in range(len(names)))
    ]


def inside_release(path: Path) -> bool:
    """Whether a path is, or would be, in a directory that may leave."""
    above = path.absolute().parents
    return any((each / name).is_file() for each in above for name in ("release.json", ANONYMIZED))


def is_anonymized(path: Place) -> bool:
    """Whether a file is the output of an anonymity method, by its metadata or what is beside it."""
    try:
        beside = (path.parent / ANONYMIZED).is_file()
    except PermissionError:  # what a store says of an object that is not there, to some
        beside = False
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error_text(error)}") from None
    return beside or NOT_PRIVATE in parquet_label(path)


def is_synthetic(path: Place) -> bool:
    """Whether a file is a log that was generated."""
    return parquet_label(path).startswith("synthetic log")


def parquet_label(path: Place) -> str:
    """What zealous wrote into the metadata of a Parquet file; empty for any other file."""
    named = _by_suffix().get(_suffix(path))
    if path.local() is None and named is not None and named.layout is not None:
        return ""  # no Parquet, by its name: saves two requests for each file
    try:
        with path.open_file() as file:
            said: bytes = (pq.read_schema(file).metadata or {}).get(b"zealous", b"")
    except (OSError, pa.ArrowException):
        return ""
    return said.decode(errors="replace")


def _suffix(path: Place) -> str:
    packed = path.suffix.lower() in COMPRESSED
    return (Path(path.stem).suffix if packed else path.suffix).lower()


def _by_suffix() -> dict[str, Format]:
    """The format of each ending: refused where two claim one, since they read it differently."""
    found: dict[str, Format] = {}
    for each in FORMATS.values():
        for suffix in each.suffixes:
            other = found.setdefault(suffix, each)
            if other is not each:
                raise UsageError(
                    f"the formats {other.name} and {each.name} both claim files that end in "
                    f"{suffix}: remove the package that adds one of them"
                )
    return found


def format_by_ending(path: Place) -> str | None:
    """The format that the ending of a file's name tells, if it does."""
    found = _by_suffix().get(_suffix(path))
    return found.name if found else None


def _format_of(paths: Sequence[Place]) -> Format:
    known = _by_suffix()
    found = {suffix: known.get(suffix) for suffix in map(_suffix, paths)}
    if len({each and each.name for each in found.values()}) > 1:
        raise UsageError("the files have different formats: publish them as one with --format")
    only = next(iter(found.values()))
    if only is None:
        raise UsageError(
            f"the ending of {paths[0].name} does not tell its format: "
            f"say --format {', '.join(FORMATS)}"
        )
    return only
