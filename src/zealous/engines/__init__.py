"""Engines execute SQL next to the data. They decide nothing."""
