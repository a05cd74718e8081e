"""Bugs to plant in what `verify` checks; a test that forges releases must notice each."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

_MECHANISM = "mechanisms/of_smaller.py"

MUTATIONS = [
    Mutation(
        "verify: any mechanism for any kind",
        TESTS,
        "test_forgeries.py::test_raw_queries_agree_with_all_but_the_plan",
        (
            Change(
                "planning/plan.py",
                "        choose_mechanisms(\n            self",
                "        lambda: choose_mechanisms(\n            self",
            ),
        ),
    ),
    Mutation(
        "verify: parameters are not planned again",
        TESTS,
        "test_forged_plans.py::test_parameters_that_planning_would_not_choose",
        (
            Change(
                "verification/claimed_guarantee.py",
                "        if part != other:",
                "        if not other:",
            ),
        ),
    ),
    Mutation(
        "verify: a review may claim another guarantee",
        TESTS,
        "test_forged_plans.py::test_a_review_that_removed_nothing_gives_no_other_guarantee",
        (
            Change(
                "verification/claimed_guarantee.py",
                "if claim.definition not in allowed:",
                "if not allowed:",
            ),
        ),
    ),
    Mutation(
        "verify: shares are not planned again",
        TESTS,
        "test_forged_plans.py::test_parameters_that_planning_would_not_choose",
        (
            Change(
                "verification/claimed_guarantee.py",
                "if part.goal != other.goal:",
                "if not other.goal:",
            ),
        ),
    ),
    Mutation(
        "verify: the planner can be left out",
        TESTS,
        "test_forged_plans.py::test_a_release_of_ours_names_our_planner",
        (
            Change(
                "verification/claimed_guarantee.py",
                ".version == VERSION and record",
                ".version != VERSION and record",
            ),
        ),
    ),
    Mutation(
        "verify: what can be made of smaller sets is not looked at",
        TESTS,
        "test_forgeries.py::test_a_forgery_that_names_an_earlier_version",
        (
            Change(
                _MECHANISM,
                "(known.places(rows) < 0).any()",
                "(known.places(rows) < -1).any()",
            ),
        ),
    ),
    Mutation(
        "verify: a count at the threshold of sets passes",
        TESTS,
        "test_forgeries.py::test_the_threshold_of_sequences_follows_from_the_candidates",
        (
            Change(
                _MECHANISM,
                'rows["count"].to_numpy() <= self.threshold',
                'rows["count"].to_numpy() < self.threshold',
            ),
        ),
    ),
    Mutation(
        "verify: a count at the threshold of queries passes",
        TESTS,
        "test_forgeries.py::test_the_threshold_of_queries_follows_from_the_keywords",
        (Change("mechanisms/of_keywords.py", "any(count <= above", "any(count < above"),),
    ),
    Mutation(
        "verify: of a known list rows may be missing",
        TESTS,
        "test_forgeries.py::test_a_forgery_that_names_an_earlier_version",
        (
            Change(
                "mechanisms/domain.py",
                "if whole and rows.num_rows < items.num_rows:",
                "if whole and not rows.num_rows:",
            ),
        ),
    ),
    Mutation(
        "verify: rates and associations are not compared",
        TESTS,
        "test_forged_plans.py::test_an_association_of_ours",
        (Change("verification/published_tables.py", "wanted == found if ours", "True if ours"),),
    ),
    Mutation(
        "verify: a child is judged by rows that a review took out",
        TESTS,
        "test_forged_plans.py::test_a_child_is_judged_by_what_is_left",
        (
            Change(
                "verification/published_tables.py",
                "any(map(removed.get, _origin_kinds(part)))",
                "False",
            ),
        ),
    ),
]
