"""The README that goes with a release: what a recipient must know, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CHOSEN = {
    "public-facts": "from public facts, without looking at this log",
    "earlier-release": "from an earlier release, without looking at this log",
    "synthetic-log": "on a synthetic log, without looking at this log",
    "this-log": "by looking at this log, which the guarantee does not cover",
    "unstated": "in a way that the publisher did not state",
}
PARAMETERS_FROM = tuple(_CHOSEN)


def handout(about: Mapping[str, Any]) -> str:
    """The text of README.md, made from release.json and nothing else."""
    goal = about["guarantee"]
    sections = [
        "# Frequent items, published with a privacy guarantee",
        *(
            []
            if about["private"]
            else ["**NOT PRIVATE: made with a fixed noise seed, for tests.**"]
        ),
        "## The guarantee",
        f"{goal['title']}, epsilon = {goal['epsilon']:g}, delta = {goal['delta']:g}, for each "
        f"{goal['unit']}; neighbours: {goal['neighbors']}. {goal['in_words']}",
        *_also(about["also_guaranteed"]),
        "It rests on these assumptions:",
        "\n".join(f"- {each}" for each in about["assumptions"]),
        f"The parameters were chosen {_CHOSEN[about['parameters_from']]}.",
        "## What `count` is",
        "The number of *users* who hold the item, after each user kept only a few items (below), "
        "plus noise. It is not the number of searches. Because users with more items than they "
        "may keep gave some up, it is a low estimate of the users who hold the item. An item that "
        "is absent may be rare, or may have been dropped by the noise.",
        "## The tables",
        *(_table(part, about["files"][part["kind"]]) for part in about["plan"]),
        "## Using it",
        "`release.json` holds all of the above for programs, with exact numbers. Parquet files "
        "keep every value as it is. In the CSV files a cell that a spreadsheet would run as a "
        "formula (beginning with = + - @) has an apostrophe in front. Sorting and reformatting "
        "the complete release keeps the guarantee; a part of it keeps for certain only "
        "(epsilon, delta)-indistinguishability.",
        f"Made with zealous {about['software']['version']} on {about['created']}.",
    ]
    return "\n\n".join(sections) + "\n"


def _also(other: Mapping[str, Any] | None) -> list[str]:
    if other is None:
        return []
    return [
        f"The same parameters also give {other['title']}, epsilon = {other['epsilon']:g}, "
        f"delta = {other['delta']:.2g}. {other['in_words']}"
    ]


def _table(part: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    error = part["forecast"]["error_95"]
    appear = part["forecast"]["users_to_appear"]
    lines = [
        f"### {part['kind']}: `{files['parquet']}`, `{files['csv']}`",
        "",
        f"Columns: {', '.join(f'`{name}`' for name in files['columns'])}, `count`. "
        f"{files['rows']:,} rows.",
        "",
        *_settings(part["settings"]),
        f"- Each user kept at most {part['items_per_user']} ({_SELECTED[part['select']]}).",
        f"- 95 % interval of the noise: count - {error} .. count + {error}. It holds for 95 of 100 "
        "counts before the second threshold; counts just above it tend to be too high, since only "
        "those that were lucky are there.",
        f"- An item of {appear['5%']} / {appear['50%']} / {appear['95%']} users appears with "
        "probability 5 / 50 / 95 %.",
        f"- epsilon {part['epsilon']:.6g}, delta {part['delta']:.6g}: discrete Laplace noise of "
        f"scale {part['scale']:g}; at least {part['tau']} users before noise, more than "
        f"{part['tau_prime']} after.",
    ]
    if not files["rows"]:
        lines += ["", "The table is empty: " + empty(part)]
    return "\n".join(lines)


def _settings(settings: Mapping[str, Any]) -> list[str]:
    said = {
        "fold": "- A query is a set of words: their order was ignored.",
        "session_gap": "- A session is the log's own, or ends after {} minutes without a query.",
        "by": "- `{}` is a public attribute of the entry.",
    }
    return [said[name].format(value) for name, value in settings.items() if value and name in said]


def empty(part: Mapping[str, Any]) -> str:
    """What would fill an empty table."""
    return (
        f"no item reached about {part['forecast']['users_to_appear']['50%']} users. More users, a "
        "larger epsilon, fewer items per user or fewer kinds in one release would fill it."
    )


_SELECTED = {
    "random": "in an order fixed by a public random key",
    "first": "the first in time",
    "frequent": "the user's own most frequent",
}
