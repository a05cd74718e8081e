"""How strongly two things go together: Dunning's log-likelihood ratio of a two-by-two table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zealous.study.releases.original_histogram import Ints

Floats = npt.NDArray[np.float64]


def log_likelihood_ratio(both: Ints, first: Ints, second: Ints, total: int) -> Floats:
    """Twice the log of how much likelier the table is with dependence than without.

    It is positive where the two go together more often than by chance, and 0 where they do so as
    often or less. Under independence it is about chi-squared with one degree of freedom. Cells
    that inconsistent counts would make negative are 0.

    Args:
        both: How often the two go together.
        first: How often the first occurs.
        second: How often the second occurs.
        total: How often anything does.
    """
    cells = np.stack([both, first - both, second - both, total - first - second + both])
    cells = np.maximum(cells, 0).astype(np.float64)
    rows = np.stack([cells[0] + cells[1], cells[2] + cells[3]])[[0, 0, 1, 1]]
    columns = np.stack([cells[0] + cells[2], cells[1] + cells[3]])[[0, 1, 0, 1]]
    whole = cells.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(cells > 0, np.log(cells * whole / (rows * columns)), 0.0)
    ratio = 2 * (cells * logs).sum(axis=0)
    attracted = cells[0] * whole > rows[0] * columns[0]
    return np.where(attracted, np.maximum(ratio, 0.0), 0.0)
