"""Methods, measures and settings of one's own: what is wrong with them is said, and early."""

from __future__ import annotations

import ast
import fcntl
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled

import zealous as z
from zealous import study
from zealous.errors import UsageError, ZealousError
from zealous.privacy.calibrate import calibrate
from zealous.privacy.guarantee import Guarantee
from zealous.study.anonymity import AmongK, Method
from zealous.study.grid.candidates import (
    MechanismCandidate,
    ZealousCandidate,
    check_custom_methods,
    run_mechanism,
)
from zealous.study.grid.run_study import StudyInputs, measure_in_second_process
from zealous.study.grid.second_process import second_process
from zealous.study.grid.study import Study, read_study
from zealous.study.grid.workspace import Workspace
from zealous.study.measures.measured import BUILT_IN, Measured
from zealous.study.measures.statistics import Statistics
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.released import original_as_release
from zealous.study.releases.truth import Truth, check_measures

USERS = np.array([50, 40, 30, 20, 1], np.int64)
TRUTH = Original(
    kind="queries",
    items=pa.table({"query": [f"q{place}" for place in range(len(USERS))]}),
    users=USERS,
    times=USERS,
    kept={1: USERS // 2, 3: USERS},
    people=60,
)


@dataclass(frozen=True, kw_only=True)
class Mine:
    """A mechanism whose release is given."""

    release: Callable[..., Any] = lambda count, random_bytes: count(bound=1, at_least=1)
    name: Any = "mine"
    items_per_user: Any = 1
    goal: Any = None


def says(error: pytest.ExceptionInfo[UsageError], *parts: str) -> bool:
    return all(part in str(error.value) for part in parts)


# Mechanisms


def publishes(change: Callable[[pa.RecordBatch], Any], m: int = 1) -> Mine:
    """A mechanism that yields what it makes of each batch."""

    def release(count: Any, random_bytes: Any) -> Iterator[Any]:
        for batch in count(bound=m, at_least=1):
            yield change(batch)

    return Mine(release=release, items_per_user=m)


def batch_of(item: Any, count: Any) -> pa.RecordBatch:
    return pa.record_batch({"item": item, "count": count})


def test_what_a_mechanism_publishes_stands_beside_the_original() -> None:
    found = run_mechanism(publishes(lambda batch: batch.slice(1)), TRUTH, os.urandom)
    assert found.index.tolist() == [1, 2, 3]  # the last item is kept by nobody
    assert found.counts.tolist() == [20, 15, 10]
    small = batch_of(pa.array([2, 0], pa.int8()), pa.array([7, 8], pa.uint64()))
    found = run_mechanism(publishes(lambda _: small), TRUTH, os.urandom)
    assert (found.index.tolist(), found.counts.tolist()) == ([0, 2], [8, 7])
    assert found.counts.dtype == np.int64
    assert len(run_mechanism(Mine(release=lambda *_: []), TRUTH, os.urandom)) == 0


def test_a_mechanism_may_count_with_a_smaller_bound_and_not_with_a_larger() -> None:
    def asks(bound: int, m: int) -> Mine:
        return Mine(release=lambda count, _: count(bound=bound, at_least=1), items_per_user=m)

    assert run_mechanism(asks(3, 3), TRUTH, os.urandom).counts.tolist() == USERS.tolist()
    assert run_mechanism(asks(1, 3), TRUTH, os.urandom).counts.tolist() == [25, 20, 15, 10]
    with pytest.raises(UsageError) as error:  # 3 was counted, for another method
        run_mechanism(asks(3, 1), TRUTH, os.urandom)
    assert says(error, "mine asks for 3 items a user", "items_per_user = 1")
    with pytest.raises(UsageError) as error:
        run_mechanism(asks(2, 3), TRUTH, os.urandom)
    assert says(error, "mine asks for 2 items a user", "was not counted")


@pytest.mark.parametrize("item", [4, 5, 2**62])
def test_an_item_that_was_not_given_is_not_published(item: int) -> None:
    """The item 4 is in the log, and with one item a user nobody keeps it."""
    with pytest.raises(UsageError, match="mine publishes an item that it was not given"):
        run_mechanism(publishes(lambda _: batch_of([item], [9])), TRUTH, os.urandom)
    with pytest.raises(UsageError, match="not given"):  # where all items were
        run_mechanism(publishes(lambda _: batch_of([3 - item], [9]), m=3), TRUTH, os.urandom)


def test_an_item_below_what_was_asked_for_was_not_given() -> None:
    def release(count: Any, random_bytes: Any) -> Iterator[pa.RecordBatch]:
        list(count(bound=1, at_least=20))
        yield batch_of([2], [15])

    with pytest.raises(UsageError, match="not given"):
        run_mechanism(Mine(release=release), TRUTH, os.urandom)


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (batch_of([0, 0], [9, 9]), "twice"),
        (batch_of([0], [9.0]), "column 'count' that does not hold whole numbers"),
        (batch_of([0], [None]), "column 'count' that does not hold whole numbers"),
        (batch_of([0, 1], [3, None]), "column 'count' that does not hold whole numbers"),
        (batch_of(["q0"], [9]), "column 'item' that does not hold whole numbers"),
        (batch_of([0], pa.array([2**63], pa.uint64())), "a count above"),
        (pa.record_batch({"item": [0]}), "without a column 'count'"),
        (pa.record_batch({"count": [9]}), "without a column 'item'"),
        (pa.record_batch([[0], [9], [9]], names=["item", "count", "count"]), "or with two"),
        ({"item": [0], "count": [9]}, "must yield batches"),
        (None, "must yield batches"),
    ],
)
def test_what_cannot_be_read_is_refused(batch: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        run_mechanism(publishes(lambda _: batch), TRUTH, os.urandom)
    assert says(error, "mine ", said)


@pytest.mark.parametrize("returned", [None, 3, batch_of([0], [9])])
def test_a_release_that_yields_no_batches(returned: Any) -> None:
    with pytest.raises(UsageError, match="release of mine must yield batches"):
        run_mechanism(Mine(release=lambda *_: returned), TRUTH, os.urandom)


def test_noise_differs_between_settings() -> None:
    def release(self: Any, random_bytes: Any) -> Iterator[pa.RecordBatch]:
        yield from self(bound=1, at_least=99)
        drawn.append(random_bytes(8))

    drawn: list[bytes] = []
    for m in (1, 3, 1):
        own = MechanismCandidate(mechanism=Mine(release=release, items_per_user=m), draws=1, seed=7)
        own.release({"queries": TRUTH}, 0)
    assert drawn[0] == drawn[2]
    assert drawn[0] != drawn[1]


# What is checked before anything is read


class Nameless(Method):
    """An anonymity method without a name."""


@dataclass(frozen=True, kw_only=True)
class Among(AmongK):
    """An anonymity method with a k."""

    name = "among"


def goal(epsilon: float) -> Guarantee:
    return z.Indistinguishability(epsilon=epsilon, delta=1e-8)


def test_a_method_may_be_tried_at_several_settings() -> None:
    check_custom_methods(
        [Mine(), Mine(items_per_user=2), Mine(goal=goal(1)), Mine(goal=goal(2))], ["zealous"]
    )
    check_custom_methods([Among(k=5), Among(k=6)], ["zealous"])
    for pair in (
        [Mine(), Mine()],
        [Mine(goal=goal(1)), Mine(goal=goal(1))],
        [Among(k=5), Among(k=5)],
    ):
        with pytest.raises(UsageError, match="the same epsilon, k and m: give one another name"):
            check_custom_methods(pair, ["zealous"])


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (Mine(name="zealous"), "two methods are called 'zealous'"),
        (Mine(name=""), "needs a name"),
        (Mine(name=3), "needs a name"),
        (Nameless(), "needs a name"),
        (Mine(items_per_user=0), "items_per_user of 'mine' must be a whole number of at least 1"),
        (Mine(items_per_user=1.0), "items_per_user of 'mine'"),
        (Mine(items_per_user=True), "items_per_user of 'mine'"),
        (Mine(items_per_user=None), "items_per_user of 'mine'"),
        (Mine(goal=5), "goal of 'mine' must be a guarantee"),
        (Mine(goal=z.Indistinguishability), "goal of 'mine' must be a guarantee"),
        (Mine(release="text"), "neither a mechanism nor an anonymity method"),  # type: ignore[arg-type]
        (Mine, "is a class: give an object of it"),
        (Among, "is a class: give an object of it"),
    ],
)
def test_methods_that_cannot_be_run(method: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_custom_methods([method], ["zealous"])


def test_methods_and_measures_come_in_lists() -> None:
    with pytest.raises(UsageError, match="methods must be a list"):
        check_custom_methods(Mine(), [])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="measures must be a list"):
        check_measures(half)  # type: ignore[arg-type]


