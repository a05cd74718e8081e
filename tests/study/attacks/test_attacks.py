"""All attacks on one log: the table, the picture, and the command that gives both."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from conftest import Run
from paths import DOCS

from zealous.logs.log import Log, read_log
from zealous.study.anonymity import METHODS
from zealous.study.attacks import AttackSettings, as_object, attacks, run_attacks
from zealous.study.attacks.active import ActiveAttack
from zealous.study.attacks.attacks import ZEALOUS
from zealous.study.attacks.rate import Rate
from zealous.study.report.attack_figure import draw_attacks
from zealous.study.report.style import format_percent, render_svg
from zealous.synthetic import generate

USERS = 400
SETTINGS = AttackSettings(k=5, victims=20, sample=100, seed=3)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("logs") / "log.parquet"
    generate(made, users=USERS, seed=5)
    return made


@pytest.fixture(scope="module")
def found(path: Path) -> dict[str, Any]:
    return as_object(run_attacks(read_log(path), SETTINGS, synthetic=True))


def summary(found: dict[str, Any], method: str) -> dict[str, float | None]:
    return {row["method"]: row["summary"] for row in found["methods"]}[method]


@pytest.mark.extended
def test_methods_down_attacks_across(found: dict[str, Any]) -> None:
    assert [row["method"] for row in found["methods"]] == [*METHODS, ZEALOUS]
    assert summary(found, "pseudonym") | {"active": 1, "picked_out": None} == {
        "query_seen": 1,
        "word_seen": 1,
        "active": 1,
        "picked_out": None,
        "personal": 1,
        "read_back": None,
    }
    assert summary(found, "k-query")["query_seen"] == 0
    assert summary(found, "k-query")["active"] == 1
    assert 0.3 < (summary(found, "scrub")["personal"] or 0) < 1
    assert summary(found, "token-hash")["personal"] == 0
    assert summary(found, "token-hash")["read_back"] is not None
    assert summary(found, "k-keyword")["picked_out"] is None
    assert summary(found, ZEALOUS)["query_seen"] == 0


@pytest.mark.extended
def test_zealous_is_within_its_bound(found: dict[str, Any]) -> None:
    tried = found["methods"][-1]["active"]
    bound = (math.e + 0.001) / (1 + math.e)
    assert [each["bound"] for each in tried] == pytest.approx([bound] * 2)
    assert tried[0]["accounts"] == 4
    assert tried[1]["accounts"] > 30
    assert tried[0]["share"] == 0.5, "with k - 1 accounts nothing is shown, and half are heads"
    assert all(each["low"] <= bound for each in tried)


@pytest.mark.extended
def test_it_is_drawn_from_plain_values(found: dict[str, Any]) -> None:
    text = render_svg(lambda: draw_attacks(json.loads(json.dumps(found))))
    ElementTree.fromstring(text)
    assert text == render_svg(lambda: draw_attacks(found))


@pytest.mark.extended
def test_a_log_of_ones_own(path: Path, found: dict[str, Any]) -> None:
    done = run_attacks(read_log(path), SETTINGS, methods=["scrub", "scrub"])
    assert [row.method for row in done.rows] == ["scrub", ZEALOUS]
    assert done.rows[0].personal is None, "nobody knows which queries of a real log are personal"
    again = as_object(done)["methods"][0]
    first = {row["method"]: row for row in found["methods"]}["scrub"]
    for name in ("seen", "picked_out"):  # who is attacked is fixed by the seed
        assert again[name] == first[name]


@pytest.mark.extended
def test_the_command(path: Path, run: Run, tmp_path: Path) -> None:
    given = ["--methods", "k-query,pseudonym", "-k", 4, "--victims", 10]
    ran = run("study", "attack", path, *given, "-o", "out")
    assert ran.code == 0, ran.stderr
    assert "by method and attack" in ran.stdout
    assert "INTERNAL" not in ran.stdout, "the log is synthetic"
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"attacks.json", "attacks.svg"}
    assert not list((tmp_path / "tmp").glob("*")), "nothing of the log is left behind"
    written = json.loads((tmp_path / "out" / "attacks.json").read_text())
    assert [row["method"] for row in written["methods"]] == ["k-query", "pseudonym", ZEALOUS]
    assert run("study", "attack", path, *given, "-o", "out").code == 1


@pytest.mark.extended
def test_the_command_makes_a_log_where_none_is_given(run: Run) -> None:
    ran = run("study", "attack", "--users", 1000, "--methods", "k-query", "--victims", 10, "--json")
    assert ran.code == 0, ran.stderr
    assert json.loads(ran.stdout)["synthetic"] is True
    assert "generating a synthetic one of 1,000 users" in ran.stderr


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--methods", "nonsense"], "--methods takes"),
        (["--methods", "k-query", "-k", 1], "k must be at least 2"),
        (["--methods", "k-query", "-k", 4000], "larger than the number of users"),
        (["--methods", "pseudonym", "-k", 1], "k must be at least 2"),
        (["--methods", " ,"], "--methods takes"),
        (["--epsilon", "0"], "epsilon"),
        (["--seed", 10**23], "seed"),
        (["--items-per-user", 0], "items_per_user"),
        (["--session", "s"], "--session"),
        (["--reference", "absent.tsv"], "absent.tsv"),
    ],
)
def test_wrong_usage(given: list[object], why: str, path: Path, run: Run, tmp_path: Path) -> None:
    ran = run("study", "attack", path, *given, "-o", "out")
    assert ran.code in (1, 2)
    assert why in ran.stderr
    assert not (tmp_path / "out").exists()


def test_the_page_tells_what_the_command_found() -> None:
    found = json.loads((DOCS / "study" / "attacks.json").read_text())
    page = (DOCS / "study" / "attacks.md").read_text()
    for row in found["methods"]:
        cells = [row["method"], *map(format_percent, row["summary"].values())]
        assert f"| {' | '.join(cells)} |" in page
    assert (found["k"], found["zealous"]["epsilon"], found["synthetic"]) == (10, 1, True)
    scrub, tokens, attacked = (found["methods"][place] for place in (1, 2, -1))
    assert f"{format_percent(scrub['summary']['personal'])} of the people" in page
    top = next(each for each in tokens["aligned"] if each["top"] == 1000 and each["share"] > 0.1)
    assert f"{format_percent(top['share'])} of the thousand" in page
    assert f"{format_percent(tokens['summary']['read_back'])} of all words typed" in page
    guessing = [row["active"][1]["share"] for row in found["methods"] if row["active"][1:]][:2]
    one, other = (f"{100 * share:.0f}" for share in guessing)
    assert f"but the guess he is right in {one} and {other} of 100" in " ".join(page.split())
    assert f"was right in {100 * attacked['summary']['active']:.1f} of 100" in page
    bound = math.ceil(1000 * attacked["active"][0]["bound"]) / 10
    assert f"better than {bound}**" in page


SMALL = {
    # what there is nothing to guess in, or nobody to tell apart
    "one user": "a,2026-03-01 10:00:00,green tea\n",
    "nothing rare": "".join(f"{u},2026-03-01 10:00:00,green tea\n" for u in "abcd"),
    "no first query is rare": "".join(
        f"{u},2026-03-01 10:00:00,green tea\n{u},2026-03-01 11:00:00,{u * 3} one\n" for u in "abcd"
    ),
}


@pytest.mark.extended
@pytest.mark.parametrize(
    "name",
    ["one user", "nothing rare", pytest.param("no first query is rare", marks=pytest.mark.soak)],
)
def test_what_cannot_be_measured_is_a_dash(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,time,query\n" + SMALL[name])
    methods = "pseudonym,token-hash" + (",k-query" if name != "one user" else "")
    ran = run("study", "attack", "log.csv", "-k", 2, "--methods", methods, "-o", "out")
    assert ran.code == 0, ran.stderr
    (written,) = (tmp_path / "out").glob("*.json")
    rows = {row["method"]: row for row in json.loads(written.read_text())["methods"]}
    assert "–" in ran.stdout
    if name == "one user":
        assert rows["token-hash"]["aligned"] is None
    if name == "nothing rare":
        assert rows["pseudonym"]["summary"]["query_seen"] is None
    if name != "one user":
        assert rows[ZEALOUS]["summary"]["active"] is None


@pytest.mark.soak
@pytest.mark.real
def test_a_real_log(real: Path, run: Run) -> None:
    log = real / "excite-small.log"
    ran = run(
        "study", "attack", log, "--format", "excite", "-k", 3, "--methods", "k-query", "--json"
    )
    assert ran.code == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["synthetic"] is False
    assert found["methods"][0]["summary"]["active"] == 1


def test_all_methods_guess_about_the_same_people(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def attacked(log: Log, what: object, guesses: pa.Table, **_: object) -> ActiveAttack:
        seen.append(guesses)
        return ActiveAttack(
            name="any", rate=Rate(successes=1, trials=2), accounts=1, knows="nothing"
        )

    for name in ("run_active_attack", "run_active_attack_on_zealous"):
        monkeypatch.setattr(attacks, name, attacked)
    run_attacks(read_log(path), SETTINGS, methods=["pseudonym", "k-query"])
    assert len(seen) == 4  # two of them for ZEALOUS
    assert seen[0].num_rows == SETTINGS.victims
    assert all(each.equals(seen[0]) for each in seen)
