"""Formats of logs, each a file that registers itself."""
