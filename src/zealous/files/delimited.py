"""Lines whose fields stand between delimiters: CSV, TSV and their like.

A CSV reader that sniffs types or lets a quote run over line ends gives one person's odd line power
over the lines of others. Here the lines of a block in which nothing is odd go to Arrow's splitter
in one piece, odd lines are split one at a time, bad lines are counted and left out. Quotes are not
odd where they only stand around whole fields, which is how most programs write them.

Most blocks have no quotes at all, and lines of as many fields as there are columns. Arrow splits
such a block as it is, and refuses it where a line has more or fewer fields: then each line is
looked at.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from zealous.errors import UsageError
from zealous.files.lines import LINE_LIMIT, ByLine, Layout, Parse, Record, Skipped, as_batch
from zealous.libraries import np, pa, pacsv

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, kw_only=True)
class Delimited(Layout):
    """Fields between delimiters.

    Attributes:
        delimiter: What stands between fields: a character, or several, which no quotes protect.
        quoted: Whether a field may stand in double quotes (never across a line end).
        least: The fewest fields a line may have; absent ones at the end are empty.
    """

    delimiter: str
    quoted: bool = False
    least: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            not self.delimiter
            or not self.delimiter.isascii()
            or set(self.delimiter) & set('"\r\n\0')
        ):
            raise UsageError("delimiter must be of ASCII characters, such as ',' or '::'")

    @property
    def has_header(self) -> bool:
        """Whether each file's first line names the columns: unless somebody else did."""
        return not self.names

    def with_options(self, names: Sequence[str], delimiter: str | None, encoding: str) -> Self:
        return replace(
            self,
            names=tuple(names) or self.names,
            least=None if names else self.least,
            delimiter=delimiter or self.delimiter,
            encoding=encoding,
        )

    def header(self, line: str) -> Sequence[str]:
        try:
            return _split(line, self) if line else []
        except csv.Error:
            return []

    def splitter(self, fields: Sequence[str], names: Sequence[str], lists: Sequence[str]) -> Parse:
        """Splits blocks of lines; see `Layout`."""
        if len(self.delimiter) == 1:
            return _Splitter(self, fields, names)
        least, chosen = self.least or len(fields), [fields.index(name) for name in names]

        def row(line: bytes) -> Record | None:
            values = line.decode().rstrip("\r\n").split(self.delimiter)
            odd = b"\0" in line or b"\r" in line.rstrip(b"\r\n") or values == list(self.names)
            if odd or not least <= len(values) <= len(fields):
                return None
            values += [""] * (len(fields) - len(values))
            return [values[place] for place in chosen]

        return ByLine(row, "not as many columns as the others, or odd characters", names, ())


def _split(line: str, layout: Delimited) -> list[str]:
    """Split one line; raises csv.Error where its quotes do not balance."""
    if not (layout.quoted and '"' in line and len(layout.delimiter) == 1):
        return line.split(layout.delimiter)
    csv.field_size_limit(LINE_LIMIT)
    return next(csv.reader([line], delimiter=layout.delimiter, strict=True))


