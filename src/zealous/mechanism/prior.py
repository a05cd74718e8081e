"""Rounds whose first is steered by what is publicly known to be frequent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from zealous.mechanism.protocol import Needs
from zealous.mechanism.rounds import Rounds

if TYPE_CHECKING:
    import pyarrow as pa


class Prior(Rounds):
    """Rounds, the first of which is steered by a public table of what is frequent.

    Each user gives first those of her items that stand highest there. That costs no privacy: which
    of her items she gives still depends on her own history and on public information alone. It
    favours what is listed, so the counts are bought afterwards, over all keys alike.
    """

    name: ClassVar[str] = "prior"
    needs: ClassVar[Needs | None] = "prior"

    def using(self, public: pa.Table) -> Self:
        """The same with its prior."""
        return replace(self, prior=public)
