"""The README that goes with a release: what a recipient must know, in plain words."""

from __future__ import annotations

from fractions import Fraction

from zealous.planning.from_record import kind_from_record
from zealous.planning.log_binding import other_columns
from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.privacy.guarantee import format_number, person_in_words
from zealous.privacy.levels import is_weak, strength
from zealous.privacy.period import Period
from zealous.privacy.promise import promise
from zealous.privacy.units import PRIVACY_UNITS, UNIT_PLURALS, UNITS, unit_warning
from zealous.record.record import (
    CapRecord,
    CapsRecord,
    Claim,
    LedgerStamp,
    LimitsRecord,
    PartRecord,
    Record,
)
from zealous.release.columns import count_columns, item_columns
from zealous.release.derived.files import derived_files
from zealous.release.text import method_wording as wording
from zealous.release.text.claims import deltas, leading_claim, other_claim
from zealous.release.text.markdown import code, escaped, grid
from zealous.release.text.row_meaning import row_meaning, selection

NOT_TRACKED = "budget not tracked"
STATED_PERIOD = "Period, as the publisher states"  # where the program left no days out
NOT_PRIVATE = "NOT PRIVATE: made with a fixed noise seed, for tests."
FILTERED = (
    "The rows that a review removed were chosen by looking at the release, never at the log itself."
)


def readme_text(record: Record) -> str:
    """The text of README.md, made from release.json and nothing else."""
    goal = leading_claim(record)
    unit = PRIVACY_UNITS[goal.unit]
    units, each = unit.plural, unit.contributor
    sections = [
        f"# {escaped(title(record))}",
        *_publisher_lines(record),
        *(f"**{each}**" for each in prominent_notes(record)),
        "## Privacy guarantee",
        f"{goal.title}, {epsilon_and_delta(goal)}, for each {goal.unit}; neighbours: "
        f"{goal.neighbors}. {promise(goal)}",
        f"With these parameters {deltas(record)}",
        *([strength(goal.epsilon)] if is_weak(goal.epsilon) else []),
        *_other_guarantee_lines(other_claim(record)),
        _protected_text(record),
        *_review_lines(record),
        "Assumptions:",
        "\n".join(f"- {escaped(each)}" for each in record.assumptions),
        f"The parameters were chosen {parameter_source_text(record)}. {approval(record)}",
        *(
            []
            if record.ledger is None
            else ["## Privacy budget spent", escaped(budget_spent_text(record))]
        ),
        "## What `count` means",
        f"The number of *{units}* that hold the item, plus noise. It is not the number of "
        f"entries.{unit.repeats} {each.capitalize()} contributes a limited number of items "
        "(see each table), and items beyond that limit are not counted, so `count` is a low "
        f"estimate of the {units} that hold the item. {wording.meaning_of_absence(record.plan)}",
        "`count_low` and `count_high` are the 95 % interval of the count before noise: for "
        "published items it holds in 95 of 100 cases. It covers the noise only, not items beyond "
        "the limit, and not that a review or a reader picked some of the rows.",
        *_limits(record.cleaning.limits, each),
        "## Tables",
        *(_table(part, record, units, each) for part in record.plan),
        *(each.readme for each in derived_files(record)),
        "## Columns",
        _columns(record),
        "## Using the files",
        "`statement.html` states what is promised and what is not, for the person who "
        "signs. `release.json` has all of the above for programs, with exact numbers and the "
        "SHA-256 of every other file. `registry.yaml` is a draft entry for a public registry of "
        "such releases; `croissant.json` (Croissant 1.0) and `datapackage.json` (Data Package 2) "
        "describe the tables to data catalogues. `zealous verify` checks the files in this "
        "directory, and that the guarantee follows from the parameters.",
        "Parquet files hold every value unchanged. In CSV files, a cell that a spreadsheet would "
        "run as a formula (beginning with = + - @, also after a semicolon) has an apostrophe in "
        f"front.{_spreadsheets(record)} {_post_processing_text(goal)}",
        f"Made with zealous {record.software.version} on {record.created}.",
    ]
    return "\n\n".join(sections) + "\n"


def _spreadsheets(record: Record) -> str:
    """Which files are for spreadsheets, where a table has more than ASCII."""
    listed = sorted(name for name in record.sha256 if name.endswith(".excel.csv"))
    if not listed:
        return ""
    return f" For Excel open {', '.join(map(code, listed))}: the same with a byte order mark."


