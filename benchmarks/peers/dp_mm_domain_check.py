"""How far one person moves the weights of dp_mm_domain's policies: every log of three people.

    PYTHONPATH=benchmarks/data/peers/google-research \\
        benchmarks/data/peers/dp_mm_domain/bin/python benchmarks/peers/dp_mm_domain_check.py

Of three items, at a few caps. The noise of both policies is for weights that move by 1 at most.
"""

import itertools
import math

from dp_mm_domain.policy_mechanisms import Policy, get_policy_hist

ITEMS = range(3)
HISTORIES = [[item for item in ITEMS if n >> item & 1] for n in range(8)]
CAPS = (0.7, 1.2, 2.5)


def main() -> None:
    for policy in (Policy.GAUSSIAN_L1, Policy.GAUSSIAN_L2):
        moved = {
            (log, without, cap): _moved(log, without, cap, policy)
            for log in itertools.product(map(tuple, HISTORIES), repeat=3)
            for without in range(3)
            for cap in CAPS
        }
        log, without, cap = furthest = max(moved, key=lambda each: moved[each])
        print(
            f"{policy.name}: {moved[furthest]:.3f}, users {log}, cap {cap}, without {log[without]}"
        )


def _moved(log: tuple[tuple[int, ...], ...], without: int, cap: float, policy: Policy) -> float:
    """The Euclidean distance between the weights with and without one person."""
    others = log[:without] + log[without + 1 :]
    weights, fewer = (get_policy_hist(each, cap, policy) for each in (log, others))
    return math.dist([weights[item] for item in ITEMS], [fewer[item] for item in ITEMS])


if __name__ == "__main__":
    main()
