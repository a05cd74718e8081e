"""What `auto` chooses by a look at how many items people have: for auto.py and mechanisms.py."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from zealous.items.items_per_user import LARGEST
from zealous.mechanisms.after_look import Choice, choose
from zealous.noise import DiscreteLaplace
from zealous.privacy.guarantee import Neighbors

LOOK = Fraction(1, 50)  # of epsilon


def users_by_range(pairs: Path) -> Any:
    """How many users are in each range of the look, from a file of (user, item)."""
    numbers = np.bincount(pq.read_table(pairs)["user"].to_numpy())
    return np.bincount(np.searchsorted(LARGEST, numbers), minlength=len(LARGEST) + 1)


def noisy_choice(counts: Sequence[int], neighbors: Neighbors) -> Choice:
    """What is chosen by one look at epsilon 1."""
    scale = (1 if neighbors == "add-remove" else 2) / LOOK
    noise = DiscreteLaplace(scale=scale).sample(len(LARGEST) + 1, secrets.token_bytes)
    return choose([int(each) for each in np.asarray(counts) + noise], neighbors)


def choice_name(choice: Choice) -> str:
    """A choice in words."""
    kept = choice.kept_items_per_user
    return "selection" if kept is None else f"pooled, {kept} kept"
