"""Texts of published items, and clicked addresses; logs/normalization.py normalises texts."""

from __future__ import annotations

from unicodedata import ucd_3_2_0

from zealous.libraries import pa, pc
from zealous.logs.source import Source

_NEVER = r"^ | $|  |[^\PZ ]|\p{Cc}|^$"  # in a tidy text: a blank but single spaces, or a control


def is_normalized(texts: pa.ChunkedArray, lowered: bool, longest: int) -> bool:
    """Whether published texts can be what these functions make of others."""
    other = pc.match_substring_regex(texts, _NEVER)
    long = pc.greater(pc.binary_length(texts), longest)
    return not pc.any(pc.or_(other, long)).as_py() and not (lowered and _have_capital(texts))


def _have_capital(texts: pa.ChunkedArray) -> bool:
    """Whether there is a capital letter; only those of Unicode 3.2, which every engine knows."""
    doubtful = texts.filter(pc.match_substring_regex(texts, r"\p{Lu}"))
    return any(
        letter != letter.lower() and ucd_3_2_0.category(letter) == "Lu"
        for text in doubtful.to_pylist()
        for letter in text
    )


def clicked_urls(source: Source) -> str:
    """SQL: each clicked URL of an entry."""
    return "unnest(url)" if "url" in source.lists else "url"
