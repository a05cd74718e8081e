"""Files that list things: the columns that are needed, and each row's place.

They are public, so that messages may count; still none of them quotes what a file holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from zealous.errors import LogError, Refused, ReleaseError, UsageError
from zealous.files import parquet
from zealous.files.delimited import Delimited
from zealous.files.lines import Skipped, header, records, splitter
from zealous.files.places import Place, error_text, file_in_folder, place_of
from zealous.files.scratch import working_directory
from zealous.files.staging import staging_error
from zealous.items import Kind, Things
from zealous.libraries import pa, pq
from zealous.logs.log import ANONYMIZED, COMPRESSED, INTERNAL, is_anonymized
from zealous.record.codec import decode

MOST_ROWS = 50_000_000
ROW, NUMBER = "zealous:row", "zealous:number"  # no item's column is called so

_LINE = Delimited(delimiter="\x1f", names=("item",))
_LAYOUTS = {
    ".txt": _LINE,
    ".csv": Delimited(delimiter=",", quoted=True),
    ".tsv": Delimited(delimiter="\t"),
}
_PARQUET = (".parquet", ".pq")
_BLOCK = 1 << 20
_INTERVAL = ("count_low", "count_high")  # what a release has beside its count


class Listing(NamedTuple):
    """What a file holds, not looked at yet.

    Attributes:
        name: What to call it.
        sha256: Of its bytes.
        skipped: Lines that cannot be read.
        table: The item's columns, each row's place in the file, and perhaps a number.
    """

    name: str
    sha256: str
    skipped: int
    table: pa.Table


class ListFile(NamedTuple):
    """A file that is there.

    Attributes:
        name: What to call it: its name, or the release's id.
        file: Where it is; for a release, the table of the kind.
        sha256: Of its bytes.
    """

    name: str
    file: Place
    sha256: str


def find_list(path: str | Path, kind: Kind) -> ListFile:
    """The file that lists items of a kind, or the table of a release; reads no row of it.

    Raises:
        LogError: There is no such file.
        UsageError: It is a release without this kind.
        Refused: It was made from people's data without a guarantee.
    """
    name, file = _locate(path, kind)
    return ListFile(name, file, _sha256(file))


def read_listing(path: str | Path, kind: Kind, numbers: Sequence[str]) -> Listing:
    """The columns of a file that are needed, under the names of the kind's.

    Args:
        path: Where it is.
        kind: Whose columns are needed.
        numbers: What a column is called that may be read as a number besides; the first one that
            the file has.
    """
    with _copy_of_list(path, kind) as (name, file, digest):
        _check_public(file)  # what is read, and not only what was found
        skipped = Skipped()
        packed = file.suffix.lower() in COMPRESSED
        suffix = (Path(file.stem).suffix if packed else file.suffix).lower()
        if suffix in _PARQUET and not packed:
            columns = _choose_columns(tuple(parquet.schema(file)), kind, numbers, file.name)
            table = _parquet(file, list(columns.values()))
        elif suffix in _LAYOUTS:
            columns = _choose_columns(header(file, _LAYOUTS[suffix]), kind, numbers, file.name)
            table = _lines(file, _LAYOUTS[suffix], list(columns.values()), skipped)
        else:
            raise UsageError(
                f"the ending of {file.name} does not tell its format: give .txt, .csv, .tsv or "
                ".parquet, or the directory of a release"
            )
    named = table.select([ROW, *columns.values()]).rename_columns([ROW, *columns])
    return Listing(name, digest, skipped.total(), named)


def _locate(path: str | Path, kind: Kind) -> tuple[str, Place]:
    """What the file is called, and where it is; for a release, its id and the table of the kind."""
    place = place_of(path)
    try:
        _check_public(place)
        if _exists(place / "release.json"):
            return _table_of_release(place, kind)
        if not _exists(place):
            raise LogError(f"{place} is neither a file nor the directory of a release")
    except OSError as error:
        raise LogError(f"{place} cannot be read: {error_text(error)}") from None
    return place.name, place


@contextmanager
def _copy_of_list(path: str | Path, kind: Kind) -> Iterator[ListFile]:
    """As `find_list`, with a copy: what is hashed is what is read, whoever writes to the file."""
    name, file = _locate(path, kind)
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(working_directory()) / file.name
            with copy.open("xb") as target:
                digest = _sha256(file, target.write)
        except OSError as error:
            raise staging_error(error) from None
        yield ListFile(name, place_of(copy), digest)


def _check_public(place: Place) -> None:
    """Refuse what zealous itself wrote without a guarantee."""
    beside = (place, place.parent)
    labelled = place.suffix.lower() in _PARQUET and is_anonymized(place)
    if labelled or any(_exists(each / ANONYMIZED) for each in beside):
        raise Refused(
            f"{place.name} is the output of an anonymity method: what it lists depends on people "
            "without any guarantee, so it is not public. Give a list made elsewhere, or a release"
        )
    if any(_exists(each / INTERNAL) for each in beside):
        raise Refused(
            f"{place.name} holds true figures of a log and is not public: give a list made "
            "elsewhere, or a release"
        )


def _exists(place: Place) -> bool:
    try:
        return place.is_file()
    except PermissionError:  # what a store says of an object that is not there, to some
        return False


def _table_of_release(directory: Place, kind: Kind) -> tuple[str, Place]:
    """A release's id, and its table of a kind."""
    try:
        release = decode((directory / "release.json").read_bytes().decode())
        table = release.files.get(kind.name())
        file = None if table is None else file_in_folder(directory, table.parquet)
    except (ValueError, RecursionError, ReleaseError):
        raise LogError(
            f"{directory} holds no release that this version of zealous can read"
        ) from None
    if not release.private:
        raise Refused(f"the release in {directory} was made with a fixed seed and is not private")
    if file is None:
        raise UsageError(f"the release in {directory} holds no {kind.name()}: give another")
    return release.id, file


