"""Statistical tests of noise, and how sure they must be to reject it."""

import numpy as np
import numpy.typing as npt
from scipy import stats

Ints = npt.NDArray[np.int64]
# Below this p-value a statistical test rejects. Most are seeded and never fail by chance; the three
# that compare unseeded draws, OpenDP's and ours, do so in about 3 of a million runs.
REJECT = 1e-6
DRAWS = 200_000


def counts(sample: Ints, reach: int) -> npt.NDArray[np.int64]:
    return np.bincount(np.clip(sample, -reach, reach) + reach, minlength=2 * reach + 1)


def p_value_alike(one: Ints, other: Ints, reach: int) -> float:
    table = np.stack([counts(one, reach), counts(other, reach)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def p_value_exact(found: npt.NDArray[np.int64], right: npt.NDArray[np.float64]) -> float:
    """That one of these numbers is so far from what its chance says: binomial, and of them all.

    A p-value of chi-square is right where it is not small; this one is never too small.
    """
    draws = found.sum()
    tails = [stats.binom.cdf(found, draws, right), stats.binom.sf(found - 1, draws, right)]
    return min(1.0, float(2 * right.size * np.min(tails)))


def p_value_independent(one: Ints, other: Ints, reach: int = 4) -> float:
    table = np.zeros((2 * reach + 1, 2 * reach + 1))
    rows, columns = (np.clip(values, -reach, reach) + reach for values in (one, other))
    np.add.at(table, (rows, columns), 1)
    return float(stats.chi2_contingency(table[table.any(axis=1)][:, table.any(axis=0)]).pvalue)


UNSEEDED = 1e-9
