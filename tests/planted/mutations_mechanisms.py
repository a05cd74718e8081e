"""Bugs to plant in the mechanisms beyond ZEALOUS, and what must notice each.

Not planted, since they break no promise: keys that take weight again in the next round (nobody's
weights get longer); `>=` for `>` in a round (a weight is counted in thousandths, so that one more
moves a chance by less than the rounding of a threshold); a list that is applied after bounding.
"""

from __future__ import annotations

from mutations import COUNT, LEAST, OTHERS, ROWS_COUNTED, TESTS, Change, Mutation, recorded

LAPLACE, GAUSSIAN = "laplace, m = 2", "gaussian, m = 1"
SELECTION, DOMAIN = "selection", "domain, m = 1"
POOLED, THREE_ROUNDS = "pooled, m = 2", "three pooled rounds, add-remove"
LISTED = "one round with a prior, add-remove"
RESULTS, OF_KEYWORDS = "results, m = 1", "of-keywords, m = 1"
SMALL_QUERIES = "small releases of queries"
THEOREMS = "follow from the theorems"

_DISTINCT = 'Step("distinct_items", f"select distinct user, {item} from items")'
_EVERY = "return with_noise_on_each(listed, counted, noise, random_bytes)"
_ONLY_HELD = """\
from zealous.mechanisms.thresholds import select_rows, with_noise

        noisy = [(batch, with_noise(batch, noise, random_bytes)) for batch in counted]
        return [select_rows(batch, each, each == each) for batch, each in noisy]"""
_COUNT_OF_NONE_TOO = (
    'count = f"select {item}, sum(held)::bigint as count from (select {item}, 1 as held from kept '
    'union all select distinct {item}, 0 as held from items) group by {item}"'
)
_HELD = "os.environ['HELD'] = os.environ.get('HELD', '') + f' {sum(map(len, counted))}'"
_LIST, _OF_KEYWORDS = "mechanisms/known_list.py", "mechanisms/of_keywords.py"
_WORDS = "keywords.slice(0, MOST_KEYWORDS)"
_BEST = (
    'f\'select {item}, max("order:amount") as "order:best", min(user) as "order:row" \'\n'
    '            f"from amounts group by {item}"'
)
_BEST_TWICE = 'f\'select {item}, "order:amount" as "order:best", user as "order:row" from amounts\''
_NOT_MERGED = (
    Change("mechanisms/public_files.py", _BEST, _BEST_TWICE),
    Change(_LIST, "if rows.num_rows < listed.num_rows:", "if False:"),
    Change(_LIST, "if (candidates.places(items) != places).any():", "if False:"),
)
_KEYS, _POOLED = "privacy/accounting/keys.py", "privacy/accounting/pooled.py"
_ON_COUNTS = "found = items_per_user * unit**2"
_MOVED = "return moved_counts(1, neighbors) * mu_squared("
_GROUPED = "from held group by {names}"

