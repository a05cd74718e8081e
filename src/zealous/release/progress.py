"""What the owner is told, or asked, while a release is made. None of it is part of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from zealous.errors import Refused
from zealous.files.lines import Skipped
from zealous.ledger.entries import Entry

SPENT = (
    "entry {} of the ledger stays charged; if nobody saw any of the release, the owner can say so "
    "with `zealous ledger void`"
)
WHOLE = "the release is whole in {}, and paid for as entry {} of the ledger"
Say = Callable[[str], None]
ASKS = "If it is meant so, say --proceed"  # how a run ends that stopped to ask


def never_raising(say: Say) -> Say:
    """Whoever listened may be gone: that ends no run, and loses nothing that was paid for."""

    def tell(text: str) -> None:
        with suppress(Exception):
            say(text)

    return tell


@contextmanager
def reporting_spent_budget(settle: Callable[[], Entry | None], say: Say) -> Iterator[None]:
    """Whatever goes wrong after the charge, say what it was spent on.

    Args:
        settle: Gives the entry of the charge, if there is one, marked where its release is whole.
        say: Receives it.
    """
    try:
        yield
    except BaseException:
        try:
            entry = settle()
        except BaseException:  # the ledger is gone too, or who publishes has no more patience
            say("the ledger may have been charged: see `zealous ledger show`")
        else:
            if entry is not None and entry.state == "released":
                say(WHOLE.format(entry.directory, entry.number))
            elif entry is not None:
                say(SPENT.format(entry.number))
        raise


def report_skipped(skipped: Skipped, say: Say) -> None:
    """Tell the owner how many lines were left out, and why."""
    for why, number in skipped.items():
        if number:
            say(f"skipped {number:,} line{'s' if number > 1 else ''}: {why}")


def warn(doubts: Iterable[str], say: Say) -> None:
    """Tell what somebody should look at, and go on: logs of other people have such ids too."""
    for text in doubts:
        say(f"warning: {text}")


def stop_or_tell(doubts: Iterable[str], proceed: bool, say: Say) -> None:
    """Stop for the first doubt; tell them all where somebody said to go on.

    Raises:
        Refused: Nobody said so.
    """
    for text in doubts:
        if not proceed:
            raise Refused(f"{text} Nothing was charged. {ASKS}")
        warn([text], say)
