"""What each entry does with tables whose right answer is known: the facts behind README.md.

    python benchmarks/peers/check.py [--only zealous opendp ...]

Tiny tables, and a budget so large that noise disappears where bounding is looked at. The same file
runs inside each environment, with the name of the runner. Takes some minutes, most of them Spark's.
"""

from __future__ import annotations

import argparse
import importlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from check_more import MORE, over_delta, write
from setting import Release

HERE = Path(__file__).resolve().parent
USERS = 2_000
LOUD = 5.0  # an epsilon at which noise is small beside the counts
TINY = 1e-6


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        _inside(sys.argv[2])
        return
    from run import PEERS, python_of

    runners = {"zealous": "zealous_publish.py"} | {k: script for k, (_, script) in PEERS.items()}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=runners, default=list(runners))
    for entry in parser.parse_args().only:
        print(f"\n{entry}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [python_of(entry), __file__, "--inside", Path(runners[entry]).stem]
            done = subprocess.run(
                command, cwd=folder, check=False, stderr=subprocess.PIPE, text=True
            )
        if done.returncode:
            print(done.stderr[-1500:])


def _inside(runner: str) -> None:
    release: Release = importlib.import_module(runner).release
    own = MORE.get(runner, ())
    for check in (bounding, choice, repeats, rows, nobody, order, threshold, integers, *own):
        try:
            found = check(release)
        except Exception as error:  # a peer that fails is a finding
            found = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        print(f"  {check.__name__:10} {(check.__doc__ or '').splitlines()[0]} {found}", flush=True)


def bounding(release: Release) -> str:
    """Ten items each, 5 allowed. Items a user that counted:"""
    return f"{_total(release, _same(10)) / USERS:.2f}"


def choice(release: Release) -> str:
    """Ten items each, 5 allowed. Share of the users with which each counted, first row to last:"""
    counts = dict(release(write(_same(10)), LOUD, TINY, 5))
    return " ".join(f"{counts.get(name, 0) / USERS:.2f}" for name in "abcdefghij")


def repeats(release: Release) -> str:
    """One item asked 50 times and four once, 5 allowed. Items a user that counted (5 is right):"""
    pairs = [(user, name) for user in range(USERS) for name in ["a"] * 50 + ["b", "c", "d", "e"]]
    return f"{_total(release, pairs) / USERS:.2f}"


def rows(release: Release) -> str:
    """One item asked 20 times by each. Its count over the number of users (1 is right):"""
    pairs = [(user, "a") for user in range(USERS) for _ in range(20)]
    return f"{_total(release, pairs) / USERS:.2f}"


def nobody(release: Release) -> str:
    """300 rows of x without a user, of 300 users with y alone. Counts of x (0 is right) and y:"""
    pairs = [(None, "x")] * 300 + [(user, "y") for user in range(300)]
    counts = dict(release(write(pairs), LOUD, TINY, 5))
    return f"{counts.get('x', 0):.1f} {counts.get('y', 0):.1f}"


def order(release: Release) -> str:
    """Does the output come in the order of the log's first rows?"""

    def released(seed: int) -> tuple[list[str], list[str]]:
        items = [f"item {number}" for number in random.Random(seed).sample(range(1000), 30)]
        pairs = [(user, item) for item in items for user in range(200)]
        return items, [item for item, _ in release(write(pairs), LOUD, TINY, 30)]

    follows = all(log == output for log, output in map(released, (1, 2)))
    return "yes" if follows else "no"


def threshold(release: Release) -> str:
    """100,000 items of one user each, m 1, epsilon 1, delta 0.01. Share published over delta:"""
    pairs = [(user, f"item {user}") for user in range(100_000)]
    share = len(list(release(write(pairs), 1.0, 0.01, 1))) / len(pairs)
    return over_delta(share, len(pairs))


def integers(release: Release) -> str:
    """Kinds of numbers that are published, and the least, for counts of 100 at epsilon 1, m 5:"""
    pairs = [(user, f"item {user // 100}") for user in range(20_000)]
    counts = [count for _, count in release(write(pairs), 1.0, TINY, 5)]
    kinds = {type(count).__name__ for count in counts}
    least = f"{min(counts):.3f}" if counts else "none"
    return f"{', '.join(kinds)}; {least}; {len(counts)} of 200 published"


def _same(items: int) -> list[tuple[int, str]]:
    return [(user, name) for user in range(USERS) for name in "abcdefghij"[:items]]


def _total(release: Release, pairs: Iterable[tuple[Any, str]]) -> float:
    return sum(count for _, count in release(write(pairs), LOUD, TINY, 5))


if __name__ == "__main__":
    main()
