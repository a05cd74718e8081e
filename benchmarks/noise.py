"""Microseconds a draw of exact integer noise, over 3 million draws.

python benchmarks/noise.py [--draws 3000000]
"""

from __future__ import annotations

import argparse
import os
import time
from fractions import Fraction

from zealous.mechanisms.laws import Noise
from zealous.noise import CappedLaplace, DiscreteGaussian, DiscreteLaplace

SCALES = (Fraction(2, 5), Fraction(4), Fraction(5), Fraction(80), Fraction(1000, 7))
SIGMAS = (Fraction(1), Fraction(383, 64), Fraction(107, 4), Fraction(189), Fraction(1 << 20))


def laws() -> list[tuple[str, Fraction, Noise]]:
    return [
        *(("discrete Laplace", scale, DiscreteLaplace(scale=scale)) for scale in SCALES),
        *(("discrete Gaussian", scale, DiscreteGaussian(scale=scale)) for scale in SIGMAS),
        ("Laplace up to 24", Fraction(2), CappedLaplace(scale=Fraction(2), most=24)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3_000_000)
    draws = parser.parse_args().draws
    print("| noise | scale | microseconds a draw |")
    print("|---|---|---|")
    for name, scale, noise in laws():
        started = time.perf_counter()
        noise.sample(draws, os.urandom)
        print(f"| {name} | {scale} | {(time.perf_counter() - started) / draws * 1e6:.2f} |")


if __name__ == "__main__":
    main()
