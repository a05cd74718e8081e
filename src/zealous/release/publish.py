"""The composition: from a log to a release, top to bottom."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from zealous.counting.bound import Select, check_select
from zealous.counting.histogram import histogram, keepers
from zealous.engines.engine import Engine, Stored
from zealous.errors import LogError, Refused, ReleaseError, UsageError, reason
from zealous.files.lines import Skipped
from zealous.files.places import Place
from zealous.files.scratch import working_directory
from zealous.items import Kind
from zealous.logs.log import Log, is_anonymized
from zealous.logs.open_log import open_log
from zealous.logs.source import Source, count_everyone, has_users
from zealous.mechanisms import Count, Mechanism
from zealous.noise import seeded_bytes
from zealous.planning.declared import Files, PublicFile, public_files
from zealous.planning.plan import PARAMETERS_FROM, Part, Plan, covers_replaced, plan
from zealous.planning.public_files import READ_AS
from zealous.privacy.guarantee import Guarantee, Number
from zealous.privacy.period import Period
from zealous.release.bundle import Release, Table, check_writable, read_release, sorted_table
from zealous.release.charging import SPENT, UNTRACKED, Account, Spending, released, spending
from zealous.release.provenance import assumptions, described, provenance

Say = Callable[[str], None]
_BESIDE_THE_LOG = Account()


def publish(
    log: Log,
    goal: Guarantee,
    kinds: Sequence[Kind],
    *,
    select: Select = "random",
    split: Mapping[str, Number] | None = None,
    accept_delta: bool = False,
    parameters_from: str = "unstated",
    approved_plan: str | None = None,
    mechanism: str | Mapping[str, str] | None = None,
    domain: Files | None = None,
    prior: Files | None = None,
    results: Files | None = None,
    period: Period | str | None = None,
    all_in_period: bool = False,
    account: Account | None = _BESIDE_THE_LOG,
    output: Place | None = None,
    engine: Engine | None = None,
    seed: int | None = None,
    say: Say = lambda _: None,
) -> Release:
    """Publish the frequent items of a log.

    Guarantee:
        The release as a whole satisfies `goal`, under the assumptions that it lists. Everything
        in it is either a public parameter, fixed before the log is read, or the output of a
        mechanism. The budget is charged before any noise is drawn.

    Args:
        log: What to publish from.
        goal: The guarantee of the whole release, over all kinds.
        kinds: What to publish.
        select: How each user's items are chosen: `random`, `first` or `frequent`.
        split: Weights of the kinds in the budget; even where not given.
        accept_delta: Confirms a large per-person delta; see `plan`.
        parameters_from: How the parameters were chosen: `public-facts`, `earlier-release`,
            `synthetic-log`, `this-log` (which the guarantee does not cover) or `unstated`.
        approved_plan: The SHA-256 of the plan that was approved, for the release to name.
        mechanism: See `plan`.
        domain: A public file with the items of the only kind, or one for each of several kinds by
            their names: those are published, all of them, and no others.
        prior: Likewise a public file, an earlier release or a list with frequencies: what it has
            as frequent steers which of their items people give.
        results: A public file with the documents that a search shows for a query (`query`, `url`,
            perhaps `rank`): of the clicks for published queries, those on them are published.
        period: The days that the release is about, such as "2026-03"; entries of other days are
            left out.
        all_in_period: Declares, for a log without times, that all its entries are of the period.
        account: Which ledger is charged, and how; None for a release whose budget is not tracked.
        output: Where it will be written, so that what would hinder that is found before the
            budget is spent. A release of the account's id that is there already is returned.
        engine: Where to run; where the log is, or an embedded DuckDB, if not given.
        seed: Fixes noise and selection, for tests; such a release is marked as not private, and
            charged to nobody.
        say: Receives progress, for the owner's eyes. What it raises is ignored.
    """
    if parameters_from not in PARAMETERS_FROM:
        raise UsageError(f"parameters_from must be one of {', '.join(PARAMETERS_FROM)}")
    files = public_files(kinds, domain=domain, prior=prior, results=results)
    planned = plan(
        goal,
        kinds,
        split=split,
        accept_delta=accept_delta,
        mechanism=mechanism,
        public={name: (each.use, each.about()) for name, each in files.items()},
    )
    goal = planned.goal
    days = Period.parse(period) if isinstance(period, str) else period
    _check(log, planned, select, days, all_in_period)
    key = secrets.randbits(64) if seed is None else seed  # drawn before the log is read
    about = {
        **provenance(planned, log, select=select, key=key, private=seed is None),
        "assumptions": assumptions(
            goal,
            log.columns,
            days,
            [part.public for part in planned.parts if part.public],
            others=account is not None and account.people is not None,
        ),
        "parameters_from": parameters_from,
        "period": str(days) if days else None,
        "approved_plan": approved_plan,
    }
    paying, say = None, _unfailing(say)
    if account is not None and seed is None:
        made = released(account, log.paths, output)
        if made is not None:
            say(f"the release of this id was made before, in {made}: nothing is drawn again")
            return _same(read_release(made), about)
        if not covers_replaced(planned):
            raise Refused(
                "with so large a delta an add-remove release may cost more than a ledger would "
                "charge where a history changes: lower --delta, or ask for --neighbors replace"
            )
        paying = spending(account, log, goal, days)
    if output is not None:
        check_writable(output, [part.name() for part in planned.parts])
    if output is not None or paying is not None:
        _rehearse(planned, about, paying, output)
    tables = _public_tables(planned, files, log, say)  # before the log is read, and before it costs
    with _admitting(paying.charged if paying else lambda: None, say), log.on(engine) as running:
        say("reading the log")
        extra = [name for kind in kinds for name in kind.extra()]
        source = open_log(_needed(log, kinds), running, extra, unit=goal.unit, period=days, key=key)
        tell_skipped(source.skipped, say)
        _check_users(source, goal, say)
        charged = paying.reserve(say) if paying else UNTRACKED  # from here on it is spent
        drawn = draw(planned, source, select=select, key=key, public=tables, seed=seed, say=say)
        about |= {
            "id": paying.id if paying else _untracked_id(seed),
            "ledger": charged,
            "review": None,
            "files": described(drawn),
        }
        return Release(about=about, tables=drawn, written=paying.written if paying else None)


def publish_to(
    directory: Place, log: Log, goal: Guarantee, kinds: Sequence[Kind], **options: Any
) -> tuple[Release, Place]:
    """Publish into a new directory; what was made under the account's id is not made again.

    Args:
        directory: Must not exist yet.
        log: What to publish from.
        goal: The guarantee of the whole release.
        kinds: What to publish.
        options: As for `publish`.

    Returns:
        The release, and where it is.
    """
    release = publish(log, goal, kinds, output=directory, **options)
    if release.directory is not None:
        return release, release.directory
    say = _unfailing(options.get("say", lambda _: None))
    with _admitting(lambda: release.about["ledger"].get("entry"), say):
        say(f"writing {directory}")
        return release, release.write(directory)


def _check(
    log: Log, planned: Plan, select: Select, period: Period | None, all_in_period: bool
) -> None:
    """Refuse before anything is read what could not be done with this log."""
    if any(map(is_anonymized, log.paths)):
        raise Refused(
            "this is the output of an anonymity method: its ids are no people, and which rows it "
            "has depends on everybody, so that no guarantee would hold. Publish from the log itself"
        )
    roles = log.columns.given()
    for part in planned.parts:
        part.check(roles)
    check_select(select, roles)
    if period is not None and "time" not in roles and not all_in_period:
        raise UsageError(
            "--period needs a column with the time: say --time COLUMN, or declare with "
            "--all-in-period that every entry of the log is of that period"
        )


def _needed(log: Log, kinds: Sequence[Kind]) -> Log:
    """The same without its clicks where nothing is made of them, which take long to look at."""
    if any("url" in kind.needs for kind in kinds):
        return log
    return replace(log, columns=replace(log.columns, url=None))


def _same(made: Release, asked: Mapping[str, Any]) -> Release:
    """A release of the same id must be what is asked for now, whoever planned and drew it."""
    drawn = ("software", "created", "selection_key", "planner")
    if any(made.about.get(name) != asked[name] for name in asked if name not in drawn):
        raise Refused(
            "the release of this --id was made before, and with other parameters: give this one an "
            "id of its own"
        )
    return made


def _unfailing(say: Say) -> Say:
    """Whoever listened may be gone: that ends no run, and loses nothing that was paid for."""

    def tell(text: str) -> None:
        with suppress(Exception):
            say(text)

    return tell


@contextmanager
def _admitting(charged: Callable[[], int | None], say: Say) -> Iterator[None]:
    """Whatever goes wrong after the charge, say that it is spent."""
    try:
        yield
    except BaseException:
        try:
            entry = charged()
        except Exception:  # the ledger is gone too
            say("the ledger may have been charged: see `zealous ledger show`")
        else:
            if entry is not None:
                say(SPENT.format(entry))
        raise


def _rehearse(
    planned: Plan, about: Mapping[str, Any], paying: Spending | None, output: Place | None
) -> None:
    """Write a release of the same shape without rows: what would fail then fails before it costs.

    Not what hangs on the rows: their size on the disk and in memory.
    """
    beside = output.parent if isinstance(output, Path) else None
    tables = {part.name(): _as_table(part.kind, []) for part in planned.parts}
    try:
        with working_directory(beside, hidden=beside is not None) as folder:
            stamp = paying.preview() if paying else UNTRACKED
            drawn = {"id": "0" * 16, "ledger": stamp, "review": None, "files": described(tables)}
            empty = Release(about={**about, **drawn}, tables=tables)
            made = read_release(empty.write(folder / "release", not_private=True))
            if made.tables != tables:
                raise UsageError("the columns cannot be written to files as they are: rename them")
    except UnicodeEncodeError:
        raise UsageError("a name that the release would hold is not UTF-8: rename it") from None
    except OSError as error:
        raise ReleaseError(
            f"nothing can be written to {beside or 'the temporary directory'}: {reason(error)}"
        ) from None


def draw(
    planned: Plan,
    source: Source,
    *,
    select: Select,
    key: int,
    public: Mapping[str, pa.Table] | None = None,
    seed: int | None = None,
    say: Say = lambda _: None,
) -> dict[str, Table]:
    """Count, add noise, drop what is rare, for each part of a plan: where the budget is spent."""
    tables: dict[str, Table] = {}
    for number, part in enumerate(planned.parts):
        say(f"counting {part.name()} ({number + 1} of {len(planned.parts)})")
        released = {name: table.arrow for name, table in tables.items()}
        kind = part.kind.with_inputs(released)
        listed = (public or {}).get(part.name(), kind.known())
        mechanism = part.mechanism.with_inputs(listed, released)
        count = partial(histogram, kind, source, select=select, key=key, say=say)
        first = kind.keepers_of()
        if first is not None:
            (before,) = (each for each in planned.parts if each.name() == first)
            following = _keepers(before, released[first], source, select, key)
            count = partial(count, following=following)
        tables[part.name()] = _publish_part(kind, mechanism, count, _noise(seed, number))
    return tables


def _keepers(part: Part, counted: pa.Table, source: Source, select: Select, key: int) -> Stored:
    """Who kept which items when they were counted for a table that was published before."""
    return keepers(
        part.kind,
        source,
        bound=part.mechanism.items_per_user,
        select=select,
        key=key,
        # Without a second threshold it was the published items alone that were counted.
        only=counted if part.mechanism.tau_prime is None else None,
    )


def tell_skipped(skipped: Skipped, say: Say) -> None:
    """Tell the owner how many lines were left out, and why."""
    for why, number in skipped.items():
        if number:
            say(f"skipped {number:,} line{'s' if number > 1 else ''}: {why}")


def _check_users(source: Source, goal: Guarantee, say: Say) -> None:
    if goal.users is not None and count_everyone(source) > goal.users:
        raise Refused(
            f"the log holds more {goal.units()} than --users declares: the guarantee would not "
            "hold. "
            "Declare a bound that you know to be true without counting, and plan again"
        )
    # No error: whether there is a release must not tell whether there is a user.
    if not has_users(source):
        say("no entry with a user id was understood: see `zealous inspect`")


def _untracked_id(seed: int | None) -> str:
    return secrets.token_hex(8) if seed is None else f"seed-{seed}"


def _noise(seed: int | None, part: int) -> Callable[[int], bytes]:
    if seed is None:
        return os.urandom
    return seeded_bytes(seed * 1000 + part)


def _public_tables(
    planned: Plan, files: Mapping[str, PublicFile], log: Log, say: Say
) -> dict[str, pa.Table]:
    """The rows of the public files, by name of kind."""
    tables = {}
    for part in planned.parts:
        if part.name() in files:
            file = files[part.name()]
            read = READ_AS[file.use](file.path, part.kind, roles=log.columns.given())
            if read.sha256 != file.sha256:
                raise LogError(f"{file.name} changed while it was read: try again")
            left_out = f", {read.skipped:,} of them no such item" if read.skipped else ""
            say(f"{file.name}: {read.rows:,} rows of {part.name()}{left_out}")
            tables[part.name()] = read.table
    return tables


def _publish_part(
    kind: Kind, mechanism: Mechanism, count: Count, random_bytes: Callable[[int], bytes]
) -> Table:
    if random_bytes is not os.urandom:  # the same noise for the same item, run after run
        count = partial(_in_order, count, kind.counted())
    return _as_table(kind, map(kind.published, mechanism.release(count, random_bytes)))


def _as_table(kind: Kind, batches: Iterable[pa.RecordBatch]) -> Table:
    columns = kind.columns()
    schema = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    return sorted_table(
        pa.Table.from_batches([batch.cast(schema) for batch in batches], schema), columns
    )


def _in_order(count: Count, columns: Sequence[str], **how: Any) -> list[pa.RecordBatch]:
    batches = list(count(**how))
    if not batches:
        return []
    table = pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in columns])
    return list(table.to_batches())
