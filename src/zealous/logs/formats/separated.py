"""CSV and TSV: the first line of each file names the columns.

Other delimiters, such as semicolons, are an option of the layout (files/delimited.py).
"""

from zealous.files.delimited import Delimited
from zealous.logs.log import Columns, Format, register

_NAMED = Columns(user="user", query="query", time="time", url="url", session="session")

register(
    Format(
        name="csv",
        layout=Delimited(delimiter=",", quoted=True),
        columns=_NAMED,
        suffixes=(".csv",),
        title="CSV",
    )
)
register(
    Format(
        name="tsv",
        layout=Delimited(delimiter="\t"),
        columns=_NAMED,
        suffixes=(".tsv",),
        title="TSV",
    )
)
