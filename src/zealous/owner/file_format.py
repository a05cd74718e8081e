"""How a file is laid out, from its first lines: format, delimiter, encoding, header.

For the owner, who may not know. Nothing of a line is kept but the names of columns.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zealous.errors import LogError, ZealousError
from zealous.files import parquet
from zealous.files.delimited import Delimited
from zealous.files.lines import Layout, first_bytes
from zealous.files.places import Place
from zealous.logs.column_names import is_known
from zealous.logs.log import FORMATS, Log, format_by_ending
from zealous.owner.value_shapes import Shape, is_value, shape_of, time_format_of
from zealous.privacy.guarantee import is_unnamed, unnamed_column

_DELIMITERS = ("\t", ",", ";", "|")
_ALIKE = 0.9  # of the lines that must have the same number of fields
_LINES = 500
_RARE = 0.01  # of the objects of JSON lines: a name that fewer have is not shown
_NO_TEXT = 0.05  # of bytes that no text has; of random ones it is a ninth
_CONTROLS = bytes({*range(32), 127} - {*b"\b\t\n\v\f\r\x1b"})
# What other encodings than UTF-8 are tried, where letters take two bytes each.
_TWO_BYTES = ("gb18030", "shift_jis", "euc_kr", "big5")
_WIDE = re.compile(rb"[\x80-\xff]+")
_NESTED = re.compile(r"struct<|map<|list.*<.*list.*<")
_TEXTS = ("string", "large_string")
_SHORT = 40  # bytes
_DATED = re.compile(r"timestamp|date")
_LIST = re.compile(r"(large_|fixed_size_)?list(_view)?<")
_IDENTIFIER = re.compile(r"[^\W\d][\w.-]*")
_SUGGESTED: dict[Shape, str] = {"time": "time", "address": "url", "text": "query"}
_CONVERSION = """This does it where a C line begins a person, whose id is its third field, and the \
second field of each V line below is a thing of hers; else put in your letters and fields:
  zcat -f {log} | awk -F, '
    BEGIN {{ print "user,item" }}
    $1 == "C" {{ user = $3 }}
    $1 == "V" {{ print user "," $2 }}
  ' > {new} && zealous start {new}"""
_OTHER_FILES = {
    b"PK\x03\x04": "an Excel workbook or a zip archive: save it as CSV",
    b"SQLite format 3": "an SQLite database: publish from it with --sql, see docs/guide/logs.md",
    b"\xff\xfe": "text in UTF-16: convert it with iconv -f utf-16 -t utf-8 LOG > NEW",
    b"\xfe\xff": "text in UTF-16: convert it with iconv -f utf-16 -t utf-8 LOG > NEW",
}


