"""Whole releases by other mechanisms than ZEALOUS: what they say besides items and counts.

One kind is found in rounds, one is listed in a public file, one is found with the help of such a
file, and sets of two are made of published ones. What many people have is found for certain, and
what one has alone is not, so that there are always as many rows.
"""

from __future__ import annotations

from pathlib import Path

from zealous.audit.runs import start_run
from zealous.audit.whole_releases import (
    ALWAYS,
    DECLARED,
    Check,
    background_lines,
    plan_follows_from,
    run_checks,
    write_log,
)

# A table has so much noise that two runs never agree in it, or so little that all of them do;
# tests/project/test_false_alarms.py computes how nearly never and all.
_SPLIT = {
    "queries": "1",
    "clicks": "1",
    "columns:tag": "30",
    "people": "1e-8",
    "things:tag": "6",
    "itemsets-1:tag": "1.99999999",
    "itemsets-2:tag": "210",
}
_EPSILON, _DELTA = "250", "1e-9"
_WHERE = " (pooled, domain, prior, of-smaller)"


def check_other_mechanisms(directory: Path) -> list[Check]:
    """Publish neighbouring logs with the real command, and compare what may not differ."""
    logs = write_logs(directory)
    started = {name: start_run(log, _options()) for name, log in logs.items()}
    return run_checks({name: finish() for name, finish in started.items()}, CHECKS, _WHERE)


def write_logs(directory: Path) -> dict[str, Path]:
    """Neighbouring logs, each in a folder of its own, beside the public lists."""
    others = background_lines()
    hers = "victim,my own secret,http://listed.example,t0"
    sites = [f"http://site{number}.example" for number in range(30)]
    _write_list(directory / "sites.txt", [*sites, "http://listed.example", "http://nobody.example"])
    _write_list(directory / "tags.txt", [f"t{number}" for number in range(40)])
    logs = {"with": [hers, *others], "without": others, "again": others}
    return {name: write_log(directory, name, lines) for name, lines in logs.items()}


def _write_list(path: Path, items: list[str]) -> None:
    path.write_text("".join(f"{item}\n" for item in items), encoding="utf-8")


def _options() -> list[str]:
    split = ",".join(f"{kind}={weight}" for kind, weight in _SPLIT.items())
    return [
        "--items", "queries,clicks,columns:tag,itemsets:tag", "--max-size", "2",
        "--items-per-user", "queries=1,clicks=1,columns:tag=1,itemsets:tag=3",
        "--users", str(DECLARED),
        "--guarantee", "indistinguishable", "--epsilon", _EPSILON, "--delta", _DELTA,
        "--split", split, "--mechanism", "queries=pooled,itemsets-2:tag=of-smaller",
        "--domain", "clicks=../sites.txt",
        "--prior", "columns:tag=../tags.txt",
        "--ledger", "ledger", "--id", "audit", "--signed-by", "audit", "--json",
    ]  # fmt: skip


CHECKS = {
    **ALWAYS,
    "the plan follows from the theorems": plan_follows_from(_EPSILON, _DELTA, len(_SPLIT)),
}
