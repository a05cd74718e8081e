"""Bugs to plant where tables are made of published ones, and what must notice each.

Some are noticed by the audit. Others need no chance to be seen, or logs that do not fit into packed
ones: for them a test of tests/test_enumeration_sets.py or of tests/test_of_smaller.py must fail.

Two are planted though no promise of privacy breaks, since counts would not be what they are said to
be: `>=` for `>` at the threshold, which may be any function of what was published; and the cut to a
few things of each person left out, since sets are bounded once more when they are counted. Not
planted: that second bound left out for itemsets, while the cut is there; things of two baskets that
make a set; a user's queries bounded before the published ones are taken away.
"""

from __future__ import annotations

from mutations import LEAST, ROWS_COUNTED, Change, Mutation
from mutations_mechanisms import THEOREMS

SETS, GAUSSIAN = "of-smaller, 2 things", "of-smaller-gaussian, 4 things, add-remove"
SMALL_SETS = "small releases of sets"
TESTS = "tests"

_MECHANISM, _SETS, _TAIL = "mechanism/of_smaller.py", "items/sets.py", "items/tail.py"
_KEPT = "published.append(kept(batch, noisy, noisy > above))"
_COUNTED = "for batch in count(bound=self.items_per_user, at_least=1):"
_NOISY = "noisy = counts[some] + noise.sample(len(counts[some]), random_bytes)"
_ABOVE = "above, noise, published = self.threshold(len(known)), self.source(), []"
_AFTER = "kind = kind.after({name: tables[name].arrow for name in kind.builds_on()})"
_COUNT = "count = partial(histogram, kind, source, select=select, key=key, say=say)\n"
_ALL = """\
        if part.name().startswith('things:'):
            import pyarrow as pa

            every[part.name()] = pa.Table.from_batches(count(bound=2, at_least=1))
"""
_EACH = 'Step("each_thing", f"select distinct user, item_1, {_CODE}, {_WORTH} from coded"),'
_CUT = "qualify {best} <= {self.things}"
_MOST = "qualify {place} <= {choice.most}"
_ALL_FACTS = "qualify {place} <= {choice.most if kind.chosen() == kind.counted() else 1000}"
_RARE = """\
f"select all_asked.* from all_asked anti join {table} as known "
                "on all_asked.query = known.query","""
_RARE_BY_LOG = """\
"select * from all_asked where query not in (select query from all_asked group by query "
                "having count(distinct user) >= 7)","""
_BEST = """\
best = f"max({identifier(worth)}) as {identifier(worth)}"
        held = f"select user, {item}, {best} from items group by user, {item}\""""
_BEST_BY_LOG = """\
best = f"count(*) over (partition by {item}) as {identifier(worth)}"
        held = f"select user, {item}, {best} from (select distinct user, {item} from items)\""""

