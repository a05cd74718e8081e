"""A-hat: indistinguishable with a delta' as small as one likes, and each output a breach.

It draws one history, all alike, from every history that a user can have but the first user's, and
shows it. Nobody should use it: it is the paper's example of what indistinguishability allows.
docs/proofs/separation.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from zealous.errors import UsageError
from zealous.privacy.guarantee import positive_integer


@dataclass(frozen=True, kw_only=True)
class AHat:
    """A-hat, for users who each have one of so many histories; they are numbered from 0.

    Attributes:
        histories: n, how many histories a user can have.
    """

    histories: int

    def __post_init__(self) -> None:
        if positive_integer(self.histories, "histories") < 2:
            raise UsageError("histories must be at least 2: A-hat shows one that she does not have")

    def chance(self, output: int, first: int) -> Fraction:
        """The chance that a history is shown, if the first user has the other one."""
        return Fraction(0) if output == first else Fraction(1, self.histories - 1)

    def delta_prime(self) -> Fraction:
        """The least delta' of its indistinguishability (`replace`), the same for each epsilon'.

        If the first user's history changes from a to b, b alone becomes less likely, and it
        becomes impossible: no factor exp(epsilon') makes up for any of it.
        """
        before, after = 0, 1
        return self.chance(after, before) - self.chance(after, after)

    def breach_probability(self) -> Fraction:
        """The chance of an output that no epsilon of the probabilistic guarantee covers.

        Those are all that it can give: each is impossible if the first user has it.
        """
        shown, first = 1, 0
        return (self.histories - 1) * self.chance(shown, first)
