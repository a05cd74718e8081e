"""Engines run SQL next to the data: DuckDB by default, Spark at scale.

SQL is written once, in DuckDB's dialect. Engines decide nothing: which rows count and what is
published belongs in items/, counting/ and mechanisms/.
"""
