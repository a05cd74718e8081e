"""How many users have each item, after each user's items were bounded."""
