"""Databases that a log can be queried from, each a file that registers itself."""
