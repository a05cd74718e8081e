"""zealous verify passes what publish writes, and nothing that was tampered with."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from bundles import GOAL, made
from click.testing import CliRunner
from forging import as_written, forge, restate

from zealous.cli.verify import verify as command
from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, columns, phrase_pairs, queries, query_pairs
from zealous.ledger import FILE_NAME, Ledger
from zealous.logs.log import read_log
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.release.account import Account
from zealous.release.assumptions import OTHERS, SESSIONS_CUT, SESSIONS_OF_COLUMN, UNTIMED
from zealous.release.bundle import Release, _write_csv
from zealous.release.publish import publish
from zealous.release.table import INTERVAL, sorted_table, write_parquet
from zealous.verification.review import review
from zealous.verification.verify import SHOWN, Check, verify

About = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


def failed(path: Path, **options: Any) -> dict[str, str]:
    checks = verify(path, **options)
    assert all(isinstance(check, Check) for check in checks)
    return {check.name: check.detail for check in checks if check.ok is False}


# What passes


@pytest.mark.parametrize(
    "goal",
    [
        GOAL,
        ProbabilisticDP(epsilon="0.3", delta="1e-3", users=12_345, neighbors="add-remove"),
        ProbabilisticDP(epsilon="1/3", delta="1/7", users=10**9, unit="user-day"),
        Indistinguishability(epsilon="1e-3", delta="1e-200"),
        Indistinguishability(epsilon=7, delta="1e-6", users=10_000, unit="session"),
    ],
    ids=lambda goal: f"{goal.definition}-{goal.neighbors}-{goal.unit}",
)
def test_what_publish_writes_passes(goal: Guarantee, tmp_path: Path) -> None:
    target = made(tmp_path, goal).write(tmp_path / "out")
    assert failed(target) == {}
    assert {check.name for check in verify(target)} == {
        "release.json",
        "private",
        "files",
        "tables",
        "rows",
        "plan",
        "guarantee",
        "words",
        "budget",
    }


@pytest.mark.parametrize(
    "kind",
    [
        columns("query", "url", items_per_user=2),
        columns("a+b", items_per_user=2, by="land"),
        queries(3, fold=True, by="land"),
        query_pairs(2, session_gap=5),
        phrase_pairs(2, by="land"),
    ],
    ids=lambda kind: kind.name(),
)
def test_every_kind_is_made_anew_as_it_was(kind: Kind, tmp_path: Path) -> None:
    lines = [f"{n}\tgreen tea\tx\tb{n % 2}\tde\t2026-03-01 12:00:00" for n in range(60)]
    text = "\n".join(["user\tquery\turl\ta+b\tland\ttime", *lines]) + "\n"
    (tmp_path / "log.tsv").write_text(text)
    target = publish(read_log(tmp_path / "log.tsv"), GOAL, [kind], account=None)
    assert failed(target.write(tmp_path / "out")) == {}


def test_another_version_s_words_are_not_compared(copy: Path) -> None:
    forge(copy, lambda about: about["software"].update(version="0.1.0"))
    forge(copy, lambda about: about["guarantee"].update(in_words="In other words."))
    assert failed(copy) == {}
    assert [check.name for check in verify(copy) if check.ok is None] == ["words"]
    ran = CliRunner().invoke(command, [str(copy)])
    assert ran.exit_code == 0
    assert "not checked" in ran.stdout
    assert "Passed, except for what was not checked." in ran.stdout
    assert "All checks passed" not in ran.stdout
    ran = CliRunner().invoke(command, [str(copy), "--json"])
    assert ran.exit_code == 0
    told = {check["name"]: check["ok"] for check in json.loads(ran.stdout)["checks"]}
    assert {name for name, ok in told.items() if ok is None} == {"words"}
    (copy / "more").write_text("x")
    assert "FAILED: do not" in CliRunner().invoke(command, [str(copy)]).stdout


# Files


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda path: (path / "queries.csv").unlink(), "missing: queries.csv"),
        (lambda path: (path / "secret.txt").write_text("x"), "no part of the release"),
        (lambda path: (path / ".hidden").mkdir(), "no part of the release"),
        (lambda path: (path / "README.md").write_text("x"), "changed since"),
        (lambda path: (path / "statement.html").write_text("x"), "changed since"),
        (lambda path: (path / "queries.parquet").write_bytes(b"PAR1"), "changed since"),
    ],
)
def test_a_changed_directory(change: Callable[[Path], object], told: str, copy: Path) -> None:
    change(copy)
    assert told in failed(copy)["files"]


def test_a_link_is_no_file(copy: Path, tmp_path: Path) -> None:
    shutil.move(copy / "queries.csv", tmp_path / "elsewhere.csv")
    (copy / "queries.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert "file of its own" in failed(copy)["files"]


def test_a_hash_for_each_file(copy: Path) -> None:
    forge(copy, lambda about: about["sha256"].pop("queries.csv"))
    assert "does not list each file" in failed(copy)["files"]


# release.json


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b'{"format": "zealous release 99"}', b"[" * 100_000, b"null"],
)
def test_what_is_no_release(content: bytes, copy: Path) -> None:
    (copy / "release.json").write_bytes(content)
    assert set(failed(copy)) == {"release.json"}


def test_what_is_no_release_at_all_is_said_to_be_none(copy: Path) -> None:
    with pytest.raises(ReleaseError, match="there is no"):
        verify(copy / "nowhere")
    with pytest.raises(ReleaseError, match=r"is no release.* releases below it: out"):
        verify(copy.parent)
    (copy / "release.json").write_text('{"name": "a release of something else"}')
    for each in (copy, copy.parent):
        ran = CliRunner().invoke(command, [str(each)])
        assert ran.exit_code != 0
        assert "FAILED" not in ran.output


def test_errata_are_shown_and_break_nothing(copy: Path) -> None:
    (copy / "ERRATA.md").write_text("# Errata\n\nThe period is wrong.\n")
    checks = {check.name: check for check in verify(copy)}
    assert all(check.ok is not False for check in checks.values())
    assert checks["errata"].detail.endswith("# Errata The period is wrong.")
    (copy / "ERRATA.md").unlink()
    (copy / "ERRATA.md").symlink_to(copy / "README.md")
    assert "files" in failed(copy)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("selection_key"),
        lambda about: about.update(true_counts={"tea": 60}),
        lambda about: about["guarantee"].update(epsilon=True),
        lambda about: about["guarantee"].update(users=True),
        lambda about: about["plan"][0].update(tau=1.5),
        lambda about: about["plan"][0]["forecast"].update(users=60),
        lambda about: about["files"]["queries"].update(parquet="../out/queries.parquet"),
        lambda about: about["files"]["queries"].update(csv="/etc/passwd.csv"),
        lambda about: about.update(private="yes"),
        lambda about: about.update(ledger={"tracked": True}),
        lambda about: about.update(review={"parent": "x"}),
        lambda about: about.update(parameters_from="a good feeling"),
        lambda about: about.pop("columns"),
        lambda about: about["columns"].pop("user"),
        lambda about: about["columns"].update(password="pw"),
        lambda about: about["plan"][0]["settings"].update(by=7),
        lambda about: about["plan"][0]["settings"].update(note="x"),
        lambda about: about.update(period="March"),
        lambda about: about.update(period="2026-01..2026-03"),
        lambda about: about.update(created="2026-02-30"),
        lambda about: about.update(created="2999-01-01"),
        lambda about: about["cleaning"].update(max_entries_per_user=0),
    ],
)
def test_the_schema_is_strict(change: Callable[[About], object], copy: Path) -> None:
    forge(copy, change)
    assert set(failed(copy)) == {"release.json"}


def test_a_clock_that_is_a_day_ahead(copy: Path) -> None:
    today = datetime.now(UTC).date()
    forge(copy, lambda about: about.update(created=str(today + timedelta(days=1))))
    assert failed(copy) == {}
    forge(copy, lambda about: about.update(created=str(today + timedelta(days=3))))
    assert "future" in failed(copy)["release.json"]


def test_reviews_without_end(copy: Path) -> None:
    text = (copy / "release.json").read_text()
    one = (
        '{"parent": "' + "ab" * 32 + '", "parent_id": "x", "rules": [], "removed": {}, "earlier": '
    )
    deep = text.replace('"review": null', f'"review": {one * 300}null{"}" * 300}')
    (copy / "release.json").write_text(deep)
    assert failed(copy)


def test_no_key_stands_twice_and_no_number_is_nan(copy: Path) -> None:
    text = (copy / "release.json").read_text()
    (copy / "release.json").write_text(text.replace('"private"', '"private": true, "private"', 1))
    assert set(failed(copy)) == {"release.json"}
    (copy / "release.json").write_text(text.replace('"scale": 0.12', '"scale": NaN'))
    assert set(failed(copy)) == {"release.json"}


# Tables


def retable(path: Path, kind: str, change: Callable[[pa.Table], pa.Table], *, both: bool) -> None:
    about = json.loads((path / "release.json").read_text())
    before = pq.read_table(path / f"{kind}.parquet").drop_columns(list(INTERVAL))
    table = as_written(about, kind, change(before))
    write_parquet(table, path / f"{kind}.parquet")
    if both:
        _write_csv(table, path / f"{kind}.csv")
    forge(path, lambda about: about["files"][kind].update(rows=table.num_rows))


def with_count(table: pa.Table, count: int) -> pa.Table:
    """The last row's count, changed."""
    counts = [*table["count"].to_pylist()[:-1], count]
    return table.set_column(1, "count", pa.array(counts, pa.int64()))


