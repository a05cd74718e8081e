"""Nothing is charged and then lost: what must fail fails before, and what fails after says so."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from sampling import sampled

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LedgerError, ReleaseError, UsageError, ZealousError
from zealous.items import Kind
from zealous.items.kind import KINDS
from zealous.ledger import FILE_NAME, Ledger
from zealous.logs.source import Source
from zealous.mechanisms.protocol import MECHANISMS
from zealous.record.record import LedgerStamp
from zealous.release.account import Account, LedgerPayment
from zealous.release.bundle import TEXTS, Release
from zealous.verification.verify import verify

COMMAND = Path(sys.executable).with_name("zealous")
GOAL = z.ProbabilisticDP(epsilon=20, delta="0.01", users=200)
OPTIONS = shlex.split("--items queries --items-per-user 1 --users 200 --epsilon 20 --delta 0.01")
ODD = [
    "a.b", "a.", "[0]", "a[0]", "*", "/", "a/b", "-", "--", "a b", " a", "a`b", "``", 'a"b', '"',
    "'", "\n", "a\rb", "\t", "count ", "cöunt", "e\u0301", "😀", "\u202eabc", "\ufeffx", "<b>",
    "a|b", "=1+1", "{{x}}", "{% x %}", "%s", "\\", "a:b", "- a", "#", "null", "select", "item",
    "query", "rank", "then", "who", "zealous", "a,b", "~", "x" * 200,
]  # fmt: skip
TOO_LONG = "x" * 300
REFUSED = [".x", ".count", ".", "..", "a\0b", "\0", "", "\udcff", "zealous:x", TOO_LONG]


def people(path: Path, *names: str) -> Path:
    """A table of 150 people, of whom half have milk and half have tea in each column."""
    drinks = pa.array(["tea" if n % 2 else "milk" for n in range(150)])
    ids = pa.array([f"u{n}" for n in range(150)])
    pq.write_table(pa.Table.from_arrays([ids, *[drinks] * len(names)], ["uid", *names]), path)
    return path


def publish(folder: Path, kinds: list[Any], **options: Any) -> Path:
    """Publish the log in a folder; gives the release's directory."""
    log = z.read_log(folder / "log.parquet", columns=z.Columns(user="uid"))
    engine = DuckDB(memory="1GB", threads=1)
    goal = options.pop("goal", GOAL)
    release = z.publish(log, goal, kinds, output=folder / "out", engine=engine, **options)
    assert isinstance(release.directory, Path)
    return release.directory


def entries(folder: Path) -> list[str]:
    """The states of what was charged."""
    file = folder / FILE_NAME
    return [each.state for each in Ledger.open(file).history()] if file.exists() else []


def found_wrong(folder: Path) -> list[Any]:
    return [check for check in verify(folder / "out", folder / FILE_NAME) if check.ok is False]


@pytest.fixture
def drinks(tmp_path: Path) -> Path:
    people(tmp_path / "log.parquet", "drink")
    return tmp_path


def drink() -> list[Any]:
    return [z.columns("drink", items_per_user=1)]


@pytest.mark.extended
def test_odd_names_of_columns(tmp_path: Path) -> None:
    people(tmp_path / "log.parquet", *ODD)
    kinds = [z.columns(name, items_per_user=1) for name in ODD]
    goal = z.ProbabilisticDP(epsilon=20 * len(ODD), delta="0.01", users=200)
    release = z.read_release(publish(tmp_path, kinds, goal=goal))
    assert found_wrong(tmp_path) == []
    for name in ODD:
        table = release[f"columns:{name}"].arrow
        assert table.column_names == [name, "count"]
        assert sorted(table[name].to_pylist()) == ["milk", "tea"], name


def test_odd_names_together_and_as_attributes(tmp_path: Path) -> None:
    people(tmp_path / "log.parquet", *ODD[:8])
    kinds = [z.columns(*ODD[:6], items_per_user=1, by=ODD[7])]
    publish(tmp_path, kinds)
    assert found_wrong(tmp_path) == []


@pytest.mark.parametrize("name", REFUSED, ids=lambda name: ascii(name[:9]))
def test_names_that_cannot_be_published_cost_nothing(name: str, tmp_path: Path) -> None:
    text = name if name != "\udcff" else "x"
    people(tmp_path / "log.parquet", text, "drink")
    with pytest.raises(ZealousError):
        publish(tmp_path, [z.columns(name, items_per_user=1)])
    if name and name != TOO_LONG:  # an attribute is part of no file's name
        with pytest.raises(ZealousError):
            publish(tmp_path, [z.columns("drink", items_per_user=1, by=name)])
    assert entries(tmp_path) == []


