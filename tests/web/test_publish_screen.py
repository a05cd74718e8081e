"""From a plan to a release in the workbench: by the same command, approved, charged, once."""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from workbench import Workbench, words

from zealous.ledger import Ledger, verify
from zealous.release.bundle import read_release

PLAN = {"log": "logs/log.tsv", "users": "1000", "kind": "queries", "most queries": "2"}
PLAN |= {"level": "custom", "epsilon": "20", "name": "march"}
NAME = "logs/march.plan.json"
LEDGER = {
    "dataset": "tea drinkers",
    "epsilon": "30",
    "delta": "0.01",
    "by": "Ann",
    "folder": "logs",
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    rows = ["user\tquery\ttime\n"]
    for user in range(200):
        rows += [f"u{user}\t{query}\t2026-03-01 12:00:00\n" for query in ("green tea", "shoes")]
        rows += [f"u{user}\tmy name is {user}\t2026-03-01 12:00:00\n"]
    (folder / "log.tsv").write_text("".join(rows))
    return folder


@pytest.fixture
def bench(logs: Path) -> Workbench:
    """A workbench with a ledger and a plan."""
    made = Workbench(logs)
    assert made.post("/ledger", **LEDGER).status_code == 303
    assert made.post("/plan", **PLAN).status_code == 303
    return made


def approval(bench: Workbench, **changed: Any) -> dict[str, Any]:
    page = bench.text("/approve", plan=NAME)
    seen = page.partition('name="seen" value="')[2].partition('"')[0]
    ticks = [str(number) for number in range(page.count('name="assumption"'))]
    form = {"plan": NAME, "seen": seen, "assumption": ticks, "by": "Ito", "decision": "approved"}
    return form | changed


def publishing(**changed: str) -> dict[str, str]:
    form = {"plan": NAME, "log": "logs/log.tsv", "output": "march", "by": "Ann", "period": ""}
    return form | {"dataset": "tea drinkers"} | changed


def finished(bench: Workbench) -> str:
    """The page of a publication once it has ended."""
    for _ in range(600):
        page = bench.text("/publish", plan=NAME, job="1")
        if "Publishing, since" not in page:
            return words(page)
        time.sleep(0.1)
    raise AssertionError("it does not end")


def test_the_whole_way(bench: Workbench, logs: Path) -> None:
    assert "waits for approval" in words(bench.text("/publish", plan=NAME))
    assert bench.post("/publish", **publishing()).status_code == 400  # nobody approved it
    page = words(bench.text("/approve", plan=NAME))
    assert "0 of 30, 20 after this release" in page
    assert bench.post("/approve", **approval(bench)).status_code == 303
    assert "Approved by Ito" in words(bench.text("/approve", plan=NAME))
    assert "epsilon 20, delta 0.001" in words(bench.text("/publish", plan=NAME))
    wrong = bench.post("/publish", **publishing(dataset="coffee drinkers"))
    assert wrong.status_code == 400
    assert not (logs / "march").exists()

    # Twice at once, and once more: one of them starts.
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: bench.post("/publish", **publishing()), range(5)))
    assert sorted(each.status_code for each in answers) == [303, 400, 400, 400, 400]
    done = finished(bench)
    assert "Published." in done
    assert "Read the log done Charge the privacy budget done Count, and draw noise done" in done
    assert "queries: 2 items" in done
    again = bench.post("/publish", **publishing(output="again"))
    assert again.status_code == 400
    assert "was done already" in words(again.text)

    release = read_release(logs / "march")
    assert release["queries"]["green tea"] > 100
    assert release.record.approved_plan is not None
    ledger = Ledger.open(logs / "zealous-ledger.sqlite")
    (entry,) = ledger.history()
    assert (entry.by, entry.state) == ("Ann", "released")
    assert not verify(ledger.path, [logs / "march"])
    # A workbench that was started anew does not know of it, and nothing is drawn again.
    later = Workbench(logs)
    assert later.post("/publish", **publishing(output="later")).status_code == 303
    assert "made before" in finished(later)
    assert len(ledger.history()) == 1
    assert not (logs / "later").exists()

    shown = words(bench.text("/ledger"))
    assert "20 of 30" in shown
    assert "No release more of epsilon 20" in shown
    assert "All 4 events hold together" in shown
    # No row of the log is on any page.
    for path in ("/", "/plan", "/approve", "/publish", "/ledger", "/explore", "/sign"):
        assert "my name is" not in bench.text(path)


@pytest.mark.extended
def test_what_fails_says_why_and_can_be_tried_again(bench: Workbench, logs: Path) -> None:
    bench.post("/approve", **approval(bench))
    (logs / "log.tsv").write_text("person\tquery\nu1\ttea\n")
    other = bench.post("/publish", **publishing())
    assert other.status_code == 400  # it has other columns than planned: nothing is started
    assert "no column 'user'" in words(other.text)
    assert "cannot be read as planned" in words(bench.text("/publish", plan=NAME))
    (logs / "log.tsv").write_text(
        "user\tquery\ttime\n" + "".join(f"u{user}\ttea\t2026-03-01\n" for user in range(1001))
    )
    assert bench.post("/publish", **publishing()).status_code == 303
    assert "It did not finish" in finished(bench)  # there are more people than planned
    page = bench.text("/publish", plan=NAME)
    assert "The last attempt did not finish" in words(page)
    assert "Answer it" not in page  # it did not ask
    assert bench.post("/publish/go-on", plan=NAME, meant="1").status_code == 400
    assert not Ledger.open(logs / "zealous-ledger.sqlite").history()
    assert bench.post("/publish", **publishing()).status_code == 303  # the next one starts
    finished(bench)


