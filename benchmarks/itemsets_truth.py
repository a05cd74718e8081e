"""The true sets of itemsets.py: who holds what together, mined without privacy and counted exactly.

A person holds a set if one of his baskets contains it; without baskets his whole history is one.
FP-growth finds the sets in many baskets, DuckDB then counts their people. No set has more people
than baskets, so nothing is missed once the last set wanted has as many people as baskets were
asked for. The sets of two are also counted by a join of all baskets with themselves, and compared.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

HERE = Path(__file__).resolve().parent
MINER = HERE / "data" / "peers" / "mlxtend" / "bin" / "python"
SCRIPT = HERE / "peers" / "mlxtend_itemsets.py"
Set = tuple[str, ...]


def run(words: Sequence[Any]) -> float:
    """Run a command that says nothing; its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{Path(words[0]).name} failed:\n{done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True, kw_only=True)
class Table:
    """People, their baskets and the things in these.

    Attributes:
        name: What it is called in the results.
        path: Parquet, or CSV with a header.
        user: The column of people.
        items: The columns of things.
        basket: The column of what is together; whole histories if there is none.
    """

    name: str
    path: Path
    user: str
    items: tuple[str, ...]
    basket: str | None = None


@dataclass(frozen=True, kw_only=True)
class Top:
    """The sets of one size that most people hold, most first.

    Attributes:
        people: How many hold each.
        seconds: Processor time of the miner, where it is told how many baskets a set must be in.
    """

    people: Mapping[Set, int]
    seconds: float

    def first(self, number: int) -> list[Set]:
        """So many of them."""
        return list(self.people)[:number]

    def least(self, number: int) -> int:
        """How many people hold the last of so many."""
        return list(self.people.values())[min(number, len(self.people)) - 1]


class Truth:
    """A table in memory, each thing of a basket once; for the owner alone."""

    def __init__(self, table: Table, folder: Path) -> None:
        self._table, self._folder = table, folder
        self._connection = duckdb.connect(
            config={"memory_limit": "4GB", "temp_directory": str(folder)}
        )
        self._connection.execute(_held(table), [str(table.path)])
        self._connection.execute(
            "create table names as select row_number() over (order by text) - 1 as item, text "
            "from (select distinct text from held);"
            "create table rows as select who, dense_rank() over (order by who, basket) - 1 as "
            "basket, item from held join names using (text)"
        )
        (self.people, self.baskets) = self._row(
            "select count(distinct who), count(distinct basket) from rows"
        )
        self._names: list[str] = [
            text
            for (text,) in self._connection.execute(
                "select text from names order by item"
            ).fetchall()
        ]
        self._numbers = {text: number for number, text in enumerate(self._names)}

    def top(self, size: int, depth: int) -> Top:
        """At least the depth first sets of that size, and all that equal the last in people."""
        least = self._guess(size, depth)
        while True:
            mined, seconds = self._mined(size, least)
            counted = self.count([self._texts(each) for each in mined])
            ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
            last = ordered[depth - 1][1] if len(ordered) >= depth else 0
            if last >= least or least == 1:
                break
            least = max(1, min(last, least - 1) if last else least // 2)
        top = Top(
            people={names: people for names, people in ordered if people >= last},
            seconds=seconds,
        )
        if size == 2:
            self._check_pairs(top)
        return top

    def count(self, sets: Iterable[Set]) -> dict[Set, int]:
        """The people who hold each of these sets, all of one size; 0 where a thing is unknown."""
        wanted = dict.fromkeys(sets, 0)
        known = [each for each in wanted if all(name in self._numbers for name in each)]
        if not known:
            return wanted
        places = range(len(known[0]))
        columns = {f"i{n}": [self._numbers[each[n]] for each in known] for n in places}
        self._connection.register("wanted", pa.table({**columns, "place": range(len(known))}))
        joins = " ".join(
            f"join rows r{n} on r{n}.item = i{n}" + (f" and r{n}.basket = r0.basket" if n else "")
            for n in places
        )
        found = self._connection.execute(
            f"select place, count(distinct r0.who) from wanted {joins} group by place"
        ).fetchall()
        self._connection.unregister("wanted")
        return wanted | {known[place]: people for place, people in found}

    def close(self) -> None:
        """Forget it."""
        self._connection.close()

    def _texts(self, numbers: tuple[int, ...]) -> Set:
        return tuple(sorted(self._names[number] for number in numbers))

    def _guess(self, size: int, depth: int) -> int:
        """In how many baskets sets may be that are wanted."""
        if size == 1:
            counted = "select count(distinct who) as n from rows group by item"
        else:
            self._connection.execute(_PAIRS)
            counted = "select n from pairs"
        (least,) = self._row(f"select min(n) from (from ({counted}) order by n desc limit {depth})")
        return max(1, least if size < 3 else least // 2)

    def _mined(self, size: int, least: int) -> tuple[list[tuple[int, ...]], float]:
        source, output = (self._folder / f"{name}.parquet" for name in ("baskets", "mined"))
        self._connection.execute(
            f"copy (select basket, item from rows) to '{source}' (format parquet)"
        )
        seconds = run([MINER, SCRIPT, source, output, size, least])
        columns = ", ".join(f"item_{place}" for place in range(1, size + 1))
        found = self._connection.execute(f"select {columns} from '{output}'").fetchall()
        return found, seconds

    def _check_pairs(self, top: Top) -> None:
        last = top.least(len(top.people))
        pairs = self._connection.execute(f"from pairs where n >= {last}").fetchall()
        exact = {self._texts((one, other)): people for one, other, people in pairs}
        if exact != top.people:
            raise SystemExit(f"{self._table.name}: the miner and the join disagree on pairs")

    def _row(self, sql: str) -> tuple[int, ...]:
        row = self._connection.execute(sql).fetchone()
        assert row is not None
        return row


_PAIRS = """
create table if not exists pairs as
select one, other, count(*) as n
from (
    select distinct a.who, a.item as one, b.item as other
    from rows a join rows b on a.basket = b.basket and a.item < b.item
)
group by all
"""


def _held(table: Table) -> str:
    """SQL: (who, basket, text), read as text, without missing values, blanks made single."""
    basket = table.basket or table.user
    each = " union ".join(
        f'select "{table.user}"::varchar as who, "{basket}"::varchar as basket, '
        f"trim(regexp_replace(\"{name}\"::varchar, '\\s+', ' ', 'g')) as text from log"
        for name in table.items
    )
    read = (
        "read_parquet($1)"
        if table.path.suffix == ".parquet"
        else ("read_csv($1, header = true, all_varchar = true)")
    )
    return (
        f"create table held as with log as (from {read}) from ({each}) where who <> '' and "
        "basket <> '' and regexp_matches(text, '[\\p{L}\\p{N}]')"
    )