@pytest.mark.parametrize("name", [".x", ".count", "a\0b"])
def test_names_that_arrow_takes_for_paths_are_no_items(name: str) -> None:
    for names, by in ((name,), None), (("drink", name), None), (("drink",), name):
        with pytest.raises(UsageError, match="begins with a dot or holds a zero byte"):
            z.columns(*names, items_per_user=1, by=by)


@examples(15)
@given(st.text(max_size=6).filter(lambda text: text.lower() != "uid"))
def test_any_name_is_published_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = tmp_path_factory.mktemp("named")
    people(folder / "log.parquet", name)
    try:
        publish(folder, [z.columns(name, items_per_user=1)])
    except ZealousError:
        assert entries(folder) == []
    else:
        assert found_wrong(folder) == []


@pytest.mark.parametrize("file", [*TEXTS, "csv"])
def test_what_cannot_be_written_fails_before_the_charge(
    file: str, drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError

    if file in TEXTS:
        monkeypatch.setitem(TEXTS, file, broken)
    else:
        monkeypatch.setattr("zealous.release.bundle.write_rows", broken)
    with pytest.raises(RuntimeError):
        publish(drinks, drink())
    assert entries(drinks) == []
    assert {each.name for each in drinks.iterdir()} == {"log.parquet"}


def test_a_table_that_is_not_read_back_as_it_was_is_not_charged(
    drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = z.read_release
    monkeypatch.setattr(
        import_module("zealous.release.checks"),
        "read_release",
        lambda place: Release(record=other(place).record, tables={}),
    )
    with pytest.raises(UsageError, match="rename"):
        publish(drinks, drink())
    assert entries(drinks) == []


@dataclass(frozen=True, kw_only=True)
class Misspelt(Kind):
    """A kind from outside, whose SQL names a column that there is not."""

    label = "misspelt"
    item = ("drink",)
    required_roles = ()

    def extra_columns(self) -> tuple[str, ...]:
        return ("drink",)

    def _steps(self, source: Source) -> list[Step]:
        return [Step("items", self._select(source, {"drink": "drnk"}))]


def test_a_mistake_in_the_sql_of_a_kind_costs_nothing(
    drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS._things, Misspelt.label, Misspelt)
    with pytest.raises(UsageError, match=r"counting misspelt .*Nothing was charged"):
        publish(drinks, [*drink(), Misspelt(items_per_user=1)])
    assert entries(drinks) == []


def test_a_mistake_in_a_mechanism_costs_nothing(
    drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*_: object) -> Any:
        raise TypeError

    monkeypatch.setattr(MECHANISMS["zealous"], "release", mistaken)
    with pytest.raises(TypeError):
        publish(drinks, drink())
    assert entries(drinks) == []


def test_an_output_that_is_not_utf8_costs_nothing(drinks: Path) -> None:
    log = z.read_log(drinks / "log.parquet", columns=z.Columns(user="uid"))
    with pytest.raises(ReleaseError, match="UTF-8"):
        z.publish(log, GOAL, drink(), output=Path(os.fsdecode(os.fsencode(drinks) + b"/\xff")))
    assert entries(drinks) == []


@pytest.mark.parametrize(
    "error", [OSError(28, "full"), ValueError("no"), MemoryError(), KeyboardInterrupt()], ids=repr
)
@pytest.mark.parametrize("where", ["draw", "write", "stamp"])
def test_whatever_fails_after_the_charge_says_that_it_is_spent(
    where: str, error: BaseException, drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise error

    def charged(self: LedgerPayment, say: Callable[[str], None]) -> LedgerStamp:
        stamp = reserve(self, say)
        if where == "write":
            monkeypatch.setattr(Release, "write", broken)
        return stamp

    reserve = LedgerPayment.reserve
    monkeypatch.setattr(LedgerPayment, "reserve", charged)
    if where == "draw":
        monkeypatch.setattr(import_module("zealous.release.publish"), "draw", broken)
    if where == "stamp":
        monkeypatch.setattr(Ledger, "book_at", broken)
    said: list[str] = []
    with pytest.raises(type(error)):
        publish(drinks, drink(), say=said.append)
    assert "entry 1 of the ledger stays charged" in said[-1]
    assert entries(drinks) == ["reserved"]


@pytest.mark.parametrize("error", [LedgerError("it is locked"), KeyboardInterrupt()], ids=repr)
def test_a_release_that_is_whole_is_not_said_to_be_lost(
    error: BaseException, drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Any:
        monkeypatch.undo()
        raise error

    monkeypatch.setattr(Ledger, "mark_released", broken)
    said: list[str] = []
    with pytest.raises(type(error)):
        publish(drinks, drink(), say=said.append)
    assert said[-1] == (
        f"the release is whole in {drinks / 'out'}, and paid for as entry 1 of the ledger"
    )
    assert entries(drinks) == ["released"]
    assert found_wrong(drinks) == []


def test_what_another_attempt_released_is_not_this_one(
    drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs at once of one id, of which the other ends first."""
    log = z.read_log(drinks / "log.parquet", columns=z.Columns(user="uid"))

    def broken(*_: object, **__: object) -> Any:
        monkeypatch.undo()
        z.publish(log, GOAL, drink(), account=Account(id="r"), output=drinks / "other")
        raise LedgerError("it is locked")

    monkeypatch.setattr(import_module("zealous.release.publish"), "draw", broken)
    said: list[str] = []
    with pytest.raises(LedgerError):
        publish(drinks, drink(), account=Account(id="r"), say=said.append)
    assert "entry 1 of the ledger stays charged" in said[-1]
    assert entries(drinks) == ["reserved", "released"]


def test_a_signal_that_comes_while_it_is_charged(
    drinks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = Ledger.reserve

    def interrupted(*arguments: Any, **options: Any) -> Any:
        reserve(*arguments, **options)
        raise KeyboardInterrupt  # Python gets to signals when the disk has answered

    said: list[str] = []
    account = Account(id="mine")
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "reserve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            publish(drinks, drink(), say=said.append, account=account)
    assert "entry 1 of the ledger stays charged" in said[-1]

    def refused(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    said.clear()
    monkeypatch.setattr(Ledger, "reserve", refused)
    with pytest.raises(KeyboardInterrupt):
        publish(drinks, drink(), say=said.append, account=account)
    assert not any("stays charged" in text for text in said), "of an earlier attempt"
    assert entries(drinks) == ["reserved"]


def test_nothing_is_said_to_be_spent_that_is_not(drinks: Path) -> None:
    said: list[str] = []
    goal = z.ProbabilisticDP(epsilon=20, delta="0.01", users=20)
    with pytest.raises(ZealousError, match="than users declares"):
        publish(drinks, drink(), goal=goal, say=said.append)
    assert not any("charged" in text for text in said)


def test_who_does_not_listen_ends_no_run(drinks: Path) -> None:
    def deaf(_: str) -> None:
        raise BrokenPipeError

    publish(drinks, drink(), say=deaf)
    assert found_wrong(drinks) == []


REDIRECTED = [
    "2>&1 | head -n 1",
    "2>&1 | true",
    "| true",
    "2> /dev/full",
    "> /dev/full",
    ">&- 2>&-",
    "--json >&-",
    "--json > /dev/full",
    "--json 2>&-",
    "<&- >&- 2>&-",
]


@pytest.mark.parametrize("redirected", sampled(REDIRECTED, str, share=len(REDIRECTED)))
def test_a_terminal_that_is_gone_or_full_loses_no_release(redirected: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(150)))
    words = [str(COMMAND), "publish", "log.csv", *OPTIONS, "-o", "out"]
    shell = f"{' '.join(words)} {redirected}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, check=False)
    assert entries(tmp_path) == ["released"]
    assert found_wrong(tmp_path) == []
    assert done.returncode == 0, "whoever takes it for failed pays twice"


@pytest.mark.parametrize(("epsilon", "code"), [("1", 1), ("much", 2)])
def test_an_error_has_its_exit_code_where_nobody_listens(
    epsilon: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("user,query\n")
    (tmp_path / "out").mkdir()
    words = [str(COMMAND), "publish", "log.csv", *OPTIONS, "--epsilon", epsilon, "-o", "out"]
    with open("/dev/full", "w") as full:
        assert subprocess.run(words, cwd=tmp_path, stderr=full, check=False).returncode == code


def test_what_is_printed_is_whole_or_said_to_be_lost(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(150)))
    words = [str(COMMAND), "publish", "log.csv", *OPTIONS, "-o", "out", "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=True
        )
    assert "the release is complete in out" in done.stderr
    assert json.loads((tmp_path / "out" / "release.json").read_text())["ledger"]["entry"] == 1
