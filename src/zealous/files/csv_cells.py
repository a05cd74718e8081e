"""Rows as CSV, in which no cell can be run."""

from __future__ import annotations

from typing import TextIO

from zealous.files.numbers import text_array
from zealous.libraries import pa, pc

_ROWS = 100_000  # at a time: all that is held in memory of the text

# What a spreadsheet would take for a formula, in the first place of a cell, after any blanks.
_BLANK = (
    r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)
_FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
_RUNNABLE = rf"\A{_BLANK}*{_FORMULA}"
# In many countries a spreadsheet splits lines at semicolons, whatever is quoted between commas.
_AFTER_SEMICOLON = rf";({_BLANK}*{_FORMULA})"
_QUOTED = '[,"\n]'


def write_rows(table: pa.Table, file: TextIO, *, semicolons: bool = True) -> None:
    """Write a table as the csv module would, a column at a time, with every text made inert.

    Text that looks like a formula gets an apostrophe, and a carriage return becomes a space, since
    readers would begin a row there. Lines end in a newline. A missing value is an empty cell.

    Args:
        table: The rows.
        file: Opened for text without translation of newlines.
        semicolons: Whether what follows a semicolon is made inert too. It was not in releases of
            version 0.1.0, which are compared with what is written so.
    """
    if not table.column_names:
        file.write("\n")
        return
    file.write(_lines([_cells(text_array(name), semicolons) for name in table.column_names]))
    for batch in table.to_batches(max_chunksize=_ROWS):
        if batch.num_rows:
            file.write(_lines([_cells(column, semicolons) for column in batch.columns]))


def inert_text(text: str) -> str:
    """A text as it stands in a cell, before it is quoted.

    >>> inert_text("@timestamp"), inert_text("query")
    ("'@timestamp", 'query')
    """
    return str(_neutralize(text_array(text), semicolons=True)[0])


def _lines(columns: list[pa.Array]) -> str:
    """Cells joined into lines, and lines into one text."""
    if len(columns) == 1:  # a line with nothing on it would be no row
        columns = [pc.if_else(pc.equal(columns[0], _text("")), _text('""'), columns[0])]
    lines = _join(*columns[:-1], _join(columns[-1], "\n"), by=",")
    return str(lines.buffers()[2], "utf-8")  # where Arrow keeps one text after the other


def _cells(column: pa.Array, semicolons: bool) -> pa.Array:
    """What stands in a column's cells."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    large = pa.large_string()
    if pa.types.is_integer(kind):
        return pc.fill_null(column.cast(large), _text(""))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _quote(_neutralize(pc.fill_null(column.cast(large), _text("")), semicolons))
    texts = ["" if value is None else str(value) for value in column.to_pylist()]
    return _quote(pa.array(texts, large))


def _neutralize(text: pa.Array, semicolons: bool) -> pa.Array:
    """Cells that no spreadsheet will run."""
    if semicolons and pc.any(pc.match_substring(text, ";")).as_py():
        text = pc.replace_substring_regex(text, _AFTER_SEMICOLON, r";'\1")
    runnable = pc.match_substring_regex(text, _RUNNABLE)
    text = pc.replace_substring(text, "\r", " ")
    if not pc.any(runnable).as_py():
        return text
    return pc.if_else(runnable, _join("'", text), text)


def _quote(text: pa.Array) -> pa.Array:
    """Cells in quotation marks where a reader would else end them too early."""
    special = pc.match_substring_regex(text, _QUOTED)
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, _join('"', doubled, '"'), text)


def _join(*parts: pa.Array | str, by: str = "") -> pa.Array:
    texts = (_text(part) if isinstance(part, str) else part for part in parts)
    return pc.binary_join_element_wise(*texts, _text(by))


def _text(text: str) -> pa.Scalar:
    return text_array(text)[0]
