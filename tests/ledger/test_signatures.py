"""Approval by SSH keys, signed and verified by the real ssh-keygen."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Run
from tampering import rewrite, tampered

from zealous.errors import Refused, UsageError
from zealous.items import queries
from zealous.ledger import FILE_NAME, Cap, Caps, Charge, Ledger, signatures, store
from zealous.ledger.approvals import signed_decision
from zealous.ledger.cap_changes import decided_caps
from zealous.ledger.copies import back_up, move, restore
from zealous.ledger.signatures import NAMESPACE, Approval, NoSigningProgram, sign, signer
from zealous.logs.log import read_log
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.release.account import Account
from zealous.release.publish import publish
from zealous.verification.verify import verify

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs openssh-client")
PLAN = [
    "--items",
    "queries",
    "--items-per-user",
    1,
    "--users",
    300,
    "--epsilon",
    10,
    "--delta",
    "0.01",
    "--user",
    "user",
    "--query",
    "query",
    "--dataset",
    "teahouse",
]


def make_key(path: Path, kind: str = "ed25519") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", path], check=True)
    return path


def public(key: Path) -> str:
    return " ".join(key.with_name(f"{key.name}.pub").read_text().split()[:2])


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("keys")
    return make_key(folder / "officer"), make_key(folder / "stranger")


@pytest.fixture
def approved(keys: tuple[Path, Path], tmp_path: Path) -> Ledger:
    folder = tmp_path / "logs"
    folder.mkdir()
    rows = [f"{n},tea" for n in range(200)]
    (folder / "log.csv").write_text("\n".join(["user,query", *rows]) + "\n")
    made = Ledger.open(folder / FILE_NAME, create=True, dataset="teahouse")
    made.set_approvers(f"ito@example {public(keys[0])}\n", by="her")
    return made


def test_what_is_signed_is_verified_as_ssh_keygen_does(
    keys: tuple[Path, Path], tmp_path: Path
) -> None:
    officer, stranger = keys
    now, allowed = datetime.now(UTC), f"ito@example {public(officer)}\n"
    signature = sign(b"a plan", officer)
    assert signer(b"a plan", signature, approvers=allowed, at=now) == "ito@example"
    (tmp_path / "s").write_text(signature)
    (tmp_path / "a").write_text(allowed)
    command = ["ssh-keygen", "-Y", "verify", "-f", "a", "-I", "ito@example", "-s", "s", "-n"]
    done = subprocess.run([*command, NAMESPACE], input=b"a plan", cwd=tmp_path, check=False)
    assert done.returncode == 0
    expired = f'ito@example valid-before="20200101" {public(officer)}\n'
    elsewhere = f'ito@example namespaces="git" {public(officer)}\n'
    for message, made, may in (
        (b"another plan", signature, allowed),
        (b"a plan", sign(b"a plan", stranger), allowed),
        (b"a plan", signature, expired),
        (b"a plan", signature, elsewhere),
        (b"a plan", "no signature", allowed),
        (b"a plan", signature, ""),
    ):
        with pytest.raises(Refused):
            signer(message, made, approvers=may, at=now)
    with pytest.raises(UsageError, match="no key"):
        sign(b"a plan", tmp_path / "nowhere")


def test_other_kinds_of_keys_sign_too(tmp_path: Path) -> None:
    for kind in ("ecdsa", "rsa"):
        key = make_key(tmp_path / kind, kind)
        may = f'ito@example,lee@example namespaces="{NAMESPACE}" {public(key)}\n'
        signature = sign(b"a plan", key)
        who = signer(b"a plan", signature, approvers=may, at=datetime.now(UTC))
        assert who.startswith("ito@example")


def test_without_the_program_nothing_is_said_to_be_wrong(
    run: Run,
    approved: Ledger,
    keys: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("plan", *PLAN, "-o", "plan.json").code == 0
    assert run("approve", "plan.json", "--key", keys[0]).code == 0
    assert run("publish", "logs/log.csv", "--plan", "plan.json", "-o", "one").code == 0
    monkeypatch.setattr(signatures, "PROGRAM", "no-such-program")
    with pytest.raises(NoSigningProgram, match="install openssh-client"):
        approved.verify()
    budget = next(
        each for each in verify(tmp_path / "one", ledger=approved.path) if each.name == "budget"
    )
    assert (budget.ok, "no-such-program" in budget.detail) == (None, True)


def test_without_the_program_all_but_signatures_is_compared(
    keys: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.csv").write_text("user,query\n" + "".join(f"{n},tea\n" for n in range(90)))
    log, path = read_log(tmp_path / "log.csv"), tmp_path / "ledger.sqlite"
    goal = ProbabilisticDP(epsilon=9, delta="0.01", users=90)
    ledger = Ledger.open(path, create=True, dataset="teahouse")
    publish(log, goal, queries(1), account=Account(ledger=path), output=tmp_path / "one")
    ledger.set_approvers(f"ito@example {public(keys[0])}\n", by="her")
    ledger.set_caps(Caps(all=Cap(epsilon=Fraction(40))), by="her", key=keys[0])
    monkeypatch.setattr(signatures, "PROGRAM", "no-such-program")

    def budget() -> bool | None:
        return next(c.ok for c in verify(tmp_path / "one", ledger=path) if c.name == "budget")

    assert budget() is None  # not checked, and nothing wrong
    about = tmp_path / "one/release.json"
    about.write_text(about.read_text().replace('"entry": 1', '"entry": 2'))
    assert budget() is False
    found = []
    with suppress(NoSigningProgram):
        found = ledger.verify([tmp_path / "one"])
    assert found


def test_the_plan_that_start_writes_can_be_approved(
    run: Run, approved: Ledger, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    wish = ("--items", "queries", "--privacy", "permissive", "--users", 300, "-o", "plan.json")
    assert run("start", "logs/log.csv", *wish).code == 0
    assert run("approve", "plan.json", "--key", keys[0]).code == 0
    done = run("publish", "logs/log.csv", "--plan", "plan.json", "-o", "one")
    assert done.code == 0, done.stderr
    assert [each.approver for each in approved] == ["ito@example"]


def test_plans_need_a_signature(
    run: Run, approved: Ledger, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    officer, stranger = keys
    assert run("plan", *PLAN, "-o", "plan.json").code == 0
    publish = ("publish", "logs/log.csv", "--plan", "plan.json", "--id", "one", "-o", "one")
    refused = run(*publish)
    assert (refused.code, "zealous approve" in refused.stderr) == (1, True)
    assert run("approve", "plan.json", "--key", stranger).code == 0
    assert "not of one of the ledger's approvers" in run(*publish).stderr
    (tmp_path / "plan.json.sig").unlink()
    assert run("approve", "plan.json", "--key", officer).code == 0
    assert run("approve", "plan.json", "--key", officer).code == 2  # nothing is overwritten
    assert approved.history() == ()
    done = run(*publish)
    assert done.code == 0, done.stderr
    (entry,) = approved.history()
    about = json.loads((tmp_path / "one" / "release.json").read_text())
    assert (entry.approver, entry.plan) == ("ito@example", about["approved_plan"])
    assert "<b>ito@example</b> approved" in (tmp_path / "one" / "statement.html").read_text()
    assert run("verify", "one", "--ledger", approved.path).code == 0
    assert "by a plan that ito@example" in run("ledger", "events", "logs").stdout

    def lie(connection: sqlite3.Connection) -> None:
        rewrite(connection, '\\"epsilon\\": \\"10\\"', '\\"epsilon\\": \\"11\\"')

    tampered(approved.path, lie)
    assert any("the signature is not of one" in each for each in approved.verify())


def plan_bytes(**said: object) -> bytes:
    goal = {
        "guarantee": "probabilistic",
        "epsilon": "2",
        "delta": "1/100",
        "neighbors": "replace",
        "unit": "user",
    }
    log = {"dataset": "teahouse", "columns": {"user": "user"}}
    return json.dumps({"goal": {**goal, **said}, "log": {**log, **said}}).encode()


CHARGE = Charge(
    epsilon=Fraction(2),
    delta=Fraction(1, 100),
    definition="probabilistic",
    neighbors="replace",
    person="user",
)


@pytest.mark.parametrize(
    ("plan", "charge", "told"),
    [
        (plan_bytes(dataset="pharmacy"), CHARGE, "for the dataset pharmacy"),
        (plan_bytes(dataset=None), CHARGE, "for no named dataset"),
        (plan_bytes(), replace(CHARGE, people="north"), "the run for the people north"),
        (plan_bytes(epsilon="1"), CHARGE, "costs something else"),
        (plan_bytes(unit="user-day"), CHARGE, "costs something else"),
        (plan_bytes(columns={"user": "row"}), CHARGE, "another column"),
        *(
            (unreadable, CHARGE, "cannot be read")
            for unreadable in (
                b"{}",
                b"\xff",
                b"[" * 100_000,
                plan_bytes(epsilon="1/0"),
                plan_bytes(epsilon="much"),
                plan_bytes(epsilon=2),  # no version wrote a number
                plan_bytes(columns={}),
                plan_bytes(dataset=["teahouse"]),
            )
        ),
    ],
)
def test_a_signed_plan_serves_what_it_says_alone(
    approved: Ledger, keys: tuple[Path, Path], plan: bytes, charge: Charge, told: str
) -> None:
    signed = Approval(plan=plan, signature=sign(plan, keys[0]))
    with pytest.raises(Refused, match=told):
        approved.reserve("one", charge, approval=signed)
    good = Approval(plan=plan_bytes(), signature=sign(plan_bytes(), keys[0]))
    approved.reserve("one", CHARGE, approval=good)
    assert approved.verify() == []


def test_a_plan_in_the_ledger_that_costs_something_else_is_found(
    approved: Ledger, keys: tuple[Path, Path]
) -> None:
    good = Approval(plan=plan_bytes(), signature=sign(plan_bytes(), keys[0]))
    approved.reserve("one", CHARGE, approval=good)
    tampered(approved.path, lambda each: rewrite(each, '"epsilon":"2"', '"epsilon":"1"'))
    assert any("by a plan that differs" in each for each in approved.verify())


def test_an_approved_plan_signs_no_cap(approved: Ledger, keys: tuple[Path, Path]) -> None:
    approved.set_caps(Caps(all=Cap(epsilon=Fraction(4))), by="her", key=keys[0])
    signed = {"plan": "a plan", "signature": sign(b"a plan", keys[0]), "signer": "ito@example"}
    more = json.dumps({"approval": signed}, separators=(",", ":"))[1:-1]
    before = '{"all":{"delta":null,"epsilon":"4"},'
    after = before.replace("4", "40")

    def raise_cap(connection: sqlite3.Connection) -> None:
        rewrite(connection, before, f"{after}{more},")

    tampered(approved.path, raise_cap)
    assert any("the signature is not of one" in each for each in approved.verify())


def test_a_clock_that_was_put_back_brings_no_approver_back(
    approved: Ledger, keys: tuple[Path, Path]
) -> None:
    approved.set_approvers(
        f'ito@example valid-before="20200101" {public(keys[0])}\n', by="her", key=keys[0]
    )
    with pytest.raises(Refused, match="not of one"):
        approved.set_caps(Caps(), key=keys[0])
    book, earlier = approved.book(), {"by": "me", "time": "2019-12-31T00:00:00+00:00"}
    body = {**decided_caps(book, Caps(), unit=None, reason=None), **earlier}
    assert book.last is not None
    with store.writing(approved.path) as connection:
        signed = signed_decision(book, "caps", body, keys[0])
        store.append_event(connection, {"event": "caps", **signed}, after=book.last)
    assert any("the signature is not of one" in each for each in approved.verify())


@pytest.mark.parametrize("text", ["", "# nobody\n", "ssh-ed25519 AAAA me\n", "{key} me\n"])
def test_approvers_who_could_never_sign_are_refused(
    approved: Ledger, keys: tuple[Path, Path], text: str
) -> None:
    with pytest.raises(UsageError, match="no allowed signers"):
        approved.set_approvers(text.format(key=public(keys[0])), key=keys[0])
    assert approved.book().events[-1].text.endswith("voids: ito@example")


def test_caps_and_voids_need_a_signature(approved: Ledger, keys: tuple[Path, Path]) -> None:
    officer, stranger = keys
    caps = Caps(all=Cap(epsilon=Fraction(4)))
    with pytest.raises(Refused, match="has to sign this"):
        approved.set_caps(caps, by="her")
    with pytest.raises(Refused, match="not of one"):
        approved.set_caps(caps, by="her", key=stranger)
    approved.set_caps(caps, by="her", key=officer)
    with pytest.raises(Refused, match="has to sign this"):
        approved.set_approvers(f"me {public(stranger)}", by="me")
    with pytest.raises(Refused, match="has to sign this"):
        approved.set_caps(Caps(), by="her")
    assert approved.verify() == []
    assert approved.book().events[-1].signer == "ito@example"

    def raise_cap(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"epsilon":"4"', '"epsilon":"40"')

    tampered(approved.path, raise_cap)
    assert any("the signature is not of one" in each for each in approved.verify())


def test_moving_and_restoring_need_a_signature(
    approved: Ledger, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    officer, stranger = keys
    kept, moved = tmp_path / "kept.sqlite", tmp_path / "moved.sqlite"
    back_up(approved.path, kept)
    for key, told in ((None, "has to sign this"), (stranger, "not of one")):
        with pytest.raises(Refused, match=told):
            move(approved.path, moved, key=key)
        with pytest.raises(Refused, match=told):
            restore(kept, tmp_path / "restored.sqlite", reason="a test", key=key)
    assert not moved.exists()
    assert not (tmp_path / "restored.sqlite").exists()
    move(approved.path, moved, key=officer)
    restore(kept, tmp_path / "restored.sqlite", reason="a test", key=officer)
    for path in (moved, tmp_path / "restored.sqlite"):
        assert Ledger.open(path).verify() == []


def test_an_unsigned_decision_closes_the_ledger(approved: Ledger, keys: tuple[Path, Path]) -> None:
    approved.set_caps(Caps(all=Cap(epsilon=Fraction(4))), by="her", key=keys[0])

    def strip(connection: sqlite3.Connection) -> None:
        rewrite(connection, '"signed":', '"signet":')

    tampered(approved.path, strip)
    assert "is not signed" in approved.verify()[0]
