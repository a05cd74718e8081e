"""The command: its address on the first line, quick to start, not to be seen from outside."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from bundles import made
from conftest import COMMAND, Run
from workbench import Workbench, words

from zealous.items import queries
from zealous.privacy.guarantee import ProbabilisticDP
from zealous.web.security import DOCUMENT_POLICY


def test_the_address_is_on_the_first_line_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "serve", tmp_path, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]{40,}", address)
        assert found is not None
        with urlopen(address) as page:
            assert page.status == 200
        with socket.socket() as outside:  # nobody listens on the machine's other addresses
            assert outside.connect_ex(("127.0.0.2", int(found[1]))) != 0
        running.send_signal(signal.SIGINT)
        said, told = running.communicate(timeout=300)
        assert running.returncode == 0
        assert not said
        assert "For another browser: http://127.0.0.1:" in told  # the token was used
        assert address not in told


def test_it_starts_without_what_only_tables_need() -> None:
    """What is slow to load comes with the page that needs it: the first one is soon there."""
    program = (
        "import sys\n"
        "import zealous.web.server\n"
        "heavy = {'numpy', 'pyarrow', 'duckdb', 'pandas', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none"], "is no folder"),
        (["--release", "none"], "is no release"),
    ],
)
def test_what_is_not_there_is_said(
    run: Run, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = run("serve", *arguments, "--no-browser")
    assert done.code == 2
    assert said in done.said


def test_a_port_that_is_taken_is_said(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", tmp_path, "--no-browser", "--port", str(port))
    assert done.code == 2
    assert "cannot be used" in done.said


def test_internal_figures_are_shown_only_where_asked_for(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("user\tquery\tday\nu1\tmy secret\t1\nu2\ttea\t2\n")
    asked = f"/study?log={tmp_path.name}/log.tsv"
    plain, internal = Workbench(tmp_path), Workbench(tmp_path, internal=True)
    assert plain.get(asked).status_code == 404
    assert "Study" not in plain.text("/")
    page = internal.text(asked)
    assert 'class="internal"' in page
    assert "users 2" in words(page)
    assert "my secret" not in page


def test_the_study_of_a_log_is_shown_and_begun_only_where_asked_for(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        "who;query;when\nu1;my secret;01.02.2026\nu2;tea;02.02.2026\n"
    )
    name = f"{tmp_path.name}/log.csv"
    asked = {"log": name, "user column": "=who", "time column": "=when"}
    plain, internal = Workbench(tmp_path), Workbench(tmp_path, internal=True)
    assert plain.post("/study", study="compare", **asked).status_code == 404
    shown = {"study": "compare", "log": name}
    study = tmp_path / "log-internal-compare"
    study.mkdir()
    (study / "report.html").write_text("<h1>Figures</h1><script>alert(1)</script>")
    assert internal.get("/study/shown", params=shown).status_code == 404  # no study wrote that
    (study / "findings.json").write_text("[]")
    (study / "internal-results.csv").write_text("a,b\n")
    found = internal.get("/study/shown", params=shown)
    assert "Figures" in found.text
    assert found.headers["content-security-policy"] == DOCUMENT_POLICY
    assert plain.get("/study/shown", params=shown).status_code == 404
    page = internal.text("/study", **asked)
    assert "sandbox" in page
    assert "zealous study attack" in words(page)
    assert "--delimiter ';' --time-format %d.%m.%Y" in words(page)
    assert "--time when" in words(page)
    assert "my secret" not in page
    assert "internal-results" not in internal.text("/plan")  # it is no log
    (study / "report.html").unlink()
    (study / "report.html").symlink_to(tmp_path / "log.csv")
    assert internal.get("/study/shown", params=shown).status_code == 404
    for wrong in ({"study": "publish"}, {"study": "compare", "log": "none"}):
        assert internal.post("/study", **asked | wrong).status_code in (400, 404)
    assert not internal.bench.jobs._jobs


def test_the_tour_leads_through_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zealous.web.tour._USERS", 300)
    (tmp_path / "logs").mkdir()
    (tmp_path / "scratch").mkdir()
    bench = Workbench(tmp_path / "logs", scratch=tmp_path / "scratch")
    assert "Take the tour" in words(bench.text("/"))
    assert bench.post("/tour").status_code == 303
    assert bench.post("/tour").status_code == 400  # once
    assert not list((tmp_path / "logs").iterdir())
    assert "tour/searches.parquet" in bench.text("/plan")
    page = words(bench.text("/tour"))
    assert "done" not in page.partition("Plan a release")[0].removeprefix("Tour")
    given = {"dataset": "invented", "epsilon": "12", "delta": "0.01", "by": "me", "folder": "tour"}
    bench.post("/ledger", **given)
    assert "Begin a ledger in the folder tour done" in words(bench.text("/tour"))


def test_a_large_folder_is_not_read_for_ever(tmp_path: Path) -> None:
    release = made(tmp_path, ProbabilisticDP(epsilon=400, delta="0.5", users=100), (queries(3),))
    (tmp_path / "logs").mkdir()
    release.write(tmp_path / "logs" / "a")
    for number in range(3_000):
        (tmp_path / "logs" / f"f{number}").touch()
    bench = Workbench(tmp_path / "logs")
    started = time.process_time()
    assert "logs/a" in bench.text("/")
    assert time.process_time() - started < 2
