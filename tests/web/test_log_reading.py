"""Tables as people have them: semicolons, German dates, other letters, names that tell nothing."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from workbench import Workbench, words

from zealous.errors import UsageError
from zealous.planning.plan_file import read_plan
from zealous.release.bundle import read_release
from zealous.web.decisions import plan_hash, write_decision
from zealous.web.log_reading import Reading
from zealous.web.publisher_form import read_fields, write_fields

LOG = "logs/ausleihen.csv"
SECRET = "Tagebuch"
CHOSEN = {
    "log": LOG,
    "users": "500",
    "header": "yes",
    "level": "custom",
    "epsilon": "20",
    "user column": "=Wer",
    "item column": "=Werk",
    "time column": "=Ausgeliehen am",
    "kind": "columns:Werk",
    "most columns:Werk": "1",
    "name": "march",
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    rows = ["Wer;Werk;Ausgeliehen am"]
    rows += [f"k{user};Märchen;{1 + user % 28:02}.03.2026" for user in range(150)]
    rows += [f"k{user + 150};{SECRET} {user};07.04.2026" for user in range(50)]
    (folder / "ausleihen.csv").write_text("\n".join([*rows, ""]), encoding="cp1252")
    return folder


@pytest.fixture
def bench(logs: Path) -> Workbench:
    return Workbench(logs)


def test_what_was_found_is_shown_and_no_row_is(bench: Workbench) -> None:
    first = words(bench.text("/plan", log=LOG))
    assert "CSV, fields between semicolons, in cp1252" in first
    assert "The first line is taken for data" in first  # nothing speaks for these names
    page = bench.text("/plan", log=LOG, header="yes")
    said = words(page)
    assert "No name tells which column is the person" in said
    assert "Write the plan" not in said
    assert '<option value="=Ausgeliehen am">' in page
    chosen = words(bench.text("/plan", **CHOSEN))
    assert "Wer the person" in chosen
    assert "Ausgeliehen am the time" in chosen
    assert "Write the plan" in chosen
    assert "31.12.2026" in chosen
    for each in (first, said, chosen):
        assert SECRET not in each
        assert "k17" not in each


def test_from_a_german_table_to_a_release(bench: Workbench, logs: Path) -> None:
    assert bench.post("/plan", **CHOSEN).status_code == 303
    plan = "logs/march.plan.json"
    bound = read_plan(logs / "march.plan.json").log
    assert bound is not None
    assert bound.columns.assigned() == {"user": "Wer", "time": "Ausgeliehen am"}
    page = bench.text("/approve", plan=plan)
    seen = page.partition('name="seen" value="')[2].partition('"')[0]
    ticks = [str(number) for number in range(page.count('name="assumption"'))]
    approval = {"plan": plan, "seen": seen, "assumption": ticks, "by": "Ito"}
    assert bench.post("/approve", **approval).status_code == 303
    assert "Read as CSV, fields between semicolons, in cp1252" in words(
        bench.text("/publish", plan=plan)
    )
    form = {"plan": plan, "log": LOG, "output": "march", "by": "Ann", "period": "2026-03"}
    who = {"title": 'Loans "März"', "publisher": "Bücherei", "contact": "a@example.org"}
    assert bench.post("/publish", **form, **who, dataset="march").status_code == 303
    for _ in range(600):
        said = words(bench.text("/publish", plan=plan, job="1"))
        if "Publishing, since" not in said:
            break
        time.sleep(0.1)
    assert "Published." in said
    release = read_release(logs / "march")
    assert release["columns:Werk"]["Märchen"] > 100
    assert list(release["columns:Werk"]) == ["Märchen"]
    assert str(release.record.period) == "2026-03"
    assert release.record.publisher is not None
    assert release.record.publisher.title == who["title"]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"delimiter": ","}, "is not one table"),
        ({"delimiter": ";"}, "fields between semicolons"),
        ({"encoding": "latin-1"}, "in latin-1"),
        ({"encoding": "none such"}, "the encoding is not known"),
        ({"header": "no"}, "The first line is taken for data"),
        ({"header": "no", "names": "card,book,day"}, "card"),
        ({"header": "no", "names": "one,two"}, "The first line is taken for data"),
        ({"user column": "=Wer", "item column": "=Wer"}, "Wer the person"),
        ({"user column": "=None"}, "has no column"),
        ({"user column": "=None", "columns_of": "of another log"}, "choose it"),
        ({"delimiter": ",", "read_of": "logs/other.csv"}, "fields between semicolons"),
        ({"unit": "user-day", "user column": "=Wer"}, "choose the column with the time"),
    ],
)
def test_what_is_said_of_a_file_is_taken_or_answered_on_the_page(
    bench: Workbench, said: dict[str, Any], shown: str
) -> None:
    page = words(bench.text("/plan", **{"log": LOG, "header": "yes"} | said))
    assert shown in page
    assert "Read the file otherwise" in page  # never the end of the way
    assert SECRET not in page


def test_a_column_that_is_chosen_is_what_is_published(bench: Workbench) -> None:
    shown = {"kind": "columns:Werk", "item_shown": "=Werk", "item column": "=Ausgeliehen am"}
    page = bench.text("/plan", log=LOG, header="yes", **shown)
    assert 'value="columns:Ausgeliehen am" checked' in page
    assert 'value="columns:Werk" checked' not in page


def test_what_cannot_be_read_is_no_plan(bench: Workbench, logs: Path) -> None:
    for wrong in ({"user column": ""}, {"delimiter": ","}, {"unit": "session", "time column": "-"}):
        assert bench.post("/plan", **CHOSEN | wrong).status_code == 400
    assert [each.name for each in logs.iterdir()] == ["ausleihen.csv"]


def test_how_a_file_is_read_is_kept_for_its_plan_alone(bench: Workbench, logs: Path) -> None:
    bench.post("/plan", **CHOSEN, encoding="latin-1", time_format="%d.%m.%Y")
    kept = logs / "march.plan.json.reading"
    assert "latin-1" in kept.read_text()
    said = Reading.of_plan(logs / "march.plan.json")
    assert (said.encoding, said.time_format) == ("latin-1", "%d.%m.%Y")
    found = said.look(logs / "ausleihen.csv", {"user": "Wer"})
    assert said.options(found, "Ausgeliehen am") == [
        *("--delimiter", ";", "--encoding", "latin-1", "--time-format", "%d.%m.%Y")
    ]
    kept.write_text("{")
    assert Reading.of_plan(logs / "march.plan.json") == Reading()


def test_what_a_table_or_a_form_says_is_text(logs: Path) -> None:
    hostile = "<script>alert(1)</script>"
    formula = "=HYPERLINK(evil)"
    names = ["user", hostile, formula, "{{ 7 * 191 }}", '"onfocus="alert(1)']
    rows = ["\t".join(names), *("\t".join([f"u{n}", *"abcd"]) for n in range(9))]
    (logs / "strange & <b>.tsv").write_text("\n".join(rows))
    bench = Workbench(logs, internal=True)
    log = "logs/strange & <b>.tsv"
    asked = {"log": log, "header": "yes", "names": hostile, "like": "", "users": "1000"}
    plan = {**asked, "item column": f"={formula}", "name": "strange", "level": "permissive"}
    assert bench.post("/plan", **plan, kind=f"columns:{formula}").status_code == 303
    (logs / "publisher.toml").write_text(f"title = '{hostile}'\n")
    named = "plan=logs/strange.plan.json"
    for path in (
        "/",
        f"/plan?{urlencode(asked)}",
        f"/approve?{named}",
        f"/study?{urlencode(asked)}",
    ):
        page = bench.get(path).text
        assert "<script>alert" not in page
        assert "<b>.tsv" not in page
        assert not re.search(r"\b1337\b", page)  # but in a hash
        assert 'value="="onfocus' not in page
    seen = plan_hash(logs / "strange.plan.json")
    write_decision(logs / "strange.plan.json", "approved", seen=seen, by="Ito")
    publishing = bench.text(f"/publish?{named}")
    assert "&lt;script&gt;alert(1)" in publishing
    assert "<script>alert" not in publishing


def test_who_publishes_is_kept_beside_the_log(logs: Path) -> None:
    log = logs / "ausleihen.csv"
    (logs / "publisher.toml").write_text('title = "Old"\nregion = "Austria"\n')
    write_fields(log, {"title": 'A "new" \\ one', "contact": " ", "other": "x"})
    assert read_fields(log) == {"title": 'A "new" \\ one', "region": "Austria"}
    for wrong in ("two\nlines", "x" * 600, "\x1b[31m"):
        with pytest.raises(UsageError):
            write_fields(log, {"title": wrong})
    write_fields(log, {"title": ""})
    assert read_fields(log) == {"region": "Austria"}
    (logs / "publisher.toml").unlink()
    (logs / "publisher.toml").symlink_to("/etc/passwd")
    assert read_fields(log) == {}
