"""Text logs, line by line: one physical line is one record, and no line can change another.

A CSV reader that sniffs types or lets a quote run over line ends gives one person's odd line power
over the lines of others. Here a line is split on its own or skipped on its own. Files are read in
blocks of bytes; a block in which nothing is odd goes to Arrow's splitter in one piece, odd lines
are split one at a time, bad lines are counted and left out.
"""

from __future__ import annotations

import codecs
import csv
import errno
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from zealous.errors import LogError, UsageError
from zealous.files.places import Place, Remote, plain, why
from zealous.libraries import np, pa, pacsv

Array: TypeAlias = "np.ndarray[Any, Any]"

LINE_LIMIT = 1 << 20
_BLOCK = 1 << 24
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


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a line of text becomes the fields of a record.

    Attributes:
        delimiter: One character between fields; None where each line is a JSON object.
        quoted: Whether a field may stand in double quotes (never across a line end).
        names: The fields' names in order; empty where each file's first line names them.
        least: The fewest fields a line may have; absent ones at the end are empty.
        encoding: The files' character encoding, by any name Python knows.
    """

    delimiter: str | None
    quoted: bool = False
    names: tuple[str, ...] = ()
    least: int | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        """Refuse what could not be split line by line."""
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0'
        ):
            raise UsageError("delimiter must be one ASCII character, such as ',' or a tab")
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


def beginning(path: Place) -> bytes:
    """The first bytes of a file, decompressed: enough to see how it is laid out."""
    return next(_chunks(path, _BEGINNING), b"")


def header(path: Place, layout: Layout) -> tuple[str, ...]:
    """The names in a file's first line."""
    return layout.names or named(_first_line(path, layout) or b"", layout, path.name)


def common_header(paths: Sequence[Place], layout: Layout) -> tuple[str, ...]:
    """The names in the first line of every file; one without any line has nothing to name."""
    if layout.names:
        return layout.names
    first = {path: line for path in paths if (line := _first_line(path, layout)) is not None}
    found = {path: named(line, layout, path.name) for path, line in first.items()}
    if not found:
        return header(paths[0], layout)
    one, *others = found
    for path in others:
        if found[path] != found[one]:
            raise other_columns(path, one)
    return found[one]


def other_columns(path: Place, first: Place) -> LogError:
    """What to say of a file whose columns are not those of another."""
    return LogError(f"{path.name} does not have the same columns as {first.name}")


def _first_line(path: Place, layout: Layout) -> bytes | None:
    """The bytes of a file's first line; None where the file is empty."""
    block = next(_blocks(path, layout.encoding, _BEGINNING), None)
    return None if block is None else block.split(b"\n", 1)[0]


def named(first: bytes, layout: Layout, file: str) -> tuple[str, ...]:
    """The names in a file's first line."""
    try:
        names = _split(first.rstrip(b"\r").decode(_codec(layout.encoding)), layout) if first else []
    except (UnicodeError, csv.Error):
        names = []
    if not any(names) or len(set(names)) < len(names):
        raise LogError(
            f"the first line of {file} does not name the columns: name them in order with "
            "--columns if the file has no header"
        )
    return tuple(names)


def records(
    path: Place, layout: Layout, names: Sequence[str], lists: Sequence[str], skipped: Skipped
) -> Iterator[pa.RecordBatch]:
    """Yield the named columns of one file as Arrow batches of text, counting what is skipped.

    Args:
        path: The file, plain or compressed (.gz, .zst, .bz2).
        layout: How a line is split.
        names: The columns to yield.
        lists: Which of them are lists of text (JSON only).
        skipped: Receives the number of lines left out, by reason.
    """
    first = layout.delimiter is not None and not layout.names
    if first and _first_line(path, layout) is None:
        return
    fields = header(path, layout) if layout.delimiter is not None else ()
    split = splitter(layout, fields, names, lists)
    for block in _blocks(path, layout.encoding):
        yield from split(block.partition(b"\n")[2] if first else block, skipped)
        first = False


