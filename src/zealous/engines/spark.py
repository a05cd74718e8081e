"""Apache Spark: for logs that are on a cluster. Needs the extra `spark` and Java 17.

Nothing here uses RDDs, so that any session will do: one of our own, a notebook's, Spark Connect.
Nothing is kept in memory but what `materialize` is given; what `append_rows` is given is kept on
the disks of the executors.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import unquote

from zealous.engines import executor
from zealous.engines.engine import Each, Opened, Option, register
from zealous.engines.on_cluster import OnCluster
from zealous.engines.spark_session import MEANING, is_spark_error, make_session, wrap_errors
from zealous.engines.spark_tables import StoredTables
from zealous.engines.sql import Step, comma_separated, identifier, statement
from zealous.engines.transpile import to_spark
from zealous.errors import LogError, UsageError
from zealous.files import interrupts, parquet
from zealous.files.frames import is_frame
from zealous.files.limits import Limits
from zealous.files.lines import (
    LINE_LIMIT,
    Layout,
    Skipped,
    check_compression,
    column_names,
    common_header,
)
from zealous.files.places import Place, place_of

if TYPE_CHECKING:
    import pyarrow as pa

# Hadoop passes over longer lines, of which Java would have to hold all at once.
_LONGEST = ("mapreduce.input.linerecordreader.line.maxlength", str(32 * LINE_LIMIT))
_MOST = 2**31 - 2  # characters that are asked for: Spark counts them with 32 bits
_TYPES = {
    "string": "string",
    "bigint": "int64",
    "int": "int32",
    "smallint": "int16",
    "tinyint": "int8",
    "double": "double",
    "float": "float",
    "boolean": "bool",
    "date": "date32[day]",
    "timestamp": "timestamp[us, tz=UTC]",
    "timestamp_ntz": "timestamp[us]",
    "binary": "binary",
}


@register
class Spark:
    """Apache Spark: reads and counts a log on a cluster.

    Args:
        session: The session to use, such as a notebook's. It is left running and unchanged.
        master: Where to start a session, if none is given: `local[*]`, `spark://host:7077`,
            `yarn`, or `sc://host:15002` for Spark Connect.
        conf: Settings of the session that is started, such as `{"spark.executor.memory": "8g"}`.
    """

    name: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark"
    summary: ClassVar[str] = "Spark for a log on a cluster; see docs/guide/spark.md."
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "spark-master",
            "URL",
            "spark://host:7077, yarn, sc://host:15002, local[4]. [default: local[*]]",
        ),
        Option(
            "spark-conf",
            "KEY=VALUE",
            "A setting of Spark, such as spark.executor.memory=8g. May be repeated.",
            repeated=True,
        ),
    )

    def __init__(
        self,
        session: Any = None,
        *,
        master: str = "local[*]",
        conf: Mapping[str, str] | None = None,
    ) -> None:
        self._session = session
        self._master = master
        self._conf = dict(conf or {})
        self._views: dict[str, str] = {}
        self._kept: dict[str, Any] = {}
        self._stored = StoredTables(self._run, self._view)
        self._columns: dict[tuple[Any, Layout | None], dict[str, str] | None] = {}
        self._before: dict[str, str | None] = {}
        self._shipped = False
        self._entered = 0
        self._until_exit = ExitStack()

    def __repr__(self) -> str:
        return "Spark()"  # its settings may hold credentials

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        for name in ("memory", "threads", "temporary"):
            if given.get(name) is not None:
                raise UsageError(
                    f"--{name} is of the embedded engine: give Spark its own by --spark-conf, such "
                    "as spark.driver.memory=4g, and threads by --spark-master local[4]"
                )
        settings = [setting.partition("=") for setting in given["spark_conf"]]
        if not all(name and equals for name, equals, _ in settings):
            raise UsageError("--spark-conf must look like spark.executor.memory=8g")
        return cls(
            master=given["spark_master"] or "local[*]",
            conf={name.strip(): value.strip() for name, _, value in settings},
        )

    def local(self) -> None:
        """None: rows stay on the cluster, and steps are run anew whenever they are read."""

    @property
    def session(self) -> Any:
        """The session, made now if there is none."""
        if self._session is None:
            self._session = make_session(self._master, self._conf)
        return self._session

    def __enter__(self) -> Self:
        self._entered += 1
        if self._entered > 1:
            return self
        session = self.session
        with wrap_errors("the Spark session does not answer"):
            self._before = {name: session.conf.get(name, None) for name in MEANING}
            for name, value in MEANING.items():
                session.conf.set(name, value)
        # Else PySpark waits for the end of a job whose result nobody wants any more.
        self._until_exit.enter_context(interrupts.calling_off(session.interruptAll))
        return self

    def __exit__(self, *_: object) -> None:
        self._entered -= 1
        if self._entered:
            return
        try:
            for name in list(self._views):
                self.drop(name)
            for name, value in self._before.items():
                if value is None:
                    self.session.conf.unset(name)
                else:
                    self.session.conf.set(name, value)
        except Exception as error:  # the session is gone, and all of it with it
            if not is_spark_error(error):
                raise
            self._views.clear()
            self._kept.clear()
            self._stored.tables.clear()
        finally:
            self._until_exit.close()
            self._columns.clear()  # files may change before they are opened again

    def place(self, given: object) -> OnCluster | None:
        """Where a log is, if Spark alone can look there; else None.

        Args:
            given: A DataFrame, `table:NAME`, the URL of a file, folder or pattern, or a path.
        """
        if hasattr(given, "createOrReplaceTempView"):
            return OnCluster(name="the DataFrame", frame=given)
        if is_frame(given):
            raise UsageError(
                f"a {type(given).__name__} is in this process and not on the cluster: leave out "
                "--engine, or hand Spark a frame of its session (session.createDataFrame)"
            )
        if not isinstance(given, str | Place):
            return None
        text = str(given)
        if text.startswith("table:"):
            name = text.removeprefix("table:")
            return OnCluster(name=name, table=name)
        scheme, found, rest = text.partition("://")
        if not found or scheme == "file":
            return None
        name = rest.partition("?")[0].rstrip("/").rpartition("/")[2]
        return OnCluster(name=name.rpartition("@")[2], url=text)

    def columns(self, paths: Sequence[Any], layout: Layout | None) -> dict[str, str] | None:
        """The columns of a log and their Arrow types; None for JSON lines."""
        paths = [place_of(path) for path in paths]
        known = (tuple(paths), layout)
        if known not in self._columns:
            self._columns[known] = self._look(paths, layout)
        return self._columns[known]

    def _look(self, paths: Sequence[Any], layout: Layout | None) -> dict[str, str] | None:
        if layout is None:
            return _types(self._frame(paths))
        if not layout.has_header:
            return dict.fromkeys(layout.names, "string") or None
        if local := _local(paths):  # that files elsewhere begin alike is seen by the executors
            return dict.fromkeys(common_header(local, layout), "string")
        lines = self._lines(paths, layout).where("start = 0").select("line").limit(1)
        with wrap_errors("the log cannot be read"):
            first = [
                executor.without_byte_order_mark(bytes(row[0]), layout) for row in lines.collect()
            ]
        return dict.fromkeys(column_names(first[0] if first else b"", layout, "the log"), "string")

    def open(
        self,
        name: str,
        paths: Sequence[Any],
        layout: Layout | None = None,
        names: Sequence[str] = (),
        lists: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> Opened:
        paths = [place_of(path) for path in paths]
        if layout is None:
            local = _local(paths)  # where the first file would decide how others are read
            types = parquet.column_types(local, names) if local else {}
            frame = self._frame(paths)
            if any(map(parquet.in_milliseconds, types.values())) and not _with_patterns(paths):
                frame = self._milliseconds_read(frame, paths, types)
            return self._open_frame(name, frame, names, limits)
        known = self.columns(paths, layout) or {}
        self._send_package()
        lists = layout.lists(lists)
        split = executor.SplitLines(
            layout=layout,
            fields=tuple(known),
            names=tuple(names),
            lists=tuple(lists),
            limits=limits,
        )
        kinds = {each: "array<string>" if each in lists else "string" for each in names}
        schema = comma_separated(f"{_quote(each)} {kind}" for each, kind in kinds.items())
        told = f"{_quote(executor.REASON)} string, {_quote(executor.NUMBER)} bigint"
        with wrap_errors("the log cannot be read"):
            split_lines = self._lines(paths, layout).mapInArrow(split, f"{schema}, {told}")
            good = split_lines.where(f"{_quote(executor.REASON)} is null")
            self._view(name, good.select(*map(_quote, names)))
        found = {each: _arrow(kind) for each, kind in kinds.items()}
        return Opened(found, self._skipped(split_lines))

    def _milliseconds_read(self, frame: Any, paths: Sequence[Any], types: Mapping[str, str]) -> Any:
        """The named columns of files; a time beyond all years is NULL, and does not end the run.

        Of milliseconds 64 bits hold more than Spark, which has microseconds, can read.
        """
        kinds, (first, last) = dict(frame.dtypes), parquet.YEARS_IN_MILLISECONDS
        doubtful = [name for name, kind in types.items() if parquet.in_milliseconds(kind)]
        schema = comma_separated(
            f"{_quote(name)} {'bigint' if name in doubtful else kinds[name]}" for name in types
        )
        read = {name: _quote(name) for name in types}
        for name in doubtful:
            known = f"case when {read[name]} between {first} and {last} then {read[name]} end"
            read[name] = f"cast(timestamp_millis({known}) as {kinds[name]}) as {read[name]}"
        with wrap_errors("the log cannot be read as Parquet: see --format"):
            numbers = self._reader(paths).schema(schema).parquet(*_urls(paths))
            return numbers.selectExpr(*read.values())

    def _open_frame(
        self, name: str, frame: Any, names: Sequence[str], limits: Limits | None
    ) -> Opened:
        known = _types(frame)
        if not known.keys() >= set(names):
            raise LogError("the log changed while it was read: its columns are others now")
        types = {each: known[each] for each in names or known}
        if any(" collate " in kind for kind in types.values()):
            raise UsageError(
                "a column of the log has a collation, by which different texts are the same: cast "
                "it to a plain string"
            )
        with wrap_errors("the log cannot be read"):
            self._view(name, frame.selectExpr(*(_valid(*each, limits) for each in types.items())))
        return Opened(types, Skipped())

    def share_done(self) -> float | None:
        """Of the tasks of the stages at work: how many stages are to follow, Spark knows late."""
        with suppress(Exception):  # there is no session yet, or one that tells nothing of its tasks
            tracker = self._session.sparkContext.statusTracker()
            stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStagesIds()))
            tasks = [(each.numCompletedTasks, each.numTasks) for each in stages]
            return float(sum(done for done, _ in tasks) / sum(all_of for _, all_of in tasks))
        return None

    def add_table(self, name: str, table: pa.Table) -> None:
        with wrap_errors():
            self._view(name, self.session.createDataFrame(table))

    def batches(self, steps: Sequence[Step], each: Each | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of the last step, each batch as `each` leaves it on the executors."""
        with wrap_errors():
            table = self._stored.despite_losses(lambda: self._map_rows(steps, each).toArrow())
        yield from table.to_batches()

    def _map_rows(self, steps: Sequence[Step], each: Each | None) -> Any:
        frame = self._run(steps)
        if each is None:
            return frame
        self._send_package()
        through = executor.MapBatches(executor.WithColumnNames(each, tuple(frame.columns)))
        return _with_numbered_columns(frame).mapInArrow(through, frame.schema)

    def rows(self, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
        with wrap_errors():
            found = self._stored.despite_losses(lambda: self._run(steps).collect())
        return [tuple(row) for row in found]

    def append_rows(self, name: str, steps: Sequence[Step]) -> None:
        """Append the rows of the last step to a table on the disks of the executors."""
        with wrap_errors():
            self._stored.append(name, steps)

    def drop(self, name: str) -> None:
        """Forget a table.

        Spark frees rows that were checkpointed once nobody has their frame: here and in its
        catalogue.
        """
        view = self._views.pop(name, None)
        self._kept.pop(name, None)
        self._stored.tables.pop(name, None)
        if view is not None:
            with wrap_errors():
                self.session.catalog.dropTempView(view)

    def materialize(self, name: str, steps: Sequence[Step], each: Each) -> None:
        """Keep the rows of the last step, as `each` leaves them, under a name; see `Engine`.

        What `each` drew must not be drawn again. A local checkpoint forgets how its rows were made:
        where a cache would work out anew what was lost with an executor, the run ends. A task that
        failed before leaves nothing; one that ran twice (spark.speculation) could leave its rows on
        two executors, under two noises. So each run of a task marks its rows, the marks that are
        there at first are remembered, and rows with any other end the run as soon as they are read.
        """
        from pyspark.sql.types import LongType, StructField, StructType

        with wrap_errors():
            frame = self._run(steps)
            names = frame.columns
            schema = StructType([*frame.schema.fields, StructField(executor.DRAW, LongType())])
            marked = executor.MarkBatches(executor.WithColumnNames(each, tuple(names)))
            self._send_package()
            drawn = self._stored.despite_losses(
                lambda: (
                    _with_numbered_columns(self._run(steps))
                    .mapInArrow(marked, schema)
                    .localCheckpoint(eager=True)
                )
            )
            marks = drawn.select(_quote(executor.DRAW)).distinct().collect()
            known = comma_separated([str(mark) for (mark,) in marks] or ["0"])
            first = f"{_quote(executor.DRAW)} in ({known})"
            self._view(name, drawn.selectExpr(*(_column_if(first, each) for each in names)))
        self._kept[name] = drawn  # Connect lets go of rows of which nobody here has the frame

    def buckets(self, rows: int, text: int) -> int:
        """One: Spark cuts its work into parts by itself."""
        return 1

    def rank_key(self, key: int, columns: Sequence[str]) -> str:
        signed = key - (1 << 64) if key >> 63 else key
        return f"xxhash64({signed}, {comma_separated(identifier(column) for column in columns)})"

    def rank_bin(self, rank: str) -> None:
        """None: the rows would be sent over the network once more."""

    def kth_smallest(self, value: str, number: int) -> None:
        """None: what is sorted is spilt to disk, on as many machines as there are."""

    def row_identifier(self) -> str:
        """A whole number that no other row of a step has, told without sending rows around."""
        return "monotonically_increasing_id()"

    def bucket(self, column: str, buckets: int) -> str:
        return f"abs(xxhash64({identifier(column)}) % {buckets})"

    def _run(self, steps: Sequence[Step]) -> Any:
        return self.session.sql(to_spark(statement(steps), self._views))

    def _view(self, name: str, frame: Any) -> None:
        """Under a name that nobody else's tables have."""
        view = f"zealous_{secrets.token_hex(8)}_{name}"
        with wrap_errors():
            frame.createOrReplaceTempView(view)
        self.drop(name)
        self._views[name] = view

    def _frame(self, paths: Sequence[Any]) -> Any:
        first = paths[0]
        if first.local() is None and first.url is None:
            if len(paths) > 1:
                raise UsageError("give one table or DataFrame: put several together with a union")
            if first.table is None:
                return first.frame
            with wrap_errors(f"there is no table {first.table} that can be read"):
                table = self.session.table(first.table)
                table.schema  # noqa: B018  under Connect it is looked for only when it is needed
                return table
        if local := _local(paths):
            parquet.common_columns(local)
        with wrap_errors("the log cannot be read as Parquet: see --format"):
            return self._reader(paths).parquet(*_urls(paths))

    def _reader(self, paths: Sequence[Any]) -> Any:
        """Reads files for what is in them: no folder called user=x adds a column.

        The name of a local file is no pattern. Where a pattern of a URL is among them it is escaped
        instead, and Hadoop then fails if a colon is in the name of any file beside it.
        """
        reader = self.session.read.option("recursiveFileLookup", "true")
        return reader if _with_patterns(paths) else reader.option("__globPaths__", "false")

    def _lines(self, paths: Sequence[Any], layout: Layout) -> Any:
        """(line, file, start): the bytes of each line, and where its part of the file begins."""
        for path in _local(paths):
            check_compression(path.name)
        with wrap_errors("the log cannot be read"):
            reader = self._reader(paths).option("lineSep", "\n").option(*_LONGEST)
            text = reader.text(_urls(paths))
            if _with_patterns(paths):
                for file in text.inputFiles():
                    check_compression(unquote(file.rpartition("/")[2]))
            return text.selectExpr(
                f"substring(cast(value as binary), 1, {LINE_LIMIT + 2}) as line",
                "_metadata.file_path as file",
                "_metadata.file_block_start as start",
            )

    def _skipped(self, lines: Any) -> Skipped:
        reason = _quote(executor.REASON)
        with wrap_errors("the log cannot be read"):
            told = lines.where(f"{reason} is not null").groupBy(reason)
            counted = told.sum(executor.NUMBER).collect()
        return Skipped({row[0]: row[1] for row in counted})

    def _send_package(self) -> None:
        """Give the executors this package, which they may not have."""
        if self._shipped:
            return
        with wrap_errors("this program cannot be sent to the executors"):
            self.session.addArtifacts(str(executor.package_archive()), pyfile=True)
        self._shipped = True


def _types(frame: Any) -> dict[str, str]:
    """The columns of a frame and their Arrow types."""
    with wrap_errors("the log cannot be read"):
        return {each.name: _arrow(each.dataType.simpleString()) for each in frame.schema}


def _arrow(kind: str) -> str:
    """The Arrow name of a Spark type."""
    if kind.startswith("decimal("):
        return kind.replace("decimal", "decimal128")
    if " collate " in kind:
        return kind
    if kind.startswith("array<"):
        return f"list<element: {_arrow(kind[6:-1])}>"
    return _TYPES.get(re.sub(r"[(].*", "", kind).replace("varchar", "string"), kind)


def _valid(name: str, kind: str, limits: Limits | None) -> str:
    """SQL of Spark: a column, without texts that are not UTF-8: a release could not hold them.

    Of a text over the limit only so much is left that it is seen to be, and in the place of a list
    over it stands one text over it.
    """
    column = _quote(name)
    most = None if limits is None else min(limits.text, _MOST) + 1
    if kind == "string":
        text = column if most is None else f"left({column}, {most})"
        return f"case when is_valid_utf8({column}) then {text} end as {column}"
    if kind == "list<element: string>":
        texts = f"transform({column}, each -> case when is_valid_utf8(each) then each end)"
        if most is not None:
            add = "(sum, each) -> sum + 1 + coalesce(octet_length(each), 0)"
            size = f"aggregate({column}, 0L, {add})"
            # Of the row's own size, else Spark would make such a text for every plan.
            long = f"array(repeat('x', cast(least({size}, {most}) as int)))"
            texts = f"case when {size} >= {most} then {long} else {texts} end"
        return f"{texts} as {column}"
    return column


def _with_numbered_columns(frame: Any) -> Any:
    """A frame whose columns any function of Spark finds; see `executor.WithColumnNames`."""
    return frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))


