"""Many runs of the real pipeline for the price of one: copies of tiny logs, packed into one log.

The packed log is a text file like any other: it is split into lines, staged, cleaned, bounded,
counted, noised, cut and sorted by the code that publishes. Copies share no user and no item, and
each item's noise is its own, so the rows published of each copy are one independent run on it.
That holds for rounds too: a user is steered by the noisy weights of her own items alone.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.audit.confidence_bounds import Counts
from zealous.audit.layout import DIGITS, ItemNames, PublicList, PublishedCopies
from zealous.audit.pairs import NEXT_TABLE, Pair, item_name
from zealous.audit.setting import Setting
from zealous.engines.duckdb import DuckDB
from zealous.files.scratch import working_directory
from zealous.logs.log import read_log
from zealous.logs.open_log import open_log
from zealous.release.drawing import draw

_MOST_LINES = 3_000_000  # in one packed log
_NO_PAIR = 99  # a number that none has


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How often each outcome was seen on each log of a pair, in the two halves of the runs.

    Attributes:
        choosing: [left, right], for choosing an event.
        testing: [left, right], for measuring it.
    """

    choosing: Counts
    testing: Counts

    def __add__(self, other: Tally) -> Tally:
        """More runs of the same pair."""
        return Tally(choosing=self.choosing + other.choosing, testing=self.testing + other.testing)


def run_trials(setting: Setting, trials: int) -> list[Tally]:
    """Publish each of a setting's pairs so many times, and count what came out."""
    lines = sum((len(pair.left) + len(pair.right or ())) / pair.every for pair in setting.pairs)
    most = max(2, min(10**DIGITS, int(_MOST_LINES / lines))) // 2 * 2
    tallies: list[Tally] = []
    for start in range(0, trials, most):
        copies = min(most, trials - start)
        seen = outcomes(setting, copies)
        more = [tally_outcomes(setting, *each) for each in zip(setting.pairs, seen, strict=True)]
        tallies = [a + b for a, b in zip(tallies, more, strict=True)] if tallies else more
    return tallies


def outcomes(setting: Setting, copies: int) -> list[Counts]:
    """What came of so many copies of each pair: [left, right], an outcome's number for each copy.

    A number has a digit for each watched group: between which edges an item's count is, how many
    items of the group appear, or about how many users they have together.

    Raises:
        ValueError: An item is published twice.
    """
    rows = _publish_packed(setting, copies)
    found = []
    for number, pair in enumerate(setting.pairs):
        mine, runs = rows.pair == number, pair.runs(copies)
        run_of = rows.side[mine] * runs + rows.copy[mine]
        outcome = _outcome_numbers(
            setting, pair, rows.item[mine], rows.counts[mine], run_of, 2 * runs
        )
        found.append(outcome.reshape(2, runs))
    return found


def tally_outcomes(setting: Setting, pair: Pair, outcome: Counts) -> Tally:
    """Count outcomes: even copies choose, odd ones test."""
    size = setting.levels ** len(pair.watch)
    choosing, testing = (
        np.stack([np.bincount(each, minlength=size) for each in outcome[:, half::2]])
        for half in (0, 1)
    )
    return Tally(choosing=choosing, testing=testing)


def _publish_packed(setting: Setting, copies: int) -> PublishedCopies:
    """One run of the pipeline over so many copies of every pair."""
    names = setting.layout.names([pair.runs(copies) for pair in setting.pairs for _ in (0, 1)])
    with working_directory() as directory:
        path = directory / "packed.csv"
        _pack(setting, copies, path, names)
        public = _read_public_tables(setting, copies, directory)
        key = secrets.randbits(64)
        with DuckDB(temporary=directory) as engine:
            extra = [name for each in setting.planned.parts for name in each.kind.extra_columns()]
            source = open_log(read_log(path), engine, extra, unit=setting.planned.goal.unit)
            # The copies' users are more than a plan for one copy declares: only `publish` checks
            # that, and audit/whole_releases.py runs it.
            tables = draw(setting.planned, source, key=key, public=public)
    found = []
    for number, part in enumerate(setting.planned.parts[-setting.tables :]):
        table = tables[part.name()].arrow
        if len(table.group_by(table.column_names[:-1]).aggregate([])) < len(table):
            raise ValueError("an item is published twice, under two noises")
        if setting.tables > 1:  # each calls its items by its own kind
            table = table.rename_columns([setting.layout.column, "count"])
        rows = names.published_copies(table)
        found.append(rows._replace(item=rows.item + number * NEXT_TABLE))
    return PublishedCopies(*map(np.concatenate, zip(*found, strict=True)))


