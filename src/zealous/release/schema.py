"""What release.json may hold: the types of the record, and the names that this version knows.

`docs/reference/release.schema.json` says the same to other programs (`python tools/schema.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from zealous.errors import ReleaseError
from zealous.items import KINDS
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.retired import RETIRED
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.record.codec import decode, unknown_keys_message
from zealous.record.record import Record, Settings

# What the types leave open, since names are added with what they name.
_OF_RECORD = {"parameters_from": tuple(PARAMETERS_FROM)}
_OF_PART = {"mechanism": tuple(dict.fromkeys([*MECHANISMS, *RETIRED]))}
_SETTINGS: dict[str, set[type]] = {}
for _kind in KINDS.values():
    for _name, _types in _kind.setting_types().items():
        _SETTINGS.setdefault(_name, set()).update(_types)
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def read_record(text: str) -> Record:
    """The record that release.json holds, in names that this version knows.

    Raises:
        ValueError: It is no JSON that every reader reads alike.
        RecursionError: It is nested too deeply.
        ReleaseError: It holds no record that this version can read.
    """
    record = decode(text)
    _check_names(record, _OF_RECORD, "")
    for number, part in enumerate(record.plan):
        _check_names(part, _OF_PART, f"plan[{number}].")
        _check_settings(part.settings, f"plan[{number}].settings")
    return record


def _check_names(value: Struct, names: Mapping[str, Sequence[str]], where: str) -> None:
    for name, known in names.items():
        if getattr(value, name) not in known:
            raise ReleaseError(f"{where}{name} is not what it should be")


def _check_settings(settings: Settings, where: str) -> None:
    if unknown := settings.keys() - _SETTINGS:
        raise ReleaseError(unknown_keys_message(where, len(unknown)))
    for name, value in settings.items():
        if type(value) not in _SETTINGS[name]:
            raise ReleaseError(f"{where}.{name} is not what it should be")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of release.json."""
    schema = json.schema(Record)
    defined = schema["$defs"]
    for owner, names in (("Record", _OF_RECORD), ("PartRecord", _OF_PART)):
        for name, known in names.items():
            defined[owner]["properties"][name]["enum"] = list(known)
    defined["PartRecord"]["properties"]["settings"] = {
        "type": "object",
        "properties": {
            name: {"type": [word for each, word in _JSON_TYPES.items() if each in allowed]}
            for name, allowed in _SETTINGS.items()
        },
        "required": ["by"],
        "additionalProperties": False,
    }
    stamp = defined["LedgerStamp"]
    stamp["properties"] = {"tracked": {"const": True}, **stamp["properties"]}
    stamp["required"] = ["tracked", *stamp["required"]]
    defined["Record"]["properties"]["ledger"] = {
        "anyOf": [
            {"$ref": "#/$defs/LedgerStamp"},
            {
                "type": "object",
                "properties": {"tracked": {"const": False}},
                "required": ["tracked"],
                "additionalProperties": False,
            },
        ]
    }
    for each in defined.values():
        each["description"] = each["description"].partition("\n")[0]
        for shape in each["properties"].values():
            _adapt(shape)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "release.json of zealous",
        **schema,
    }


def _adapt(shape: dict[str, Any]) -> None:
    """Say of one key what JSON Schema says in another way."""
    if shape.pop("default", ...) is None:  # it may be absent, and is never null
        (kept,) = (each for each in shape.pop("anyOf") if each != {"type": "null"})
        shape.update(kept)
    if "pattern" in shape:  # there a word has ASCII letters alone
        shape["pattern"] = shape["pattern"].replace(r"[\w~-]", r"[^/\\]")
