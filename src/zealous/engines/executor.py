"""What runs in Python on Spark's executors, next to the rows."""

from __future__ import annotations

import atexit
import codecs
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from zealous.engines.engine import Each
from zealous.errors import LogError
from zealous.files.limits import Limits, without_long_texts
from zealous.files.lines import Layout, Skipped, column_names, splitter
from zealous.files.scratch import working_directory
from zealous.libraries import pa, pc

REASON, NUMBER, DRAW = "zealous:reason", "zealous:number", "zealous:draw"
OTHER_COLUMNS = "zealous-other-columns"  # found in Spark's message, which quotes data
OTHER_DRAW = "zealous-other-draw"  # likewise
_MARK = "\ufeff".encode("gb18030")


@dataclass(frozen=True)
class MapBatches:
    """Applies a function to each batch."""

    each: Each

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run on one partition."""
        return map(self.each, batches)


@dataclass(frozen=True)
class WithColumnNames:
    """Gives a function its batches under the names of their columns.

    PySpark's `mapInArrow` does not find columns with a dot or a backtick in their names.
    """

    each: Each
    names: tuple[str, ...]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Run on one batch."""
        return self.each(batch.rename_columns(list(self.names)))


@dataclass(frozen=True)
class MarkBatches:
    """Applies a function to each batch; all that it leaves in one run has one random mark."""

    each: Each

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run on one partition."""
        mark = pa.scalar(int.from_bytes(os.urandom(8), signed=True), pa.int64())
        for batch in map(self.each, batches):
            yield batch.append_column(DRAW, pa.repeat(mark, batch.num_rows))


@dataclass(frozen=True, kw_only=True)
class SplitLines:
    """Splits lines by the rules that hold on one machine too.

    Takes (line, file, start) and yields the named columns, with two more: why lines were skipped,
    and how many. A row has either of them.

    Attributes:
        layout: How a line is split.
        fields: The names of a line's fields; where they are known.
        names: The columns to yield.
        lists: Which of them are lists of text.
        limits: Texts over these are NULL.
    """

    layout: Layout
    fields: tuple[str, ...]
    names: tuple[str, ...]
    lists: tuple[str, ...]
    limits: Limits | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run on one partition, which holds parts of files one after the other."""
        split = splitter(self.layout, self.fields, self.names, self.lists)
        headed = self.layout.has_header
        marked = not without_byte_order_mark(_MARK, self.layout)
        before: tuple[str, int] | None = None  # the part of a file that the last line was of
        skipped = Skipped()
        for batch in batches:
            lines = batch["line"].to_pylist()
            if headed or marked:
                before = self._begin(batch, lines, before, headed=headed)
            block = b"\n".join([*(line for line in lines if line is not None), b""])
            if block:
                for records in split(block, skipped):
                    if self.limits is not None:
                        records = without_long_texts(records, self.limits, skipped)
                    yield self._with_empty_reason(records)
        yield from self._left_out(skipped)

    def _begin(
        self,
        batch: pa.RecordBatch,
        lines: list[bytes | None],
        before: tuple[str, int] | None,
        *,
        headed: bool,
    ) -> tuple[str, int] | None:
        """Take away each line that is a file's first, once it is seen to name the same columns."""
        for row in _changes(batch):
            part = (batch["file"][row].as_py(), batch["start"][row].as_py())
            if part[1] == 0 and part != before:
                line = without_byte_order_mark(lines[row] or b"", self.layout)
                if headed and not self._names(line):
                    raise LogError(OTHER_COLUMNS)
                lines[row] = None if headed else line
            before = part
        return before

    def _names(self, line: bytes) -> bool:
        try:
            return column_names(line, self.layout, "") == self.fields
        except LogError:
            return False

    def _with_empty_reason(self, records: pa.RecordBatch) -> pa.RecordBatch:
        none = pa.nulls(records.num_rows, pa.string()), pa.nulls(records.num_rows, pa.int64())
        arrays = [records[name] for name in self.names]
        return pa.record_batch([*arrays, *none], names=[*self.names, REASON, NUMBER])

    def _left_out(self, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        told = {reason: number for reason, number in skipped.items() if number}
        if told:
            lists = pa.list_(pa.string())
            nothing = [
                pa.nulls(len(told), lists if name in self.lists else pa.string())
                for name in self.names
            ]
            figures = [pa.array(list(told), pa.string()), pa.array(list(told.values()), pa.int64())]
            yield pa.record_batch([*nothing, *figures], names=[*self.names, REASON, NUMBER])


def _changes(batch: pa.RecordBatch) -> list[int]:
    """The rows at which another part of a file may begin: the first, and where it is another's."""
    if batch.num_rows == 0:
        return []
    file, start = (
        pc.not_equal(batch[name].slice(1), batch[name].slice(0, batch.num_rows - 1))
        for name in ("file", "start")
    )
    return [0, *(pc.add(pc.indices_nonzero(pc.or_(file, start)), 1)).to_pylist()]


def without_byte_order_mark(line: bytes, layout: Layout) -> bytes:
    """A file's first line without a byte order mark; Hadoop takes that of UTF-8 away itself."""
    return line.removeprefix(_MARK) if codecs.lookup(layout.encoding).name == "gb18030" else line


@cache
def package_archive() -> Path:
    """This package as a file that executors can import from."""
    root = Path(__file__).parents[1]
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    target = until_exit.enter_context(working_directory()) / "zealous.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(root.rglob("*.py")):
            archive.write(path, path.relative_to(root.parent))
    return target