MUTATIONS = [
    Mutation(
        "sets: those that nobody has get no noise",
        SMALL_SETS,
        "sets that nobody has",
        (
            Change(
                _MECHANISM,
                _KEPT,
                _KEPT.replace("noisy > above", "(noisy > above) & (counts[some] > 0)"),
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: the threshold is for counts before noise",
        SMALL_SETS,
        "sets that nobody has",
        (Change(_MECHANISM, _KEPT, _KEPT.replace("noisy > above", "counts[some] > above")),),
        trials=LEAST,
    ),
    Mutation(
        "sets: noise a third low",
        SETS,
        "a popular set for another",
        (
            Change(
                _MECHANISM,
                "DiscreteLaplace(scale=self.scale)",
                "DiscreteLaplace(scale=self.scale * 2 / 3)",
            ),
        ),
        trials=18_000,
    ),
    Mutation(
        "sets: the factor 2 forgotten",
        SETS,
        THEOREMS,
        (
            Change(_MECHANISM, "scale=scale_for(goal, m)", "scale=scale_for(goal, m) / 2"),
            Change(
                _MECHANISM,
                "covered = goal.moved_counts(self.items_per_user) <=",
                "covered = self.items_per_user <=",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: one counts as often as baskets have it",
        SETS,
        "a set in many baskets",
        ROWS_COUNTED,
        trials=4_000,
    ),
    Mutation(
        "sets: Gaussian noise for things instead of the sets that they make",
        GAUSSIAN,
        THEOREMS,
        (
            Change(
                _MECHANISM,
                "gaussian.least_scale(goal, items_per_user)",
                "gaussian.least_scale(goal, 4)",
            ),
            Change(
                _MECHANISM, "moved = goal.moved_counts(self.items_per_user)",
                "moved = goal.moved_counts(4)",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: a third of the Gaussian noise",
        GAUSSIAN,
        "four things",
        (
            Change(
                _MECHANISM,
                "DiscreteGaussian(scale=self.scale)",
                "DiscreteGaussian(scale=self.scale / 3)",
            ),
        ),
        trials=10_000,
    ),
    Mutation(
        "sets: the threshold follows from how many somebody has",
        TESTS,
        "test_of_smaller.py::test_the_threshold_does_not_follow_from_who_holds_what",
        (Change(_MECHANISM, _ABOVE, _ABOVE.replace("len(known)", "int((counts > 0).sum())")),),
    ),
    Mutation(
        "sets: no noise beyond the first piece",
        TESTS,
        "test_of_smaller.py::test_noise_is_drawn_in_pieces",
        (Change(_MECHANISM, _NOISY, f"{_NOISY[:-1]}) * (first == 0)"),),
    ),
    Mutation(
        "sets: >= for >",
        TESTS,
        "test_of_smaller.py::test_only_what_is_above_the_threshold_is_published",
        (Change(_MECHANISM, _KEPT, _KEPT.replace("noisy > above", "noisy >= above")),),
    ),
    Mutation(
        "sets: made of what the log has instead of what was published",
        TESTS,
        "test_enumeration_sets.py::test_everybody_counts_with_her_best_published_things",
        (
            Change(
                "publish.py",
                _AFTER,
                "kind = kind.after({name: every.get(name, tables[name].arrow) "
                "for name in kind.builds_on()})",
            ),
            Change(
                "publish.py",
                _COUNT,
                _COUNT + _ALL,
            ),
            Change(
                "publish.py",
                "    tables: dict[str, Table] = {}\n",
                "    tables: dict[str, Table] = {}\n    every: dict[str, Any] = {}\n",
            ),
        ),
    ),
    Mutation(
        "sets: the log decides between things of the same count",
        TESTS,
        "test_enumeration_sets.py::test_the_same_count_is_an_order_too",
        (
            Change(
                _SETS,
                "order by {_WORTH} desc, {_CODE})\"\n        steps",
                "order by {_WORTH} desc, item_count desc, {_CODE})\"\n        steps",
            ),
            Change(
                _SETS,
                _EACH,
                'Step("each_thing", f"select *, count(*) over (partition by item_1) as item_count '
                'from (select distinct user, item_1, {_CODE}, {_WORTH} from coded)"),',
            ),
        ),
    ),
    Mutation(
        "sets: a person's things are not cut",
        TESTS,
        "test_enumeration_sets.py::test_everybody_counts_with_her_best_published_things",
        (Change(_SETS, _CUT, "qualify {best} <= 1000"),),
    ),
    Mutation(
        "sets: every set of a person counts",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (
            Change(_SETS, _CUT, "qualify {best} <= 1000"),
            Change(_MECHANISM, _COUNTED, _COUNTED.replace("self.items_per_user", "10_000")),
        ),
    ),
    Mutation(
        "sequences: chosen by how many have them",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change("bound.py", _BEST, _BEST_BY_LOG),),
    ),
    Mutation(
        "facts: all queries of a person count",
        TESTS,
        "test_enumeration_sets.py::test_nobody_counts_for_more_than_one_fact",
        (Change("bound.py", _MOST, _ALL_FACTS),),
    ),
    Mutation(
        "tail: the log says which queries are rare",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change(_TAIL, _RARE, _RARE_BY_LOG),),
    ),
]  # fmt: skip