@pytest.mark.parametrize(
    ("change", "both", "told"),
    [
        (lambda table: table.slice(1), False, "CSV and Parquet"),
        (lambda table: table.slice(0, 2).take([1, 0]), True, "not sorted"),
        (lambda table: with_count(table, 1), True, "at or below the threshold"),
        (lambda table: with_count(table, -5), True, "at or below the threshold"),
        (lambda table: pa.concat_tables([table.slice(0, 1)] * 2), True, "twice"),
        (lambda table: table.rename_columns(["user", "count"]), True, "columns"),
        (lambda table: table.append_column("true", table["count"]), True, "columns"),
        (
            lambda table: table.set_column(0, "query", pa.nulls(len(table), pa.string())),
            True,
            "empty cells",
        ),
    ],
)
def test_changed_tables(
    change: Callable[[pa.Table], pa.Table], both: bool, told: str, copy: Path
) -> None:
    retable(copy, "queries", change, both=both)
    found = failed(copy)
    assert set(found) == {"tables"}
    assert told in found["tables"]


@pytest.mark.parametrize("column", INTERVAL)
def test_an_interval_that_does_not_follow_from_its_count(column: str, copy: Path) -> None:
    table = pq.read_table(copy / "queries.parquet")
    wider = pc.add(table[column], 1)
    table = table.set_column(table.column_names.index(column), column, wider)
    pq.write_table(table, copy / "queries.parquet")
    _write_csv(table, copy / "queries.csv")
    forge(copy, lambda _: None)
    found = failed(copy)
    assert set(found) == {"tables"}
    assert "count_low or count_high" in found["tables"]


