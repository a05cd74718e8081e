"""For click rates: a user's clicks count only if she kept the query that they follow.

Guarantee:
    What is left out of a user's items follows from what she herself kept of the other kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from zealous.counting.restriction import rows_found_in
from zealous.engines.engine import Engine, Stored
from zealous.engines.sql import Step
from zealous.items import Kind


@dataclass(frozen=True)
class KeptBySameUser:
    """A user's items may count only if she kept the item of another kind that they belong to.

    Attributes:
        kept: (user, item...) of the other kind, from `users_keeping`.
    """

    kept: Stored

    def steps(self, items: str, kind: Kind, engine: Engine) -> list[Step]:
        del engine  # what users kept is there already
        columns = ["user", *kind.restricting_columns()]
        return [Step("kept_by_same_user", rows_found_in(self.kept.name, items, columns))]
