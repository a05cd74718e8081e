"""Grouping similar sets: time, peak memory and edits, beside the simple way of sorting and cutting.

    python benchmarks/groups.py [--users 500000] [--sets 50000 100000 200000] [-k 10]

The sets are the keywords of sessions and the queries of users of the synthetic log. An edit deletes
an item from a set or adds one; the figure is the share of all items. The simple way sorts the sets
as words are sorted, by the items' names or with frequent items first, and cuts every k; owners play
no role in it, so that it need not even hide anybody. Time is the processor's, of the one thread
that is used, the median of five runs. Prints a Markdown table.

Beside a bot, every second set is the bot's, of one item. There the simple way cuts the others' sets
and gives the bot's, in their order, to groups with room. Cut all together, most groups would be of
the bot alone: they hide nobody and may take fewer edits. The last lines say how many.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc

import numpy as np
from publish import log_file

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.items import has_word, normalized_query, words
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.study.anonymity.groups import group
from zealous.study.anonymity.numbered import drop_numbers, number_sets
from zealous.study.anonymity.session_steps import session_steps
from zealous.study.anonymity.set_arrays import Ints, Sets, count_edits, join_numbers

RUNS = 5


def main() -> None:
    arguments = _arguments()
    k = arguments.k
    print(f"k = {k}\n")
    print(
        "| sets | number | items | CPU time | over linear | peak memory | edits | sorted by name "
        "| frequent first | more saved |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with DuckDB(memory="4GB", threads=2) as engine:
        source = open_log(z.read_log(log_file(arguments.users)), engine)
        found = {"sessions": _sessions(source), "users": _histories(source)}
        together: list[tuple[float, ...]] = []
        for name in (*found, "sessions and a bot"):
            first: float | None = None
            for number in arguments.sets:
                if name in found:
                    sets = _some(found[name], number)
                else:
                    sets = _with_a_bot(_some(found["sessions"], number // 2))
                seconds, memory, groups = _measured(sets, k)
                first = first or seconds / number
                cut = _cut if name in found else _cut_around
                mine, *simple = (
                    count_edits(sets, each) / len(sets.items)
                    for each in (groups, cut(sets, k, False), cut(sets, k, True))
                )
                if cut is _cut_around:
                    blind = (count_edits(sets, _cut(sets, k, each)) for each in (False, True))
                    together.append((number, *(each / len(sets.items) for each in blind)))
                more = (1 - mine) / (1 - min(simple)) - 1
                print(
                    f"| {name} | {number:,} | {len(sets.items):,} | {seconds:.1f} s "
                    f"| {seconds / number / first:.2f} | {memory / 1e6:.0f} MB | {mine:.4f} "
                    f"| {simple[0]:.4f} | {simple[1]:.4f} | {more:.0%} |",
                    flush=True,
                )
    print("\nCut together with the bot, which does not hide:")
    for number, by_name, frequent in together:
        print(f"- {number:,} sets: {by_name:.4f} by name, {frequent:.4f} frequent first")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=500_000, help="of the log")
    parser.add_argument("--sets", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    parser.add_argument("-k", type=int, default=10)
    return parser.parse_args()


def _sessions(source: Source) -> Sets:
    part = source.bucket(0, 16)  # enough users for 200,000 sessions
    each = f"select user, session, unnest({words('query')}) as item from sessions"
    steps = [*part.entries, *session_steps(part, 30), Step("held", each)]
    found = number_sets(source.engine, steps, ("user", "session"))
    drop_numbers(source.engine)
    return found


def _histories(source: Source) -> Sets:
    part = source.bucket(0, 2)
    each = f"select user, {normalized_query(False)} as item from entries where {has_word('query')}"
    found = number_sets(source.engine, [*part.entries, Step("held", each)], ("user",))
    drop_numbers(source.engine)
    return found


def _some(sets: Sets, number: int) -> Sets:
    """The first sets, their items numbered anew."""
    if number > len(sets):
        raise SystemExit(f"there are only {len(sets):,} such sets")
    offsets = sets.offsets[: number + 1]
    items = np.unique(sets.items[: offsets[-1]], return_inverse=True)[1].astype(np.int64)
    return Sets(offsets=offsets, items=items, owners=sets.owners[:number])


def _with_a_bot(sets: Sets) -> Sets:
    """As many sets more, all of one owner, each of one item of each set."""
    bot = int(sets.owners.max()) + 1
    chosen = sets.items[sets.offsets[:-1] + np.arange(len(sets)) % sets.lengths]
    return Sets(
        offsets=np.append(sets.offsets, sets.offsets[-1] + 1 + np.arange(len(sets))),
        items=np.append(sets.items, chosen),
        owners=np.append(sets.owners, np.full(len(sets), bot)),
    )


def _measured(sets: Sets, k: int) -> tuple[float, int, Ints]:
    taken = []
    for _ in range(RUNS):
        started = time.process_time()
        groups = group(sets, k)
        taken.append(time.process_time() - started)
    tracemalloc.start()
    group(sets, k)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return statistics.median(taken), memory, groups


def _cut(sets: Sets, k: int, frequent_first: bool) -> Ints:
    counts = np.bincount(sets.items)
    order = np.lexsort((np.arange(len(counts)), -counts if frequent_first else counts * 0))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranked = np.sort(join_numbers(sets.numbers(), rank[sets.items])) & np.uint64(2**32 - 1)
    text = ranked.astype(">u4").tobytes()  # bytes sort as the numbers do
    ends = (sets.offsets * 4).tolist()
    ordered = sorted(range(len(sets)), key=lambda n: text[ends[n] : ends[n + 1]])
    groups = np.empty(len(sets), np.int64)
    groups[ordered] = np.minimum(np.arange(len(sets)) // k, len(sets) // k - 1)
    return groups


def _cut_around(sets: Sets, k: int, frequent_first: bool) -> Ints:
    """Cut the sets of all but the last owner, and give that one's to groups with room."""
    others = sets.owners < sets.owners.max()
    groups = np.full(len(sets), -1, np.int64)
    groups[others] = _cut(sets.some(others), k, frequent_first)
    room = 2 * k - 1 - np.bincount(groups[others])
    # Groups of one set each are no groups, but they tell the order.
    order = np.argsort(_cut(sets.some(~others), 1, frequent_first))
    places = np.repeat(np.arange(len(room)), room)[: len(order)]
    groups[np.flatnonzero(~others)[order[: len(places)]]] = places
    return groups


if __name__ == "__main__":
    main()
