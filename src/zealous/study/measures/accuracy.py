"""The inaccuracy of ZEALOUS on a log: exact beside simulated, in its two halves, over the slack xi.

Wanted are the items of at least tau* = tau' users. True counts are those after bounding: what is
lost by bounding is no fault of noise and thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from zealous.privacy.calibrate import Calibration, publication_probability
from zealous.study.measures.measured import Measured
from zealous.study.releases.original_histogram import Ints, Original
from zealous.study.releases.released import Released
from zealous.study.theory.accuracy_theorem import AccuracyTarget, missing_probability

_SLACKS = (0, 1, 2, 4)  # times the noise's scale
_CERTAIN = 60  # scales above tau': the chance to be missing is below exp(-60)


def expected_inaccuracy(original: Original, calibration: Calibration, m: int) -> Iterator[Measured]:
    """The expected inaccuracy: the same for all draws of the noise."""
    wrong = _expected_mistakes(np.bincount(original.kept[m]), calibration)
    for wanted in _targets(calibration):
        retain = math.fsum(items for count, items in wrong.items() if count >= wanted.frequent)
        filtered = math.fsum(items for count, items in wrong.items() if count < wanted.infrequent)
        yield Measured("inaccuracy-retain-exact", retain, float(wanted.xi))
        yield Measured("inaccuracy-filter-exact", filtered, float(wanted.xi))


def _expected_mistakes(items: Ints, calibration: Calibration) -> dict[int, float]:
    """By count how many items are expected to be wrong: missing from tau' on, below it shown.

    Args:
        items: How many items have each count.
        calibration: The parameters of ZEALOUS.
    """
    # Above this no float shows that an item could be missing, and there are many such counts.
    reach = calibration.tau_prime + int(_CERTAIN * calibration.scale) + 1
    found = {}
    for count in map(int, np.flatnonzero(items[:reach])):
        wanted = count >= calibration.tau_prime
        chance = missing_probability if wanted else publication_probability
        found[count] = int(items[count]) * chance(calibration, count)
    return found


def counted_mistakes(released: Released, calibration: Calibration, m: int) -> Iterator[Measured]:
    """The mistakes in this release. A row that the original lacks is an item without users."""
    kept = released.original.kept[m]
    shown = kept[released.index]
    for wanted in _targets(calibration):
        missing = np.count_nonzero(kept >= wanted.frequent)
        missing -= np.count_nonzero(shown >= wanted.frequent)
        wrong = np.count_nonzero(shown < wanted.infrequent)
        wrong += released.beyond.num_rows if wanted.infrequent > 0 else 0
        yield Measured("inaccuracy-retain", int(missing), float(wanted.xi))
        yield Measured("inaccuracy-filter", int(wrong), float(wanted.xi))


def _targets(calibration: Calibration) -> Iterator[AccuracyTarget]:
    for slack in _SLACKS:
        yield AccuracyTarget(Fraction(calibration.tau_prime), slack * calibration.scale)
