"""zealous serve: the workbench, in a browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from zealous.cli import terminal
from zealous.cli.option_values import path_argument, path_option
from zealous.errors import UsageError, missing_extra

_HELP = """Plan, approve, publish, explore, review and sign in a browser, on this machine.

Prints its address on the first line, which works once, and opens it in a browser. It sees only the
FOLDERs, or the current one if none is named: put the log and its ledger there. Nothing is fetched
from elsewhere, and nobody on another machine can reach it. With --release alone it shows a release
to its recipient, and changes nothing. It needs the extra 'web'.

\b
Examples:
  zealous serve logs
  zealous serve --release release --no-browser
"""


@click.command(help=_HELP)
@path_argument("folders", nargs=-1, metavar="[FOLDER...]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="[default: any free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@path_option(
    "--release",
    "releases",
    multiple=True,
    metavar="DIR",
    help="A release to explore. Can be repeated, to compare two.",
)
@click.option(
    "--internal",
    is_flag=True,
    help="Also show true figures of the log, which must stay with its owner; marked in red.",
)
@path_option("--key", metavar="FILE", help="The SSH key that you sign with; see zealous approve.")
def serve(
    folders: tuple[Path, ...],
    port: int,
    no_browser: bool,
    releases: tuple[Path, ...],
    internal: bool,
    key: Path | None,
) -> None:
    """Plan, approve, publish, explore, review and sign in a browser."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise missing_extra("the workbench needs two small packages", "web")
    # What is slow to load is loaded by whoever runs it, and not to show its help.
    from zealous.web.bench import Bench
    from zealous.web.folders import Folders
    from zealous.web.server import serve as run

    reading = bool(releases) and not folders
    if reading and (internal or key):
        raise UsageError("--release alone shows what was published: name a FOLDER to do more")
    for each in releases:
        if not (each / "release.json").is_file():
            raise UsageError(f"{each} is no release: it has no release.json")
    seen = [*releases, *(folders or ([] if reading else [Path()]))]
    bench = Bench(folders=Folders(seen), reading=reading, internal=internal, key=key)
    run(bench, port=port, browser=not no_browser, echo=click.echo, note=terminal.note)
