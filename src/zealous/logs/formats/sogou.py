"""The search logs of Sogou (SogouQ), in Chinese.

Their times are without a date in some editions, and tell neither days nor sessions: none is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zealous.files.lines import LineByLine
from zealous.logs.log import Columns, Format, register


@dataclass(frozen=True, kw_only=True)
class Sogou(LineByLine):
    """Time, user, [query], rank and order of the click (in one field or two), address."""

    names: tuple[str, ...] = ("user", "query", "url")
    encoding: str = "gb18030"
    skips = "too few or too many columns"

    def is_unmistakable(self, line: str) -> bool:
        """Whether there are as many fields, and the third is a query in brackets."""
        fields = line.rstrip("\r\n").split("\t")
        return len(fields) in (5, 6) and fields[2].startswith("[") and fields[2].endswith("]")

    def values(self, line: str) -> Sequence[str | None] | None:
        """The user, the query without its brackets, and what was clicked."""
        fields = line.split("\t")
        if len(fields) not in (5, 6):
            return None
        _, user, query, *_, url = fields
        return [user, query.removeprefix("[").removesuffix("]"), url]


register(
    Format(
        name="sogou",
        layout=Sogou(),
        columns=Columns(user="user", query="query", url="url"),
    )
)
