"""The golden releases: what is published of the small logs, and a release as one readable text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from msgspec import structs

import zealous as z
from golden.kept import command, without_version

SHOP = z.Columns(user="customer", time="time")


def anybody(epsilon: int = 8, **more: Any) -> z.ProbabilisticDP:
    """The probabilistic guarantee."""
    return z.ProbabilisticDP(epsilon=epsilon, delta="1/100", users=1_000, **more)


def each(epsilon: int = 6, **more: Any) -> z.Indistinguishability:
    """The indistinguishable guarantee."""
    return z.Indistinguishability(epsilon=epsilon, delta="1e-5", users=1_000, **more)


def evenly_more(kinds: Sequence[Any]) -> dict[str, Any]:
    """Weights that grow from kind to kind."""
    return {kind.name(): 1 + place for place, kind in enumerate(kinds)}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One release.

    Attributes:
        log: The name of the log's file.
        goal: The guarantee.
        kinds: What is published.
        how: Further options of `publish`; public files by their names.
        reading: Options of `read_log`.
        approved: The SHA-256 of the file in which the plan was approved.
        only_duckdb: Why Spark gives something else; empty where it gives the same.
    """

    log: str = "searches.tsv"
    goal: Any
    kinds: Sequence[Any]
    how: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    approved: str | None = None
    only_duckdb: str = ""


BY_CHANCE = "each engine has its own hash, and so another random choice of a user's items"
SETS = z.itemsets("product", max_size=3, items_per_user=6, basket="basket")
CATALOGUES = ("croissant.json", "datapackage.json")  # long, and they follow from release.json
CATALOGUED = ("rates",)  # whose catalogues are kept too
FEW = [z.queries(4), z.keywords(12)]
TAIL = [*FEW, *z.tail(12)]

CASES: dict[str, Case] = {
    "searches": Case(
        goal=anybody(40),
        kinds=[z.keywords(12), z.queries(4), z.clicks(4), z.query_pairs(4)],
        how={"period": "2001-03", "parameters_from": "public-facts"},
    ),
    "changed-phrases": Case(
        goal=anybody(20, neighbors="add-remove"),
        kinds=[z.phrase_pairs(6), z.query_pairs(4, session_gap=45)],
        how={"split": {"phrase-pairs": 3, "query-pairs": "1/2"}},
    ),
    "by-land": Case(
        goal=anybody(24),
        kinds=[z.queries(4, by="land"), z.query_clicks(4, by="land", fold_words=True)],
    ),
    "rates": Case(goal=each(16), kinds=[z.queries(4), z.query_clicks(4, rates=True)]),
    "results": Case(
        goal=each(16), kinds=[z.queries(4), z.query_clicks(4)], how={"results": "results.tsv"}
    ),
    "result-rates": Case(
        goal=anybody(20),
        kinds=[z.queries(4), z.query_clicks(4, rates=True)],
        how={"results": "results.tsv"},
    ),
    "of-keywords": Case(
        goal=each(80),
        kinds=[z.keywords(12), z.queries(4)],
        how={"mechanism": {"queries": "of-keywords"}},
    ),
    "itemsets": Case(
        log="shop.csv",
        goal=anybody(120),
        kinds=SETS,
        how={"split": evenly_more(SETS)},
        reading={"columns": SHOP},
    ),
    "itemsets-gaussian": Case(
        log="shop.csv",
        goal=each(80),
        kinds=z.itemsets("product", "land", max_size=2, items_per_user=8),
        reading={"columns": SHOP},
    ),
    "sequences": Case(
        log="shop.csv",
        goal=anybody(90, neighbors="add-remove"),
        kinds=z.sequences("product", max_size=2, items_per_user=6),
        reading={"columns": SHOP},
    ),
    "tail": Case(
        goal=anybody(300),
        kinds=TAIL,
        how={"split": {kind.name(): 4 if kind.name() == "queries" else 10 for kind in TAIL}},
    ),
    "domain": Case(
        log="shop.csv",
        goal=z.Indistinguishability(epsilon=4, delta=0),
        kinds=[z.columns("product", items_per_user=6)],
        how={"domain": "products.csv"},
        reading={"columns": SHOP},
    ),
    "domain-and-prior": Case(
        goal=each(16, neighbors="add-remove"),
        kinds=[z.queries(4), z.columns("query", items_per_user=4)],
        how={"domain": {"columns:query": "likely.csv"}, "prior": {"queries": "likely.csv"}},
    ),
    "laplace": Case(goal=each(), kinds=[z.queries(4)], how={"mechanism": "laplace"}),
    "gaussian": Case(goal=each(16), kinds=FEW, how={"mechanism": "gaussian"}),
    "selection": Case(
        goal=each(1), kinds=[z.columns("land", items_per_user=1)], how={"mechanism": "selection"}
    ),
    "selection-twice": Case(
        goal=each(8), kinds=FEW, how={"mechanism": "selection-twice"}, only_duckdb=BY_CHANCE
    ),
    "pooled": Case(goal=each(), kinds=[z.queries(4)], how={"mechanism": "pooled"}),
    "auto": Case(
        goal=each(24, neighbors="add-remove"),
        kinds=[z.columns("land", items_per_user=1), z.queries(4), z.clicks(4)],
        how={"mechanism": "auto"},
    ),
    "user-days": Case(goal=anybody(unit="user-day"), kinds=[z.queries(4, fold_words=True)]),
    "sessions": Case(
        goal=each(20, unit="session"),
        kinds=[z.queries(4), z.query_pairs(4)],
        reading={"columns": z.Columns(session="visit")},
    ),
    "first-of-each": Case(goal=anybody(4), kinds=[z.queries(1)], how={"select": "first"}),
    "chosen-by-chance": Case(goal=anybody(6), kinds=[z.queries(2)], only_duckdb=BY_CHANCE),
    "frequent-of-each": Case(
        goal=each(4), kinds=[z.keywords(2)], how={"select": "frequent"}, only_duckdb=BY_CHANCE
    ),
    "aol": Case(
        log="aol.txt",
        goal=anybody(16),
        kinds=[z.queries(4), z.clicks(4)],
        reading={"preset": "aol"},
    ),
    "excite": Case(
        log="excite.log", goal=anybody(), kinds=[z.query_pairs(4)], reading={"preset": "excite"}
    ),
    "json-lines": Case(log="searches.jsonl", goal=each(16), kinds=[z.clicks(4), z.keywords(12)]),
    "strange-texts": Case(log="strange.csv", goal=each(80), kinds=[z.queries(4), z.keywords(20)]),
    "cleaned": Case(
        goal=anybody(),
        kinds=[z.queries(4)],
        how={"parameters_from": "this-log"},
        approved="ab" * 32,
        reading={
            "cleaning": lambda: z.Cleaning(
                exclude_users=Path("left-out.txt"),
                max_entries_per_user=4,
                limits=z.Limits(text=12, entries=50),
            )
        },
    ),
    "nothing": Case(goal=anybody(1), kinds=[z.queries(4)]),
}