def _sha256(file: Place, keep: Callable[[bytes], object] | None = None) -> str:
    """The SHA-256 of a file; `keep` receives what is hashed."""
    digest = hashlib.sha256()
    for chunk in _chunks(file):
        digest.update(chunk)
        if keep is not None:
            keep(chunk)
    return digest.hexdigest()


def _chunks(place: Place) -> Iterator[bytes]:
    try:
        with place.stream(None, _BLOCK) as file:
            while chunk := file.read(_BLOCK):
                yield chunk
    except OSError as error:
        raise LogError(f"{place} cannot be read: {error_text(error)}") from None


def _choose_columns(
    present: Sequence[str], kind: Kind, numbers: Sequence[str], name: str
) -> dict[str, str]:
    """Which columns of a file are the item's, by the kind's names, and which is the number."""
    wanted = kind.columns()
    number = next((each for each in numbers if each in present and each not in wanted), None)
    others = [each for each in present if each not in (*numbers, *_INTERVAL)]
    found = {each: each for each in wanted if each in present}
    if len(wanted) == len(others) == 1:
        found = {wanted[0]: others[0]}
    elif isinstance(kind, Things) and not found:
        own = [each for each in kind.names if each in present]
        if len(own) != 1:  # of several columns each would have things that the others have not
            raise UsageError(f"{name} must have its {kind.name()} in one column, called item_1")
        found = {wanted[0]: own[0]}
    if missing := [each for each in wanted if each not in found]:
        raise UsageError(
            f"{name} has no column {missing[0]!r}: {kind.name()} need the columns "
            f"{', '.join(wanted)}"
        )
    return found | ({NUMBER: number} if number else {})


def _parquet(file: Place, names: Sequence[str]) -> pa.Table:
    """Columns of a Parquet file, and each row's place."""
    try:
        with file.open_file() as source, pq.ParquetFile(source) as content:
            _check_rows(content.metadata.num_rows, file.name)
            table = content.read(columns=list(names))
    except (OSError, pa.ArrowException):
        raise LogError(f"{file.name} is not a readable Parquet file, or damaged") from None
    return table.append_column(ROW, pa.array(range(table.num_rows), pa.int64()))


def _lines(file: Place, layout: Delimited, names: Sequence[str], skipped: Skipped) -> pa.Table:
    """Columns of a text file, and each row's place.

    Lines are numbered before they are split, as those that need a closer look come later.
    """
    schema = pa.schema([(name, pa.string()) for name in (ROW, *names)])
    split = splitter(layout, (ROW, *header(file, layout)), schema.names, [])
    batches: list[pa.RecordBatch] = []
    number, first = 0, not layout.names
    for batch in records(file, _LINE, ["item"], [], skipped):
        lines = batch["item"].to_pylist()[first:]
        first = False
        numbered = (f"{n}{layout.delimiter}{line}\n" for n, line in enumerate(lines, number))
        number += len(lines)
        _check_rows(number, file.name)
        if lines:
            batches += split("".join(numbered).encode(), skipped)
    table = pa.Table.from_batches(batches, schema)
    return table.set_column(0, ROW, table[ROW].cast(pa.int64()))


def _check_rows(rows: int, name: str) -> None:
    if rows > MOST_ROWS:
        raise LogError(f"{name} has more than {MOST_ROWS:,} rows: give a shorter list")