# Measures


def half(original: Any, released: Any) -> float:
    return len(released) / 2


def named(name: Any, returns: Any = 1.0) -> Any:
    """A measure that is called so and returns this."""

    def measure(original: Any, released: Any) -> Any:
        return returns

    measure.name = name  # type: ignore[attr-defined]
    return measure


def figures(*measures: Any) -> list[Measured]:
    """What measures of one's own say of the original itself."""
    against = Truth(
        originals={"queries": TRUTH},
        statistics=Statistics(top=()),
        caching=None,
        substituted=1,
        own=measures,
    )
    found = [
        each
        for _, each in against.measure({"queries": original_as_release(TRUTH)}, substitute=False)
    ]
    return [each for each in found if each.measure not in BUILT_IN]


def test_measures_are_told_apart_by_name() -> None:
    check_measures([half, named("other")])
    nameless = lambda original, released: 1.0  # noqa: E731
    for measures, said in (
        ([named("distinct")], "the program has a measure called 'distinct'"),
        ([half, half], "two measures are called 'half'"),
        ([half, named("half")], "two measures are called 'half'"),
        ([nameless], "needs a name"),
        ([functools.partial(half)], "needs a name"),
        ([named(3)], "needs a name"),
        (["text"], "must be a function"),
        ([Statistics], "must be a function"),
    ):
        with pytest.raises(UsageError, match=said):
            check_measures(measures)  # type: ignore[arg-type]
    nameless.name = "mine"  # type: ignore[attr-defined]
    check_measures([nameless])


