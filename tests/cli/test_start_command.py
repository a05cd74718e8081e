"""One guided command, then one copied from it: from a file to a release."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import COMMAND, Run
from sampling import sampled

from zealous.cli import cli
from zealous.ledger import FILE_NAME, Ledger

SHOP = "CustomerID,InvoiceNo,InvoiceDate,Description\n" + "".join(
    f"{user},{user},2024-03-01 10:00,{item}\n" for user in range(400) for item in ("TEA", "MILK")
)
CHINESE = "".join(
    f"{user:016x}\t20080601{user % 24:02d}0000\t天气预报\thttp://a.cn/{user}\n"
    for user in range(400)
)
HOURS = "".join(  # a time of day, which is nobody's id, before the person's
    f"{user % 24:02d}:{user % 60:02d}:07\t{10**15 + user}\t[天气预报]\t1 1\thttp://a.cn/{user}\n"
    for user in range(400)
)
GERMAN = "Kundennummer;Artikel;Preis\n" + "".join(f"{n};Käse;1,{n}\n" for n in range(100, 500))
# Made by people who had not read the code: nothing tells what to publish, or it is in lists.
LIBRARY = "Member No.;Date of visit;What did they look for?;Branch (city)\n" + "".join(
    f"M-{n};{n % 28 + 1}/3/2023;tea and cake;Bonn\n" for n in range(400)
)
TAGS = "".join(json.dumps({"reader_id": n, "tags": ["Tea", "Up"]}) + "\n" for n in range(400))
ACCESS = "".join(
    f'10.0.{n // 250}.{n % 250} - - [10/Oct/2023:13:55:36 -0700] "GET /a?q=1 HTTP/1.1" 200 23 "-" '
    '"Mozilla/5.0"\n'
    for n in range(400)
)
EVENTS = "".join(json.dumps({"memberId": n, "movie": "Up", "ts": 1.7e9}) + "\n" for n in range(400))


def command_in(stdout: str) -> list[str]:
    """The arguments of the one command to copy, without the program's name."""
    lines = stdout.splitlines()
    (first,) = (n for n, line in enumerate(lines) if line.startswith("zealous publish"))
    program, *arguments = shlex.split(" ".join(line.rstrip("\\") for line in lines[first:]))
    assert program == "zealous"
    return arguments


FILES = [
    ("shop.csv", SHOP.encode(), 2),
    ("cn.log", CHINESE.encode("gb18030"), 1),
    ("hours.txt", HOURS.encode("gb18030"), 1),
    ("laden.csv", GERMAN.encode("cp1252"), 1),
    ("events.jsonl", EVENTS.encode(), 1),
    ("library.csv", LIBRARY.encode(), 1),
    ("tags.jsonl", TAGS.encode(), 2),
    ("access.log", ACCESS.encode(), 1),
]


@pytest.mark.parametrize(
    ("name", "content", "items"), sampled(FILES, lambda case: case[0], share=4)
)
def test_from_a_file_to_a_release(
    run: Run, tmp_path: Path, name: str, content: bytes, items: int
) -> None:
    (tmp_path / name).write_bytes(content)
    asked = run("start", name, "--privacy", "moderate")
    assert (asked.code, asked.stderr) == (0, "")
    assert max(map(len, asked.stdout.splitlines())) <= 80
    assert {*os.listdir(tmp_path)} == {name, "tmp"}  # nothing was spent, and nothing is left behind
    done = run(*command_in(asked.stdout), "--json")
    assert done.code == 0, done.stderr
    release = json.loads(done.stdout)
    assert release["parameters_from"] == "unstated"
    assert "--parameters-from public-facts to it" in " ".join(asked.stdout.split())
    assert [each["rows"] for each in release["files"].values()] == [items]