class _Splitter:
    """Splits blocks of delimited lines."""

    def __init__(self, layout: Delimited, fields: Sequence[str], names: Sequence[str]) -> None:
        self.layout = layout
        self.fields = list(fields)
        self.names = list(names)
        self.least = layout.least or len(fields)
        # Names that are known make a header known; wherever that line stands, it is no record. A
        # single name might be somebody's value.
        known = layout.names if len(layout.names) > 1 else ()
        self.header = layout.delimiter.join(known).encode()

    def __call__(self, block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        if self._has_plain_lines(block):
            try:
                yield from self._plain(block)
                return
            except pa.ArrowInvalid:
                pass
        yield from self._by_line(block, skipped)

    def _has_plain_lines(self, block: bytes) -> bool:
        """Whether Arrow takes the same for lines and fields, and none is odd but for their number.

        It ends lines at carriage returns too.
        """
        return (
            len(block) <= LINE_LIMIT
            and b"\0" not in block
            and not (self.layout.quoted and b'"' in block)
            and not (b"\r" in block and block.count(b"\r") > block.count(b"\r\n"))
            and not (self.header and self.header in block)
        )

    def _by_line(self, block: bytes, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        starts = np.concatenate([np.zeros(1, dtype=ends.dtype), ends[:-1] + 1])
        lengths = ends - starts - (data[ends - 1] == ord("\r"))
        bad = self._bad(block, data, lengths, ends, skipped)
        breaks = np.flatnonzero(data == ord(self.layout.delimiter))
        quotes = _positions(data, block, '"') if self.layout.quoted else breaks[:0]
        odd = np.zeros(len(ends), dtype=bool)
        if len(quotes):
            odd, breaks = self._around_fields(data, starts, ends, quotes, breaks)
        odd |= np.diff(np.searchsorted(breaks, ends), prepend=0) != len(self.fields) - 1
        if self.header:
            odd |= lengths == len(self.header)
        plain = ~(bad | odd)
        if plain.all():
            yield from self._plain(block)
            return
        yield from self._plain(data[np.repeat(plain, ends - starts + 1)].tobytes())
        rows = [
            self._split_odd(block[starts[i] : ends[i]], skipped) for i in np.flatnonzero(odd & ~bad)
        ]
        yield from as_batch(self.names, (), [row for row in rows if row is not None])

    def _bad(
        self, block: bytes, data: Array, lengths: Array, ends: Array, skipped: Skipped
    ) -> Array:
        """Which lines are skipped whatever their fields are; blank lines are nobody's record."""
        returns = _positions(data, block, "\r")
        stray = returns[data[returns + 1] != ord("\n")]  # every block ends with a newline
        reasons = {
            "longer than 1 MiB": lengths > LINE_LIMIT,
            "holds a NUL character": _lines_of(_positions(data, block, "\0"), ends),
            "holds a carriage return": _lines_of(stray, ends),
        }
        bad: Array = lengths <= 0
        for reason, mask in reasons.items():
            skipped[reason] += int((mask & ~bad).sum())
            bad |= mask
        return bad

    def _around_fields(
        self, data: Array, starts: Array, ends: Array, quotes: Array, breaks: Array
    ) -> tuple[Array, Array]:
        """Which lines have quotes elsewhere than around whole fields; delimiters not in quotes.

        What stands between two such quotes holds none, so that nobody reads these lines otherwise.

        Args:
            data: The block.
            starts: Where its lines begin.
            ends: Where they end.
            quotes: Where it has quotes.
            breaks: Where it has delimiters.
        """
        before = np.searchsorted(quotes, starts)  # quotes in front of each line
        line = np.searchsorted(ends, quotes)
        opening = (np.arange(len(quotes)) - before[line]) % 2 == 0
        outside = [ord(self.layout.delimiter), ord("\n"), ord("\r")]
        begins = (quotes == starts[line]) | (data[quotes - 1] == outside[0])
        astray = np.where(opening, ~begins, ~np.isin(data[quotes + 1], outside))
        odd = np.diff(np.append(before, len(quotes))) % 2 == 1
        odd[line[astray]] = True
        within = np.searchsorted(quotes, breaks) - before[np.searchsorted(ends, breaks)]
        return odd, breaks[within % 2 == 0]

    def _plain(self, block: bytes) -> Iterator[pa.RecordBatch]:
        """Lines with the right number of fields, and no quotes but around whole ones."""
        if not block:
            return
        table = pacsv.read_csv(
            pa.BufferReader(block),
            read_options=pacsv.ReadOptions(
                column_names=self.fields, block_size=len(block), use_threads=False
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.layout.delimiter,
                quote_char='"' if self.layout.quoted and b'"' in block else False,
                escape_char=False,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(self.fields, pa.string()),
                include_columns=self.names,
                strings_can_be_null=False,
                check_utf8=False,  # blocks are of UTF-8
            ),
        )
        yield from table.to_batches()

    def _split_odd(self, line: bytes, skipped: Skipped) -> Record | None:
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


def _positions(data: Array, block: bytes, character: str) -> Array:
    """Where a block, which `data` holds too, has a character."""
    if character.encode() not in block:  # the search of one byte is many times faster
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(data == ord(character))


def _lines_of(positions: Array, ends: Array) -> Array:
    """Which lines hold one of these byte positions."""
    mask = np.zeros(len(ends), dtype=bool)
    mask[np.searchsorted(ends, positions)] = True
    return mask