MUTATIONS = [
    Mutation(
        "items that nobody kept may appear",
        LAPLACE,
        "10 m items",
        (Change("counting/histogram.py", COUNT, _COUNT_OF_NONE_TOO),),
    ),
    Mutation(
        "laplace: half of the moved counts accounted",
        LAPLACE,
        "m popular items for m others",
        (
            Change(
                "privacy/accounting/sparse.py",
                "goal.moved_counts(items_per_user)",
                "items_per_user",
            ),
        ),
        trials=24_000,
    ),
    Mutation(
        "gaussian: half of the moved counts accounted",
        GAUSSIAN,
        "m popular items for m others",
        (
            Change(
                "privacy/accounting/sparse.py",
                "goal.moved_counts(items_per_user)",
                "items_per_user",
            ),
        ),
        trials=30_000,
    ),
    Mutation(
        "gaussian: noise 20 % low",
        GAUSSIAN,
        "m popular items for m others",
        (
            Change(
                "mechanisms/laws.py",
                "DiscreteGaussian(scale=scale)",
                "DiscreteGaussian(scale=scale * 4 / 5)",
            ),
        ),
        trials=54_000,
    ),
    Mutation(
        "gaussian: delta not split over m",
        "gaussian, m = 2, add-remove",
        THEOREMS,
        (
            Change(
                "privacy/accounting/sparse.py",
                "return items * tail if",
                "return tail if 1 else 0 if",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "selection: >= for >",
        SELECTION,
        "one user with m items, alone",
        (Change("mechanisms/selection.py", "noisy > self.tau_prime", "noisy >= self.tau_prime"),),
    ),
    Mutation(
        "selection: the whole epsilon for each of two counts",
        SELECTION,
        "m popular items for m others",
        (
            Change(
                "privacy/accounting/selection.py",
                "= scale_for(goal, 1)",
                "= scale_for(goal, 1) / 2",
            ),
        ),
        trials=6_000,
    ),
    Mutation(
        "selection: noise that may exceed its bound",
        SELECTION,
        "one user with m items, alone",
        (Change("noise/capped.py", "return noise[noise <= self.most]", "return noise"),),
        trials=14_000,
    ),
    Mutation(
        "rows weighed for users",
        POOLED,
        "one item in many rows",
        (Change("counting/bound.py", _DISTINCT, _DISTINCT.replace("distinct ", "")),),
        trials=12_000,
    ),
    Mutation(
        "pooled: factor 2 forgotten",
        POOLED,
        THEOREMS,
        (
            Change(_POOLED, _MOVED, _MOVED.replace("moved_counts(1, neighbors)", "1")),
            Change(_POOLED, "sides, number = goal.moved_counts(1),", "sides, number = 1,"),
        ),
        trials=LEAST,
    ),
    Mutation(
        "noise on counts ignores m",
        POOLED,
        THEOREMS,
        (
            Change(_POOLED, "math.sqrt(sides * m / ", "math.sqrt(sides / "),
            Change(_KEYS, _ON_COUNTS, _ON_COUNTS.replace("items_per_user * ", "")),
        ),
        trials=LEAST,
    ),
    Mutation(
        "delta not split over rounds",
        POOLED,
        THEOREMS,
        (
            Change(_POOLED, "left * each / (sum(grown) * kept)", "left / kept"),
            Change(
                _POOLED, "if pooled_delta(found, scale, kept, m, goal) > goal.delta:", "if False:"
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "every key of a user counts",
        THREE_ROUNDS,
        "six popular items",
        (
            Change(
                "mechanisms/key_counts.py",
                "bound=self.items_per_user, at_least=1, only=[InTable(keys",
                "bound=1000, at_least=1, only=[InTable(keys",
            ),
        ),
        trials=20_000,
    ),
    Mutation(
        "an item counts as often as the prior lists it",
        LISTED,
        "each item once",
        (
            *_NOT_MERGED,
            Change(
                "counting/kept.py",
                'f"select {names}, max({_LISTED}) as {_LISTED} from held group by {names}"',
                '"select * from held"',
            ),
        ),
        trials=4_000,
    ),
    Mutation(
        "no noise on listed items that nobody has",
        LISTED,
        "as many listed items as she may give",
        (Change("counting/kept.py", _GROUPED, _GROUPED + " having min({_LISTED}) = 0"),),
        trials=64_000,
    ),
    Mutation(
        "every item passes as if it were listed",
        LISTED,
        "one user with m items, alone",
        (Change("mechanisms/pooled.py", "evidence + ahead * listed", "evidence + ahead"),),
        trials=40_000,
    ),
    Mutation(
        "zeros of the list dropped",
        DOMAIN,
        "empty log against one user",
        (Change("mechanisms/domain.py", _EVERY, _ONLY_HELD),),
    ),
    Mutation(
        "rows counted for users of the list",
        DOMAIN,
        "half the rows",
        ROWS_COUNTED,
        trials=10_000,
    ),
    Mutation(
        "every listed item of a user counts",
        DOMAIN,
        "four listed items",
        (
            Change(
                "mechanisms/domain.py",
                "count(bound=self.items_per_user,",
                "count(bound=10 * self.items_per_user,",
            ),
        ),
        trials=30_000,
    ),
    Mutation(
        "how much of the list somebody has in the bundle",
        OTHERS,
        "nothing published differs",
        (
            Change(
                "mechanisms/domain.py",
                _EVERY,
                f"counted = list(counted)\n        {_HELD}\n        {_EVERY}",
            ),
            *recorded("__import__('os').environ['HELD']"),
        ),
    ),
    Mutation(
        "two spellings on a public list are two items",
        DOMAIN,
        "each item once",
        _NOT_MERGED,
        trials=LEAST,
    ),
    Mutation(
        "two spellings of a document are two documents",
        RESULTS,
        "each item once",
        _NOT_MERGED,
        trials=LEAST,
    ),
    Mutation(
        "results: documents that nobody clicked are left out",
        RESULTS,
        "empty log against one user",
        (Change("mechanisms/domain.py", _EVERY, _ONLY_HELD),),
    ),
    Mutation(
        "results: every document of a user counts",
        RESULTS,
        "four listed items",
        (
            Change(
                "mechanisms/domain.py",
                "count(bound=self.items_per_user,",
                "count(bound=10 * self.items_per_user,",
            ),
        ),
        trials=30_000,
    ),
    Mutation(
        "of-keywords: those that nobody asked get no noise",
        SMALL_QUERIES,
        "queries that nobody asked",
        (Change(_LIST, "lucky = np.setdiff1d(lucky, held)", "lucky = lucky[:0]"),),
        trials=LEAST,
    ),
    Mutation(
        "of-keywords: keywords stand twice in the list",
        SMALL_QUERIES,
        "queries that nobody asked",
        (
            Change(_OF_KEYWORDS, _WORDS, f"__import__('pyarrow').concat_tables([{_WORDS}] * 2)"),
            Change(
                _OF_KEYWORDS,
                "above = self.threshold(len(queries.words))",
                "above = self.threshold(len(queries.words) // 2)",
            ),
            Change(_OF_KEYWORDS, "or len(words.unique()) < len(words):", "or False:"),
            Change(_LIST, "if (candidates.places(items) != places).any():", "if False:"),
        ),
        trials=LEAST,
    ),
    Mutation(
        "of-keywords: half of the noise",
        OF_KEYWORDS,
        "m popular items for m others",
        (
            Change(
                _OF_KEYWORDS,
                "DiscreteLaplace(scale=self.scale)",
                "DiscreteLaplace(scale=self.scale / 2)",
            ),
        ),
        trials=12_000,
    ),
    Mutation(
        "of-keywords: every query of a user counts",
        OF_KEYWORDS,
        "four listed items",
        (
            Change(
                _OF_KEYWORDS,
                "count(bound=self.items_per_user,",
                "count(bound=10 * self.items_per_user,",
            ),
        ),
        trials=24_000,
    ),
    Mutation(
        "of-keywords: what is no candidate takes the place of one",
        OF_KEYWORDS,
        "not made of keywords alone",
        (Change(_OF_KEYWORDS, ", only=[MadeOf(self.keywords)])", ")"),),
        trials=12_000,
    ),
    Mutation(
        "look: pooled rounds that it chose count with a fifth of their noise",
        "after a look, pooled",
        "m popular items more, together",
        (
            Change(
                "mechanisms/after_look.py",
                "return self.chosen.release(count, random_bytes)",
                "less = replace(self.chosen, scale=self.chosen.scale / 5)\n"
                "        return less.release(count, random_bytes)",
            ),
        ),
        trials=6_000,
    ),
    Mutation(
        "look: its noise is forgotten",
        TESTS,
        "test_after_look.py::test_the_choice_follows_from_the_published_table_and_not_from_the_true_one",
        (
            Change(
                "mechanisms/domain.py",
                "        noise = self.noise_sampler()\n",
                "        noise = type(self.noise_sampler())(scale=self.scale / 10**6)\n",
            ),
        ),
    ),
    Mutation(
        "look: a person is in every range up to hers",
        TESTS,
        "test_after_look.py::test_a_history_moves_one_count_by_one_and_another_history_two",
        (
            Change(
                "items/items_per_user.py",
                'Step("items", f"select user, {found}{time} from numbers")',
                'Step("items", f"select user, {found}{time} from numbers "\n'
                "            \"union all select user, '1' as items from numbers\")",
            ),
            Change(
                "counting/histogram.py",
                "ContributionBound(most=bound, select=select, key=key)\n    item =",
                "ContributionBound(most=bound + isinstance(getattr(kind, 'of', None), Kind), "
                "select=select, key=key)\n    item =",
            ),
        ),
    ),
    Mutation(
        "look: the choice is made from true counts",
        TESTS,
        "test_after_look.py::test_the_choice_follows_from_the_published_table_and_not_from_the_true_one",
        (
            Change(
                "release/drawing.py",
                "planned_part.with_inputs(released, item_list)",
                "planned_part.with_inputs(released | true, item_list)",
            ),
            Change(
                "release/drawing.py",
                "            tables[part.name()] = _publish_part(",
                "            if part.mechanism.name == 'listed':\n"
                "                exact = replace(part.mechanism, scale=part.mechanism.scale / 10**6)\n"
                "                drawn = _publish_part(kind, exact, count, random_bytes)\n"
                "                true[part.name()] = drawn.arrow\n"
                "            tables[part.name()] = _publish_part(",
            ),
            Change(
                "release/drawing.py",
                "    settled: dict[str, Part] = {}\n",
                "    settled: dict[str, Part] = {}\n    true: dict[str, pa.Table] = {}\n",
            ),
        ),
    ),
]
