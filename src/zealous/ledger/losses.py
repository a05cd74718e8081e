"""What one release tells, as its entry keeps it: the losses of its parts, for both relations.

Guarantee:
    The losses of an entry are at least what its release tells, for both relations of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from zealous.privacy.composition import Loss, delta_at, epsilon_at
from zealous.privacy.guarantee import Neighbors


@dataclass(frozen=True, kw_only=True)
class Losses:
    """The losses of a release's parts.

    Attributes:
        replace: Where one history becomes another.
        add_remove: Where a whole unit comes or goes.
    """

    replace: tuple[Loss, ...]
    add_remove: tuple[Loss, ...]

    def for_neighbors(self, neighbors: Neighbors) -> tuple[Loss, ...]:
        """Those for one relation."""
        return self.replace if neighbors == "replace" else self.add_remove

    def epsilon_replaced(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """What an `add-remove` release costs at its own delta where a history changes.

        At most twice its epsilon, which the same noise and thresholds give.
        """
        found = epsilon_at(self.replace, delta)
        return 2 * epsilon if found is None else min(max(found, epsilon), 2 * epsilon)

    def allow_replaced(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Whether a recorded epsilon covers a history that changes."""
        return delta_at(self.replace, epsilon) <= delta

    def as_json(self) -> dict[str, Any]:
        """As an event holds them: exact numbers as text."""
        return {
            "replace": [each.as_json() for each in self.replace],
            "add-remove": [each.as_json() for each in self.add_remove],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """Read back exactly."""
        return cls(
            replace=tuple(map(Loss.from_json, said["replace"])),
            add_remove=tuple(map(Loss.from_json, said["add-remove"])),
        )
