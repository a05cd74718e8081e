"""A release that no ledger is charged for: it says so, and the ledgers that it passes by know."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zealous.files.places import Place
from zealous.ledger import Charge, Entry
from zealous.release.charging import Bypass, charge_of
from zealous.release.request import Request


@dataclass(frozen=True, kw_only=True)
class Untracked:
    """No ledger is charged.

    Attributes:
        reason: Why, for a capped ledger of the log: it is recorded there, and demanded.
        signed_by: Who publishes; the name of the login where not given.
        internal: The release is for its owner alone, to measure something: nothing is recorded,
            and it cannot be written.
    """

    reason: str | None = None
    signed_by: str | None = None
    internal: bool = False

    @property
    def people(self) -> None:
        """Nobody adds up, so nobody has to be told apart."""

    @property
    def names_ledger(self) -> bool:
        """It is said that there be none."""
        return True

    def charged_to(self, log: Sequence[Place]) -> None:
        """No ledger."""

    def for_unprivate(self) -> Untracked:
        """The same."""
        return self

    def earlier_release(self, log: Sequence[Place], output: Place | None) -> None:
        """Without a ledger none is known."""

    def prepare(self, request: Request) -> UntrackedPayment:
        """Refuse to pass by a cap without a reason."""
        return UntrackedPayment(self, request)


INTERNAL = Untracked(internal=True)


class UntrackedPayment:
    """Stands for a payment where no ledger is charged."""

    def __init__(self, method: Untracked, request: Request) -> None:
        """Name the release by its seed, where it has one."""
        seed = request.plan.seed
        self.id = secrets.token_hex(8) if seed is None else f"seed-{seed}"
        self._charge: Charge = charge_of(request)
        self._bypass: Bypass | None = None
        if not method.internal:
            instead = "Leave out --no-ledger" if seed is None else "Leave out --seed"
            self._bypass = Bypass.find(method, request.log.paths, None, instead=instead)

    def doubts(self) -> list[str]:
        """No ledger, no doubt about it."""
        return []

    def like_releases(self) -> list[Entry]:
        """Without a ledger none is known."""
        return []

    def preview(self) -> None:
        """There will be no entry."""

    def reserve(self, say: Callable[[str], None]) -> None:
        """Charge nobody; tell the ledgers that it passes by."""
        if self._bypass is not None:
            self._bypass.record(self.id, self._charge, say)

    def settle(self, directory: Place | None) -> None:
        """There is no entry."""

    def mark_written(self, directory: Place, sha256: str) -> None:
        """There is no ledger to record it in."""
