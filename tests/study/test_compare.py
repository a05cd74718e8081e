"""The study as a whole: its grid, its files, taking it up again, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import Run, without_pictures

import zealous as z
from zealous.cli import cli
from zealous.errors import LogError, ReleaseError, UsageError
from zealous.study.anonymity import KQuery
from zealous.study.compare import StudyResult, _code_identity, _identity
from zealous.study.grid.candidates import Setting
from zealous.study.grid.result_table import as_table
from zealous.study.grid.run_study import StudyInputs
from zealous.study.grid.study import Study, read_study
from zealous.study.grid.workspace import Workspace
from zealous.study.measures.measured import Measured
from zealous.synthetic import generate

SMALL = Study(
    epsilons=(1, 8),
    items_per_user=(1, 6),
    top=(10, 100),
    k=(5,),
    mechanisms=("korolova",),
    methods=("k-query", "k-keyword"),
    draws=2,
    substituted=500,
    epsilon=8,
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare") / "log.parquet"
    generate(path, users=1_500, seed=3)
    return path


@pytest.fixture(scope="module")
def done(log: Path, tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    folder = tmp_path_factory.mktemp("study") / "out"
    with without_pictures():
        return z.compare(z.read_log(log), SMALL, output=folder)


def test_every_setting_is_in_the_long_table(done: StudyResult) -> None:
    results = done.results
    assert results.names("method") == ["original", "zealous", "korolova", "k-query", "k-keyword"]
    assert results.axis("epsilon") == [1, 8]
    assert results.axis("m") == [1, 6]
    assert results.axis("k") == [5]
    assert results.axis("draw", "zealous") == [0, 1]
    kinds = ["keywords", "queries", "clicks", "query-pairs", "phrase-pairs"]
    assert [kind for kind in results.names("kind") if kind] == kinds
    for kind in kinds:
        whole = results.value("distinct", kind, "original")
        assert whole is not None
        assert whole.mean > 1_000
        for epsilon in (1.0, 8.0):
            for m in (1, 6):
                some = results.value("distinct", kind, "zealous", epsilon=epsilon, m=m)
                assert some is not None
                assert some.draws == 2
                assert some.high < whole.mean
    few, many = (
        results.value("distinct", "keywords", "zealous", epsilon=e, m=1) for e in (1.0, 8.0)
    )
    assert few is not None
    assert many is not None
    assert few.high < many.low
    assert results.value("hit-probability", "keywords", "k-query", k=5) is not None
    assert results.value("coverage", "query-pairs", "k-query", k=5, at=5) is not None
    clicks = results.value("distinct", "clicks", "k-query", k=5)
    assert clicks is not None
    assert clicks.mean > 0
    assert results.value("distinct", "clicks", "k-keyword", k=5) is None
    assert results.value("people", "", "original") is not None


def test_the_original_is_measured_as_perfect(done: StudyResult) -> None:
    value = done.results.value
    for measure in ("average-difference", "total-variation"):
        assert value(measure, "queries", "original").mean == pytest.approx(0, abs=1e-12)  # type: ignore[union-attr]
    for measure in ("precision", "recall", "ndcg", "coverage"):
        assert value(measure, "query-pairs", "original", at=5).mean == 1  # type: ignore[union-attr]


def test_what_is_written(done: StudyResult) -> None:
    folder = done.directory
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "report.html",
        "internal-results.parquet",
        "internal-results.csv",
        "findings.json",
        "figures",
        "zealous-internal.json",
    }
    table = pq.read_table(folder / "internal-results.parquet")
    assert table.equals(done.results.table)
    assert b"Not for publication" in table.schema.metadata[b"zealous"]
    assert len((folder / "internal-results.csv").read_text().splitlines()) == table.num_rows + 1
    assert json.loads((folder / "findings.json").read_text())
    assert (
        "not for publication"
        in json.loads((folder / "zealous-internal.json").read_text())["internal"]
    )
    assert "INTERNAL" in (folder / "report.html").read_text().upper()


@pytest.mark.extended
def test_it_is_repeatable_and_a_seed_changes_it(done: StudyResult, log: Path) -> None:
    again = z.compare(z.read_log(log), replace(SMALL, methods=()))
    same = done.results.table.filter(pa.compute.field("method") != "k-query")
    same = same.filter(pa.compute.field("method") != "k-keyword")
    assert again.results.table.equals(same)
    assert again.directory is None
    other = z.compare(z.read_log(log), replace(SMALL, methods=(), seed=8))
    assert not other.results.table.equals(same)


class _Stopped(Exception):
    pass


def _stops_after(number: int) -> Any:
    """Progress that breaks the study off at some setting."""
    said: list[str] = []

    def say(text: str) -> None:
        if re.search(r"^measuring .* of \d+$", text):  # in this process
            said.append(text)
            if len(said) > number:
                raise _Stopped

    return say


@pytest.mark.extended
@pytest.mark.usefixtures("undrawn")
def test_a_study_that_was_broken_off_is_taken_up(
    done: StudyResult, log: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    with pytest.raises(_Stopped):
        z.compare(z.read_log(log), SMALL, output=output, say=_stops_after(2))
    assert (output / "unfinished").is_dir()
    assert not (output / "report.html").exists()
    with pytest.raises(ReleaseError, match="unfinished study"):
        z.compare(z.read_log(log), replace(SMALL, draws=3), output=output)
    said: list[str] = []
    taken = z.compare(z.read_log(log), SMALL, output=output, say=said.append)
    assert not any(text.startswith("counting") for text in said)
    measured = [text for text in said if re.search(r"^measuring .* of \d+$", text)]
    total = int(measured[0].rpartition(" ")[2])
    assert len(measured) == total - 2
    assert taken.results.table.equals(done.results.table)
    assert not (output / "unfinished").exists()
    with pytest.raises(ReleaseError, match="exists already"):
        z.compare(z.read_log(log), SMALL, output=output)


def test_what_figures_depend_on_is_in_the_identity(tmp_path: Path) -> None:
    path, listed = tmp_path / "log.csv", tmp_path / "excluded.txt"
    path.write_text("user,query,time\nu1,a,01/02/2026\n")
    listed.write_text("u2\n")

    def identity(**reading: Any) -> dict[str, Any]:
        log = z.read_log(
            path, columns=z.Columns(user="user", query="query", time="time"), **reading
        )
        return _identity(StudyInputs(study=SMALL, log=log))

    cleaning = z.Cleaning(exclude_users=listed)
    one = identity(cleaning=cleaning)
    assert one == identity(cleaning=cleaning)
    listed.write_text("u2\nu3\n")
    assert one != identity(cleaning=cleaning)
    assert identity(time_format="%d/%m/%Y") != identity(time_format="%m/%d/%Y")


def test_ones_own_code_is_known_again_by_what_it_says() -> None:
    assert _code_identity(half) == _code_identity(half)
    assert _code_identity(half) != _code_identity(thirds)
    assert _code_identity(Everything(items_per_user=2)) == _code_identity(
        Everything(items_per_user=2)
    )
    assert _code_identity(Everything(items_per_user=2)) != _code_identity(
        Everything(items_per_user=3)
    )
    closed = [lambda *_, n=n: n for n in range(2)]
    assert _code_identity(closed[0]) != _code_identity(closed[1])
    assert _code_identity(object()) != _code_identity(
        object()
    )  # cannot be told: never taken for another


def test_settings_that_print_alike_are_not_mixed(tmp_path: Path) -> None:
    kept = Workspace(directory=tmp_path)
    kept.folder.mkdir()
    kept.keep(Setting(method="zealous", epsilon=0.9999999), as_table([]))
    assert kept.rows(Setting(method="zealous", epsilon=0.9999999)) is not None
    assert kept.rows(Setting(method="zealous", epsilon=1.0)) is None


def test_nothing_is_written_into_a_release(log: Path, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text("{}")
    for inside in (tmp_path / "study", tmp_path / "deeper" / "study"):
        inside.parent.mkdir(exist_ok=True)
        with pytest.raises(ReleaseError, match="inside a release"):
            z.compare(z.read_log(log), SMALL, output=inside)
        assert not inside.exists()


def test_a_study_is_no_log(log: Path, tmp_path: Path, done: StudyResult) -> None:
    assert done.directory is not None
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "log.parquet").write_bytes(log.read_bytes())
    (folder / "study").symlink_to(done.directory)
    copied = folder / "copied" / "figures"
    copied.mkdir(parents=True)
    (copied.parent / "zealous-internal.json").write_text("{}")
    (copied / "x.csv").write_text("user,query\n")
    assert z.read_log(folder).paths == (folder / "log.parquet",)


@dataclass(frozen=True, kw_only=True)
class Everything:
    """Publishes true counts, and claims nothing."""

    name: str = "everything"
    items_per_user: int = 3

    def release(self, count: Any, random_bytes: Any) -> Iterator[pa.RecordBatch]:
        yield from count(bound=self.items_per_user, at_least=1)


@dataclass(frozen=True, kw_only=True)
class Wrong(Everything):
    """Asks for another bound than it declares."""

    def release(self, count: Any, random_bytes: Any) -> Iterator[pa.RecordBatch]:
        yield from count(bound=4, at_least=1)


def half(original: Any, released: Any) -> float:
    return len(released) / 2


def thirds(original: Any, released: Any) -> Iterator[Measured]:
    yield Measured("third", len(released) / 3, at=3)


@pytest.mark.extended
def test_methods_and_measures_of_ones_own(log: Path) -> None:
    tiny = replace(SMALL, epsilons=(8,), items_per_user=(1,), methods=(), draws=1)
    own = replace(KQuery(k=5), k=7)
    found = z.compare(
        z.read_log(log), tiny, methods=[Everything()], measures=[half, thirds]
    ).results
    for kind in ("keywords", "query-pairs"):
        whole = found.value("distinct", kind, "everything", m=3)
        assert whole is not None
        assert found.value("half", kind, "everything") == pytest.approx(
            (whole.mean / 2, whole.mean / 2, whole.mean / 2, 1)
        )
        assert found.value("third", kind, "zealous", at=3) is not None
    with pytest.raises(UsageError, match="4 items a user"):
        z.compare(z.read_log(log), tiny, methods=[Wrong()])
    with pytest.raises(UsageError, match="two methods are called 'k-query'"):
        z.compare(z.read_log(log), tiny, methods=[own])
    with pytest.raises(UsageError, match="needs a name"):
        z.compare(z.read_log(log), tiny, methods=[half])  # type: ignore[list-item]


def test_bad_input(tmp_path: Path, log: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("user,query\n")
    with pytest.raises(LogError, match="no entry"):
        z.compare(z.read_log(empty), SMALL, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    nothing = tmp_path / "nothing.csv"
    nothing.write_text("user,other\nu1,a\n")
    with pytest.raises(UsageError, match="query="):
        z.compare(z.read_log(nothing), SMALL, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_the_log_does_not_allow_is_left_out_and_told(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query\n" + "".join(f"u{i},a b{i % 3}\n" for i in range(60)))
    tiny = replace(SMALL, items_per_user=(1,), k=(5, 100), draws=1)
    said: list[str] = []
    found = z.compare(z.read_log(path), tiny, say=said.append)
    assert [kind for kind in found.results.names("kind") if kind] == ["keywords", "queries"]
    assert found.results.names("method") == ["original", "zealous", "korolova", "k-keyword"]
    assert found.results.axis("k") == [5]
    assert sum(text.startswith("left out: k-query") for text in said) == 2
    assert sum(text.startswith("left out: k is larger") for text in said) == 1


def test_a_method_that_leaves_nothing_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"u{i},query {i},2026-03-01" for i in range(60)]
    path.write_text("user,query,time\n" + "\n".join(rows) + "\n")
    tiny = replace(SMALL, items_per_user=(1,), methods=("k-query",), draws=1)
    found = z.compare(z.read_log(path), tiny).results
    assert found.value("distinct", "queries", "k-query", k=5).mean == 0  # type: ignore[union-attr]


def test_the_file_of_a_study(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('epsilons = [1, 2.5]\nk = [3]\nmethods = ["k-query"]\ndraws = 1\n')
    assert read_study(path) == Study(epsilons=(1, 2.5), k=(3,), methods=("k-query",), draws=1)
    for text, said in (
        ("epsilon = [", "not TOML"),
        ("epsilons = []", "epsilons of a study must not be empty"),
        ("epsilons = 3", "must be a list"),
        ('epsilons = ["a"]', "epsilon"),
        ("epsilons = [-1]", "epsilon"),
        ("delta = 2", "delta"),
        ("draws = 0", "draws"),
        ("k = [1]", "k must be at least 2"),
        ('kinds = ["words"]', "kinds are keywords"),
        ('methods = ["magic"]', "methods are pseudonym"),
        ("items_per_user = [0]", "items_per_user"),
        ("top = [2.5]", "top"),
        ("seed = -1", "seed"),
        ("colour = 1", "has no 'colour'"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=said):
            read_study(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_study(tmp_path / "none.toml")


@pytest.mark.extended
@pytest.mark.usefixtures("undrawn")
def test_the_command(run: Run, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        "epsilons = [8]\nitems_per_user = [1]\nmethods = []\ndraws = 1\nsubstituted = 100\n"
        "epsilon = 8\n"
    )
    given = ["study", "compare", str(log), "--study", "study.toml", "-o", "out"]
    done = CliRunner().invoke(cli, [*given, "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["internal"] is True
    assert (tmp_path / said["report"]).exists()
    assert "internal" in done.stderr
    again = run(*given)
    assert again.code == 1
    assert "exists already" in again.stderr


def test_the_gap_between_sessions_is_that_of_the_study(tmp_path: Path) -> None:
    start, later = "2026-03-01T10:00:00", "2026-03-01T10:20:00"
    rows = [
        (f"u{n}", at, query) for n in range(9) for at, query in ((start, "tea"), (later, "pot"))
    ]
    users, times, queries = map(list, zip(*rows, strict=True))
    pq.write_table(
        pa.table({"user": users, "time": times, "query": queries}), tmp_path / "log.parquet"
    )
    few = replace(SMALL, epsilons=(8,), items_per_user=(1,), draws=1, mechanisms=())
    few = replace(few, kinds=("queries", "query-pairs"), methods=("k-query", "pseudonym"))
    for gap, pairs in ((30, 1), (10, 0)):
        found = z.compare(z.read_log(tmp_path / "log.parquet"), replace(few, session_gap=gap))
        for method, k in (("original", None), ("k-query", 5), ("pseudonym", None)):
            many = found.results.value("distinct", "query-pairs", method, k=k)
            assert many is not None
            assert many.mean == pairs, (gap, method)


@pytest.mark.parametrize("gap", [0, -1, 525_601])
def test_a_gap_that_is_none_is_refused(gap: int) -> None:
    with pytest.raises(UsageError, match="session_gap"):
        Study(session_gap=gap)
