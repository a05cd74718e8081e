"""A review removes what it should, keeps what it may, and never touches the parent."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from bundles import GOAL, made
from click.testing import CliRunner

from zealous.cli.review import review as command
from zealous.errors import Refused, ReleaseError, UsageError
from zealous.items import clicks, columns, queries
from zealous.items.items_per_user import ItemsPerUser
from zealous.items.personal import has_iban_digits, has_luhn_digit, looks_personal
from zealous.logs.log import read_log
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Indistinguishability, format_number
from zealous.record.codec import to_json
from zealous.release.bundle import Release, read_release
from zealous.release.publish import publish
from zealous.release.table import Table
from zealous.verification.review import (
    ReviewResult,
    TermList,
    _filter_table,
    _flagging_rule,
    review,
    split_words,
)
from zealous.verification.verify import Verdict, verify


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parent")
    return made(folder).write(folder / "release")


def listed(folder: Path, *lines: str, name: str = "list.txt") -> Path:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def items(release: Release, kind: str) -> set[Any]:
    rows = [tuple(row.values())[:-1] for row in release[kind].arrow.to_pylist()]
    return {row[0] if len(row) == 1 else row for row in rows}


def snapshot(path: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in path.iterdir()}


# Which rows go


def test_a_blocked_term_goes_from_every_table(parent: Path, tmp_path: Path) -> None:
    found = review(parent, block=listed(tmp_path, "# colours", "", "ＧＲＥＥＮ"))
    before = read_release(parent)
    assert items(before, "keywords") - items(found.release, "keywords") == {"green"}
    assert items(before, "queries") - items(found.release, "queries") == {"green tea"}
    assert items(before, "clicks") - items(found.release, "clicks") == {
        "http://shop.example/green?q=1"
    }
    assert items(before, "query-pairs") - items(found.release, "query-pairs") == {
        ("green tea", "shoes")
    }
    assert {flag.why for flag in found.flagged} == {"on the block list"}


@pytest.mark.parametrize(
    ("term", "goes"),
    [
        ("green tea", True),
        ("Green-TEA!", True),
        ("tea green", False),
        ("gree", False),
        ("green t", False),
        ("een", False),
        ("tea", True),
    ],
)
def test_terms_are_whole_words_in_order(
    term: str, goes: bool, parent: Path, tmp_path: Path
) -> None:
    found = review(parent, block=listed(tmp_path, term))
    assert ("green tea" not in items(found.release, "queries")) == goes


def test_words_of_links_are_found_encoded_or_not(parent: Path, tmp_path: Path) -> None:
    folder = tmp_path
    release = made(folder, kinds=[clicks(3)])
    found = review(
        release.write(folder / "r"), block=listed(folder, "anna kern", "elm", name="names")
    )
    assert items(found.release, "clicks") == {
        f"http://shop.example/{path}?q=1" for path in ("green", "shoes", "12", "+44")
    }
    rows = {"http://x.example/anna%20kern", "http://x.example/?q=anna+kern"}
    caught = _flagging_rule(TermList(values=frozenset({("anna", "kern")}), description=""), False)
    assert all(caught((row,)) for row in rows)
    assert not caught(("http://x.example/annakern",))


def test_personal_data_goes_unless_allowed(parent: Path, tmp_path: Path) -> None:
    found = review(parent, flag_pii=True)
    assert items(found.release, "queries") == {"green tea", "shoes"}
    assert {flag.why for flag in found.flagged} == {
        "e-mail address",
        "street address",
        "telephone number",
    }
    allow = listed(tmp_path, "12 ELM Street", "shoes\t12 elm street")
    kept = review(parent, flag_pii=True, allow=allow)
    assert items(kept.release, "queries") == {"green tea", "shoes", "12 elm street"}
    assert ("shoes", "12 elm street") in items(kept.release, "query-pairs")
    assert {flag.item for flag in kept.flagged if flag.kept} == {
        ("12 elm street",),
        ("shoes", "12 elm street"),
    }


def test_allowed_stays_though_blocked(parent: Path, tmp_path: Path) -> None:
    block = listed(tmp_path, "tea", name="block")
    allow = listed(tmp_path, "green tea", name="allow")
    found = review(parent, block=block, allow=allow)
    assert "green tea" in items(found.release, "queries")
    assert "tea" not in items(found.release, "keywords")
    assert ("green tea", "shoes") not in items(found.release, "query-pairs")


def rows(release: Release, kind: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in release[kind].arrow.to_pylist()]


def test_the_most_frequent_rows_of_each_table_stay(parent: Path, tmp_path: Path) -> None:
    whole = read_release(parent)
    found = review(parent, top=2, output=tmp_path / "child")
    assert not found.flagged
    for kind, before in found.before.items():
        assert rows(found.release, kind) == rows(whole, kind)[:2]
        assert before > 2 or rows(found.release, kind) == rows(whole, kind)
    assert repr(found).startswith(f"ReviewResult({sum(found.before.values()) - 8} of")
    verdict = verify(tmp_path / "child", parent=parent)
    assert verdict.ok
    assert found.release.record.guarantee.definition == "indistinguishable"
    assert whole.record.guarantee.definition == "probabilistic"
    assert "the 2 most frequent rows" in (tmp_path / "child" / "README.md").read_text()


def test_of_equal_counts_the_first_rows_of_the_table_stay() -> None:
    table = Table(arrow=pa.table({"query": ["a", "b", "c", "d"], "count": [9, 7, 7, 7]}))
    _, left = _filter_table("queries", table, lambda _: None, None, 2)
    assert left.arrow["query"].to_pylist() == ["a", "b"]


def test_rows_that_other_rules_remove_make_room_and_allowed_ones_stay(
    parent: Path, tmp_path: Path
) -> None:
    whole = rows(read_release(parent), "queries")
    first, last = whole[0][0], whole[-1][0]
    remove = listed(tmp_path, first, name="remove")
    found = review(parent, remove=remove, top=1)
    assert rows(found.release, "queries") == whole[1:2]
    allow = listed(tmp_path, last, name="allow")
    found = review(parent, remove=remove, allow=allow, top=1)
    assert rows(found.release, "queries") == [whole[1], whole[-1]]


def test_a_release_with_no_more_rows_than_that_keeps_its_whole_guarantee(parent: Path) -> None:
    found = review(parent, top=1000)
    assert found.release.record.guarantee == read_release(parent).record.guarantee
    with pytest.raises(UsageError, match="top must be a whole number of at least 1"):
        review(parent, top=0)


@pytest.mark.parametrize("top", [1, 3])
def test_what_follows_a_look_is_verified_when_both_tables_are_cut(top: int, tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=4, delta="1e-6", neighbors="add-remove")
    kind = queries(3)
    planned = plan(goal, [ItemsPerUser(of=kind), kind], mechanism="auto")
    pairs = [(f"u{user}", f"q{n}") for user in range(100) for n in range(user % 5 + 1)]
    log = read_log(pa.table(dict(zip(("user", "query"), zip(*pairs, strict=True), strict=True))))
    target = publish(log, planned, account=None).write(tmp_path / "release")
    found = review(target, top=top, output=tmp_path / "child")
    assert len(found.release["queries"]) == top < found.before["queries"]
    assert verify(tmp_path / "child", parent=target).ok


def test_an_item_that_begins_with_the_comment_sign(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,tag\n" + "".join(f"{n},#tea 5551234\n" for n in range(60)))
    kind = columns("tag", items_per_user=1)
    target = publish(read_log(path), GOAL, [kind], account=None).write(tmp_path / "r")
    gone = review(target, flag_pii=True)
    assert not len(gone.release["columns:tag"])
    allow = listed(tmp_path, "# a comment", r"\#tea 5551234")
    assert len(review(target, flag_pii=True, allow=allow).release["columns:tag"]) == 1


# What looks personal


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("anna.kern@mail.example", "e-mail address"),
        ("write to ANNA＠mail.example please", "e-mail address"),
        ("anna (at) mail.example", "e-mail address"),
        ("anna at gmail dot com", "e-mail address"),
        ("http://x.example/?to=anna%40mail.example", "e-mail address"),
        ("4111 1111 1111 1111", "payment card"),
        ("card 5500-0000-0000-0004", "payment card"),
        ("gb82 west 1234 5698 7654 32", "bank account"),
        ("DE89370400440532013000", "bank account"),
        ("123-45-6789", "national number"),
        ("ab 12 34 56 c", "national number"),
        ("192.168.0.1", "IP address"),
        ("http://10.1.2.3:8080/x", "IP address"),
        ("2001:db8::ff00:42:8329", "IP address"),
        ("12 elm street", "street address"),
        ("221b baker st, london", "street address"),
        ("hauptstraße 12", "street address"),
        ("10 rue lafayette paris", "street address"),
        ("via roma 12", "street address"),
        ("31/12/1975", "full date, perhaps of birth"),
        ("anna born 1975", "full date, perhaps of birth"),
        ("550e8400-e29b-41d4-a716-446655440000", "identifier"),
        ("+44 20 7946 0958", "telephone number"),
        ("(555) 123-4567", "telephone number"),
        ("555-1234", "telephone number"),
        ("http://x.example/a?sessionid=abc", "link with a personal token"),
        ("customer 12345678", "long number"),
        ("٠١٢٣٤٥٦٧", "long number"),
        ("x" * 5000, "very long text"),
    ],
)
def test_what_looks_personal(text: str, what: str) -> None:
    assert looks_personal(text) == what


@pytest.mark.parametrize(
    "text",
    [
        "green tea",
        "windows 11",
        "2024-2025 tax forms",
        "9/11",
        "route 66",
        "look at amazon.com",
        "iphone 15 pro max",
        "50 cent dr dre",
        "world cup 2026",
        "http://shop.example/tea?q=1",
        "12:30:45",
        "version 10.0.19045",
        "std::vector",
        "1984",
        "100,000 euros",
        "c++ & c#",
        "鞋",
    ],
)
def test_what_does_not(text: str) -> None:
    assert looks_personal(text) is None


def test_check_digits() -> None:
    card = "4111111111111111"
    account = "gb82west12345698765432"
    assert has_luhn_digit(card)
    assert has_iban_digits(account)
    for place in range(len(card)):
        wrong = card[:place] + str((int(card[place]) + 1) % 10) + card[place + 1 :]
        assert not has_luhn_digit(wrong)
    for place in range(8, len(account)):
        wrong = account[:place] + str((int(account[place]) + 1) % 10) + account[place + 1 :]
        assert not has_iban_digits(wrong)


def test_words_are_those_of_keywords() -> None:
    assert split_words("Straße नमस्ते 東京-2020, e\u0301t\u00e9") == [
        "strasse",
        "नमस्ते",
        "東京",
        "2020",
        "été",
    ]


# The child


def child(parent: Path, tmp_path: Path) -> tuple[Path, ReviewResult]:
    block = listed(tmp_path, "tea", "secret project", name="terms.txt")
    found = review(parent, block=block, flag_pii=True, output=tmp_path / "child")
    assert found.directory == tmp_path / "child"
    return tmp_path / "child", found


def unchecked(verdict: Verdict) -> set[str]:
    """What was not compared with anything; the rest passed."""
    assert verdict.ok
    return {check.name for check in verdict if not check.ok}


def test_the_child_is_a_release_of_its_own(parent: Path, tmp_path: Path) -> None:
    target, found = child(parent, tmp_path)
    assert unchecked(verify(target)) == {"review"}
    about, old = (to_json(read_release(each).record) for each in (target, parent))
    assert about["guarantee"]["definition"] == "indistinguishable"
    assert about["guarantee"]["exact"] == old["guarantee"]["exact"]
    assert about["guarantee"]["theorem"] == "docs/proofs/composition.md"
    composed = {"theorem": "docs/proofs/composition.md"}
    assert old["also_guaranteed"]["definition"] == "indistinguishable"
    assert about["also_guaranteed"] == {**old["also_guaranteed"], **composed}
    assert about["id"] != old["id"]
    for kept in (
        "plan",
        "ledger",
        "selection_key",
        "period",
        "parameters_from",
        "cleaning",
        "columns",
    ):
        assert about[kept] == old[kept]
    assert old["guarantee"]["definition"] == "probabilistic"
    for kind, before in found.before.items():
        assert about["review"]["removed"][kind] == before - about["files"][kind]["rows"]
    assert "and not probabilistic differential privacy" in (target / "README.md").read_text()


def test_the_child_names_its_parent_and_its_rules_and_no_list(parent: Path, tmp_path: Path) -> None:
    target, found = child(parent, tmp_path)
    told = found.release.record.review
    assert told is not None
    content = (parent / "release.json").read_bytes()
    assert told.parent == hashlib.sha256(content).hexdigest()
    assert told.parent_id == json.loads(content)["id"]
    digest = hashlib.sha256((tmp_path / "terms.txt").read_bytes()).hexdigest().encode()
    assert any(rule.endswith("terms.txt (2 terms)") for rule in told.rules)
    assert any("personal data" in rule for rule in told.rules)
    for path in target.iterdir():
        assert b"secret project" not in path.read_bytes()
        assert digest not in path.read_bytes(), "a short list can be guessed, and then confirmed"
        assert str(tmp_path).encode() not in path.read_bytes()


def test_an_item_that_no_table_holds_is_told(parent: Path, tmp_path: Path) -> None:
    there, *_ = items(read_release(parent), "queries")
    said: list[str] = []
    there_alone = listed(tmp_path, there, name="there.txt")
    review(parent, remove=there_alone, say=said.append)
    assert not any("warning" in text for text in said)
    review(parent, remove=listed(tmp_path, there, "wether"), say=said.append)
    (told,) = (text for text in said if "warning" in text)
    assert "1 of the list list.txt (2 items) stands in no table" in told


def test_the_parent_is_left_as_it_was(parent: Path, tmp_path: Path) -> None:
    before = snapshot(parent)
    child(parent, tmp_path)
    assert snapshot(parent) == before


def test_a_child_of_a_child(parent: Path, tmp_path: Path) -> None:
    target, first = child(parent, tmp_path)
    allow = listed(tmp_path, "nothing of it", name="allow.txt")
    block = listed(tmp_path, "shoes", name="more.txt")
    second = review(target, block=block, allow=allow, output=tmp_path / "grandchild")
    last, before = second.release.record, first.release.record
    assert unchecked(verify(tmp_path / "grandchild")) == {"review"}
    assert last.reviews() == [before.review, last.review]
    assert last.assumptions == before.assumptions
    assert last.also_guaranteed == before.also_guaranteed
    readme = (tmp_path / "grandchild" / "README.md").read_text()
    assert "terms.txt (2 terms" in readme
    assert "more.txt (1 term)" in readme
    gone = sum(sum(each.removed.values()) for each in last.reviews())
    assert f"{gone} rows were removed" in readme
    assert "all of its rows were removed in the review" in readme


def test_a_review_that_removes_nothing_keeps_all_of_the_release(
    parent: Path, tmp_path: Path
) -> None:
    child = review(parent, block=listed(tmp_path, "zebra"), output=tmp_path / "child").release
    above = read_release(parent).record
    assert child.record.guarantee == above.guarantee
    assert (child.record.also_guaranteed, child.record.assumptions) == (
        above.also_guaranteed,
        above.assumptions,
    )
    assert "removed no row" in (tmp_path / "child" / "README.md").read_text()
    assert all(check.ok for check in verify(tmp_path / "child", parent=parent))


def test_a_child_leads_with_what_its_parameters_give(parent: Path, tmp_path: Path) -> None:
    found = review(parent, flag_pii=True, output=tmp_path / "child")
    record = found.release.record
    sharper = record.also_guaranteed
    assert sharper is not None
    assert (sharper.definition, record.guarantee.definition) == ("indistinguishable",) * 2
    assert sharper.delta < record.guarantee.delta
    stated = f"delta = {format_number(sharper.delta)}"
    for name in ("README.md", "statement.html"):
        text = " ".join((tmp_path / "child" / name).read_text().split())
        assert stated in text
        assert f"delta = {format_number(record.guarantee.delta)}" not in text
    assert all(check.ok is not False for check in verify(tmp_path / "child", parent=parent))


def test_an_indistinguishable_parent_keeps_what_it_has(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon=400, delta="0.001", users=100, neighbors="add-remove")
    release = made(tmp_path, goal, [queries(3)])
    target = release.write(tmp_path / "parent")
    child = review(target, flag_pii=True, output=tmp_path / "child").release
    assert unchecked(verify(tmp_path / "child")) == {"review"}
    other = release.record.also_guaranteed
    assert other is not None
    assert other.definition == "probabilistic"
    assert child.record.also_guaranteed is None


def rewritten(path: Path, version: str, *more: str) -> Path:
    """As another version would have written it."""
    about = json.loads((path / "release.json").read_text())
    about["software"]["version"] = version
    about["assumptions"] += more
    (path / "release.json").write_text(json.dumps(about))
    return path


def test_a_parent_of_another_version_is_told_in_this_one_s_words(tmp_path: Path) -> None:
    target = rewritten(made(tmp_path).write(tmp_path / "parent"), "0.1.0")
    review(target, flag_pii=True, output=tmp_path / "child")
    assert unchecked(verify(tmp_path / "child")) == {"review"}
    rewritten(target, "0.1.0", "The moon is made of cheese.")
    with pytest.raises(Refused, match="review it with that version"):
        review(target, flag_pii=True)


# Refusals


def test_a_review_needs_a_rule(parent: Path, tmp_path: Path) -> None:
    for allow in (None, listed(tmp_path, "x")):
        with pytest.raises(UsageError, match=r"give block .*flag_pii=True"):
            review(parent, allow=allow, output=tmp_path / "child")


@pytest.mark.parametrize("where", [".", "child", "a/../child"])
def test_nothing_is_written_into_the_parent(where: str, parent: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(parent)
    for folder in (parent, link):
        with pytest.raises(UsageError, match="inside it"):
            review(parent, flag_pii=True, output=folder / where)
        with pytest.raises(UsageError, match="inside it"):
            review(link, flag_pii=True, output=folder / where)


def test_an_existing_directory_is_refused(parent: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="exists already"):
        review(parent, flag_pii=True, output=tmp_path)


def test_an_unsound_parent_is_refused(tmp_path: Path) -> None:
    target = made(tmp_path).write(tmp_path / "parent")
    (target / "more").write_text("x")
    with pytest.raises(Refused, match=r"zealous verify.*files"):
        review(target, flag_pii=True, output=tmp_path / "child")
    with pytest.raises(ReleaseError, match="is no release"):
        review(tmp_path, flag_pii=True)
    seeded = made(tmp_path, seed=1).write(tmp_path / "seeded", not_private=True)
    with pytest.raises(Refused, match="NOT PRIVATE"):
        review(seeded, flag_pii=True, output=tmp_path / "child")
    assert not (tmp_path / "child").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no term"),
        (b"# only\n\n", "holds no term"),
        (b"\xff\xfe", "UTF-8"),
        (b"tea\n---\n", "line 2 of list.txt"),
    ],
)
def test_bad_lists(content: bytes, told: str, parent: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes(content)
    with pytest.raises(UsageError, match=told):
        review(parent, block=tmp_path / "list.txt")
    with pytest.raises(UsageError, match="cannot be read"):
        review(parent, block=tmp_path / "none.txt")


# The command


def test_looking_without_writing(parent: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, [str(parent), "--flag-pii"])
    assert ran.exit_code == 0
    assert "e-mail address" in ran.stdout
    assert "Nothing was written" in ran.stdout
    assert "queries" in ran.stdout


def test_the_command_writes_and_tells(parent: Path, tmp_path: Path) -> None:
    arguments = [str(parent), "--flag-pii", "-o", str(tmp_path / "child")]
    ran = CliRunner().invoke(command, [*arguments, "--json"])
    assert ran.exit_code == 0
    found = json.loads(ran.stdout)
    assert found["review"] == to_json(read_release(tmp_path / "child").record)["review"]
    assert {
        "kind": "queries",
        "item": ["12 elm street"],
        "count": 20,
        "why": "street address",
        "kept": False,
    } in found["flagged"]
    ran = CliRunner().invoke(command, [*arguments[:-1], str(tmp_path / "second")])
    assert "not probabilistic" in " ".join(ran.stdout.split())
