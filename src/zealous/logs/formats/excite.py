"""The search logs of Excite, of the 1990s."""

from zealous.files.delimited import Delimited
from zealous.logs.log import Columns, Format, register

register(
    Format(
        name="excite",
        layout=Delimited(delimiter="\t", names=("user", "time", "query")),
        columns=Columns(user="user", time="time", query="query"),
        time_format="%y%m%d%H%M%S",
    )
)
