"""A study's grid of methods and settings, run release by release."""
