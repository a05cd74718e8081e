"""What release.json may hold: the types of the record, and the names that this version knows.

`docs/reference/release.schema.json` says the same to other programs (`python tools/schema.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from zealous.errors import ReleaseError
from zealous.items import KINDS
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.retired import RETIRED
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.record.codec import decode, unknown_keys_message
from zealous.record.record import Record, Settings

# What the types leave open, since names are added with what they name.
OF_RECORD = {"parameters_from": tuple(PARAMETERS_FROM)}
OF_PART = {"mechanism": tuple(dict.fromkeys([*MECHANISMS, *RETIRED]))}
SETTINGS: dict[str, set[type]] = {}
for _kind in KINDS.values():
    for _name, _types in _kind.setting_types().items():
        SETTINGS.setdefault(_name, set()).update(_types)


def read_record(text: str) -> Record:
    """The record that release.json holds, in names that this version knows.

    Raises:
        ValueError: It is no JSON that every reader reads alike.
        RecursionError: It is nested too deeply.
        ReleaseError: It holds no record that this version can read.
    """
    record = decode(text)
    _check_names(record, OF_RECORD, "")
    for number, part in enumerate(record.plan):
        _check_names(part, OF_PART, f"plan[{number}].")
        _check_settings(part.settings, f"plan[{number}].settings")
    return record


def _check_names(value: Struct, names: Mapping[str, Sequence[str]], where: str) -> None:
    for name, known in names.items():
        if getattr(value, name) not in known:
            raise ReleaseError(f"{where}{name} is not what it should be")


def _check_settings(settings: Settings, where: str) -> None:
    if unknown := settings.keys() - SETTINGS:
        raise ReleaseError(unknown_keys_message(where, len(unknown)))
    for name, value in settings.items():
        if type(value) not in SETTINGS[name]:
            raise ReleaseError(f"{where}.{name} is not what it should be")
