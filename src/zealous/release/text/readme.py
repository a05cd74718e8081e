"""The README that goes with a release: what a recipient must know, in plain words."""

from __future__ import annotations

from zealous.privacy.guarantee import UNITS, format_number
from zealous.privacy.promise import promise
from zealous.record.record import Claim, LedgerStamp, LimitsRecord, PartRecord, Record, Settings
from zealous.release.derived import rates
from zealous.release.derived.associations import association_files, rule_families
from zealous.release.text import method_wording as wording
from zealous.release.text.markdown import code, escaped
from zealous.release.text.row_meaning import row_meaning, selection

_CHOSEN = {
    "public-facts": "from public facts, without looking at this log",
    "earlier-release": "from an earlier release, without looking at this log",
    "synthetic-log": "on a synthetic log, without looking at this log",
    "this-log": "by looking at this log, which the guarantee does not cover",
    "unstated": "in a way that the publisher did not state",
}
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


def handout(record: Record) -> str:
    """The text of README.md, made from release.json and nothing else."""
    goal = record.guarantee
    units, each = COUNTED[goal.unit], _EACH[goal.unit]
    sections = [
        "# Frequent items, published with a privacy guarantee",
        *(f"**{each}**" for each in stamps(record)),
        "## Privacy guarantee",
        f"{goal.title}, {budget(goal)}, for each {goal.unit}; neighbours: "
        f"{goal.neighbors}. {promise(goal)}",
        *_also(record.also_guaranteed),
        *_reviewed(record),
        "Assumptions:",
        "\n".join(f"- {escaped(each)}" for each in record.assumptions),
        f"The parameters were chosen {chosen(record)}.",
        "## What `count` means",
        f"The number of *{units}* that hold the item, plus noise. It is not the number of "
        f"searches.{_REPEATS[goal.unit]} {each.capitalize()} contributes a limited number of items "
        "(see each table), and items beyond that limit are not counted, so `count` is a low "
        f"estimate of the {units} that hold the item. {wording.absence(record.plan)}",
        "Each table has a 95 % interval for its counts before noise: for published items it holds "
        "in 95 of 100 cases. It covers the noise only, not items beyond the limit, and not that a "
        "review or a reader picked some of the rows.",
        *_limits(record.cleaning.limits, each),
        "## Tables",
        *(_table(part, record, units, each) for part in record.plan),
        *(_rules(family, record, units) for family in rule_families(record)),
        "## Using the files",
        "`statement.html` states on one page what is promised and what is not, for the person who "
        "signs. `release.json` has all of the above for programs, with exact numbers and the "
        "SHA-256 of every other file. `registry.yaml` is a draft entry for a public registry of "
        "such releases. `zealous verify` checks the files in this directory, and that the "
        "guarantee follows from the parameters.",
        "Parquet files hold every value unchanged. In CSV files, a cell that a spreadsheet would "
        "run as a formula (beginning with = + - @, also after a semicolon) has an apostrophe in "
        f"front. {_afterwards(goal)}",
        f"Made with zealous {record.software.version} on {record.created}.",
    ]
    return "\n\n".join(sections) + "\n"


def _limits(limits: LimitsRecord | None, each: str) -> list[str]:
    """How much one person could bring; nothing of releases that had no such limits."""
    if limits is None:
        return []
    return [
        f"The data of {each} was limited: texts longer than {limits.text:,} bytes were left out, "
        f"and at most {limits.entries:,} entries and the first {limits.words} words of a query "
        "were used."
    ]


def pure(goal: Claim) -> bool:
    """Whether a claim leaves nothing to a delta."""
    return goal.delta == 0


def budget(goal: Claim) -> str:
    """The numbers of a claim; the title has said that delta is 0, where it is."""
    epsilon = f"epsilon = {format_number(goal.epsilon)}"
    return epsilon if pure(goal) else f"{epsilon}, delta = {format_number(goal.delta)}"


def stamps(record: Record) -> list[str]:
    """What nobody may overlook."""
    return [
        *([] if record.private else [NOT_PRIVATE]),
        *([] if record.ledger else [NOT_TRACKED]),
    ]


def period_account(record: Record, entry: LedgerStamp) -> str:
    """Which period the account of one period is about."""
    within = entry.accounts.period.within
    if within == "all":
        return "in one period"
    own = within == record.period
    return f"in {within}, the {'period of this release' if own else 'most charged period'}"


def counted_otherwise(record: Record, entry: LedgerStamp) -> list[str]:
    """Where the accounts are about another loss than the one that the release bounds."""
    goal, said = record.guarantee, []
    if entry.unit != goal.unit:
        said.append(
            f"The ledger accounts for {UNITS[entry.unit]}; this release protects "
            f"{UNITS[goal.unit]} as a whole."
        )
    if entry.neighbors != goal.neighbors:
        said.append(
            f"The ledger accounts for {entry.neighbors} neighbours, this release is for "
            f"{goal.neighbors}."
        )
    if said and goal.neighbors == "add-remove":
        said.append("So its epsilon counts twice there.")
    return said


