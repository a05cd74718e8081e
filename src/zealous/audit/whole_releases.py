"""Everything of a release besides its items and counts, on neighbouring logs.

The real command publishes logs that this module writes and whose histories it therefore knows. Two
of the three kinds get so much of the budget that their noise is zero for all practical purposes:
they show what was counted. The third has noise to look at: so much that two runs do not agree in it
by accident, and so many people that every row appears. Both are computed in
tests/project/test_false_alarms.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from zealous.audit.observables import constants_agree, published_alike
from zealous.audit.recompute import counts_after_selection, follows_from_theorems, whole_follows
from zealous.audit.runs import Run, start_run
from zealous.errors import ZealousError
from zealous.record.record import PartRecord

_USERS = 4800  # so many that every query appears: how many do is in the papers too
DECLARED = _USERS + 1  # whoever is added is still within it
_KINDS = ("queries", "clicks", "columns:tag")
_SPLIT = "queries=0.2,clicks=100,columns:tag=100"
_EPSILON, _DELTA = "200.2", "0.5"
_HEADER = "user,query,url,tag\n"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that must hold, and whether it did."""

    name: str
    passed: bool


def check_bundle(directory: Path) -> list[Check]:
    """Publish neighbouring logs with the real command, and compare what may not differ."""
    logs = write_logs(directory)
    started = {name: start_run(log, _options(DECLARED)) for name, log in logs.items()}
    too_many = start_run(write_log(directory, "too many", background_lines()), _options(_USERS - 1))
    runs = {name: finish() for name, finish in started.items()}
    refused = Check(name="more users than declared are refused", passed=_is_refused(too_many()))
    return [refused, *run_checks(runs, CHECKS)]


def write_logs(directory: Path) -> dict[str, Path]:
    """Neighbouring logs, each in a folder of its own."""
    logs = _neighbouring_logs()
    return {name: write_log(directory, name, lines) for name, lines in logs.items()}


def run_checks(
    runs: Mapping[str, Run],
    checks: Mapping[str, Callable[[Mapping[str, Run]], bool]],
    where: str = "",
) -> list[Check]:
    """What must hold of some runs, if all of them published something."""
    ended = not any(run.code for run in runs.values())
    found = [Check(name=f"every run ends with exit code 0{where}", passed=ended)]
    for name, each in checks.items() if ended else ():
        found.append(Check(name=f"{name}{where}", passed=_passes_check(each, runs)))
    return found


def _passes_check(check: Callable[[Mapping[str, Run]], bool], runs: Mapping[str, Run]) -> bool:
    """A release that cannot even be looked at does not pass."""
    try:
        return check(runs)
    except (ValueError, LookupError, TypeError, OSError, ZealousError):
        return False


def _is_refused(run: Run) -> bool:
    """It fails, says nothing to the public and leaves no release, not even a part of one."""
    left = [path.name for path in run.log.parent.iterdir()]
    made = [name for name in left if name.startswith((".", run.directory.name))]
    return run.code != 0 and not run.stdout and not made


def background_lines() -> list[str]:
    """The lines of everybody but the user who is there or not."""
    return [line for user in range(_USERS) for line in _lines_of_user(user)]


def _neighbouring_logs() -> dict[str, list[str]]:
    """Neighbours: one user more, one user less, one user whose lines nobody understands.

    And one of them again: what two runs on the same log have in common is not random.
    """
    others = background_lines()
    nobody = [f"{blank},topic 0,{_site(0)},t0" for blank in ("", " ", '""', "\u00a0") * 3]
    broken = ['victim,"topic 0,x,y', "victim,topic 0", 'victim,a"b"",c,"d', "victim,a\0,b,c"]
    half = len(others) // 2
    return {
        "with": ["victim,my own secret,http://secret.example,t0", *others],
        "without": others,
        "again": others,
        "broken": [*broken, *nobody, *others[:half], *broken, *nobody, *others[half:]],
    }


def _lines_of_user(user: int) -> Iterator[str]:
    """Three rows of one query, one site in two spellings, three tags of which one is kept.

    Some tags are held by more people than others, so that a choice by that would show.
    """
    for j in range(3):
        site = f" {_site(user)} " if j == 1 else _site(user)
        yield f"u{user},topic {user % 12},{site},t{(user % 97 * 7 + j * 11) % 40}"


def _site(user: int) -> str:
    return f"http://site{user % 30}.example"


