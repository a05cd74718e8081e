"""Everything of a release besides its items and counts, on neighbouring logs.

The real command publishes logs that this module writes and whose histories it therefore knows. Two
of the three kinds get so much of the budget that their noise is zero for all practical purposes:
they show what was counted. The third has noise to look at.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.audit.recompute import parameters
from zealous.engines.duckdb import DuckDB
from zealous.errors import ZealousError
from zealous.histogram import histogram
from zealous.items import columns
from zealous.log import read_log
from zealous.source import open_log

_USERS = 2400  # so many that every query appears: how many do is in the papers too
_DECLARED = _USERS + 1  # whoever is added is still within it
_BUDGET = {"queries": "0.4", "clicks": "100", "columns:tag": "100"}
_EPSILON, _DELTA = "200.4", "0.5"
_HEADER = "user,query,url,tag\n"
_RANDOM = ("selection_key", "id", "rows", "sha256", "directory", "created")
_COMMAND = "from zealous.cli import main\n\nmain()\n"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that must hold, and whether it did."""

    name: str
    passed: bool


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One run of `zealous publish`: what it printed and what it wrote."""

    log: Path
    code: int
    stdout: str
    directory: Path

    def about(self) -> dict[str, Any]:
        """release.json."""
        found = json.loads((self.directory / "release.json").read_text(encoding="utf-8"))
        return dict(found)

    def table(self, kind: str) -> list[tuple[str, int]]:
        """The published rows of a kind, in the order of the file."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.directory / self.about()["files"][kind]["parquet"])
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def check_bundle(directory: Path) -> list[Check]:
    """Publish neighbouring logs with the real command, and compare what may not differ."""
    logs = {name: _written(directory, name, lines) for name, lines in _logs().items()}
    started = {name: _start(log, log.with_name("release")) for name, log in logs.items()}
    runs = {name: finish() for name, finish in started.items()}
    codes = [run.code for run in runs.values()]
    checks = [Check(name="every run ends with exit code 0", passed=not any(codes))]
    if any(codes):
        return checks
    return [
        *checks,
        *(Check(name=name, passed=_holds(each, runs)) for name, each in _CHECKS.items()),
    ]


def _holds(check: Callable[[Mapping[str, Ran]], bool], runs: Mapping[str, Ran]) -> bool:
    """A release that cannot even be looked at does not pass."""
    try:
        return check(runs)
    except (ValueError, LookupError, TypeError, OSError, ZealousError):
        return False


def _logs() -> dict[str, list[str]]:
    """Neighbours: one user more, one user less, one user whose lines nobody understands."""
    background = [line for user in range(_USERS) for line in _history(user)]
    nobody = [f"{blank},topic 0,{_site(0)},t0" for blank in ("", " ", '""', "\u00a0") * 3]
    broken = ['victim,"topic 0,x,y', "victim,topic 0", 'victim,a"b"",c,"d', "victim,a\0,b,c"]
    half = len(background) // 2
    return {
        "with": ["victim,my own secret,http://secret.example,t0", *background],
        "without": background,
        "broken": [*broken, *nobody, *background[:half], *broken, *nobody, *background[half:]],
    }


def _history(user: int) -> Iterator[str]:
    """Three rows of one query, one site in two spellings, three tags of which one is kept."""
    for j in range(3):
        site = f" {_site(user)} " if j == 1 else _site(user)
        yield f"u{user},topic {user % 12},{site},t{(user * 7 + j * 11) % 40}"


def _site(user: int) -> str:
    return f"http://site{user % 30}.example"


def _written(directory: Path, name: str, lines: list[str]) -> Path:
    (directory / name).mkdir()
    path = directory / name / "log.csv"
    path.write_text(_HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _start(log: Path, output: Path) -> Callable[[], Ran]:
    split = ",".join(f"{kind}={weight}" for kind, weight in _BUDGET.items())
    arguments = [
        "publish", str(log), "--items", ",".join(_BUDGET), "--items-per-user", "1",
        "--users", str(_DECLARED), "--epsilon", _EPSILON, "--delta", _DELTA, "--split", split,
        "--ledger", str(log.with_name("ledger")), "--id", "audit", "--signed-by", "audit",
        "--json", "-o", str(output),
    ]  # fmt: skip
    # A file, since libraries take a program without one for a conversation with a person.
    command = log.parent / "command.py"
    command.write_text(_COMMAND, encoding="utf-8")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, str(command), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )

    def finish() -> Ran:
        stdout, _ = process.communicate()
        return Ran(log=log, code=process.returncode, stdout=stdout, directory=output)

    return finish


def _same_besides_counts(runs: Mapping[str, Ran]) -> bool:
    return len({json.dumps(_public(run), sort_keys=True) for run in runs.values()}) == 1


