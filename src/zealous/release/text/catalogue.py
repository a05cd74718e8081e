"""What data catalogues ask of a release: its description, its files, who publishes it, its licence.

Croissant, data packages and Hugging Face are told the same, from release.json and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zealous.privacy.guarantee import UNIT_PLURALS
from zealous.privacy.promise import promise
from zealous.record.record import Record
from zealous.release.columns import Column, table_columns
from zealous.release.derived.files import derived_files
from zealous.release.text.claims import leading_claim
from zealous.release.text.method_wording import meaning_of_absence
from zealous.release.text.readme import epsilon_and_delta, filtered_text, prominent_notes

KEYWORDS = ("differential privacy", "aggregate statistics", "frequent items")
_CREATIVE_COMMONS = "https://creativecommons.org"
_LICENCES = {
    "CC0-1.0": f"{_CREATIVE_COMMONS}/publicdomain/zero/1.0/",
    "CC-BY-4.0": f"{_CREATIVE_COMMONS}/licenses/by/4.0/",
    "CC-BY-SA-4.0": f"{_CREATIVE_COMMONS}/licenses/by-sa/4.0/",
    "CC-BY-NC-4.0": f"{_CREATIVE_COMMONS}/licenses/by-nc/4.0/",
    "CC-BY-ND-4.0": f"{_CREATIVE_COMMONS}/licenses/by-nd/4.0/",
    "CC-BY-NC-SA-4.0": f"{_CREATIVE_COMMONS}/licenses/by-nc-sa/4.0/",
    "CC-BY-NC-ND-4.0": f"{_CREATIVE_COMMONS}/licenses/by-nc-nd/4.0/",
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "MIT": "https://opensource.org/license/mit",
}


@dataclass(frozen=True, kw_only=True)
class CatalogueTable:
    """A table of a release, as a catalogue lists it.

    Attributes:
        name: The name of its files without the ending.
        description: What it holds.
        csv: Its CSV file.
        parquet: Its Parquet file; None for what is computed from other tables.
        columns: What its columns hold.
    """

    name: str
    description: str
    csv: str
    parquet: str | None
    columns: Sequence[Column]


class Licence(NamedTuple):
    """A licence: in the publisher's words, by its SPDX name and by its address where known."""

    stated: str
    name: str | None
    url: str | None


def catalogue_tables(record: Record) -> list[CatalogueTable]:
    """The tables of a release, then what is computed from them."""
    found = []
    for part in record.plan:
        files, units = record.files[part.kind], UNIT_PLURALS[part.unit]
        found.append(
            CatalogueTable(
                name=files.csv.removesuffix(".csv"),
                description=f"{part.kind}: {files.rows:,} items with noisy counts of the {units} "
                f"that hold them, of which at most {part.items_per_user} a {part.unit} count. "
                f"{meaning_of_absence([part])}",
                csv=files.csv,
                parquet=files.parquet,
                columns=table_columns(part, record),
            )
        )
    return found + [
        CatalogueTable(
            name=each.file.removesuffix(".csv"),
            description="Computed from the other tables.",
            csv=each.file,
            parquet=None,
            columns=each.columns,
        )
        for each in derived_files(record)
    ]


def description(record: Record) -> str:
    """What the release is and what it guarantees, in one paragraph."""
    goal = leading_claim(record)
    said = [
        *prominent_notes(record),
        f"Frequent items with noisy counts of the {UNIT_PLURALS[goal.unit]} that hold them, with a "
        f"privacy guarantee: {goal.title}, {epsilon_and_delta(goal)}, for each {goal.unit}.",
        promise(goal),
        *([filtered_text(record)] if record.review else []),
        "README.md says what count means, and statement.html what is not protected.",
    ]
    return " ".join(each if each.endswith(".") else f"{each}." for each in said)


def licence(record: Record) -> Licence | None:
    """The licence, where the publisher states one."""
    stated = record.publisher.licence if record.publisher else None
    if stated is None:
        return None
    known = {_letters(name): name for name in _LICENCES}
    known |= {_letters(url): name for name, url in _LICENCES.items()}
    name = known.get(_letters(stated))
    if name is not None:
        return Licence(stated, name, _LICENCES[name])
    return Licence(stated, None, stated if is_url(stated) else None)


def is_url(text: str) -> bool:
    """Whether a text is the address of a page."""
    return re.fullmatch(r"https?://\S+", text) is not None


def slug(text: str) -> str:
    """A short name of letters, digits and hyphens; empty where a text has neither."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
