"""At most so many entries of each user are looked at: rules on her own rows alone.

Guarantee:
    Which entries of a user count is decided by her own rows and the public key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from zealous.engines.engine import Engine, Stored
from zealous.engines.sql import Step, comma_separated, identifier
from zealous.files.lines import Skipped
from zealous.logs.id_sketch import id_hash, smallest_of_slots
from zealous.logs.source import IdCounts, Source, is_odd_id

_LOOKED_AHEAD = 999_999  # entries, of all users together, that are held to see where others end


WHOSE = '"entry:whose"'  # in tables of those with many entries
Join = Literal["semi", "anti"]


def limit_entries(
    source: Source,
    entries_of: Callable[[Join, str], Sequence[Step]],
    columns: Sequence[str],
    key: int,
    sketch_key: str | None = None,
) -> Source:
    """The same, but of whatever unit has more entries than the limit the first of them alone.

    They are the first in time where the log has times, then by the public key, and each different
    one of them is there once. So what is left of a unit depends on its own entries and the key.

    Whoever has no more entries in the whole log has no such unit. The entries of all others are
    worked out once, and what is left of them is stored: later steps pass over the rest by the id.

    Args:
        source: All entries.
        entries_of: The steps to the entries of those persons whom a table lists (`semi`), or of
            all others (`anti`).
        columns: All of an entry.
        key: The public key.
        sketch_key: The key of a sketch of the ids, where there is to be one.

    Returns:
        The entries, and the numbers of ids and their entries, also of those who are left out.
    """
    engine, most = source.engine, source.limits.entries
    known = source.everyone[: [step.name for step in source.everyone].index("known") + 1]
    persons, many = _units_over_limit(engine, known, most, sketch_key)
    source = replace(source, ids=many.ids)
    if sketch_key is not None:
        hashes = engine.rows([smallest_of_slots(persons)])
        source = replace(source, id_hashes=tuple(str(each) for (each,) in hashes))
    if not many.heavy:
        return replace(source, rows=many.rest)
    looked_at, over = _limited_entries(source, entries_of("semi", persons), columns, key)
    *steps, last = entries_of("anti", persons)
    own = comma_separated(map(identifier, columns))
    entries = (
        *steps,
        last._replace(name="cleaned"),
        Step("looked_at", f"select * from {looked_at}"),
        Step("entries", f"select {own} from cleaned union all select {own} from looked_at"),
    )
    rows, text = _sizes(source, entries)
    skipped = source.skipped + Skipped({source.limits.many_entries(): over})
    return replace(source, entries=entries, rows=rows, text=text, skipped=skipped)


class _EntryCounts(NamedTuple):
    """How many there are, who of them has too many entries, and how many entries there are.

    Attributes:
        ids: Users, or other units.
        heavy: Those with more entries than count.
        rest: The entries of all others.
        over: How many more these have than count.
    """

    ids: IdCounts
    heavy: int
    rest: int
    over: int


def _units_over_limit(
    engine: Engine, steps: Sequence[Step], most: int, sketch_key: str | None = None
) -> tuple[str, _EntryCounts]:
    """A table of (entry:whose, entries), each who has more than `most` in the last step.

    One more row, without a name, is of all others together: so it takes one look at the log. With
    a key for a sketch there is one for each of its slots, and the smallest hash in it.
    """
    table = Stored.new(engine).name
    each = f"select user, count(*) as entries from {steps[-1].name} group by user"
    whose = f"case when entries > {most} then user end as {WHOSE}"
    hashed = "''" if sketch_key is None else id_hash(sketch_key)
    odd = f"{is_odd_id()} as odd"
    marked = Step("marked", f"select {whose}, entries, {odd}, {hashed} as hash from each_user")
    total = "count(*) as number, sum(entries)::bigint as entries, max(entries) as most"
    total += ", count(case when odd then 1 end) as odd"
    grouped = f"from marked group by {WHOSE}, left(hash, 2)"
    summed = Step("summed", f"select {WHOSE}, {total}, min(hash) as hash {grouped}")
    engine.append_rows(table, [*steps, Step("each_user", each), marked, summed])
    rest = f"coalesce(sum(case when {WHOSE} is null then entries end), 0)::bigint"
    over = f"coalesce(sum(case when {WHOSE} is not null then entries - {most} end), 0)::bigint"
    of_ids = ("sum(number)", "sum(entries)", "max(most)", "sum(odd)")
    sums = [f"coalesce({each}, 0)::bigint" for each in of_ids]
    figures = comma_separated([*sums, f"count({WHOSE})", rest, over])
    ((*found,),) = engine.rows([Step("figures", f"select {figures} from {table}")])
    *ids, heavy, rest_entries, over_entries = map(int, found)
    return table, _EntryCounts(IdCounts(*ids), heavy, rest_entries, over_entries)


def _limited_entries(
    source: Source, entries: Sequence[Step], columns: Sequence[str], key: int
) -> tuple[str, int]:
    """A table of what is left of some persons' entries, and how many at least are not."""
    engine, most = source.engine, source.limits.entries
    *before, last = _store_steps(engine, entries)
    steps = [*before, last._replace(name="cleaned")]
    units, many = _units_over_limit(engine, steps, most)
    own = comma_separated(map(identifier, columns))
    of_heavy = f"join {units} as heavy on cleaned.user = heavy.{WHOSE}"
    looked_at = Stored.new(engine).name
    if many.rest or not many.heavy:
        few = f"select {own} from (select cleaned.* from cleaned anti {of_heavy})"
        engine.append_rows(looked_at, [*steps, Step("few", few)])
    if not many.heavy:
        return looked_at, 0
    times, place, rank = '"entry:times"', '"entry:place"', '"entry:rank"'
    moment = ["time"] if "time" in source.roles else []
    order = comma_separated([*(f"{each} nulls last" for each in moment), rank])
    short = comma_separated(["user", *moment, rank])
    # Texts are looked at again only once it is known which ones: all of them may not fit.
    ranked = f"select *, {engine.rank_key(key, columns)} as {rank} from cleaned semi {of_heavy}"
    theirs = _without_late(engine, [*steps, Step("theirs", ranked)], units, most, [*moment, rank])
    # Two moments with the same rank are not the same place: else a late entry, which is not always
    # looked at, could take that of an early one.
    same = " and ".join(
        f"theirs.{each} is not distinct from near.{each}" for each in ("user", *moment, rank)
    )
    alone = f"row_number() over (partition by {short} order by {own}) = 1"
    number = f"row_number() over (partition by user order by {order})"
    first = [
        Step("different", f"select {short}, count(*) as {times} from theirs group by {short}"),
        # So many are enough, as each is there at least once: nobody's are all sorted together.
        Step("foremost", f"select * from different qualify {number} <= {most}"),
        Step(
            "placed",
            f"select *, sum({times}) over (partition by user order by {order}) as {place} "
            "from foremost",
        ),
        Step("near", f"select {short} from placed where {place} - {times} < {most}"),
        Step("chosen", f"select theirs.* from theirs semi join near on {same}"),
        Step("once", f"select distinct {own}, {rank} from chosen"),
        Step("first_ones", f"select {own} from once qualify {alone}"),
    ]
    engine.append_rows(looked_at, [*theirs, *first])
    return looked_at, many.over


