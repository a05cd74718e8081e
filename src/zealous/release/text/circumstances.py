"""What a reader of a privacy statement asks beside the numbers: the points of NIST SP 800-226.

One sentence each, true of this release. What only the publisher can know comes from publisher.toml,
and is said to be unstated where it does not.
"""

from __future__ import annotations

from zealous.record.record import Record
from zealous.release.text import method_wording as wording


def circumstances(record: Record) -> list[tuple[str, str]]:
    """Headings, and what is said below each."""
    return [
        ("Trust model", _trust_text(record)),
        ("How the data was collected", _publisher_text(record, "collection")),
        ("Keeping and deleting the raw log", _publisher_text(record, "retention")),
        (
            "Requests to be deleted",
            "Whoever is deleted from the raw log, or listed to be left out, is in no later "
            "release. This one is not recalled: what it tells of anybody is limited as promised.",
        ),
        ("Source of randomness", _randomness(record)),
        (
            "Side channels",
            "The guarantee is about these files. How long the run took, its messages, refusals and "
            "temporary files are not covered, and were for the owner of the log alone. The release "
            "answers no queries, so nobody can time its answers.",
        ),
        (
            "Who is missing",
            f"{wording.meaning_of_absence(record.plan)} Of people with many items only some of "
            "these count. So small groups, and people who do much, are underrepresented.",
        ),
        (
            "Composition",
            (
                "The losses of the tables compose to those of the release; their epsilons, each of "
                "a table by itself, add up to more. "
                if record.losses_compose()
                else "The epsilons and deltas of the tables add up to those of the release. "
            )
            + "Other releases about the same people add to what is lost: a ledger accounts for "
            "them together.",
        ),
        (
            "Unprotected quantities",
            "The parameters, the names of the columns, the declared number of people and the key "
            "that selected items are published as they are. Every count carries noise.",
        ),
        (
            "How the program was tested",
            "Its tests compare it with exact computations on tiny logs. The command zealous audit "
            "publishes pairs of logs that differ in one user many times, and fails if the rows "
            f"tell more than is claimed. {_audit_text(record)}",
        ),
    ]


def _trust_text(record: Record) -> str:
    access = record.publisher.access if record.publisher else None
    seen = f" Who sees the raw log, as the publisher states: {access}." if access else ""
    return (
        "Central: whoever ran the program held the raw log and is trusted with it. Recipients of "
        f"the release are not trusted.{seen}"
    )


def _audit_text(record: Record) -> str:
    """The figures of the audit that come with the program, and what the publisher adds."""
    found, said = record.software.audit, record.publisher.audit if record.publisher else None
    added = f" The publisher states: {said}." if said is not None else ""
    if found is None:
        own = "No figures of it come with this version: anybody who has the program can run it."
        return added.strip() or own
    build = (
        "the build that made this release"
        if found.build == record.software.build
        else f"another build of it ({found.build[:12]})"
    )
    return (
        f"The audit of version {record.software.version} tried {build}: {found.pairs:,} pairs of "
        f"logs, each published {found.runs:,} times, no violation ({found.day}).{added}"
    )


def _publisher_text(record: Record, name: str) -> str:
    said: str | None = getattr(record.publisher, name) if record.publisher else None
    return f"As the publisher states: {said}." if said else "The publisher did not state it."


def _randomness(record: Record) -> str:
    if not record.private:
        return "A fixed seed, for tests: the noise can be subtracted."
    return (
        "The random numbers of the operating system. Noise is drawn as exact integers, and no "
        "floating-point number decides a sample."
    )
