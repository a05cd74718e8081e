"""Signatures by SSH keys: who approved a plan, a cap or a voided charge.

`ssh-keygen` signs and verifies. It knows agents, passphrases and hardware keys, and reads a file of
allowed signers with its principals, dates and namespaces, none of which is done again here.
"""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from zealous.errors import Refused, UsageError

PROGRAM = "ssh-keygen"
NAMESPACE = "zealous-plan"
_ANSWER = "ZEALOUS_ANSWER"  # the variable
RELEASE_NAMESPACE = "zealous-release"  # so that neither signature can be taken for the other


class NoSigningProgram(UsageError):
    """Signatures can neither be made nor verified here, which says nothing about them."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A plan, and somebody's signature of it.

    Attributes:
        plan: The bytes of the plan's file.
        signature: As `ssh-keygen -Y sign` writes it.
    """

    plan: bytes
    signature: str


def signer_names(approvers: str) -> list[str]:
    """The names in a file of allowed signers, in order."""
    lines = (line.strip() for line in approvers.splitlines())
    found = (
        line.split('"')[1] if line.startswith('"') else line.split()[0]
        for line in lines
        if line and not line.startswith("#")
    )
    return ["".join(each if each.isprintable() else "?" for each in name) for name in found]


def check_approvers(approvers: str) -> None:
    """Refuse a text that names nobody, or a line without a key: nobody could sign ever after.

    Raises:
        UsageError: It is no file of allowed signers.
    """
    lines = [line for line in approvers.splitlines() if line.strip() and line.strip()[0] != "#"]
    if not lines or not all(map(_has_key, lines)):
        raise UsageError(
            "these are no allowed signers: each line has a name and a public key, such as "
            "`ito@example.org ssh-ed25519 AAAA...`; see `man ssh-keygen`, ALLOWED SIGNERS"
        )


def _has_key(line: str) -> bool:
    """Whether a kind of key and a key of that kind stand behind a name."""
    _, *fields = line.split()
    for kind, key in pairwise(fields):
        try:
            inside = base64.b64decode(key, validate=True)
        except ValueError:
            continue
        if inside[4 : 4 + len(kind)] == kind.encode() and inside[:4] == len(kind).to_bytes(4):
            return True
    return False


def signature_file(signed: Path) -> Path:
    """Where the signature of a plan or of a release stands: beside it, not within.

    >>> signature_file(Path("logs/march")).as_posix()
    'logs/march.sig'
    """
    return signed.with_name(f"{signed.name}.sig")


def sign(
    message: bytes, key: Path, *, namespace: str = NAMESPACE, passphrase: str | None = None
) -> str:
    """Sign with a private key, or with a public one whose private key an agent holds.

    Args:
        message: What is signed.
        key: The key's file.
        namespace: What the signature is for.
        passphrase: Of the key; None to be asked for it in the terminal.
    """
    if not key.is_file():
        raise UsageError(f"there is no key at {key}: name one such as ~/.ssh/id_ed25519")
    arguments = ["-Y", "sign", "-f", str(key), "-n", namespace]
    with _passphrase_variables(passphrase) as environment:
        done = _run(arguments, message, quiet=False, environment=environment)
    if done.returncode:
        raise UsageError(f"{PROGRAM} could not sign with {key}: wrong passphrase, or no such key?")
    return done.stdout.decode("ascii", "replace")


def signer(message: bytes, signature: str, *, approvers: str, at: datetime) -> str:
    """Who signed a message: the principal of a key that was allowed to at that time.

    Raises:
        Refused: Nobody who may.
    """
    when = f"-Overify-time={at.astimezone(UTC):%Y%m%d%H%M%S}Z"
    with tempfile.TemporaryDirectory(prefix="zealous-") as folder:
        allowed, signed = Path(folder, "allowed_signers"), Path(folder, "signature")
        allowed.write_text(approvers, encoding="utf-8")
        signed.write_text(signature, encoding="utf-8")
        files = ["-s", str(signed), "-f", str(allowed), when]
        found = _run(["-Y", "find-principals", *files], b"")
        names = found.stdout.decode("utf-8", "replace").splitlines() if not found.returncode else []
        for name in names:
            if not _run(["-Y", "verify", "-I", name, "-n", NAMESPACE, *files], message).returncode:
                return name
    raise Refused(
        "the signature is not of one of the ledger's approvers, or it was made for something else: "
        "one of them signs plans by `zealous approve`, and decisions on the ledger with --key"
    )


@contextmanager
def _passphrase_variables(passphrase: str | None) -> Iterator[dict[str, str]]:
    """What the program runs with so that it asks nobody, and is told the passphrase.

    It takes one from a terminal or from a program alone. The passphrase is in the variables of
    these two processes, which only the same user and root can read, and in no file or argument.
    """
    if passphrase is None:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="zealous-") as folder:
        program = Path(folder, "answer")
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "${_ANSWER}"\n', encoding="ascii")
        program.chmod(0o700)
        told = {"SSH_ASKPASS": str(program), "SSH_ASKPASS_REQUIRE": "force"}
        yield {**told, _ANSWER: passphrase}


def _run(
    arguments: Sequence[str],
    message: bytes,
    *,
    quiet: bool = True,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603
            [PROGRAM, *arguments],
            input=message,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env={**os.environ, **(environment or {})},
            check=False,
        )
    except OSError:
        raise NoSigningProgram(
            f"signatures need the program {PROGRAM}: install openssh-client"
        ) from None
