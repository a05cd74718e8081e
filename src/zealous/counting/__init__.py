"""How many users have each item, after each user's contribution is bounded.

Noise and the second threshold belong in mechanisms/. Read in this order:

- `bound`: each user keeps at most m different items, chosen by her own entries and a public key.
- `restriction`: which items may count at all, such as those of a public table; `same_user`: those
  that belong to what the same user kept of another kind.
- `histogram`: for each item the number of users who keep it, down to the first threshold.
- `log_count`: what a mechanism is given, so that it sees a log only through such counts.
- `chosen`: for `selection-twice`, which one of her items each user counts for, twice.
- `kept`, `kept_arrays`: for `pooled` and `prior`, which items each user keeps, weighed several
  times: by SQL, or by numpy where all of it fits in memory.
"""
