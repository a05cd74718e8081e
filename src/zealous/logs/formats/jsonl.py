"""JSON lines.

They have no schema, and which columns there are must not depend on the lines: what would change the
meaning of others, such as a column with sessions, has to be said.
"""

from zealous.files.json_lines import JsonLines
from zealous.logs.log import Columns, Format, register

register(
    Format(
        name="jsonl",
        layout=JsonLines(),
        columns=Columns(user="user", query="query", time="time", url="url"),
        suffixes=(".jsonl", ".ndjson", ".json"),
        title="JSON lines",
    )
)
