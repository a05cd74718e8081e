"""What a text is made of before it is an item: SQL of DuckDB's dialect.

Guarantee:
    Each text is normalised by itself, so that two spellings of one item are one item before users
    are bounded.
"""

from __future__ import annotations

from zealous.files.limits import Limits
from zealous.logs.values import BLANKS, WORD

# Most text is plain and needs no more than this look; normalising all of it costs twice the time.
_TIDY = "[!-~]+( [!-~]+)*"
_PLAIN = "[a-z0-9]+( [a-z0-9]+)*"


def tidy(text: str) -> str:
    """SQL: blanks and control characters become single spaces, none at the ends."""
    tidied = f"trim(regexp_replace({text}, '{BLANKS}', ' ', 'g'))"
    return f"case when regexp_full_match({text}, '{_TIDY}') then {text} else {tidied} end"


def is_visible(text: str) -> str:
    """SQL: there is more than blanks; an item without that is no item."""
    # Most texts begin with printable ASCII, and two comparisons tell; the rest are searched.
    begins = f"{text} >= '!' and {text} < '~'"
    return rf"({begins} or regexp_matches({text}, '[^\p{{Z}}\p{{Cc}}]'))"


def has_word(text: str) -> str:
    """SQL: there is at least one letter or digit; a query without any is no query."""
    # Most queries begin with a letter from a to z, and two comparisons tell; the rest are searched.
    begins = f"{text} >= 'a' and {text} < '{{'"
    return rf"({begins} or regexp_matches({text}, '[\p{{L}}\p{{N}}]'))"


def words(text: str, most: int = Limits.words) -> str:
    """SQL: the words of a text, lower-cased; of more than `most` only the first."""
    found = f"regexp_extract_all(lower({text}), '{WORD}')"
    plain = f"regexp_full_match({text}, '{_PLAIN}')"
    short = f"strlen({text}) <= {2 * most}"  # which has no room for more
    return (
        f"case when {short} and {plain} then string_split({text}, ' ') when {short} then {found} "
        f"else {found}[1 : {most}] end"
    )


def normalized_query(fold: bool, most: int = Limits.words) -> str:
    """SQL: the normalised query; folded, it is the sorted set of its words, `most` at most."""
    if fold:
        return f"array_to_string(list_sort(list_distinct({words('query', most)})), ' ')"
    plain = f"regexp_full_match(query, '{_PLAIN}')"
    return f"case when {plain} then query else lower({tidy('query')}) end"
