"""What a row of a table is, in words: from what release.json says of it, and nothing else."""

from __future__ import annotations

import re

from zealous.record.record import PartRecord
from zealous.release.text.markdown import code

_SELECTED = {
    "random": "in an order fixed by a public random key",
    "first": "the first in time",
    "frequent": "the user's own most frequent",
}
_ONE = {
    "random": "drawn by a public random key, all different ones alike",
    "first": "the first in time",
    "frequent": "the one asked most often",
}
_FACTS = {
    "lengths": "how many words it has",
    "questions": "whether it is a question (it has a question mark; or several words, the first of "
    "which is who, what, how, is, can or the like in English)",
    "scripts": "the script of its letters (`mixed` for several, `other` for none that is listed, "
    "`none` where it has no letter; Chinese characters with kana are `japanese`)",
    "hours": "at which hour of the day it was asked (as the log writes its times, or in UTC where "
    "they say how far from it they are; asked at several hours, it is one query for each)",
    "with-keywords": "whether one of its words is in `keywords`",
}
_WORTH = "First come those whose least frequent part is most frequent in the tables before."
_SIZED = re.compile(r"(itemsets|sequences|ngrams|prefixes)-(\d+)")


def meaning(part: PartRecord, units: str) -> list[str]:
    """What an item is and what its count counts, where the names of the columns do not tell."""
    label, size = _label(part)
    words = "one word" if size == 1 else f"{size} words in a row"
    basket = part.settings.basket
    if label == "people":
        return [f"- `count` is how many {units} there are: all of whom the log has an entry."]
    if label == "things":
        return ["- An item is one thing. The tables after it are made of these."]
    if label in ("itemsets", "sequences") and size == 1:
        return [f"- An item is one thing, counted anew, of the same {units} as those of several."]
    if label == "itemsets":
        together = f" together, with the same {code(basket)}" if basket else ""
        return [f"- An item is {size} different things that {units} have{together}."]
    if label == "sequences":
        after = f"with the next {code(basket)}" if basket else "at the next moment"
        return [f"- An item is {size} things that {units} have one after the other, each {after}."]
    if label == "ngrams":
        return [f"- An item is {words}, of queries that are not in `queries`. {_people(units)}"]
    if label == "prefixes":
        return [
            f"- An item is {words} with which queries begin that are not in `queries`. "
            f"{_people(units)}"
        ]
    if label in _FACTS:
        return [
            f"- `value` says of a query that is not in `queries` {_FACTS[label]}. `count` is "
            f"{units}, each with one such query: it tells how the values compare, and not how many "
            "queries there are."
        ]
    return []


def _people(units: str) -> str:
    return f"`count` is the {units} that asked such queries, and not how many queries there are."


def kept(part: PartRecord, each: str) -> str:
    """What counts of each unit."""
    label, size = _label(part)
    most, whose = part.items_per_user, each.capitalize()
    if label == "people":
        return f"- {whose} counts once."
    if label in _FACTS:
        return f"- {whose} counts at most once, with one such query ({_ONE[part.select]})."
    if label in ("itemsets", "sequences"):
        things = part.settings.things
        counted = (
            f"- {whose} counts with at most {things} things, those of the largest counts in "
            f"{code(origin(part) or '')}"
        )
        if size == 1:
            return f"{counted}."
        if label == "itemsets":
            return f"{counted}, and so with all their sets: at most {most}."
        return f"{counted}, and with at most {most} sequences of these. {_WORTH}"
    if label == "ngrams":
        return f"- {whose} kept at most {most}. {_WORTH}"
    return f"- {whose} kept at most {most} ({_SELECTED[part.select]})."


def origin(part: PartRecord) -> str | None:
    """The table whose rows are all that there can be; None where a public rule tells that."""
    label, size = _label(part)
    if label == "prefixes":
        return "keywords" if size == 1 else f"ngrams-{size}"
    if label in ("itemsets", "sequences"):
        return f"things:{part.kind.partition(':')[2]}"
    return None


def _label(part: PartRecord) -> tuple[str, int]:
    """What a kind is called, apart from its columns and its size; 0 where it has none."""
    name = part.kind.partition(":")[0]
    sized = _SIZED.fullmatch(name)
    return (sized[1], int(sized[2])) if sized else (name, 0)