def _pack(setting: Setting, copies: int, path: Path, names: ItemNames) -> None:
    """All logs, line by line, each line for all copies."""
    with path.open("wb") as file:
        file.write(f"{setting.layout.header}\n".encode())
        for index, pair in enumerate(setting.pairs):
            for side, lines in enumerate((pair.left, pair.right or ())):
                tags = _tags(index, side, pair.runs(copies))
                things = names.item_names(index, side)
                for line in lines:
                    file.write(_line_of_copies(line, tags, things))


def _read_public_tables(setting: Setting, copies: int, directory: Path) -> dict[str, pa.Table]:
    """The public tables that its mechanisms use, read from files."""
    tables = {}
    for part in setting.planned.parts:
        public = part.mechanism.public_input
        if public is not None:
            file = directory / f"{part.name()}.csv"
            _write_public_list(setting, copies, file, setting.layout.lists[part.name()])
            tables[part.name()] = public.read(file, part.kind).table
    return tables


def _write_public_list(setting: Setting, copies: int, path: Path, public: PublicList) -> None:
    """A public file with the listed items of all copies, and one that is in no log.

    Each is there in two spellings, which are one item.
    """
    with path.open("wb") as file:
        file.write(f"{public.header}\n".encode())
        if public.always:
            file.write("\n".join(public.always).encode())
            return
        file.write(_line_of_copies(public.line.format(item_name(0)), _tags(_NO_PAIR, 0, 1)))
        for index, pair in enumerate(setting.pairs):
            for item in pair.listed:
                for side in (0, 1) if pair.right is not None else (0,):
                    tags = _tags(index, side, pair.runs(copies))
                    for end in ("", " "):
                        file.write(_line_of_copies(public.line.format(item_name(item)) + end, tags))


def _tags(index: int, side: int, copies: int) -> pa.Array:
    """What stands for `@`: pair, side, copy."""
    numbers = pc.utf8_lpad(pc.cast(pa.array(np.arange(copies)), pa.string()), DIGITS, "0")
    return pc.binary_join_element_wise(f"{index:02d}{side}", numbers, "")


def _line_of_copies(line: str, tags: pa.Array, things: Sequence[pa.Array] = ()) -> memoryview:
    """One line of all copies: the texts of a string array stand one after another in memory."""
    known = {"@": tags, **{item_name(number): each for number, each in enumerate(things)}}
    pieces = re.split(f"({'|'.join(sorted(known, reverse=True))})", f"{line}\n")
    written = pc.binary_join_element_wise(*(known.get(each, each) for each in pieces), "")
    _, offsets, text = written.buffers()
    return memoryview(text)[: int(np.frombuffer(offsets, np.int32)[len(written)])]


def _outcome_numbers(
    setting: Setting, pair: Pair, item: Counts, counts: Counts, run_of: Counts, runs: int
) -> Counts:
    levels = setting.levels
    outcome = np.zeros(runs, np.int64)
    for group in pair.watch:
        mine = np.isin(item, group)
        if len(group) == 1:
            level = np.zeros(runs, np.int64)
            level[run_of[mine]] = 1 + np.searchsorted(setting.edges, counts[mine], side="right")
        elif pair.pure:
            totals = np.bincount(run_of[mine], counts[mine], minlength=runs)
            level = _noise_steps(setting, totals.astype(np.int64), len(group))
        else:
            level = np.minimum(np.bincount(run_of[mine], minlength=runs), levels - 1)
        outcome = outcome * levels + level
    return outcome


def _noise_steps(setting: Setting, totals: Counts, items: int) -> Counts:
    """How far totals are from what others give, in steps that cover some deviations of noise."""
    width = float(setting.part.mechanism.scale) * np.sqrt(items) * 2 / (setting.levels - 3)
    away = np.floor((totals - items * setting.popular) / width + 0.5).astype(np.int64)
    return np.asarray(np.clip(away + setting.levels // 2, 0, setting.levels - 1))
