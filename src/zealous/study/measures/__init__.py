"""How useful what is left is: measures, index caching, query substitution. Returns rows."""
