"""Mechanisms side by side on one log."""

from __future__ import annotations

import csv
import json
import stat
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import Run

import zealous as z
from zealous.counting.histogram import histogram
from zealous.counting.restriction import InTable
from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError, UsageError
from zealous.items import Kind
from zealous.logs.open_log import open_log
from zealous.mechanisms import CalibratedMechanism
from zealous.study.mechanism_comparison import (
    COMPARED_MECHANISMS,
    FIGURES,
    MechanismComparison,
    MechanismRow,
    compare_mechanisms,
)
from zealous.study.releases.encoded_log import COUNTS, CachedCounting, EncodedLog, encode

ITEMS = ("tea", "milk", "Bread ", "salt")
PEOPLE = 400
COMMAND = ("study", "mechanisms", "log.csv", "--items", "queries", "--items-per-user", 3)
ALONE = [name for name, each in COMPARED_MECHANISMS.items() if each.public_input is None]


def _write(folder: Path) -> Path:
    """Each of 400 people has three of four items, one of them twice, and one of her own."""
    rows = ["user,query"]
    for user in range(PEOPLE):
        held = [ITEMS[(user + step) % 4] for step in (0, 1, 2, 0)]
        rows += [f"u{user},{item}" for item in (*held, f"own {user}")]
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "domain.txt").write_text("tea\nSALT\nnobody has this\n")
    (folder / "prior.csv").write_text("query,count\ntea,90\nmilk,80\nnor this,70\n")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("mechanisms"))


@pytest.fixture(scope="module")
def found(folder: Path) -> MechanismComparison:
    """Everything, at an epsilon that hides little and at one that hides nearly all."""
    return compare_mechanisms(
        z.read_log(folder / "log.csv"),
        z.queries(4),
        epsilons=("0.01", "40"),
        draws=1,
        prior=folder / "prior.csv",
        domain=folder / "domain.txt",
    )


def _named(found: MechanismComparison, name: str, epsilon: str) -> list[MechanismRow]:
    return [
        row
        for row in found.rows
        if (row.mechanism, float(row.goal.epsilon)) == (name, float(epsilon))
    ]


def _mean(row: MechanismRow, name: str) -> float:
    assert row.figures is not None, row.note
    spread = row.figures[name]
    assert spread is not None
    assert spread.low <= spread.mean <= spread.high
    return spread.mean


@pytest.mark.extended
def test_every_mechanism_at_every_goal(found: MechanismComparison) -> None:
    assert [(row.goal.neighbors, float(row.goal.epsilon), row.mechanism) for row in found.rows] == [
        (relation, epsilon, name)
        for relation in ("add-remove", "replace")
        for epsilon in (0.01, 40)
        for name in COMPARED_MECHANISMS
    ]
    assert (found.items, found.users) == (4 + PEOPLE, PEOPLE)
    assert {row.items_per_user for row in found.rows if row.mechanism != "selection"} == {4}
    assert {row.items_per_user for row in found.rows if row.mechanism == "selection"} == {1}
    assert all("m = 1" in row.note for row in found.rows if row.mechanism == "selection")
    assert all(row.goal.definition == "indistinguishable" for row in found.rows)


@pytest.mark.extended
def test_no_more_than_there_is(found: MechanismComparison) -> None:
    for row in found.rows:
        if row.figures is None:
            assert row.note
            continue
        listed = {"domain": 1, "prior": 1}.get(row.mechanism, 0)  # what nobody has
        assert 0 <= _mean(row, "items") <= found.items + listed
        assert 0 <= _mean(row, "covered") <= 1
        assert _mean(row, "seconds") > 0