@dataclass(frozen=True, kw_only=True)
class StatedFormat:
    """What the owner says of a file; None where it is to be found out."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    columns: tuple[str, ...] = ()
    header: bool | None = None


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """How a file is laid out.

    Attributes:
        format: The name of a preset.
        columns: The names of its columns: its own, or those that are suggested.
        has_header: Whether they are its own.
        certain_names: Whether somebody says so, or a schema: else they may be data, and no message
            quotes them.
        nested: Those of the columns that hold objects, which are neither items nor ids.
        lists: Those that hold lists of values.
        shapes: What the values of each column look like; of typed columns, which are times.
        delimiter: Between fields, where it is not the format's.
        encoding: Where it is not UTF-8.
        time_formats: How each column that holds times writes them, where it is not ISO.
        person: The column that is the person's by its place, where no column has a name.
    """

    format: str
    columns: tuple[str, ...]
    has_header: bool = True
    certain_names: bool = True
    nested: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    shapes: tuple[Shape | None, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    time_formats: dict[str, str]
    person: str | None = None

    def options(self, path: Place) -> list[str]:
        """The options of the command line that say how to read it."""
        said = [] if format_by_ending(path) == self.format else ["--format", self.format]
        if self.delimiter:
            said += ["--delimiter", "tab" if self.delimiter == "\t" else self.delimiter]
        if self.encoding:
            said += ["--encoding", self.encoding]
        if not self.has_header:
            said += ["--columns", ",".join(self.columns)]
        return said

    def shape(self, column: str) -> Shape | None:
        """What the values of a column look like, where that is known."""
        return dict(zip(self.columns, self.shapes, strict=False)).get(column)

    def describe(self) -> str:
        """The format in words."""
        between = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
        delimiter = self.delimiter or _usual_delimiter(self.format)
        said = [FORMATS[self.format].title or f"the format {self.format}"]
        if delimiter:
            said.append(f"fields between {between.get(delimiter, repr(delimiter))}")
        if FORMATS[self.format].layout is not None:
            said.append(f"in {self.encoding or 'UTF-8'}")
        if delimiter and not self.has_header:
            said.append("no header")
        return ", ".join(said)


def find_format(path: Place, stated: StatedFormat) -> FileFormat:
    """Find out how a file is laid out, by what its owner says and by its first lines.

    Raises:
        LogError: It is no table of text, JSON lines or Parquet, or nobody can tell which.
    """
    named = FORMATS.get(stated.format or format_by_ending(path) or "")
    if named is not None and named.layout is None:
        return _parquet_format(path)
    start = first_bytes(path)
    if start.startswith(b"PAR1"):
        return _parquet_format(path)
    for magic, what in _OTHER_FILES.items():
        if start.startswith(magic):
            raise LogError(f"{path.name} is {what}")
    if not start.strip():
        raise LogError(f"{path.name} is empty")
    if len(start) - len(start.translate(None, _CONTROLS)) > _NO_TEXT * len(start):
        raise LogError(f"{path.name} is no text: give CSV, TSV, JSON lines or Parquet")
    encoding = stated.encoding or _guess_encoding(start)
    lines = _first_lines(start, encoding or "utf-8")
    if stated == StatedFormat(encoding=stated.encoding):
        for name, layout in _recognised_formats(lines):
            return _preset_format(name, layout, encoding)
    if _lines_name_columns(stated.format) or lines[0].lstrip().startswith(("{", "[")):
        return _json_format(path, lines, encoding)
    return _delimited_format(path, lines, stated, encoding)


def _layout_of(name: str | None) -> Layout | None:
    found = FORMATS.get(name or "")
    return None if found is None else found.layout


def _lines_name_columns(name: str | None) -> bool:
    """Whether each line of a format names its own columns, and no header does."""
    layout = _layout_of(name)
    return layout is not None and not layout.names and not layout.has_header


def _usual_delimiter(name: str | None) -> str | None:
    """What stands between the fields of a format whose columns a header names."""
    layout = _layout_of(name)
    return layout.delimiter if isinstance(layout, Delimited) and not layout.names else None


def columns_of_lines(log: Log) -> tuple[str, ...] | None:
    """The columns of a log; of one whose lines name their own those in its first lines."""
    names = log.names()
    if names is not None or log.layout is None:
        return names
    with suppress(ZealousError):
        return find_format(log.paths[0], StatedFormat(encoding=log.layout.encoding)).columns
    return None


def _recognised_formats(lines: Sequence[str]) -> Iterator[tuple[str, Layout]]:
    """Formats whose lines nobody can take for another's, where nearly all lines are such."""
    for name, preset in FORMATS.items():
        if preset.layout is not None:
            those = sum(map(preset.layout.is_unmistakable, lines))
            if those >= _ALIKE * len(lines):
                yield name, preset.layout


def _preset_format(name: str, layout: Layout, encoding: str | None) -> FileFormat:
    """A format that names its columns itself."""
    if layout.encoding != "utf-8":
        encoding = encoding or "utf-8"  # which is not what such files usually are
    return FileFormat(format=name, columns=layout.names, encoding=encoding, time_formats={})


def _parquet_format(path: Place) -> FileFormat:
    types = parquet.common_columns([path])
    nested = frozenset(name for name, kind in types.items() if _NESTED.search(kind))
    lists = frozenset(name for name, kind in types.items() if _LIST.match(kind)) - nested
    texts = _first_texts(path, [name for name, kind in types.items() if kind in _TEXTS])
    times = {name for name, values in texts.items() if shape_of(values) == "time"}
    dated = {name for name, kind in types.items() if _DATED.match(kind)}
    return FileFormat(
        format="parquet",
        columns=tuple(types),
        nested=nested,
        lists=lists,
        time_formats=_time_formats({name: texts[name] for name in times}),
        shapes=tuple("time" if name in dated | times else None for name in types),
    )


def _first_texts(path: Place, names: Sequence[str]) -> dict[str, list[str]]:
    """The first texts of some columns of a Parquet file, short ones alone: a time is short."""
    if not names:
        return {}
    with parquet.open_parquet(path) as rows:
        batch = next(rows.batches(names), None)
    raw = {} if batch is None else {name: batch[name].cast("binary").to_pylist() for name in names}
    return {
        name: [each.decode(errors="replace") for each in values if each and len(each) < _SHORT]
        for name, values in raw.items()
    }


