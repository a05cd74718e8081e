"""Names that somebody else chose, written into Markdown as they are: none is markup.

A column may be called anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Controls, line ends and what turns the direction of writing around.
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_MARKUP = re.compile(r"[\\`*\[\]<>&~|#]|(?<![^\W_])_|_(?![^\W_])")  # within a word _ is plain


def code(text: str) -> str:
    """A text as a span of code, in which nothing has a meaning.

    >>> code("product"), code("a`b"), code("`")
    ('`product`', '``a`b``', '`` ` ``')
    """
    line = _UNPRINTED.sub(" ", text)
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    # A space at either end is taken away again where the text begins or ends with a backtick.
    inside = f" {line} " if line[:1] in ("", "`", " ") or line[-1:] in ("`", " ") else line
    return f"{fence}{inside}{fence}"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, in whose cells a bar is no end."""
    cells = ([re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells))


def escaped(text: str) -> str:
    r"""A sentence that names something, in which the name has no meaning as markup.

    >>> escaped("The file my_list.txt (SHA-256 00) is public.")
    'The file my_list.txt (SHA-256 00) is public.'
    >>> escaped("[x](y) <b>")
    '\\[x\\](y) \\<b\\>'
    """
    return _MARKUP.sub(r"\\\g<0>", _UNPRINTED.sub(" ", text))
