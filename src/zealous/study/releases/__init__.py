"""Releases of any method laid beside the true histograms of the log."""
