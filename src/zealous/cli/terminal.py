"""How the commands speak: tables on stdout, progress on stderr."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

    from zealous.release.progress import Say

_WIDEST = 100
_COMMANDS = ("zealous ", "zcat ", "jq ")
_NOT_PRINTED = "zealous: {}; what was to be printed of it could not be"
_LABEL = re.compile(r" *\S[^:]{0,24}? {2,}(?=\S)")


@contextmanager
def reporting_progress(share_done: Callable[[], float | None] = lambda: None) -> Iterator[Say]:
    """Progress for a person: a line for each step, and a clock on a terminal.

    Args:
        share_done: How much is done of what takes long in a step, where that is known.
    """
    if not sys.stderr.isatty():
        yield lambda text: note(f"zealous: {text}")
        return
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    forecast = Forecast(share_done)

    class Left(ProgressColumn):
        def render(self, _: Any) -> Text:
            return Text(forecast.text(time.monotonic()))

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), Left())
    progress = Progress(*columns, console=_console(stderr=True), transient=True)
    task = progress.add_task("starting")
    started = time.monotonic()

    def say(text: str) -> None:
        with suppress(OSError, ValueError):
            progress.console.print(f"[dim]{time.monotonic() - started:6.1f}s[/]  ", end="")
            progress.console.print(text, markup=False, highlight=False)
            progress.update(task, description=text)

    with suppress(OSError, ValueError):
        progress.start()
    try:
        yield say
    finally:
        with suppress(OSError, ValueError):
            progress.stop()


class Forecast:
    """How much is done, and how long the rest takes if it goes on like this.

    Args:
        share_done: Tells how much is done; it begins anew where another piece of work begins.
    """

    def __init__(self, share_done: Callable[[], float | None]) -> None:
        self._share_done = share_done
        self._first: tuple[float, float] | None = None
        self._last = 0.0

    def text(self, now: float) -> str:
        """What to say at some second; nothing of what has not taken a second."""
        share = self._share_done()
        if share is None:
            self._first = None
            return ""
        if self._first is None or share < self._last:
            self._first = now, share
        self._last = share
        begun, share_then = self._first
        if now - begun < 1 or share <= share_then:
            return ""
        left = (now - begun) * (1 - share) / (share - share_then)
        return f"{share:.0%} done, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    """In the largest unit of which there are two or more."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(1, round(seconds))} s"


@contextmanager
def current_step() -> Iterator[Say]:
    """Progress that leaves no trace on a terminal: what is being done now."""
    if not sys.stderr.isatty():
        yield lambda text: note(f"zealous: {text}")
        return
    with _console(stderr=True).status("starting") as status:
        yield lambda text: status.update(f"{text} ...")


@contextmanager
def progress_bar(text: str) -> Iterator[Any]:
    """A bar for work whose share done is known: call with a number from 0 to 1."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(text), BarColumn(), TextColumn("{task.percentage:.0f}%"))
    console = _console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(text, total=1.0)
        yield lambda share: progress.update(task, completed=share)


def table(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table on stdout; numbers stand to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = _console(highlight=False, width=shutil.get_terminal_size().columns)
    drawn = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, expand=False
    )
    for index, name in enumerate(names):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        drawn.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(_format_cell(value)) for value in row))
    console.print(Text(_wrap(title, width()), "bold"), soft_wrap=True)  # a path stays whole
    console.print(drawn, "")


def width() -> int:
    """How wide a text may be: as COLUMNS says, or as the terminal, as far as one reads well."""
    columns = shutil.get_terminal_size().columns
    return columns if "COLUMNS" in os.environ else min(columns, _WIDEST)


def echo(text: object) -> None:
    """Print text on stdout whose long lines wrap at words; a command to copy stays on its line."""
    click.echo(_wrap_all(str(text)))


def as_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """Say something to the person who runs it, if anybody listens; not to a program.

    On a terminal long lines wrap; in a file of messages each stays one line.
    """
    with suppress(OSError, ValueError):
        click.echo(_fit_stderr(text), err=True)


def note_internal() -> None:
    """Say on stderr that what was printed is for the owner alone."""
    note("zealous: internal: these figures reveal the log and are not for publication")


@contextmanager
def keeping_finished_work(done: str) -> Iterator[None]:
    """For what is printed of work that is done: where stdout does not take it, the work stays."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output(sys.stdout)
        note(_NOT_PRINTED.format(done))
    except BaseException:  # an interrupt, or what a library made of it
        note(_NOT_PRINTED.format(done))
        raise


def discard_output(stream: TextIO) -> None:
    """Send what a stream still holds, and all that comes, nowhere: who should get it is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _console(**options: Any) -> Console:
    from rich.console import Console

    class Raising(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would end the program here, whatever it is about to do

    return Raising(**options)


def _fit_stderr(text: str) -> str:
    return _wrap_all(text) if sys.stderr.isatty() else text


def _wrap_all(text: str) -> str:
    """Long lines wrap at words; commands to copy stay as they are."""
    lines, goes_on = [], False
    for line in text.split("\n"):
        command = goes_on or line.lstrip().startswith(_COMMANDS)
        lines.append(line if command else _wrap(line, width()))
        goes_on = command and line.endswith("\\")
    return "\n".join(lines)


def _wrap(line: str, width: int) -> str:
    """A line in several, each indented as the first; after a label, as what follows the label."""
    label = _LABEL.match(line)
    indent = len(label[0]) if label else len(line) - len(line.lstrip())
    return textwrap.fill(
        line,
        max(width, indent + 40),
        subsequent_indent=" " * indent,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _format_cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 0.01 else f"{value:.3g}"
    return "".join(each if each.isprintable() else "�" for each in str(value))
