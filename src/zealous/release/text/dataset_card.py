"""README.md of a release as a dataset card: what Hugging Face reads at its top, then the text."""

from __future__ import annotations

from typing import Any

from zealous.record.record import Record
from zealous.release.text.catalogue import KEYWORDS, catalogue_tables, licence, slug
from zealous.release.text.readme import readme_text, title
from zealous.release.text.yaml import yaml_lines

_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
)


def dataset_card(record: Record) -> str:
    """The text of README.md, made from release.json and nothing else."""
    return "\n".join(["---", *yaml_lines(_front_matter(record)), "---", "", readme_text(record)])


def _front_matter(record: Record) -> dict[str, Any]:
    tables = [table for table in catalogue_tables(record) if table.parquet is not None]
    rows = sum(each.rows for each in record.files.values())
    return {
        "pretty_name": title(record),
        **_licence(record),
        "tags": [slug(word) for word in KEYWORDS],
        "size_categories": [
            next((size for limit, size in _SIZES if rows < limit), "100M<n<1B"),
        ],
        "configs": [
            {
                "config_name": table.name,
                "data_files": table.parquet,
                **({"default": True} if place == 0 else {}),
            }
            for place, table in enumerate(tables)
        ],
    }


def _licence(record: Record) -> dict[str, str]:
    stated = licence(record)
    if stated is None:
        return {}
    if stated.name is not None:
        return {"license": stated.name.lower()}
    link = {"license_link": stated.url} if stated.url else {}
    return {"license": "other", "license_name": slug(stated.stated) or "other", **link}
