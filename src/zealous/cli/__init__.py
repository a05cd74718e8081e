"""The command line: thin commands, each calling one public function.

Data goes to stdout, progress and notes to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType

import click

from zealous.cli.anonymize import anonymize
from zealous.cli.attack import attack
from zealous.cli.audit import audit
from zealous.cli.compare import compare
from zealous.cli.demo import demo
from zealous.cli.evaluate import evaluate
from zealous.cli.generate import generate
from zealous.cli.inspect import inspect
from zealous.cli.ledger import ledger
from zealous.cli.plan import plan
from zealous.cli.publish import publish
from zealous.cli.review import review
from zealous.cli.suggest import suggest
from zealous.cli.tables import tables
from zealous.cli.verify import verify
from zealous.errors import UsageError, ZealousError
from zealous.version import VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="zealous")
def cli() -> None:
    """Publish the frequent items of people's data with a proven privacy guarantee.

    Start with `zealous demo`, or with `zealous inspect LOG` on a log of your own.
    """


_COMMANDS = (
    anonymize, attack, audit, compare, demo, evaluate, generate, inspect, ledger, plan, publish,
    review, suggest, tables, verify,
)  # fmt: skip
for command in _COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run a command; whatever goes wrong becomes one clear line that quotes no data."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, _interrupt)
    try:
        code = cli.main(standalone_mode=False) or 0
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except UsageError as error:
        code = _fail(str(error), 2)
    except ZealousError as error:
        code = _fail(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        code = _fail("interrupted; no release was left half-written", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        # Neither the message nor the values of an unforeseen error may be shown: they can hold
        # data. Where it happened can.
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        code = _fail(f"an unforeseen {type(error).__name__} at {place}; please report it", 1)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    click.echo(f"zealous: {message}", err=True)
    return code


def _interrupt(_: int, __: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # once is enough: what follows is cleaning up
    raise KeyboardInterrupt
