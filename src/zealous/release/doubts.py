"""What makes a run stop and ask before it costs: a release that is probably a mistake.

Each doubt is a function of a few lines that says what is wrong, or nothing. Those about public
figures are raised in every run. Those that look at the data are raised only where somebody is there
to answer: in an unattended series a missing release would tell what the log holds
(docs/proofs/observables.md). What is only odd is told, and stops nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zealous.engines.sql import Step
from zealous.files.places import Place
from zealous.logs.id_doubts import id_doubts
from zealous.logs.log import Log, inside_release
from zealous.logs.source import Source, has_users, known_entries, unreadable_lines
from zealous.planning.parameter_source import THIS_LOG
from zealous.planning.part import forecast
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import is_unnamed
from zealous.record.record import Record
from zealous.release.charging import Payment
from zealous.release.progress import Say, stop_or_tell, warn
from zealous.release.recognition import Recognition
from zealous.release.repetition import check_repetition
from zealous.release.request import Request

_MANY_UNREAD = 0.05  # of the times


@dataclass(frozen=True, kw_only=True)
class OpenedLog:
    """What is asked for, and the log that is open for it."""

    request: Request
    source: Source


def check_doubts(
    request: Request, record: Record, payment: Payment, recognition: Recognition, say: Say
) -> None:
    """Stop, in every run, where it is told without the data that this is probably a mistake.

    Raises:
        Refused: It is, and nobody said to go on.
    """
    if request.plan.parameters_from == THIS_LOG:
        say("the parameters were chosen by looking at this very log: the release says so")
    public = (
        _inside_release(request.output),
        _nothing_to_expect(request.plan),
        *recognition.ledger_doubts(),
    )
    stop_or_tell(filter(None, public), request.attendance == "proceed", say)
    check_repetition(request, record, payment, say)
    warn(payment.doubts(), say)


def check_data_doubts(request: Request, source: Source, recognition: Recognition, say: Say) -> None:
    """Stop an attended run where the log tells that this is probably a mistake.

    Raises:
        Refused: It is, and nobody said to go on.
    """
    if request.attendance != "unattended":
        _check_contents(request, source, say)
    warn(recognition.doubts(source), say)


def _check_contents(request: Request, source: Source, say: Say) -> None:
    opened, proceed = OpenedLog(request=request, source=source), request.attendance == "proceed"
    missing = (text for look in _MISSING if (text := look(opened)))
    stop_or_tell(_first(missing), proceed, say)
    warn(filter(None, [_unread_times(opened)]), say)
    unnamed = is_unnamed(request.log.columns.user)
    for doubt in id_doubts(source, unnamed=unnamed):
        if doubt.wrong_unit:
            stop_or_tell([f"{doubt.text}{_maybe_header(request.log)}"], proceed, say)
        else:
            warn([doubt.text], say)


def _maybe_header(log: Log) -> str:
    """What to do where the columns were named in order, and the first line does name them."""
    if log.layout is None or log.layout.has_header or not log.layout.names:
        return ""
    return (
        " The log is read without a header: if its first line does name the columns, leave "
        "--columns out, or begin with `zealous start LOG --header`."
    )


def _first(texts: Iterator[str]) -> list[str]:
    """Where all is missing, the first reason is enough."""
    found = next(texts, None)
    return [] if found is None else [found]


# Doubts about public figures


def _inside_release(output: Place | None) -> str | None:
    local = output.local() if output is not None else None
    if local is None or not inside_release(local):
        return None
    return "The output lies inside another release, which would no longer pass `zealous verify`."


def _nothing_to_expect(planned: Plan) -> str | None:
    users = planned.goal.users
    if users is None:
        return None
    least = [forecast(part).users_to_appear.low for part in planned.parts]
    if min(least) <= users:
        return None
    return (
        f"Nothing will appear: an item would need about {min(least):,} {planned.goal.units()}, and "
        f"at most {users:,} are declared. Raise epsilon, lower --items-per-user, or publish fewer "
        "kinds."
    )


# Doubts about what the log holds


def _unreadable(opened: OpenedLog) -> str | None:
    skipped = unreadable_lines(opened.source)
    if not skipped or skipped <= _count_rows(opened.source):
        return None
    return (
        "Most lines of the log cannot be read: check --format, --delimiter and --encoding (such as "
        "gb18030 or latin-1) with `zealous inspect`."
    )


def _no_rows(opened: OpenedLog) -> str | None:
    if _any_row(opened.source, (), "source"):
        return None
    return "The log has no rows."


def _needs_times(opened: OpenedLog) -> bool:
    planned, source = opened.request.plan, opened.source
    return "time" in source.roles and (
        opened.request.period is not None
        or planned.goal.unit != "user"
        or planned.select == "first"
        or any("time" in kind.required_roles for kind in planned.kinds())
    )


def _no_times(opened: OpenedLog) -> str | None:
    source = opened.source
    if not _needs_times(opened):
        return None
    if _any_row(source, known_entries(source), "known where time is not null"):
        return None
    return (
        "No time of the log can be read: say --time-format, such as epoch or %d/%m/%Y %H:%M. Times "
        "of day without a date tell neither days nor sessions: then leave out --time, --unit and "
        "--period."
    )


def _none_in_period(opened: OpenedLog) -> str | None:
    if opened.request.period is None or has_users(opened.source):
        return None
    return f"The log has no entry of the period {opened.request.period}."


def _no_users(opened: OpenedLog) -> str | None:
    if has_users(opened.source):
        return None
    return "No entry with a user id was understood: see `zealous inspect`."


def _no_items(opened: OpenedLog) -> str | None:
    """Of what is made from one entry each: to look for pairs or sessions takes a whole pass."""
    source, kinds = opened.source, opened.request.plan.kinds()
    made = (each for each in kinds if not (each.builds_on() or "time" in each.required_roles))
    for kind in made:
        if not _any_row(source, [*source.entries, *kind.steps(source)], "items"):
            return (
                f"No entry has an item of {kind.name()}: check its column's name, and how the "
                "values are written, with `zealous inspect`."
            )
    return None


_MISSING: tuple[Callable[[OpenedLog], str | None], ...] = (
    _unreadable,
    _no_rows,
    _no_times,
    _none_in_period,
    _no_users,
    _no_items,
)


def _unread_times(opened: OpenedLog) -> str | None:
    if not _needs_times(opened):
        return None
    share = Step("share", "select avg((time is null)::int) from known")
    unread = opened.source.engine.rows([*known_entries(opened.source), share])[0][0] or 0
    if unread <= _MANY_UNREAD:
        return None
    return (
        f"{unread:.0%} of the times cannot be read, and others perhaps wrongly, such as a day for "
        "a month: check --time-format with `zealous inspect`."
    )


def _any_row(source: Source, steps: Iterable[Step], rows: str) -> bool:
    some = Step("some", f"select 1 as one from {rows} limit 1")
    return bool(source.engine.rows([*steps, some]))


def _count_rows(source: Source) -> int:
    return int(source.engine.rows([Step("counted", "select count(*) from source")])[0][0])
