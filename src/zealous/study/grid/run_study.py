"""The whole grid on one log: counted once, measured release by release, taken up where it broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from zealous.engines.engine import Engine, LocalEngine
from zealous.errors import LogError, UsageError
from zealous.items import Kind, possible_kinds
from zealous.items import kind_by_name as kind_named
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.logs.source import count_users
from zealous.mechanisms import Mechanism
from zealous.privacy.guarantee import Unit
from zealous.privacy.period import Period
from zealous.release.progress import report_skipped
from zealous.study.anonymity import METHODS, Method, check_engine, check_users, method_by_name
from zealous.study.grid.candidates import (
    ORIGINAL,
    ZEALOUS,
    Candidate,
    MechanismCandidate,
    MethodCandidate,
    OriginalCandidate,
    Setting,
    ZealousCandidate,
)
from zealous.study.grid.other_guarantees import OTHER_GUARANTEES, OtherGuaranteeCandidate
from zealous.study.grid.result_table import Results, as_table
from zealous.study.grid.second_process import second_process
from zealous.study.grid.study import Study
from zealous.study.grid.workspace import Workspace
from zealous.study.measures.caching import Caching
from zealous.study.measures.document_frequencies import Documents, documents_from
from zealous.study.measures.measured import Measured, OwnMeasure
from zealous.study.measures.statistics import Statistics
from zealous.study.releases import original_histogram as counting
from zealous.study.releases.original_histogram import Original
from zealous.study.releases.truth import Truth
from zealous.synthetic.corpus import document_frequencies

Say = Callable[[str], None]
SUBSTITUTED_M = (1, 6)  # substitution is measured at these m, where the study has them
_ANY = 1
_LEAST_MEMORY = 2 * 10**9  # for two processes


@dataclass(frozen=True, kw_only=True)
class StudyInputs:
    """What is run.

    Attributes:
        study: The settings.
        log: On what.
        methods: Custom ones, besides those of the study.
        measures: Custom ones.
        documents: From keywords to document frequencies, or a file with them; None for those of
            the synthetic corpus.
    """

    study: Study
    log: Log
    methods: Sequence[Mechanism | Method] = ()
    measures: Sequence[OwnMeasure] = ()
    documents: Documents | Path | None = None


def run_grid(
    grid: StudyInputs, kept: Workspace, engine: Engine, say: Say
) -> tuple[Results, list[str]]:
    """Run the grid; what the workspace has already is not run again.

    Returns:
        The figures, and why methods of the study were left out, a sentence each.
    """
    documents = choose_documents(grid.documents)
    originals = count_study_kinds(grid, kept, engine, say)
    shared = _half_memory_engine(grid, engine)
    left_out: list[str] = []
    todo = list(_candidates(grid, originals, shared or engine, left_out))
    for why in left_out:
        say(f"left out: {why}")
    against = truth_of(grid, originals, documents)
    apart = [each for each in todo if shared and _runs_in_second_process(each, kept)]
    with ExitStack() as stack:
        finish = None
        if apart and shared:
            say(f"measuring {len(apart)} settings in another process: {_progress_text(apart)}")
            theirs = replace(grid, methods=(), log=replace(grid.log, engine=None))  # it has its own
            finish = stack.enter_context(
                second_process(measure_in_second_process, theirs, copy(shared), kept)
            )
        here = [each for each in todo if each not in apart]
        _measure_all(here, against, kept, say)
        if finish is not None:
            say("waiting for the other process")
            finish()
    tables = [kept.rows(candidate.setting) for candidate in todo]
    return Results(table=pa.concat_tables(tables).combine_chunks()), left_out


def measure_in_second_process(grid: StudyInputs, engine: LocalEngine, kept: Workspace) -> None:
    """What the other process measures, and leaves in the workspace; the log was counted before."""
    kinds = _kinds(grid, ("keywords", "queries"))
    originals = count_histograms(
        grid.log, kinds, kept, bounds=(), key=0, engine=engine, say=lambda _: None
    )
    against = truth_of(grid, originals, choose_documents(grid.documents))
    todo = _candidates(grid, originals, engine, [])
    _measure_all(
        [each for each in todo if _runs_in_second_process(each, kept)],
        against,
        kept,
        lambda _: None,
    )


def _can_run(candidate: MethodCandidate, people: int, left_out: list[str]) -> bool:
    """Whether a method can be run on the log, or why not; a custom one must be."""
    method = candidate.method
    try:
        check_engine(method, candidate.engine)
        method.check(candidate.log.columns.assigned())
        check_users(people, method)
    except UsageError as error:
        if method.name not in METHODS:
            raise
        left_out.append(str(error))
        return False
    return True


def _half_memory_engine(grid: StudyInputs, engine: Engine) -> LocalEngine | None:
    """An engine that leaves half of the memory to a second process; None where there is none.

    Such a process cannot be told somebody's own code.
    """
    own = grid.measures or not (grid.documents is None or isinstance(grid.documents, Path))
    local = engine.local()
    if own or local is None or local.threads < 2 or local.memory < _LEAST_MEMORY:
        return None
    return local.with_resources(memory=local.memory // 2)


def _runs_in_second_process(candidate: Candidate, kept: Workspace) -> bool:
    """Whether it is one for the other process: slow, and without queries to learn from."""
    if not isinstance(candidate, MethodCandidate) or candidate.method.name not in METHODS:
        return False
    gives = candidate.method.published_columns(candidate.log.columns.assigned())
    return "query" not in gives and not kept.has(candidate.setting)


def _progress_text(candidates: Sequence[Candidate]) -> str:
    return ", ".join(dict.fromkeys(each.setting.method for each in candidates))


def _measure_all(
    candidates: Sequence[Candidate], against: Truth, kept: Workspace, say: Say
) -> None:
    """Measure what the workspace does not have."""
    for number, candidate in enumerate(candidates, 1):
        if not kept.has(candidate.setting):
            say(f"measuring {candidate.setting}: {number} of {len(candidates)}")
            kept.keep(candidate.setting, as_table(_measure(candidate, against)))


def truth_of(grid: StudyInputs, originals: Mapping[str, Original], documents: Documents) -> Truth:
    """What releases of the log are measured against."""
    return Truth(
        originals=originals,
        statistics=Statistics(top=grid.study.top),
        caching=_caching(grid, originals, documents),
        substituted=grid.study.substituted,
        own=grid.measures,
        substitution=grid.study.substitution,
    )


def choose_documents(given: Documents | Path | None) -> Documents:
    """How many documents contain each keyword."""
    if given is None:
        return document_frequencies
    return documents_from(given) if isinstance(given, Path) else given


def count_study_kinds(
    grid: StudyInputs, kept: Workspace, engine: Engine, say: Say
) -> dict[str, Original]:
    """The true histograms of the log, counted once for every m."""
    own = [m.items_per_user for m in grid.methods if not isinstance(m, Method)]
    bounds = sorted({*grid.study.items_per_user, *own})
    kinds = _kinds(grid, grid.study.kinds)
    return count_histograms(
        grid.log, kinds, kept, bounds=bounds, key=grid.study.seed, engine=engine, say=say
    )


def _kinds(grid: StudyInputs, names: Sequence[str]) -> list[Kind]:
    """Those of the study's kinds that are called so and that the log's columns allow."""
    settings = {"session_gap": grid.study.session_gap}
    wanted = [kind_named(name, _ANY, settings) for name in names if name in grid.study.kinds]
    return possible_kinds(wanted, grid.log.columns.assigned())


def check_kinds(grid: StudyInputs) -> None:
    """Refuse a log of which nothing could be compared."""
    if not _kinds(grid, grid.study.kinds):
        raise UsageError(
            f"the log has no {', '.join(grid.study.kinds)}: name the columns that hold them, by "
            "--query, --url, --time"
        )


def count_histograms(
    log: Log,
    kinds: Sequence[Kind],
    kept: Workspace,
    *,
    bounds: Sequence[int],
    key: int,
    engine: Engine,
    say: Say,
    period: Period | None = None,
    unit: Unit = "user",
) -> dict[str, Original]:
    """Histograms of these kinds, counted where the workspace does not have them."""
    with engine as running:
        say("reading the log")
        extra = [name for kind in kinds for name in kind.extra_columns()]
        source = open_log(log, running, extra, unit=unit, period=period)
        report_skipped(source.skipped, say)
        people = count_users(source)
        if people == 0:
            when = "" if period is None else f" of {period}"
            raise LogError(f"no entry{when} with a user id was understood: see `zealous inspect`")
        for kind in kinds:
            path = kept.histogram(kind.name())
            if not path.exists():
                say(f"counting {kind.name()}")
                counting.count_original(kind, source, path, bounds=bounds, key=key, say=say)
    return {
        kind.name(): counting.read_original(kind, kept.histogram(kind.name()), people, bounds)
        for kind in kinds
    }


def _caching(
    grid: StudyInputs, originals: Mapping[str, Original], documents: Documents
) -> Caching | None:
    """Index caching on this log, where it has keywords."""
    if "keywords" not in originals:
        return None
    own_words = "keywords" in grid.log.columns.assigned()  # then a query's words are not known
    queries = None if own_words else originals.get("queries")
    return Caching(documents=documents, queries=queries, memory=grid.study.memory_for_lists)


def _candidates(
    grid: StudyInputs, originals: Mapping[str, Original], engine: Engine, left_out: list[str]
) -> Iterator[Candidate]:
    """What is measured, in this order: what is quick first. What the log forbids is left out."""
    study = grid.study
    people = max(original.people for original in originals.values())
    yield OriginalCandidate()
    for m in study.items_per_user:
        for epsilon in dict.fromkeys(map(float, (*study.epsilons, study.epsilon))):
            yield ZealousCandidate(
                epsilon=epsilon, delta=study.delta, m=m, draws=study.draws, seed=study.seed
            )
    for name in study.mechanisms:
        for m in (m for m in SUBSTITUTED_M if m in study.items_per_user):
            for epsilon in map(float, study.epsilons):
                yield OtherGuaranteeCandidate(
                    name=name,
                    epsilon=epsilon,
                    delta=study.delta,
                    m=m,
                    draws=study.draws,
                    seed=study.seed,
                )
    for own in grid.methods:
        if not isinstance(own, Method):
            yield MechanismCandidate(mechanism=own, draws=study.draws, seed=study.seed)
        elif _can_run(
            by := MethodCandidate(
                method=own, log=grid.log, engine=engine, session_gap=study.session_gap
            ),
            people,
            left_out,
        ):
            yield by
    for method in _study_methods(grid):
        by = MethodCandidate(
            method=method, log=grid.log, engine=engine, session_gap=study.session_gap
        )
        if _can_run(by, people, left_out):
            yield by


def _study_methods(grid: StudyInputs) -> Iterable[Method]:
    """The anonymity methods of the study at each k, which keep clicks where clicks are compared."""
    study = grid.study
    used = {role for name in study.kinds for role in kind_named(name, 1).required_roles}
    clicks = "url" in used & grid.log.columns.assigned().keys()
    methods = [
        method_by_name(
            name,
            k=k,
            session_gap=study.session_gap,
            by_similarity=study.by_similarity,
            clicks=clicks,
        )
        for name in study.methods
        for k in study.k
    ]
    return dict.fromkeys(methods)  # one without k is the same for every k


def _measure(candidate: Candidate, against: Truth) -> Iterator[tuple[Any, ...]]:
    for draw in range(candidate.draws):
        for kind, figure in _figures(candidate, against, draw):
            yield row(candidate.setting, draw, kind, figure)


def row(setting: Setting, draw: int, kind: str, figure: Measured) -> tuple[Any, ...]:
    """A figure as a row of the long table."""
    place = (setting.method, setting.epsilon, setting.k, setting.m)
    return (*place, draw, kind, figure.measure, figure.at, float(figure.value))


def _figures(candidate: Candidate, against: Truth, draw: int) -> Iterator[tuple[str, Measured]]:
    released = candidate.release(against.originals, draw)
    m, itself = candidate.setting.m, candidate.setting.method == ORIGINAL
    learns = not itself and (m is None or m in SUBSTITUTED_M)
    yield from against.measure(released, substitute=learns)
    if itself:
        yield from against.measure_original()
    yield from candidate.own_figures(released, draw)


RESERVED_NAMES = (ORIGINAL, ZEALOUS, *OTHER_GUARANTEES, *METHODS)
