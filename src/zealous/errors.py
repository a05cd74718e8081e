"""What can go wrong, as one tree.

    ZealousError
    |-- UsageError       a parameter is wrong or missing; nothing was read
    |-- LogError         the log cannot be read as declared
    |-- LedgerError      the ledger cannot be read or written
    |-- ReleaseError     a release cannot be written or read back
    `-- Refused          it could be done, and would not be safe

A message says what is wrong, names the parameter and says what to do. It never quotes data: the
text of a log's line or value must not reach a terminal, a CI log or a support ticket.
"""

import os


class ZealousError(Exception):
    """The root: catch this to catch everything that zealous raises on purpose."""


class UsageError(ZealousError, ValueError):
    """A parameter is wrong or missing."""


class LogError(ZealousError):
    """The log cannot be read as declared."""


class LedgerError(ZealousError):
    """The ledger cannot be read or written."""


class ReleaseError(ZealousError):
    """A release cannot be written or read back."""


class Refused(ZealousError):
    """It could be done, and would not be safe."""


def reason(error: OSError) -> str:
    """What the system says went wrong, without the path that its own message quotes."""
    return os.strerror(error.errno) if error.errno else "disk error"
