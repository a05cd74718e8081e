"""Published tables of sets, and the rules that follow from them."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec import structs
from records import record_of

from zealous.items import kind_by_name, queries
from zealous.planning.declared import PublicFile
from zealous.planning.plan import plan_with_files
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.record import PartRecord, Record, TableFiles
from zealous.release.bundle import file_names
from zealous.release.derived.associations import (
    associations,
)

SETS, SEQUENCES = "itemsets:product", "sequences:product"
Counts = Mapping[tuple[str, ...], int]
Rule = dict[str, Any]


PLANNED = plan_with_files(
    Indistinguishability(epsilon=1, delta=0),
    [queries(1)],
    {"queries": PublicFile(use="domain", name="list.txt", sha256="0" * 64)},
)


THINGS = 5  # of a user


def part(kind: str, scale: Fraction = Fraction(2)) -> PartRecord:
    (found,) = record_of(PLANNED).plan
    exact = structs.replace(found.exact, scale=str(scale))
    sized = re.match(r"(?:itemsets|sequences)-(\d)", kind)
    own = {"basket": None, "things": THINGS} if sized else {}
    return structs.replace(
        found,
        kind=kind,
        items_per_user=math.comb(THINGS, int(sized[1])) if sized else 1,
        settings={"by": None, **own},
        exact=exact,
    )


def item_columns(each: PartRecord) -> tuple[str, ...]:
    return kind_by_name(each.kind, each.items_per_user, each.settings).columns()


def about(*kinds: str, scale: Fraction = Fraction(2)) -> Record:
    return of_parts([part(kind, scale) for kind in kinds])


def of_parts(parts: Sequence[PartRecord]) -> Record:
    names = file_names([each.kind for each in parts])
    files = {
        each.kind: TableFiles(
            parquet=f"{names[each.kind]}.parquet",
            csv=f"{names[each.kind]}.csv",
            columns=item_columns(each),
            rows=0,
        )
        for each in parts
    }
    return structs.replace(record_of(PLANNED), plan=tuple(parts), files=files)


def table(counts: Counts, size: int) -> pa.Table:
    columns = {f"item_{n + 1}": [each[n] for each in counts] for n in range(size)}
    shape = [*((name, pa.string()) for name in columns), ("count", pa.int64())]
    return pa.table({**columns, "count": list(counts.values())}, pa.schema(shape))


def tables(people: Sequence[int], counts: Counts, family: str, most: int) -> dict[str, pa.Table]:
    shape, column = family.split(":")
    everyone = {"who": ["everyone"] * len(people), "count": pa.array(people, pa.int64())}
    found = {"people": pa.table(everyone)}
    for size in range(1, most + 1):
        own = {each: count for each, count in counts.items() if len(each) == size}
        found[f"{shape}-{size}:{column}"] = table(own, size)
    return found


def rules(
    people: Sequence[int],
    counts: Counts,
    family: str = SETS,
    most: int = 2,
    scale: Fraction = Fraction(2),
) -> list[Rule]:
    given = tables(people, counts, family, most)
    found: list[Rule] = associations(about(*given, scale=scale), given, family).to_pylist()
    return found


def error(counts: int, scale: Fraction = Fraction(2)) -> int:
    """The error of each of so many counts, by the definition of the discrete Laplace noise."""
    a = math.exp(-1 / scale)
    return next(e for e in itertools.count() if 2 * a ** (e + 1) / (1 + a) <= 0.05 / counts)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
