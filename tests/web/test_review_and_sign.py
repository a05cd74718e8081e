"""Reviewing and signing in the workbench, and checking both on the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from bundles import PERSONAL, made
from conftest import Run
from workbench import Workbench, words

from zealous.items import columns, keywords, queries
from zealous.logs.log import read_log
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.release.bundle import read_release
from zealous.release.publish import publish
from zealous.verification.verify import verify

GOAL = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reviewed")
    return made(folder, GOAL, (queries(3), keywords(6))).write(folder / "march")


@pytest.fixture
def logs(original: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copytree(original, folder / "march")
    return folder


@pytest.fixture
def bench(logs: Path) -> Workbench:
    return Workbench(logs)


def marked(rows: list[str], goes: list[str], **more: str) -> dict[str, object]:
    written = {
        name: [json.dumps([each]) for each in given]
        for name, given in (("row", rows), ("goes", goes))
    }
    return {"release": "logs/march", "table": "queries", "output": "out", **written, **more}


def test_flagged_rows_go_unless_somebody_keeps_them(bench: Workbench, logs: Path, run: Run) -> None:
    page = bench.text("/review", release="logs/march", table="queries")
    assert page.count('class="goes"') == len(PERSONAL)
    assert page.count(" checked aria-label") == len(PERSONAL)
    assert "shoes" in bench.text("/review", release="logs/march", table="queries", show="all")
    keep, *others = PERSONAL
    assert bench.post("/review", **marked(PERSONAL, others, then="1")).status_code == 303
    assert not (logs / "out").exists()  # so far it is only decided
    assert bench.post("/review", **marked(["shoes"], ["shoes"], then="1")).status_code == 303
    said = words(bench.text("/review", release="logs/march", table="queries"))
    assert "no longer probabilistic differential privacy" in said
    answer = bench.post("/review", **marked([], [], then="write"))
    assert answer.headers["location"] == "/sign?release=logs%2Fout"
    child = read_release(logs / "out")
    assert set(child["queries"]) == {"green tea", keep}
    assert "shoes" not in child["keywords"]  # of every table that has it
    assert (logs / "out.remove.txt").read_text() == "shoes\n"
    assert (logs / "out.remove.txt").stat().st_mode & 0o777 == 0o600
    assert (logs / "out.allow.txt").read_text() == f"{keep}\n"
    done = run("verify", logs / "out", "--parent", logs / "march")
    assert done.code == 0, done.said
    shown = words(bench.text("/sign", release="logs/out"))
    assert "which was verified" in shown  # it was compared with its parent
    # The same by the command that is shown.
    lists = ("--remove", logs / "out.remove.txt", "--allow", logs / "out.allow.txt")
    assert run("review", logs / "march", "--flag-pii", *lists, "-o", logs / "by-command").code == 0
    again = read_release(logs / "by-command")
    assert again.record.review is not None
    assert child.record.review is not None
    assert again.record.review.removed == child.record.review.removed
    assert again.record.review.rules == child.record.review.rules


def test_a_release_is_read_as_a_whole_once_and_then_by_pages(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"release": "logs/march", "table": "queries"}
    first = bench.text("/review", **asked)
    for module in ("zealous.web.screens.review.review", "pyarrow.parquet.read_table"):
        monkeypatch.setattr(module, None)  # whoever calls it fails
    assert words(bench.text("/review", **asked)) == words(first)
    assert "shoes" in bench.text("/review", **asked, show="all", search="SHO")
    assert "No row is like that" in words(bench.text("/review", **asked, search="nothing like it"))
    bench.post("/review", **marked(["shoes"], ["shoes"], then="1"))
    assert "shoes" in bench.text("/review", **asked)  # what goes is shown with what is flagged


def test_where_nothing_goes_the_promise_stays(bench: Workbench, logs: Path) -> None:
    bench.post("/review", **marked(PERSONAL, [], then="1"))
    for each in ("anna", "kern"):
        bench.post("/review", **marked([each], [], then="1"))
    found = bench.post("/review", **marked([], [], then="write"))
    assert found.status_code == 303
    assert not read_release(logs / "out").record.is_filtered()
    assert bench.post("/review", **marked([], [], then="write")).status_code == 400  # it is there


def bench_of_things(folder: Path, things: list[str]) -> Workbench:
    """A release of things that everybody holds."""
    people = [f"u{user},{name}\n" for user in range(60) for name in things]
    (folder / "log.csv").write_text("".join(["user,thing\n", *people]))
    log = read_log(folder / "log.csv", user="user")
    (folder / "logs").mkdir()
    kind = columns("thing", items_per_user=len(things))
    publish(log, GOAL, kind, account=None, output=folder / "logs/march")
    return Workbench(folder / "logs")


def test_a_list_that_cannot_be_written_leaves_no_other_behind(tmp_path: Path) -> None:
    hidden, form = "a\u200bnn@x.example", {"table": "columns:thing"}
    bench = bench_of_things(tmp_path, [hidden, "plain"])
    bench.post("/review", **marked([hidden, "plain"], ["plain"], then="1") | form)
    answer = bench.post("/review", **marked([], [], then="write") | form)
    assert (answer.status_code, "cannot be seen" in answer.text) == (400, True)
    assert [each.name for each in (tmp_path / "logs").iterdir()] == ["march"]


def test_a_row_that_is_to_go_does_not_stay_for_another_spelling(tmp_path: Path) -> None:
    both, form = ["Ann@x.example", "ann@x.example"], {"table": "columns:thing"}
    bench = bench_of_things(tmp_path, both)
    bench.post("/review", **marked(both, both[:1], then="1") | form)
    answer = bench.post("/review", **marked([], [], then="write") | form)
    assert (answer.status_code, "another spelling" in answer.text) == (400, True)
    assert [each.name for each in (tmp_path / "logs").iterdir()] == ["march"]


@pytest.mark.parametrize("row", ["x", "[1]", '{"a": 1}', '"x"'])
def test_a_strange_form_changes_nothing(bench: Workbench, logs: Path, row: str) -> None:
    form = marked([], [], then="write") | {"row": [row]}
    assert bench.post("/review", **form).status_code == 400
    assert [each.name for each in logs.iterdir()] == ["march"]


def test_a_release_that_was_changed_is_not_reviewed_or_signed(
    bench: Workbench, logs: Path, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (logs / "march" / "queries.csv").write_text("query,count\n")
    assert bench.post("/review", **marked([], [], then="write")).status_code == 400
    signing = Workbench(logs, key=key)
    refused = signing.post("/sign", release="logs/march")
    assert refused.status_code == 400
    assert "not signed" in words(refused.text)
    assert "do not sign" in words(signing.text("/sign", release="logs/march"))
    assert not (logs / "march.sig").exists()


def test_a_signature_stands_beside_the_release_and_can_be_checked(
    bench: Workbench, logs: Path, tmp_path: Path
) -> None:
    assert bench.post("/sign", release="logs/march").status_code == 400  # there is no key
    assert "sign it by hand" in words(bench.text("/sign", release="logs/march"))
    key, secret = tmp_path / "key", '$HOME "; ö\\n'
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", secret, "-f", key], check=True)
    signing = Workbench(logs, key=key)
    for wrong in ({}, {"passphrase": "none such"}):  # nobody waits for a terminal
        assert signing.post("/sign", release="logs/march", **wrong).status_code == 400
    assert signing.post("/sign", release="logs/march", passphrase=secret).status_code == 303
    assert "Signed: march.sig" in words(signing.text("/sign", release="logs/march"))
    assert signing.post("/sign", release="logs/march").status_code == 400  # once
    assert verify(logs / "march")  # the signature is no part of it
    kind, public, *_ = key.with_suffix(".pub").read_text().split()
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ito {kind} {public}\n")
    check: list[str | Path] = [
        "ssh-keygen",
        "-Y",
        "verify",
        "-f",
        allowed,
        "-I",
        "ito",
        "-s",
        logs / "march.sig",
    ]
    content = (logs / "march" / "release.json").read_bytes()
    for namespace, message, code in (
        ("zealous-release", content, 0),
        ("zealous-plan", content, 255),  # it approves no plan
        ("zealous-release", content + b" ", 255),
    ):
        done = subprocess.run([*check, "-n", namespace], input=message, capture_output=True)
        assert done.returncode == code
