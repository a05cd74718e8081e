"""Access logs of Apache and nginx in the combined format.

A person is an address, unless another column is named (`--user account`). Whatever a robot asked
for by its user agent is nobody's: a public rule that looks at the line alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zealous.files.lines import LineByLine
from zealous.logs.log import Columns, Format, register

# Possessive: no line, however long, is tried in several ways.
_QUOTED = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_REQUEST = re.compile(
    r'(\S++) \S++ (\S++) \[([^\]]++)\] "([A-Z]++) ([^ "?]++)(?:\?[^ "]*+)?+(?: [^"]*+)?+" '
    rf"(\d{{3}}) \S++ {_QUOTED} {_QUOTED}.*+"
)
# Robots that say what they are, programs that fetch pages, and whoever does not say what it is.
# A Cubot is a telephone.
_ROBOT = re.compile(
    r"(?<!\bcu)bot\b|crawl|spider|slurp|archiver|fetch|monitor|scan|preview|curl|wget|python|java/"
    r"|go-http|libwww|headless|^-?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Combined(LineByLine):
    """Lines of the combined log format."""

    names: tuple[str, ...] = (
        *("address", "account", "time", "method", "path", "status", "referrer", "agent"),
    )
    skips = "not a request in the combined format"

    def is_unmistakable(self, line: str) -> bool:
        """Whether it is a request: no other line has such brackets and quotes."""
        return _REQUEST.fullmatch(line.rstrip("\r\n")) is not None

    def values(self, line: str) -> Sequence[str | None] | None:
        """The fields of a request; all missing in one of a robot, which is nobody's."""
        found = _REQUEST.fullmatch(line)
        if found is None:
            return None
        if _ROBOT.search(found[8]):
            return [None] * len(self.names)
        return [None if each == "-" else each for each in found.groups()]


register(
    Format(
        name="combined",
        layout=Combined(),
        columns=Columns(user="address", time="time"),
        time_format="%d/%b/%Y:%H:%M:%S %z",
    )
)
