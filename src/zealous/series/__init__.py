"""Releases of one kind of log, one after the other: what changed between them."""
