"""Whether the log of a run is one that was charged under another name, or looked at before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zealous.errors import ZealousError, reason
from zealous.files.places import Place
from zealous.ledger import Ledger
from zealous.ledger.location import log_name
from zealous.logs.id_sketch import Sketch, sketch_ids
from zealous.logs.log import Columns, Log, is_synthetic
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.planning.parameter_source import THIS_LOG
from zealous.record.record import LedgerStamp
from zealous.release import known_logs
from zealous.release.charging import PaymentMethod
from zealous.release.known_logs import KnownLog, KnownLogs, LogName, Overlap
from zealous.release.request import Request

Say = Callable[[str], None]
_OF_NUMBERS = " Two logs that number as many people share their ids too: then it means nothing."


@dataclass(kw_only=True)
class Recognition:
    """What is known of other logs when one is published.

    Attributes:
        known: The other logs; None where none is to be recognised.
        name: Under which name this one is charged.
        ledger: The file of its ledger; None where it is charged to none.
        said: Whether somebody named that ledger, or said that there be none.
        looked: Whether the release says that its parameters were chosen by looking at this log.
        sketch: Of its ids, once it was looked at.
        found: What it shares people with.
    """

    known: KnownLogs | None
    name: LogName
    ledger: Path | None
    said: bool
    looked: bool
    sketch: Sketch | None = None
    found: list[Overlap] = field(default_factory=list)

    @property
    def key(self) -> str | None:
        """The key of the sketch that is to be made, if one is."""
        return self.known.key if self.known is not None else None

    def ledger_doubts(self) -> list[str]:
        """What is probably a mistake: a ledger without entries that were charged to it.

        So a copy that both went on, or an older one, is noticed before it is charged; where this
        user charged both.
        """
        if self.known is None or self.ledger is None or not self.ledger.exists():
            return []
        book = Ledger.open(self.ledger).book()
        for (ledger, file), entry in self.known.entries.items():
            if ledger == book.id and book.entry_hashed(entry) is None:
                return [self._lacks_charges(file)]
        return []

    def _lacks_charges(self, file: str) -> str:
        told = f"The ledger {self.ledger} does not hold what you charged to it"
        if file == str(self.ledger and self.ledger.resolve()):
            return (
                f"{told} before: an older copy took its place, and what was charged since is "
                "forgotten. Put the newest copy back with `zealous ledger restore`."
            )
        return (
            f"{told} in {file}: it is an older copy, or two copies went on apart, and both spent "
            f"of one budget. Compare them with `zealous ledger verify "
            f"{shlex.quote(str(self.ledger))} --copy {shlex.quote(file)}`, and go on with the one "
            "that holds more."
        )

    def doubts(self, source: Source) -> list[str]:
        """What is probably a mistake: people who are charged elsewhere, or were looked at."""
        if self.known is None:
            return []
        try:
            self.sketch = sketch_ids(source, self.known.key)
        except ZealousError:  # it decides about no release
            return []
        every = self.known.overlaps(self.sketch)
        self.found = [each for each in every if not self._expected(self.known, each.known)]
        charged = [each for each in self.found if each.known.ledger is not None]
        looked = [each for each in self.found if each.known.ledger is None]
        return [
            *([self._charged_elsewhere(charged)] if charged else []),
            *([_looked_at_text(looked[0])] if looked else []),
        ]

    def remember(self, stamp: LedgerStamp | None, say: Say) -> None:
        """Keep the sketch of a log that was charged, and what was gone on with."""
        if self.known is None:
            return
        name = self.name._replace(ledger=stamp.ledger if stamp is not None else "")
        try:
            self.known.note(name, self.found)
            if self.ledger is not None and stamp is not None:
                file = str(self.ledger.resolve())
                if self.sketch is not None:
                    self.known.add(KnownLog(name, file, known_logs.today(), self.sketch))
                self.known.add_entry(stamp.ledger, file, stamp.hash)
        except OSError as error:
            say(_unusable_text(error))

    def _expected(self, known: KnownLogs, other: KnownLog) -> bool:
        """Whether it need not be told: one ledger counts both, or somebody knows already."""
        if (self.name, other.name) in known.noticed:
            return True
        if other.ledger is None:
            return self.looked
        # Who names another ledger for this very log, or none, has said it.
        own = LogName(self.name.log, other.name.ledger)
        passed_by = self.said and any(each.name._replace(people=None) == own for each in known.logs)
        return passed_by or self.name.counted_with(other.name)

    def _charged_elsewhere(self, found: Sequence[Overlap]) -> str:
        first, *others = found
        known, more = first.known, ""
        if others:
            more = f" It shares people with {len(others)} more logs that were charged."
        instead = "charge that ledger: --ledger FILE"
        if known.name.ledger == self.name.ledger:
            instead = f"they are not apart: say --people {known.name.people}"
        return (
            f"This log shares people with {known.name.log}, by their ids: {first.text()} of the "
            f"smaller log's. That log was charged to {known.ledger} on {known.day}, and this "
            f"release is not counted with it.{more} If they are the same people, {instead}."
            f"{_OF_NUMBERS if known.sketch.numbers else ''}"
        )


def recognise(paying: PaymentMethod, request: Request, say: Say) -> Recognition:
    """Prepare to recognise a log that is published: nothing of it is read yet."""
    log, ledger = request.log, paying.charged_to(request.log.paths)
    return Recognition(
        known=None if _nothing_private(paying, request) else _known_logs(log, say),
        name=LogName(
            log=_place_name(log.paths),
            ledger=Ledger.open(ledger).id if ledger is not None and ledger.exists() else "",
            people=paying.people,
        ),
        ledger=ledger,
        said=paying.names_ledger,
        looked=request.plan.parameters_from == THIS_LOG,
    )


def _nothing_private(paying: PaymentMethod, request: Request) -> bool:
    """Whether nothing private leaves."""
    return request.plan.seed is not None or paying.internal


def _known_logs(log: Log, say: Say) -> KnownLogs | None:
    """Those to compare a log with: none if nobody is in it."""
    if all(map(is_synthetic, log.paths)):
        return None
    try:
        return KnownLogs.read()
    except OSError as error:
        say(_unusable_text(error))
        return None


def remember_looked_at(log: Log, say: Say) -> None:
    """Keep the sketch of a log whose figures are laid out to choose parameters by."""
    if all(map(is_synthetic, log.paths)):
        return
    ids = replace(log, columns=Columns(user=log.columns.user))
    try:
        known = KnownLogs.read()
        with log.engine_for(None) as engine:
            sketch = sketch_ids(open_log(ids, engine, sketch_key=known.key), known.key)
        known.add(KnownLog(LogName(_place_name(log.paths)), None, known_logs.today(), sketch))
    except OSError as error:
        say(_unusable_text(error))


def _place_name(paths: Sequence[Place]) -> str:
    """What a log is called among those that are known."""
    return log_name(paths, None)


def _looked_at_text(found: Overlap) -> str:
    return (
        f"On {found.known.day} `zealous plan --advise --like` laid out the figures of "
        f"{found.known.name.log}, which shares {found.text()} of the smaller log's ids with this "
        "one. If the parameters were chosen by them, plan with --parameters-from this-log: the "
        "release then says so."
    )


def _unusable_text(error: OSError) -> str:
    return (
        f"copies of this log will not be recognised: {known_logs.path()} cannot be used "
        f"({reason(error)})"
    )