def title(record: Record) -> str:
    """What the release is called."""
    named = record.publisher.title if record.publisher else None
    return named or "Frequent items, published with a privacy guarantee"


def publisher_facts(record: Record) -> list[tuple[str, str]]:
    """Who publishes and what for, as far as it is said."""
    said = record.publisher
    listed = (
        ("Publisher", said and said.publisher),
        ("Contact", said and said.contact),
        ("Purpose", said and said.purpose),
        ("Period", record.period),
        (STATED_PERIOD, said and not record.period and said.period),
        ("Region", said and said.region),
        ("Licence", said and said.licence),
        ("Address", said and said.url),
    )
    return [(name, value) for name, value in listed if value]


def _publisher_lines(record: Record) -> list[str]:
    listed = publisher_facts(record)
    return ["\n".join(f"- {name}: {escaped(value)}" for name, value in listed)] if listed else []


def _protected_text(record: Record) -> str:
    """Whose data is protected, by the names of the log's columns."""
    kinds = [kind_from_record(part, record.files[part.kind].columns) for part in record.plan]
    listed = other_columns(record.columns.assigned(), kinds)
    said = person_in_words(record.columns.user, code(record.columns.user))
    if listed:
        others = ", ".join(f"{code(name)} ({what})" for what, name in listed)
        said += f" Other columns of the log that were read: {others}."
    return said


def _limits(limits: LimitsRecord | None, each: str) -> list[str]:
    """How much one person could bring; nothing of releases that had no such limits."""
    if limits is None:
        return []
    return [
        f"The data of {each} was limited: texts longer than {limits.text:,} bytes were left out, "
        f"and at most {limits.entries:,} entries and the first {limits.words} words of a query "
        "were used."
    ]


def has_no_delta(goal: Claim) -> bool:
    """Whether a claim leaves nothing to a delta."""
    return goal.delta == 0


def epsilon_and_delta(goal: Claim) -> str:
    """The numbers of a claim; the title has said that delta is 0, where it is."""
    epsilon = f"epsilon = {format_number(goal.epsilon)}"
    return epsilon if has_no_delta(goal) else f"{epsilon}, delta = {format_number(goal.delta)}"


def prominent_notes(record: Record) -> list[str]:
    """What nobody may overlook."""
    return [
        *([] if record.private else [NOT_PRIVATE]),
        *unit_warning(record.guarantee.unit),
        *([] if record.ledger else [NOT_TRACKED]),
    ]


def period_account(record: Record, entry: LedgerStamp) -> str:
    """Which period the account of one period is about."""
    within = entry.accounts.period.within
    if within == "all":
        return "in any period"
    own = within == record.period
    return f"in {within}, the {'period of this release' if own else 'most charged period'}"


def budget_spent_text(record: Record) -> str:
    """What was spent on the same people, with this release."""
    entry = record.ledger
    if entry is None:
        return f"{NOT_TRACKED}: other releases from the same people are not known."
    said = differing_accounts(record, entry)
    for title, account, cap in (
        (period_account(record, entry), entry.accounts.period, entry.caps.period),
        ("over all releases", entry.accounts.all, entry.caps.all),
    ):
        number = f"{account.releases} release{'s' if account.releases > 1 else ''}"
        said.append(
            f"{title[0].upper()}{title[1:]} ({number}): "
            f"epsilon {format_number(Fraction(account.exact.epsilon))}, "
            f"delta {format_number(Fraction(account.exact.delta))}, {_cap(cap)}"
        )
    whose = f"A ledger tracks the budget of {UNITS[entry.unit]}, neighbours: {entry.neighbors}"
    return " ".join([f"{whose} (entry {entry.entry}).", *said])


def _cap(cap: CapRecord | None) -> str:
    caps = (("epsilon", cap.epsilon), ("delta", cap.delta)) if cap else ()
    given = [f"{name} {format_number(value)}" for name, value in caps if value is not None]
    return f"cap {', '.join(given)}." if given else "no cap."


def approval(record: Record) -> str:
    """Who approved the plan, as far as it is on record."""
    if record.approved_plan is None:
        return "No approved plan is named: the parameters were given when it was published."
    approver = record.ledger.approver if record.ledger else None
    if approver is None:
        return (
            "The release was made by a plan in a file that nobody signed with a key: who approved "
            "it is not on record here."
        )
    return f"{escaped(approver)} approved the plan and signed it with an SSH key."


