"""Text logs, line by line: one physical line is one record, and no line can change another.

A line is split on its own or skipped on its own. Files are read in blocks of bytes; a layout says
what the lines of a block are, and is a class in a file of its own: `files/delimited.py`,
`files/json_lines.py`.
"""

from __future__ import annotations

import codecs
import gc
import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Self

from zealous.errors import LogError, UsageError
from zealous.files.places import Place, place_of
from zealous.files.threads import in_threads
from zealous.libraries import pa

LINE_LIMIT = 1 << 20
# Bytes: what a thread works on stays in its cache, and with the beginning of a line in front of it
# holds none that is too long.
_BLOCK = 15 << 16
_ROWS = 1 << 15  # of what is read line by line, in a batch
_SHORT = 8
_BEGINNING = 1 << 16  # enough for most headers, and little to fetch

Skipped = Counter[str]
Record = Sequence["str | list[str] | None"]

_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# Other endings of compressed files. Hadoop would read some of them in formats of its own.
_NOT_READ = (".lz4", ".snappy", ".deflate", ".lzo", ".lzma", ".xz", ".zip", ".z", ".br", ".7z")
_BREAKS = '\n\r\t,;"'
# Encodings in which a line that does not switch back changes how the next line is read.
_CARRIED_OVER = ("utf-7", "iso2022", "hz", "unicode", "raw-unicode", "punycode", "idna")

Parse = Callable[[bytes, Skipped], Iterator["pa.RecordBatch"]]


