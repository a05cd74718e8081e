"""The yardstick: users per item without any privacy, by DuckDB, written to Parquet.

python duckdb_count.py INPUT OUTPUT
"""

import sys

import duckdb

source, output = sys.argv[1:]
with duckdb.connect() as connection:
    (items,) = connection.execute(
        "copy (select item, count(distinct user) as count from read_parquet(?) group by item) "
        f"to '{output}' (format parquet)",
        [source],
    ).fetchone() or (0,)
print(items)