def _column_if(met: str, name: str) -> str:
    """SQL of Spark: a column of rows that meet a condition; any other row ends the run."""
    other = f"raise_error('{executor.OTHER_DRAW}')"
    return f"case when {met} then {_quote(name)} else {other} end as {_quote(name)}"


def _local(paths: Sequence[Any]) -> list[Place]:
    """Those files that this machine sees as the executors do."""
    return [path for path in paths if path.local() is not None]


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _with_patterns(paths: Sequence[Any]) -> bool:
    """Whether a URL is among them, which may be a pattern or a folder."""
    return len(_local(paths)) < len(paths)


def _urls(paths: Sequence[Any]) -> list[str]:
    """What Spark calls the files, each once."""
    names = [path.name for path in _local(paths)]
    if any(name.startswith(("_", ".")) or name.endswith("._COPYING_") for name in names):
        raise UsageError(
            "Spark passes over files whose names begin with _ or a dot, or end in ._COPYING_: "
            "rename them"
        )
    if any(":" in name for name in names):
        raise UsageError("Spark cannot read a file with a colon in its name: rename it")
    escaped = _with_patterns(paths)
    return list(dict.fromkeys(_url(path, escaped=escaped) for path in paths))


def _url(path: Any, *, escaped: bool) -> str:
    local = path.local()
    if local is None:
        return str(path.url)
    place = str(local.absolute())
    return "file://" + (re.sub(r"[*?\[\]{}\\]", r"[\g<0>]", place) if escaped else place)
