"""Bugs to plant in pooled rounds and what each user keeps for them: a test must fail."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

MUTATIONS = [
    Mutation(
        "pooled: weights are not scaled to one length",
        TESTS,
        "test_pooled.py::test_it_is_weighed_as_it_is_weighed_here",
        (
            Change(
                "counting/kept_arrays.py",
                "np.add.reduceat(given * given, starts)",
                "np.maximum.reduceat(given * given, starts)",
            ),
        ),
    ),
    Mutation(
        "pooled: weights are not scaled to one length by an engine",
        TESTS,
        "test_pooled.py::test_it_is_weighed_as_it_is_weighed_here",
        (
            Change(
                "counting/kept.py",
                "floor(sqrt(sum(state.strength * state.strength)::double))::bigint + 1",
                "max(state.strength) + 1",
            ),
        ),
    ),
    Mutation(
        "pooled: what a user keeps is drawn anew in each round",
        TESTS,
        "test_pooled.py::test_what_is_published_was_kept_and_each_user_gives_no_more_than_is_proved",
        (
            Change(
                "mechanisms/pooled.py",
                "                new_keys = kept.weigh(WEIGHT,",
                "                kept = count.kept_items(self.kept_items_per_user).__enter__()\n"
                "                new_keys = kept.weigh(WEIGHT,",
            ),
        ),
    ),
    Mutation(
        "pooled: her items share her weight in the claim",
        TESTS,
        "test_pooled_delta.py::test_the_exposure_is_that_of_the_proof",
        (
            Change(
                "privacy/accounting/pooled.py",
                "- multipliers * (WEIGHT + Decimal",
                "- multipliers * (WEIGHT / Decimal(7).sqrt() + Decimal",
            ),
        ),
    ),
    Mutation(
        "pooled: one round has the whole share",
        TESTS,
        "test_pooled_delta.py::test_what_a_plan_spends_is_what_its_rounds_and_counts_move",
        (
            Change(
                "privacy/accounting/pooled.py",
                "scales = [each.scale for each in rounds]",
                "scales = [rounds[0].scale]",
            ),
            Change("privacy/accounting/pooled.py", "sides * number / shape", "sides / shape"),
        ),
    ),
    Mutation(
        "pooled: other noise decides what is a key than what steers",
        TESTS,
        "test_pooled.py::test_noise_is_drawn_once_for_each_kept_item_in_each_round",
        (
            Change(
                "mechanisms/pooled.py",
                "np.where(tested > now.threshold, 0, strength)",
                "np.where(before + now.multiplier * (weight + noise.sample(len(weight), random_bytes)) "
                "> now.threshold, 0, strength)",
            ),
        ),
    ),
    Mutation(
        "pooled: exposure of one item alone",
        TESTS,
        "test_pooled_delta.py::test_the_exposure_is_that_of_the_proof",
        (
            Change(
                "privacy/accounting/pooled.py",
                "min(kept_items_per_user * sum(passing",
                "min(1 * sum(passing",
            ),
        ),
    ),
    Mutation(
        "pooled: a user whose rows are apart gives twice",
        TESTS,
        "test_pooled.py::test_rows_that_are_not_in_order_are_refused",
        (
            Change(
                "counting/kept_arrays.py",
                "if np.any(np.diff(persons, prepend=last) < 0):",
                "if False:",
            ),
        ),
    ),
    Mutation(
        "pooled: charged before the SQL of a large log has run",
        TESTS,
        "test_pooled.py::test_a_rehearsal_without_people_runs_what_a_large_log_will",
        (Change("counting/kept.py", "return 0 < rows < _MOST_PAIRS", "return rows < _MOST_PAIRS"),),
    ),
    Mutation(
        "pooled: a record with the rounds of a retired mechanism cannot be read",
        TESTS,
        "test_retired.py::test_rounds_make_no_retired_mechanism_of_another",
        (
            Change(
                "mechanisms/retired.py",
                "if retired is not None and (part.rounds is not None or part.mechanism not in "
                "MECHANISMS):\n        return retired\n",
                "if part.rounds is not None or part.mechanism not in MECHANISMS:\n"
                "        return RETIRED[part.mechanism]\n",
            ),
        ),
    ),
    Mutation(
        "pooled: true weights steer",
        TESTS,
        "test_pooled.py::test_what_users_give_follows_from_noisy_weights_alone",
        (
            Change(
                "mechanisms/pooled.py",
                "    place = tested * _STEPS // deviation",
                "    place = now.multiplier * weight * _STEPS // deviation",
            ),
        ),
    ),
    Mutation(
        "pooled: in threads the last items get no noise, and the first get it twice",
        TESTS,
        "test_kept_arrays.py::test_each_item_is_drawn_once_and_by_its_own_sum",
        (
            Change(
                "counting/kept_arrays.py",
                "in in_threads(draw_some, parts, self.threads):",
                "in in_threads(draw_some, [*parts[:-1], *parts[:1]] if self.threads > 1 "
                "else parts, self.threads):",
            ),
        ),
    ),
]