def resorted(table: pa.Table) -> pa.Table:
    return sorted_table(table, ("query",)).arrow


def test_the_threshold_is_exclusive(copy: Path) -> None:
    about = json.loads((copy / "release.json").read_text())
    tau_prime = next(part["tau_prime"] for part in about["plan"] if part["kind"] == "queries")
    retable(copy, "queries", lambda table: with_count(table, tau_prime + 1), both=True)
    assert failed(copy) == {}
    retable(copy, "queries", lambda table: with_count(table, tau_prime), both=True)
    assert set(failed(copy)) == {"tables"}


def test_another_number_of_rows(copy: Path) -> None:
    forge(copy, lambda about: about["files"]["queries"].update(rows=7))
    assert "number of rows" in failed(copy)["tables"]


# The guarantee


def smaller(about: About) -> None:
    """A smaller epsilon for the same noise, consistently throughout."""
    about["guarantee"].update(epsilon=200.0)
    about["guarantee"]["exact"].update(epsilon="200")
    for part in about["plan"]:
        part.update(epsilon=50.0)
        part["exact"].update(epsilon="50")


def one_lower(about: About) -> None:
    for part in about["plan"]:
        part["tau_prime"] -= 1


def more_users(about: About) -> None:
    about["guarantee"]["users"] = about["also_guaranteed"]["users"] = 2_000
    for part in about["plan"]:
        part["users"] = 2_000


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (smaller, "smaller than what its parameters give"),
        (one_lower, ""),
        (lambda about: about["plan"][0].update(delta_achieved=1e-9), "achieve"),
        (lambda about: about["plan"][0].update(items_per_user=12), "smaller than what"),
        (lambda about: about["plan"][0].update(users=900), "not those of the whole"),
        (lambda about: about["plan"][0].update(neighbors="add-remove"), "not those of the whole"),
        (lambda about: about["plan"][0].update(guarantee="indistinguishable"), "another than"),
        (lambda about: about["guarantee"].update(epsilon=1.0), "rounded number"),
        (lambda about: about["guarantee"]["exact"].update(delta="1/4"), "rounded number"),
        (lambda about: about["plan"][0]["exact"].update(scale="1"), "rounded number"),
        (lambda about: about["also_guaranteed"].update(delta=1e-30), "also guaranteed"),
        (lambda about: about["also_guaranteed"].update(users=5), "also guaranteed"),
        (lambda about: about["plan"][0].update(tau=0), "tau must be"),
        (lambda about: about["plan"].append(about["plan"][0]), "add up to more"),
        (lambda about: about.update(plan=[]), "no plan"),
        (lambda about: about["guarantee"]["exact"].update(epsilon="1/0"), "epsilon must be"),
    ],
)
def test_a_guarantee_that_does_not_follow(
    change: Callable[[About], object], told: str, copy: Path
) -> None:
    forge(copy, change)
    assert told in failed(copy)["guarantee"]


