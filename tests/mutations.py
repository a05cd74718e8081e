"""Bugs to plant: each is a few replacements in a copy of the source, and what must notice it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import zealous

SOURCE = Path(zealous.__file__).parent
QUICK = 3_000
LEAST = 100  # where chance plays no part in noticing


class Change(NamedTuple):
    """A text of one file, which must occur exactly once, and what takes its place."""

    file: str
    old: str
    new: str


class Mutation(NamedTuple):
    """A planted bug."""

    name: str
    noticed_by: str  # part of the name of a pair or check
    changes: tuple[Change, ...]
    trials: int = QUICK


def planted(mutation: Mutation, directory: Path) -> Path:
    """A copy of the package with the bug in it; what to put on the path."""
    copy = directory / "zealous"
    shutil.copytree(SOURCE, copy)  # with what is compiled: it stays valid where nothing changes
    for file, old, new in mutation.changes:
        text = (copy / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{mutation.name}: the text to replace in {file} is not there"
        (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    return directory


_COUNT = 'count = f"select {item}, count(*) as count from kept group by {item}"'
_NORMAL = r"lower(trim(regexp_replace({item}, '[\\p{{Z}}\\p{{Cc}}]+', ' ', 'g')))"
_COUNT_NORMAL = (
    'count = f"select {item}, count(*) as count from (select * replace ('
    + _NORMAL
    + ' as {item}) from kept) group by {item}"'
)
_STEPS = "steps = [*kind.steps(source), *keep("
_WITHOUT_RARE = """every = kind.steps(source)
    frequent = f"select {item} from found group by {item} having count(distinct user) >= {at_least}"
    steps = [*every[:-1], Step("found", every[-1].sql),
             Step("items", f"select * from found where {item} in ({frequent})"), *keep("""

MUTATIONS = [
    Mutation(
        ">= for >",
        "every item at exactly tau",
        (Change("mechanism.py", "noisy > self.tau_prime", "noisy >= self.tau_prime"),),
    ),
    Mutation(
        "noise 10 % low",
        "m popular items for m others",
        (
            Change(
                "mechanism.py",
                "DiscreteLaplace(scale=self.scale)",
                "DiscreteLaplace(scale=self.scale * 9 / 10)",
            ),
        ),
        trials=32_000,
    ),
    Mutation(
        "factor 2 forgotten",
        "m popular items for m others",
        (
            Change(
                "guarantee.py",
                'items_per_user * (2 if self.neighbors == "replace" else 1)',
                "items_per_user",
            ),
        ),
    ),
    Mutation(
        "delta not split over m",
        "one user with m items, alone",
        (Change("calibrate.py", "    return items_per_user\n", "    return 1\n"),),
    ),
    Mutation(
        "delta not split over the items at tau",
        "every item at exactly tau",
        (Change("calibrate.py", "return goal.users * items_per_user // tau", "return 1"),),
    ),
    Mutation(
        "sensitivity ignores m",
        "m popular items",
        (Change("calibrate.py", "_sampled(goal.moved_counts(m)", "_sampled(goal.moved_counts(1)"),),
    ),
    Mutation(
        "rows counted for users",
        "half the rows",
        (Change("histogram.py", _COUNT, _COUNT.replace("kept", "items natural join kept")),),
    ),
    Mutation(
        "no bounding",
        "10 m items",
        (Change("bound.py", "order by {order}) <= {most}", "order by {order}) <= 10 * {most}"),),
    ),
    Mutation(
        "bounding before normalising",
        "spellings",
        (
            Change("items.py", '{"query": asked(self.fold)}, has', '{"query": "query"}, has'),
            Change("histogram.py", _COUNT, _COUNT_NORMAL),
        ),
        trials=6_000,
    ),
    Mutation(
        "missing ids pooled",
        "users are counted",
        (Change("source.py", "where = [_present(user, kind)]", 'where = ["true"]'),),
        trials=LEAST,
    ),
    Mutation(
        "tau' truncated instead of rounded up",
        "follow from the theorems",
        (
            Change("calibrate.py", "t = max(0, math.ceil(real))", "t = max(0, math.floor(real))"),
            Change("calibrate.py", "delta <= goal.delta and covers_absence(scale, t):", "True:"),
        ),
    ),
    Mutation(
        "first threshold ignored",
        "items below tau",
        (Change("mechanism.py", "at_least=self.tau)", "at_least=1)"),),
    ),
    Mutation(
        "seed left fixed",
        "different noise",
        (Change("publish.py", "if seed is None:\n        return os.urandom\n", "seed = 7\n"),),
        trials=LEAST,
    ),
    Mutation(
        "selection key left fixed",
        "different selection keys",
        (Change("publish.py", "secrets.randbits(64)", "7"),),
        trials=LEAST,
    ),
    Mutation(
        "U counted from the log",
        "declared users",
        (
            Change(
                "publish.py",
                "        _check_users(source, goal, say)\n",
                "        _check_users(source, goal, say)\n"
                "        object.__setattr__(goal, 'users', max(1, count_users(source)))\n"
                "        planned = plan(goal, kinds, split=split, accept_delta=accept_delta)\n",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "budget not split over the kinds",
        "declared users",
        (
            Change(
                "guarantee.py",
                "epsilon=self.epsilon * part, delta=self.delta * part",
                "epsilon=self.epsilon * part, delta=self.delta",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "selection key hidden under pDP",
        "key reproduces",
        (Change("publish.py", '"selection_key": f"{key:016x}",', '"selection_key": None,'),),
        trials=LEAST,
    ),
    Mutation(
        "another key published than was used",
        "key reproduces",
        (Change("publish.py", 'f"{key:016x}"', 'f"{secrets.randbits(64):016x}"'),),
        trials=LEAST,
    ),
    Mutation(
        "rare items dropped before bounding",
        "rare items beside frequent ones",
        (Change("histogram.py", _STEPS, _WITHOUT_RARE),),
        trials=8_000,
    ),
    Mutation(
        "one line's quote swallows others' lines",
        "bad lines move nobody else",
        (
            Change("lines.py", "odd |= self._holding(data, ends, '\"') if", "odd |= False if"),
            Change(
                "lines.py",
                "delimiter=self.layout.delimiter, quote_char=False, escape_char=False",
                "delimiter=self.layout.delimiter, quote_char='\"', newlines_in_values=True, "
                "invalid_row_handler=lambda _: 'skip'",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "output in input order",
        "sorted",
        (Change("release.py", "table.sort_by(keys).combine_chunks()", "table.combine_chunks()"),),
        trials=LEAST,
    ),
    Mutation(
        "reject count in the bundle",
        "nothing published differs",
        (
            Change(
                "publish.py",
                '"files": _files(tables),',
                '"files": _files(tables), "skipped": source.skipped.total(),',
            ),
        ),
        trials=LEAST,
    ),
]  # fmt: skip
