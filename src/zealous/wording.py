"""How a table was made, in words: from what release.json says of it, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from zealous.guarantee import shown
from zealous.meaning import Part, origin
from zealous.mechanism.choose import MECHANISMS
from zealous.theory.intervals import Interval

_CONFIDENCE = 0.95
_NOISE = {
    "discrete-laplace": "discrete Laplace",
    "discrete-gaussian": "discrete Gaussian",
    "capped-discrete-laplace": "capped discrete Laplace",
}
_INTEGERS = (
    "add integer ({noise}) noise from the operating system's randomness by exact arithmetic "
    "without floating point, "
)
_OF_SMALLER = (
    "Made of published smaller items: count the units that hold each item all of whose smaller "
    f"parts were published, {_INTEGERS}on every such item, publish those that are above what noise "
    "alone reaches once."
)
_METHODS = {
    "zealous": "ZEALOUS: count the units that hold an item, drop items below tau, " + _INTEGERS
    + "publish items whose noisy count is above tau'.",
    "laplace": "Exact accounting: as ZEALOUS, with the scale and tau' that are least together.",
    "gaussian": "Gaussian sparse histogram: count the units that hold an item, " + _INTEGERS
    + "publish items whose noisy count is above tau'.",
    "selection": "Optimal key selection with counts: count the units that hold an item, one item a "
    "unit, " + _INTEGERS + "publish items whose noisy count is above tau'.",
    "domain": "Public domain: count the units that hold each item of a public list, " + _INTEGERS
    + "publish all of them.",
    "of-keywords": "Queries of published keywords: count the units that asked each query of up to "
    "three published keywords, " + _INTEGERS + "on every such query, publish those above the scale "
    "times the logarithm of their number.",
    "listed": "Known list: count the units that hold each item of a list that follows from a "
    "public rule or from what was published before, " + _INTEGERS + "publish all of them.",
    "of-smaller": _OF_SMALLER,
    "of-smaller-gaussian": _OF_SMALLER,
    "results": "Public results: count the units that clicked each document of a public list, for "
    "published queries, " + _INTEGERS + "publish all of them.",
}  # fmt: skip
_KEYS = {
    "set-union": "Weighted set union",
    "sips": "Iterated set union (DP-SIPS)",
    "rounds": "Steered rounds",
    "prior": "Rounds steered by a public prior",
}


def listed(part: Part) -> bool:
    """Whether a table holds every element of a known list, and nothing else."""
    return part["mechanism"] in ("domain", "results", "listed")


def grown(part: Part) -> bool:
    """Whether the items of a table are made of published smaller ones."""
    return part["mechanism"] in ("of-smaller", "of-smaller-gaussian")


def noise(part: Part) -> str:
    """What its noise is called."""
    return _NOISE[part["noise"]]


def method(part: Part) -> str:
    """The mechanism of a table, for a registry."""
    if "rounds" in part:
        return (
            f"{_KEYS[part['mechanism']]}: each unit spreads a weight of length 1000 over the items "
            f"it gives, {_INTEGERS.format(noise=noise(part))}items whose noisy weight passes are "
            "keys; then count the units that hold each key, add noise, publish all keys."
        )
    return _METHODS[part["mechanism"]].format(noise=noise(part))


def threshold(part: Part) -> str:
    """What an item had to pass, in a few words."""
    if listed(part):
        return "all of a known list" if part["mechanism"] == "listed" else "all of a public list"
    if grown(part):
        return "made of published smaller ones, above the noise of all such"
    if part["mechanism"] == "of-keywords":
        return "made of published keywords, above the noise of all such queries"
    if "rounds" in part:
        passed = " / ".join(f"{each['threshold']:,}" for each in part["rounds"])
        return f"weight {passed}"
    return str(part["tau_prime"])


def absence(plan: Sequence[Part]) -> str:
    """What it means that an item is not there."""
    said = []
    if not all(map(listed, plan)):
        said.append("An item that is absent may be rare, or may have been dropped by the noise.")
    if any(map(listed, plan)):
        said.append(
            "A table over a known list has every item of that list, those that nobody holds too: "
            "there an item that is absent was not on the list, and a count can be below zero."
        )
    return " ".join(said)


def off_by(part: Part) -> str:
    """How far counts are off in 95 of 100 cases, in a few words: `12 from 92 on`."""
    found = _interval(part)
    if found.threshold is None:
        return str(found.error)
    if part["tau_prime"] is None:
        return f"{found.error} from {_margin(found)} above the smallest on"
    return f"{found.error} from {found.certain_from:,} on"


def interval(part: Part, units: str) -> str:
    """Which numbers of units the counts of a table can stand for."""
    found = _interval(part)
    said = f"- 95 % interval: `count` - {found.error} to `count` + {found.error}"
    if found.threshold is None:
        return f"{said}."
    where = f"counts of {found.certain_from:,} or more"
    if part["tau_prime"] is None:
        where = f"counts at least {_margin(found)} above the smallest in this table"
    return (
        f"{said} for {where}. For smaller counts the lower end is {found.fewest}, since an item of "
        f"few {units} is published only where its noise was high."
    )


def _interval(part: Part) -> Interval:
    return MECHANISMS[part["mechanism"]].again(part).interval(_CONFIDENCE)


def _margin(found: Interval) -> int:
    """How far above the smallest published count the lower end is count - error."""
    assert found.threshold is not None  # noqa: S101 - asked only where there is one
    return int(found.certain_from) - found.threshold - 1


def table(part: Part, units: str, each: str) -> list[str]:
    """How a table was made, point by point."""
    made = _above
    if listed(part):
        made = _in_list
    elif "rounds" in part:
        made = _keys
    elif part["mechanism"] == "of-keywords":
        made = _of_keywords
    elif grown(part):
        made = _of_smaller
    said = made(part, units, each)
    if "public" in part:
        file = part["public"]
        said.append(f"- The public file is {file['name']}, SHA-256 `{file['sha256']}`.")
    return [interval(part, units), *said]


def _above(part: Part, units: str, each: str) -> list[str]:
    """A table of what passed two thresholds."""
    appear = part["forecast"]["users_to_appear"]
    return [
        f"- An item of {appear['5%']} / {appear['50%']} / {appear['95%']} {units} appears with "
        "probability 5 / 50 / 95 %.",
        f"- epsilon {shown(part['epsilon'])}, delta {shown(part['delta'])}: {noise(part)} "
        f"noise of scale {shown(part['scale'])}; at least {part['tau']} {units} before noise, "
        f"more than {part['tau_prime']} after.",
    ]


def _in_list(part: Part, units: str, each: str) -> list[str]:
    """A table of everything in a public list."""
    what, table = "items of a public list", origin(part)
    if part["mechanism"] == "results":
        what = "clicks on the documents that a public list has for published queries"
    if part["mechanism"] == "listed":
        what = f"items of `{table}`"
    looked = f"- Only {what} were looked at, before {each} kept some. Everything of the list"
    if part["mechanism"] == "listed" and table is None:
        looked = "- All that there can be"
    return [
        f"{looked} is here, those of no {units} too: nothing was dropped.",
        f"- epsilon {shown(part['epsilon'])}, and no delta: {noise(part)} noise of scale "
        f"{shown(part['scale'])}, and no threshold.",
    ]


def _of_keywords(part: Part, units: str, each: str) -> list[str]:
    """A table of queries that are made of published keywords."""
    return [
        "- Only queries of one to three of the 1,000 most frequent published keywords were looked "
        f"at, before {each} kept some. Every such query got noise, and those above the scale of "
        "the noise times the logarithm of their number are here: of all that nobody asked, one on "
        "average.",
        f"- epsilon {shown(part['epsilon'])}, and no delta: {noise(part)} noise of scale "
        f"{shown(part['scale'])}.",
    ]


def _of_smaller(part: Part, units: str, each: str) -> list[str]:
    """A table of what is made of published smaller items."""
    spent = f"epsilon {shown(part['epsilon'])}"
    spent += f", delta {shown(part['delta'])}" if part["delta"] else ", and no delta"
    return [
        "- Only items all of whose smaller parts are in the tables before were looked at, before "
        f"{each} kept some. Every such item got noise, those of no {units} too, and those that are "
        "above what the noise of all of them exceeds once on average are here.",
        f"- {spent}: {noise(part)} noise of scale {shown(part['scale'])}.",
    ]


def _keys(part: Part, units: str, each: str) -> list[str]:
    """A table of keys that were found first, and counted then."""
    appear, rounds = part["forecast"]["users_to_appear"], part["rounds"]
    given = ", ".join(str(one["items_per_user"]) for one in rounds)
    number = "one round" if len(rounds) == 1 else f"{len(rounds)} rounds"
    return [
        f"- Which items are here was decided first, in {number} in which {each} gave at most "
        f"{given} items; then they were counted, with noise of their own. So a count does not tell "
        "whether an item was nearly left out, and can be below zero.",
        f"- An item of {appear['5%']} / {appear['50%']} / {appear['95%']} {units} appears with "
        f"probability 5 / 50 / 95 %, if {units} that hold it give as many items as they may in the "
        "last round, this one among them.",
        f"- epsilon {shown(part['epsilon'])}, delta {shown(part['delta'])}: {noise(part)} noise, "
        f"on counts of scale {shown(part['scale'])}, on weights of scale "
        f"{', '.join(format(one['scale'], ',') for one in rounds)}; weights above "
        f"{', '.join(format(one['threshold'], ',') for one in rounds)}.",
    ]