def test_every_name_of_ours_is_known() -> None:
    """All that the program's own measures are called, as its source says."""
    written = set()
    for path in Path(study.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Measured":
                first = node.args[0]
                written |= {first.value} if isinstance(first, ast.Constant) else set()
    ranked = {"precision", "recall", "map-printed", "average-precision", "ndcg"}
    assert written | ranked == set(BUILT_IN)
    assert len(set(BUILT_IN)) == len(BUILT_IN)


@pytest.mark.parametrize(
    "value", [2, 2.0, True, Fraction(2), np.float32(2), np.int64(2), np.uint8(2), np.bool_(True)]
)
def test_any_real_number_is_a_figure(value: Any) -> None:
    (found,) = figures(named("mine", value))
    assert found == Measured("mine", float(value))
    assert type(found.value) is float
    (found,) = figures(named("mine", (Measured("far", value, at=value) for _ in range(1))))
    assert found == Measured("far", float(value), float(value))


def test_a_measure_may_have_nothing_to_say() -> None:
    assert figures(named("mine", [])) == []
    assert figures(half) == [Measured("half", 2.5)]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "must return a number, or a list of Measured"),
        ("text", "must return a number"),
        (np.str_("text"), "must return a number"),
        (Measured("far", 1.0), "or a list of Measured"),
        (1j, "must return a number"),
        ([1.0], "several Measured"),
        ([("far", 1.0, None)], "several Measured"),
        ([Measured(3, 1.0)], "whose measure is a text"),  # type: ignore[arg-type]
        ([Measured("far", "1")], "no finite number"),  # type: ignore[arg-type]
        ([Measured("far", 1.0, "1")], "no finite number"),  # type: ignore[arg-type]
        (float("nan"), "no finite number"),
        (np.float64("inf"), "no finite number"),
        (10**400, "no finite number"),
        ([Measured("far", 1.0, 2), Measured("far", 3.0, 2.0)], "a second figure called 'far'"),
    ],
)
def test_what_is_no_figure_is_refused(returned: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        figures(named("mine", returned))
    assert says(error, "the measure 'mine'", said)


def test_figures_are_told_apart_too() -> None:
    with pytest.raises(UsageError, match="the program has a measure called 'distinct'"):
        figures(named("mine", [Measured("distinct", 1.0)]))
    with pytest.raises(UsageError, match="a second figure called 'half'"):
        figures(half, named("mine", [Measured("half", 1.0)]))
    two = [Measured("far", 1.0, 2), Measured("far", 3.0, 3), Measured("far", 3.0)]
    assert figures(half, named("mine", two))[1:] == two


# Settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('delta = "0.001"', "delta of a study must be a number such as 0.5, without quotes"),
        ("delta = true", "delta of a study must be a number"),
        ("delta = nan", "delta"),
        ('epsilon = "5"', "epsilon of a study must be a number"),
        ("epsilon = inf", "epsilon"),
        ("epsilon = [5]", "epsilon of a study must be a number"),
        ("epsilons = [[1]]", "epsilons of a study must be a number"),
        ("epsilons = [1, true]", "epsilons of a study must be a number"),
        ("epsilons = [1, '2']", "epsilons of a study must be a number"),
        ("[epsilons]\na = 1", "epsilons of a study must be a list"),
        ("seed = true", "seed of a study must be a whole number, without quotes"),
        ("seed = 4294967296", "seed"),
        ("seed = '7'", "seed of a study must be a whole number"),
        ("draws = 2.0", "draws of a study must be a whole number"),
        ("draws = [2]", "draws of a study must be a whole number"),
        ("k = [5, 5.0]", "k of a study must be a whole number"),
        ("methods = []\nk = ['5']", "k of a study must be a whole number"),
        ("items_per_user = [1, true]", "items_per_user of a study must be a whole number"),
        ("top = [[10]]", "top of a study must be a whole number"),
        ("kinds = [1]", "kinds of a study must be names in quotes"),
        ("methods = [['k-query']]", "methods of a study must be names in quotes"),
        ("substitution = 1", "substitution of a study must be a name in quotes"),
        ("substitution = 'best'", "knows no 'best': substitution is ratio or jones or model"),
    ],
)
def test_a_setting_of_another_type_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_study(tmp_path / "study.toml")


