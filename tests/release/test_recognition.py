"""A copy of a log that is charged elsewhere is recognised, and decides about no release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import Run

import zealous as z
from zealous.errors import Refused
from zealous.ledger import FILE_NAME
from zealous.release import known_logs
from zealous.release.account import Account
from zealous.release.known_logs import KnownLogs
from zealous.release.recognition import remember_looked_at
from zealous.release.request import Attendance
from zealous.release.untracked import Untracked

GOAL = z.ProbabilisticDP(epsilon=8, delta="0.01", users=5000)
TEA = "user,query\n" + "".join(f"person {n},tea\n" for n in range(300) for _ in range(2))


def publish(
    path: Path,
    attendance: Attendance = "attended",
    account: Account | Untracked | None = None,
    output: Path | None = None,
    **options: str,
) -> list[str]:
    """What is told."""
    heard: list[str] = []
    z.publish(
        z.read_log(path),
        GOAL,
        [z.queries(1)],
        account=account or Account(),
        attendance=attendance,
        output=output,
        say=heard.append,
        **options,  # type: ignore[arg-type]
    )
    return [each for each in heard if each.startswith(("warning", "copies"))]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "one" / "log.csv"
    path.parent.mkdir()
    path.write_text(TEA)
    assert publish(path) == []
    return path


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    """In another place and format, and in another order."""
    path = tmp_path / "two" / "other.parquet"
    path.parent.mkdir()
    pq.write_table(pyarrow.csv.read_csv(original).sort_by("user"), path)
    return path


def test_a_copy_is_told_and_stops_nothing(original: Path, copy: Path) -> None:
    try:
        (warning,) = publish(copy)
    except Refused as error:
        raise AssertionError("what is like another log decides about no release") from error
    for told in ("shares people", str(original), "nearly all", str(original.with_name(FILE_NAME))):
        assert told in warning
    ((name, other),) = KnownLogs.read().noticed
    assert (name.log, other.log) == (str(copy), str(original))
    assert publish(copy) == [], "it was told, and gone on with"


def test_nothing_of_it_leaves(original: Path, copy: Path) -> None:
    publish(copy, "unattended", output=copy.with_name("release"))
    known = KnownLogs.read()
    secret = [known.key, *("".join(each.sketch.slots) for each in known.logs)]
    assert len(secret) == 3
    kept = [each for each in original.parents[1].rglob("*") if each.is_file()]
    assert len(kept) > 8
    assert not any(text.encode() in file.read_bytes() for file in kept for text in secret)
    assert known_logs.path().stat().st_mode & 0o777 == 0o600


def test_the_file_decides_about_no_release(original: Path) -> None:
    known_logs.path().chmod(0o644)
    publish(original, "proceed")
    assert known_logs.path().stat().st_mode & 0o777 == 0o600, "others may not read it any more"
    known_logs.path().unlink()
    os.symlink(original, known_logs.path())
    (told,) = publish(original, "unattended")
    assert told.startswith("copies of this log will not be recognised")
    assert original.read_text() == TEA


def test_what_a_crash_cut_off_is_passed_over(original: Path, copy: Path) -> None:
    with known_logs.path().open("a") as file:
        file.write('{"log": "/some/wh')
    (told,) = publish(copy)
    assert "shares people" in told
    assert [each.name.log for each in KnownLogs.read().logs] == [str(original), str(copy)]


def test_what_is_counted_together_is_not_told(original: Path, copy: Path) -> None:
    ledger = original.with_name(FILE_NAME)
    assert publish(copy, account=Account(ledger=ledger)) == []
    assert publish(original, "proceed") == []
    other = original.with_name("other.sqlite")
    named = Account(ledger=other, reason="for myself")
    assert publish(original, "unattended", named) == [], "who names a ledger has said it"


def test_the_command(original: Path, run: Run) -> None:
    assert str(original) in run("ledger", "logs").stdout
    assert "sketch" not in run("ledger", "logs", "--json").stdout
    assert "no log is known" in run("ledger", "logs", "--forget").stderr
    assert not known_logs.path().exists()


def test_people_who_are_claimed_to_be_others(tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / f"{name}.csv").write_text(TEA)
    publish(tmp_path / "north.csv", account=Account(people="north"))
    (told,) = publish(tmp_path / "south.csv", account=Account(people="south"))
    assert "not apart" in told


def test_a_ledger_that_is_gone_is_missed(original: Path) -> None:
    original.with_name(FILE_NAME).unlink()
    (told,) = publish(original)
    assert "shares people" in told


def test_a_ledger_of_which_two_copies_went_on(original: Path) -> None:
    ledger = original.with_name(FILE_NAME)
    copy = Path(shutil.copy(ledger, ledger.with_name("copy.sqlite")))
    assert publish(original) == []
    for attendance in ("attended", "unattended"):  # it is told without the data
        with pytest.raises(Refused, match="two copies went on apart") as stopped:
            publish(original, attendance, Account(ledger=copy))
        assert f"--copy {ledger}" in str(stopped.value)
    (told,) = publish(original, "proceed", Account(ledger=copy))
    assert "two copies" in told
    with pytest.raises(Refused, match="two copies went on apart"):
        publish(original)


def test_a_ledger_that_was_put_back(original: Path) -> None:
    ledger = original.with_name(FILE_NAME)
    earlier = ledger.read_bytes()
    publish(original)
    ledger.write_bytes(earlier)
    with pytest.raises(Refused, match="an older copy took its place"):
        publish(original, "unattended")


def test_a_copy_that_is_charged_nowhere(copy: Path) -> None:
    (told,) = publish(copy, account=Untracked())
    assert "shares people" in told


def test_a_log_that_parameters_were_chosen_on(tmp_path: Path) -> None:
    path, copy = tmp_path / "log.csv", tmp_path / "copy.csv"
    path.write_text(TEA)
    copy.write_text(TEA)
    remember_looked_at(z.read_log(path), pytest.fail)
    (told,) = publish(copy, parameters_from="public-facts")
    assert "laid out the figures" in told
    assert publish(copy, parameters_from="this-log") == []


def test_logs_that_number_other_people_are_not_told(tmp_path: Path) -> None:
    told = []
    for name, people in (("books", 2000), ("shoes", 1500), ("books again", 2000)):
        path = tmp_path / name / "log.csv"
        path.parent.mkdir()
        path.write_text("user,query\n" + "".join(f"{n},tea\n{n},tea\n" for n in range(1, people)))
        told.append(publish(path))
    assert told[:2] == [[], []]
    (copied,) = told[2]
    assert "books" in copied
    assert "number as many people" in copied
