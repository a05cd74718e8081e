"""croissant.json of a release: what it holds for tools that read Croissant 1.0 (mlcommons.org)."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from zealous.record.record import Record
from zealous.release.text.catalogue import (
    KEYWORDS,
    CatalogueTable,
    catalogue_tables,
    description,
    is_url,
    licence,
)
from zealous.release.text.readme import STATED_PERIOD, publisher_facts, title

_OWN = (
    "citeAs column conformsTo:dct equivalentProperty extract field fileObject fileProperty fileSet "
    "format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)
# As the specification gives it: a reader takes another one for another vocabulary.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"{vocabulary or 'cr'}:{name}"
        for name, _, vocabulary in (each.partition(":") for each in _OWN.split())
    },
}
_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
_MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/x-parquet"}


def croissant(record: Record) -> str:
    """The text of croissant.json, made from release.json and nothing else."""
    tables, said = catalogue_tables(record), dict(publisher_facts(record))
    stated, url = licence(record), record.publisher.url if record.publisher else None
    entry = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": title(record),
        "description": description(record),
        "identifier": record.id,
        "url": url,
        "license": stated and (stated.url or stated.stated),
        "publisher": _publisher(said),
        "creator": _publisher(said),
        "datePublished": record.created,
        "version": "1.0.0",  # what is published never changes
        "keywords": list(KEYWORDS),
        "temporalCoverage": said.get("Period") or said.get(STATED_PERIOD),
        "spatialCoverage": said.get("Region"),
        "citeAs": _citation(record, said),
        "distribution": [each for table in tables for each in _files(table, record)],
        "recordSet": [_record_set(table) for table in tables],
    }
    stated_entry = {name: value for name, value in entry.items() if value is not None}
    return json.dumps(stated_entry, indent=2, ensure_ascii=False) + "\n"


def _publisher(said: dict[str, str]) -> dict[str, str] | None:
    if "Publisher" not in said:
        return None
    found = {"@type": "sc:Organization", "name": said["Publisher"]}
    contact = said.get("Contact")
    if contact:
        found["url" if is_url(contact) else "email"] = contact
    return found


def _citation(record: Record, said: dict[str, str]) -> str:
    who = f"{said['Publisher']}. " if "Publisher" in said else ""
    return f"{who}{title(record)}. {record.created}. Release {record.id}."


def _files(table: CatalogueTable, record: Record) -> list[dict[str, Any]]:
    names = [name for name in (table.parquet, table.csv) if name is not None]
    return [
        {
            "@type": "cr:FileObject",
            "@id": quote(name, safe=""),
            "name": name,
            "contentUrl": name,
            "encodingFormat": _MEDIA_TYPES[PurePosixPath(name).suffix],
            "sha256": record.sha256.get(name),
        }
        for name in names
    ]


def _record_set(table: CatalogueTable) -> dict[str, Any]:
    name, file = quote(table.name, safe=""), quote(table.parquet or table.csv, safe="")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": table.name,
        "description": table.description,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{quote(column.name, safe='')}",
                "name": column.name,
                "description": column.description(),
                "dataType": _TYPES[column.type],
                "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
            }
            for column in table.columns
        ],
    }
