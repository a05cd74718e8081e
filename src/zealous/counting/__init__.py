"""How many users have each item, after each user's contribution is bounded.

SQL up to the first threshold. Noise and the second threshold belong in mechanisms/.
"""
