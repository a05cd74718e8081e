"""What can go wrong, as one tree.

    ZealousError
    |-- UsageError       a parameter is wrong or missing; nothing was read
    |-- LogError         the log cannot be read as declared
    |-- LedgerError      the ledger cannot be read or written
    |-- ReleaseError     a release cannot be written or read back
    |-- NotPublished     a release has no such table, or a table no such item
    `-- Refused          it could be done, and would not be safe

A message says what is wrong, names the parameter and says what to do. It names a setting by its
option; who calls from Python reads what to write there instead (`zealous.python_words`). It never
quotes data: the text of a log's line or value must not reach a terminal, a CI log or a support
ticket.
"""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from zealous.python_words import in_python

_speaking_options = False


@contextmanager
def speaking_options() -> Iterator[None]:
    """For the command line: errors name a setting by its option, and not by what Python says."""
    global _speaking_options
    before, _speaking_options = _speaking_options, True
    try:
        yield
    finally:
        _speaking_options = before


class ZealousError(Exception):
    """The base class of all errors that zealous raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message if _speaking_options else in_python(message))


class UsageError(ZealousError, ValueError):
    """A parameter is wrong or missing."""


def missing_extra(problem: str, extra: str) -> UsageError:
    """That packages are missing, and how to install them.

    Never by the bare name of zealous: on a package index it is another project's.
    """
    return UsageError(
        f"{problem}: install zealous with its extra '{extra}', in the folder of its source: "
        f"pip install '.[{extra}]'"
    )


class LogError(ZealousError):
    """The log cannot be read as declared."""


class LedgerError(ZealousError):
    """The ledger cannot be read or written."""


class ReleaseError(ZealousError):
    """A release cannot be written or read back."""


class NotPublished(ZealousError, KeyError):
    """A release has no such table, or a table no such item."""

    __str__ = Exception.__str__  # a KeyError would quote its message


class Refused(ZealousError):
    """Possible, but not safe: such as a release above a cap."""


def reason(error: OSError) -> str:
    """What the system says went wrong, without the path that its own message quotes."""
    return os.strerror(error.errno) if error.errno else "disk error"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about a misspelt word: the nearest known one, if there is one.

    It quotes what is known, so that no text of a log may be among it.

    >>> did_you_mean("keyword", ["keywords", "queries"])
    '. Did you mean keywords?'
    >>> did_you_mean("xyz", ["keywords", "queries"])
    ''
    """
    plain = {each.lower(): each for each in known if each.isprintable()}
    near = difflib.get_close_matches(word.lower(), plain, n=1, cutoff=0.7)
    return f". Did you mean {plain[near[0]]}?" if near else ""
