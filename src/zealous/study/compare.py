"""The composition: from a log to a study of what each method leaves of it, and from releases."""

from __future__ import annotations

import hashlib
import inspect
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq

from zealous.audit.custom_mechanism import MechanismAudit, audit_mechanism
from zealous.engines.engine import Engine
from zealous.errors import ReleaseError, UsageError, reason
from zealous.files.folder import check_new, new_folder
from zealous.files.places import Place, error_text, place_of
from zealous.files.scratch import working_directory
from zealous.logs.log import Log, is_synthetic
from zealous.mechanisms import Mechanism
from zealous.release.bundle import Release, release_folder
from zealous.study.anonymity import Method, check_engine
from zealous.study.claims.findings import Finding, findings
from zealous.study.claims.paper import printed_values
from zealous.study.extra import check_installed
from zealous.study.grid.candidates import check_custom_methods
from zealous.study.grid.result_table import Results
from zealous.study.grid.run_study import RESERVED_NAMES, StudyInputs, check_kinds, run_grid
from zealous.study.grid.study import Study
from zealous.study.grid.workspace import check_outside_release, mark_internal, workspace
from zealous.study.measures.document_frequencies import Documents
from zealous.study.measures.measure import measured
from zealous.study.measures.measured import OwnMeasure, name_of
from zealous.study.releases.given_releases import common_counting_rules, read_releases
from zealous.study.releases.truth import check_measures
from zealous.study.report.report import ReportContext, write_report
from zealous.study.theory.tables import tables
from zealous.version import VERSION

Say = Callable[[str], None]
_DOCUMENTS = {
    "corpus": "Document frequencies are those of a synthetic corpus of 25 million pages, with the "
    "vocabulary of the synthetic logs.",
    "file": "Document frequencies are those of the file that was given.",
    "own": "Document frequencies are those of the function that was given.",
}
_UNTOLD = " at 0x"  # in what Python prints of an object that does not say what it holds


@dataclass(frozen=True, kw_only=True, repr=False)
class StudyResult:
    """What came of a study. Internal: it compares with the truth.

    Attributes:
        study: The settings.
        results: All figures.
        findings: What the paper found, beside what was found here.
        audits: What was proven against the claims of custom mechanisms.
        directory: Where the report is; None where none was asked for.
    """

    study: Study
    results: Results
    findings: list[Finding]
    audits: list[MechanismAudit]
    directory: Path | None

    def __repr__(self) -> str:
        where = f", in {self.directory}" if self.directory else ""
        return f"StudyResult({self.results!r}{where})"


def compare(
    log: Log,
    study: Study | None = None,
    *,
    methods: Sequence[Mechanism | Method] = (),
    measures: Sequence[OwnMeasure] = (),
    documents: Documents | Path | None = None,
    output: str | Path | None = None,
    engine: Engine | None = None,
    say: Say = lambda _: None,
) -> StudyResult:
    """Compare ZEALOUS with the anonymity methods and custom methods on a log.

    What it returns and writes is internal: true figures, and noise that can be repeated.

    Args:
        log: The log.
        study: The settings. By default, the paper's.
        methods: Custom mechanisms and anonymity methods, see docs/extending/quick.md.
        measures: Custom measures.
        documents: How many documents contain each keyword: a file with the columns keyword and
            documents, or a function; a synthetic corpus where not given.
        output: A new directory for the report and the figures, or one in which the same study was
            interrupted: it continues there.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        say: Receives progress.
    """
    check_installed()
    study = study or Study()
    check_custom_methods(methods, RESERVED_NAMES)
    check_measures(measures)
    grid = StudyInputs(
        study=study,
        log=log,
        methods=methods,
        measures=measures,
        documents=Path(documents) if isinstance(documents, str) else documents,
    )
    running = log.engine_for(engine)
    _check_engine(methods, running)
    check_kinds(grid)
    with _output_directory(output, running) as directory:
        kept = workspace(directory, _identity(grid))
        with kept.removed_on_failure():
            results, left_out = run_grid(grid, kept, running, say)
        audits = _run_audits(methods, say)
        found = StudyResult(
            study=study,
            results=results,
            findings=findings(results, study),
            audits=audits,
            directory=None if output is None else directory,
        )
        if output is not None:
            say("drawing the report")
            with _removed_on_failure(directory):
                _write_study(found, grid, left_out, directory)
            kept.finish()
    return found


def evaluate(
    releases: str | Path | Place | Release | Sequence[str | Path | Place | Release],
    log: Log,
    *,
    documents: Documents | Path | None = None,
    measures: Sequence[OwnMeasure] = (),
    output: str | Path | None = None,
    engine: Engine | None = None,
    say: Say = lambda _: None,
) -> Results:
    """Measure how much of a log given releases keep.

    What it returns and writes is internal: it compares with the truth.

    Args:
        releases: One or several, as values or as directories: of `zealous publish`, of `zealous
            study anonymize`, or with tables in the same layout, such as queries.parquet with the
            columns query and count.
        log: The log that they were made from.
        documents: As for `compare`.
        measures: Custom measures.
        output: A new directory for the figures.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        say: Receives progress.
    """
    check_installed()
    check_measures(measures)
    target = None if output is None else Path(output)
    if target is not None:
        check_outside_release(target)
        check_new(target)
    listed = [releases] if isinstance(releases, str | Path | Place | Release) else releases
    given = read_releases(list(map(release_folder, listed)))
    asked = common_counting_rules(given, log, say)
    running = log.engine_for(engine)
    with _output_directory(None, running) as directory:
        results = measured(
            given,
            log,
            asked,
            workspace(directory, {}),
            documents=Path(documents) if isinstance(documents, str) else documents,
            own=measures,
            engine=running,
            say=say,
        )
    if target is not None:
        with new_folder(target, "evaluation", mode=0o700) as partial:
            mark_internal(partial, {"releases": [each.name for each in given], "software": VERSION})
            _write_results(results, partial)
    return results


