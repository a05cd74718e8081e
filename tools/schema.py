"""Write the JSON Schema of release.json: `python tools/schema.py`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec.json

from zealous.record.record import Record
from zealous.release.schema import OF_PART, OF_RECORD, SETTINGS

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "release.schema.json"
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def text() -> str:
    """The content of the file."""
    return json.dumps(json_schema(), indent=2) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON Schema of release.json."""
    schema = msgspec.json.schema(Record)
    defined = schema["$defs"]
    for owner, names in (("Record", OF_RECORD), ("PartRecord", OF_PART)):
        for name, known in names.items():
            defined[owner]["properties"][name]["enum"] = list(known)
    defined["PartRecord"]["properties"]["settings"] = {
        "type": "object",
        "properties": {
            name: {"type": [word for each, word in _JSON_TYPES.items() if each in allowed]}
            for name, allowed in SETTINGS.items()
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


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(text(), encoding="utf-8")
