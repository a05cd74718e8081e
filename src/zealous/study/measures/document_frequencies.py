"""In how many documents each keyword stands, as somebody's own file has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from zealous.errors import UsageError, reason
from zealous.study.releases.original_histogram import Ints

Documents = Callable[[pa.Array], Ints]
"""From keywords to the number of documents that contain each; at least 1."""

_COLUMNS = ("keyword", "documents")


def documents_from(path: Path) -> Documents:
    """Document frequencies from a file: CSV, TSV or Parquet with columns keyword and documents.

    Keywords are lower-cased, as those of a log are. What stands there more than once, be it in
    capitals, is added up. A keyword that is missing has 1 document.

    Raises:
        UsageError: The file cannot be read so.
    """
    table = _table(path)
    if any(table.column_names.count(name) != 1 for name in _COLUMNS):
        raise UsageError(f"{path} must have the columns keyword and documents, each once")
    try:
        keyword = pc.utf8_lower(_trim(table["keyword"]))
        counts = _whole_numbers(table["documents"])
    except pa.ArrowException:
        raise _not_whole(path) from None
    if keyword.null_count or counts.null_count or (len(counts) and pc.min(counts).as_py() < 1):
        raise _not_whole(path)
    added = pa.table({"keyword": keyword, "documents": counts}).group_by("keyword")
    added = added.aggregate([("documents", "sum")])
    known = added["keyword"].combine_chunks()
    padded = np.append(added["documents_sum"].to_numpy(), 1)  # the last for what is missing

    def frequencies(keywords: pa.Array) -> Ints:
        place = pc.index_in(keywords.cast(pa.string()), value_set=known).fill_null(len(known))
        found: Ints = padded[place.to_numpy(zero_copy_only=False)]
        return found

    return frequencies


def _trim(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers; Arrow itself would take dates, truths and hexadecimal text as well."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.cast(pa.int64())
    text = _trim(column)
    written = pc.match_substring_regex(text, "^[0-9]+$")
    return pc.if_else(written, text, None).cast(pa.int64())


def _not_whole(path: Path) -> UsageError:
    return UsageError(
        f"{path} must have a keyword and a number of documents in each row: a whole number of at "
        "least 1"
    )


def _table(path: Path) -> pa.Table:
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".parquet"):
        raise UsageError(f"{path} must be a .csv, .tsv or .parquet file of document frequencies")
    try:
        with path.open("rb") as file:
            if ending == ".parquet":
                return pq.read_table(file)
            tabs = ending == ".tsv"
            text = dict.fromkeys(_COLUMNS, pa.string())  # otherwise a column's type is guessed
            return pacsv.read_csv(
                file,
                parse_options=pacsv.ParseOptions(
                    delimiter="\t" if tabs else ",", quote_char=False if tabs else '"'
                ),
                convert_options=pacsv.ConvertOptions(column_types=text),
            )
    except pa.ArrowException:
        # from None: Arrow quotes the line that it cannot read
        raise UsageError(f"{path} cannot be read as {ending[1:]}: is it damaged?") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}") from None
