"""A sketch of a log's ids: the same on every way through the engine, and what two of them tell."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.logs.id_sketch import Sketch, sketch_ids
from zealous.logs.open_log import open_log

KEY = "a key"


def hashes(ids: Iterable[str]) -> list[str]:
    """The smallest hash of each slot, by a few lines of Python."""
    least: dict[str, str] = {}
    for each in ids:
        plain = each.lower().lstrip("0")
        found = hashlib.md5((KEY + plain).encode()).hexdigest()
        found += plain if plain.isdecimal() and len(plain) < 10 else ""
        least[found[:2]] = min(least.get(found[:2], found), found)
    return list(least.values())


def sketch(ids: Sequence[str]) -> Sketch:
    return Sketch.of(len(ids), hashes(ids))


def people(number: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.getrandbits(64):016x}" for _ in range(number)]


@pytest.mark.parametrize("each", [1, 13])  # so that the entries are few, or more than the limit
def test_files_of_other_formats_have_the_same_sketch(each: int, tmp_path: Path) -> None:
    ids = [f"{number:05}" for number in range(7, 900)]
    text = "user,query\n" + "".join(f"{one},tea {n}\n" for one in ids for n in range(each))
    (tmp_path / "log.csv").write_text(text)
    numbers = [int(one) for one in ids for _ in range(each)][::-1]
    table = pa.table({"user": numbers, "query": ["milk"] * len(numbers)})
    pq.write_table(table, tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        log = z.read_log(tmp_path / name)
        with z.DuckDB() as engine:
            source = open_log(log, engine, sketch_key=KEY)
            assert (source.id_hashes is not None) == (each > 11), "made while they are counted"
            assert sketch_ids(source, KEY) == sketch(ids)._replace(ids=890)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [(3000, 3000, 3000), (3000, 3000, 1200), (9000, 1800, 1800), (300, 300, 150), (40, 40, 40)],
)
def test_the_share_of_the_smaller_log_is_estimated(first: int, second: int, both: int) -> None:
    shared = people(both, 1)
    one = sketch(shared + people(first - both, 2))
    two = sketch(shared + people(second - both, 3))
    share = one.shared_with(two)
    assert share == two.shared_with(one)
    assert share is not None
    assert abs(share - both / min(first, second)) < 0.15


def test_other_people_are_not_taken_for_the_same() -> None:
    one = sketch(people(2000, 1))
    assert not any(one.shared_with(sketch(people(2000, seed))) for seed in range(2, 6))
    assert sketch(people(11, 1)).shared_with(one) is None, "too few to tell"


def numbered(first: int, last: int, active: float = 1, seed: int = 0) -> list[str]:
    """Ids that number people, of whom some are not in the log."""
    chance = random.Random(seed)
    return [str(n) for n in range(first, last + 1) if chance.random() < active]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (numbered(1, 900), numbered(1, 5000)),
        (numbered(1, 3000), numbered(1, 2400)),
        (numbered(1, 300), numbered(1, 3000)),
        (numbered(1001, 4000), numbered(1001, 4900)),
        (numbered(1, 5000, 0.6), numbered(1, 4000, 0.6, seed=1)),
    ],
)
def test_people_who_are_numbered_are_not_taken_for_the_same(one: list[str], two: list[str]) -> None:
    assert sketch(one).shared_with(sketch(two)) is None
    assert sketch(one).shared_with(sketch(one)) == 1.0, "a copy has the very same ids"
    bare = sketch(one)._replace(numbers=())
    assert bare.shared_with(sketch(two)) is not None, "what would be told without a look at numbers"


def test_few_of_many_numbers_are_taken_for_the_same() -> None:
    january = numbered(1, 30_000, 0.1)
    february = january[:2000] + [str(int(each) + 40_000) for each in january[2000:]]
    share = sketch(january).shared_with(sketch(february))
    assert share is not None
    assert abs(share - 2000 / len(january)) < 0.15


def test_one_id_changes_one_slot() -> None:
    everybody = people(500, 1)
    before = sketch(everybody)
    for stranger in people(50, 2):
        after = sketch([*everybody, stranger])
        changed = sum(a != b for a, b in zip(before.slots, after.slots, strict=True))
        assert changed <= 1
        assert after.ids == before.ids, "which is told to two digits"


def test_a_sketch_that_somebody_changed_stops_nobody() -> None:
    found = sketch(people(3000, 1))
    assert found._replace(ids=0).shared_with(found) is None
