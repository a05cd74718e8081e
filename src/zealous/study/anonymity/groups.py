"""Similar sets in groups of k to 2k - 1, each with sets of at least k owners, and what they share.

A group takes the fewest edits where its representative holds the items of at least half its sets;
what each such item saves is the number of sets that have it, less those that do not. So a good
group is one whose sets have many items in common. Equal sets are grouped first, then sets that
have three items in common, then two, then one, and those that have nothing in common come last.

No two sets are ever compared. A set offers all threes of its 10 and all twos of its 16 most
frequent items, at most 120 each, and a group is where k owners offer the same. Each step thus sorts
at most a fixed multiple of the number of sets, and a table of counts that errs upwards alone drops
most offers before they are sorted, so that memory stays small. That bound is near linear; below it
time grows faster, because in a larger log more items have k owners and each set offers more: from
50,000 to 200,000 sets, nearly twice as much as linear growth (benchmarks/groups.py).

An owner with more sets than there can be groups would take the room of all others. Beside such, the
others' sets make the groups, of just k, so that there are many, and hers fill them up.

Tried on synthetic logs, each saved less than half a percent of the items: fours, more items a set,
and (at most, where sizes allow) moving sets to a group whose representative they hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zealous.study.anonymity.gathering import ROUNDS, GrowingGroups, assign_places, most_groups
from zealous.study.anonymity.set_arrays import (
    Ints,
    Sets,
    count_edits,
    count_held,
    is_first,
    join_numbers,
    split_numbers,
)


def group(sets: Sets, k: int) -> Ints:
    """For each set the number of its group, from 0; -1 where it must be suppressed.

    Each group has k to 2k - 1 sets and at least k owners. As few sets as possible are suppressed:
    none, unless a few owners have most of the sets. The result depends on the numbers of items and
    sets alone.
    """
    counts = np.bincount(sets.owners, minlength=1)
    most = most_groups(counts, k)
    growing = GrowingGroups(sets.owners, k)
    growing.gather_all(sets)
    growing.deal_rest(2 * k - 1)
    fits = (growing.groups < 0).sum() <= growing.room().sum()
    heavy = counts > most
    if fits:
        _place_rest(sets, growing.groups, k, np.ones(len(sets), np.bool_))
        if not heavy.any():
            return growing.groups
    beside = _group_with_heavy_owners(sets, k, heavy, most)
    if fits and count_edits(sets, growing.groups) <= count_edits(sets, beside):
        return growing.groups
    return beside


def _group_with_heavy_owners(sets: Sets, k: int, heavy: npt.NDArray[np.bool_], most: int) -> Ints:
    """Group where a few owners have so many sets that the others' must make enough groups.

    Let g be the most groups that can be made, and h owners have more than g sets. Then h < k, the
    others can make g groups of k - h, and no more, and each of the h has a set to give to each. But
    in a group of k of the others, what all have in common stays so whoever joins them. So as many
    groups are of k as leaves room for all.

    Args:
        sets: The sets.
        k: How many owners each group must have.
        heavy: Which owners have more than `most` sets.
        most: The most groups that can be made.
    """
    groups = np.full(len(sets), -1, np.int64)
    if not most:
        return groups
    light = ~heavy[sets.owners]
    others = sets.some(light)
    needed = min(most, -(-len(sets) // (2 * k - 1)))
    growing = GrowingGroups(others.owners, k, exact=True)
    growing.gather_all(others)
    growing.k = k - int(heavy.sum())
    growing.break_up(others, needed)
    if heavy.any():
        # Heavy owners outnumber the others in such a group: only what they hold too can stay.
        theirs = np.zeros(int(sets.items.max(initial=0)) + 1, np.bool_)
        theirs[sets.items[~light[sets.numbers()]]] = True
        growing.gather_all(others.of(theirs[others.items]))
        growing.break_up(others, needed)
    growing.deal_rest(growing.k)
    groups[light] = growing.groups
    short = np.bincount(growing.groups[growing.groups >= 0]) < k
    if short.any():
        _add_heavy_owners(sets, groups, np.flatnonzero(heavy), np.flatnonzero(short))
    _place_rest(sets, groups, k, light)
    _place_rest(sets, groups, k, ~light)
    return groups


def _add_heavy_owners(sets: Sets, groups: Ints, heavy: Ints, short: Ints) -> None:
    """Add to each short group one set of each heavy owner, like the group if there is one.

    Args:
        sets: The sets.
        groups: The group of each; changed.
        heavy: The heavy owners.
        short: The groups that have too few owners.
    """
    many = len(heavy)
    rank = np.full(int(sets.owners.max()) + 1, -1)
    rank[heavy] = np.arange(many)
    owner = rank[sets.owners]
    numbers = sets.numbers()
    theirs = owner[numbers] >= 0
    wanted = numbers[theirs], sets.items[theirs] * many + owner[numbers[theirs]]

    # A place is a short group and a heavy owner, and a key an item and an owner.
    place = np.full(int(groups.max()) + 1, -1)
    place[short] = np.arange(len(short))
    found = count_held(sets, groups)
    shared = np.flatnonzero(found.majority & (place[found.group] >= 0))
    each = np.arange(many)
    places = (place[found.group[shared], None] * many + each).reshape(-1)
    order = np.argsort(places, kind="stable")
    offers = places[order], (found.item[shared, None] * many + each).reshape(-1)[order]
    chosen = np.full(len(sets), -1, np.int64)
    room = np.ones(len(short) * many, np.int64)
    _place_similar(chosen, room, wanted, offers)
    for one in range(many):
        empty = np.flatnonzero(room[one::many])
        left = np.flatnonzero((owner == one) & (chosen < 0))
        chosen[left[: len(empty)]] = empty * many + one
    given = chosen >= 0
    groups[given] = short[chosen[given] // many]


def _place_rest(sets: Sets, groups: Ints, k: int, some: npt.NDArray[np.bool_]) -> None:
    """Give sets without a group to groups with room, like them if there are any.

    Args:
        sets: The sets.
        groups: The group of each; changed.
        k: A group has room for 2k - 1 sets.
        some: Which sets.
    """
    found = count_held(sets, groups)
    made = int(groups.max(initial=-1)) + 1
    room = 2 * k - 1 - np.bincount(groups[groups >= 0], minlength=made)
    full = np.zeros(made, np.int64)
    np.add.at(full, found.group, found.saved(found.size) - found.saved(2 * k - 1))
    loss = full / np.maximum(1, room)
    numbers = sets.numbers()
    free = (some & (groups < 0))[numbers]
    shared = found.majority
    offers = found.group[shared], found.item[shared]
    _place_similar(groups, room, (numbers[free], sets.items[free]), offers)
    # What is like no group goes to those that lose least when they are full.
    rest = np.flatnonzero(some & (groups < 0))
    cheapest = np.argsort(loss, kind="stable")
    places = np.repeat(cheapest, room[cheapest])[: len(rest)]
    groups[rest[: len(places)]] = places


def _place_similar(
    chosen: Ints, room: Ints, free: tuple[Ints, Ints], offers: tuple[Ints, Ints]
) -> None:
    """Let sets join places that offer one of their keys, while there is room.

    In each round a place offers the key that most sets still ask for.

    Args:
        chosen: The place of each set, or -1; changed.
        room: How many sets each place may take; changed.
        free: The sets, ascending, each as often as it has keys, and these keys.
        offers: The places, ascending, each as often as it has keys, and these keys.
    """
    (sets, wanted), (places, offered) = free, offers
    keys = np.unique(np.concatenate([wanted, offered]), return_inverse=True)[1].astype(np.int64)
    wanted, offered = keys[: len(wanted)], keys[len(wanted) :]
    plenty = np.bincount(places, minlength=len(room))
    for _ in range(ROUNDS):
        left = chosen[sets] < 0
        sets, wanted = sets[left], wanted[left]
        asked = np.bincount(wanted, minlength=len(keys))
        some = (asked[offered] > 0) & (room[places] > 0)
        places, offered = places[some], offered[some]
        if not len(places):
            break
        starts = np.flatnonzero(is_first(places))
        best = split_numbers(np.maximum.reduceat(join_numbers(asked[offered], offered), starts))[1]
        # Those that share least come first: they have least to lose.
        order = np.argsort(plenty[places[starts]], kind="stable")
        still = places[starts][order]
        joining, at = assign_places(sets, wanted, best[order], room[still])
        chosen[joining] = still[at]
        np.subtract.at(room, still[at], 1)
