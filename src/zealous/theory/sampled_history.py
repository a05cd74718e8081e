"""A-hat: an algorithm that passes indistinguishability while every output breaches somebody.

It is here to be looked at, never to be used on people's data.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from zealous.errors import UsageError

History = TypeVar("History", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class SampledHistory(Generic[History]):
    """Shows one history, drawn uniformly from all possible ones except the first user's.

    Guarantee:
        (epsilon', 1/(|D| - 1))-indistinguishability (`replace`) for every epsilon' > 0, and even
        for epsilon' = 0. It is not (epsilon, delta)-probabilistic differentially private for any
        epsilon and any delta < 1: whatever it shows, everybody then knows for certain that the
        first user does not have it. docs/proofs/separation.md has the proofs.

    Attributes:
        domain: D, all histories that a user can have, each once.

    >>> hat = SampledHistory(domain=("cats", "dogs", "flu"))
    >>> hat.probabilities(["flu", "dogs"])
    {'cats': Fraction(1, 2), 'dogs': Fraction(1, 2), 'flu': Fraction(0, 1)}
    >>> hat.delta
    Fraction(1, 2)
    """

    domain: tuple[History, ...]

    def __post_init__(self) -> None:
        """Refuse a domain from which nothing could be drawn."""
        if len(set(self.domain)) != len(self.domain) or len(self.domain) < 2:
            raise UsageError("domain must list at least two histories, each once")

    def __call__(self, log: Sequence[History]) -> History:
        """Run it once, with the operating system's randomness."""
        possible = [history for history, p in self.probabilities(log).items() if p]
        return secrets.choice(possible)

    def probabilities(self, log: Sequence[History]) -> dict[History, Fraction]:
        """The exact probability of each output on a log, a history for each user."""
        if not log or not set(log) <= set(self.domain):
            raise UsageError("log must hold at least one user, and histories of the domain alone")
        each = self.delta
        return {history: Fraction(0) if history == log[0] else each for history in self.domain}

    @property
    def delta(self) -> Fraction:
        """The delta' of indistinguishability, the same for every epsilon'."""
        return Fraction(1, len(self.domain) - 1)
