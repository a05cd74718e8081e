"""What is probably a mistake stops an attended run before it costs, and no other run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest

import zealous as z
from zealous.errors import Refused
from zealous.items import Kind
from zealous.ledger import FILE_NAME, Cap, Caps, Ledger
from zealous.logs.id_doubts import id_doubts
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import count_ids
from zealous.release import doubts, repetition
from zealous.release.account import Account
from zealous.release.bundle import Release
from zealous.release.request import Attendance

GOAL = z.ProbabilisticDP(epsilon=8, delta="0.01", users=5000)
HEAD = "user,time,query\n"
TEA = "".join(f"u{n % 40},2026-01-0{n % 9 + 1} 10:00,tea\n" for n in range(400))


def written(folder: Path, text: str, encoding: str = "utf-8") -> Log:
    (folder / "log.csv").write_bytes(text.encode(encoding))
    return z.read_log(folder / "log.csv")


def published(
    log: Log,
    attendance: Attendance = "attended",
    *,
    period: str | None = None,
    output: Path | None = None,
) -> Release:
    return z.publish(log, GOAL, [z.queries(1)], attendance=attendance, period=period, output=output)


CHINESE = "".join(f"u{n % 40},2026-01-02 10:00,茶叶\n" for n in range(400))
MISTAKES: dict[str, tuple[str, str, str | None, str]] = {
    "read as UTF-8": (HEAD + CHINESE, "gb18030", None, "Most lines"),
    "a header alone": (HEAD, "utf-8", None, "no rows"),
    "another period": (HEAD + TEA, "utf-8", "2025-03", "no entry of the period"),
    "times of another form": (
        HEAD + TEA.replace("2026-", "day "),
        "utf-8",
        "2026-01",
        "No time of the log",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_attended_run_stops_before_it_costs(name: str, tmp_path: Path) -> None:
    text, encoding, period, told = MISTAKES[name]
    log = written(tmp_path, text, encoding)
    with pytest.raises(Refused, match=told) as stopped:
        published(log, period=period)
    assert 'attendance="proceed"' in str(stopped.value)
    assert not (tmp_path / FILE_NAME).exists()
    others: tuple[Attendance, ...] = ("proceed", "unattended")
    for attendance in others:
        released = published(log, attendance, period=period)
        assert released.record.ledger is not None, "it is published, perhaps empty, and charged"
        (tmp_path / FILE_NAME).unlink()


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (z.columns("qeury", items_per_user=1), '{"user": "u1", "query": "tea"}\n'),
        (z.keywords(1), '{"user": "u1", "query": "tea", "words": []}\n'),
        (
            z.columns("price", items_per_user=1, bands={"price": [1, 5]}),
            '{"user": "u1", "price": "2,50"}\n',
        ),
    ],
    ids=["misspelt", "no keyword", "no number"],
)
def test_a_log_without_any_item_stops_an_attended_run(
    kind: Kind, lines: str, tmp_path: Path
) -> None:
    """In JSON lines any column may be missing: no header tells that a name is misspelt."""
    (tmp_path / "log.jsonl").write_text(lines * 40)
    log = z.read_log(tmp_path / "log.jsonl", columns=z.Columns(user="user", keywords="words"))
    with pytest.raises(Refused, match="No entry has an item of"):
        z.publish(log, GOAL, [kind])
    assert not (tmp_path / FILE_NAME).exists()
    z.publish(log, GOAL, [kind], attendance="unattended")
    assert len([*Ledger.open(tmp_path / FILE_NAME)]) == 1


def test_times_that_are_partly_of_another_form_are_told(tmp_path: Path) -> None:
    log = written(tmp_path, HEAD + TEA + "u1,13 January,tea\n" * 100)
    said: list[str] = []
    z.publish(log, GOAL, [z.queries(1)], period="2026-01", say=said.append)
    assert [each for each in said if "of the times cannot be read" in each and "20%" in each]


def test_ids_in_two_spellings_are_told(tmp_path: Path) -> None:
    """Whoever has two ids is protected half as well."""
    capitals = "".join(f"U{n % 3},2026-01-02 10:00,tea\n" for n in range(5))
    zeros = "007,2026-01-02 10:00,tea\n7,2026-01-02 10:00,tea\n"
    other = "ANN,2026-01-02 10:00,tea\n000,2026-01-02 10:00,tea\n0,2026-01-02 10:00,tea\n"
    for number, (more, odd) in enumerate([(capitals, True), (zeros, True), (other, False)]):
        (tmp_path / str(number)).mkdir()
        log, said = written(tmp_path / str(number), HEAD + TEA + more), list[str]()
        z.publish(log, GOAL, [z.queries(1)], say=said.append)
        assert any("Some ids differ only in" in each for each in said) is odd


@pytest.mark.parametrize("most", [5, 1000])  # so that the entries are more, or few
def test_ids_are_searched_for_spellings_only_where_some_are_odd(most: int, tmp_path: Path) -> None:
    rows = "".join(f"{each},tea\n" for each in ("7", "0", "ann", "7", "bob", "cid"))
    for odd, more in enumerate(("", "07,tea\n", "07,tea\n000,tea\n07,tea\nBOB,tea\nB1,tea\n")):
        path = tmp_path / f"{odd}.csv"
        path.write_text(f"user,query\n{rows}{more}")
        log = z.read_log(path, cleaning=z.Cleaning(limits=z.Limits(entries=most)))
        with z.DuckDB() as engine:
            source = open_log(log, engine)
            assert (source.ids is not None) == (most == 5)
            ids = count_ids(source)
            assert (ids.odd, ids.most) == ([0, 1, 4][odd], 2)
            assert [each.text.startswith("Some ids differ") for each in id_doubts(source)] == (
                [True] if odd else []
            )


def test_a_run_at_a_terminal_asks_before_it_pays_for_the_same_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = written(tmp_path, HEAD + TEA)
    published(log, output=tmp_path / "first")
    published(log, output=tmp_path / "a script goes on")
    monkeypatch.setattr(repetition, "_at_terminal", lambda: True)
    with pytest.raises(Refused, match="by the same plan before") as stopped:
        published(log, output=tmp_path / "second")
    assert 'attendance="proceed"' in str(stopped.value)
    assert len([*Ledger.open(tmp_path / FILE_NAME)]) == 2
    # What is not the same is not asked about: other items at the same cost, or said to be meant.
    z.publish(log, GOAL, [z.keywords(1)], output=tmp_path / "keywords")
    z.publish(log, GOAL, [z.queries(1)], account=Account(again=True), output=tmp_path / "again")
    others: tuple[Attendance, ...] = ("proceed", "unattended")
    stopped_runs = []
    for attendance in others:
        try:
            published(log, attendance, output=tmp_path / attendance)
        except Refused:
            stopped_runs.append(attendance)
    assert stopped_runs == []


def test_what_was_charged_and_never_written_is_run_again_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = written(tmp_path, HEAD + TEA)
    monkeypatch.setattr(repetition, "_at_terminal", lambda: True)
    published(log)  # and lost
    published(log, output=tmp_path / "first")
    (tmp_path / "first/release.json").write_text("damaged")
    published(log, output=tmp_path / "second")


def test_an_unattended_run_does_not_look(tmp_path: Path) -> None:
    log = written(tmp_path, HEAD + TEA)
    with mock.patch.object(doubts, "id_doubts", return_value=[]) as looked:
        published(log, "unattended")
        assert not looked.called
        published(log)
        assert looked.called


@pytest.mark.parametrize("attendance", ["attended", "unattended"])
def test_what_public_figures_tell_stops_every_run(attendance: Attendance, tmp_path: Path) -> None:
    log = written(tmp_path, HEAD + TEA)
    few = z.ProbabilisticDP(epsilon="0.1", delta="0.01", users=50)
    with pytest.raises(Refused, match="Nothing will appear"):
        z.publish(log, few, [z.queries(1)], attendance=attendance)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "release.json").write_text("{}")
    with pytest.raises(Refused, match="inside another release"):
        published(log, attendance, output=tmp_path / "other" / "mine")
    assert not (tmp_path / FILE_NAME).exists()
    assert not (tmp_path / "other" / "mine").exists()


def test_oddities_of_ids_are_told_and_stop_nothing(tmp_path: Path) -> None:
    lone = "".join(f"x{n}y,2026-01-02 10:00,tea\n" for n in range(1500))
    robot = "7,2026-01-02 10:00,tea\n" * 900
    numbers = "".join(f"{n},2026-01-02 10:00,tea\n" for n in range(7, 2000))
    for text, told in (
        (lone, "single row"),
        (numbers, "row numbers"),
        (robot + TEA, "holds 69% of all entries"),
        (TEA + TEA.replace("u", "42").replace("42", "0042") + TEA.replace("u", "42"), "zeros"),
    ):
        heard: list[str] = []
        log = written(tmp_path, HEAD + text)
        z.publish(log, GOAL, [z.queries(1)], account=None, say=heard.append)
        assert told in "\n".join(heard)
    heard = []
    z.publish(written(tmp_path, HEAD + TEA), GOAL, [z.queries(1)], account=None, say=heard.append)
    assert "warning" not in "\n".join(heard)


def test_a_person_guessed_by_place_stops_where_each_has_one_row(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("".join(f"x{n}y,tea\n" for n in range(1500)))
    names = ("unnamed_column_1", "query")
    log = z.read_log(tmp_path / "log.csv", names=names, columns=z.Columns(user=names[0]))
    with pytest.raises(Refused, match=r"single row.*does name the columns.*header") as stopped:
        published(log)
    assert "--proceed" not in str(stopped.value)
    assert published(log, "proceed").record.ledger is not None


def test_ids_are_judged_in_large_logs_as_in_small_ones(tmp_path: Path) -> None:
    rows = "".join(f"{n},2026-01-02 10:00,tea\n" for n in range(3000))
    log = written(tmp_path, HEAD + rows)
    small = replace(log, cleaning=z.Cleaning(limits=z.Limits(entries=10)))
    for each in (log, small):  # the second is counted while its entries are limited
        heard: list[str] = []
        z.publish(each, GOAL, [z.queries(1)], account=None, say=heard.append)
        assert "row numbers" in "\n".join(heard)


def charged(
    folder: Path, name: str, attendance: Attendance, people: str | None = None
) -> list[str]:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(HEAD + TEA.replace("u", f"u-{name}-"))
    log, heard = z.read_log(folder / name), list[str]()
    z.publish(
        log,
        GOAL,
        [z.queries(1)],
        account=Account(people=people),
        attendance=attendance,
        say=heard.append,
    )
    return [each for each in heard if each.startswith("warning")]


def test_a_ledger_of_other_logs_is_told(tmp_path: Path) -> None:
    for _ in range(2):
        assert charged(tmp_path, "searches.csv", "attended") == []
    ledger = Ledger.open(tmp_path / FILE_NAME)
    (warning,) = charged(tmp_path, "sub/pharmacy.csv", "attended")
    for told in (str(ledger.path), "2 releases", "(searches.csv)", "counted as of the same people"):
        assert told in warning
    assert [entry.charge.log for entry in ledger.history()][1:] == [
        "searches.csv",
        "sub/pharmacy.csv",
    ]
    assert ledger.accounts().all.epsilon == 24, "another file name lowers nothing"
    assert charged(tmp_path, "sub/pharmacy.csv", "attended") == [], "answered before"
    assert charged(tmp_path, "third.csv", "attended", people="third") == []
    ledger.name_dataset("the town")
    assert charged(tmp_path, "fourth.csv", "attended") == []


def test_what_says_that_people_are_others_is_what_helps(tmp_path: Path) -> None:
    charged(tmp_path, "north.csv", "attended", people="north")
    ledger = Ledger.open(tmp_path / FILE_NAME)
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(8))))
    with pytest.raises(Refused) as stopped:
        charged(tmp_path, "south.csv", "proceed")
    for told in (f"the ledger {ledger.path} does", "0 of epsilon 8 is left", "of north.csv"):
        assert told in str(stopped.value)
    charged(tmp_path, "south.csv", "attended", people="south")
    assert ledger.accounts().all.epsilon == 8
    with pytest.raises(Refused) as same:
        charged(tmp_path, "south.csv", "attended", people="south")
    assert "others" not in str(same.value), "nobody else used it up"


def test_one_log_is_not_first_these_people_and_then_others(tmp_path: Path) -> None:
    charged(tmp_path, "log.csv", "attended", people="north")
    with pytest.raises(Refused, match="charged for the people north in entry 1"):
        charged(tmp_path, "log.csv", "proceed", people="south")
    account = Account(people="south", reason="a new export under the same name")
    z.publish(z.read_log(tmp_path / "log.csv"), GOAL, [z.queries(1)], account=account)
    claims = [each for each in Ledger.open(tmp_path / FILE_NAME).book().decisions() if each.people]
    assert [(each.people, each.reason) for each in claims] == [
        ("north", None),
        ("south", "a new export under the same name"),
    ]
