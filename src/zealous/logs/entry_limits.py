"""At most so many entries of each user are looked at: rules on her own rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zealous.engines.engine import Engine, Stored
from zealous.engines.sql import Step, identifier, listed
from zealous.logs.source import Source

_LOOKED_AHEAD = 999_999  # entries, of all users together, that are held to see where others end


def limit_entries(source: Source, most: int, columns: Sequence[str], key: int) -> Source:
    """The same, but of whoever has more entries than `most` the first of them alone.

    They are the first in time where the log has times, then by the public key, and each different
    one of them is there once. So what is left of somebody depends on her own entries and the key.

    Args:
        source: All entries.
        most: How many of a user's entries count.
        columns: All of an entry.
        key: The public key.
    """
    engine = source.engine
    each_user = Step("each_user", "select user, count(*) as entries from entries group by user")
    figures = (
        f"count(*), coalesce(sum(least(entries, {most})), 0)::bigint, coalesce(max(entries), 0)"
    )
    counted = Step("counted", f"select {figures} from each_user")
    ((users, rows, largest),) = engine.rows([*source.everyone, each_user, counted])
    source = replace(source, users=int(users), rows=int(rows))
    if largest <= most:
        return source
    over = Step("over", f"select user, entries from each_user where entries > {most}")
    heavy = Stored.new(engine).name
    engine.store(heavy, [*source.everyone, each_user, over])
    *before, cleaned = source.entries
    steps = (*before, cleaned._replace(name="cleaned"))
    own = listed(map(identifier, columns))
    times, place, rank = '"entry:times"', '"entry:place"', '"entry:rank"'
    moment = ["time"] if "time" in source.roles else []
    order = listed([*(f"{each} nulls last" for each in moment), rank])
    short = listed(["user", *moment, rank])
    of_heavy = f"join {heavy} as heavy on cleaned.user = heavy.user"
    # Texts are looked at again only once it is known which ones: all of them may not fit.
    ranked = f"select *, {engine.rank_key(key, columns)} as {rank} from cleaned semi {of_heavy}"
    theirs = _without_late(engine, [*steps, Step("theirs", ranked)], heavy, most, [*moment, rank])
    # Two moments with the same rank are not the same place: else a late entry, which is not always
    # looked at, could take that of an early one.
    same = " and ".join(
        f"theirs.{each} is not distinct from near.{each}" for each in ("user", *moment, rank)
    )
    alone = f"row_number() over (partition by {short} order by {own}) = 1"
    first = [
        Step("different", f"select {short}, count(*) as {times} from theirs group by {short}"),
        Step(
            "placed",
            f"select *, sum({times}) over (partition by user order by {order}) as {place} "
            "from different",
        ),
        Step("near", f"select {short} from placed where {place} - {times} < {most}"),
        Step("chosen", f"select theirs.* from theirs semi join near on {same}"),
        Step("once", f"select distinct {own}, {rank} from chosen"),
        Step("first_ones", f"select {own} from once qualify {alone}"),
    ]
    looked_at = Stored.new(engine).name
    engine.store(looked_at, [*theirs, *first])
    entries = (
        f"select {own} from (select cleaned.* from cleaned anti {of_heavy}) "
        f"union all select {own} from looked_at"
    )
    limited = (*steps, Step("looked_at", f"select * from {looked_at}"), Step("entries", entries))
    return replace(source, entries=limited, text=_text_sizes(source, limited))


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
    last, users = engine.last_of_smallest(place, most), _LOOKED_AHEAD // most
    if last is None or not users:
        return list(steps)
    heaviest = f"select user from {heavy} order by entries desc limit {users}"
    of_heaviest = f"select * from theirs where user in ({heaviest})"
    end = '"entry:end"'
    ends = Stored.new(engine).name
    each_end = f"select user, {last} as {end} from of_heaviest group by user"
    engine.store(ends, [*steps, Step("of_heaviest", of_heaviest), Step("each_end", each_end)])
    *before, theirs = steps
    early = (
        f"select all_of_theirs.* from all_of_theirs left join {ends} as ends "
        f"on all_of_theirs.user = ends.user where {end} is null or {place} <= {end}"
    )
    return [*before, theirs._replace(name="all_of_theirs"), Step("theirs", early)]


def _text_sizes(source: Source, entries: Sequence[Step]) -> dict[str, int]:
    """The bytes that are left in each column: what metadata told is mostly of entries that went."""
    names = {each: each if each in source.roles else f"column:{each}" for each in source.text}
    texts = [f"{identifier(name)}::varchar" for name in names.values()]
    size = listed(f"coalesce(sum(strlen({text})), 0)::bigint" for text in texts)
    ((*sizes,),) = source.engine.rows([*entries, Step("sizes", f"select {size} from entries")])
    return dict(zip(names, map(int, sizes), strict=True))
