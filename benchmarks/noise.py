"""Microseconds a draw of exact discrete Laplace noise, over 3 million draws.

python benchmarks/noise.py
"""

from __future__ import annotations

import time
from fractions import Fraction

from zealous.noise import DiscreteLaplace

DRAWS = 3_000_000


def main() -> None:
    print("| scale | microseconds a draw |")
    print("|---|---|")
    for scale in (Fraction(2, 5), Fraction(4), Fraction(5), Fraction(80), Fraction(1000, 7)):
        noise = DiscreteLaplace(scale=scale)
        started = time.perf_counter()
        noise.sample(DRAWS)
        print(f"| {scale} | {(time.perf_counter() - started) / DRAWS * 1e6:.2f} |")


if __name__ == "__main__":
    main()
