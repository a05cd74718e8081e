"""Whether an output has the property its method promises: plain Python, apart from the methods."""
