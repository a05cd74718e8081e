"""Checks of a release from its files alone, and taking rows out before it is handed on.

Nothing here needs the log. Attempts to break the running program belong in audit/.
"""
