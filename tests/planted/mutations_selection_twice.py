"""Bugs to plant in selection twice and in what users choose for it: the audit or a test must see.

Not planted, since it breaks no promise: a draw of the first noise that is stored and then read in
another order, which moves noise from item to item before anybody has seen it.
"""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

TWICE = "selection twice, add-remove"
_CHOSEN, _TWICE = "counting/chosen.py", "mechanisms/selection_twice.py"
_CHOOSES = "test_selection_twice.py::test_users_choose_as_they_choose_here"

MUTATIONS = [
    Mutation(
        "selection twice: true counts steer",
        TESTS,
        "test_selection_twice.py::test_all_kept_items_get_noise_the_first_time_whoever_chose_them",
        (
            Change(
                _TWICE,
                '(("count", noisy), (PUBLISHED',
                '(("count", np.where(passed, noisy, batch["count"].to_numpy())), (PUBLISHED',
            ),
        ),
    ),
    Mutation(
        "selection twice: two items of each user the second time",
        TWICE,
        "one user with m items, alone",
        (Change(_CHOSEN, "order by {order}, {item}) = 1", "order by {order}, {item}) <= 2"),),
        trials=12_000,
    ),
    Mutation(
        "selection twice: what is published is counted again",
        TESTS,
        _CHOOSES,
        (Change(_CHOSEN, 'f"where drawn.{_PUBLISHED} = 0"', '""'),),
    ),
    Mutation(
        "selection twice: a key of its own, which is not published",
        TESTS,
        _CHOOSES,
        (Change(_CHOSEN, "rank_key(key, [", "rank_key(key ^ 5, ["),),
    ),
    Mutation(
        "selection twice: no noise for what nobody chose first",
        TESTS,
        "test_selection_twice.py::test_an_item_that_nobody_chose_first_is_among_them",
        (Change(_CHOSEN, "from different left join counted", "from different join counted"),),
    ),
    Mutation(
        "selection twice: the delta of one time alone",
        TESTS,
        "test_selection_twice_delta.py::test_no_neighbours_need_more_than_is_claimed",
        (Change(_TWICE, "min(sum(deltas, Fraction(0))", "min(max(deltas)"),),
    ),
    Mutation(
        "selection twice: the whole epsilon each time",
        TESTS,
        "test_selection_twice.py::test_both_times_together_keep_the_goal_and_use_it",
        (
            Change(_TWICE, "epsilon=goal.epsilon * part", "epsilon=goal.epsilon"),
            Change(_TWICE, "sum(epsilons, Fraction(0)) > goal", "max(epsilons) > goal"),
        ),
    ),
]