def _guess_encoding(start: bytes) -> str | None:
    """The likely encoding of text that is not UTF-8; None for UTF-8.

    Nearly all lines decide, never one: somebody's odd line must not change how others are read.
    """
    lines = [line for line in start.splitlines()[:-1] or [start] if not line.isascii()]
    if _is_readable(lines, "utf-8"):
        return None
    runs = [run for line in lines for run in _WIDE.findall(line)]
    if 2 * sum(len(run) == 1 for run in runs) > len(runs):  # accented letters between plain ones
        return "cp1252"
    return next((name for name in _TWO_BYTES if _is_readable(lines, name)), "cp1252")


def _is_readable(lines: Sequence[bytes], encoding: str) -> bool:
    bad = 0
    for line in lines:
        try:
            line.decode(encoding)
        except UnicodeDecodeError:
            bad += 1
    return bad <= (1 - _ALIKE) * len(lines)


def _first_lines(start: bytes, encoding: str) -> list[str]:
    """The first whole lines; the last one may be cut short."""
    raw = start.removeprefix(b"\xef\xbb\xbf").splitlines()
    try:
        found = [line.decode(encoding, errors="replace") for line in raw if line.strip()]
    except LookupError:
        raise LogError("the encoding is not known: try utf-8, latin-1, gb18030") from None
    cut = not start.endswith(b"\n") and len(found) > 1
    return found[: -1 if cut else None][:_LINES]


def _json_format(path: Place, lines: Sequence[str], encoding: str | None) -> FileFormat:
    """The names in the first objects, but for what next to none of them has.

    Objects may be keyed by people: what is in a line of hundreds alone may be somebody's data.
    """
    objects = []
    for line in lines:
        try:
            objects.append(json.loads(line))
        except ValueError:
            continue
    known = [each for each in objects if isinstance(each, dict)]
    if 2 * len(known) <= len(lines):
        raise LogError(
            f"{path.name} is JSON, but not one object a line: convert it, such as with "
            "jq -c '.[]' LOG > NEW.jsonl"
        )
    often = Counter(name for each in known for name in each)
    names = tuple(name for name, times in often.items() if times >= _RARE * len(known))
    found = {name: [each[name] for each in known if name in each] for name in names}
    nested = frozenset(name for name, values in found.items() if any(map(_is_nested, values)))
    lists = frozenset(name for name, values in found.items() if _are_lists(values)) - nested
    texts = {
        name: []
        if name in nested | lists
        else ["" if each is None else str(each) for each in values]
        for name, values in found.items()
    }
    return FileFormat(
        format="jsonl",
        columns=names,
        nested=nested,
        lists=lists,
        shapes=tuple(map(shape_of, texts.values())),
        encoding=encoding,
        time_formats=_time_formats(texts),
    )


