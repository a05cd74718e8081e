"""Whatever is wrong with the input: a clear word, an honest exit code, no data, nothing left."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from conftest import Ran, Run
from sampling import sampled

# In every value of the logs below, so that no message can quote one unnoticed.
DATA = "qzx"
USERS = 30
HEADER = b"user,query,time,url\n"
# All but exact: noise of scale 0.02, and an item of three users appears.
GOAL = ["--users", 50, "--epsilon", 200, "--delta", 0.5, "--items-per-user", 2]

Publish = Callable[..., Ran]


def entry(user: object, query: str, minute: int = 0) -> bytes:
    return f"qzx-{user},{query},2006-03-01 12:{minute:02d}:00,http://qzx.example\n".encode()


def base() -> list[bytes]:
    """Thirty users who asked for tea, half of whom went on to ask for a hat."""
    tea = [entry(user, "qzx tea") for user in range(USERS)]
    return tea + [entry(user, "qzx red hat", 5) for user in range(0, USERS, 2)]


TABLE = {"qzx tea": 30, "qzx red hat": 15}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_bytes(HEADER + b"".join(base()))
    return path


@pytest.fixture
def publish(run: Run, tmp_path: Path) -> Publish:
    """Publish into out/release; whatever happens, check what is said and what is left."""
    out, spill = tmp_path / "out", tmp_path / "spill"
    out.mkdir()
    spill.mkdir()

    def command(path: object, *arguments: object, items: str = "queries", **options: Any) -> Ran:
        before = set(out.iterdir())
        ran = run(
            "publish",
            path,
            "--items",
            items,
            *GOAL,
            "-o",
            "out/release",
            "--temporary",
            "spill",
            *arguments,
            **options,
        )
        check_said(ran)
        made = {out / "release"} if ran.code == 0 else set()
        assert set(out.iterdir()) == before | made
        assert list(spill.iterdir()) == []
        assert list((tmp_path / "tmp").iterdir()) == []
        return ran

    return command


def check_said(ran: Ran) -> None:
    assert DATA not in ran.said.lower()
    assert "unforeseen" not in ran.said
    assert "Traceback" not in ran.said
    if ran.code:
        assert ran.stdout == ""
        assert len(ran.stderr.split()) < 150  # words: a path may be long


def published(tmp_path: Path, kind: str = "queries") -> dict[Any, int]:
    """The published table: item to count."""
    rows = pq.read_table(tmp_path / "out" / "release" / f"{kind}.parquet").to_pylist()
    items = [tuple(row.values())[:-3] for row in rows]
    return {
        item[0] if len(item) == 1 else item: row["count"]
        for item, row in zip(items, rows, strict=True)
    }


# Lines


TWO_LINES = b'qzx-m,"qzx two\nlines",2006-03-01 12:00:00,http://qzx.example\n'
BAD_LINES = {
    "too few columns": (b"qzx-m,qzx tea\n", "skipped 1 line: too few or too many columns"),
    "too many columns": (entry("m", "qzx,tea,qzx"), "skipped 1 line: too few or too many columns"),
    "invalid UTF-8": (b"qzx-m,qzx\xff\xfe,,\n", "skipped 1 line: not valid utf-8"),
    "half a character": (b"qzx-m,qzx,,\xc3\n", "skipped 1 line: not valid utf-8"),
    "NUL": (entry("m", "qzx\0tea"), "skipped 1 line: holds a NUL character"),
    "only NUL": (b"\0\n", "skipped 1 line: holds a NUL character"),
    "40 MB": (b"qzx" * 14_000_000 + b"\n", "skipped 1 line: longer than 1 MiB"),
    "unbalanced quote": (entry("m", '"qzx tea'), "skipped 1 line: quotes do not balance"),
    "quote begins the line": (b'"qzx-m,qzx,,\n', "skipped 1 line: quotes do not balance"),
    "text after a quote": (entry("m", '"qzx"tea'), "skipped 1 line: quotes do not balance"),
    "newline in quotes": (TWO_LINES, "skipped 1 line: too few or too many columns"),
    "lone CR": (entry("m", "qzx\rtea"), "skipped 1 line: holds a carriage return"),
    "CRs only": (b"\r\r\r\n", "skipped 1 line: holds a carriage return"),
    "no id": (b" ,qzx tea,2006-03-01 12:00:00,\n", "skipped 1 line: no user id"),
    "blank": (b"\n\r\n  \n", "skipped 1 line: too few or too many columns"),
}


@pytest.mark.parametrize(
    "name", sampled(list(BAD_LINES), str, share=3, group=lambda name: BAD_LINES[name][1])
)
def test_a_bad_line_is_skipped_alone(name: str, publish: Publish, tmp_path: Path) -> None:
    line, told = BAD_LINES[name]
    lines = base()
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*lines[:20], line, *lines[20:]]))
    ran = publish("log.csv")
    assert ran.code == 0
    assert told in ran.stderr
    assert published(tmp_path) == TABLE


def test_all_bad_lines_together(publish: Publish, run: Run, tmp_path: Path) -> None:
    lines, bad = base(), [line for line, _ in BAD_LINES.values() if len(line) < 1_000]
    (tmp_path / "log.csv").write_bytes(
        HEADER + b"".join([*bad, *lines[:9], *bad, *lines[9:], *bad])
    )
    assert publish("log.csv").code == 0
    assert published(tmp_path) == TABLE
    looked = run("inspect", "log.csv")
    check_said(looked)
    assert looked.code == 0
    assert "Warning: " in looked.stdout
    assert re.search(r"holds a NUL character +6", looked.stdout)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_crlf(publish: Publish, tmp_path: Path) -> None:
    whole = (HEADER + b"".join(base())).replace(b"\n", b"\r\n")
    (tmp_path / "log.csv").write_bytes(whole)
    ran = publish("log.csv", items="queries,clicks")
    assert ran.code == 0
    assert "skipped" not in ran.stderr
    assert published(tmp_path) == TABLE
    assert published(tmp_path, "clicks") == {"http://qzx.example": 30}


# Users


def test_entries_without_a_user_are_nobodys(publish: Publish, run: Run, tmp_path: Path) -> None:
    orphans = [
        f"{blank},qzx orphan {n},2006-03-01 12:00:00,http://qzx.example\n".encode()
        for blank in ("", " ", "\u00a0", '""', '" "')
        for n in range(2)
    ]
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*orphans * 4, *base()]))
    assert publish("log.csv").code == 0
    assert published(tmp_path) == TABLE
    looked = run("inspect", "log.csv")
    check_said(looked)
    assert re.search(r"rows left out +40\s", looked.stdout)
    assert re.search(r"users +30\s", looked.stdout)
    assert re.search(r"Warning: \d+% of the rows have no user id", looked.stdout)


def test_one_user(publish: Publish, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(HEADER + entry(1, "qzx tea") * 500)
    ran = publish("log.csv")
    assert ran.code == 0
    assert "queries: no item was among the counted items of about" in ran.stdout
    assert published(tmp_path) == {}


def test_a_user_with_half_of_all_rows(publish: Publish, run: Run, tmp_path: Path) -> None:
    robot = [entry("robot", f"qzx thing {number}") for number in range(46)]
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*robot, *base()]))
    assert publish("log.csv").code == 0
    found = published(tmp_path)
    assert {item: count for item, count in found.items() if item in TABLE} == TABLE
    assert len(found) <= 4
    looked = run("inspect", "log.csv")
    check_said(looked)
    assert "Warning: One user id holds 51% of all entries" in looked.stdout
    assert "--exclude-users" in looked.stdout


def test_more_users_than_declared(publish: Publish, log: Path, tmp_path: Path) -> None:
    ran = publish(log, "--users", USERS - 1)
    assert ran.code == 1
    assert "more users than --users declares" in ran.stderr
    assert str(USERS) not in re.findall(r"\d+", ran.stderr.replace(str(tmp_path), ""))


# Queries and times


def test_queries_without_a_word(publish: Publish, tmp_path: Path) -> None:
    empty = [entry(user, query) for user in range(USERS) for query in ("", "  ", "?!", "...", "--")]
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*empty, *base()]))
    assert publish("log.csv", items="queries,keywords").code == 0
    assert published(tmp_path) == TABLE
    assert set(published(tmp_path, "keywords")) <= {"qzx", "tea", "red", "hat"}


def test_times_out_of_order_or_no_times(publish: Publish, tmp_path: Path) -> None:
    bad = [
        f"qzx-{user},qzx odd {time},{time},\n".encode()
        for user in range(USERS)
        for time in ("", "qzx", "2006-99-99", "infinity", "294247-01-10 04:00:54")
    ]
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*bad, *reversed(base())]))
    ran = publish("log.csv", items="query-pairs")
    assert ran.code == 0
    assert published(tmp_path, "query-pairs") == {("qzx tea", "qzx red hat"): 15}


def test_inspect_survives_strange_times(run: Run, tmp_path: Path) -> None:
    times = ["", "qzx", "infinity", "294247-01-10 04:00:54", "20000-01-01", "0044-03-15 (BC)"]
    lines = [f"qzx-{n},qzx tea,{time},\n".encode() for n, time in enumerate(times)]
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join([*lines, entry(9, "qzx tea")]))
    ran = run("inspect", "log.csv")
    check_said(ran)
    assert ran.code == 0
    assert re.search(r"without time +6\s", ran.stdout)
    assert "say --time-format" in ran.stdout


def test_inspect_prints_json_of_a_log_with_bad_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(HEADER + b"".join(base()) + b"qzx\n")
    ran = run("inspect", "log.csv", "--json")
    check_said(ran)
    assert ran.code == 0
    assert json.loads(ran.stdout)["skipped"] == {"too few or too many columns": 1}


# Logs that are none


def test_an_empty_log(publish: Publish, tmp_path: Path) -> None:
    for content, told in (
        (b"", "--columns if the file has no header"),
        (b"\xff\xff" + HEADER + entry(1, "qzx tea"), "does not name the columns"),
    ):
        (tmp_path / "log.csv").write_bytes(content)
        ran = publish("log.csv")
        assert ran.code == 1
        assert told in ran.stderr


@pytest.mark.parametrize("lines", [b"", b",qzx tea,,\n", entry(1, "qzx tea")])
def test_nobody_or_one_user_gives_an_empty_release(
    lines: bytes, publish: Publish, tmp_path: Path
) -> None:
    """Not an error: whether there is a release must not tell whether there is a user."""
    (tmp_path / "log.csv").write_bytes(HEADER + lines)
    ran = publish("log.csv", "--unattended")
    assert ran.code == 0
    assert published(tmp_path) == {}


def test_an_empty_file_of_a_known_layout(publish: Publish, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(b"")
    ran = publish("log.tsv", "--format", "aol", "--proceed")
    assert ran.code == 0
    assert "The log has no rows" in ran.stderr


def broken_parquet(path: Path) -> None:
    path.write_bytes(b"PAR1 qzx " * 100)


def cut_parquet(path: Path) -> None:
    pq.write_table(pa.table({"user": ["qzx-1"] * 99, "query": ["qzx"] * 99}), path)
    path.write_bytes(path.read_bytes()[:-40])


def damaged_parquet(path: Path) -> None:
    words = [f"qzx{number}" for number in range(999)]
    pq.write_table(pa.table({"user": words, "query": words}), path, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[10:400] = b"\xff" * 390
    path.write_bytes(content)


def listed_parquet(path: Path) -> None:
    pq.write_table(pa.table({"user": ["qzx-1"], "query": [["qzx"]]}), path)


def numbered_parquet(path: Path) -> None:
    pq.write_table(pa.table({"user": ["qzx-1"], "query": ["qzx"], "time": [1]}), path)


def cut_gzip(path: Path) -> None:
    rows = b"".join(entry(os.urandom(8).hex(), "qzx tea") for _ in range(2_000))
    path.write_bytes(gzip.compress(HEADER + rows)[:-5_000])


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("name", "make", "code", "told"),
    [
        ("missing.csv", lambda path: None, 1, "no log found at missing.csv: give a file"),
        ("folder.csv", Path.mkdir, 1, "no log found at folder.csv: give a file, a folder"),
        ("link.csv", dangling, 1, "link.csv cannot be read: No such file"),
        ("cut.csv.gz", cut_gzip, 1, "cut.csv.gz is damaged or cut short"),
        ("plain.csv.gz", broken_parquet, 1, "plain.csv.gz is damaged or cut short"),
        ("none.parquet", broken_parquet, 1, "none.parquet is not a readable Parquet file"),
        ("empty.parquet", Path.touch, 1, "empty.parquet is not a readable Parquet file"),
        ("cut.parquet", cut_parquet, 1, "cut.parquet is not a readable Parquet file"),
        ("damaged.parquet", damaged_parquet, 1, "is not a readable Parquet file, or damaged"),
        ("list.parquet", listed_parquet, 2, 'column "query" holds list values, not text'),
        ("number.parquet", numbered_parquet, 2, "say --time-format epoch"),
        ("log.txt", Path.touch, 2, "say --format parquet, csv"),
    ],
)
def test_a_log_that_cannot_be_read(
    name: str,
    make: Callable[[Path], object],
    code: int,
    told: str,
    publish: Publish,
    tmp_path: Path,
) -> None:
    make(tmp_path / name)
    ran = publish(name)
    assert ran.code == code
    assert told in ran.stderr


def test_files_that_do_not_belong_together(publish: Publish, log: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_bytes(b"user,query\nqzx-1,qzx tea\n")
    ran = publish(log, "other.csv")
    assert ran.code == 1
    assert "other.csv does not have the same columns as log.csv" in ran.stderr


# Places to write


@pytest.mark.parametrize(
    "kind", ["directory", "file", "link", "missing parent", "parent is a file"]
)
def test_an_output_that_cannot_be(kind: str, publish: Publish, log: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "release"
    told = "exists already: name a directory that does not"
    if kind == "directory":
        target.mkdir()
    elif kind == "file":
        target.write_text("kept")
    elif kind == "link":
        target.symlink_to("nowhere")
    else:
        target = tmp_path / "out" / "parent" / "release"
        told = "is not a directory: make it first"
        if kind == "parent is a file":
            target.parent.write_text("kept")
    ran = publish(log, "-o", target)
    assert ran.code == 1
    assert told in ran.stderr
    assert "reading" not in ran.stderr
    assert kind != "file" or target.read_text() == "kept"


def limited(size: int) -> Callable[[], None]:
    """What makes every file of a child process end at a size, as a full disk would."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    """A log of which nearly everything is published: about 1 MB."""
    path = tmp_path / "long.tsv"
    words = [f"qzx {number:04} " + f"{number * number:x} " * 20 for number in range(5_000)]
    lines = [f"qzx-{user}\t{word}\n" for user in range(4) for word in words]
    path.write_text("user\tquery\n" + "".join(lines))
    return path


ALL = ["--items-per-user", 5_000, "--epsilon", 1_000_000]


def test_a_full_disk_for_the_output(publish: Publish, long_log: Path, small_disk: Path) -> None:
    ran = publish(long_log, *ALL, "--accept-epsilon", "-o", small_disk / "release")
    assert ran.code == 1
    assert "release cannot be written" in ran.stderr
    assert "No space left on device; nothing was left behind" in ran.stderr
    assert list(small_disk.iterdir()) == []


def test_a_full_disk_for_temporary_files(
    publish: Publish, long_log: Path, small_disk: Path
) -> None:
    ran = publish(long_log, *ALL, "--temporary", small_disk)
    assert ran.code == 1
    assert "temporary directory: No space left on device" in ran.stderr
    assert "--temporary" in ran.stderr
    assert list(small_disk.iterdir()) == []


def test_a_limit_on_the_output(publish: Publish, long_log: Path, tmp_path: Path) -> None:
    # A Parquet log is not staged; the CSV of the release is too large.
    log = long_log.with_suffix(".parquet")
    tabs = pacsv.ParseOptions(delimiter="\t")
    pq.write_table(pacsv.read_csv(long_log, parse_options=tabs), log)
    ran = publish(log, *ALL, preexec_fn=limited(600_000))
    assert ran.code == 1
    assert "File too large; nothing was left behind" in ran.stderr


def test_a_limit_on_temporary_files(publish: Publish, long_log: Path) -> None:
    ran = publish(long_log, *ALL, preexec_fn=limited(50_000))
    assert ran.code == 1
    assert "temporary directory: File too large" in ran.stderr


def test_a_temporary_directory_that_is_missing(publish: Publish, log: Path) -> None:
    ran = publish(log, "--temporary", "nowhere")
    assert ran.code == 2
    assert "temporary directory cannot be written: name another" in ran.stderr


# What a spreadsheet would run


def test_a_formula_is_inert_in_csv_and_whole_in_parquet(publish: Publish, tmp_path: Path) -> None:
    formula = '=hyperlink("http://x","y")'
    lines = [f"qzx-{user}\t{formula.upper()}\t+1\n" for user in range(USERS)]
    (tmp_path / "log.tsv").write_text("user\tquery\turl\n" + "".join(lines))
    assert publish("log.tsv", items="queries,clicks").code == 0
    assert published(tmp_path) == {formula: USERS}
    assert published(tmp_path, "clicks") == {"+1": USERS}
    with (tmp_path / "out" / "release" / "queries.csv").open(newline="") as file:
        rows = [row[:2] for row in csv.reader(file)]
    assert rows == [["query", "count"], ["'" + formula, str(USERS)]]
    assert "'+1,30" in (tmp_path / "out" / "release" / "clicks.csv").read_text()


# Wrong usage


WRONG = {
    "epsilon 0": (["--epsilon", "0"], "epsilon must be above 0"),
    "epsilon below 0": (["--epsilon", "-1"], "epsilon must be above 0"),
    "epsilon text": (["--epsilon", "abc"], "epsilon must be a number such as"),
    "epsilon nan": (["--epsilon", "nan"], "epsilon must be a number such as"),
    "epsilon inf": (["--epsilon", "inf"], "epsilon must be a number such as"),
    "delta 0": (["--delta", "0"], "can only be protected with delta above 0"),
    "delta 1": (["--delta", "1"], "delta must be at least 0 and below 1"),
    "delta 2": (["--delta", "2"], "delta must be at least 0 and below 1"),
    "delta text": (["--delta", "1/0"], "delta must be a number such as"),
    "m 0": (["--items-per-user", "0"], "items_per_user must be a whole number of at least 1"),
    "m -1": (["--items-per-user", "-1"], "items_per_user must be a whole number of at least 1"),
    "m 1.5": (["--items-per-user", "1.5"], "must be a whole number of at least 1"),
    "m of others": (["--items-per-user", "clicks=2"], "must name each of the --items once"),
    "m of nothing": (["--items-per-user", "queries="], "must look like keywords=20,queries=5"),
    "users 0": (["--users", "0"], "users must be a whole number of at least 1"),
    "users text": (["--users", "many"], "--users"),
    "guarantee": (["--guarantee", "perfect"], "--guarantee"),
    "neighbors": (["--neighbors", "all"], "--neighbors"),
    "split of others": (["--split", "clicks=1"], "--split must name the published kinds"),
    "split of some": (["--split", "queries=1,clicks=1"], "--split must name the published kinds"),
    "split 0": (["--split", "queries=0"], "weights of --split must be above 0"),
    "split text": (["--split", "queries"], "--split must look like"),
    "kind": (["--items", "secrets"], "--items takes queries, keywords"),
    "no kind": (["--items", ","], "name at least one kind"),
    "kind twice": (["--items", "queries,queries"], "can be named once"),
    "column": (["--user", "nobody"], "no column 'nobody' (given as --user)"),
    "extra column": (["--items", "columns:nothing"], "no column 'nothing'"),
    "by": (["--by", "nothing"], "no column 'nothing'"),
    "format": (["--format", "xml"], "format must be one of parquet, csv"),
    "memory text": (["--memory", "lots"], "memory must be a size such as 4GB"),
    "memory too small": (["--memory", "10MB"], "memory must be at least 1GB"),
    "threads": (["--threads", "0"], "--threads"),
    "encoding": (["--encoding", "klingon"], "encoding is not known"),
    "delimiter": (["--delimiter", "é"], "delimiter must be of ASCII characters"),
    "columns": (["--columns", "user,user"], "columns must have different names"),
    "time format": (["--time-format", "%Q"], "time_format must be epoch"),
    "select": (["--select", "best"], "--select"),
    "session gap": (["--items", "query-pairs", "--session-gap", "0"], "session_gap must be"),
    "too many entries": (["--max-entries-per-user", "0"], "max_entries_per_user must be"),
    "list of users": (["--exclude-users", "nowhere"], "--exclude-users cannot be found"),
    "option": (["--sauce", "1"], "No such option"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage(name: str, publish: Publish, log: Path) -> None:
    arguments, told = WRONG[name]
    ran = publish(log, *arguments)
    assert ran.code == 2
    assert told in ran.stderr


def test_items_for_which_a_column_is_missing(publish: Publish, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("user\tquery\nqzx-1\tqzx tea\n")
    ran = publish("log.tsv", items="clicks")
    assert ran.code == 2
    assert "say --url COLUMN" in ran.stderr


def test_more_memory_than_there_can_be(publish: Publish, log: Path) -> None:
    ran = publish(log, "--memory", "99999999999999TB")
    assert ran.code == 2


@pytest.mark.parametrize("name", ["User", "Count", "TIME"])
def test_a_column_called_like_one_of_ours(name: str, publish: Publish, tmp_path: Path) -> None:
    lines = [f"qzx-{user}\tqzx\t2006-03-01\n" for user in range(USERS)]
    (tmp_path / "log.tsv").write_text(f"id\t{name}\twhen\n" + "".join(lines))
    ran = publish("log.tsv", "--user", "id", "--time", "when", items=f"columns:{name}")
    assert ran.code == 2
    assert "rename it" in ran.stderr


@pytest.mark.parametrize("missing", ["--items", "--epsilon", "--delta", "--users", "LOG"])
def test_what_has_to_be_said(missing: str, run: Run, log: Path) -> None:
    said = {
        "--items": "queries",
        "-o": "release",
        "--epsilon": 1,
        "--delta": 0.1,
        "--users": 50,
        "--items-per-user": 2,
    }
    arguments = [each for pair in said.items() if pair[0] != missing for each in pair]
    ran = run("publish", *([] if missing == "LOG" else [log]), *arguments)
    check_said(ran)
    assert ran.code == 2
    assert missing.strip("-") in ran.stderr


def test_a_large_delta_for_each_person_has_to_be_confirmed(publish: Publish, log: Path) -> None:
    ran = publish(log, "--guarantee", "indistinguishable")
    assert ran.code == 1
    assert "confirm with --accept-delta" in ran.stderr
    assert publish(log, "--guarantee", "indistinguishable", "--accept-delta").code == 0
