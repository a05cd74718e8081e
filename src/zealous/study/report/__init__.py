"""Draws; computes nothing."""
