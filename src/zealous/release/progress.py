"""What the owner is told while a release is made. None of it is part of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from zealous.files.lines import Skipped

SPENT = (
    "entry {} of the ledger stays charged; if nobody saw any of the release, the owner can say so "
    "with `zealous ledger void`"
)
Say = Callable[[str], None]


def never_raising(say: Say) -> Say:
    """Whoever listened may be gone: that ends no run, and loses nothing that was paid for."""

    def tell(text: str) -> None:
        with suppress(Exception):
            say(text)

    return tell


@contextmanager
def reporting_spent_budget(charged: Callable[[], int | None], say: Say) -> Iterator[None]:
    """Whatever goes wrong after the charge, say that it is spent."""
    try:
        yield
    except BaseException:
        try:
            entry = charged()
        except Exception:  # the ledger is gone too
            say("the ledger may have been charged: see `zealous ledger show`")
        else:
            if entry is not None:
                say(SPENT.format(entry))
        raise


def report_skipped(skipped: Skipped, say: Say) -> None:
    """Tell the owner how many lines were left out, and why."""
    for why, number in skipped.items():
        if number:
            say(f"skipped {number:,} line{'s' if number > 1 else ''}: {why}")