def test_a_threshold_too_low_by_one_is_found(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=2, delta="0.001", users=500_000)
    target = made(tmp_path, goal).write(tmp_path / "out")
    forge(target, one_lower)
    assert "smaller than what its parameters give" in failed(target)["guarantee"]


def test_more_users_than_the_delta_allows(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=2, delta="0.001", users=1_000)
    target = made(tmp_path, goal).write(tmp_path / "out")
    forge(target, more_users)
    assert "smaller than what its parameters give" in failed(target)["guarantee"]


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about["guarantee"].update(in_words="Nobody is ever at risk."),
        lambda about: about["guarantee"].update(title="perfect privacy"),
        lambda about: about["assumptions"].pop(),
        lambda about: about["assumptions"].append("None of this matters."),
        lambda about: about["assumptions"].append(OTHERS),
        lambda about: about["assumptions"].append(SESSIONS_CUT),
        lambda about: about["assumptions"].append(UNTIMED.format("2026-03")),
        lambda about: about["also_guaranteed"].update(title="perfect privacy"),
        lambda about: about["also_guaranteed"].update(in_words="Nobody is ever at risk."),
        lambda about: about["also_guaranteed"].update(theorem="docs/proofs/none.md"),
        lambda about: about["also_guaranteed"].update(epsilon=401.0),
        lambda about: about["also_guaranteed"].update(delta=0.75),
        lambda about: about.update(also_guaranteed=None),
        lambda about: about["plan"][0]["forecast"].update(error_95=99),
        lambda about: about["plan"][0]["forecast"].update(single_person_items=None),
        lambda about: about["plan"][0]["forecast"]["users_to_appear"].update({"50%": 1}),
        lambda about: about["plan"][0].update(delta_achieved=0.9),
        lambda about: about["plan"][1]["settings"].pop("fold"),
    ],
)
def test_words_that_the_numbers_do_not_say(change: Callable[[About], object], copy: Path) -> None:
    forge(copy, change)
    assert set(failed(copy)) == {"words"}


def untimed(about: About) -> dict[str, str]:
    return {role: name for role, name in about["columns"].items() if role != "time"}


def test_a_period_without_times_rests_on_the_publisher_s_word(tmp_path: Path) -> None:
    target = made(tmp_path, kinds=[queries(3)], period="2026-03").write(tmp_path / "out")
    assert failed(target) == {}
    forge(target, lambda about: about.update(columns=untimed(about)))
    assert "assumptions" in failed(target)["words"]
    forge(target, lambda about: about["assumptions"].append(UNTIMED.format("2026-03")))
    assert failed(target) == {}
    forge(target, lambda about: about["columns"].update(time="time"))
    assert "assumptions" in failed(target)["words"]


def test_what_a_session_is_must_be_said(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=7, delta="1e-6", users=10_000, unit="session")
    target = made(tmp_path, goal).write(tmp_path / "out")
    forge(target, lambda about: about["assumptions"].remove(SESSIONS_CUT))
    assert set(failed(target)) == {"words"}
    forge(target, lambda about: about["assumptions"].append(SESSIONS_OF_COLUMN.format("visit")))
    assert set(failed(target)) == {"words"}
    forge(target, lambda about: about["columns"].update(session="visit"))
    assert failed(target) == {}


