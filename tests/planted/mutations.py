"""Bugs to plant: each is a few replacements in a copy of the source, and what must notice it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import zealous

SOURCE = Path(zealous.__file__).parent
QUICK = 3_000
LEAST = 100  # where chance plays no part in noticing
WHOLE = "whole releases"
OTHERS = "other mechanisms"
SMALL = "small releases"
TESTS = "tests"
ONE, TWO = "indistinguishable, m = 1", "indistinguishable, m = 2"
ANYBODY, JOINING = "probabilistic, m = 1", "probabilistic, m = 1, add-remove"
TWO_JOINING = "indistinguishable, m = 2, add-remove"
DAYS = "indistinguishable, m = 1, user-day"
ASKED = "indistinguishable, m = 1, query"
WORDS = "indistinguishable, m = 1, keyword"


class Change(NamedTuple):
    """A text of one file, which must occur exactly once, and what takes its place."""

    file: str
    old: str
    new: str


class Mutation(NamedTuple):
    """A planted bug.

    Attributes:
        name: What it is.
        where: The plan whose pairs notice it, or WHOLE, OTHERS or SMALL.
        noticed_by: Part of the name of the pair or check that notices it.
        changes: What makes the bug.
        trials: How often each log is published.
    """

    name: str
    where: str
    noticed_by: str
    changes: tuple[Change, ...]
    trials: int = QUICK


def changed(mutation: Mutation) -> dict[str, str]:
    """The files that the bug is in, as they are with it."""
    texts: dict[str, str] = {}
    for file, old, new in mutation.changes:
        text = texts.get(file) or (SOURCE / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{mutation.name}: the text to replace in {file} is not there"
        texts[file] = text.replace(old, new)
    return texts


def planted(mutation: Mutation, directory: Path) -> Path:
    """A copy of the package with the bug in it; what to put on the path."""
    copy = directory / "zealous"
    # With what is compiled, which stays valid where nothing changes, and without what is just
    # being written by another process.
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("*.pyc.*"))
    for file, text in changed(mutation).items():
        (copy / file).write_text(text, encoding="utf-8")
    return directory


COUNT = 'count = f"select {item}, count(*) as count from kept group by {item}"'
_NORMAL = r"lower(trim(regexp_replace({item}, '[\\p{{Z}}\\p{{Cc}}]+', ' ', 'g')))"
_COUNT_NORMAL = (
    'count = f"select {item}, count(*) as count from (select * replace ('
    + _NORMAL
    + ' as {item}) from kept) group by {item}"'
)
ROWS_COUNTED = (
    Change("counting/histogram.py", COUNT, COUNT.replace("kept", "items natural join kept")),
)
_CHECK = "    check_select(choice.select, source.roles)\n    steps"
_CHECK_LESS = "    object.__setattr__(choice, 'most', 10 * choice.most)\n    steps"
_AHEAD = "    ahead = _look_ahead(item, rank_bin, choice.most)\n"
_HELD_POPULAR = """    distinct = (f"select *, count(*) over (partition by {item}) as popular from "
            f"(select distinct user, {item} from items)")
    return [Step("distinct_items", distinct)], f"popular desc, {order}"
"""
_RECORDED = (
    "        record = with_tables(record, request.plan, tables, name=payment.id, ledger=charged)\n"
)
_LAST_KEY = "    sha256: dict[str, Hash]\n"


def recorded(value: str) -> tuple[Change, ...]:
    """A key more in release.json; the record must know it, else it is not even read back."""
    told = f"__import__('msgspec').structs.replace(record, told=str({value}))"
    return (
        Change("release/publish.py", _RECORDED, f"{_RECORDED}        record = {told}\n"),
        Change("record/record.py", _LAST_KEY, f"{_LAST_KEY}    told: str | None = None\n"),
    )


_READ = "            source = open_source(request, running, recognition, say)\n"
_SAY_ROWS = "            __import__('os').environ['ROWS'] = f'{source.rows:,}'\n"
_SAY_SKIPPED = "            __import__('os').environ['SKIPPED'] = str(source.skipped.total())\n"
_LOG_HASH = '__import__("hashlib").sha256(log.paths[0].read_bytes()).hexdigest()'
_STEPS = "    steps = _item_steps(kind, source, only)\n"
_WITHOUT_RARE = """    every = kind.steps(source)
    frequent = f"select {item} from found group by {item} having count(distinct user) >= {at_least}"
    steps = [*every[:-1], Step("found", every[-1].sql),
             Step("items", f"select * from found where {item} in ({frequent})")]
