"""The records of releases and of plans: their types, and how files of them are read and written."""
