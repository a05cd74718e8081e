"""The command line: thin commands, each calling one public function.

Data goes to stdout, progress and notes to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from zealous.cli import terminal
from zealous.cli.command_groups import Commands
from zealous.cli.help import SpeakingOptions
from zealous.cli.study import study
from zealous.errors import LedgerError, UsageError, ZealousError
from zealous.files import interrupts
from zealous.files.passwords import without_password
from zealous.version import VERSION

_SECTIONS = {
    "Start": ("start", "serve", "inspect", "demo", "generate"),
    "Publish": ("plan", "approve", "publish", "series", "review", "ledger"),
    "Check": ("verify", "changes", "audit"),
    "Study": ("study",),
}
_INTERRUPTED = "zealous: interrupted; no release was left half-written"


class _Commands(SpeakingOptions, Commands):
    """Of one that belongs to the study, says where it is."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        found = super().get_command(context, name)
        if found is None and name in study.summaries:
            raise UsageError(f"{name} belongs to the study: zealous study {name}")
        return found


@click.group(
    cls=_Commands,
    package=__name__,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="zealous")
def cli() -> None:
    """Publish the frequent items of people's data with a proven privacy guarantee.

    Start with `zealous start LOG`, or without a log with `zealous demo`.
    """


def main() -> None:
    """Run a command; whatever goes wrong becomes one clear line that quotes no data."""
    _open_closed_streams()
    interrupts.raise_on((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    sys.excepthook = lambda *_: None  # a signal after the last line here would quote an error
    try:
        _check_arguments(sys.argv[1:])
        code = cli.main(standalone_mode=False) or 0
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        code = _fail(said.getvalue().rstrip("\n"), 2)
    except UsageError as error:
        code = _fail(f"zealous: {error}", 2)
    except LedgerError as error:  # it may say that there is a release: no signal hides that
        code = _say(f"zealous: {error}", 1)
    except ZealousError as error:
        code = _fail(f"zealous: {error}", 1)
    except (KeyboardInterrupt, click.Abort):
        code = _say(_INTERRUPTED, 1)
    except BrokenPipeError:
        terminal.discard_output(sys.stdout)
        code = 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            sys.exit(_fail("zealous: the name of a file or folder is too long", 2))
        # Neither the message nor the values of an unforeseen error may be shown: they can hold
        # data. Where it happened can.
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        unforeseen = f"an unforeseen {type(error).__name__} at {place}"
        code = _fail(f"zealous: {unforeseen}; please report it", 1)
    interrupts.ignore_more()
    try:
        sys.stderr.flush()
    except OSError:
        terminal.discard_output(
            sys.stderr
        )  # else Python tries again, and makes another exit code of it
    sys.exit(code)


def _open_closed_streams() -> None:
    """Whoever closes stdin, stdout or stderr means nobody: no file of ours may take its number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse what could be neither written to a release nor to a ledger nor shown."""
    try:
        "".join(arguments).encode()
    except UnicodeEncodeError:
        raise UsageError("an argument is not valid UTF-8: rename the file or folder") from None


def _fail(message: str, code: int) -> int:
    """Say what went wrong: the signal, where a library made another error of it."""
    return _say(_INTERRUPTED, 1) if interrupts.was_raised() else _say(message, code)


def _say(message: str, code: int) -> int:
    interrupts.ignore_more()
    terminal.note(_without_passwords(message))
    return code


def _without_passwords(message: str) -> str:
    """A message in which no argument, wherever it was put, tells the password in it."""
    for argument in sys.argv[1:]:
        for text in (argument, argument.partition("=")[2]):
            for written in (text, text.replace("//", "/")):  # as a path is written
                shown = without_password(written)
                if shown != written:
                    message = message.replace(written, shown)
    return message
