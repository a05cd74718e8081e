"""The whole grid on one log: counted once, measured release by release, taken up where it broke."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from zealous.anonymity import METHODS, Method, check_users, named
from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError
from zealous.evaluate import original as counting
from zealous.evaluate.accuracy import counted as mistakes
from zealous.evaluate.accuracy import expected
from zealous.evaluate.caching import Caching, Documents
from zealous.evaluate.candidates import (
    ORIGINAL,
    ByMechanism,
    ByMethod,
    ByZealous,
    Candidate,
    Itself,
)
from zealous.evaluate.measured import Measured
from zealous.evaluate.original import Original
from zealous.evaluate.results import Results, as_table
from zealous.evaluate.study import Study
from zealous.evaluate.truth import OwnMeasure, Truth, truth
from zealous.evaluate.workspace import Workspace
from zealous.items import Kind, possible
from zealous.items import named as kind_named
from zealous.log import Log
from zealous.mechanism import Mechanism
from zealous.period import Period
from zealous.publish import tell_skipped
from zealous.source import count_users, open_log

Say = Callable[[str], None]
SUBSTITUTED_M = (1, 6)  # substitution is measured at these m, where the study has them
_ANY = 1


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What is run.

    Attributes:
        study: The settings.
        log: On what.
        methods: Of one's own, besides those of the study.
        measures: Of one's own.
        documents: From keywords to document frequencies.
    """

    study: Study
    log: Log
    methods: Sequence[Mechanism | Method]
    measures: Sequence[OwnMeasure]
    documents: Documents


def run(grid: Grid, kept: Workspace, engine: DuckDB, say: Say) -> Results:
    """Run the grid; what the workspace has already is not run again."""
    originals = count(grid, kept, engine, say)
    todo = list(_candidates(grid, engine))
    people = max(original.people for original in originals.values())
    for candidate in todo:
        if isinstance(candidate, ByMethod):
            check_users(people, candidate.method)
    say("learning query substitutions from the original")
    measured_against = truth(
        originals,
        top=grid.study.top,
        substituted=grid.study.substituted,
        caching=caching(grid.log, originals, grid.documents, grid.study.memory_for_lists),
        own=grid.measures,
    )
    tables = []
    for number, candidate in enumerate(todo, 1):
        rows = kept.rows(candidate.setting)
        if rows is None:
            say(f"measuring {candidate.setting}: {number} of {len(todo)}")
            rows = as_table(_measure(candidate, measured_against))
            kept.keep(candidate.setting, rows)
        tables.append(rows)
    return Results(table=pa.concat_tables(tables).combine_chunks())


def count(grid: Grid, kept: Workspace, engine: DuckDB, say: Say) -> dict[str, Original]:
    """The true histograms of the log, counted once for every m."""
    own = [m.items_per_user for m in grid.methods if not isinstance(m, Method)]
    bounds = sorted({*grid.study.items_per_user, *own})
    wanted = [kind_named(name, _ANY) for name in grid.study.kinds]
    kinds = possible(wanted, grid.log.columns.given())
    return counted(
        grid.log, kinds, kept, bounds=bounds, key=grid.study.seed, engine=engine, say=say
    )


def counted(
    log: Log,
    kinds: Sequence[Kind],
    kept: Workspace,
    *,
    bounds: Sequence[int],
    key: int,
    engine: DuckDB,
    say: Say,
    period: Period | None = None,
) -> dict[str, Original]:
    """Histograms of these kinds, counted where the workspace does not have them."""
    if not kinds:
        raise LogError("the log has none of the kinds of items that are compared")
    with engine as running:
        say("reading the log")
        extra = [name for kind in kinds for name in kind.extra()]
        source = open_log(log, running, extra, period=period)
        tell_skipped(source.skipped, say)
        people = count_users(source)
        if people == 0:
            raise LogError("no entry with a user id was understood: see `zealous inspect`")
        for kind in kinds:
            path = kept.histogram(kind.name())
            if not path.exists():
                say(f"counting {kind.name()}")
                counting.count(kind, source, path, bounds=bounds, key=key, say=say)
    return {kind.name(): counting.read(kind, kept.histogram(kind.name()), people) for kind in kinds}


def caching(
    log: Log, originals: Mapping[str, Original], documents: Documents, memory: int
) -> Caching | None:
    """Index caching on this log, where it has keywords."""
    if "keywords" not in originals:
        return None
    own_words = "keywords" in log.columns.given()  # then a query's words are not known
    queries = None if own_words else originals.get("queries")
    return Caching(documents=documents, queries=queries, memory=memory)


def _candidates(grid: Grid, engine: DuckDB) -> Iterator[Candidate]:
    """What is measured, in this order: what is quick first."""
    study = grid.study
    yield Itself()
    for m in study.items_per_user:
        for epsilon in dict.fromkeys(map(float, (*study.epsilons, study.epsilon))):
            yield ByZealous(
                epsilon=epsilon, delta=study.delta, m=m, draws=study.draws, seed=study.seed
            )
    for method in grid.methods:
        if isinstance(method, Method):
            yield ByMethod(method=method, log=grid.log, engine=engine)
        else:
            yield ByMechanism(mechanism=method, draws=study.draws, seed=study.seed)
    seen = set()
    for name in study.methods:
        for k in study.k:
            method = named(name, k=k)
            if method not in seen:
                seen.add(method)
                yield ByMethod(method=method, log=grid.log, engine=engine)


def _measure(candidate: Candidate, against: Truth) -> Iterator[tuple[Any, ...]]:
    setting = candidate.setting
    place = (setting.method, setting.epsilon, setting.k, setting.m)
    for draw in range(candidate.draws):
        for kind, figure in _figures(candidate, against, draw):
            yield (*place, draw, kind, figure.measure, figure.at, float(figure.value))


def _figures(candidate: Candidate, against: Truth, draw: int) -> Iterator[tuple[str, Measured]]:
    released = candidate.release(against.originals, draw)
    m = candidate.setting.m
    yield from against.measure(released, substitute=m is None or m in SUBSTITUTED_M)
    if isinstance(candidate, ByZealous):
        for kind, each in released.items():
            best = candidate.calibration(each.original.people)
            for figure in mistakes(each, best, candidate.m):
                yield kind, figure
            for figure in expected(each.original, best, candidate.m) if draw == 0 else ():
                yield kind, figure
    if candidate.setting.method == ORIGINAL:
        for kind, original in against.originals.items():
            yield kind, Measured("average-items", int(original.times.sum()) / original.people)
            yield kind, Measured("average-distinct-items", original.users.sum() / original.people)
        yield "", Measured("people", original.people)


TAKEN = (ORIGINAL, "zealous", *METHODS)