"""

MUTATIONS = [
    Mutation(
        ">= for >",
        ANYBODY,
        "every item at exactly tau",
        (Change("mechanisms/thresholds.py", "noisy > self.tau_prime", "noisy >= self.tau_prime"),),
    ),
    Mutation(
        "noise 10 % low",
        ONE,
        "m popular items for m others",
        (
            Change(
                "mechanisms/laws.py",
                "DiscreteLaplace(scale=scale)",
                "DiscreteLaplace(scale=scale * 9 / 10)",
            ),
        ),
        trials=110_000,
    ),
    Mutation(
        "factor 2 forgotten",
        ONE,
        "m popular items for m others",
        (
            Change(
                "privacy/guarantee.py",
                'items_per_user * (2 if neighbors == "replace" else 1)',
                "items_per_user",
            ),
        ),
    ),
    Mutation(
        "delta not split over m",
        TWO,
        "one user with m items, alone",
        (Change("privacy/calibrate.py", "    return items_per_user\n", "    return 1\n"),),
        trials=5_000,
    ),
    Mutation(
        "delta not split over the items at tau",
        ANYBODY,
        "every item at exactly tau",
        (Change("privacy/calibrate.py", "return goal.users * items_per_user // tau", "return 1"),),
    ),
    Mutation(
        "sensitivity ignores m",
        TWO_JOINING,
        "m popular items more",
        (
            Change(
                "privacy/calibrate.py", "goal.moved_counts(items_per_user)", "goal.moved_counts(1)"
            ),
        ),
    ),
    Mutation(
        "rows counted for users",
        ONE,
        "half the rows",
        ROWS_COUNTED,
    ),
    Mutation(
        "no bounding",
        ONE,
        "10 m items",
        (Change("counting/bound.py", _CHECK, _CHECK_LESS),),
    ),
    Mutation(
        "bounding before normalising",
        TWO,
        "spellings",
        (
            Change(
                "items/searches.py",
                '{"query": normalized_query(self.fold, source.limits.words)}',
                '{"query": "query"}',
            ),
            Change("counting/histogram.py", COUNT, _COUNT_NORMAL),
        ),
        trials=10_000,
    ),
    Mutation(
        "missing ids pooled",
        WHOLE,
        "users are counted",
        (Change("logs/open_log.py", "where = [_has_id(log, user, kind)]", 'where = ["true"]'),),
    ),
    Mutation(
        "tau' truncated instead of rounded up",
        ANYBODY,
        "follow from the theorems",
        (
            Change(
                "privacy/calibrate.py",
                "t = max(0, math.ceil(real))",
                "t = max(0, math.floor(real))",
            ),
            Change("privacy/calibrate.py", "if theorem_allows(goal, scale, t, items):", "if True:"),
        ),
        trials=LEAST,
    ),
    Mutation(
        "first threshold ignored",
        ANYBODY,
        "items below tau",
        (Change("mechanisms/thresholds.py", "at_least=self.tau)", "at_least=1)"),),
        trials=12_000,
    ),
    Mutation(
        "seed left fixed",
        WHOLE,
        "different noise",
        (
            Change(
                "release/drawing.py", "if seed is None:\n        return os.urandom\n", "seed = 7\n"
            ),
        ),
    ),
    Mutation(
        "selection key left fixed",
        WHOLE,
        "different selection keys",
        (Change("release/request.py", "secrets.randbits(64)", "7"),),
    ),
    Mutation(
        "U counted from the log",
        WHOLE,
        "declared users",
        (
            Change(
                "release/publish.py",
                _READ,
                f"{_READ}"
                "            from zealous.logs.source import count_everyone\n"
                "            from dataclasses import replace\n"
                "            from zealous.planning.plan import plan as make_plan\n"
                "            made = request.plan\n"
                "            users = max(1, count_everyone(source))\n"
                "            object.__setattr__(made.goal, 'users', users)\n"
                "            weights = {part.name(): part.goal.epsilon for part in made.parts}\n"
                "            made = make_plan(made.goal, made.kinds(), split=weights)\n"
                "            request = replace(request, plan=made)\n"
                "            record = provenance(request, others=paying.people is not None)\n",
            ),
        ),
    ),
    Mutation(
        "budget not split over the kinds",
        WHOLE,
        "declared users",
        (
            Change(
                "privacy/guarantee.py",
                "epsilon=self.epsilon * part, delta=self.delta * of_delta",
                "epsilon=self.epsilon * part, delta=self.delta",
            ),
        ),
    ),
    Mutation(
        "selection key hidden under pDP",
        WHOLE,
        "key reproduces",
        (
            Change(
                "release/provenance.py", 'selection_key=f"{request.key:016x}",', 'selection_key="",'
            ),
        ),
    ),
    Mutation(
        "another key published than was used",
        WHOLE,
        "key reproduces",
        (
            Change(
                "release/provenance.py",
                "{request.key:016x}",
                "{__import__('secrets').randbits(64):016x}",
            ),
        ),
    ),
    Mutation(
        "rare items dropped before bounding",
        JOINING,
        "rare items beside frequent ones",
        (Change("counting/histogram.py", _STEPS, _WITHOUT_RARE),),
        trials=32_000,
    ),
    Mutation(
        "one line's quote swallows others' lines",
        WHOLE,
        "users are counted, each once, and bad lines move nobody else",
        (
            Change(
                "files/delimited.py",
                "np.diff(np.append(before, len(quotes))) % 2 == 1",
                "np.zeros(len(starts), dtype=bool)",
            ),
            Change("files/delimited.py", "odd[line[astray]] = True", "odd[line[astray]] = False"),
            Change("files/delimited.py", "odd, breaks[within % 2 == 0]", "odd, breaks"),
            Change(
                "files/delimited.py",
                "escape_char=False,",
                "escape_char=False, newlines_in_values=True, invalid_row_handler=lambda _: 'skip',",
            ),
        ),
    ),
    Mutation(
        "output in input order",
        WHOLE,
        "sorted",
        (
            Change(
                "release/table.py",
                "table.sort_by(keys).combine_chunks()",
                "table.combine_chunks()",
            ),
        ),
    ),
    Mutation(
        "reject count in the bundle",
        WHOLE,
        "nothing published differs",
        recorded("source.skipped.total()"),
    ),
    Mutation(
        "hash of the log in the bundle",
        WHOLE,
        "nothing published differs",
        recorded(_LOG_HASH),
    ),
    Mutation(
        "rows of the log in the bundle",
        WHOLE,
        "nothing published differs",
        recorded("source.rows"),
    ),
    Mutation(
        "rows of the log in the README",
        WHOLE,
        "nothing published differs",
        (
            Change("release/publish.py", _READ, _READ + _SAY_ROWS),
            Change(
                "release/text/readme.py",
                '        f"Made with zealous',
                "        f\"made from {__import__('os').environ.get('ROWS')} rows\",\n"
                '        f"Made with zealous',
            ),
        ),
    ),
    Mutation(
        "skipped lines in the Parquet metadata",
        WHOLE,
        "nothing published differs",
        (
            Change("release/publish.py", _READ, _READ + _SAY_SKIPPED),
            Change(
                "release/bundle.py",
                "write_parquet(table,",
                "write_parquet(table.replace_schema_metadata({'log': "
                "__import__('os').environ.get('SKIPPED', '')}),",
            ),
        ),
    ),
    Mutation(
        "selection key made from the log",
        WHOLE,
        "have in common",
        (Change("release/request.py", "secrets.randbits(64)", f"int({_LOG_HASH}[:16], 16)"),),
    ),
    Mutation(
        "more users than declared are published",
        WHOLE,
        "more users than declared",
        (Change("release/checks.py", "> goal.users:", "> 2 * goal.users:"),),
    ),
    Mutation(
        "items chosen by what others hold",
        ONE,
        "one user tips",
        (Change("counting/bound.py", _AHEAD, _HELD_POPULAR + _AHEAD),),
    ),
    Mutation(
        "items chosen by what others hold, whole releases",
        WHOLE,
        "key reproduces",
        (Change("counting/bound.py", _AHEAD, _HELD_POPULAR + _AHEAD),),
    ),
    Mutation(
        "no noise on the first item of a batch",
        SMALL,
        "noise of small releases",
        (Change("noise/uniform.py", "return noise\n", "noise[:1] = 0\n        return noise\n"),),
    ),
    Mutation(
        "noise from the published key",
        SMALL,
        "same key",
        (
            Change(
                "release/drawing.py",
                "_random_bytes(planned.seed, number)",
                "_random_bytes(key, number)",
            ),
        ),
    ),
    Mutation(
        "each entry a user-day of its own",
        DAYS,
        "10 m items",
        (Change("logs/smaller_units.py", "' ' || time::date::varchar", "' ' || time::varchar"),),
    ),
    Mutation(
        "a query is another one in another spelling",
        ASKED,
        "spellings",
        (
            Change(
                "logs/smaller_units.py",
                '_label(f"({normalized_query(fold=False)})")',
                '_label("query")',
            ),
        ),
    ),
    Mutation(
        "each time that a query is asked counts",
        ASKED,
        "half the rows",
        (
            Change(
                "logs/smaller_units.py",
                '_label(f"({normalized_query(fold=False)})")',
                '_label("query || row_number() over ()::varchar")',
            ),
        ),
    ),
    Mutation(
        "each time that a keyword is used counts",
        WORDS,
        "half the rows",
        (
            Change(
                "logs/smaller_units.py",
                "({_label(keyword)} as user",
                "({_label(keyword)} || row_number() over ()::varchar as user",
            ),
        ),
    ),
]