@pytest.mark.extended
def test_where_little_is_hidden_all_that_is_frequent_comes_out(found: MechanismComparison) -> None:
    """1,200 of 1,600 pairs of people and items are of the four that many have."""
    for name in COMPARED_MECHANISMS:
        for row in _named(found, name, "40"):
            if name == "domain":
                continue
            assert _mean(row, "covered") >= 0.75
            assert _mean(row, "items") >= 4
            if name == "selection-twice":  # counts those alone who chose an item
                assert _mean(row, "error") >= 100
                continue
            if row.items_per_user == 4 and _mean(row, "items") == 4:  # nothing is cut off
                assert _mean(row, "error") == pytest.approx(_mean(row, "noise"))
                assert _mean(row, "error") < 5
    for row in _named(found, "selection", "40"):  # one item of four
        assert 200 <= _mean(row, "error") <= 250
        assert 0.6 <= _mean(row, "relative_error") <= 0.9
        assert _mean(row, "noise") < 1


@pytest.mark.extended
def test_where_nearly_all_is_hidden_little_comes_out(found: MechanismComparison) -> None:
    for name in ALONE:
        for row in _named(found, name, "0.01"):
            assert row.figures is None or _mean(row, "items") <= 1


@pytest.mark.extended
def test_a_domain_is_published_whole_and_nothing_else(found: MechanismComparison) -> None:
    for epsilon in ("0.01", "40"):
        for row in _named(found, "domain", epsilon):
            assert _mean(row, "items") == 3
            assert _mean(row, "covered") == pytest.approx(600 / 1600)
            assert row.note == "at delta = 0"


def test_codes_are_counted_as_the_log_is(folder: Path) -> None:
    """The same pipeline, and the same counts where nothing is left to chance."""
    kind: Kind = z.queries(5)
    with DuckDB() as engine:
        source = open_log(z.read_log(folder / "log.csv"), engine)
        direct = histogram(kind, source, bound=5, at_least=1, select="random", key=1)
        expected = Counter(count for batch in direct for count in batch["count"].to_pylist())
        coded, _ = encode(kind, source, {})
        assert Counter(coded.users.tolist()) == expected
        counting = CachedCounting(coded)
        with counting.for_key(1) as count:
            table = _table(count(bound=5, at_least=1))
        assert dict(zip(*table.to_pydict().values(), strict=True)) == dict(enumerate(coded.users))
        _counts_of_one_key_are_made_once(counting)


def _table(batches: object) -> pa.Table:
    return pa.Table.from_batches([batch.cast(COUNTS) for batch in batches], COUNTS)  # type: ignore[attr-defined]


def _counts_of_one_key_are_made_once(counting: CachedCounting) -> None:
    def drawn(key: int) -> pa.Table:
        with counting.for_key(key) as count:
            return _table(count(bound=1, at_least=1)).sort_by("item")

    first = drawn(7)
    files = set(counting.coded.engine.directory.iterdir())
    assert drawn(7).equals(first)
    assert set(counting.coded.engine.directory.iterdir()) == files
    assert not drawn(8).equals(first)
    assert sum(first["count"].to_pylist()) == PEOPLE


