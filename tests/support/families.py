"""The kinds of items that come in several sizes."""

from __future__ import annotations

from collections.abc import Callable

from zealous.items import Kind, itemsets, sequences

FAMILIES: dict[str, Callable[..., list[Kind]]] = {"itemsets": itemsets, "sequences": sequences}
