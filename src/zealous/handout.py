"""The README that goes with a release: what a recipient must know, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zealous.guarantee import UNITS, shown

_CHOSEN = {
    "public-facts": "from public facts, without looking at this log",
    "earlier-release": "from an earlier release, without looking at this log",
    "synthetic-log": "on a synthetic log, without looking at this log",
    "this-log": "by looking at this log, which the guarantee does not cover",
    "unstated": "in a way that the publisher did not state",
}
PARAMETERS_FROM = tuple(_CHOSEN)
NOT_TRACKED = "budget not tracked"
NOT_PRIVATE = "NOT PRIVATE: made with a fixed noise seed, for tests."
FILTERED = (
    "The rows that a review removed were chosen by looking at the release, never at the log itself."
)
COUNTED = {"user": "users", "user-day": "user-days", "session": "sessions"}
_EACH = {
    "user": "each user",
    "user-day": "each user on each day",
    "session": "each user in each session",
}
_REPEATS = {
    "user": "",
    "user-day": " A user who held the item on three days counts three times.",
    "session": " A user who held the item in three sessions counts three times.",
}


def handout(about: Mapping[str, Any]) -> str:
    """The text of README.md, made from release.json and nothing else."""
    goal = about["guarantee"]
    units, each = COUNTED[goal["unit"]], _EACH[goal["unit"]]
    sections = [
        "# Frequent items, published with a privacy guarantee",
        *(f"**{each}**" for each in stamps(about)),
        "## The guarantee",
        f"{goal['title']}, epsilon = {shown(goal['epsilon'])}, delta = {shown(goal['delta'])}, "
        f"for each {goal['unit']}; neighbours: {goal['neighbors']}. {goal['in_words']}",
        *_also(about["also_guaranteed"]),
        *_reviewed(about.get("review")),
        "It rests on these assumptions:",
        "\n".join(f"- {each}" for each in about["assumptions"]),
        f"The parameters were chosen {chosen(about)}.",
        "## What `count` is",
        f"The number of *{units}* that hold the item, after {each} kept only a few items (below), "
        f"plus noise. It is not the number of searches.{_REPEATS[goal['unit']]} Because those with "
        "more items than they may keep gave some up, it is a low estimate of the "
        f"{units} that hold the item. An item that is absent may be rare, or may have been dropped "
        "by the noise.",
        "## The tables",
        *(_table(part, about, units, each) for part in about["plan"]),
        "## Using it",
        "`statement.html` says on one page what is promised and what is not, for the person who "
        "signs. `release.json` holds all of the above for programs, with exact numbers and the "
        "SHA-256 of every other file. `registry.yaml` is the draft of an entry for a public "
        "registry of such releases. `zealous verify` on this directory checks the files, and that "
        "the guarantee follows from the parameters.",
        "Parquet files keep every value as it is. In the CSV files a cell that a spreadsheet would "
        "run as a formula (beginning with = + - @) has an apostrophe in front. Sorting and "
        "reformatting the complete release keeps the guarantee; a part of it keeps for certain "
        "only (epsilon, delta)-indistinguishability.",
        f"Made with zealous {about['software']['version']} on {about['created']}.",
    ]
    return "\n\n".join(sections) + "\n"


def stamps(about: Mapping[str, Any]) -> list[str]:
    """What nobody may overlook."""
    return [
        *([] if about["private"] else [NOT_PRIVATE]),
        *([] if tracked(about) else [NOT_TRACKED]),
    ]


def tracked(about: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The entry of the ledger that paid for the release, if one did."""
    entry = about.get("ledger")
    return entry if entry and entry["tracked"] else None


