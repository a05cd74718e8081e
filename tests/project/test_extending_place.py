"""A place from outside: what its page says can be done with it, with the page's code."""

from __future__ import annotations

import pytest
from conftest import Forks
from outside import Outside

PUBLISH = (
    "--items",
    "queries",
    "--items-per-user",
    1,
    "--guarantee",
    "indistinguishable",
    "--epsilon",
    20,
    "--delta",
    "1e-4",
)


@pytest.fixture
def installed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, forks: Forks
) -> Outside:
    found = Outside("place.md", tmp_path_factory.mktemp("place"), forks)
    share = found.folder / "mounted"
    (share / "logs").mkdir(parents=True)
    (share / "releases").mkdir()
    lines = [f"u{user}\ttea" for user in range(90)]
    (share / "logs" / "march.tsv").write_text("\n".join(["user\tquery", *lines]))
    monkeypatch.setenv("COMPANY_SHARE", str(share))
    return found


def test_it_is_read_written_and_charged(installed: Outside) -> None:
    log, release = "share://logs/march.tsv", "share://releases/march"
    installed.command("publish", log, *PUBLISH, "-o", release)
    assert (installed.folder / "mounted" / "releases" / "march" / "release.json").is_file()
    shown = installed.command("ledger", "show", log)  # one ledger, by whatever name
    assert shown == installed.command("ledger", "show", "mounted/logs/march.tsv")
    installed.command("publish", log, *PUBLISH, "-o", release, code=1)  # it exists


def test_no_name_leads_out_of_it(installed: Outside) -> None:
    program = (
        "from zealous.files.places import place_of\n"
        "try:\n    place_of('share://../elsewhere')\n"
        "except ValueError:\n    print('refused')\n"
    )
    assert installed.python(program) == "refused\n"
