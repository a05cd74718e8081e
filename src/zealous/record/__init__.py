"""The record of a release, which release.json holds: its types, and how it is read and written."""
