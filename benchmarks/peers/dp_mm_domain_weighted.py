"""Keys by the weighted Gaussian of Google's dp_mm_domain, at its best bound.

    python dp_mm_domain_weighted.py INPUT OUTPUT [--bounds 10 30 100 300] [--draws 5]

Its noisy weights are no counts, so nothing is counted. See best_bound.py.
"""

from best_bound import Published, Rows, items_by_user, main
from dp_mm_domain.weighted_gaussian import weighted_gaussian_mechanism
from setting import DELTA, EPSILON


def release(rows: Rows, bound: int) -> Published:
    """(item, 0)."""
    found = weighted_gaussian_mechanism(items_by_user(rows), bound, EPSILON, DELTA)
    return [(item, 0) for item in found]


if __name__ == "__main__":
    main({"": release})
