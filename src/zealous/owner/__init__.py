"""True figures, for the owner of a log alone: nothing here is imported by a release."""