def _is_nested(value: object) -> bool:
    """Whether a value is an object or holds some: neither an item nor an id."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(each, dict | list) for each in values)


def _are_lists(values: Sequence[object]) -> bool:
    """Whether most of some values are lists: an odd one changes nothing."""
    return 2 * sum(isinstance(each, list) for each in values) > len(values)


def _delimited_format(
    path: Place, lines: Sequence[str], stated: StatedFormat, encoding: str | None
) -> FileFormat:
    for name, preset in FORMATS.items():
        if preset.layout and preset.layout.names and stated.format in (None, name):
            same = lines[0].split("\t") == list(preset.layout.names)
            if same or stated.format == name:
                return _preset_format(name, preset.layout, encoding)
    delimiter = stated.delimiter or _guess_delimiter(path, lines, stated.format)
    rows = [_split_fields(line, delimiter) for line in lines]
    number, alike = Counter(map(len, rows)).most_common(1)[0]
    if alike < _ALIKE * len(rows) or len(rows[0]) != number or number < 2:
        if sum(line.count('"') % 2 for line in lines) > (1 - _ALIKE) * len(lines):
            raise LogError(
                f"{path.name} has text with line ends in quotes, and here each line is a record: "
                "write the table as Parquet, with whatever wrote this file"
            )
        other = "another --delimiter" if stated.delimiter else "--delimiter"
        raise LogError(
            f"{path.name} is not one table: its lines do not all have the same fields. Make it "
            f"one row for each thing that a person did, with the person's id in each row, or say "
            f"{other}"
        )
    rows = [row for row in rows if len(row) == number]
    if _has_record_types(rows):
        raise LogError(
            f"{path.name} is not one table: the letter at the beginning of its lines says what "
            "kind of line each is. Make it one row for each thing that a person did, with the "
            f"person's id in each row. {_conversion(path)}"
        )
    header = not stated.columns and (_has_header(rows) if stated.header is None else stated.header)
    body = rows[1:] if header else rows
    columns = list(map(list, zip(*body, strict=True))) if body else [[] for _ in range(number)]
    shapes = tuple(map(shape_of, columns))
    person = _guess_person(shapes)
    names = stated.columns or (tuple(rows[0]) if header else _suggest_names(shapes, person))
    if len(names) != number:
        raise LogError(f"--columns names {len(names)} columns, and {path.name} has {number}")
    quoted = delimiter == "\t" and any('"' in line for line in lines[:1])
    chosen = "tsv" if delimiter == "\t" and not quoted else "csv"
    return FileFormat(
        format=stated.format or chosen,
        columns=tuple(names),
        has_header=header,
        certain_names=not header or stated.header is not None,
        shapes=shapes,
        delimiter=None if _usual_delimiter(stated.format or chosen) == delimiter else delimiter,
        encoding=encoding,
        time_formats=_time_formats(dict(zip(names, columns, strict=True))),
        person=names[person] if is_unnamed(names[person]) and not header else None,
    )


def _conversion(path: Place) -> str:
    """A command that makes one table of lines of several kinds, and looks at it."""
    log = path.local() or Path("LOG")
    return _CONVERSION.format(
        log=shlex.quote(str(log)), new=shlex.quote(f"{log.name.partition('.')[0]}-rows.csv")
    )


def _guess_delimiter(path: Place, lines: Sequence[str], stated: str | None) -> str:
    """What divides the lines into the same number of fields, at least two of them."""
    usual = _usual_delimiter(stated or format_by_ending(path))
    found = []
    for delimiter in _DELIMITERS:
        counts = Counter(len(_split_fields(line, delimiter)) for line in lines)
        number, alike = counts.most_common(1)[0]
        if number > 1:
            table = (
                alike >= _ALIKE * len(lines) and len(_split_fields(lines[0], delimiter)) == number
            )
            found.append((table, delimiter == usual, number, delimiter))
    if not found:
        raise LogError(
            f"nothing divides the lines of {path.name} into columns: say --delimiter, and make "
            "sure that each line has the person's id"
        )
    return max(found)[-1]


def _split_fields(line: str, delimiter: str) -> list[str]:
    if len(delimiter) > 1:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return line.split(delimiter)


def _has_record_types(rows: Sequence[Sequence[str]]) -> bool:
    """Whether lines begin with a letter that says which of their fields are in use."""
    in_use: dict[str, set[int]] = {}
    for first, *others in rows:
        used = {place for place, value in enumerate(others) if value}
        in_use[first] = in_use.get(first, set()) | used
    letters = all(len(first) == 1 and first.isalpha() for first in in_use)
    return letters and len(in_use) > 2 and len(set(map(frozenset, in_use.values()))) > 1


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names the columns: only if something speaks for it.

    What is taken for a header is shown and published as names; a line of data must not be. None of
    it is a value, and all of it are names that columns usually have, or it stands above numbers,
    times or ids: in one place if all are usual names and identifiers, or the name there is a usual
    one. Else in two: one odd value, such as an x for a missing number, is in many a line of data.
    """
    first, rest = rows[0], rows[1:]
    names = first[1:] if first[0] == "" else first  # tables with row numbers leave it empty
    if len(set(first)) < len(first) or not all(map(str.strip, names)) or any(map(is_value, names)):
        return False
    if all(map(is_known, names)):
        return True
    shapes = map(shape_of, zip(*rest, strict=True))
    above = {name: shape for name, shape in zip(first, shapes, strict=False) if name}
    plain = ("time", "time of day", "number")
    if all(is_known(name) or _IDENTIFIER.fullmatch(name.strip()) for name in names):
        return any(shape in plain for shape in above.values())
    told = [name for name, shape in above.items() if shape in (*plain, "id")]
    return len(told) > 1 or any(is_known(name) and above[name] in plain for name in told)


def _guess_person(shapes: Sequence[Shape]) -> int:
    """The place of the column that may be the person's: the first that looks like ids."""
    likely = ("id", "number"), ("text",)
    places = (i for wanted in likely for i, shape in enumerate(shapes) if shape in wanted)
    return next(places, 0)


def _suggest_names(shapes: Sequence[Shape], person: int) -> tuple[str, ...]:
    """Names for columns without one; who the person is, a name that is made up must not say."""
    names: list[str] = []
    for place, shape in enumerate(shapes):
        name = "" if place == person else _SUGGESTED.get(shape, "")
        names.append(name if name and name not in names else unnamed_column(place + 1))
    return tuple(names)


def _time_formats(columns: dict[str, list[str]]) -> dict[str, str]:
    found = ((name, time_format_of(values)) for name, values in columns.items())
    return {name: form for name, form in found if form is not None and form != "iso"}
