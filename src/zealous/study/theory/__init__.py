"""Everything else that the paper proves, callable: pure mathematics, no data."""
