"""Signing a release with an SSH key: release.json, which holds the hashes of all other files."""

from __future__ import annotations

import shlex
from pathlib import Path

from zealous.errors import Refused, UsageError, reason
from zealous.ledger.signatures import PROGRAM, RELEASE_NAMESPACE, sign, signature_file
from zealous.release.bundle import Release, release_folder
from zealous.verification.verify import verify


def sign_release(
    release: str | Path | Release, key: Path, *, passphrase: str | None = None
) -> Path:
    """Sign a release that `verify` passes, and write the signature beside it.

    Args:
        release: The release, or where it is.
        key: A private key, or a public one whose private key an agent holds.
        passphrase: Of the key; None to be asked for it in the terminal.

    Raises:
        Refused: A check fails: nobody should sign it.
        UsageError: It cannot be signed, or was signed before.
    """
    path = release_folder(release)
    failed = [check for check in verify(path) if check.ok is False]
    if failed:
        raise Refused(
            f"this release fails a check, so it is not signed; {failed[0].name}: {failed[0].detail}"
        )
    target = signature_file(path)
    if target.exists():
        raise UsageError(f"{target} exists already: remove it to sign anew")
    content = (path / "release.json").read_bytes()
    made = sign(content, key.expanduser(), namespace=RELEASE_NAMESPACE, passphrase=passphrase)
    try:
        with target.open("x", encoding="ascii") as file:
            file.write(made)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {reason(error)}") from None
    return target


def check_command(release: Path) -> str:
    """How a recipient checks the signature of a release, given a file of allowed signers."""
    signature = shlex.quote(str(signature_file(release)))
    return (
        f"{PROGRAM} -Y verify -f allowed_signers -I NAME -n {RELEASE_NAMESPACE} -s {signature} "
        f"< {shlex.quote(str(release / 'release.json'))}"
    )
