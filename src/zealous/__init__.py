"""Publish the frequent items of people's data with a proven privacy guarantee."""

__version__ = "0.1.0"
