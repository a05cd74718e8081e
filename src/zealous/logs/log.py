"""Where a log is and what its columns mean. Holds no rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from zealous.engines.duckdb import DuckDB
from zealous.engines.engine import Engine, require_local
from zealous.errors import LogError, UsageError, did_you_mean
from zealous.files.frames import is_frame
from zealous.files.limits import Limits
from zealous.files.lines import Layout
from zealous.files.passwords import without_password
from zealous.files.places import Place, error_text, place_of
from zealous.logs.column_names import ROLES, column_of, columns_called, guess_roles, is_known
from zealous.logs.query import is_database, query
from zealous.notebook import block, grid, note
from zealous.privacy.guarantee import positive_integer
from zealous.registry import Registry

ANONYMIZED = "anonymized.json"
NOT_PRIVATE = "NOT DIFFERENTIALLY PRIVATE"
INTERNAL = "zealous-internal.json"
_ABOUT = ("release.json", ANONYMIZED, INTERNAL)  # what a directory that zealous wrote has
_SHOWN = 5  # names of files
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
COMPRESSED = (".gz", ".zst", ".bz2")


@dataclass(frozen=True, kw_only=True, repr=False)
class Columns:
    """Which column of the log has which role; None if the log has no such column.

    Attributes:
        user: The column that says which person an entry is about.
        query: What was searched for.
        time: When.
        url: The address that was clicked.
        session: An id of the session.
        keywords: The words of the query, if they are already split.
    """

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

    def __repr__(self) -> str:
        assigned = (f"{role}={name!r}" for role, name in self.assigned().items())
        return f"Columns({', '.join(assigned)})"


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What is left out. Each rule looks only at one user's own rows.

    Attributes:
        exclude_users: A file with one user id per line: deletion requests, minors, staff.
        max_entries_per_user: Users with more entries than this (robots) are left out completely.
        limits: How much is read of a user who is not left out.
    """

    exclude_users: Path | None = None
    max_entries_per_user: int | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
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
        title: What it is called in sentences.
    """

    name: str
    layout: Layout | None
    columns: Columns
    suffixes: tuple[str, ...] = ()
    time_format: str | None = None
    title: str = ""


FORMATS: Registry[Format] = Registry(
    "zealous.logs.formats",
    key=lambda each: each.name,
    first=("parquet", "csv", "tsv", "jsonl", "aol", "excite"),
)
register = FORMATS.register


@dataclass(frozen=True, kw_only=True, repr=False)
class Log:
    """A log that can be opened: files, how they are read, what the columns mean, who is left out.

    Attributes:
        paths: The files, in order of name.
        layout: How lines are split; None for Parquet.
        columns: What the columns mean.
        time_format: How times are written: None for ISO or a timestamp type, `epoch`, `epoch-ms`,
            or a strptime pattern.
        cleaning: Whose entries are left out.
        engine: Where it is read and counted; None for the embedded engine.
        sql: The query whose result it is; None if it is not the result of a query.
        recognised: The roles whose column was not named, but found by its name.
        left_out: Files of a folder that are not read, because their extension is of another format.
    """

    paths: tuple[Place, ...]
    layout: Layout | None
    columns: Columns
    time_format: str | None
    cleaning: Cleaning
    engine: Engine | None = None
    sql: str | None = None
    recognised: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Log({self._files()}, {self.columns!r})"

    def _repr_html_(self) -> str:
        return block(
            "Log",
            grid(["role", "column"], list(self.columns.assigned().items())),
            note(f"{self._files()}. It holds no rows: they are read when a release is made."),
            *([note(f"Not read: {self.files_left_out()}.")] if self.left_out else []),
        )

    def _files(self) -> str:
        first, *others = self.paths
        return f"{first} and {len(others):,} more files" if others else str(first)

    def files_left_out(self) -> str:
        """The files of a folder that are not read, of many the first."""
        first, others = self.left_out[:_SHOWN], len(self.left_out) - _SHOWN
        return ", ".join(first) + (f" and {others:,} more" if others > 0 else "")

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
        near = did_you_mean(name, self.quotable_names())
        in_lines = self.layout is not None and self.layout.has_header
        what = (
            "as it is read, it has only one. `zealous start` finds out --delimiter and --encoding"
            if in_lines and len(self.names() or ()) == 1
            else "`zealous start` lists its columns"
        )
        return UsageError(f"the log has no column {name!r}{given_as}: {what}{near}")

    def quotable_names(self) -> list[str]:
        """Those of its columns that a message may name; see `no_column`."""
        in_first_line = self.layout is not None and self.layout.has_header
        return [each for each in self.names() or () if not in_first_line or is_known(each)]

    def without_recognised(self, kept: Collection[str]) -> Log:
        """The same without the columns that nobody named, but for those of some roles."""
        left_out = self.recognised.difference(kept)
        return replace(
            self,
            columns=replace(self.columns, **dict.fromkeys(left_out)),
            recognised=self.recognised - left_out,
        )


def read_log(
    paths: Any,
    preset: str | None = None,
    *,
    sql: str | None = None,
    engine: Engine | None = None,
    user: str | None = None,
    columns: Columns | None = None,
    names: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    time_format: str | None = None,
    cleaning: Cleaning | None = None,
) -> Log:
    """Describe a log: where it is and what its columns mean. Reads only headers.

    Args:
        paths: A file, a folder, a pattern such as `logs/*.tsv.gz`, or several of them; each a path
            or the URL of an object store. Or a table of pandas, Polars, Arrow or DuckDB, or
            anything that hands over an Arrow stream. With `Spark` also `table:NAME`, or a frame of
            its session.
        preset: The format: `aol`, `excite`, `csv`, `tsv`, `jsonl`, `parquet` or one that another
            package added. By default, the file's extension decides.
        sql: A query, where `paths` is the URL of a database or a file that is one. Each row that it
            returns must depend on one person's rows alone.
        engine: `Spark(...)` for a log on a cluster. By default, the embedded engine.
        user: The column that says who the person is, if its name does not show it.
        columns: The roles that differ from the preset's: `Columns(user="id", query="phrase")`.
        names: The names of the columns in order, for delimited files without a header.
        delimiter: What separates fields, if it is not the preset's.
        encoding: The files' encoding, if it is not UTF-8.
        time_format: How times are written; see `Log`.
        cleaning: Whose entries are left out.
    """
    left_out: list[str] = []
    if sql is None:
        found = log_files(paths, preset, engine, left_out)
    else:
        found = [_query_result(paths, sql, engine)]
    chosen = format_named(preset) if preset else _format_of(found)
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
        sql=None if sql is None else sql.strip(),
        left_out=tuple(left_out),
    )
    said = columns or Columns()
    if user is not None and said.user not in (None, user):
        raise UsageError("user and columns name two columns for the person: leave one of them out")
    return _assign_columns(log, said if user is None else replace(said, user=user))


def _query_result(paths: Any, sql: str, engine: Engine | None) -> Place:
    """The result of a query, as the one place of a log."""
    several = isinstance(paths, Sequence) and not isinstance(paths, str)
    if several and len(paths) != 1:
        raise UsageError("--sql goes with one database")
    if engine is not None:
        require_local(engine, "a database is read on this machine")
    return query(paths[0] if several else paths, sql)


def format_named(name: str) -> Format:
    """The format that is called so.

    Raises:
        UsageError: None is.
    """
    found = FORMATS.get(name)
    if found is None:
        raise UsageError(
            f"format must be one of {', '.join(FORMATS)}" + did_you_mean(name, FORMATS)
        )
    return found


def _assign_columns(log: Log, said: Columns) -> Log:
    """The log with the columns that were said, then those that are usual, of those that exist."""
    present = log.types()
    for role, name in said.assigned().items():
        if present is not None and name not in present:
            given = f"--{role}, or assumed without it" if name == role else f"given as --{role}"
            raise log.no_column(name, f" ({given})")
    kept = log.columns.assigned()
    recognised: dict[str, str] = {}
    if present is not None:
        kept = {role: name for role, name in kept.items() if name in present}
        if not present.get("keywords", "").startswith("list<"):
            kept.pop("keywords", None)
        recognised = _recognised_columns(log, said.assigned().keys() | kept.keys(), [*present])
    merged = Columns(**(recognised | kept | said.assigned()))
    if merged.user is None:
        raise _no_user(log)
    return replace(log, columns=merged, recognised=frozenset(recognised))


def _recognised_columns(log: Log, known: Set[str], present: Sequence[str]) -> dict[str, str]:
    """The usual roles whose column is there under another spelling: one column, and only one."""
    usual = log.columns.assigned().keys() - known
    named = {role: columns_called(role, present) for role in ROLES if role in usual}
    return {role: same[0] for role, same in named.items() if len(same) == 1}


class NoUserColumn(UsageError):
    """No column is known to be the user's."""