def period_account(about: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Which period the account of one period is about."""
    within = entry["accounts"]["period"]["within"]
    if within == "all":
        return "in one period"
    own = within == about.get("period")
    return f"in {within}, the {'period of this release' if own else 'most charged period'}"


def counted_otherwise(about: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Where the accounts are about another loss than the one that the release bounds."""
    goal, said = about["guarantee"], []
    if entry["unit"] != goal["unit"]:
        said.append(
            f"The accounts count what {UNITS[entry['unit']]} loses; this release protects "
            f"{UNITS[goal['unit']]} as a whole."
        )
    if entry["neighbors"] != goal["neighbors"]:
        said.append(
            f"The accounts are for {entry['neighbors']} neighbours, this release is for "
            f"{goal['neighbors']}."
        )
    if said and goal["neighbors"] == "add-remove":
        said.append("So its epsilon counts twice in them.")
    return said


def chosen(about: Mapping[str, Any]) -> str:
    """How the parameters came about."""
    return _CHOSEN[about["parameters_from"]]


def reviews(review: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The reviews that a release went through, the first one first."""
    return [] if review is None else [*reviews(review["earlier"]), review]


def filtered(review: Mapping[str, Any]) -> str:
    """What a filtered child is, and what it keeps."""
    first, *_ = reviews(review)
    removed = sum(sum(each["removed"].values()) for each in reviews(review))
    return (
        f"This is a filtered child of the release {first['parent_id']}: {removed:,} "
        f"row{'' if removed == 1 else 's'} went. It keeps (epsilon, delta)-indistinguishability "
        "with the numbers of the parent, and not probabilistic differential privacy; it costs no "
        "budget of its own."
    )


def _also(other: Mapping[str, Any] | None) -> list[str]:
    if other is None:
        return []
    return [
        f"The same parameters also give {other['title']}, epsilon = {shown(other['epsilon'])}, "
        f"delta = {shown(other['delta'])}. {other['in_words']}"
    ]


def _reviewed(review: Mapping[str, Any] | None) -> list[str]:
    if review is None:
        return []
    said = [filtered(review)]
    for each in reviews(review):
        removed = ", ".join(f"{kind} {rows:,}" for kind, rows in each["removed"].items())
        said.append("\n".join(f"- {rule}" for rule in each["rules"]))
        said.append(
            f"Rows removed: {removed}. SHA-256 of the parent's release.json: `{each['parent']}`."
        )
    return said


def _table(part: Mapping[str, Any], about: Mapping[str, Any], units: str, each: str) -> str:
    files = about["files"][part["kind"]]
    error = part["forecast"]["error_95"]
    appear = part["forecast"]["users_to_appear"]
    lines = [
        f"### {part['kind']}: `{files['parquet']}`, `{files['csv']}`",
        "",
        f"Columns: {', '.join(f'`{name}`' for name in files['columns'])}, `count`. "
        f"{files['rows']:,} rows.",
        "",
        *_settings(part["settings"]),
        f"- {each.capitalize()} kept at most {part['items_per_user']} "
        f"({_SELECTED[part['select']]}).",
        f"- 95 % interval of the noise: count - {error} .. count + {error}. It holds for 95 of 100 "
        "counts before the second threshold; counts just above it tend to be too high, since only "
        "those that were lucky are there.",
        f"- An item of {appear['5%']} / {appear['50%']} / {appear['95%']} {units} appears with "
        "probability 5 / 50 / 95 %.",
        f"- epsilon {shown(part['epsilon'])}, delta {shown(part['delta'])}: discrete Laplace "
        f"noise of scale {shown(part['scale'])}; at least {part['tau']} {units} before noise, "
        f"more than {part['tau_prime']} after.",
    ]
    if not files["rows"]:
        went = any(each["removed"][part["kind"]] for each in reviews(about.get("review")))
        why = "all of its rows were removed in the review." if went else empty(part)
        lines += ["", f"The table is empty: {why}"]
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
    units = COUNTED[part.get("unit", "user")]
    return (
        f"no item reached about {part['forecast']['users_to_appear']['50%']} {units}. More "
        f"{units}, a larger epsilon, fewer items per user or fewer kinds in one release would "
        "fill it."
    )


_SELECTED = {
    "random": "in an order fixed by a public random key",
    "first": "the first in time",
    "frequent": "the user's own most frequent",
}
