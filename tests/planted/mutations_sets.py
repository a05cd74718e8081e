"""Bugs to plant where tables are made of published ones, and what must notice each.

Some are noticed by the audit. Others need no chance to be seen, or logs that do not fit into packed
ones: for them a test of tests/mechanisms/test_enumeration_*.py or of tests/mechanisms/test_of_smaller.py must fail.

Two are planted though no promise of privacy breaks, since counts would not be what they are said to
be: `>=` for `>` at the threshold, which may be any function of what was published; and the cut to a
few things of each person left out, since sets are bounded once more when they are counted. Not
planted: that second bound left out for itemsets, while the cut is there; things of two baskets that
make a set; a user's queries bounded before the published ones are taken away.
"""

from __future__ import annotations

from mutations import LEAST, ROWS_COUNTED, TESTS, Change, Mutation
from mutations_mechanisms import THEOREMS

SETS = "of-smaller, 2 things"
GAUSSIAN = "of-smaller-gaussian, 4 things, add-remove"
SMALL_SETS = "small releases of sets"
_MECHANISM = "mechanisms/of_smaller.py"
_SETS = "items/sets.py"
_TAIL = "items/rare_queries.py"
_PURE = "mechanisms/over_known_list.py"
_LIST = "mechanisms/known_list.py"
_OF_KEYWORDS = "mechanisms/of_keywords.py"
_KEPT = "np.flatnonzero(noisy > above)\n        published"
_COUNTED = "counted = count(bound=self.items_per_user, at_least=1)\n"
_NOISY = "noisy = some + noise.sample(len(some), random_bytes)"
_ABOVE = "above = self.threshold(len(known))"
_AFTER = "kind = planned_part.kind.with_inputs(released)"
_COUNT = "            tables[part.name()] = _publish_part("
_ALL = """\
            if part.name().startswith('things:'):
                every[part.name()] = pa.Table.from_batches(count(bound=2, at_least=1))
"""
_EACH = 'Step("each_thing", f"select distinct user, item_1, {_CODE}, {_WORTH} from coded"),'
_CUT = "qualify {best} <= {self.things}"
_MOST = "qualify {position} <= {choice.most}"
_ALL_FACTS = (
    "qualify {position} <= {choice.most if kind.kept_columns() == kind.counted_columns() else 1000}"
)
_RARE = """\
f"select all_asked.* from all_asked anti join {table} as known "
                "on all_asked.query = known.query","""
_RARE_BY_LOG = """\
"select * from all_asked where query not in (select query from all_asked group by query "
                "having count(distinct user) >= 7)","""
_BEST = """\
largest = f"max({priority}) as {priority}"
        distinct = f"select user, {item}, {largest} from items group by user, {item}\""""
_BEST_BY_LOG = """\
largest = f"count(*) over (partition by {item}) as {priority}"
        distinct = f"select user, {item}, {largest} from (select distinct user, {item} from items)\""""

