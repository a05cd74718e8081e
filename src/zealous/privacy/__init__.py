"""What is promised and which parameters keep it: pure mathematics, no data."""
