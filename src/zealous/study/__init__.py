"""The paper's comparison: other methods, attacks, measures, claims and the report."""
