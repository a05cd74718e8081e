"""Releases for the tests of what a release says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from records import changed

from zealous.engines.duckdb import DuckDB
from zealous.items import Kind, clicks, keywords, queries, query_pairs
from zealous.logs.log import read_log
from zealous.privacy.guarantee import Guarantee, ProbabilisticDP
from zealous.release.account import Account
from zealous.release.bundle import Release
from zealous.release.publish import publish

KINDS: tuple[Kind, ...] = (keywords(6), queries(3), clicks(3), query_pairs(2))
GOAL = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000)
PERSONAL = ["anna.kern@mail.example", "12 elm street", "+44 20 7946 0958"]
TRACKED: dict[str, Any] = {
    "tracked": True,
    "ledger": "5f0e2c8a9b1d4e67",
    "dataset": "search log",
    "unit": "user",
    "neighbors": "replace",
    "entry": 7,
    "hash": "ab" * 32,
    "accounts": {
        "period": {
            "epsilon": 2.0,
            "delta": 0.001,
            "exact": {"epsilon": "2", "delta": "1/1000"},
            "releases": 1,
            "within": "2026-03",
        },
        "all": {
            "epsilon": 14.0,
            "delta": 0.007,
            "exact": {"epsilon": "14", "delta": "7/1000"},
            "releases": 7,
        },
        "delta_for_anybody": 0.007,
        "definition": "probabilistic",
    },
    "caps": {"all": {"epsilon": 24.0, "delta": 0.012}, "period": None},
}


def made(
    folder: Path,
    goal: Guarantee = GOAL,
    kinds: Sequence[Kind] = KINDS,
    *,
    seed: int | None = None,
    account: Account | None = None,
    period: str | None = None,
    **changes: Any,
) -> Release:
    """A release of 60 users who ask for tea, shoes and personal things; `changes` of keys."""
    rows = ["user\tquery\ttime\turl\n"]
    for user in range(60):
        for minute, query in enumerate(("Green Tea", "shoes", PERSONAL[user % 3])):
            url = f"http://shop.example/{query.split()[0].lower()}?q=1"
            rows.append(f"u{user}\t{query}\t2026-03-01 12:{minute:02d}:00\t{url}\n")
    path = folder / "log.tsv"
    path.write_text("".join(rows), encoding="utf-8")
    engine = DuckDB(threads=1, temporary=folder)
    release = publish(
        read_log(path), goal, kinds, engine=engine, seed=seed, account=account, period=period
    )
    path.unlink()
    return replace(release, record=changed(release.record, **changes))