def splitter(
    layout: Layout, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]
) -> Callable[[bytes, Skipped], Iterator[pa.RecordBatch]]:
    """Splits blocks of whole lines, each ended by a newline, into batches of the named columns.

    Args:
        layout: How a line is split.
        fields: The names of a line's fields; none for JSON.
        names: The columns to yield.
        lists: Which of them are lists of text (JSON only).
    """
    parse: Callable[[bytes, Skipped], Iterator[pa.RecordBatch]]
    if layout.delimiter is None:
        parse = _JsonLines(names, lists)
    else:
        parse = _DelimitedLines(layout, fields, names)

    marks = _marks(layout.encoding)

    def split(block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        # In front of every line, since which line is a file's first is up to others.
        for valid in _valid(_without(marks, block), layout.encoding, skipped):
            yield from parse(valid, skipped)

    return split


def _blocks(path: Place, encoding: str, size: int = _BLOCK) -> Iterator[bytes]:
    """Whole lines, each ended by a newline, in blocks of bounded size; no byte order mark."""
    marks = _marks(encoding)
    rest = b""  # the beginning of a line whose end is still to come
    for chunk in _chunks(path, size):
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            yield _without(marks, rest + head + newline)
            rest = tail
        elif len(rest) <= LINE_LIMIT:
            rest += tail
        else:  # the line is lost already: keep no more than its being too long
            rest = b" " * (LINE_LIMIT + 1)
    rest = _without(marks, rest)
    if rest:
        yield rest + b"\n"


def _marks(encoding: str) -> tuple[bytes, ...]:
    """Byte order marks: the encoding's own, and that of UTF-8, which is no text in any encoding."""
    own = "\ufeff".encode(_codec(encoding), errors="ignore")
    return tuple(filter(None, dict.fromkeys([codecs.BOM_UTF8, own])))


def _without(marks: Sequence[bytes], block: bytes) -> bytes:
    """Lines without byte order marks in front of them."""
    if not any(mark in block for mark in marks):
        return block
    return re.sub(rb"(?m)^(?:%b)+" % b"|".join(map(re.escape, marks)), b"", block)


def _chunks(path: Place, size: int) -> Iterator[bytes]:
    check_compression(path.name)
    codec = _CODECS.get(path.suffix.lower())
    try:
        with _opened(path, codec, size) as stream:
            while chunk := stream.read(size):
                yield chunk
        if isinstance(path, Remote):
            path.check_same()
    except (OSError, pa.ArrowException) as error:
        raise LogError(f"{path.name} {_trouble(path, codec, error)}") from None


def check_compression(name: str) -> None:
    """Refuse a text file whose ending says that it is compressed in a way that is not read."""
    if name.lower().endswith(_NOT_READ):
        raise LogError(
            f"{name} is compressed in a way that is not read: use gzip (.gz), Zstandard (.zst) or "
            "bzip2 (.bz2)"
        )


def _opened(path: Place, codec: str | None, size: int) -> AbstractContextManager[Any]:
    if isinstance(path, Remote):
        return path.stream(codec, size)
    return pa.input_stream(str(path), compression=codec)  # type: ignore[no-any-return]


def _trouble(path: Place, codec: str | None, error: Exception) -> str:
    """What to say of a file that cannot be read to its end."""
    if isinstance(path, Remote) and plain(error).errno != errno.EIO:
        return f"cannot be read: {why(plain(error))}"
    if isinstance(error, PermissionError):
        return "cannot be read: no permission"
    return "is damaged or cut short" if codec else "cannot be read"


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


def _split(line: str, layout: Layout) -> list[str]:
    """Split one line; raises csv.Error where its quotes do not balance."""
    assert layout.delimiter is not None  # noqa: S101
    if not (layout.quoted and '"' in line):
        return line.split(layout.delimiter)
    csv.field_size_limit(LINE_LIMIT)
    return next(csv.reader([line], delimiter=layout.delimiter, strict=True))


class _DelimitedLines:
    """Splits blocks of delimited lines."""

    def __init__(self, layout: Layout, fields: Sequence[str], names: Sequence[str]) -> None:
        self.layout = layout
        self.fields = list(fields)
        self.names = list(names)
        self.least = layout.least or len(fields)
        # Names that are known make a header known; wherever that line stands, it is no record. A
        # single name might be somebody's value.
        known = layout.names if len(layout.names) > 1 else ()
        self.header = (layout.delimiter or "").join(known).encode()

    def __call__(self, block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        starts = np.concatenate([np.zeros(1, dtype=ends.dtype), ends[:-1] + 1])
        lengths = ends - starts - (data[ends - 1] == ord("\r"))
        bad = self._bad(data, lengths, ends, skipped)
        breaks = np.searchsorted(np.flatnonzero(data == ord(self.layout.delimiter or "")), ends)
        odd = np.diff(breaks, prepend=0) != len(self.fields) - 1
        odd |= self._holding(data, ends, '"') if self.layout.quoted else False
        if self.header:
            odd |= lengths == len(self.header)
        plain = ~(bad | odd)
        if plain.all():
            yield from self._plain(block)
            return
        yield from self._plain(data[np.repeat(plain, ends - starts + 1)].tobytes())
        rows = [self._odd(block[starts[i] : ends[i]], skipped) for i in np.flatnonzero(odd & ~bad)]
        yield from _batch(self.names, (), [row for row in rows if row is not None])

    def _bad(self, data: Array, lengths: Array, ends: Array, skipped: Skipped) -> Array:
        """Which lines are skipped whatever their fields are; blank lines are nobody's record."""
        returns = np.flatnonzero(data == ord("\r"))
        stray = returns[data[returns + 1] != ord("\n")]  # every block ends with a newline
        reasons = {
            "longer than 1 MiB": lengths > LINE_LIMIT,
            "holds a NUL character": self._holding(data, ends, "\0"),
            "holds a carriage return": _lines_of(stray, ends),
        }
        bad: Array = lengths <= 0
        for reason, mask in reasons.items():
            skipped[reason] += int((mask & ~bad).sum())
            bad |= mask
        return bad

    def _holding(self, data: Array, ends: Array, character: str) -> Array:
        return _lines_of(np.flatnonzero(data == ord(character)), ends)

    def _plain(self, block: bytes) -> Iterator[pa.RecordBatch]:
        """Lines with the right number of fields and nothing else of note."""
        if not block:
            return
        table = pacsv.read_csv(
            pa.BufferReader(block),
            read_options=pacsv.ReadOptions(column_names=self.fields, block_size=len(block)),
            parse_options=pacsv.ParseOptions(
                delimiter=self.layout.delimiter, quote_char=False, escape_char=False
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(self.fields, pa.string()),
                include_columns=self.names,
                strings_can_be_null=False,
            ),
        )
        yield from table.to_batches()

    def _odd(self, line: bytes, skipped: Skipped) -> Record | None:
        line = line.removesuffix(b"\r")
        if line == self.header:
            return None
        try:
            fields = _split(line.decode(), self.layout)
        except csv.Error:
            skipped["quotes do not balance (text with line ends in it? use Parquet)"] += 1
            return None
        if not self.least <= len(fields) <= len(self.fields):
            skipped["too few or too many columns"] += 1
            return None
        fields += [""] * (len(self.fields) - len(fields))
        return [fields[self.fields.index(name)] for name in self.names]


def _lines_of(positions: Array, ends: Array) -> Array:
    """Which lines hold one of these byte positions."""
    mask = np.zeros(len(ends), dtype=bool)
    mask[np.searchsorted(ends, positions)] = True
    return mask


class _JsonLines:
    """Reads blocks of lines of which each is a JSON object."""

    def __init__(self, names: Sequence[str], lists: Sequence[str]) -> None:
        self.names = list(names)
        self.lists = frozenset(lists)
        # Numbers stay the text they are: 1e400 and 20-digit ids are somebody's data, not floats.
        self.decode = json.JSONDecoder(parse_int=str, parse_float=str).decode
        # There are few short lines, and by the byte they would take longest.
        self.known_row = lru_cache(maxsize=1 << 12)(self._row)

    def __call__(self, block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        """Yields few rows at a time: those of a block of tiny objects are many times the block."""
        rows = []
        for line in io.BytesIO(block):
            if len(line) > LINE_LIMIT + 1:  # with its newline
                skipped["longer than 1 MiB"] += 1
            elif not line.isspace():
                row = (self.known_row if len(line) <= _SHORT else self._row)(line)
                if row is None:
                    skipped["not a JSON object"] += 1
                else:
                    rows.append(row)
            if len(rows) == _ROWS:
                yield from _batch(self.names, self.lists, rows)
                rows = []
        yield from _batch(self.names, self.lists, rows)

    def _row(self, line: bytes) -> Record | None:
        """The wanted values of an object; None where the line is none."""
        try:
            found = self.decode(line.decode())
            if b"\\u" in line:  # half a surrogate pair is an error, in whatever column it is
                json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        return [
            self._list(found.get(name)) if name in self.lists else self._text(found.get(name))
            for name in self.names
        ]

    def _text(self, value: object) -> str | None:
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else None

    def _list(self, value: object) -> list[str]:
        values = value if isinstance(value, list) else [value]
        return [text for each in values if (text := self._text(each)) is not None]


def _batch(
    names: Sequence[str], lists: Sequence[str] | frozenset[str], rows: Sequence[Record]
) -> Iterator[pa.RecordBatch]:
    if rows:
        types = [pa.list_(pa.string()) if name in lists else pa.string() for name in names]
        columns = zip(*rows, strict=True)
        yield pa.record_batch(
            [pa.array(column, type=kind) for column, kind in zip(columns, types, strict=True)],
            names=list(names),
        )
