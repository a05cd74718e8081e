"""Mechanisms side by side on one log, at equal epsilon and delta.

Every figure comes from real releases, drawn with real noise and compared with the truth; they are
thrown away. All mechanisms run under indistinguishability: the probabilistic guarantee, which
ZEALOUS alone can give, promises more at the same numbers.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.items import Kind, Queries
from zealous.logs.log import Log
from zealous.logs.open_log import open_log
from zealous.mechanisms import CalibratedMechanism
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.protocol import public_input_name, public_inputs
from zealous.mechanisms.public_files import read_public
from zealous.privacy.guarantee import (
    Indistinguishability,
    Neighbors,
    Number,
    format_number,
    positive_integer,
)
from zealous.study.grid.result_table import Spread
from zealous.study.releases.encoded_log import COUNTS, CachedCounting, Ints, encode

Say = Callable[[str], None]
Floats = npt.NDArray[np.float64]
EPSILONS = ("0.5", "1", "2", "5")
NEIGHBORS: tuple[Neighbors, ...] = ("add-remove", "replace")
FIGURES = ("items", "covered", "error", "relative_error", "noise", "seconds")
# Those that publish a kind of items by itself.
COMPARED_MECHANISMS = {
    name: each
    for name, each in MECHANISMS.items()
    if each.family is None and each.required_kind(Queries(items_per_user=1)) is None
}
COMPARED_INPUTS = tuple(
    use for use in public_inputs() if use in map(public_input_name, COMPARED_MECHANISMS.values())
)
"""What the public files are for that a compared mechanism needs."""


@dataclass(frozen=True, kw_only=True)
class MechanismRow:
    """A mechanism at one epsilon. Internal: all but the time compares with the truth.

    Attributes:
        goal: What it guarantees.
        mechanism: Its name.
        items_per_user: m, which is 1 for a mechanism that knows no other.
        figures: Over the draws, by name: `items` released; the share of all pairs of a user and an
            item that these items hold (`covered`, the covered mass); how far counts are off on
            average, from how many users have the item (`error`) and from how many of them gave it
            (`noise`); the median of `error` over how many have the item (`relative_error`);
            `seconds` of counting and noise.
            None where nothing came out, and for all where it cannot be run.
        note: What is to be known of the row; why it cannot be run.
    """

    goal: Indistinguishability
    mechanism: str
    items_per_user: int
    figures: Mapping[str, Spread | None] | None
    note: str = ""


class MechanismComparison(NamedTuple):
    """The rows, and what they were measured on.

    Attributes:
        rows: By neighbours, then epsilon, then mechanism.
        items: How many different items the log has.
        users: How many users have any.
        seconds: What reading the log took, once for all rows.
    """

    rows: list[MechanismRow]
    items: int
    users: int
    seconds: float


def compare_mechanisms(
    log: Log,
    kind: Kind,
    *,
    epsilons: Iterable[Number] = EPSILONS,
    delta: Number = "1e-6",
    neighbors: Iterable[Neighbors] = NEIGHBORS,
    mechanisms: Iterable[str] | None = None,
    draws: int = 5,
    engine: DuckDB | None = None,
    say: Say = lambda _: None,
    **public_files: str | Path | None,
) -> MechanismComparison:
    """Release a kind of items by every mechanism, and compare with the truth.

    The log is read once, and counted as numbers from then on. The draws have a key each, the same
    for all rows; a count that several rows ask for under the same key is made once. Each user's
    items are chosen by that key, or by what steers the mechanism.

    What it returns is internal. No ledger is charged, as nothing leaves.

    Args:
        log: The log.
        kind: What is counted, and m.
        epsilons: At which epsilons.
        delta: The same for all; per person.
        neighbors: Under which relations.
        mechanisms: Which; all that the given files allow where not given.
        draws: How often each is run.
        engine: Where to run; an embedded DuckDB of its own where not given.
        say: Receives progress.
        public_files: Those for the mechanisms that need one, by what they are for; see `plan`.
    """
    positive_integer(draws, "draws")
    files = {use: path for use, path in public_files.items() if path is not None}
    if set(files) - set(COMPARED_INPUTS):
        raise UsageError(f"public files of compared mechanisms are {', '.join(COMPARED_INPUTS)}")
    chosen = _choose_mechanisms(mechanisms, files)
    goals = _goals(epsilons, delta, neighbors)
    roles = log.columns.assigned()
    kind.check(roles)
    public = {use: read_public(path, kind, roles=roles).table for use, path in files.items()}
    with engine or DuckDB() as running:
        say("reading the log")
        started = time.perf_counter()
        coded, tables = encode(kind, open_log(log, running, kind.extra_columns()), public, say=say)
        seconds = time.perf_counter() - started
        say(f"{len(coded.users):,} different {kind.name()} of {coded.people:,} users")
        keys = [secrets.randbits(64) for _ in range(draws)]
        counting = CachedCounting(coded)
        rows = []
        for goal in goals:
            for each in chosen:
                rows.append(_measure_row(each, goal, kind.items_per_user, counting, tables, keys))
                say(_progress_text(rows[-1]))
    return MechanismComparison(rows, len(coded.users), coded.people, seconds)


def _choose_mechanisms(
    names: Iterable[str] | None, files: Container[str]
) -> list[type[CalibratedMechanism]]:
    """The mechanisms of these names, or all that the files allow."""
    if names is None:
        return [
            each
            for each in COMPARED_MECHANISMS.values()
            if each.public_input is None or each.public_input.name in files
        ]
    wanted = list(dict.fromkeys(names))
    if not wanted or set(wanted) - set(COMPARED_MECHANISMS):
        raise UsageError(f"mechanisms must be some of {', '.join(COMPARED_MECHANISMS)}")
    for name in wanted:
        used = public_input_name(COMPARED_MECHANISMS[name])
        if used is not None and used not in files:
            raise UsageError(f"the {name} mechanism needs a public file: say --{used} FILE")
    return [COMPARED_MECHANISMS[name] for name in wanted]


def _goals(
    epsilons: Iterable[Number], delta: Number, neighbors: Iterable[Neighbors]
) -> list[Indistinguishability]:
    relations, amounts = list(dict.fromkeys(neighbors)), list(dict.fromkeys(epsilons))
    if not relations or not amounts or set(relations) - set(get_args(Neighbors)):
        raise UsageError("name at least one epsilon, and neighbors add-remove, replace or both")
    return [
        Indistinguishability(epsilon=epsilon, delta=delta, neighbors=relation)
        for relation in relations
        for epsilon in amounts
    ]


def _measure_row(
    chosen: type[CalibratedMechanism],
    goal: Indistinguishability,
    most: int,
    counting: CachedCounting,
    public: Mapping[str, pa.Table],
    keys: Sequence[int],
) -> MechanismRow:
    note = "at delta = 0" if chosen.pure else ""
    row = MechanismRow(
        goal=goal, mechanism=str(chosen.name), items_per_user=most, figures=None, note=note
    )
    try:
        made = chosen.calibrate(goal, most)
    except UsageError as error:
        row = replace(row, note=str(error))
        try:
            made = chosen.calibrate(goal, 1)
        except UsageError:
            return row
        row = replace(row, items_per_user=1, note="at m = 1, as it must")
    if chosen.public_input is not None:
        made = made.with_inputs(public[chosen.public_input.name])
    drawn = [measure_draw(made, counting, key) for key in keys]
    return replace(row, figures={name: _spread(each[name] for each in drawn) for name in FIGURES})


def measure_draw(
    mechanism: CalibratedMechanism, counting: CachedCounting, key: int
) -> dict[str, float | None]:
    """One release, beside the truth: its `FIGURES`."""
    users = counting.coded.users
    with counting.for_key(key) as count:
        started = time.perf_counter()
        batches = list(mechanism.release(count, os.urandom))
        seconds = time.perf_counter() - started + count.saved
        table = pa.Table.from_batches([batch.cast(COUNTS) for batch in batches], COUNTS)
        items, counts = (table[name].to_numpy() for name in COUNTS.names)
        kept = count.last(items)
    return {
        **compare_with_truth(users, items, counts),
        "noise": None if kept is None else _mean_difference(counts, kept),
        "seconds": seconds,
    }


def compare_with_truth(users: Ints, items: Ints, counts: Ints | Floats) -> dict[str, float | None]:
    """How many items a release has, how much they cover, and how far their counts are off.

    Args:
        users: How many users have each item, by its code.
        items: The codes of the published items.
        counts: Their published counts.
    """
    true = _true_users(users, items)
    total = int(users.sum())
    return {
        "items": len(items),
        "covered": float(true.sum() / total) if total else None,
        "error": _mean_difference(counts, true),
        "relative_error": _median_relative(counts, true),
    }


def _true_users(users: Ints, items: Ints) -> Ints:
    """How many users have these items: nobody those of a public list that the log does not have."""
    known = items < len(users)
    found = np.zeros(len(items), np.int64)
    found[known] = users[items[known]]
    return found


def _mean_difference(counts: Ints | Floats, others: Ints) -> float | None:
    return float(np.abs(counts - others).mean()) if len(counts) else None


def _median_relative(counts: Ints | Floats, others: Ints) -> float | None:
    """The median over items that somebody has; None where there is none."""
    held = others > 0
    if not held.any():
        return None
    return float(np.median(np.abs(counts - others)[held] / others[held]))


def _spread(values: Iterable[float | None]) -> Spread | None:
    """Over the draws that have the figure; None where none has."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    return Spread(sum(found) / len(found), min(found), max(found), len(found))


def _progress_text(row: MechanismRow) -> str:
    where = f"{row.goal.neighbors}, epsilon {format_number(row.goal.epsilon)}, {row.mechanism}"
    items = row.figures["items"] if row.figures else None
    return f"{where}: {items.mean:,.0f} items" if items else f"{where}: {row.note}"
