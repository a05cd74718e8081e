"""Which items are published."""

from __future__ import annotations

from collections.abc import Sequence

import click

from zealous.cli.help import Option, options_of
from zealous.cli.option_values import items_per_user_from, pairs
from zealous.cli.options import Given
from zealous.errors import UsageError
from zealous.items import (
    KINDS,
    Kind,
    default_items_per_user,
    parse_kinds,
)
from zealous.items.bands import bands_text, limits_by_column
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.guarantee import SESSION_GAP

_option = options_of("What to publish")

ITEMS = (
    _option("--by", metavar="COLUMN",
            help="A public attribute, such as the country, to count separately for each value."),
    _option("--fold-words", is_flag=True,
            help="Treat a query as a set of words: order and repetition are ignored."),
    _option("--rates", is_flag=True,
            help="Publish click rates too. Clicks then count only for queries that count for "
                 "the same user."),
    _option("--max-size", type=int, metavar="S",
            help="The largest number of things in a set or sequence. [default: 3]"),
    _option("--basket", metavar="COLUMN",
            help="Things with the same value here belong together, such as those of an invoice. "
                 "[default: all things of a user]"),
    _option("--bands", metavar="COLUMN=X,..", multiple=True,
            help="Publish numbers of this column in bands with these public limits, such as "
                 "price=5,10,20. Can be repeated."),
    _option("--session-gap", type=int, default=SESSION_GAP, show_default=True, metavar="MIN",
            help="A session ends after this many minutes without a query."),
)  # fmt: skip
CHOICE = (
    _option(
        "--tail",
        metavar="E",
        help="Also publish statistics of rare queries (phrases, beginnings, lengths), for "
        "this much more epsilon. Needs --items queries,keywords.",
    ),
    _option(
        "--select",
        type=click.Choice(["random", "first", "frequent"]),
        default="random",
        show_default=True,
        help="Which items count if a user has more than --items-per-user.",
    ),
    _option(
        "--split",
        metavar="KIND=W,..",
        help="How to divide the budget between the kinds: queries=2,keywords=1.",
    ),
    _option(
        "--mechanism",
        metavar="NAME",
        help=f"{', '.join(MECHANISMS)}; auto to have it chosen; or by kind: "
        "queries=NAME,keywords=NAME. [default: zealous, or the one that a public file "
        "is for]",
    ),
)


def items_option(help: str, *, required: bool = False) -> Option:  # noqa: A002
    """--items, which each command explains."""
    return _option("--items", metavar="KIND,..", required=required, help=help)


def kinds_from(items: str, given: Given) -> list[Kind]:
    """The kinds of items that --items, --items-per-user and ITEMS options ask for."""
    names = [name.strip() for name in items.split(",") if name.strip()]
    settings = {
        "by": given["by"],
        "fold": given["fold_words"],
        "session_gap": given["session_gap"],
        "follow": given["rates"],
        "basket": given["basket"],
        "max_size": given["max_size"],
        "bands": bands_text(given["bands"]),
    }
    if given["max_size"] is not None and given["max_size"] < 1:
        raise UsageError("--max-size must be a whole number of at least 1")
    if given["items_per_user"] is None:
        most = {name: default_items_per_user(name, given["unit"]) for name in names}
    else:
        most = items_per_user_from(given["items_per_user"], names)
    kinds: list[Kind] = []
    named = set(limits_by_column(settings["bands"]))
    for name in names:
        found = parse_kinds(name, most[name], **settings)
        brought, known = _names_before_last(found), {kind.name() for kind in kinds}
        kinds += [kind for kind in found if kind.name() not in brought & known]
    if given["rates"] and not any(kind.restricting_kind() for kind in kinds):
        raise UsageError("--rates needs queries and query-clicks among the --items")
    _check_used(kinds, given)
    for kind in kinds:
        named.difference_update(limits_by_column(kind.settings().get("bands")))
    if named:
        raise UsageError("--bands names a column that is no part of the items: leave it out")
    return kinds


def _names_before_last(kinds: Sequence[Kind]) -> set[str]:
    """All but the last: what two kinds need before them is published once."""
    return {kind.name() for kind in kinds[:-1]}


def _check_used(kinds: Sequence[Kind], given: Given) -> None:
    """Refuse options that serve other kinds alone than those that are asked for."""
    for option in sorted({option for each in KINDS.values() for option in each.options}):
        serves = [each for each in KINDS.values() if option in each.options]
        if given[option] not in (None, ()) and not any(option in kind.options for kind in kinds):
            usage = " or ".join(
                each.usage.format(label=each.label).partition("[")[0] for each in serves
            )
            raise UsageError(f"--{option.replace('_', '-')} goes with --items {usage}")


def split_from(given: Given) -> dict[str, str] | None:
    """The weights of --split."""
    return pairs(given["split"], "--split") if given["split"] else None


def mechanism_from(given: Given) -> str | dict[str, str] | None:
    """The mechanism of all kinds, or of each by its name."""
    text: str | None = given["mechanism"]
    return text if text is None or "=" not in text else pairs(text, "--mechanism")
