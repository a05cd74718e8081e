"""Forgeries that name an earlier version, and forged files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from bundles import made
from forgeries import (
    OLD,
    SECRET,
    Forgery,
    edited,
    failed,
    raw_queries,
    with_count,
)
from forging import FIXTURES, About, Tables, forged, part
from sampling import sampled

from zealous.items import keywords, queries
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.verification.verify import verify


@pytest.mark.parametrize("forgery", sampled(OLD, lambda forgery: forgery.name, share=3))
def test_a_forgery_that_names_an_earlier_version(forgery: Forgery, tmp_path: Path) -> None:
    target = forged(FIXTURES / forgery.of, tmp_path / "out", forgery.change, forgery.edit)
    found = failed(target)
    assert forgery.reason in found.get(forgery.check, ""), found
    assert not any(SECRET in detail for detail in found.values())


def test_raw_queries_agree_with_all_but_the_plan(tmp_path: Path) -> None:
    target = forged(FIXTURES / "searches", tmp_path / "out", raw_queries)
    about = {check.name: check for check in verify(target)}
    assert about["guarantee"].detail.startswith("epsilon = 3 and delta = 0 follow")
    assert set(failed(target)) == {"plan"}


@pytest.mark.parametrize("where", ["table", "column"])
def test_a_parquet_file_holds_the_table_and_no_log(where: str, tmp_path: Path) -> None:
    def hide(about: About, tables: Tables) -> None:
        del about
        kept, table = {"log": SECRET}, tables["queries"]
        schema = table.schema.with_metadata(kept)
        if where == "column":
            schema = table.schema.set(0, table.schema.field(0).with_metadata(kept))
        tables["queries"] = table.cast(schema)

    found = failed(forged(FIXTURES / "searches", tmp_path / "out", hide))
    assert "holds more than the table" in found.get("tables", "")


def with_gap(file: Path) -> None:
    """Bytes between columns and metadata, where no reader looks."""
    data = file.read_bytes()
    metadata = int.from_bytes(data[-8:-4], "little") + 8
    file.write_bytes(data[:-metadata] + SECRET.encode() + data[-metadata:])


def in_small_groups(file: Path) -> None:
    pq.write_table(pq.read_table(file), file, compression="zstd", row_group_size=2)


def without_dictionary(file: Path) -> None:
    pq.write_table(pq.read_table(file), file, compression="zstd", use_dictionary=False)


def by_another_program(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"parquet-cpp-arrow", b"the log says: tea"))


@pytest.mark.parametrize(
    "hide", [with_gap, in_small_groups, without_dictionary, by_another_program]
)
def test_a_parquet_file_is_as_we_write_it(hide: Callable[[Path], None], tmp_path: Path) -> None:
    target = forged(
        FIXTURES / "searches",
        tmp_path / "out",
        lambda *_: None,
        lambda path: hide(path / "queries.parquet"),
    )
    assert "holds more than the table" in failed(target).get("tables", "")


def test_a_parquet_file_of_another_arrow_is_told(tmp_path: Path) -> None:
    """What its bytes should be is not known here: that they were not compared is said."""

    def renumber(path: Path) -> None:
        data = (path / "queries.parquet").read_bytes()
        ours = pq.read_metadata(path / "queries.parquet").created_by.encode()
        other = ours[:-1] + (b"8" if ours.endswith(b"9") else b"9")
        (path / "queries.parquet").write_bytes(data.replace(ours, other))

    target = forged(FIXTURES / "searches", tmp_path / "out", lambda *_: None, renumber)
    (tables,) = (check for check in verify(target) if check.name == "tables")
    assert tables.ok is None
    assert "bytes beside these rows was not checked" in tables.detail


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda about: about["software"].update(version="0.1.7"), "does not know"),
        (lambda about: about.update(created="0001-01-01"), "before there was any version"),
        (lambda about: about.update(id="a\nb"), "printable"),
        (lambda about: about.update(id=" a"), "not written as zealous writes it"),
        (lambda about: about["ledger"].update(entry=0), "ledger.entry"),
        (lambda about: about["ledger"].update(dataset="\x1b[2J"), "printable"),
        (lambda about: about.update(publisher={"title": "a\nb"}), "one line"),
    ],
)
def test_a_value_that_no_version_writes(
    change: Callable[[About], object], reason: str, tmp_path: Path
) -> None:
    target = forged(FIXTURES / "searches", tmp_path / "out", lambda about, _: change(about))
    assert reason in failed(target).get("release.json", "")


@pytest.mark.parametrize("of", sorted({forgery.of for forgery in OLD}))
def test_a_copy_that_is_not_changed_passes(of: str, tmp_path: Path) -> None:
    assert failed(forged(FIXTURES / of, tmp_path / "out", lambda *_: None)) == {}


@pytest.mark.parametrize(
    ("of", "name", "column"),
    [("rates", "click-rates.csv", "low"), ("itemsets", "associations.csv", "lift_high")],
)
def test_intervals_of_another_planner_are_its_own(
    of: str, name: str, column: str, tmp_path: Path
) -> None:
    target = forged(FIXTURES / of, tmp_path / "out", lambda *_: None, edited(name, column))
    assert failed(target) == {}


def exclusive(target: Path, kind: str, threshold: int) -> None:
    """One above the threshold passes, and what is at it does not."""
    above = forged(target, target.parent / "above", with_count(kind, -1, threshold + 1))
    assert failed(above) == {}
    at = forged(target, target.parent / "at", with_count(kind, -1, threshold))
    assert f"{kind}: there are counts at or below the threshold" in failed(at).get("rows", "")


def test_the_threshold_of_queries_follows_from_the_keywords(tmp_path: Path) -> None:
    target = forged(FIXTURES / "results", tmp_path / "out", lambda *_: None)
    about = json.loads((target / "release.json").read_text())
    number = about["files"]["keywords"]["rows"]
    scale = part(about, "queries")["scale"]
    size = number + number**2 + number**3
    exclusive(target, "queries", math.ceil(scale * math.log(size)))


def test_the_threshold_of_sequences_follows_from_the_candidates(tmp_path: Path) -> None:
    target = forged(FIXTURES / "sequences", tmp_path / "out", lambda *_: None)
    about = json.loads((target / "release.json").read_text())
    alpha = math.exp(-1 / part(about, "sequences-2:product")["scale"])

    def threshold(candidates: int) -> int:
        return next(t for t in range(999) if candidates * alpha ** (t + 1) / (1 + alpha) <= 1)

    counts = pq.read_table(target / "sequences-1-product.parquet")["count"].to_pylist()
    first = threshold(len(counts) ** 2)
    known = sum(min(one, other) > first for one in counts for other in counts)
    exclusive(target, "sequences-2:product", threshold(known))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ours")
    goal = ProbabilisticDP(epsilon=20, delta="0.001", users=100)
    return made(folder, goal, [keywords(2), queries(2)]).write(folder / "out")
