"""Ledgers of tests: charges, caps, and releases that were charged to them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous.ledger import (
    Cap,
    Caps,
    Charge,
    Entry,
    Ledger,
    fingerprint,
)
from zealous.privacy.period import Period


def charge(
    epsilon: object = 1, *, delta: str = "1/1000", period: str | None = None, **said: Any
) -> Charge:
    basic: dict[str, Any] = {"definition": "probabilistic", "neighbors": "replace"}
    return Charge(
        epsilon=Fraction(str(epsilon)),
        delta=Fraction(delta),
        period=Period.parse(period) if period else None,
        **(basic | said),
    )


def capped(ledger: Ledger, epsilon: object, delta: str | None = None) -> Ledger:
    cap = Cap(epsilon=Fraction(str(epsilon)), delta=Fraction(delta) if delta else None)
    ledger.set_caps(Caps(all=cap))
    return ledger


def write_release(directory: Path, entry: Entry, **changed: Any) -> Path:
    """What a release says about itself, as far as a ledger looks."""
    directory.mkdir()
    exact = {"epsilon": str(entry.charge.epsilon), "delta": str(entry.charge.delta)}
    charged = entry.charge
    about = {
        "id": entry.release,
        "ledger": {
            "tracked": True,
            "ledger": entry.ledger,
            "entry": entry.seq,
            "hash": entry.hash,
        },
        "period": str(charged.period) if charged.period else None,
        "guarantee": {
            "exact": exact,
            "definition": charged.definition,
            "neighbors": charged.neighbors,
            "unit": charged.unit,
        },
    }
    (directory / "release.json").write_text(json.dumps(about | changed))
    return directory


def publish(ledger: Ledger, directory: Path, what: Charge | None = None) -> Entry:
    entry = ledger.reserve(directory.name, what or charge())
    write_release(directory, entry)
    return ledger.mark_released(entry, directory=directory, sha256=fingerprint(directory))


def counted_unit(ledger: Ledger) -> str:
    measure = ledger.book().measure()
    assert measure is not None
    return measure.unit
