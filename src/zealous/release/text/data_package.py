"""datapackage.json of a release: Data Package 2 (datapackage.org), which Frictionless reads."""

from __future__ import annotations

import json
from typing import Any

from zealous.files.csv_cells import inert_text
from zealous.record.record import Record
from zealous.release.text.catalogue import (
    KEYWORDS,
    CatalogueTable,
    Licence,
    catalogue_tables,
    description,
    is_url,
    licence,
    slug,
)
from zealous.release.text.readme import STATED_PERIOD, publisher_facts, title

_PROFILES = "https://datapackage.org/profiles/2.0"
_INERT = (
    "A text that a spreadsheet would run as a formula has an apostrophe in front here, and none in "
    "the Parquet file."
)


def data_package(record: Record) -> str:
    """The text of datapackage.json, made from release.json and nothing else."""
    said, stated = dict(publisher_facts(record)), licence(record)
    package = {
        "$schema": f"{_PROFILES}/datapackage.json",
        "name": slug(title(record)) or "release",
        "id": record.id,
        "title": title(record),
        "description": description(record),
        "homepage": record.publisher.url if record.publisher else None,
        "version": "1.0.0",  # what is published never changes
        "created": f"{record.created}T00:00:00Z",
        "keywords": list(KEYWORDS),
        "licenses": [_licence(stated)] if stated else None,
        "contributors": _contributors(said) or None,
        "temporal": said.get("Period") or said.get(STATED_PERIOD),
        "spatial": said.get("Region"),
        "resources": [
            each
            for place, table in enumerate(catalogue_tables(record))
            for each in _resources(table, place, record)
        ],
    }
    stated_package = {name: value for name, value in package.items() if value is not None}
    return json.dumps(stated_package, indent=2, ensure_ascii=False) + "\n"


def _licence(stated: Licence) -> dict[str, str]:
    address = {"path": stated.url} if stated.url else {}
    return {
        "name": stated.name or slug(stated.stated) or "other",
        **address,
        "title": stated.stated,
    }


def _contributors(said: dict[str, str]) -> list[dict[str, Any]]:
    if "Publisher" not in said:
        return []
    found: dict[str, Any] = {"title": said["Publisher"], "roles": ["publisher"]}
    contact = said.get("Contact", "")
    if is_url(contact) or "@" in contact:
        found["path" if is_url(contact) else "email"] = contact
    return [found]


def _resources(table: CatalogueTable, place: int, record: Record) -> list[dict[str, Any]]:
    """The CSV file with its columns, and the Parquet file, which has the same."""
    name = f"{place + 1}-{slug(table.name)}".strip("-")
    text = {
        "name": name,
        "type": "table",
        "title": table.name,
        "description": f"{table.description} {_INERT}",
        "path": table.csv,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "hash": f"sha256:{record.sha256.get(table.csv)}",
        "schema": {
            "$schema": f"{_PROFILES}/tableschema.json",
            "fields": [
                {
                    "name": inert_text(column.name),  # as the CSV file has it
                    "type": column.type,
                    "description": column.description(),
                    "constraints": {"required": column.empty == "never"},
                }
                for column in table.columns
            ],
        },
    }
    if table.parquet is None:
        return [text]
    parquet = {
        "name": f"{name}-parquet",
        "title": table.name,
        "description": table.description,
        "path": table.parquet,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "hash": f"sha256:{record.sha256.get(table.parquet)}",
    }
    return [text, parquet]