@dataclass(frozen=True, kw_only=True)
class Layout(ABC):
    """How a line of text becomes a record. Each kind of text file has a subclass.

    Attributes:
        title: What such files are called in messages.
        names: The columns in order, where they are known before any file is read.
        encoding: The files' character encoding, by any name Python knows.
    """

    title: ClassVar[str] = "files of this format"
    names: tuple[str, ...] = ()
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise UsageError("columns must have different names")
        try:
            name = _codec(self.encoding)
            if name.startswith(("utf-16", "utf-32")):  # one odd byte in a line shifts all others
                raise UsageError(
                    f"{name} is no encoding in which each line can be read by itself: convert the "
                    f"files, such as with iconv -f {name} -t utf-8 LOG > NEW"
                )
            separate = _BREAKS.encode(name) == _BREAKS.encode("ascii")
            separate &= not name.startswith(_CARRIED_OVER)
        except (LookupError, UnicodeError):
            separate = False
        if not separate:
            raise UsageError(
                "encoding is not known, or not one in which each line can be read by itself: try "
                "utf-8, latin-1, cp1252, gb18030 or shift_jis, or convert the files"
            )

    @property
    def has_header(self) -> bool:
        """Whether each file's first line names the columns."""
        return False

    def header(self, line: str) -> Sequence[str]:
        """The names in a file's first line; none where it names nothing."""
        return self.names

    def is_unmistakable(self, line: str) -> bool:
        """Whether a line can hardly be of any other layout; where none can tell, it is not."""
        return False

    def lists(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Those of the wanted columns that may hold lists of texts."""
        return ()

    def with_options(self, names: Sequence[str], delimiter: str | None, encoding: str) -> Self:
        """The same, but for what somebody says of the files."""
        if names or delimiter:
            raise UsageError(
                f"{self.title} carry their own column names: leave out --columns and --delimiter"
            )
        return replace(self, encoding=encoding)

    @abstractmethod
    def splitter(self, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]) -> Parse:
        """Splits blocks of whole lines in UTF-8 into batches of the named columns.

        Guarantee:
            What becomes of a line depends on that line alone. A line that is no record is counted
            as skipped, under a reason that quotes nothing of it. What is given may be called from
            several threads at once, and keeps nothing between blocks.

        Args:
            fields: The names of a line's fields in order, where they are known.
            names: The columns to yield.
            lists: Which of them are lists of text.
        """


@dataclass(frozen=True, kw_only=True)
class LineByLine(Layout):
    """A layout that needs no more than a function of one line: the simplest to write.

    Its columns are `names`, and all of them are texts.
    """

    @property
    @abstractmethod
    def skips(self) -> str:
        """Why a line is left out that is no record; tells nothing of the line."""

    @abstractmethod
    def values(self, line: str) -> Sequence[str | None] | None:
        """The values of `names` in a line; None where it is no record."""

    def splitter(self, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]) -> Parse:
        """Splits blocks of lines; see `Layout`."""
        chosen = [self.names.index(name) for name in names]

        def row(line: bytes) -> Record | None:
            text = line.decode().rstrip("\r\n")
            if "\0" in text or "\r" in text:
                return None
            try:
                found = self.values(text)
                if found is None or len(found) != len(self.names):
                    return None
                "".join(filter(None, found)).encode()  # half of a character is no text
            except Exception:  # no line ends the run
                return None
            return [found[number] for number in chosen]

        return ByLine(row, self.skips, names, ())


def first_bytes(path: Place) -> bytes:
    """The first bytes of a file, decompressed: enough to see how it is laid out."""
    return next(_chunks(path, _BEGINNING), b"")


def header(path: Path | Place, layout: Layout) -> tuple[str, ...]:
    """The names in a file's first line."""
    if not layout.has_header:
        return layout.names
    return column_names(_first_line(path, layout) or b"", layout, path.name)


def columns(paths: Sequence[Path | Place], layout: Layout) -> tuple[str, ...] | None:
    """The columns that every file has; None where each line may have others."""
    return common_header(paths, layout) if layout.has_header else layout.names or None


def common_header(paths: Sequence[Path | Place], layout: Layout) -> tuple[str, ...]:
    """The names in the first line of every file; one without any line has nothing to name."""
    first = {path: line for path in paths if (line := _first_line(path, layout)) is not None}
    found = {path: column_names(line, layout, path.name) for path, line in first.items()}
    if not found:
        return header(paths[0], layout)
    one, *others = found
    for path in others:
        if found[path] != found[one]:
            raise other_columns(path, one)
    return found[one]


def other_columns(path: Path | Place, first: Path | Place) -> LogError:
    """What to say of a file whose columns are not those of another."""
    return LogError(f"{path.name} does not have the same columns as {first.name}")


def _first_line(path: Path | Place, layout: Layout) -> bytes | None:
    """The bytes of a file's first line; None where the file is empty."""
    block = next(_blocks(path, layout.encoding, _BEGINNING), None)
    if block is None:
        return None
    return _strip_marks(_marks(layout.encoding), block.split(b"\n", 1)[0])


def column_names(first: bytes, layout: Layout, file: str) -> tuple[str, ...]:
    """The names in a file's first line."""
    try:
        names = layout.header(first.rstrip(b"\r").decode(_codec(layout.encoding)))
    except UnicodeError:
        names = ()
    if any(names):
        names = _told_apart(names)
    if len(set(names)) < len(names):
        raise LogError(
            f"the first line of {file} has one name for several columns: rename them, or name all "
            "in order with --columns if the file has no header"
        )
    if not any(names):
        raise LogError(
            f"the first line of {file} does not name the columns: `zealous start` finds out "
            "--delimiter and --encoding; name the columns in order with --columns if the file "
            "has no header"
        )
    return tuple(names)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of which none that stands twice is left: nobody could tell which column it means.

    >>> _told_apart(["user", "query", "query"])
    ['user', 'query (column 2)', 'query (column 3)']
    """
    times = Counter(names)
    return [
        f"{name} (column {place})".strip() if times[name] > 1 else name
        for place, name in enumerate(names, 1)
    ]


def records(
    path: Path | Place,
    layout: Layout,
    names: Sequence[str],
    lists: Sequence[str],
    skipped: Skipped,
    threads: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Yield the named columns of one file as Arrow batches of text, counting what is skipped.

    Args:
        path: The file, plain or compressed (.gz, .zst, .bz2).
        layout: How a line is split.
        names: The columns to yield.
        lists: Which of them are lists of text.
        skipped: Receives the number of lines left out, by reason.
        threads: How many blocks are split at once; their order stays.
    """
    if layout.has_header and _first_line(path, layout) is None:
        return
    split = splitter(layout, header(path, layout), names, lists)

    def split_apart(block: bytes) -> tuple[list[pa.RecordBatch], Skipped]:
        left_out = Skipped()
        with _no_garbage_collection():
            return list(split(block, left_out)), left_out

    blocks = _blocks(path, layout.encoding, _BLOCK)
    if layout.has_header:
        blocks = _without_first_line(blocks)
    for batches, left_out in in_threads(split_apart, blocks, threads):
        skipped.update(left_out)
        yield from batches


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Python does not look for cycles among the values of lines, which have none.

    Of a line of many lists the search takes several times as long as the reading. Whoever turned
    it off turns it on again: no thread leaves it off, and one that is still here is only slower.
    """
    was_on = gc.isenabled()
    if was_on:
        gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _without_first_line(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield next(blocks).partition(b"\n")[2]
    yield from blocks


def splitter(
    layout: Layout, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]
) -> Parse:
    """Splits blocks of whole lines, each ended by a newline, into batches of the named columns.

    Args:
        layout: How a line is split.
        fields: The names of a line's fields, where they are known.
        names: The columns to yield.
        lists: Which of them are lists of text.
    """
    parse = layout.splitter(fields, names, lists)
    marks = _marks(layout.encoding)

    def split(block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        # In front of every line, since which line is a file's first is up to others.
        for valid in _valid(_strip_marks(marks, block), layout.encoding, skipped):
            yield from parse(valid, skipped)

    return split


def _blocks(path: Path | Place, encoding: str, size: int) -> Iterator[bytes]:
    """Whole lines, each ended by a newline, in blocks of bounded size.

    What stands in front of a line may be byte order marks; a file of nothing else has no line.
    Where blocks end decides nothing: only a line that is too long wherever it stands is cut.
    """
    marks = _marks(encoding)
    rest = b""  # the beginning of a line whose end is still to come
    for chunk in _chunks(path, size):
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            yield rest + head + newline
            rest = tail
        elif len(rest) <= 2 * LINE_LIMIT:  # as UTF-8 it may be half as long
            rest = _strip_marks(marks, rest + tail)
        else:  # the line is lost already: keep no more than its being too long
            rest = b" " * (LINE_LIMIT + 1)
    if _strip_marks(marks, rest):
        yield rest + b"\n"


def _marks(encoding: str) -> tuple[bytes, ...]:
    """Byte order marks: the encoding's own, and that of UTF-8, which is no text in any encoding."""
    own = "\ufeff".encode(_codec(encoding), errors="ignore")
    return tuple(filter(None, dict.fromkeys([codecs.BOM_UTF8, own])))


def _strip_marks(marks: Sequence[bytes], block: bytes) -> bytes:
    """Lines without byte order marks in front of them."""
    # The search of one byte is many times faster.
    if not any(mark[:1] in block and mark in block for mark in marks):
        return block
    return re.sub(rb"(?m)^(?:%b)+" % b"|".join(map(re.escape, marks)), b"", block)


def _chunks(given: Path | Place, size: int) -> Iterator[bytes]:
    path = place_of(given)
    check_compression(path.name)
    codec = _CODECS.get(path.suffix.lower())
    try:
        with path.stream(codec, size) as stream:
            while chunk := stream.read(size):
                yield chunk
        path.check_same()
    except (OSError, pa.ArrowException) as error:
        trouble = path.reason_unreadable(error)
        if trouble is not None:
            raise LogError(f"{path.name} cannot be read: {trouble}") from None
        damage = "is damaged or cut short" if codec else "cannot be read"
        raise LogError(f"{path.name} {damage}") from None


def check_compression(name: str) -> None:
    """Refuse a text file whose ending says that it is compressed in a way that is not read."""
    if name.lower().endswith(_NOT_READ):
        raise LogError(
            f"{name} is compressed in a way that is not read: use gzip (.gz), Zstandard (.zst) or "
            "bzip2 (.bz2)"
        )


def _codec(encoding: str) -> str:
    """Python's name of an encoding; that of UTF-8 with a byte order mark is that without."""
    name = codecs.lookup(encoding).name
    return "utf-8" if name.startswith("utf-8") else name


def _valid(block: bytes, encoding: str, skipped: Skipped) -> Iterator[bytes]:
    """The block's lines that are valid in the encoding, as UTF-8."""
    name = _codec(encoding)
    try:
        text = block.decode(name)
        yield block if name == "utf-8" else text.encode()
        return
    except UnicodeError:
        pass
    good = bytearray()
    for line in io.BytesIO(block):  # one at a time: a list of short lines is many times the block
        try:
            good += line.decode(name).encode()
        except UnicodeError:
            skipped[f"not valid {codecs.lookup(encoding).name}"] += 1
    if good:
        yield bytes(good)


class ByLine:
    """Reads blocks of lines, one at a time.

    Args:
        row: The wanted values of a line; None where it is no record.
        reason: Why a line is skipped that is none.
        names: The columns to yield.
        lists: Which of them are lists of text.
    """

    def __init__(
        self,
        row: Callable[[bytes], Record | None],
        reason: str,
        names: Sequence[str],
        lists: Sequence[str],
    ) -> None:
        self._row = row
        self._reason = reason
        self._names = list(names)
        self._lists = frozenset(lists)
        # There are few short lines, and by the byte they would take longest.
        self._known_row = lru_cache(maxsize=1 << 12)(row)

    def __call__(self, block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        """Yields few rows at a time: those of a block of tiny lines are many times the block."""
        rows = []
        for line in io.BytesIO(block):
            if len(line) > LINE_LIMIT + 1:  # with its newline
                skipped["longer than 1 MiB"] += 1
            elif not line.isspace():
                row = (self._known_row if len(line) <= _SHORT else self._row)(line)
                if row is None:
                    skipped[self._reason] += 1
                else:
                    rows.append(row)
            if len(rows) == _ROWS:
                yield from as_batch(self._names, self._lists, rows)
                rows = []
        yield from as_batch(self._names, self._lists, rows)


def as_batch(
    names: Sequence[str], lists: Sequence[str] | frozenset[str], rows: Sequence[Record]
) -> Iterator[pa.RecordBatch]:
    """Rows of texts as one batch; none where there are none."""
    if rows:
        types = [pa.list_(pa.string()) if name in lists else pa.string() for name in names]
        columns = zip(*rows, strict=True)
        yield pa.record_batch(
            [pa.array(column, type=kind) for column, kind in zip(columns, types, strict=True)],
            names=list(names),
        )
