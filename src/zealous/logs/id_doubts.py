"""Whether the ids of a log are people: for the owner's eyes, and never quoted."""

from __future__ import annotations

from typing import NamedTuple

from zealous.engines.sql import Step
from zealous.logs.source import IdCounts, Source, count_ids, is_odd_id, known_entries

_JUDGED = 1000  # fewer ids tell nothing
_ONE_EACH = 1.05  # entries an id
_LARGE_SHARE = 0.02


class IdDoubt(NamedTuple):
    """Something odd about the ids.

    Attributes:
        text: What, and what to do.
        wrong_unit: Whether the guarantee then probably protects no person: nobody named the column.
    """

    text: str
    wrong_unit: bool = False


def id_doubts(source: Source, *, unnamed: bool = False) -> list[IdDoubt]:
    """What is odd about the ids of a log.

    Args:
        source: The log.
        unnamed: Whether the column of the ids has no name, so that it may be any other.
    """
    ids = count_ids(source)
    found = [_one_entry_each(source, ids, unnamed), _large_share(ids)]
    if ids.odd:  # else all of the log need not be looked at
        found.append(_two_spellings(source))
    return [each for each in found if each is not None]


def _one_entry_each(source: Source, ids: IdCounts, unnamed: bool) -> IdDoubt | None:
    if ids.number < _JUDGED or ids.entries > _ONE_EACH * ids.number:
        return None
    if _are_consecutive(source, ids.number):
        return IdDoubt(
            "The ids are consecutive numbers, one for nearly every row: they look like row "
            "numbers. Then each row is protected by itself, and no person is. Name the column of "
            "the person with --user.",
            wrong_unit=unnamed,
        )
    return IdDoubt(
        "Nearly every id has a single row: is it the person's, or that of a visit, an order or a "
        "row? What is protected is one id. Name the column of the person with --user.",
        wrong_unit=unnamed,
    )


def _are_consecutive(source: Source, number: int) -> bool:
    steps = [
        *known_entries(source),
        Step("numbers", "select distinct try_cast(user as bigint) as n from known"),
        Step("range", "select count(n), min(n), max(n) from numbers"),
    ]
    count, least, most = source.engine.rows(steps)[0]
    return int(count) >= number / _ONE_EACH and int(most) - int(least) < _ONE_EACH * number


def _large_share(ids: IdCounts) -> IdDoubt | None:
    share = ids.most / ids.entries if ids.entries else 0
    if share <= min(0.5, max(_LARGE_SHARE, 20 / ids.number if ids.number else 1)):
        return None
    return IdDoubt(
        f"One user id holds {share:.0%} of all entries: a robot, a shared account or a missing id "
        "written as a value? Leave it out with --max-entries-per-user or --exclude-users."
    )


def _two_spellings(source: Source) -> IdDoubt | None:
    """Whether ids with zeros in front, or in capitals, are there without them too."""
    spelt = f"select distinct user::varchar as id from known where {is_odd_id()}"
    plain = "select lower(regexp_replace(id, '^0+', '', 'g')) as id from spelt"
    same = "select 1 as one from known where user::varchar in (select id from plain) limit 1"
    steps = [Step("spelt", spelt), Step("plain", plain), Step("same", same)]
    if not source.engine.rows([*known_entries(source), *steps]):
        return None
    return IdDoubt(
        "Some ids differ only in zeros in front or in capitals, such as 0042 and 42, or AB7 and "
        "ab7: if they are one person, she is protected once for each. Write ids in one way before "
        "you publish."
    )
