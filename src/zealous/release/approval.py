"""Approving a plan: a signature that stands beside its file."""

from __future__ import annotations

from pathlib import Path

from zealous.errors import UsageError, reason
from zealous.ledger.signatures import sign, signature_file
from zealous.planning.plan import Plan


def write_signature(planned: Plan, plan: Path, key: Path, *, passphrase: str | None = None) -> Path:
    """Sign a plan that was read from a file, and write the signature beside it.

    Args:
        planned: What `read_plan` read.
        plan: The file.
        key: A private key, or a public one whose private key an agent holds.
        passphrase: Of the key; None to be asked for it in the terminal.

    Raises:
        UsageError: It cannot be signed, or was signed before.
    """
    target = signature_file(plan)
    if target.exists():
        raise UsageError(f"{target} exists already: remove it to sign anew")
    signature = sign(planned.approved_file or b"", key.expanduser(), passphrase=passphrase)
    try:
        with target.open("x", encoding="ascii") as file:
            file.write(signature)
    except FileExistsError:
        raise UsageError(f"{target} exists already: remove it to sign anew") from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {reason(error)}") from None
    return target


def read_signature(plan: Path | None) -> str | None:
    """The signature of an approved plan, where there is one beside it."""
    if plan is None:
        return None
    try:
        return signature_file(plan).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
