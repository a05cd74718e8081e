"""Tables, guarantees and words of a release that do not follow from its parameters."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from bundles import made
from forging import forge, rehash
from verified import About, failed, retable, with_count

from zealous.items import queries
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.release.assumptions import OTHERS, SESSIONS_CUT, SESSIONS_OF_COLUMN, UNTIMED
from zealous.release.bundle import _write_csv
from zealous.release.table import INTERVAL
from zealous.verification.verify import verify


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return made(folder).write(folder / "out")


@pytest.fixture
def copy(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


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


def test_another_build_of_this_version_may_use_other_words(copy: Path) -> None:
    """Its texts are its own; what release.json states must still follow from its numbers."""

    def of_another_build(about: About) -> None:
        about["software"]["build"] = "0" * 64

    forge(copy, of_another_build)
    assert failed(copy) == {}
    (copy / "README.md").write_text("# The same in other words\n")
    about = json.loads((copy / "release.json").read_text())
    rehash(copy, about)
    (copy / "release.json").write_text(json.dumps(about))
    (words,) = (check for check in verify(copy) if check.name == "words")
    assert failed(copy) == {}
    assert (words.ok, words.detail.startswith("README.md does not say")) == (None, True)
    forge(copy, lambda about: about["assumptions"].pop())
    assert "words" in failed(copy)


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