MUTATIONS = [
    Mutation(
        "bands: what is no number is in the last of them",
        TESTS,
        "test_bands.py::test_what_is_no_number_is_in_no_band",
        (Change("items/bands.py", "when {value} is null then null ", ""),),
    ),
    Mutation(
        "sets: a bar in a name is taken for the one between two columns",
        TESTS,
        "test_bands.py::test_different_values_never_make_the_same_thing",
        (Change("items/sets.py", "'[|]', '||', 'g'", "'[|]', '|', 'g'"),),
    ),
    Mutation(
        "sets: those that nobody has get no noise",
        SMALL_SETS,
        "sets that nobody has",
        (
            Change(
                _LIST,
                _KEPT,
                _KEPT.replace("noisy > above", "(noisy > above) & (some > 0)"),
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: the threshold is for counts before noise",
        SMALL_SETS,
        "sets that nobody has",
        (Change(_LIST, _KEPT, _KEPT.replace("noisy > above", "some > above")),),
        trials=LEAST,
    ),
    Mutation(
        "sets: noise a third low",
        SETS,
        "a popular set for another",
        (
            Change(
                "mechanisms/laws.py",
                "DiscreteLaplace(scale=scale)",
                "DiscreteLaplace(scale=scale * 2 / 3)",
            ),
        ),
        trials=18_000,
    ),
    Mutation(
        "sets: the factor 2 forgotten",
        SETS,
        THEOREMS,
        (
            Change(_PURE, "scale=scale_for(goal, m)", "scale=scale_for(goal, m) / 2"),
            Change(
                _PURE,
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
                _MECHANISM,
                "moved = goal.moved_counts(self.items_per_user)",
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
                "mechanisms/laws.py",
                "DiscreteGaussian(scale=scale)",
                "DiscreteGaussian(scale=scale / 3)",
            ),
        ),
        trials=10_000,
    ),
    Mutation(
        "sets: the threshold follows from how many somebody has",
        TESTS,
        "test_of_smaller.py::test_the_threshold_does_not_follow_from_who_holds_what",
        (
            Change(
                _MECHANISM,
                _ABOVE,
                "counted = list(counted)\n        "
                + _ABOVE.replace("len(known)", "sum(len(each) for each in counted)"),
            ),
        ),
    ),
    Mutation(
        "sets: no noise beyond the first piece",
        TESTS,
        "test_of_smaller.py::test_noise_is_drawn_in_pieces",
        (Change(_LIST, _NOISY, f"{_NOISY} * (first == 0)"),),
    ),
    Mutation(
        "sets: >= for >",
        TESTS,
        "test_of_smaller.py::test_only_what_is_above_the_threshold_is_published",
        (Change(_LIST, _KEPT, _KEPT.replace("noisy > above", "noisy >= above")),),
    ),
    Mutation(
        "sets: made of what the log has instead of what was published",
        TESTS,
        "test_enumeration_sets.py::test_everybody_counts_with_her_best_published_things",
        (
            Change(
                "release/drawing.py",
                _AFTER,
                "kind = planned_part.kind.with_inputs({**released, **every})",
            ),
            Change(
                "release/drawing.py",
                _COUNT,
                _ALL + _COUNT,
            ),
            Change(
                "release/drawing.py",
                "    tables: dict[str, Table] = {}\n",
                "    tables: dict[str, Table] = {}\n    every: dict[str, pa.Table] = {}\n",
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
                'order by {_WORTH} desc, {_CODE})"\n        steps',
                'order by {_WORTH} desc, item_count desc, {_CODE})"\n        steps',
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
        "test_enumeration_all_counted.py::test_one_person_moves_as_many_counts_as_she_may",
        (
            Change(_SETS, _CUT, "qualify {best} <= 1000"),
            Change(_MECHANISM, _COUNTED, _COUNTED.replace("self.items_per_user", "10_000")),
        ),
    ),
    Mutation(
        "sequences: chosen by how many have them",
        TESTS,
        "test_enumeration_all_counted.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change("counting/bound.py", _BEST, _BEST_BY_LOG),),
    ),
    Mutation(
        "facts: all queries of a person count",
        TESTS,
        "test_enumeration_all_counted.py::test_nobody_counts_for_more_than_one_fact",
        (Change("counting/bound.py", _MOST, _ALL_FACTS),),
    ),
    Mutation(
        "tail: the log says which queries are rare",
        TESTS,
        "test_enumeration_all_counted.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change(_TAIL, _RARE, _RARE_BY_LOG),),
    ),
    Mutation(
        "of-keywords: keywords from lists accepted",
        TESTS,
        "test_of_keywords.py::test_keywords_from_lists_are_refused_and_nothing_is_charged",
        (
            Change(
                "planning/part.py",
                "        self.mechanism.check_roles(roles)\n",
                "",
            ),
        ),
    ),
    Mutation(
        "of-keywords: keywords by an attribute accepted",
        TESTS,
        "test_of_keywords.py::test_keywords_that_could_be_listed_twice_cannot_be_planned",
        (Change(_OF_KEYWORDS, " and keywords.by is None", ""),),
    ),
    Mutation(
        "of-keywords: keywords with a space accepted",
        TESTS,
        "test_of_keywords.py::test_the_mechanism_refuses_what_was_not_planned_here",
        (Change(_OF_KEYWORDS, "or pc.any(blank).as_py() or", "or"),),
    ),
    Mutation(
        "of-keywords: a keyword twice accepted",
        TESTS,
        "test_of_keywords.py::test_the_mechanism_refuses_what_was_not_planned_here",
        (Change(_OF_KEYWORDS, "or len(words.unique()) < len(words):", "or False:"),),
    ),
    Mutation(
        "of-keywords: one that somebody asked may pass by two noises",
        TESTS,
        "test_known_list.py::test_both_ways_to_draw_are_the_same",
        (Change(_LIST, "lucky = np.setdiff1d(lucky, held)", "lucky = np.unique(lucky)"),),
    ),
    Mutation(
        "lists: nobody looks whether items are different",
        TESTS,
        "test_known_list.py::test_no_noise_is_drawn_for_a_list_with_an_item_twice",
        (Change(_LIST, "if (candidates.places(items) != places).any():", "if False:"),),
    ),
    Mutation(
        "lists: numbers for texts",
        TESTS,
        "test_known_list.py::test_items_are_texts",
        (
            Change(
                _LIST,
                "table.select(names).cast(pa.schema([(name, pa.string()) for name in names]))",
                "table.select(names)",
            ),
        ),
    ),
    Mutation(
        "sets: what was published twice is taken for two",
        TESTS,
        "test_grown.py::test_what_was_published_twice_is_refused",
        (Change("items/candidate_sets.py", "if (np.diff(level.keys) <= 0).any():", "if False:"),),
    ),
    Mutation(
        "bands: a limit is in the band below it",
        TESTS,
        "test_bands.py::test_each_number_has_the_band_that_it_is_in",
        (Change("items/bands.py", "{value} < {literal", "{value} <= {literal"),),
    ),
    Mutation(
        "bands: a number that is published is taken for a band",
        TESTS,
        "test_bands.py::test_a_published_band_is_one_of_the_bands",
        (
            Change(
                "items/bands.py",
                "if not pc.all(pc.is_in(",
                "if not pc.any(pc.is_in(published, "
                "value_set=published)).as_py() and not pc.all(pc.is_in(",
            ),
        ),
    ),
]
