"""Keys by the policy Gaussian of Google's dp_mm_domain, at its best bound.

    python dp_mm_domain_policy.py INPUT OUTPUT [--bounds 10 30 100 300] [--draws 5]

With L2 descent. Its default is L1 descent, whose weights one person can move further than the
noise is for: dp_mm_domain_check.py. See best_bound.py.
"""

from best_bound import Published, Rows, items_by_user, main
from dp_mm_domain.policy_mechanisms import Descent, policy_gaussian_mechanism
from setting import DELTA, EPSILON


def release(rows: Rows, bound: int) -> Published:
    """(item, 0)."""
    users = items_by_user(rows)
    found = policy_gaussian_mechanism(users, bound, EPSILON, DELTA, descent=Descent.L2)
    return [(item, 0) for item in found]


if __name__ == "__main__":
    main({"": release})
