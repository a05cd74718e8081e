"""Given releases, measured against the log that they were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zealous.engines.engine import Engine
from zealous.items import Kind, possible_kinds, queries, query_pairs
from zealous.logs.log import Log
from zealous.privacy.guarantee import SESSION_GAP
from zealous.privacy.period import Period
from zealous.study.grid.candidates import ORIGINAL, Setting
from zealous.study.grid.result_table import Results, as_table
from zealous.study.grid.run_study import (
    StudyInputs,
    choose_documents,
    count_histograms,
    row,
    truth_of,
)
from zealous.study.grid.study import Study
from zealous.study.grid.workspace import Workspace
from zealous.study.measures.document_frequencies import Documents
from zealous.study.measures.measured import Measured, OwnMeasure
from zealous.study.releases.given_releases import CountingRules, GivenRelease
from zealous.study.releases.released import original_as_release, released_by_text

TOP = (10, 100, 1_000, 10_000)
_ANY = 1


def measured(
    releases: Sequence[GivenRelease],
    log: Log,
    asked: CountingRules,
    kept: Workspace,
    *,
    documents: Documents | Path | None,
    own: Sequence[OwnMeasure],
    engine: Engine,
    say: Callable[[str], None],
) -> Results:
    """All figures of all releases, and of the original.

    Args:
        releases: What is measured.
        log: What they were made from.
        asked: How they were counted.
        kept: Where the true histograms are kept meanwhile.
        documents: As for a `Grid`.
        own: Measures of one's own.
        engine: Where to run.
        say: Receives progress.
    """
    roles = log.columns.assigned()
    for kind in asked.kinds.values():
        kind.check(roles)
    needed = {kind.name(): kind for kind in possible_kinds(_substitution_truth(asked.kinds), roles)}
    originals = count_histograms(
        log,
        list({**needed, **asked.kinds}.values()),
        kept,
        bounds=(),
        key=0,
        engine=engine,
        say=say,
        period=Period.parse(asked.period) if asked.period else None,
        unit=asked.unit,
    )
    grid = StudyInputs(study=Study(top=TOP), log=log, measures=own)
    against = truth_of(grid, originals, choose_documents(documents))
    say("measuring the original")
    whole = {kind: original_as_release(original) for kind, original in originals.items()}
    perfect = [*against.measure(whole, substitute=False), *against.measure_original()]
    rows = [*_rows(perfect, {kind: Setting(method=ORIGINAL) for kind in originals})]
    for release in releases:
        say(f"measuring {release.name}")
        found = {
            kind: released_by_text(originals[kind], table) for kind, table in release.tables.items()
        }
        strange = sum(each.beyond.num_rows for each in found.values())
        if strange and release.published:
            say(f"{strange:,} items of {release.name} are not in this log: was it made from it?")
        rows += _rows(against.measure(found, substitute=True), release.settings)
    return Results(table=as_table(rows))


def _substitution_truth(kinds: Mapping[str, Kind]) -> list[Kind]:
    """What query substitution needs of the original, counted as the releases count."""
    if any(kind.by for kind in kinds.values()):
        return []  # a query would be asked once for every value of the attribute
    settings = [kind.settings() for kind in kinds.values()]
    fold = any(each.get("fold", False) for each in settings)
    gap = max(
        (each["session_gap"] for each in settings if "session_gap" in each), default=SESSION_GAP
    )
    return [queries(_ANY, fold_words=fold), query_pairs(_ANY, fold_words=fold, session_gap=gap)]


def _rows(
    figures: Iterable[tuple[str, Measured]], settings: Mapping[str, Setting]
) -> Iterator[tuple[Any, ...]]:
    """The figures as rows of the long table."""
    for kind, figure in figures:
        yield row(settings[kind], 0, kind, figure)