@contextmanager
def _output_directory(output: str | Path | None, engine: Engine) -> Iterator[Path]:
    if output is not None:
        yield Path(output)
        return
    local = engine.local()
    where = local.temporary if local else None
    with working_directory(where) as made:
        yield made / "study"


@contextmanager
def _removed_on_failure(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReleaseError(
            f"{directory} cannot be written: {reason(error)}. The same command takes it up again"
        ) from None


def _identity(grid: Any) -> dict[str, Any]:
    """All that the figures depend on, to know an unfinished study again."""
    excluded, documents = grid.log.cleaning.exclude_users, grid.documents
    return {
        "study": grid.study.as_object(),
        "log": [_file_identity(path) for path in grid.log.paths],
        "read_as": [
            repr(getattr(grid.log, each.name)) for each in fields(grid.log) if each.name != "engine"
        ],
        "engine": grid.log.engine_for(None).name,
        "excluded": _file_identity(excluded) if excluded else None,
        "methods": [_code_identity(each) for each in grid.methods],
        "measures": [_code_identity(each) for each in grid.measures],
        "documents": _file_identity(documents)
        if isinstance(documents, Path)
        else (documents and _code_identity(documents)),
        "software": VERSION,
    }


def is_resumable(log: Log) -> bool:
    """Whether a study of a log that was broken off would know the log again."""
    try:
        return all(each.version() == each.version() for each in log.paths)
    except OSError:
        return False


def _file_identity(path: Path | Place) -> list[Any]:
    """A file as it is now."""
    try:
        return place_of(path).version()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error_text(error)}") from None


def _code_identity(own: object) -> str:
    """What somebody's own code is; never the same twice where that cannot be told."""
    try:
        if inspect.isroutine(own):
            given = [getattr(own, name, None) for name in ("__defaults__", "__kwdefaults__")]
            state = (inspect.getclosurevars(own).nonlocals, given)
            told = f"{inspect.getsource(own)} {state!r}"
        else:
            told = f"{inspect.getsource(type(own))} {vars(own)!r}"
    except (OSError, TypeError):
        told = _UNTOLD
    if _UNTOLD in told:
        told = secrets.token_hex(8)
    return hashlib.sha256(told.encode()).hexdigest()


def _check_engine(methods: Sequence[Mechanism | Method], engine: Engine) -> None:
    """Refuse custom methods that the engine cannot run; others are left out."""
    for method in methods:
        if isinstance(method, Method):
            check_engine(method, engine)


def _claiming_mechanisms(methods: Sequence[Mechanism | Method]) -> Iterator[Mechanism]:
    """The custom mechanisms that claim something."""
    for method in methods:
        if not isinstance(method, Method) and getattr(method, "goal", None) is not None:
            yield method


def _run_audits(methods: Sequence[Mechanism | Method], say: Say) -> list[MechanismAudit]:
    """What is proven against each custom mechanism that claims something."""
    found = []
    for mechanism in _claiming_mechanisms(methods):
        say(f"auditing {mechanism.name}")
        found.append(audit_mechanism(mechanism, say=say))
    return found


def _write_study(found: StudyResult, grid: Any, left_out: Sequence[str], directory: Path) -> None:
    """The long table, the findings and the report."""
    log, synthetic = grid.log, all(map(is_synthetic, grid.log.paths))
    people = found.results.value("people", "", "original")
    context = ReportContext(
        study=found.study.as_object(),
        users=int(people.mean) if people else 0,
        log={
            "files": ", ".join(path.name for path in log.paths),
            "columns": ", ".join(log.columns.assigned()),
        },
        synthetic=synthetic,
        tables=tables(),
        paper=printed_values(),
        audits=[
            {
                "method": audit.name,
                "epsilon": float(audit.goal.epsilon),
                "delta": float(audit.goal.delta),
                "proven": audit.epsilon,
                "seen_from": audit.detectable_epsilon,
                "failures": audit.failures(),
                "m": mechanism.items_per_user,
            }
            for audit, mechanism in zip(
                found.audits, _claiming_mechanisms(grid.methods), strict=True
            )
        ],
        documents=_DOCUMENTS[
            "file" if isinstance(grid.documents, Path) else "own" if grid.documents else "corpus"
        ],
        documents_fit=synthetic or grid.documents is not None,
        promises={each.name: each.promises for each in grid.methods if hasattr(each, "promises")},
        own=[*(each.name for each in grid.methods), *map(name_of, grid.measures)],
        left_out=left_out,
    )
    _write_results(found.results, directory)
    text = json.dumps([asdict(each) for each in found.findings], indent=2, ensure_ascii=False)
    (directory / "findings.json").write_text(text + "\n", encoding="utf-8")
    write_report(directory, found.results, found.findings, context)


def _write_results(results: Results, directory: Path) -> None:
    """One long table, as Parquet and CSV."""
    pq.write_table(results.table, directory / "internal-results.parquet", compression="zstd")
    pyarrow.csv.write_csv(results.table, directory / "internal-results.csv")
