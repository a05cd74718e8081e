"""Checks of a release by somebody who has only its files."""
