"""release.json and its record: read as a stranger's, written byte for byte as ever.

Errors say where something is wrong and quote nothing: a stranger's file may hold people's data.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins

from zealous.errors import ReleaseError
from zealous.files.strict_json import parse
from zealous.record.record import FORMAT, Record

_Struct = TypeVar("_Struct", bound=Struct)
_TRACKED = "tracked"  # tells both forms of `ledger` apart, in the file alone
_MISSING = re.compile(r"Object missing required field `(.+)`")


def decode(text: str) -> Record:
    """The record that release.json holds.

    Raises:
        ValueError: It is no JSON that every reader reads alike.
        RecursionError: It is nested too deeply.
        ReleaseError: It holds no record of this format.
    """
    found = parse(text)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ReleaseError("not written by a version of zealous that this one can read")
    record = structure({**found, "ledger": _stamp(found)}, Record)
    if to_json(record) != found:
        # Such as a null where a key is left out.
        raise ReleaseError("a value is not written as zealous writes it")
    return record


def encode(record: Record) -> bytes:
    """The content of release.json."""
    return (json.dumps(_plain(record), indent=2, ensure_ascii=False) + "\n").encode()


def to_json(record: Record) -> dict[str, Any]:
    """What a program reads in release.json."""
    found: dict[str, Any] = json.loads(json.dumps(_plain(record)))
    return found


def structure(found: Any, shape: type[_Struct]) -> _Struct:
    """What was read as a value of a type.

    Raises:
        ReleaseError: It is none; says where.
    """
    known = set(shape.__struct_encode_fields__)
    strict = isinstance(found, dict) and shape.__struct_config__.forbid_unknown_fields
    if strict and (unknown := set(found) - known):
        raise ReleaseError(unknown_keys_message("it", len(unknown)))
    try:
        return convert(found, shape)
    except ValidationError as error:
        raise ReleaseError(_problem(str(error))) from None


def _plain(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = to_builtins(record)
    stamp = found["ledger"]
    found["ledger"] = {_TRACKED: False} if stamp is None else {_TRACKED: True, **stamp}
    return found


def _stamp(found: dict[str, Any]) -> Any:
    """What the file says of its ledger, without the key that tells both forms apart."""
    if "ledger" not in found:
        raise ReleaseError("ledger is missing")
    stamp = found["ledger"]
    if not isinstance(stamp, dict):
        raise ReleaseError("ledger is not an object")
    rest = {name: value for name, value in stamp.items() if name != _TRACKED}
    if stamp.get(_TRACKED) is not bool(rest):
        raise ReleaseError("ledger.tracked is not what it should be")
    return rest or None


def _problem(message: str) -> str:
    """An error of the library, without what it quotes."""
    # The place comes last, if not at the top. A key that is quoted before it may hold anything.
    what, _, place = message.rpartition(" - at `$") if " - at `$" in message else (message, "", "")
    where = place.removeprefix(".").removesuffix("`")
    if missing := _MISSING.fullmatch(what):
        return f"{where}.{missing[1]} is missing".lstrip(".")
    where = where or "it"
    if what.startswith("Object contains unknown field"):
        return unknown_keys_message(where, 1)
    for expected, told in (("object", "an object"), ("array", "a list")):
        if what.startswith(f"Expected `{expected}`"):
            return f"{where} is not {told}"
    return f"{where} is not what it should be"


def unknown_keys_message(where: str, number: int) -> str:
    """What is wrong with an object that has more keys than it may, without quoting them."""
    return f"{where} holds {number} key(s) that this version does not know"