def test_items_and_files_are_those_of_the_kind(copy: Path) -> None:
    for old in ("queries.csv", "queries.parquet"):
        (copy / old).rename(copy / old.replace("queries", "other"))

    def renamed(about: About) -> None:
        about["files"]["queries"].update(csv="other.csv", parquet="other.parquet")
        for old in ("queries.csv", "queries.parquet"):
            about["sha256"][old.replace("queries", "other")] = about["sha256"].pop(old)

    forge(copy, renamed)
    assert set(failed(copy)) == {"words"}


def test_a_release_of_today_tells_its_limits(copy: Path) -> None:
    """Those of 0.1.0 have neither limits nor the number of a planner."""
    forge(copy, lambda about: about["cleaning"].pop("limits"))
    assert "cleaning.limits is missing" in failed(copy).values()


def test_a_paper_that_says_something_else(copy: Path) -> None:
    (copy / "statement.html").write_text("All is well.")
    about = json.loads((copy / "release.json").read_text())
    digest = hashlib.sha256((copy / "statement.html").read_bytes()).hexdigest()
    about["sha256"]["statement.html"] = digest
    (copy / "release.json").write_text(json.dumps(about))
    assert failed(copy) == {"words": "statement.html does not say what release.json says"}


def test_a_seeded_release_fails_plainly(tmp_path: Path) -> None:
    target = made(tmp_path, seed=3).write(tmp_path / "out", not_private=True)
    assert "NOT PRIVATE" in failed(target)["private"]


def test_the_key_must_be_there(copy: Path) -> None:
    forge(copy, lambda about: about.update(selection_key=""))
    assert "key" in failed(copy)["private"]


# The ledger


def test_an_untracked_release_is_in_no_ledger(copy: Path, tmp_path: Path) -> None:
    assert "not tracked" in {check.name: check.detail for check in verify(copy)}["budget"]
    any_ = Ledger.open(tmp_path / "any.ledger", create=True).path
    assert set(failed(copy, ledger=any_)) == {"budget"}


def test_a_ledger_is_named_by_its_folder_or_log(tmp_path: Path) -> None:
    log = tmp_path / "shop" / "log.csv"
    log.parent.mkdir()
    log.write_text("user,query\nu1,tea\n")
    path = Ledger.open(tmp_path / FILE_NAME, create=True).path  # in a folder above
    target = made(tmp_path, account=Account(ledger=path)).write(tmp_path / "out")
    for where in (tmp_path, log.parent, log, str(path)):
        assert failed(target, ledger=where) == {}
    wrong = CliRunner().invoke(command, [str(target), "--ledger", str(tmp_path / "nothing")])
    assert isinstance(wrong.exception, UsageError), "which ends a command with 2, and no verdict"
    assert "FAILED" not in wrong.output


def test_a_tracked_release_against_its_ledger(tmp_path: Path) -> None:
    book, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    target = made(tmp_path, account=Account(ledger=book)).write(tmp_path / "out")
    made(tmp_path, account=Account(ledger=other)).write(tmp_path / "other")
    assert failed(target) == {}
    assert failed(target, ledger=book) == {}
    assert set(failed(target, ledger=other)) == {"budget"}
    with pytest.raises(UsageError, match="name a ledger, a log or a folder"):
        verify(target, tmp_path / "none.ledger")
    review(target, flag_pii=True, output=tmp_path / "child")
    review(tmp_path / "child", flag_pii=True, output=tmp_path / "grandchild")
    for name in ("child", "grandchild"):
        assert failed(tmp_path / name, ledger=book) == {}
        assert set(failed(tmp_path / name, ledger=other)) == {"budget"}
    forge(tmp_path / "child", lambda about: about["review"].update(parent="ab" * 32))
    assert "parent" in failed(tmp_path / "child", ledger=book)["budget"]


def test_an_account_printed_too_small(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account).write(tmp_path / "out")
    forge(target, lambda about: about["ledger"]["accounts"]["all"].update(epsilon=1.0))
    assert "smaller in print" in failed(target)["budget"]


def count_unit(about: About, unit: str) -> None:
    about["ledger"]["unit"] = unit