def _no_user(log: Log) -> UsageError:
    """What is wrong where no column is the user's, or several may be."""
    names = log.quotable_names()
    several = columns_called("user", names)
    if len(several) > 1:
        return UsageError(
            f"{' and '.join(map(repr, several))} may each hold the user's id: say which with --user"
        )
    near = column_of(guess_roles([each for each in names if each.isprintable()]), "user")
    offered = f". Did you mean {near}?" if near else ""
    return NoUserColumn(f"say which column holds the user's id with --user{offered}")


def log_files(
    paths: Any,
    preset: str | None = None,
    engine: Engine | None = None,
    left_out: list[str] | None = None,
) -> list[Place]:
    """The files of a log, each known to be readable; arguments as for `read_log`.

    Args:
        paths: Where they are.
        preset: The format.
        engine: What reads them.
        left_out: Receives the names of the files of folders that are not read.
    """
    engine = engine or DuckDB()
    found: list[Place] = []
    several = isinstance(paths, Sequence | Set | Iterator) and not isinstance(paths, str)
    several = several and not is_frame(paths)  # which can be iterated too, and is one log
    for path in paths if several else [paths]:
        away = engine.place(path)
        if away is not None:
            found.append(away)
            continue
        if is_database(path):
            raise UsageError("a database is read by a query: say --sql 'select ...'")
        place = place_of(path)
        shown = without_password(str(place))
        try:
            folder, matches = place.find_files()
        except OSError as error:
            raise LogError(f"{shown} cannot be read: {error_text(error)}") from None
        if folder:
            logs = _log_files_in(place, matches)
            matches = _files_of_format(logs, preset)
            if left_out is not None:
                left_out += [each.name for each in logs if each not in set(matches)]
        if not matches:
            raise LogError(f"no log found at {shown}: give a file, a folder or a quoted pattern")
        found += matches
    if not found:
        raise UsageError("no log given")
    for each in found:
        if each.suffix.lower() in _SPREADSHEETS:
            raise UsageError(
                f"{each.name} is a spreadsheet: save its sheet as CSV in UTF-8, or read it with "
                "pandas and hand the frame to z.read_log"
            )
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


def _files_of_format(files: Sequence[Place], preset: str | None) -> list[Place]:
    """The files of a folder that are read: by their endings, where these tell anything.

    With a format that no ending tells, such as AOL's, those whose ending tells no other one.
    """
    told = {each: _by_suffix().get(_suffix(each)) for each in files}
    if preset is None:
        return [each for each, known in told.items() if known]
    own = [each for each, known in told.items() if known and known.name == preset]
    return own or [
        each
        for each, known in told.items()
        if known is None and each.suffix.lower() not in _SPREADSHEETS
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
    """What zealous wrote into the metadata of a Parquet file; empty for any other log."""
    named = _by_suffix().get(_suffix(path))
    if path.local() is None and named is not None and named.layout is not None:
        return ""  # no Parquet, by its name: saves two requests for each file
    try:
        with path.open_rows(()) as rows:
            said: bytes = (rows.schema.metadata or {}).get(b"zealous", b"")
    except (OSError, LogError):
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
        raise UsageError(
            "the files have different formats: say which of them to read, such as by --format csv"
        )
    only = next(iter(found.values()))
    if only is None:
        raise UsageError(
            f"the ending of {paths[0].name} does not tell its format: "
            f"say --format {', '.join(FORMATS)}"
        )
    return only
