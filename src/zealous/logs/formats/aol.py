"""The search log that AOL published in 2006."""

from zealous.files.delimited import Delimited
from zealous.logs.log import Columns, Format, register

register(
    Format(
        name="aol",
        layout=Delimited(
            delimiter="\t",
            names=("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"),
            least=3,  # without a click the last two are missing
        ),
        columns=Columns(user="AnonID", query="Query", time="QueryTime", url="ClickURL"),
    )
)