def published(name: str, engine: z.Spark | None = None) -> str:
    """All that a case publishes, and what verify says of it; the logs are in this folder."""
    case = CASES[name]
    reading = {name: value() if callable(value) else value for name, value in case.reading.items()}
    log = z.read_log(Path(case.log), engine=engine, **reading)
    running = z.DuckDB(threads=1, memory="1GB") if engine is None else engine
    how = dict(case.how)
    period = how.pop("period", None)
    plan = z.plan(case.goal, list(case.kinds), seed=7, **how)
    release = z.publish(log, plan, account=None, engine=running, period=period)
    # Nobody approves a plan with a seed: what a release says of one that was is put into this one.
    record = structs.replace(release.record, approved_plan=case.approved)
    release = replace(release, record=record)
    release.write(name, not_private=True)
    verdict = command("verify", name)
    assert not verdict.stderr
    checked = f"===== zealous verify: exit code {verdict.code} =====\n{verdict.stdout}"
    return readable(Path(name)) + checked


def readable(folder: Path) -> str:
    """All files of a release as one text: Parquet as schema and rows, all else as it is."""
    about = json.loads((folder / "release.json").read_bytes())
    shown = folder.name in CATALOGUED
    names = sorted(path.name for path in folder.iterdir() if shown or path.name not in CATALOGUES)
    text = "".join(f"===== {name} =====\n{_readable(folder / name)}" for name in names)
    return _normalised(text, about, folder)


def _readable(path: Path) -> str:
    if path.suffix != ".parquet":
        text = _without_style(path.read_bytes().decode())
        return text if text.endswith("\n") else f"{text}\n===== no newline at the end =====\n"
    table = pq.read_table(path)
    schema = [f"{column.name}: {column.type}" for column in table.schema]
    rows = (json.dumps(list(row.values()), ensure_ascii=False) for row in table.to_pylist())
    return "\n".join([", ".join(schema), *rows]) + "\n"


def _without_style(page: str) -> str:
    """A page with the hash of its style, which is long and the same in all of them."""
    head, begin, rest = page.partition("<style>")
    style, end, body = rest.partition("</style>")
    digest = hashlib.sha256(style.encode()).hexdigest()
    return f"{head}{begin}(SHA-256 {digest}){end}{body}" if end else page


def _normalised(text: str, about: dict[str, Any], folder: Path) -> str:
    """Without what differs between versions of zealous or of pyarrow, or from day to day.

    This is the one place that hides anything: the version, the day, and the hashes of files, which
    are first compared with the files.
    """
    for name, digest in about["sha256"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
        text = text.replace(digest, f"(SHA-256 of {name})")
    return without_version(text).replace(about["created"], "(day)")
