"""Numbers of a column in public bands: a price of 9.06 becomes `5 to below 10`.

Guarantee:
    The band of a value follows from that value and the public limits alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from zealous.engines.sql import literal
from zealous.errors import ReleaseError, UsageError
from zealous.libraries import pa, pc
from zealous.logs.normalization import tidy
from zealous.logs.times import NUMBER
from zealous.privacy.guarantee import Number, exact_fraction, format_number

MOST_LIMITS = 100  # of a column
IN_BANDS = "Numbers are in bands with public limits, by column: {bands}."
_USAGE = "bands are written as --bands price=5,10,20: a column and its limits, the lowest first"


def bands_text(given: Mapping[str, Iterable[Number]] | Iterable[str] | None) -> str | None:
    """The bands of some columns as one text: a setting of a kind.

    Args:
        given: The limits of each column, by its name; or each as `price=5,10,20`.

    >>> bands_text({"price": [5, 10, "12.50"]}), bands_text(["price=5,10", "size=1"])
    ('price=5,10,12.5', 'price=5,10;size=1')
    """
    if not given:
        return None
    texts = list(given)
    if isinstance(given, Mapping):
        texts = [f"{name}={','.join(map(str, limits))}" for name, limits in given.items()]
    found = [(name, *map(_decimal, limits)) for name, limits in map(_parse_band, texts)]
    if len({name for name, *_ in found}) < len(found):
        raise UsageError("the bands of a column are said once: --bands price=5,10,20")
    return ";".join(f"{name}={','.join(limits)}" for name, *limits in found)


def limits_by_column(bands: str | None) -> dict[str, list[Fraction]]:
    """What `bands_text` says.

    Raises:
        UsageError: It is no such text; or limits do not rise.
    """
    return dict(map(_parse_band, bands.split(";"))) if bands else {}


def _parse_band(text: str) -> tuple[str, list[Fraction]]:
    name, equal, listed = text.rpartition("=")
    name = name.strip()
    if not equal or not name or set(name) & set(";,="):
        raise UsageError(_USAGE)
    limits = [exact_fraction(each.strip(), "a limit of --bands") for each in listed.split(",")]
    if len(limits) > MOST_LIMITS or any(one >= other for one, other in pairwise(limits)):
        raise UsageError(_USAGE)
    return name, limits


def _decimal(limit: Fraction) -> str:
    """A limit as it is shown: exactly, without an exponent."""
    text = format_number(limit)
    if "e" in text or exact_fraction(text, "a limit of --bands") != limit:
        raise UsageError("a limit of --bands is a number of at most 12 digits")
    return text


def band_names(limits: list[Fraction]) -> list[str]:
    """What each band is called, the lowest first.

    >>> band_names([Fraction(5), Fraction(25, 2)])
    ['below 5', '5 to below 12.5', '12.5 or more']
    """
    told = [*map(_decimal, limits)]
    between = [f"{low} to below {high}" for low, high in pairwise(told)]
    return [f"below {told[0]}", *between, f"{told[-1]} or more"]


def bands_of(bands: str | None, columns: Iterable[str]) -> str | None:
    """Those of these columns, of bands for several kinds of items."""
    own = set(columns)
    kept = [each for each in (bands or "").split(";") if each.rpartition("=")[0] in own]
    return ";".join(kept) or None


def check_bands(bands: str | None, columns: Iterable[str]) -> None:
    """Refuse bands that cannot be, or of a column that is none of an item's."""
    if set(limits_by_column(bands)) - set(columns):
        raise UsageError("--bands names a column that is no part of the items: leave it out")


def check_band_names(published: pa.ChunkedArray, limits: list[Fraction]) -> None:
    """Refuse published texts that are the name of no band."""
    if not pc.all(pc.is_in(published, value_set=pa.array(band_names(limits)))).as_py():
        raise ReleaseError("a number is in no band of the release")


def band_sql(text: str, limits: list[Fraction]) -> str:
    """SQL: the band of a number that stands in a text; NULL where none does."""
    plain = tidy(text)
    number = f"case when regexp_full_match({plain}, {literal(NUMBER)}) then {plain} end"
    value = f"try_cast({number} as double)"
    names = band_names(limits)
    below = " ".join(
        f"when {value} < {literal(_decimal(limit))}::double then {literal(name)}"
        for limit, name in zip(limits, names, strict=False)
    )
    return f"case when {value} is null then null {below} else {literal(names[-1])} end"