def account_of(about: About, name: str, **exact: str) -> None:
    account = about["ledger"]["accounts"][name]
    account["exact"].update(exact)
    account.update({key: float(Fraction(value)) for key, value in exact.items()})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda about: account_of(about, "all", epsilon="399"), "this release alone"),
        (lambda about: account_of(about, "all", delta="1/4"), "this release alone"),
        (lambda about: account_of(about, "period", epsilon="399"), "this release alone"),
        (lambda about: account_of(about, "period", delta="1/4"), "this release alone"),
        (lambda about: about["ledger"]["accounts"].update(delta_for_anybody=0.1), "anybody"),
        (lambda about: about["ledger"]["accounts"]["all"].update(releases=0), "fewer releases"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="2026-04"), "another"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="all"), "another"),
        (lambda about: about["ledger"]["accounts"]["period"].update(within="soon"), "period is"),
    ],
)
def test_an_account_without_this_release(
    change: Callable[[About], object], told: str, tmp_path: Path
) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account, period="2026-03").write(tmp_path / "out")
    assert failed(target) == {}
    forge(target, change)
    found = failed(target)
    assert set(found) == {"budget"}
    assert told in found["budget"]


def test_an_account_must_count_twice_what_counts_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    Ledger.open(file, create=True, neighbors="replace")
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, neighbors="add-remove")
    target = made(tmp_path, goal, account=Account(ledger=file)).write(tmp_path / "out")
    assert failed(target, ledger=file) == {}
    for name in ("all", "period"):
        shutil.copytree(target, tmp_path / name)
        forge(tmp_path / name, partial(account_of, name=name, epsilon="799"))
        assert "this release alone" in failed(tmp_path / name)["budget"]


def test_a_ledger_of_days_counts_no_sessions(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, unit="user-day")
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, goal, account=account).write(tmp_path / "out")
    assert failed(target) == {}
    for unit in ("user", "session"):
        forge(target, partial(count_unit, unit=unit))
        assert "another unit" in failed(target)["budget"]


def test_accounts_that_amount_to_more_than_the_release(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=400, delta="0.0001", users=1_000)
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, goal, account=account).write(tmp_path / "out")
    assert failed(target) == {}
    forge(target, lambda about: about["ledger"]["accounts"].update(definition="probabilistic"))
    assert "amount to more" in failed(target)["budget"]


def test_a_cap_that_was_lowered_is_no_failure(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "a.ledger")
    target = made(tmp_path, account=account).write(tmp_path / "out")
    forge(target, lambda about: about["ledger"]["caps"].update(all={"epsilon": 1, "delta": None}))
    assert failed(target) == {}


