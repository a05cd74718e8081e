"""Attempts to break the guarantee through the real pipeline, with statistics on what was seen.

Runs publishing on made-up logs. Checks of one given release belong in verification/.
"""