def _public(run: Ran) -> dict[str, Any]:
    """All that was published, without items and counts and what is random or follows from them."""
    import pyarrow.parquet as pq

    said: dict[str, Any] = {"stdout": _fixed(json.loads(run.stdout))}
    for path in sorted(run.directory.iterdir()):
        if path.suffix == ".json":
            said[path.name] = _fixed(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".parquet":
            said[path.name] = str(pq.read_schema(path).remove_metadata())
        elif path.suffix == ".csv":
            said[path.name] = path.read_text(encoding="utf-8").partition("\n")[0]
        else:
            said[path.name] = _fixed(path.read_text(encoding="utf-8"))
    return said


def _fixed(value: Any) -> Any:
    """A value without what two runs on the same log may differ in."""
    if isinstance(value, dict):
        return {name: _fixed(each) for name, each in value.items() if name not in _RANDOM}
    if isinstance(value, list):
        return [_fixed(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"\b[0-9a-f]{16,}\b|\b[\d,]+ rows\b|\d{4}-\d\d-\d\d", "#", value)
    return value


def _sorted(runs: Mapping[str, Ran]) -> bool:
    tables = [run.table(kind) for run in runs.values() for kind in _BUDGET]
    return all(table == sorted(table, key=lambda row: (-row[1], row[0])) for table in tables)


def _files_agree(runs: Mapping[str, Ran]) -> bool:
    """The CSV file holds what the Parquet file holds, in the same order."""
    for run in runs.values():
        for kind in _BUDGET:
            text = (run.directory / run.about()["files"][kind]["csv"]).read_text(encoding="utf-8")
            lines = [f"{item},{count}" for item, count in run.table(kind)]
            if text.splitlines()[1:] != lines:
                return False
    return True


def _fresh_noise(runs: Mapping[str, Ran]) -> bool:
    """Of logs with the same entries: not the same noise, nor the same noise in another order."""
    one, other = runs["without"].table("queries"), runs["broken"].table("queries")
    return sorted(count for _, count in one) != sorted(count for _, count in other)


def _fresh_keys(runs: Mapping[str, Ran]) -> bool:
    keys = {run.about().get("selection_key") for run in runs.values()}
    return len(keys) == len(runs) and None not in keys


def _key_reproduces(runs: Mapping[str, Ran]) -> bool:
    """Bounding by the published key gives the counts that were published."""
    run = runs["with"]
    kind = columns("tag", items_per_user=1)
    key = int(run.about()["selection_key"], 16)
    with DuckDB(temporary=run.log.parent) as engine:
        source = open_log(read_log(run.log), engine, kind.extra())
        counted = histogram(kind, source, bound=1, at_least=1, select="random", key=key)
        rows = [row for batch in counted for row in zip(*batch.to_pydict().values(), strict=True)]
    part = next(part for part in run.about()["plan"] if part["kind"] == kind.name())
    expected = {item: count for item, count in rows if count > part["tau_prime"]}
    return bool(expected) and expected == dict(run.table(kind.name()))


def _users_counted(runs: Mapping[str, Ran]) -> bool:
    """Each user once for an item, nobody for lines without an id, and bad lines move no others."""
    expected = dict(Counter(_site(user) for user in range(_USERS)))
    return all(dict(run.table("clicks")) == expected for run in runs.values())


def _declared_users(runs: Mapping[str, Ran]) -> bool:
    """The plan follows from what was declared; nothing in it was counted from the log."""
    for run in runs.values():
        about = run.about()
        parts = about["plan"]
        if about["guarantee"]["users"] != _DECLARED or len(parts) != len(_BUDGET):
            return False
        if not all(follows(part, _DECLARED) for part in parts):
            return False
        spent = [sum(Fraction(p["exact"][name]) for p in parts) for name in ("epsilon", "delta")]
        if spent != [Fraction(_EPSILON), Fraction(_DELTA)]:
            return False
    return True


def follows(part: Mapping[str, Any], users: int | None) -> bool:
    """Whether a plan's scale, tau, tau' and delta are what the theorems give."""
    right = parameters(
        epsilon=Fraction(part["exact"]["epsilon"]),
        delta=Fraction(part["exact"]["delta"]),
        items_per_user=part["items_per_user"],
        users=users,
        probabilistic=part["guarantee"] == "probabilistic",
        replace=part["neighbors"] == "replace",
    )
    achieved = float(right.delta)
    return (
        Fraction(part["exact"]["scale"]) == right.scale
        and (part["tau"], part["tau_prime"]) == (right.tau, right.tau_prime)
        and abs(part["delta_achieved"] - achieved) <= 1e-9 * achieved
    )


def _above(runs: Mapping[str, Ran]) -> bool:
    return all(
        count > part["tau_prime"]
        for run in runs.values()
        for part in run.about()["plan"]
        for _, count in run.table(part["kind"])
    )


_CHECKS: dict[str, Callable[[Mapping[str, Ran]], bool]] = {
    "besides items and counts, nothing published differs": _same_besides_counts,
    "rows are sorted by count, then item": _sorted,
    "CSV and Parquet hold the same rows": _files_agree,
    "nothing at or below tau' is published": _above,
    "two runs draw different noise": _fresh_noise,
    "two runs draw different selection keys": _fresh_keys,
    "the published key reproduces the selection": _key_reproduces,
    "users are counted, each once, and bad lines move nobody else": _users_counted,
    "the plan follows from the declared users and the theorems": _declared_users,
}
