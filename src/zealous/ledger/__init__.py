"""The privacy budget spent on the same people over time, and its caps, crash-safe.

What a release costs comes in as a charge; how a release is charged belongs in release/charging.py.

charge -> accounts (what it adds up to) -> entries and events -> book (what follows from all of
them) -> refusals (what may not be charged) -> store (SQLite)
Ledger ties them together; location says where a log's ledger is; verify tries to catch it lying.
"""

from zealous.ledger.budgets import Accounts, Budget, Cap, Caps, Charge
from zealous.ledger.consistency import verify
from zealous.ledger.entries import Entry
from zealous.ledger.ledger import AlreadyReleased, Ledger
from zealous.ledger.location import FILE_NAME, existing_ledger, ledger_path, ledgers_above
from zealous.ledger.written import fingerprint

__all__ = [
    "FILE_NAME",
    "Accounts",
    "AlreadyReleased",
    "Budget",
    "Cap",
    "Caps",
    "Charge",
    "Entry",
    "Ledger",
    "existing_ledger",
    "fingerprint",
    "ledger_path",
    "ledgers_above",
    "verify",
]
