"""The paper's comparison: anonymity methods, attacks, measures, claims and the report.

It uses the rest of the package, and what publishes uses nothing of it.
"""
