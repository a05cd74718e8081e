"""The page that somebody signs: what it says, how it is printed, and that nothing runs in it."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from bundles import GOAL, TRACKED, made
from records import changed

from zealous.items import columns, queries
from zealous.ledger import Ledger
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.privacy.levels import percent, suspicion_after
from zealous.privacy.promise import factor
from zealous.release.account import Account
from zealous.release.bundle import Release, read_release
from zealous.release.text.statement import COMPARATORS, one_in, statement
from zealous.verification.review import review
from zealous.verification.verify import verify

PDP = ProbabilisticDP(epsilon=2, delta="0.001", users=500_000)
DP = Indistinguishability(epsilon="0.5", delta="1e-6", users=20_000, neighbors="add-remove")


class Text(HTMLParser):
    """The visible text of a page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []
        self.feed(page)
        self.text = " ".join(" ".join(self.parts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] and self.tags[-1][0] == "style":
            return
        self.parts.append(data)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return made(tmp_path_factory.mktemp("log"), PDP)


def read(release: Release, **changes: Any) -> str:
    return Text(statement(changed(release.record, **changes))).text


def claim(goal: Guarantee, tmp_path: Path, **changes: Any) -> str:
    return Text(statement(made(tmp_path, goal, **changes).record)).text


# What it says


def test_what_was_released(base: Release) -> None:
    said = read(base, period="2026-03", id="march")
    assert "Release march" in said
    assert "Period 2026-03. Protected: one user." in said
    for part in base.record.plan:
        row = f"{part.kind} 0 {part.items_per_user} {part.epsilon:g} {part.delta:g}"
        assert row in said
    assert "Declared public upper bound: 500,000 users." in said


def test_odds_are_concrete(base: Release) -> None:
    said = read(base)
    assert (
        f"at most {factor(2)} : 1 , whatever else that person knows, except with probability delta"
        in said
    )
    for prior in (0.01, 0.1, 0.5):
        after = percent(suspicion_after(2, prior))
        before = percent(prior)
        assert f"{before} can rise to at most {after}" in said.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [("0.5", "bound is strong"), ("2", "change markedly"), ("8", "bound is weak")],
)
def test_a_large_epsilon_is_called_weak(epsilon: str, word: str, tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=epsilon, delta="0.001", users=1000)
    said = claim(goal, tmp_path)
    assert word in said
    others = {"bound is strong", "change markedly", "bound is weak"} - {word}
    assert not any(other in said for other in others)


def test_between_two_histories_add_remove_protects_half_as_well(tmp_path: Path) -> None:
    said = claim(DP, tmp_path)
    assert (
        f"Between two guesses about the data of one user they are at most {factor(1)} : 1" in said
    )
    assert "apart from delta (below)" in said


def test_delta_under_each_definition(base: Release, tmp_path: Path) -> None:
    assert "0.001 (1 in 1,000) limits the probability, over the noise, that this bound" in read(
        base
    )
    said = claim(DP, tmp_path)
    assert "1e-6 (1 in 1,000,000) is for one user" in said
    assert "up to 0.02 of them on average" in said
    undeclared = claim(Indistinguishability(epsilon=1, delta="1e-6"), tmp_path)
    assert "is not declared: multiply delta by it" in undeclared


@pytest.mark.parametrize(
    ("unit", "one", "many"),
    [
        ("user-day", "one user's day", "user-days"),
        ("session", "one session", "sessions"),
        ("query", "one query of one user", "user-queries"),
    ],
)
def test_the_unit_is_named(unit: Any, one: str, many: str, tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=1, delta="0.001", users=9_000, unit=unit)
    release = made(tmp_path, goal, [queries(1)])
    said = read(release)
    assert f"Protected: {one}" in said
    assert f"Counts are of {many}" in said
    assert f"Declared public upper bound: 9,000 {many}." in said
    assert "A user as a whole: the guarantee is for" in said
    target = release.write(tmp_path / "out")
    readme = (target / "README.md").read_text()
    assert f"The number of *{many}* that hold the item" in readme
    verdict = {check.name: check.detail for check in verify(target)}
    for told in (said, readme, verdict["guarantee"], "; ".join(release.record.assumptions)):
        assert ("the person is not" in told or "as a person" in told) == (unit == "query")