def differing_accounts(record: Record, entry: LedgerStamp) -> list[str]:
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
        said.append("There it counts as what it costs one whose history changes.")
    elif goal.neighbors == "add-remove" and not _lies_in_account(record, entry):
        said.append(
            "In one period this release counts as what it costs one whose history changes: it has "
            "entries of other days too."
        )
    if entry.promised is not None:
        said.append(
            "The caps were changed after earlier releases. Over all of them the caps "
            f"promise {_promise(entry.promised)}."
        )
    if entry.accounts.period.composed or entry.accounts.all.composed:
        said.append(
            "Where a cap limits composed losses, the account states epsilon at the delta of that "
            "cap. A larger delta makes epsilon smaller: it can be below that of this release alone."
        )
    return said


def _lies_in_account(record: Record, entry: LedgerStamp) -> bool:
    """Whether the period of the account holds all days of the release."""
    within = entry.accounts.period.within
    if record.period is None or within == "all":
        return False
    return Period.parse(record.period).within(Period.parse(within))


def _promise(caps: CapsRecord) -> str:
    said = [
        ", ".join(
            f"{name} {format_number(most)}"
            for name, most in (("epsilon", cap.epsilon), ("delta", cap.delta))
            if most is not None
        )
        + f" {where}"
        for cap, where in ((caps.all, "over all releases"), (caps.period, "in one period"))
        if cap is not None
    ]
    return "; ".join(said) or "nothing any more"


def parameter_source_text(record: Record) -> str:
    """How the parameters came about."""
    return PARAMETERS_FROM[record.parameters_from].words


def filtered_text(record: Record) -> str:
    """What a filtered child is, and what it keeps."""
    first, *_ = every = record.reviews()
    removed = sum(sum(each.removed.values()) for each in every)
    if not removed:
        return (
            f"This is release {first.parent_id} after a review that removed no row. It keeps all "
            "that the release promises, and costs no additional budget."
        )
    keeps = (
        "epsilon-differential privacy with the epsilon of the parent"
        if has_no_delta(record.guarantee)
        else "the (epsilon, delta)-indistinguishability that the parameters give, and not "
        "probabilistic differential privacy"
    )
    return (
        f"This is a filtered child of release {first.parent_id}: {removed:,} "
        f"{'row was' if removed == 1 else 'rows were'} removed. It keeps {keeps}; it costs no "
        "additional budget."
    )


def _other_guarantee_lines(other: Claim | None) -> list[str]:
    if other is None:
        return []
    return [
        f"The same parameters also give {other.title}, {epsilon_and_delta(other)}. {promise(other)}"
    ]


def _post_processing_text(goal: Claim) -> str:
    if has_no_delta(goal):
        return "Anything computed from the release without the log keeps the guarantee."
    return (
        "Sorting and reformatting the complete release keeps the guarantee; a part of it is only "
        "certain to keep (epsilon, delta)-indistinguishability."
    )


def _review_lines(record: Record) -> list[str]:
    if record.review is None:
        return []
    said = [escaped(filtered_text(record))]
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
        f"Columns: {', '.join(map(code, files.columns))}, `count`, `count_low`, `count_high`. "
        f"Rows: {files.rows:,}.",
        "",
        *row_meaning(part, record, each),
        selection(part, record, each),
        *wording.method_points(part, record, units, each),
    ]
    if not files.rows:
        went = any(each.removed[part.kind] for each in record.reviews())
        why = "all of its rows were removed in the review." if went else why_empty(part, record)
        lines += ["", f"The table is empty: {escaped(why)}"]
    return "\n".join(lines)


def _columns(record: Record) -> str:
    """What each column of each file holds; the counts, which all tables have, once."""
    listed = [
        (code(part.kind), each) for part in record.plan for each in item_columns(part, record)
    ]
    listed += [("each of these", each) for each in count_columns(record.guarantee.unit)]
    listed += [(code(file.file), each) for file in derived_files(record) for each in file.columns]
    rows = [
        (where, code(each.name), each.type, escaped(each.meaning), each.unit, each.empty)
        for where, each in listed
    ]
    return grid(("table", "column", "type", "what it holds", "unit", "empty"), rows)


def why_empty(part: PartRecord, record: Record) -> str:
    """What would fill an empty table."""
    return wording.why_empty(part, record, UNIT_PLURALS[part.unit])
