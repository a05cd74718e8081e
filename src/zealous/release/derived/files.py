"""All files of a release that follow from its tables: a new one is a module, and a name here."""

from __future__ import annotations

from zealous.record.record import Record
from zealous.release.derived import associations, rates
from zealous.release.derived.derived import Derived

_MODULES = (rates, associations)


def derived_files(record: Record) -> list[Derived]:
    """Those that a release has, by what release.json says of its tables."""
    return [each for module in _MODULES for each in module.derive(record)]