@pytest.mark.parametrize("people", [None, "the shop's"])
def test_whose_people_they_are_is_the_ledger_s_to_say(people: str | None, tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    parent = made(tmp_path, account=Account(ledger=file, people=people)).write(tmp_path / "out")
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", ledger=file) == {}

    def other(about: About) -> None:
        said = [each for each in about["assumptions"] if each != OTHERS]
        about["assumptions"] = said if people else [*said[:-1], OTHERS, said[-1]]

    forge(tmp_path / "child", other)
    assert failed(tmp_path / "child") == {}
    assert "people" in failed(tmp_path / "child", ledger=file)["budget"]


# A filtered child


@pytest.fixture(scope="module")
def one_family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger, a parent and its child."""
    folder = tmp_path_factory.mktemp("family")
    file = folder / "a.ledger"
    parent = made(folder, account=Account(ledger=file), period="2026-03").write(folder / "out")
    review(parent, flag_pii=True, output=folder / "child")
    assert failed(folder / "child", ledger=file, parent=parent) == {}
    return folder


@pytest.fixture
def family(one_family: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A ledger, a parent and its child, to be changed."""
    shutil.copytree(one_family, tmp_path, dirs_exist_ok=True)
    return tmp_path / "a.ledger", tmp_path / "out", tmp_path / "child"


def old(about: About) -> None:
    """As an earlier version planned, whose choice of parameters is not repeated."""
    about.pop("planner")
    restate(about)


def other_neighbors(about: About) -> None:
    for each in (about["guarantee"], *about["plan"]):
        each["neighbors"] = "add-remove"
    about["ledger"]["neighbors"] = "add-remove"
    old(about)


def other_unit(about: About) -> None:
    for each in (about["guarantee"], *about["plan"]):
        each["unit"] = "user-day"
    about["ledger"]["unit"] = "user-day"
    old(about)


def other_period(about: About) -> None:
    about["period"] = about["ledger"]["accounts"]["period"]["within"] = "2026-04"
    old(about)


@pytest.mark.parametrize(
    ("change", "told"),
    [(other_neighbors, "neighbors"), (other_unit, "unit"), (other_period, "period")],
)
def test_a_forged_child_is_found_by_the_ledger(
    change: Callable[[About], object], told: str, family: tuple[Path, Path, Path]
) -> None:
    file, parent, child = family
    forge(child, change)
    assert failed(child) == {}
    assert f"its {told} is not the one charged" in failed(child, ledger=file)["budget"]
    assert set(failed(child, parent=parent)) == {"review"}


def test_other_sessions_than_those_charged(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, unit="session")
    parent = made(tmp_path, goal, account=Account(ledger=file)).write(tmp_path / "out")
    review(parent, flag_pii=True, output=tmp_path / "child")
    assert failed(tmp_path / "child", ledger=file) == {}

    def other(about: About) -> None:
        about["columns"]["session"] = "visit"
        restate(about)

    forge(tmp_path / "child", other)
    assert failed(tmp_path / "child") == {}
    assert "its kind of sessions is not" in failed(tmp_path / "child", ledger=file)["budget"]


def test_a_child_has_the_numbers_of_its_parent(written: Path, tmp_path: Path) -> None:
    review(written, flag_pii=True, output=tmp_path / "child")

    def more(about: About) -> None:
        about["guarantee"].update(epsilon=800.0)
        about["guarantee"]["exact"].update(epsilon="800")
        restate(about)

    forge(tmp_path / "child", more)
    assert "another share of the budget" in failed(tmp_path / "child")["plan"]
    forge(tmp_path / "child", old)
    assert failed(tmp_path / "child") == {}
    told = failed(tmp_path / "child", parent=written)["review"]
    assert told == "not as in the parent: planner, guarantee"


def test_another_definition_than_the_one_charged(tmp_path: Path) -> None:
    file = tmp_path / "a.ledger"
    target = made(tmp_path, account=Account(ledger=file)).write(tmp_path / "out")

    def weaker(about: About) -> None:
        for part in about["plan"]:
            part["guarantee"] = "indistinguishable"
        about["guarantee"]["definition"] = "indistinguishable"
        about["ledger"]["accounts"]["definition"] = "indistinguishable"
        about["software"]["version"] = "0.1.0"
        old(about)

    forge(target, weaker)
    assert failed(target) == {}
    assert "its definition is not the one charged" in failed(target, ledger=file)["budget"]


def test_a_child_is_compared_with_its_parent(family: tuple[Path, Path, Path]) -> None:
    file, parent, child = family
    told = {check.name: check.detail for check in verify(child)}["review"]
    assert told.endswith("not compared with its parent (--parent DIR)")
    told = {check.name: check.detail for check in verify(child, parent=parent)}["review"]
    assert "every row left stands in the parent" in told
    ran = CliRunner().invoke(command, [str(child), "--parent", str(parent), "--ledger", str(file)])
    assert ran.exit_code == 0
    assert "All checks passed." in ran.stdout
    assert "no filtered child" in failed(parent, parent=child)["review"]
    assert "there is no" in failed(child, parent=child / "nowhere")["review"]


def test_a_grandchild_is_compared_with_the_child(
    family: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, parent, child = family
    review(child, flag_pii=True, output=tmp_path / "grandchild")
    assert failed(tmp_path / "grandchild", parent=child) == {}
    assert "not the parent" in failed(tmp_path / "grandchild", parent=parent)["review"]


def with_row(table: pa.Table) -> pa.Table:
    """One more row, at the top."""
    row = {"query": ["who is anna"], "count": [table["count"][0].as_py() + 1]}
    return pa.concat_tables([pa.table(row, schema=table.schema), table])


def removed(about: About, kind: str, rows: int) -> None:
    about["review"]["removed"][kind] += rows


@pytest.mark.parametrize(
    ("change", "rows", "told"),
    [
        (with_row, -1, "does not hold"),
        (lambda table: with_count(table, table["count"][0].as_py() + 1), 0, "does not hold"),
        (lambda table: table.slice(1), 0, "another number"),
        (lambda table: table, 1, "another number"),
    ],
)
def test_rows_that_are_not_the_parent_s(
    change: Callable[[pa.Table], pa.Table], rows: int, told: str, family: tuple[Path, Path, Path]
) -> None:
    _, parent, child = family
    retable(child, "queries", lambda table: resorted(change(table)), both=True)
    forge(child, lambda about: removed(about, "queries", rows))
    assert failed(child) == {}
    assert told in failed(child, parent=parent)["review"]


def test_less_of_the_parent_is_a_child_too(family: tuple[Path, Path, Path]) -> None:
    _, parent, child = family
    retable(child, "queries", lambda table: table.slice(1), both=True)
    forge(child, lambda about: removed(about, "queries", 1))
    assert failed(child, parent=parent) == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda about: about["review"].update(parent="ab" * 32), "SHA-256"),
        (lambda about: about["review"].update(parent_id="x"), "another id"),
        (lambda about: about["review"].update(earlier=dict(about["review"])), "other reviews"),
        (lambda about: about["ledger"].update(dataset="x"), "ledger"),
        (lambda about: about.update(selection_key="0" * 16), "selection_key"),
        (lambda about: about["columns"].update(query="q"), "columns"),
        (lambda about: about["cleaning"].update(users_excluded_by_list=True), "cleaning"),
        (lambda about: about.update(approved_plan="ab" * 32), "approved_plan"),
        (lambda about: about["assumptions"].insert(-1, OTHERS), "assumptions"),
    ],
)
def test_what_a_child_must_inherit(
    change: Callable[[About], object], told: str, family: tuple[Path, Path, Path]
) -> None:
    _, parent, child = family
    forge(child, change)
    assert failed(child) == {}
    assert told in failed(child, parent=parent)["review"]


