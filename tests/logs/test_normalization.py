"""What texts are before they are items, over the characters of Unicode."""

from __future__ import annotations

import duckdb

from zealous.logs.normalization import is_visible

_VISIBLE = r"regexp_matches(text, '[^\p{Z}\p{Cc}]')"


def test_the_short_way_to_tell_what_is_visible() -> None:
    """For every character alone, and after a blank."""
    numbers = "range(1, 1114112) each(i) where not i between 55296 and 57343"
    characters = f"select chr(i::int) as c from {numbers}"
    texts = f"select c as text from ({characters}) union all select ' ' || c from ({characters})"
    different = f"select text from ({texts}) where {is_visible('text')} is distinct from {_VISIBLE}"
    with duckdb.connect(config={"threads": 1}) as connection:
        assert connection.sql(different).fetchall() == []
