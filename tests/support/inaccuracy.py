"""How many items a release gets wrong, exactly: a second time, count by count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zealous.privacy.calibrate import Calibration, publication_probability
from zealous.study.theory.accuracy_theorem import AccuracyTarget, missing_probability

Counts = Mapping[int, int] | Iterable[int]


@dataclass(frozen=True, kw_only=True)
class Inaccuracy:
    """The expected number of items that are wrong, in its two halves.

    Attributes:
        retain: Very frequent items that are missing.
        filter: Very infrequent items that are shown.
    """

    retain: float
    filter: float

    @property
    def total(self) -> float:
        """The inaccuracy."""
        return self.retain + self.filter


def inaccuracy(calibration: Calibration, counts: Counts, wanted: AccuracyTarget) -> Inaccuracy:
    """The inaccuracy of ZEALOUS on a log, for any thresholds and any slack.

    Args:
        calibration: The parameters of ZEALOUS.
        counts: From a number of users, after bounding, to how many items have it; or one number
            for each item. Items without users need not be listed: they are never shown.
        wanted: What counts as a mistake.
    """
    listed = counts if isinstance(counts, Mapping) else Counter(counts)
    return Inaccuracy(
        retain=math.fsum(
            items * missing_probability(calibration, count)
            for count, items in listed.items()
            if count >= wanted.frequent
        ),
        filter=math.fsum(
            items * publication_probability(calibration, count)
            for count, items in listed.items()
            if count < wanted.infrequent
        ),
    )