def test_what_cannot_be_calibrated_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: type[CalibratedMechanism], *__: object) -> CalibratedMechanism:
        raise UsageError("not at this epsilon")

    monkeypatch.setattr(COMPARED_MECHANISMS["gaussian"], "calibrate", classmethod(refuse))
    found = compare_mechanisms(
        z.read_log(folder / "log.csv"),
        z.queries(3),
        epsilons=["1"],
        draws=1,
        mechanisms=["gaussian", "zealous"],
        neighbors=["replace"],
    )
    refused, run = found.rows
    assert (refused.figures, refused.note) == (None, "not at this epsilon")
    assert run.figures is not None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mechanisms": ["laplac"]}, "zealous, laplace"),
        ({"mechanisms": ["domain"]}, "say domain"),
        ({"mechanisms": []}, "some of"),
        ({"neighbors": ["near"]}, "neighbors"),
        ({"epsilons": []}, "epsilon"),
        ({"epsilons": [0]}, "epsilon"),
        ({"draws": 0}, "draws"),
    ],
)
def test_wrong_wishes(folder: Path, wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compare_mechanisms(z.read_log(folder / "log.csv"), z.queries(3), **wrong)  # type: ignore[arg-type]


def test_a_public_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(LogError):
        compare_mechanisms(z.read_log(folder / "log.csv"), z.queries(3), prior=folder / "no.csv")


@pytest.mark.extended
def test_the_command(run: Run, tmp_path: Path) -> None:
    _write(tmp_path)
    done = run(*COMMAND, "--epsilon", "20", "--draws", 2, "--domain", "domain.txt", "-o", "out")
    assert done.code == 0, done.stderr
    assert "INTERNAL" in done.stdout
    assert "not for publication" in done.stderr
    assert "add-remove, epsilon = 20, delta = 1e-6" in done.stdout
    assert "probabilistic" in done.stdout
    assert "own" not in done.said.replace("its own", "")  # no item is quoted
    out = tmp_path / "out"
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    files = {f"internal-mechanisms.{ending}" for ending in ("csv", "json", "svg", "png")}
    assert {each.name for each in out.iterdir()} == {"zealous-internal.json", *files}
    rows = list(csv.DictReader((out / "internal-mechanisms.csv").read_text().splitlines()))
    assert [row["mechanism"] for row in rows] == 2 * [*ALONE, "domain"]
    assert {row["draws"] for row in rows} == {"2"}
    assert not list(tmp_path.glob("*ledger*"))
    assert "not for publication" in (out / "internal-mechanisms.svg").read_text()
    assert run(*COMMAND, "-o", "out").code == 1  # it is there


def test_the_object(run: Run, tmp_path: Path) -> None:
    _write(tmp_path)
    options = ("--epsilon", "2,0.5", "--neighbors", "replace", "--mechanisms", "zealous, pooled")
    done = run(*COMMAND, *options, "--draws", 1, "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["internal"] is True
    assert (found["kind"], found["items_per_user"], found["users"]) == ("queries", 3, PEOPLE)
    assert [(row["epsilon"], row["mechanism"]) for row in found["rows"]] == [
        (2, "zealous"),
        (2, "pooled"),
        (0.5, "zealous"),
        (0.5, "pooled"),
    ]
    for row in found["rows"]:
        assert {"neighbors", "delta", "items_per_user", "draws", "note"} <= set(row)
        for name in FIGURES:
            assert set(row[name]) == {"mean", "low", "high"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--epsilon", "1,,2"], "0.5,1,2,5"),
        (["--epsilon", "one"], "0.5,1,2,5"),
        (["--epsilon", "-1"], "epsilon"),
        (["--neighbors", "both"], "add-remove,replace"),
        (["--mechanisms", "laplac"], "zealous, laplace"),
        (["--mechanisms", "prior"], "--prior FILE"),
        (["--items", "queries,keywords"], "one kind"),
        (["--rates"], "--rates"),
        (["--draws", "0"], "draws"),
        (["--engine", "spark"], "runs on this machine alone"),
    ],
)
def test_wrong_options(run: Run, tmp_path: Path, options: list[str], said: str) -> None:
    _write(tmp_path)
    done = run(*COMMAND, *options)
    assert done.code == 2
    assert said in done.stderr
    assert not done.stdout


def test_a_log_that_is_not_there(run: Run) -> None:
    assert run(*COMMAND).code == 1
    assert run(COMMAND[0], *COMMAND[2:]).code == 2


def test_never_inside_a_release(run: Run, tmp_path: Path) -> None:
    _write(tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "release.json").write_text("{}")
    done = run(*COMMAND, "-o", "release/internal")
    assert done.code == 1
    assert "inside a release" in done.stderr


def test_nothing_is_left_of_a_release(folder: Path) -> None:
    with DuckDB() as engine:
        source = open_log(z.read_log(folder / "log.csv"), engine)
        coded: EncodedLog = encode(z.queries(3), source, {})[0]
        counting = CachedCounting(coded)
        before = set(engine.directory.iterdir())
        with counting.for_key(3) as count:
            kept = _table(count(bound=3, at_least=1))
            _table(count(bound=3, at_least=1, only=[InTable(kept.slice(0, 2))]))
        assert len(set(engine.directory.iterdir()) - before) == 1  # the count that is shared