def test_python_gives_plain_numbers_too() -> None:
    for value in (Fraction(1, 2), "0.5", None, 1j):
        with pytest.raises(UsageError, match="must be a number"):
            Study(epsilon=value)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="epsilon"):
        Study(epsilon=10**5000)
    assert Study(epsilons=[1, 1.0, 2]).epsilons == (1, 2)  # type: ignore[arg-type]


def test_floats_are_the_decimals_that_they_print_as(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("delta = 1e-06\nepsilons = [0.1, 1e3]\nepsilon = 1e-05\n")
    study = read_study(tmp_path / "study.toml")
    for epsilon in study.epsilons:
        tried = ZealousCandidate(epsilon=epsilon, delta=study.delta, m=1, draws=1, seed=7)
        exact = z.ProbabilisticDP(epsilon=Fraction(str(epsilon)), delta=Fraction(1, 10**6), users=9)
        assert tried.calibration(9) == calibrate(exact, 1)


# The second process

SLOW = """
import fcntl, os, sys
from pathlib import Path

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.study.grid.run_study import StudyInputs, measure_in_second_process
from zealous.study.grid.second_process import second_process
from zealous.study.grid.study import Study
from zealous.study.grid.workspace import Workspace

FOLDER = Path(__file__).parent


class Engine(DuckDB):
    def _run(self, sql):
        self.held = (FOLDER / "held").open("w")
        fcntl.flock(self.held, fcntl.LOCK_EX)
        (FOLDER / "partial").write_text(str(os.getpid()))
        (FOLDER / "partial").rename(FOLDER / "pid")
        return super()._run("select sum(hash(a.range, b.range)) from range(9000000) a, "
                            "range(9000000) b")


if __name__ == "__main__":
    from slow import Engine

    kept = Workspace(directory=FOLDER / "study")
    grid = StudyInputs(study=Study(), log=z.read_log(FOLDER / "log.csv"))
    engine = Engine(memory="1GB", threads=1, temporary=FOLDER / "temporary")
    with second_process(measure_in_second_process, grid, engine, kept) as finish:
        finish()
"""


def waits(condition: Callable[[], bool], seconds: float = 120) -> bool:
    """Whether it becomes so."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_free(path: Path) -> bool:
    """Whether nobody holds a lock on a file: the system takes it from who is dead."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


ENDED_BY = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


@pytest.mark.parametrize("by", sampled(ENDED_BY, lambda each: each.name, share=3))
def test_the_second_process_goes_with_the_first(by: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "log.csv").write_text("user,query\nu1,a\n")
    (tmp_path / "study" / "unfinished").mkdir(parents=True)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    first = subprocess.Popen(
        [sys.executable, tmp_path / "slow.py"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        stderr=subprocess.DEVNULL,
    )
    pid = None
    try:
        assert waits((tmp_path / "pid").exists)
        pid = int((tmp_path / "pid").read_text())
        assert not is_free(tmp_path / "held")
        assert len(list(temporary.glob("zealous-*"))) == 1
        first.send_signal(by)
        assert first.wait(60) != 0
        assert waits(lambda: is_free(tmp_path / "held"), 60), "it runs on"
        assert list(temporary.iterdir()) == []
    finally:
        first.kill()
        first.wait()
        if pid is not None and not is_free(tmp_path / "held"):
            os.kill(pid, signal.SIGKILL)


def test_what_goes_wrong_in_the_second_process_is_said(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n")
    (tmp_path / "study" / "unfinished").mkdir(parents=True)
    grid = StudyInputs(study=Study(), log=z.read_log(tmp_path / "log.csv"))
    engine = z.DuckDB(memory="1GB", threads=1, temporary=tmp_path)
    kept = Workspace(directory=tmp_path / "study")
    with (
        pytest.raises(ZealousError, match="no entry with a user id"),
        second_process(measure_in_second_process, grid, engine, kept) as finish,
    ):
        finish()


# No `if __name__ == "__main__"`: what stands before the study is not to be done again.
UNGUARDED = """
from pathlib import Path

import zealous as z
from zealous.study.grid.run_study import StudyInputs, measure_in_second_process
from zealous.study.grid.second_process import second_process
from zealous.study.grid.study import Study
from zealous.study.grid.workspace import Workspace

FOLDER = Path(__file__).parent
with (FOLDER / "published").open("a") as file:
    file.write("once ")
grid = StudyInputs(study=Study(), log=z.read_log(FOLDER / "log.csv"))
engine, kept = z.DuckDB(memory="1GB", threads=1), Workspace(directory=FOLDER / "study")
with second_process(measure_in_second_process, grid, engine, kept) as finish:
    finish()
"""


def test_the_second_process_does_not_run_the_program_again(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UNGUARDED)
    (tmp_path / "log.csv").write_text("user,query\n")
    (tmp_path / "study" / "unfinished").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=False
    )
    assert (tmp_path / "published").read_text() == "once "
    assert "no entry with a user id" in done.stderr


STRAY = "raise SystemExit('a file beside the data was run')\n"
MOVED = """
import os, sys
import decimal, fractions, json, pyarrow, zealous

os.chdir(sys.argv[1])
from zealous.privacy.guarantee import exact_fraction
from zealous.study.grid.second_process import second_process

with second_process(exact_fraction, "1/2", "epsilon") as finish:
    finish()
"""


def test_the_second_process_of_a_session_imports_nothing_beside_the_data(tmp_path: Path) -> None:
    """An interactive session has the working directory, wherever that is, on its path."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("decimal", "fractions", "json"):
        (data / f"{name}.py").write_text(STRAY)
    done = subprocess.run(
        [sys.executable, "-c", MOVED, data], cwd=data.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
