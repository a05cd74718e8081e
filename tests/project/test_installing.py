"""How the pages and messages say to install zealous: from its source, never by its bare name, which
on the public package index belongs to another project."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import COMMAND
from pages import blocks
from paths import DOCS, ROOT, TOOLS

from zealous.errors import missing_extra

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONTAINERFILE = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
READ = {".cfg", ".ipynb", ".j2", ".js", ".md", ".py", ".sh", ".svg", ".toml", ".yml"}
NAMED = {"Containerfile", "Makefile", "run"}
INSTALL = re.compile(
    r"\b(?:pip3? install|pipx (?:install|run)|uvx|uv (?:add|tool (?:install|run)))\b"
)
BARE = re.compile(r"(?<![\w./*-])zealous(?:\[[\w,]+\])?(?:[=<>~!]=?[\d.]\S*)?(?![\w./*@-])")


def installs_by_name(text: str) -> list[str]:
    """The install commands of a text that name zealous and not where it is."""
    found = []
    for start in INSTALL.finditer(text):
        command = re.split(r"[`\n;)#]|\\n|&&", text[start.start() :], maxsplit=1)[0]
        if "--from ." not in command and BARE.search(command):
            found.append(command)
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pip install zealous", True),
        ("`pip install 'zealous[web]'`", True),
        ("pip install --upgrade zealous==1.0", True),
        ("uvx zealous --help", True),
        ("pipx run zealous", True),
        ("uv tool install 'zealous[study]'", True),
        ("pip install '.[web]'", False),
        ("pip install dist/zealous-*.whl", False),
        ("uvx --from . zealous --help", False),
        ("pip install .\nzealous start", False),
    ],
)
def test_a_bare_name_is_found(text: str, found: bool) -> None:
    assert bool(installs_by_name(text)) == found


def files() -> list[Path]:
    """Of the project; not those that a virtualenv or a build of the site put there."""
    folders = [ROOT / each for each in (".ci", ".github", "benchmarks", "docs", "src", "tests")]
    paths = [path for folder in [*folders, TOOLS] for path in folder.rglob("*") if path.is_file()]
    paths += [path for path in ROOT.iterdir() if path.is_file()]
    found = [each for each in paths if each.suffix in READ or each.name in NAMED]
    return [each for each in found if (ROOT / "benchmarks" / "data") not in each.parents]


def test_nothing_says_to_install_the_bare_name() -> None:
    read = [each for each in files() if each.name != Path(__file__).name]
    assert len(read) > 500
    wrong = {each.name: installs_by_name(each.read_text()) for each in read}
    assert not {name: found for name, found in wrong.items() if found}


def test_no_package_of_the_pages_depends_on_the_bare_name() -> None:
    """Its installation would take zealous from the index."""
    packages = [block for page in sorted(DOCS.rglob("*.md")) for block in blocks(page, "toml")]
    projects = [tomllib.loads(each).get("project", {}) for each in packages]
    assert sum("name" in each for each in projects) > 5
    for project in projects:
        named = project.get("dependencies", [])
        assert not [each for each in named if re.match(r"zealous\b(?!-)", each)]


def test_a_message_names_an_extra_that_is_there() -> None:
    said = str(missing_extra("the workbench needs two small packages", "web"))
    assert said.endswith("pip install '.[web]'")
    sources = (ROOT / "src").rglob("*.py")
    asked = {
        extra
        for path in sources
        for extra in re.findall(r"""raise missing_extra\([^)]*, "(\w+)"\)""", path.read_text())
    }
    assert asked == {"spark", "sql", "study", "web"} <= set(PROJECT["optional-dependencies"])
    page = (DOCS / "guide" / "install.md").read_text()
    assert all(f"`pip install '.[{extra}]'`" in page for extra in asked)


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_the_lines_for_completion_produce_it(shell: str) -> None:
    lines = "\n".join(blocks(DOCS / "guide" / "install.md", "sh"))
    assert f"_ZEALOUS_COMPLETE={shell}_source zealous" in lines
    done = subprocess.run(
        [COMMAND],
        env={"_ZEALOUS_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"_ZEALOUS_COMPLETE={shell}_complete" in done.stdout


def test_completion_names_commands() -> None:
    done = subprocess.run(
        [COMMAND],
        env={
            "_ZEALOUS_COMPLETE": "bash_complete",
            "COMP_WORDS": "zealous ver",
            "COMP_CWORD": "1",
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plain,verify"]


def test_what_the_container_copies_exists() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE)
    assert copied
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
    # what the wheel is built from: hatchling reads these
    assert {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src"} == set(
        " ".join(copied).split()
    )


def test_the_container_installs_the_wheel_that_it_built() -> None:
    installed = re.findall(r"pip install (.+?)(?: && |$)", CONTAINERFILE, re.MULTILINE)
    assert installed
    for each in installed:
        assert "/wheels/*.whl" in each
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", CONTAINERFILE)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    last = CONTAINERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER (?!root)\w+$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["zealous"]' in last
    assert "zealous" in PROJECT["scripts"]