def chosen(record: Record) -> str:
    """How the parameters came about."""
    return _CHOSEN[record.parameters_from]


def filtered(record: Record) -> str:
    """What a filtered child is, and what it keeps."""
    first, *_ = every = record.reviews()
    removed = sum(sum(each.removed.values()) for each in every)
    keeps = (
        "epsilon-differential privacy with the epsilon of the parent"
        if pure(record.guarantee)
        else "(epsilon, delta)-indistinguishability with the numbers of the parent, and not "
        "probabilistic differential privacy"
    )
    return (
        f"This is a filtered child of release {first.parent_id}: {removed:,} "
        f"{'row was' if removed == 1 else 'rows were'} removed. It keeps {keeps}; it costs no "
        "additional budget."
    )


def _also(other: Claim | None) -> list[str]:
    if other is None:
        return []
    return [f"The same parameters also give {other.title}, {budget(other)}. {promise(other)}"]


def _afterwards(goal: Claim) -> str:
    if pure(goal):
        return "Anything computed from the release without the log keeps the guarantee."
    return (
        "Sorting and reformatting the complete release keeps the guarantee; a part of it is only "
        "certain to keep (epsilon, delta)-indistinguishability."
    )


def _reviewed(record: Record) -> list[str]:
    if record.review is None:
        return []
    said = [escaped(filtered(record))]
    for each in record.reviews():
        removed = ", ".join(f"{code(kind)} {rows:,}" for kind, rows in each.removed.items())
        said.append("\n".join(f"- {escaped(rule)}" for rule in each.rules))
        said.append(
            f"Rows removed: {removed}. SHA-256 of the parent's release.json: `{each.parent}`."
        )
    return said


def _table(part: PartRecord, record: Record, units: str, each: str) -> str:
    files = record.files[part.kind]
    lines = [
        f"### {code(part.kind)}: `{files.parquet}`, `{files.csv}`",
        "",
        f"Columns: {', '.join(map(code, files.columns))}, `count`. Rows: {files.rows:,}.",
        "",
        *row_meaning(part, record, each),
        *_settings(part.settings),
        selection(part, record, each),
        *wording.table(part, record, units, each),
    ]
    if not files.rows:
        went = any(each.removed[part.kind] for each in record.reviews())
        why = "all of its rows were removed in the review." if went else empty(part, record)
        lines += ["", f"The table is empty: {escaped(why)}"]
    return "\n".join(lines)


def _rules(family: str, record: Record, units: str) -> str:
    """What is told of associations."""
    file = association_files(record)[family]
    ifs = ", ".join(f"`if_{n}`" for n in range(1, rule_families(record)[family]))
    what, then = "had, one after the other,", "had `then` next"
    if family.startswith("itemsets:"):
        what, then = "hold all of", "hold `then` too"
    return "\n".join(
        [
            f"### Association rules in {code(family)}: `{file}`",
            "",
            f"Computed from the tables above alone: of the {units} that {what} {ifs} (empty where "
            f"a rule has fewer), how many {then}. Rows are sorted by `lift_low`, strongest first.",
            "",
            f"- `support` is `count_both` over all {units}, `confidence` is `count_both` over "
            f"`count_if`, and `lift` is the confidence over the share of all {units} that hold "
            "`then`: 1 if the two are unrelated. Nobody holds a combination without its parts, so "
            "a share is at most 1. A measure is empty where it would be divided by a count of 0 or "
            "less.",
            "- `low` and `high` of a measure are its 95 % interval: it covers the noise for 95 of "
            "100 rules, and is wide where a count is just above its threshold. An empty "
            "`lift_high` means that there is no upper bound. Among rules that were picked because "
            "they look strong, it covers fewer.",
            f"- The interval covers the noise only. {units.capitalize()} with more things than "
            "they may contribute left out those with the smallest published counts, so `support` "
            "is a low estimate, and `confidence` and `lift` may be too low or too high. No rule "
            "says that one thing causes another.",
        ]
    )


def _settings(settings: Settings) -> list[str]:
    said = {
        "follow": "- Clicks are counted only for queries that count for their user in `queries`; "
        f"`{rates.FILE}` has clicked over asked, with a 95 % interval that covers the noise of "
        "both counts.",
        "fold": "- A query is a set of words: their order is ignored.",
        "session_gap": "- A session is the log's own, or ends after {} minutes without a query.",
        "by": "- {} is a public attribute of the entry.",
    }
    given = {**settings.as_dict(), "by": code(settings.by) if settings.by else None}
    return [said[name].format(value) for name, value in given.items() if value and name in said]


def empty(part: PartRecord, record: Record) -> str:
    """What would fill an empty table."""
    return wording.empty(part, record, COUNTED[part.unit])
