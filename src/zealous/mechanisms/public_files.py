"""Public tables: items that somebody declares not to come from the log that is published.

A product catalogue, a dictionary with frequencies, an earlier release. Whether that is true nobody
can see here, so a release names the file by its SHA-256. The items are made by the same steps as
those of a log: "iPhone  15" in a catalogue is the query "iphone 15".
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.errors import LogError
from zealous.files.places import place_of
from zealous.files.staging import staging_error
from zealous.items import Kind
from zealous.items.kind import Entries
from zealous.items.lists import NUMBER, ROW, Listing, read_listing
from zealous.libraries import pa, pq
from zealous.logs.log import Cleaning, Columns, Log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source


@dataclass(frozen=True, kw_only=True)
class PublicTable:
    """A public table of items of one kind.

    Attributes:
        name: The file's name, or the release's id.
        sha256: Of the file that was read.
        rows: How many rows it has; blank lines are none.
        skipped: How many of them are no item of the kind: blank, of several words where a word
            is asked for, or a line that cannot be read.
        table: The distinct items. Those of `read_public` have a `count`, which says no more than
            their order: the larger, the more frequent.
    """

    name: str
    sha256: str
    rows: int
    skipped: int
    table: pa.Table = field(repr=False, compare=False)


class ReadPublicFile(Protocol):
    """Reads the rows of a public file."""

    def __call__(self, path: str | Path, kind: Kind, *, roles: Collection[str] = ()) -> PublicTable:
        """Read it.

        Args:
            path: The file, or the directory of a release.
            kind: What is published.
            roles: The roles that have a column in the log.
        """


def read_public(path: str | Path, kind: Kind, *, roles: Collection[str] = ()) -> PublicTable:
    """Read the items of a kind from a public file.

    A row is taken for one item, and made what the log's would be: lower-cased, tidied, folded. One
    that would give several, such as two words where keywords are counted, is none and is left out:
    nothing is published that the file does not list. A column `count` or `frequency` orders the
    items, those without a number last; where there is none the order of the file does, the most
    frequent first. An item that is listed several times has the best of its places.

    Args:
        path: `.txt` with one item a line; `.csv` or `.tsv` whose first line names the columns (all
            three also compressed); `.parquet`; or the directory of a release, whose table of the
            kind is read. Columns are called as the kind's are; for a kind of one column any single
            one will do. Things may be in a column that is called as one of theirs in the log.
        kind: What the items are.
        roles: The roles that have a column in the log: a log with its own lists of keywords has
            other keywords than one without.

    Raises:
        LogError: The file cannot be read, or lists no item of the kind.
        UsageError: It is of another format, or a release without this kind.
        Refused: It was made from people's data without a guarantee.
    """
    given = read_listing(path, kind, ("count", "frequency"))
    item = comma_separated(map(identifier, kind.columns()))
    ranked = 'dense_rank() over (order by "order:best" nulls first)'
    sql = f"select {item}, {ranked} as count from best order by count desc, {item}"
    return make_table(given, kind, roles, sql)


@dataclass(frozen=True, kw_only=True)
class PublicInput:
    """A public file that a mechanism needs.

    Attributes:
        name: What it is for: the option that names the file, and the argument.
        help: What the help of the option says.
        read: Reads it: items of the kind, the most frequent first, where not given.
    """

    name: str
    help: str = field(compare=False)
    read: ReadPublicFile = field(default=read_public, compare=False)


def make_table(
    given: Listing, kind: Kind, roles: Collection[str], sql: str, sign: str = ""
) -> PublicTable:
    """The items of the rows, of which `sql` chooses from `best` (item..., order:best, order:row).

    Args:
        given: What the file lists.
        kind: What the items are.
        roles: The roles that have a column in the log.
        sql: The choice.
        sign: A minus where the smallest number comes first.
    """
    item = comma_separated(map(identifier, kind.columns()))
    entries = kind.as_entries(given.table, roles)
    with DuckDB() as running:
        source = _open_list(entries, running)
        each = comma_separated(
            f"any_value({name}) as {name}" for name in map(identifier, kind.columns())
        )
        # (user, item...): the rows that are one item, and not several
        single = f"select user, {each} from items group by user having count(*) = 1"
        running.append_rows(
            "single", [*source.entries, *entries.kind.steps(source), Step("one", single)]
        )
        usable = running.rows([Step("usable", "select count(*) from single")])[0][0]
        if not usable:
            raise LogError(
                f"{given.name} lists no {kind.name()}: each row must be one item, as the log "
                "would have it"
            )
        best = (
            f'select {item}, max("order:amount") as "order:best", min(user) as "order:row" '
            f"from amounts group by {item}"
        )
        amounts = _amounts(entries.table, sign, running)
        batches = list(running.batches([amounts, Step("best", best), Step("chosen", sql)]))
    rows = given.table.num_rows + given.skipped
    table = pa.Table.from_batches(batches)
    return PublicTable(
        name=given.name, sha256=given.sha256, rows=rows, skipped=rows - usable, table=table
    )


def _amounts(table: pa.Table, sign: str, engine: DuckDB) -> Step:
    """With a number that is larger for what comes first; none where the file's is no number."""
    if NUMBER not in table.column_names:
        return Step("amounts", 'select *, -user as "order:amount" from single')
    engine.add_table("numbered", table.select([ROW, NUMBER]))
    number = f"try_cast({identifier(NUMBER)}::varchar as double)"
    finite = f'case when isfinite({number}) then {sign}{number} end as "order:amount"'
    numbers = f"select {identifier(ROW)} as user, {finite} from numbered"
    return Step("amounts", f"select * from single join ({numbers}) using (user)")


def _open_list(listed: Entries, engine: DuckDB) -> Source:
    """A list as a log in which each row is a user of its own."""
    path = engine.directory / "public.parquet"
    try:
        pq.write_table(listed.table, path)
    except OSError as error:
        raise staging_error(error) from None
    log = Log(
        paths=(place_of(path),),
        layout=None,
        columns=Columns(user=ROW, **listed.roles),
        time_format=None,
        cleaning=Cleaning(),
    )
    return open_log(log, engine, listed.kind.extra_columns())