def test_undecided_privacy_is_marked_as_an_example(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    undecided = run("start", "shop.csv")
    assert undecided.code == 0
    assert "What follows is an example" in undecided.stdout
    assert "The command, for the example" in undecided.stdout
    decided = run("start", "shop.csv", "--privacy", "strict").stdout
    assert "example" not in decided
    assert command_in(decided)[command_in(decided).index("--epsilon") + 1] == "1"
    both = run("start", "shop.csv", "--privacy", "strict", "--epsilon", 2)
    assert both.code == 2


def test_items_without_a_kind_are_looked_for_among_the_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("Customer ID,Product Name\n1,tea\n")
    assert (
        "Did you mean --items 'columns:Product Name'?"
        in run("start", "shop.csv", "--items", "product").stderr
    )
    assert "Did you mean queries?" in run("start", "shop.csv", "--items", "querys").stderr


def test_nothing_that_is_printed_depends_on_the_rows(run: Run, tmp_path: Path) -> None:
    """Two logs of the same header, one of them with other people, things and far more rows."""
    for folder, rows in (("a", 3), ("b", 3000)):
        (tmp_path / folder).mkdir()
        lines = [f"{folder}{n},{n},{folder * 7},2024-01-01\n" for n in range(rows)]
        (tmp_path / folder / "log.csv").write_text("user,order,product,time\n" + "".join(lines))
    first, second = (run("start", f"{folder}/log.csv").stdout for folder in "ab")
    assert first.replace("a/log.csv", "b/log.csv") == second


def test_a_plan_file_and_a_command_that_carries_it_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    wish = ["--privacy", "permissive", "--users", "5,000", "-o", "plan.json"]
    asked = run("start", "shop.csv", *wish, "--items", "itemsets:Description")
    assert asked.code == 0, asked.stderr
    arguments = command_in(asked.stdout)
    assert arguments[arguments.index("--plan") + 1] == "plan.json"
    goal = json.loads((tmp_path / "plan.json").read_text())["goal"]
    assert (goal["epsilon"], goal["users"]) == ("4", 5000)
    assert run(*arguments).code == 0


def test_a_look_at_the_log_is_internal_and_marks_the_plan(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    looked = run("start", "shop.csv", "--look", "--privacy", "moderate", "-o", "plan.json")
    assert looked.code == 0, looked.stderr
    assert "INTERNAL" in looked.stdout
    assert json.loads((tmp_path / "plan.json").read_text())["parameters_from"] == "this-log"


def test_one_json_object(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    asked = run("start", "shop.csv", "--users", "50k", "--json")
    found = json.loads(asked.stdout)
    assert (asked.code, asked.stderr) == (0, "")
    assert found["user"] == "CustomerID"
    assert found["users"] == 50_000
    assert (found["decided"], found["epsilon"]) == (False, 2)
    assert found["columns"][1] == {"name": "InvoiceNo", "taken_for": "basket", "near": None}
    assert [rung["epsilon"] for rung in found["ladder"]] == [0.5, 1, 2, 4, 8]
    assert found["command"][:3] == ["zealous", "publish", "shop.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["start", "abc.csv"], "which column is the person?"),
        (["start", "abc.csv", "--user", "alpha"], "with --header if"),
        (["start", "abc.csv", "--header", "--user", "alpha"], "Did you mean alpah?"),
        (["start", "shop.csv", "--items", "colums:Description"], "Did you mean columns?"),
        (["start", "shop.csv", "--unit", "user-day", "--users", "many"], "not a valid integer"),
        (["strat", "shop.csv"], "Did you mean start?"),
        (
            ["inspect", "shop.csv", "--columns", "who,b,c,d,e", "--user", "whom"],
            "Did you mean who?",
        ),
        (["start", "shop.csv", "--items", "columns:Descripton"], "Did you mean Description?"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_try(
    run: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    (tmp_path / "abc.csv").write_text("alpah,beta\n1,2\n3,4\n")
    ran = run(*arguments)
    assert ran.code == 2
    assert words in ran.stderr


def test_a_mechanism_that_is_misspelt(run: Run) -> None:
    goal = ["--users", "9k", "--items-per-user", 2, "--epsilon", 1, "--delta", "0.1"]
    assert "Did you mean gaussian?" in run("plan", *goal, "--mechanism", "gausian").stderr


def test_numbers_as_people_write_them(run: Run) -> None:
    rest = ["--items-per-user", 2, "--epsilon", 1, "--delta", "0.001", "--json"]
    for text in ("500000", "500,000", "500_000", "500k", "0.5m"):
        assert json.loads(run("plan", "--users", text, *rest).stdout)["users"] == 500_000
    for text in ("0.5", "k", "1e", "5,x", ""):
        assert run("plan", "--users", text, *rest).code == 2


@pytest.mark.parametrize("items", ["itemsets:Description", "sequences:Description"])
def test_inspect_looks_at_what_sets_are_made_of(run: Run, tmp_path: Path, items: str) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    log = ["shop.csv", "--user", "CustomerID", "--time", "InvoiceDate"]
    ran = run("inspect", *log, "--items", items, "--json")
    assert ran.code == 0, ran.stderr
    kinds = {each["kind"]: each for each in json.loads(ran.stdout)["kinds"]}
    assert kinds["things:Description"]["distinct"] == 2


def test_in_a_terminal_it_asks(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    mine, theirs = pty.openpty()
    program = [str(COMMAND), "start", "shop.csv"]
    with subprocess.Popen(
        program,
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
        env={**os.environ, "COLUMNS": "80"},
    ) as process:
        os.close(theirs)
        # The person, the unit, items misspelt and then as proposed, the bound; Enter alone does
        # not decide on privacy, and not say how it was decided.
        os.write(mine, b"\n\ncolums:Description\n\n20k\n\nstrict\n\ny\n")
        said = b""
        while True:
            try:
                more = os.read(mine, 1 << 16)
            except OSError:  # what Linux says once the other end is closed
                break
            said += more
    os.close(mine)
    text = said.decode().replace("\r", "")
    assert process.returncode == 0, text
    # Answers were typed ahead, so that prompts stand side by side.
    assert not [each for each in re.split(r"\n|\]: |\): ", text) if len(each) > 80]
    assert text.count("CustomerID   the person") == 1
    asked = [
        "One person is one value of which column [CustomerID]",
        "Protected as a whole (user, user-day, session) [user]",
        "Publish [columns:Description]",
        "At most how many users [10,000,000]",
        "Privacy: strict, moderate, permissive or an epsilon (there is no default)",
        "Were these numbers chosen without looking at this log [y/n]",
        "The command",
    ]
    places = [text.index(question) for question in asked]
    assert places == sorted(places)
    assert "Did you mean columns?" in text
    arguments = command_in(text)
    assert arguments[arguments.index("--users") + 1] == "20000"
    assert arguments[arguments.index("--epsilon") + 1] == "1"
    assert arguments[arguments.index("--parameters-from") + 1] == "public-facts"


def test_a_wrong_answer_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.tsv").write_bytes(CHINESE.encode())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("zealous.cli.start._in_terminal", lambda: True)
    # The header after Enter alone; names, the person, the unit, the items, the bound; privacy.
    answers = "\nn\n--header\nid,at,said,url\nid\n\ncolumns:said\n\n\nlots\n-1\n3\n\ny\n"
    asked = CliRunner().invoke(cli, ["start", "log.tsv"], input=answers)
    assert asked.exit_code == 0, asked.output
    assert asked.output.count("Does the first line of the file name the columns [y/n]") == 2
    assert asked.output.count("Names of all columns with commas between them") == 2
    assert asked.output.count("looks like: id") == 2  # as it was found, and once it has names
    assert "give 4 different names" in asked.output
    assert asked.output.count("there is no default") == 4
    arguments = command_in(asked.stdout)
    assert arguments[arguments.index("--epsilon") + 1] == "3"
    (tmp_path / "log.tsv").write_text("Kd,Wer\nx,y\n".replace(",", "\t"))
    asked = CliRunner().invoke(cli, ["start", "log.tsv"], input="y\nKd\ncolumns:Wer\n\n3\ny\n")
    assert asked.exit_code == 0, asked.output
    assert "--user Kd" in " ".join(command_in(asked.stdout))


def test_what_the_owner_says_of_the_parameters_is_passed_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    said = run("start", "shop.csv", "--parameters-from", "earlier-release").stdout
    assert command_in(said)[-3:-1] == ["earlier-release", "-o"]
    assert "add --parameters-from" not in said.replace("\n", " ")
    both = run("start", "shop.csv", "--parameters-from", "public-facts", "--look")
    assert both.code == 2


def test_a_proposed_command_quotes_no_guessed_header(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("anna,divorce\n1,2\n3,4\n")
    ran = run("publish", "log.csv")
    assert ran.code == 2
    assert "--user COLUMN" in ran.stderr
    assert "anna" not in ran.stderr
    assert "divorce" not in ran.stderr


def test_publish_asks_for_all_at_once_with_a_command_that_works(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP.replace("InvoiceNo", "Filiale"))
    asked = run("publish", "shop.csv")
    assert asked.code == 2
    for option in ("--items", "--epsilon", "--delta", "--users", "--user"):
        assert f"  {option} " in asked.stderr
    done = run(*command_in(asked.stderr.replace("\n  ", "\n")), "--json")
    assert done.code == 0, done.stderr
    assert "an item needs about" in done.stderr.partition("charged")[0]
    wrong = run("publish", "shop.csv", "--user", "CustomrID")
    assert "Did you mean CustomerID?" in wrong.stderr


def test_a_ledger_with_approvers_is_known_before_it_refuses(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    ledger = Ledger.open(tmp_path / FILE_NAME, create=True, dataset="shop")
    key = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(32)).decode()
    ledger.set_approvers(f"ito@example ssh-ed25519 {key}\n")
    chosen = ("start", tmp_path / "shop.csv", "--epsilon", "2", "--users", "5000")
    assert "takes approved plans alone" in " ".join(run(*chosen).stdout.split())
    said = " ".join(run(*chosen, "-o", tmp_path / "plan.json").stdout.split())
    assert "Who approves it runs: zealous approve" in said


def test_advice_on_epsilon_needs_nothing_else(run: Run) -> None:
    for more in ([], ["--items", "queries"], ["--guarantee", "indistinguishable"]):
        ladder = json.loads(run("plan", "--advise", *more, "--json").stdout)["ladder"]
        assert [each["epsilon"] for each in ladder] == [0.5, 1, 2, 4, 8]
    assert "weak" in run("plan", "--advise").stdout


def test_no_name_of_a_column_is_run_by_a_shell(run: Run, tmp_path: Path) -> None:
    name = "-$(touch ran)"
    (tmp_path / "shop.csv").write_text(SHOP.replace("CustomerID", name, 1))
    asked = run("start", "shop.csv", "--header", f"--user={name}", "--privacy", "moderate")
    assert asked.code == 0, asked.stderr
    assert f"'--user={name}'" in asked.stdout
    done = run(*command_in(asked.stdout), "--ledger", "ledger.sqlite", "--json")
    assert done.code == 0, done.stderr


@pytest.mark.extended
@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["excite-small.log", "online_retail.csv.gz", "patient_diagnoses.csv.gz"]
)
def test_real_tables(run: Run, real: Path, name: str) -> None:
    asked = run("start", real / name, "--privacy", "moderate")
    assert asked.code == 0, asked.stderr
    done = run(*command_in(asked.stdout), "--ledger", "ledger.sqlite", "--json")
    assert done.code == 0, done.stderr


@pytest.mark.real
def test_a_real_file_that_is_no_table(run: Run, real: Path, tmp_path: Path) -> None:
    for command in ("start", "inspect"):
        asked = run(command, real / "anonymous-msweb.csv.gz")
        assert asked.code == 1
        assert "awk -F," in asked.stderr
    convert = asked.stderr[asked.stderr.index("  zcat") :].partition(" && ")[0]
    subprocess.run(["sh", "-c", convert], cwd=tmp_path, check=True)
    asked = run("start", "anonymous-msweb-rows.csv", "--privacy", "moderate")
    assert run(*command_in(asked.stdout), "--json").code == 0