def test_both_accounts_and_their_caps(base: Release) -> None:
    said = read(base, ledger=TRACKED)
    assert f"in 2026-03, the most charged period 1 2 none 0.001 none {factor(2)} : 1" in said
    assert f"over all releases 7 14 24 0.007 0.012 {factor(14)} : 1" in said
    assert "Entry 7 of the ledger 5f0e2c8a9b1d4e67" in said
    assert "not tracked" not in said
    half = {**TRACKED, "caps": {"all": {"epsilon": None, "delta": 0.5}, "period": None}}
    assert "over all releases 7 14 none 0.007 0.5" in read(base, ledger=half)


def spent(period: Any = TRACKED["accounts"]["period"], **changes: Any) -> Any:
    return {**TRACKED, **changes, "accounts": {**TRACKED["accounts"], "period": period}}


def test_the_account_of_one_period_says_which(base: Release) -> None:
    once = TRACKED["accounts"]["period"]
    assert "in 2026-03, the period of this release 1 2" in read(
        base, ledger=TRACKED, period="2026-03"
    )
    assert "in any period 1 2" in read(base, ledger=spent({**once, "within": "all"}))


def test_what_was_spent_is_for_the_ledger_s_unit_and_neighbours(
    base: Release, tmp_path: Path
) -> None:
    said = read(base, ledger=TRACKED)
    assert "Privacy budget spent, for one user account" in said
    assert "The ledger accounts" not in said
    said = read(base, ledger=spent(unit="user-day"))
    assert "Privacy budget spent, for one user's day account" in said
    assert "The ledger accounts for one user's day; this release protects one user" in said
    assert "There it counts as" not in said
    said = read(made(tmp_path, DP), ledger=TRACKED)
    assert "Privacy budget spent, for one user (replace) account" in said
    assert "The ledger accounts for replace neighbours, this release is for add-remove." in said
    assert "There it counts as what it costs one whose history changes." in said


def test_a_child_promises_nothing_for_anybody_at_all(tmp_path: Path) -> None:
    account = Account(ledger=tmp_path / "ledger.sqlite")
    made(tmp_path, account=account).write(tmp_path / "parent")
    review(tmp_path / "parent", flag_pii=True, output=tmp_path / "child")
    anybody = "the probability that the bound fails for anybody at all"
    assert anybody in Text((tmp_path / "parent" / "statement.html").read_text()).text
    assert anybody not in Text((tmp_path / "child" / "statement.html").read_text()).text


def test_an_untracked_release_is_stamped_everywhere(base: Release, tmp_path: Path) -> None:
    assert "budget not tracked" in read(base)
    target = base.write(tmp_path / "out")
    for name in ("README.md", "statement.html", "registry.yaml"):
        assert "budget not tracked" in (target / name).read_text()


def test_assumptions_choice_and_what_is_not_protected(base: Release) -> None:
    said = read(base)
    assert all(each in said for each in base.record.assumptions)
    assert "The parameters were chosen in a way that the publisher did not state" in said
    assert "Frequent items can be harmful too" in said
    assert "What the parameters themselves reveal" in said
    assert "What the parameters themselves reveal" not in read(base, parameters_from="public-facts")


def test_comparators_have_units_and_sources(base: Release) -> None:
    said = read(base)
    assert all(all(field in said for field in each) for each in COMPARATORS)
    assert "one user's day" in COMPARATORS[0].unit