def _store_steps(engine: Engine, steps: Sequence[Step]) -> list[Step]:
    """The same, with the rows of `known` and of shared steps stored.

    All of them are worked out once. And an engine that knows how many rows there are holds the
    smaller side of a join, where it could not hold all entries of one person.
    """
    found: list[Step] = []
    for step in steps:
        if step.name == "known" or step.shared:
            table = Stored.new(engine).name
            engine.append_rows(table, [*found, step])
            step = Step(step.name, f"select * from {table}")
        found.append(step)
    return found


def _without_late(
    engine: Engine, steps: Sequence[Step], heavy: str, most: int, order: Sequence[str]
) -> list[Step]:
    """The steps to `theirs`, of few users without most of what is not among their first entries.

    Sorting all entries of somebody with tens of millions of them would take minutes. Nothing is
    left out that could be among the first: entries up to the last of so many are all kept.

    Args:
        engine: Where the entries are.
        steps: The steps to `theirs`, all entries of whoever has too many.
        heavy: The table of these users and their numbers of entries.
        most: How many of a user's entries count.
        order: By what they are ordered: a moment that may be NULL, if there are moments; a rank.
    """
    *moment, rank = order
    # One number of 128 bits: microseconds, of which there are never as many as stand for NULL.
    micros = (f"coalesce(epoch_us({each}), {2**63 - 1})::hugeint * {2**64} + " for each in moment)
    place = f"{''.join(micros)}{rank}"
    last, users = engine.kth_smallest(place, most), _LOOKED_AHEAD // most
    if last is None or not users:
        return list(steps)
    heaviest = f"select {WHOSE} from {heavy} where {WHOSE} is not null"
    heaviest += f" order by entries desc limit {users}"
    of_heaviest = f"select * from theirs where user in ({heaviest})"
    end = '"entry:end"'
    ends = Stored.new(engine).name
    each_end = f"select user, {last} as {end} from of_heaviest group by user"
    engine.append_rows(ends, [*steps, Step("of_heaviest", of_heaviest), Step("each_end", each_end)])
    *before, theirs = steps
    early = (
        f"select all_of_theirs.* from all_of_theirs left join {ends} as ends "
        f"on all_of_theirs.user = ends.user where {end} is null or {place} <= {end}"
    )
    return [*before, theirs._replace(name="all_of_theirs"), Step("theirs", early)]


def _sizes(source: Source, entries: Sequence[Step]) -> tuple[int, dict[str, int]]:
    """How many entries are left, and the bytes of each column: metadata told of all."""
    names = {each: each if each in source.roles else f"column:{each}" for each in source.text}
    texts = {
        each: "8 * count(*)" if each == "time" else f"sum(strlen({identifier(name)}::varchar))"
        for each, name in names.items()
    }
    size = comma_separated(f"coalesce({text}, 0)::bigint" for text in ("count(*)", *texts.values()))
    ((rows, *sizes),) = source.engine.rows([*entries, Step("sizes", f"select {size} from entries")])
    return int(rows), dict(zip(texts, map(int, sizes), strict=True))
