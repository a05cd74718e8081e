"""What release.json may hold, key by key: nothing is missing, and nothing is there unasked.

A shape is a type, a set of allowed values, a pattern for texts, a tuple of alternatives, a list
with the shape of its elements, or a dict with the shape of each key. A key that ends in `?` may be
absent; the key `*` stands for any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from zealous.counting.bound import Select
from zealous.files.limits import Limits
from zealous.logs.log import Columns
from zealous.mechanisms.choose import MECHANISMS
from zealous.planning.plan import PARAMETERS_FROM
from zealous.privacy.guarantee import UNITS, Neighbors

FORMAT = "zealous release 1"

_HASH = re.compile(r"[0-9a-f]{64}")
_EXACT = re.compile(r"[0-9]+(/[0-9]+)?")
_DEFINITION = {"probabilistic", "indistinguishable"}
_PARQUET, _CSV = re.compile(r"[\w~-]+\.parquet"), re.compile(r"[\w~-]+\.csv")
_BUDGET = {"epsilon": float, "delta": float, "exact": {"epsilon": _EXACT, "delta": _EXACT}}
_CAP = (None, {"epsilon": (None, float), "delta": (None, float)})
_CLAIM = {
    "definition": _DEFINITION,
    "title": str,
    "epsilon": float,
    "delta": float,
    "users": (None, int),
    "neighbors": set(get_args(Neighbors)),
    "unit": set(UNITS),
    "in_words": str,
    "theorem": str,
}
_PART = {
    "kind": str,
    "settings": {
        "by": (None, str),
        "fold?": bool,
        "session_gap?": int,
        "follow?": bool,
        "basket?": (None, str),
        "things?": int,
    },
    "select": set(get_args(Select)),
    "guarantee": _DEFINITION,
    "neighbors": set(get_args(Neighbors)),
    "epsilon": float,
    "delta": float,
    "users": (None, int),
    "unit": set(UNITS),
    "items_per_user": int,
    "mechanism": set(MECHANISMS),
    "noise": {each.noise for each in MECHANISMS.values()},
    "scale": float,
    "tau": int,
    "tau_prime": (None, int),
    "delta_achieved": float,
    "exact": {"epsilon": _EXACT, "delta": _EXACT, "scale": _EXACT},
    "rounds?": [{"items_per_user": int, "scale": int, "threshold": int}],
    "longer?": _EXACT,
    "public?": {"name": str, "sha256": _HASH},
    "forecast": {
        "users_to_appear": {"5%": int, "50%": int, "95%": int},
        "error_95": int,
        "single_person_items": (None, float),
    },
}
_LEDGER = {
    "tracked": {True},
    "ledger": str,
    "dataset": (None, str),
    "unit": set(UNITS),
    "neighbors": set(get_args(Neighbors)),
    "entry": int,
    "hash": _HASH,
    "accounts": {
        "period": {**_BUDGET, "releases": int, "within": str},
        "all": {**_BUDGET, "releases": int},
        "delta_for_anybody": float,
        "definition": _DEFINITION,
    },
    "caps": {"all": _CAP, "period": _CAP},
}
_REVIEW: dict[str, Any] = {
    "parent": _HASH,
    "parent_id": str,
    "rules": [str],
    "removed": {"*": int},
}
_REVIEW["earlier"] = (None, _REVIEW)
ABOUT = {
    "format": {FORMAT},
    "software": {"name": {"zealous"}, "version": str},
    "created": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "private": bool,
    "id": str,
    "period": (None, str),
    "approved_plan": (None, _HASH),
    "ledger": ({"tracked": {False}}, _LEDGER),
    "guarantee": {**_CLAIM, "exact": {"epsilon": _EXACT, "delta": _EXACT}},
    "also_guaranteed": (None, _CLAIM),
    "assumptions": [str],
    "parameters_from": set(PARAMETERS_FROM),
    "selection_key": str,
    "columns": {f"{field.name}?": str for field in fields(Columns)} | {"user": str},
    "cleaning": {
        "users_excluded_by_list": bool,
        "max_entries_per_user": (None, int),
        "limits?": dict.fromkeys(Limits().about(), int),
    },
    "planner?": int,  # absent from what 0.1.0 wrote
    "plan": [_PART],
    "files": {"*": {"parquet": _PARQUET, "csv": _CSV, "columns": [str], "rows": int}},
    "review": (None, _REVIEW),
    "sha256": {"*": _HASH},
}


def problems(value: object, shape: Any, where: str = "") -> Iterator[str]:
    """Where a value is not of a shape; quotes keys of ours and no values."""
    if isinstance(shape, tuple):
        found = [list(problems(value, each, where)) for each in shape]
        if all(found):
            yield from min(found, key=len)
    elif isinstance(shape, dict):
        yield from _mapping(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is not a list"
        else:
            for number, each in enumerate(value):
                yield from problems(each, shape[0], f"{where}[{number}]")
    elif not _leaf(value, shape):
        yield f"{where} is not what it should be"


def _mapping(value: object, shape: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where or 'it'} is not an object"
        return
    if "*" in shape:
        for number, each in enumerate(value.values()):
            yield from problems(each, shape["*"], f"{where}[{number}]")
        return
    known = {key.rstrip("?"): each for key, each in shape.items()}
    for key in shape:
        if key not in value and not key.endswith("?"):
            yield f"{where}.{key} is missing".lstrip(".")
    unknown = len(value.keys() - known.keys())
    if unknown:
        yield f"{where or 'it'} holds {unknown} key(s) that this version does not know"
    for key in value.keys() & known.keys():
        yield from problems(value[key], known[key], f"{where}.{key}".lstrip("."))


def _leaf(value: object, shape: Any) -> bool:
    if shape is None:
        return value is None
    if isinstance(shape, set):
        return any(value == each and type(value) is type(each) for each in shape)
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    if shape is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
