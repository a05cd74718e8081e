"""Picture what people see: `python tools/screens.py`.

Runs the commands of the README in an empty folder, keeps the terminal as SVG, and takes a picture
of the page to sign in a real browser. The noise differs from run to run; tests/project/test_site.py
compares the words with those of the README.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "figures" / "screens"
README = ROOT / "README.md"
WIDTH = 80
# Without the fonts that rich would load from elsewhere.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect fill="#292929" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""  # noqa: E501
SHOWN = {"plan": "plan", "publish": "publish", "verify": "verify"}  # picture: command of the README


def readme_commands() -> list[str]:
    """The commands of the README, in order, as far as the pictures need them."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    zealous = [line for line in lines if line.startswith("zealous ")]
    return zealous[: next(n for n, line in enumerate(zealous) if " verify " in line) + 1]


def run(line: str, folder: Path) -> str:
    """What a command prints for data, as in a terminal of 80 columns."""
    program = Path(sys.executable).with_name("zealous")
    _, *arguments = shlex.split(line)
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={"COLUMNS": str(WIDTH), "PATH": "", "LOGNAME": "owner", "HOME": str(folder)},
    )
    return done.stdout


def contents(release: Path) -> tuple[str, str]:
    """What somebody sees who looks into a release: a command, and what it prints."""
    names = "  ".join(sorted(path.name for path in release.iterdir()))
    rows = (release / "queries.csv").read_text().splitlines()[:6]
    return f"ls {release.name}; head -6 {release.name}/queries.csv", "\n".join(
        [names, "", *rows, ""]
    )


def terminal(line: str, printed: str) -> str:
    """A terminal with a command and what it printed, as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    wrapped = " \\\n    ".join(_wrapped(line))
    console.print(Text(f"$ {wrapped}\n", style="bold green"))
    console.print(Text(printed))
    return console.export_svg(title="", code_format=_FORMAT, unique_id="zealous")


def _wrapped(line: str) -> list[str]:
    """A command in pieces that fit the terminal."""
    pieces, room = [""], WIDTH - 4
    for word in re.split(r" (?=-)", line):  # an option and its value stay together
        if len(pieces[-1]) + len(word) + 1 > room - 4:
            pieces.append("")
        pieces[-1] = f"{pieces[-1]} {word}".strip()
    return pieces


def statement(release: Path, output: Path) -> None:
    """The first page of the statement, as a browser shows it."""
    browser = shutil.which("chromium")
    if browser is None:
        raise SystemExit("the picture of the statement needs Chromium")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--hide-scrollbars",
                "--window-size=900,1180",
                f"--user-data-dir={profile}",
                f"--screenshot={output}",
                (release / "statement.html").as_uri(),
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    """Make all of them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty)
        printed = {line.split()[1]: (line, run(line, folder)) for line in readme_commands()}
        for picture, command in SHOWN.items():
            (FOLDER / f"{picture}.svg").write_text(terminal(*printed[command]))
        (FOLDER / "release.svg").write_text(terminal(*contents(folder / "release")))
        statement(folder / "release", FOLDER / "statement.png")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
