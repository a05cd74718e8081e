"""Releases of any method, read in and matched with the true histograms of the log."""
