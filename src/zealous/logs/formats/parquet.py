"""Parquet, whose files carry the names and types of their columns."""

from zealous.logs.log import Columns, Format, register

register(
    Format(
        name="parquet",
        layout=None,
        columns=Columns(
            user="user",
            query="query",
            time="time",
            url="url",
            session="session",
            keywords="keywords",
        ),
        suffixes=(".parquet", ".pq"),
        title="Parquet",
    )
)
