"""How many items a plan would probably publish: as an earlier release, or as an invented log.

Both are public: no figure of the log to be published is used. What is counted once is kept, so that
a step of a slider only weighs the counts anew.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from zealous.errors import UsageError
from zealous.libraries import pc, pq
from zealous.logs.log import Columns, read_log
from zealous.owner.draft import Draft
from zealous.owner.start import count_items, expected_number
from zealous.web.bench import Bench
from zealous.web.choice import SYNTHETIC, PlanChoice
from zealous.web.jobs import Job
from zealous.web.releases import ShownRelease

_PEOPLE, _SEED = 50_000, 7
_SEARCHES, _SHOP = "searches", "shop"
_LOGS: Mapping[str, tuple[str, Columns, list[str]]] = {
    _SEARCHES: ("search log", Columns(user="user", time="time", query="query", url="urls"), []),
    _SHOP: ("shop", Columns(user="customer", time="time"), ["--shop"]),
}
_PRODUCTS = "columns:product"  # which stand for the values of any column
_counting = threading.Lock()


def expected_items(bench: Bench, choice: PlanChoice) -> dict[str, str]:
    """By kind of items: how many would appear, in words; nothing where nobody asks."""
    if not choice.like:
        return {}
    if choice.like == SYNTHETIC:
        return _as_invented(bench, choice)
    return _as_released(ShownRelease(bench, choice.like), choice)


def is_counting(bench: Bench, choice: PlanChoice) -> bool:
    """Whether an invented log is still being made, so that a page asks again."""
    if choice.like != SYNTHETIC:
        return False
    return any(job.state == "running" for job in _jobs(bench, choice).values())


def _as_released(release: ShownRelease, choice: PlanChoice) -> dict[str, str]:
    """How many of an earlier release's rows would appear."""
    told: dict[str, str] = {}
    for part in choice.plan().parts:
        name = part.name()
        if name not in release.record.files:
            told[name] = "the earlier release has no such table"
            continue
        path = release.checked_file(release.record.files[name].parquet)
        counts = release.cached(f"counts {name}", [path], lambda path=path: _counts_in(path))
        found, whole = expected_number(part, counts), counts.total()
        told[name] = f"about {found:,.0f} of the {whole:,} items of {release.name} would appear"
    return told


def _counts_in(table: Path) -> Counter[int]:
    """How many rows of a published table have which count."""
    found = pc.value_counts(pq.read_table(table, columns=["count"])["count"])
    return Counter({max(each["values"].as_py(), 0): each["counts"].as_py() for each in found})


def _as_invented(bench: Bench, choice: PlanChoice) -> dict[str, str]:
    """How many items of invented people would appear, once these are made."""
    told: dict[str, str] = {}
    jobs, units = _jobs(bench, choice), choice.goal.units()
    for part in choice.plan().parts:
        name, log = part.name(), _log_like(part.name())
        words, *_ = _LOGS[log]
        if jobs[log].state != "done":
            failed = jobs[log].state == "failed"
            made = "could not be made" if failed else "is being made: a few seconds"
            told[name] = f"an invented {words} to expect by {made}"
            continue
        people, counts = _count_synthetic(bench, choice, log, name)
        most = min(choice.goal.users or people, people)
        scaled: Counter[int] = Counter()
        for count, items in counts.items():
            scaled[round(count * most / people)] += items
        more = "; with more of them, more" if most < (choice.goal.users or 0) else ""
        found = expected_number(part, scaled)
        told[name] = f"about {found:,.0f}, as in an invented {words} of {most:,} {units}{more}"
    return told


def _log_like(kind: str) -> str:
    return _SHOP if ":" in kind else _SEARCHES


def _file(bench: Bench, log: str) -> Path:
    if bench.scratch is None:
        raise UsageError("there is no folder for an invented log")
    return bench.scratch / f"expected-{log}.parquet"


def _jobs(bench: Bench, choice: PlanChoice) -> dict[str, Job]:
    """What makes the invented logs that a choice needs; begun when it is first asked for."""
    found: dict[str, Job] = {}
    for log in {_log_like(name): None for name in choice.items}:
        with _counting:
            key = f"expected {log}"
            made = ["generate", "-o", str(_file(bench, log)), "--users", str(_PEOPLE)]
            made += ["--seed", str(_SEED), *_LOGS[log][2]]
            made += ["--no-figures"] if log == _SEARCHES else []
            found[log] = bench.jobs.find(key) or bench.jobs.start(key, made)
    return found


def _count_synthetic(
    bench: Bench, choice: PlanChoice, log: str, kind: str
) -> tuple[int, Counter[int]]:
    """How many people there are in an invented log, and how many items so many of them have."""
    name = _PRODUCTS if log == _SHOP else kind
    draft = Draft(goal=choice.goal, items={name: choice.items[kind]})
    key = f"expected {choice.goal.unit} {draft.items}"
    with _counting:  # who comes second waits for the same figures
        if key not in bench.seen:
            invented = read_log(str(_file(bench, log)), columns=_LOGS[log][1])
            people, counts = count_items(invented, draft)
            bench.seen[key] = people, counts[name]
    found: tuple[int, Counter[int]] = bench.seen[key]
    return found