def test_hashes_of_the_tables_and_of_no_paper(base: Release, tmp_path: Path) -> None:
    target = base.write(tmp_path / "out")
    record = read_release(target).record
    page = (target / "statement.html").read_text()
    for name, digest in record.sha256.items():
        assert (digest in page) == name.endswith((".csv", ".parquet"))


def test_a_child_says_what_it_keeps(tmp_path: Path) -> None:
    made(tmp_path).write(tmp_path / "parent")
    child = review(tmp_path / "parent", flag_pii=True, output=tmp_path / "child")
    said = Text((tmp_path / "child" / "statement.html").read_text()).text
    (told,) = child.release.record.reviews()
    gone = sum(told.removed.values())
    assert gone
    assert f"{gone} rows were removed. It keeps the (epsilon, delta)-indistinguishability" in said
    assert "and not probabilistic differential privacy" in said
    assert told.parent in said


# Numbers


def test_figures_are_rounded_up() -> None:
    for epsilon in (0.001, 0.3, 1, 2.5, 7, 15, 20):
        assert float(factor(epsilon).replace(",", "")) >= math.exp(epsilon)
        assert float(factor(epsilon).replace(",", "")) <= 1.011 * math.exp(epsilon)
    assert int(factor(700).removeprefix("10^")) >= 700 / math.log(10)
    for share in (0.01, 0.3333, 0.5, 0.99, 0.9981):
        assert float(percent(share).split(" ")[0]) >= 100 * share - 1e-9
    assert one_in(Fraction(2, 3)) == "1 in 1"


def test_an_absurd_epsilon_still_prints(tmp_path: Path) -> None:
    said = claim(ProbabilisticDP(epsilon=2000, delta="1e-80", users=1000), tmp_path)
    assert "10^869 : 1" in said
    assert "1 in 10^80" in said
    assert "nearly 100" in said


# A page that can be trusted


def test_nothing_runs_and_nothing_is_fetched(tmp_path: Path) -> None:
    kind = columns("query", items_per_user=3)
    release = made(tmp_path, PDP, [kind])
    evil = "<script>alert(1)</script>\"'&"
    stamp = {**TRACKED, "dataset": evil, "ledger": evil}
    page = statement(changed(release.record, id=evil, period=evil, ledger=stamp))
    assert "<script" not in page
    assert evil in Text(page).text
    tags = Text(page).tags
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object", "form"}
    for _, attributes in tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert not {"src", "href"} & attributes.keys()
    assert not re.search(r"url\(|@import|https?:", page)


def replaced(goal: Guarantee) -> Guarantee:
    return ProbabilisticDP(
        epsilon=goal.epsilon, delta=goal.delta, users=goal.users, neighbors="add-remove"
    )


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.skipif(CHROMIUM is None, reason="NO CHROMIUM: nobody looked how it is printed")
def test_it_is_two_printed_pages_or_three_after_a_review(tmp_path: Path) -> None:
    file, goal = tmp_path / "ledger.sqlite", replaced(GOAL)
    Ledger.open(file, create=True, dataset="search log", unit="user-day", neighbors="replace")
    account = Account(ledger=file, people="the shop's")
    release = made(tmp_path, goal, account=account, period="2026-03", approved_plan="cd" * 32)
    release.write(tmp_path / "parent")
    (tmp_path / "terms-that-must-go.txt").write_text("tea\nshoes\n")
    block, child = tmp_path / "terms-that-must-go.txt", tmp_path / "child"
    review(tmp_path / "parent", block=block, allow=block, flag_pii=True, output=child)
    made(tmp_path, DP).write(tmp_path / "plain")
    for name in ("parent", "child", "plain"):
        pdf = tmp_path / f"{name}.pdf"
        subprocess.run(
            [
                str(CHROMIUM),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-pdf-header-footer",
                f"--user-data-dir={tmp_path / 'profile'}",
                f"--print-to-pdf={pdf}",
                (tmp_path / name / "statement.html").as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=600,
        )
        assert len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 3, name