def write_log(directory: Path, name: str, lines: list[str]) -> Path:
    """A log in a folder of its own."""
    (directory / name).mkdir()
    path = directory / name / "log.csv"
    path.write_text(_HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _options(users: int) -> list[str]:
    return [
        "--items",
        ",".join(_KINDS),
        "--items-per-user",
        "1",
        "--users",
        str(users),
        "--epsilon",
        _EPSILON,
        "--delta",
        _DELTA,
        "--split",
        _SPLIT,
        "--ledger",
        "ledger",
        "--id",
        "audit",
        "--signed-by",
        "audit",
        "--json",
    ]


def _constants_agree(runs: Mapping[str, Run]) -> bool:
    return constants_agree(runs, ("without", "again"))


def _rows_are_sorted(runs: Mapping[str, Run]) -> bool:
    tables = [run.table(kind) for run in runs.values() for kind in run.record().files]
    return all(table == sorted(table, key=lambda row: (-row[-1], row[:-1])) for table in tables)


def _files_agree(runs: Mapping[str, Run]) -> bool:
    """The CSV file holds what the Parquet file holds, in the same order."""
    for run in runs.values():
        for kind, files in run.record().files.items():
            text = (run.directory / files.csv).read_text(encoding="utf-8")
            written = run.written(kind)
            rows = [written.column_names, *(row.values() for row in written.to_pylist())]
            if text != "".join(f"{','.join(map(str, row))}\n" for row in rows):
                return False
    return True


def _noise_differs(runs: Mapping[str, Run]) -> bool:
    """Of the same log: not the same noise, nor the same noise in another order.

    As many people ask each query, so that noise in another order is counts in another order.
    """
    one, other = runs["without"].table("queries"), runs["again"].table("queries")
    return sorted(count for _, count in one) != sorted(count for _, count in other)


def _keys_differ(runs: Mapping[str, Run]) -> bool:
    keys = {run.record().selection_key for run in runs.values()}
    return len(keys) == len(runs) and all(keys)


def _key_reproduces_selection(runs: Mapping[str, Run]) -> bool:
    """Bounding by the published key gives the counts that were published."""
    run = runs["without"]
    rows = [line.split(",") for line in background_lines()]
    kept = counts_after_selection(
        [(user, tag) for user, _, _, tag in rows], run.record().selection_key
    )
    part = next(part for part in run.record().plan if part.kind == "columns:tag")
    expected = {item: count for item, count in kept.items() if _exceeds_tau_prime(count, part)}
    return bool(expected) and expected == dict(run.table("columns:tag"))


def _users_counted_once(runs: Mapping[str, Run]) -> bool:
    """Each user once for an item, nobody for lines without an id, and bad lines move no others."""
    expected = dict(Counter(_site(user) for user in range(_USERS)))
    return all(dict(run.table("clicks")) == expected for run in runs.values())


def plan_follows_from(epsilon: str, delta: str, kinds: int) -> Callable[[Mapping[str, Run]], bool]:
    """The plan follows from what was declared; nothing in it was counted from the log."""

    def follows(run: Run) -> bool:
        record = run.record()
        return (
            record.guarantee.users == DECLARED
            and len(record.plan) == kinds
            and all(follows_from_theorems(part, DECLARED) for part in record.plan)
            and whole_follows(record.plan, Fraction(epsilon), Fraction(delta))
        )

    return lambda runs: all(map(follows, runs.values()))


def _exceeds_tau_prime(count: int, part: PartRecord) -> bool:
    return part.tau_prime is not None and count > part.tau_prime


def _counts_exceed_tau_prime(runs: Mapping[str, Run]) -> bool:
    return all(
        _exceeds_tau_prime(count, part)
        for run in runs.values()
        for part in run.record().plan
        for _, count in run.table(part.kind)
    )


ALWAYS: dict[str, Callable[[Mapping[str, Run]], bool]] = {
    "besides items and counts, nothing published differs": published_alike,
    "what two runs on one log have in common, all runs have": _constants_agree,
    "rows are sorted by count, then item": _rows_are_sorted,
    "CSV and Parquet hold the same rows": _files_agree,
    "two runs draw different noise": _noise_differs,
}
CHECKS = {
    **ALWAYS,
    "nothing at or below tau' is published": _counts_exceed_tau_prime,
    "two runs draw different selection keys": _keys_differ,
    "the published key reproduces the selection": _key_reproduces_selection,
    "users are counted, each once, and bad lines move nobody else": _users_counted_once,
    "the plan follows from the declared users and the theorems": plan_follows_from(
        _EPSILON, _DELTA, len(_KINDS)
    ),
}