def test_a_child_of_an_unsound_parent(family: tuple[Path, Path, Path]) -> None:
    _, parent, child = family
    (parent / "more").write_text("x")
    assert "the parent does not pass; files" in failed(child, parent=parent)["review"]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda about: about["review"]["removed"].pop("queries"), "review"),
        (lambda about: removed(about, "queries", -1000), "review"),
        (
            lambda about: about["also_guaranteed"].update(
                definition="probabilistic", epsilon=400.0, delta=0.5
            ),
            "guarantee",
        ),
        (lambda about: about.update(also_guaranteed=None), "words"),
        (lambda about: about["also_guaranteed"].update(theorem="docs/proofs/x.md"), "words"),
        (lambda about: about["assumptions"].pop(), "words"),
    ],
)
def test_what_a_child_may_say(
    change: Callable[[About], object], name: str, family: tuple[Path, Path, Path]
) -> None:
    forge(family[2], change)
    assert name in failed(family[2])


def test_no_part_of_a_child_hides_its_users(family: tuple[Path, Path, Path]) -> None:
    def mixed(about: About) -> None:
        about["plan"][0]["guarantee"] = "indistinguishable"
        restate(about)

    forge(family[2], mixed)
    assert "another than that of the whole" in failed(family[2])["guarantee"]


# The command


def test_the_command(copy: Path) -> None:
    ran = CliRunner().invoke(command, [str(copy)])
    assert ran.exit_code == 0
    assert "All checks passed." in ran.stdout
    assert "cannot show that noise was drawn" in " ".join(ran.stdout.split())
    (copy / "more").write_text("x")
    ran = CliRunner().invoke(command, [str(copy), "--json"])
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert found["ok"] is False
    assert found["shown"] == SHOWN
    assert [check["name"] for check in found["checks"] if not check["ok"]] == ["files"]
    assert "FAILED" in CliRunner().invoke(command, [str(copy)]).stdout


def test_nothing_of_a_row_is_quoted(copy: Path, release_rows: Callable[[Path], set[str]]) -> None:
    shown = release_rows(copy)
    retable(copy, "queries", lambda table: table.slice(0, 2).take([1, 0]), both=False)
    assert not any(text in detail for detail in failed(copy).values() for text in shown)


@pytest.fixture
def release_rows() -> Callable[[Path], set[str]]:
    return lambda path: set(pq.read_table(path / "queries.parquet")["query"].to_pylist())


def test_read_by_hand(written: Path) -> None:
    """The hashes are those that anybody's tools give."""
    about = json.loads((written / "release.json").read_text())
    for name, digest in about["sha256"].items():
        assert hashlib.sha256((written / name).read_bytes()).hexdigest() == digest
    assert isinstance(made(written.parent), Release)
