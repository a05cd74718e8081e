"""What a guarantee rests on and the program cannot see, as a release states it."""

from __future__ import annotations

from collections.abc import Iterable

from zealous.logs.log import Columns
from zealous.logs.person_sql import query_assumption
from zealous.planning.declared import PublicFile
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.privacy.guarantee import SESSION_GAP, Guarantee
from zealous.privacy.period import Period
from zealous.record.record import PublicFileRecord

DECLARED = (
    "The file {name} (SHA-256 {sha256}) is public: of these people's data it holds at most what "
    "was released, and charged, before."
)
UNTIMED = "All entries of the log are of the period {}: it has no times to tell."
SESSIONS_OF_COLUMN = "Sessions are those of the log's column {}."
SESSIONS_CUT = f"A session ends after {SESSION_GAP} minutes without an entry."
OTHERS = (
    "No person of this log is in a release to which the ledger gives other people, and which of "
    "these people somebody belongs to is no secret."
)


def assumptions(
    goal: Guarantee,
    columns: Columns,
    period: Period | None,
    public: Iterable[PublicFile | PublicFileRecord] = (),
    *,
    others: bool,
    parameters_from: str,
    query: str | None = None,
) -> tuple[str, ...]:
    """What the guarantee rests on: with what the publisher says and the program cannot see."""
    cut = session_definition(goal, columns)
    source = PARAMETERS_FROM[parameters_from].assumption
    said = [*goal.assumptions(columns.user), source, *([cut] if cut else [])]
    if period is not None and columns.time is None:
        said.append(UNTIMED.format(period))
    if query is not None:
        said.append(query_assumption(query, goal.unit))
    if others:
        said.append(OTHERS)
    said += [DECLARED.format(name=file.name, sha256=file.sha256) for file in public]
    return tuple(said)


def session_definition(goal: Guarantee, columns: Columns) -> str | None:
    """What a session is, where that is the unit, as a release states it."""
    if goal.unit != "session":
        return None
    return SESSIONS_OF_COLUMN.format(columns.session) if columns.session else SESSIONS_CUT