@pytest.mark.extended
def test_a_run_that_stopped_to_ask_goes_on_when_it_is_meant_so(
    bench: Workbench, logs: Path
) -> None:
    bench.post("/approve", **approval(bench))
    assert bench.post("/publish/go-on", plan=NAME, meant="1").status_code == 400  # nothing asks
    bench.post("/publish", **publishing(period="2020-01"))
    page = finished(bench)
    assert "It stopped to ask" in page
    assert "The log has no entry of the period 2020-01. Nothing was charged." in page
    assert "I have read this, and it is meant so" in page
    assert "--proceed" not in page
    assert "Answer it" in words(bench.text("/publish", plan=NAME))
    assert bench.post("/publish/go-on", plan=NAME).status_code == 400  # not ticked
    ledger = Ledger.open(logs / "zealous-ledger.sqlite")
    assert not ledger.history()
    assert bench.post("/publish/go-on", plan=NAME, meant="1").status_code == 303
    assert "Published." in finished(bench)
    assert len(ledger.history()) == 1
    assert not verify(ledger.path, [logs / "march"])
    assert bench.post("/publish/go-on", plan=NAME, meant="1").status_code == 400  # once


@pytest.mark.parametrize(
    "changed", [{"assumption": []}, {"seen": "0" * 64}, {"by": ""}, {"assumption": ["0", "0", "9"]}]
)
def test_an_approval_is_of_what_was_seen_and_ticked(
    bench: Workbench, changed: dict[str, Any]
) -> None:
    assert bench.post("/approve", **approval(bench, **changed)).status_code == 400
    assert "waits for approval" in words(bench.text("/publish", plan=NAME))


def test_what_is_approved_is_explained_in_plain_words(bench: Workbench) -> None:
    page = bench.text("/approve", plan=NAME)
    explained = words(f"<main{page.partition('<details id=')[2].partition('</details>')[0]}</main>")
    for word in ("epsilon", "delta", "neighbours: replace", "one value of the column", "mechanism"):
        assert word in explained
    assert "anybody at all is exposed" in explained
    bench.post("/plan", **PLAN | {"name": "april", "guarantee": "indistinguishable"})
    other = words(bench.text("/approve", plan="logs/april.plan.json"))
    assert "for each person alone" in other
    assert "anybody at all is exposed" not in other


def test_a_plan_that_was_changed_since_is_not_approved(bench: Workbench, logs: Path) -> None:
    bench.post("/approve", **approval(bench))
    path = logs / "march.plan.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found))  # the same plan, in other bytes
    assert bench.post("/publish", **publishing()).status_code == 400
    path.write_text(json.dumps(found | {"in_words": "<script>alert(1)</script>"}))
    refused = bench.get("/approve", params={"plan": NAME})
    assert refused.status_code == 400
    assert "<script>alert" not in refused.text


def test_a_returned_plan_is_not_published(bench: Workbench) -> None:
    reason = "<b>Too much</b>"
    answer = bench.post("/approve", **approval(bench, decision="returned", reason=reason))
    assert answer.status_code == 303
    page = bench.text("/approve", plan=NAME)
    assert "Returned by Ito" in words(page)
    assert reason not in page
    assert bench.post("/approve", **approval(bench)).status_code == 400
    assert bench.post("/publish", **publishing()).status_code == 400


@pytest.mark.extended
def test_a_ledger_with_approvers_asks_for_a_signature(logs: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text().split()
    without, signing = Workbench(logs), Workbench(logs, key=key)
    without.post("/ledger", **LEDGER)
    ledger = Ledger.open(logs / "zealous-ledger.sqlite")
    ledger.set_approvers(f"ito@example.org {public[0]} {public[1]}\n")
    without.post("/plan", **PLAN)
    refused = without.post("/approve", **approval(without))
    assert refused.status_code == 400
    assert "asks for a signature" in words(refused.text)
    assert signing.post("/approve", **approval(signing)).status_code == 303
    assert (logs / "march.plan.json.sig").is_file()
    signing.post("/publish", **publishing())
    assert "Published." in finished(signing)
    (entry,) = ledger.history()
    assert entry.approver == "ito@example.org"


def test_a_ledger_that_was_changed_is_not_trusted(bench: Workbench, logs: Path) -> None:
    (logs / "zealous-ledger.sqlite").write_bytes(b"no ledger")
    found = bench.get("/ledger")
    assert found.status_code == 400
    assert "hold together" not in found.text


def test_a_ledger_begins_with_caps(logs: Path) -> None:
    bench = Workbench(logs)
    assert "There is no ledger in the folders yet" in words(bench.text("/ledger"))
    for wrong in ({"dataset": " "}, {"epsilon": "x"}, {"delta": "-1"}, {"folder": "logs/.."}):
        assert bench.post("/ledger", **LEDGER | wrong).status_code in (400, 404)
    assert not (logs / "zealous-ledger.sqlite").exists()
    bench.post("/ledger", **LEDGER | {"dataset": "<i>tea</i>"})
    page = bench.text("/ledger")
    assert "<i>tea</i>" not in page
    assert "0 of 30" in words(page)
    assert bench.post("/ledger", **LEDGER).status_code == 400  # one is there
