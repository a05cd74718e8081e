"""Inspection, evaluation and the methods that only count give the same figures on both engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import Run
from oracle import md5_place

from zealous import DuckDB, ProbabilisticDP, Spark, queries, read_log
from zealous.errors import UsageError
from zealous.items import query_pairs
from zealous.logs.log import Log
from zealous.owner.inspection import inspect
from zealous.owner.parameter_search import advise
from zealous.study.anonymity import METHODS, Method, anonymize, histograms, method_by_name
from zealous.study.compare import compare, evaluate
from zealous.study.grid.study import Study
from zealous.synthetic import generate

pytest_plugins = ("spark",)
on_spark = [
    pytest.mark.usefixtures("same_order"),
    pytest.mark.spark,
]
_COUNTING = ("k-query", "pseudonym", "token-hash")
_OTHERS = [name for name in METHODS if name not in _COUNTING]


def _by_md5(_: object, key: int, columns: Sequence[str]) -> str:
    return f"md5('{key}' || {' || '.join(f'{name}::varchar' for name in columns)})"


@pytest.fixture
def same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each engine has an order of its own, which chooses other items."""
    monkeypatch.setattr(DuckDB, "rank_key", _by_md5)
    monkeypatch.setattr(DuckDB, "rank_bin", lambda _, rank: md5_place(rank))
    monkeypatch.setattr(Spark, "rank_key", _by_md5)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    generate(path, users=60, seed=5)
    return path


@pytest.fixture
def here(path: Path) -> Log:
    return read_log(path)


@pytest.fixture
def nowhere(here: Log) -> Log:
    """A log on a cluster that would not answer: what is refused must not ask it."""
    return replace(here, engine=Spark(master="spark://127.0.0.1:1"))


def _sorted(table: pa.Table) -> list[Any]:
    return sorted(table.to_pylist(), key=repr)


class TestSame:
    pytestmark = on_spark

    @pytest.mark.extended
    def test_inspect(self, here: Log, spark: Spark) -> None:
        kinds = [queries(1), query_pairs(1)]
        found = asdict(inspect(replace(here, engine=spark), kinds))
        assert found == asdict(inspect(here, kinds))
        assert found["overall"]["rows"] == found["overall"]["entries"] > 0

    @pytest.mark.extended
    def test_evaluate(self, here: Log, spark: Spark, tmp_path: Path) -> None:
        release = tmp_path / "release"
        release.mkdir()
        (release / "queries.csv").write_text("query,count\ngoogle,9\nnever asked,4\n")
        there = evaluate([release], replace(here, engine=spark))
        assert there.table.equals(evaluate([release], here).table)

    @pytest.mark.soak
    def test_compare(self, here: Log, spark: Spark) -> None:
        study = Study(
            epsilons=(1,),
            epsilon=1,
            k=(2,),
            items_per_user=(2,),
            kinds=("queries",),
            draws=1,
            methods=("k-query",),
        )
        said: list[str] = []
        wider = replace(study, methods=("k-query", "k-session"))
        there = compare(replace(here, engine=spark), wider, say=said.append)
        assert _sorted(there.results.table) == _sorted(compare(here, study).results.table)
        assert [each for each in said if each.startswith("left out: k-session does more")]

    @pytest.mark.extended
    def test_histograms_of_pseudonyms(self, here: Log, spark: Spark) -> None:
        self.check_histograms("pseudonym", here, spark)

    @pytest.mark.extended
    def test_histograms_of_tokens(self, here: Log, spark: Spark) -> None:
        self.check_histograms("token-hash", here, spark)

    def check_histograms(self, name: str, here: Log, spark: Spark) -> None:
        there = histograms(replace(here, engine=spark), method_by_name(name))
        expected = histograms(here, method_by_name(name))
        assert there.keys() == expected.keys()
        for kind, table in expected.items():
            if name == "token-hash":  # each run has tokens of its own
                table, there[kind] = table.select(["count"]), there[kind].select(["count"])
            assert table.num_rows > 0
            assert _sorted(there[kind]) == _sorted(table)

    @pytest.mark.extended
    def test_advise(self, here: Log, spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("zealous.owner.parameter_search.LADDER", (1,))
        goal = ProbabilisticDP(epsilon=5, delta="0.01", users=60)
        there = advise(goal, queries(1), replace(here, engine=spark))
        assert there == advise(goal, queries(1), here)


def test_which_methods_count() -> None:
    assert {name for name, method in METHODS.items() if method.counting} == set(_COUNTING)


@pytest.mark.parametrize("name", _OTHERS)
def test_methods_that_do_more_are_refused(name: str, nowhere: Log) -> None:
    with pytest.raises(UsageError, match=f"{name} does more than count"):
        histograms(nowhere, method_by_name(name, k=2))


def test_anonymize_is_refused_before_it_writes(nowhere: Log, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not run on Spark"):
        anonymize(tmp_path / "out", nowhere, method_by_name("pseudonym"))
    assert not list(tmp_path.iterdir())


class _Mine(Method):
    name = "mine"


def test_own_method_is_refused_before_anything_is_written(nowhere: Log, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mine does more than count"):
        compare(nowhere, methods=[_Mine()], output=tmp_path / "study")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ("study", "anonymize", "log.parquet", "--method", "k-query", "-k", 5, "-o", "out"),
        ("study", "attack", "log.parquet", "-o", "out"),
    ],
)
@pytest.mark.parametrize("asked", ["--engine=spark", "--spark-master=local[2]"])
def test_commands_refuse(command: tuple[object, ...], asked: str, run: Run, tmp_path: Path) -> None:
    ran = run(*command, asked)  # there is no such log: it is not looked for
    assert ran.code == 2
    assert f"{command[1]} does more than count, and runs on this machine alone" in ran.stderr
    assert not (tmp_path / "out").exists()
