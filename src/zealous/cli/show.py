"""How the commands speak: tables on stdout, progress on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

    from zealous.release.progress import Say

_WIDEST = 100


@contextmanager
def reporting_progress() -> Iterator[Say]:
    """Progress for a person: a line for each step, and a clock on a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: note(f"zealous: {text}")
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
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

    console = _console(highlight=False, width=None if sys.stdout.isatty() else 110)
    drawn = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(names):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        drawn.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(_format_cell(value)) for value in row))
    console.print(Text(title, "bold"), drawn)


def width() -> int:
    """How wide a text may be: as the terminal, and no wider than one reads well."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def as_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """Say something to the person who runs it, if anybody listens; not to a program."""
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


@contextmanager
def keeping_finished_work(done: str) -> Iterator[None]:
    """For what is printed of work that is done: where stdout does not take it, the work stays."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output(sys.stdout)
        note(f"zealous: {done}; what was to be printed of it could not be")


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


def _format_cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 0.01 else f"{value:.3g}"
    return "".join(each if each.isprintable() else "�" for each in str(value))
