"""Bugs to plant where losses are composed: a test must fail."""

from __future__ import annotations

from mutations import LEAST, TESTS, Change, Mutation

_YEAR = "test_composition.py::test_what_a_year_of_releases_costs"
_STEERED = "test_composition.py::test_where_an_output_steers_the_next_part_exposures_add"
_OWN = "test_composition.py::test_every_mechanism_tells_no_less_than_its_own_delta"
_TOGETHER = "test_together.py::test_the_whole_keeps_its_goal_and_wastes_little"
_COMPOSE, _LOSS = "privacy/composition/compose.py", "privacy/composition/loss.py"

MUTATIONS = [
    Mutation(
        "composition: mu added instead of its square",
        TESTS,
        _YEAR,
        (Change(_COMPOSE, "square += loss.shifts * loss.", "square += loss.shifts**2 * loss."),),
    ),
    Mutation(
        "composition: exposure forgotten",
        TESTS,
        "test_composition.py::test_independent_parts_tell_no_more_than_is_claimed",
        (Change(_COMPOSE, "min((adding + told)", "min(told"),),
    ),
    Mutation(
        "composition: the maximum rule across releases",
        TESTS,
        _STEERED,
        (
            Change(
                _LOSS,
                "    exposure, hidden = Fraction(0), Fraction(0)\n",
                "    return tuple(losses)\n    exposure, hidden = Fraction(0), Fraction(0)\n",
            ),
        ),
    ),
    Mutation(
        "composition: the maximum rule where rounds steer each other",
        TESTS,
        _OWN,
        (
            Change(
                _LOSS,
                "            shifts=1,\n            mu_squared=round_up(mu_squared),",
                "            items=1,\n            shifts=1,\n            mu_squared=round_up(mu_squared),",
            ),
        ),
    ),
    Mutation(
        "composition: the maximum rule for a part that is steered by what was published",
        TESTS,
        "test_together.py::test_click_rates_that_published_queries_steer_add_their_exposure",
        (Change("planning/together.py", "loss.steered() if steered else loss", "loss"),),
    ),
    Mutation(
        "composition: the maximum rule for what follows keys that were found",
        TESTS,
        "test_together.py::test_which_mechanisms_steer_what_follows_them",
        (Change("mechanisms/protocol.py", "return self.tau_prime is None", "return False"),),
    ),
    Mutation(
        "composition: the maximum rule for a kind that is made of published tables",
        TESTS,
        "test_together.py::test_a_kind_that_is_given_published_tables_is_steered",
        (
            Change(
                "items/kind.py", "return bool(self.builds_on()) or type(", "return False and type("
            ),
        ),
    ),
    Mutation(
        "composition: noise on whole numbers taken for normal",
        TESTS,
        "test_composition.py::test_whole_numbers_tell_no_more_than_the_square_says",
        (
            Change(
                "privacy/composition/normal.py",
                "round_up(2 / scale**2 / (1 + root))",
                "round_up(1 / scale**2)",
            ),
        ),
    ),
    Mutation(
        "composition: replace counted as add-remove",
        TESTS,
        _OWN,
        (Change("privacy/guarantee.py", '(2 if neighbors == "replace"', '(1 if neighbors == ""'),),
    ),
    Mutation(
        "composition: a kind left out of the claim",
        TESTS,
        _TOGETHER,
        (
            Change(
                "planning/together.py",
                "delta_at(losses(parts, goal.neighbors)",
                "delta_at(losses(parts[:1], goal.neighbors)",
            ),
        ),
    ),
    Mutation(
        "composition: a kind left out of the plan",
        TESTS,
        _TOGETHER,
        (
            Change(
                "planning/together.py",
                "return delta_at(told, goal.epsilon) <= goal.delta",
                "return delta_at(told[1:], goal.epsilon) <= goal.delta",
            ),
        ),
    ),
    Mutation(
        "composition: a kind left out of the plan, seen by the audit",
        "gaussian, queries and keywords together",
        "follow from the theorems",
        (
            Change(
                "planning/together.py",
                "return delta_at(told, goal.epsilon) <= goal.delta",
                "return delta_at(told[1:], goal.epsilon) <= goal.delta",
            ),
        ),
        LEAST,
    ),
    Mutation(
        "composition: a cap that does not look at what is hidden",
        TESTS,
        "test_composition.py::test_a_cap_looks_at_what_is_hidden_where_nothing_shifts",
        (Change("privacy/composition/caps.py", "not square and not hidden", "not square"),),
    ),
    Mutation(
        "composition: losses rounded down",
        TESTS,
        "test_composition.py::test_responses_at_one_rate_are_told_exactly_and_at_several_nearly",
        (
            Change(
                "privacy/composition/distributions.py",
                "place = math.ceil(",
                "place = math.floor(",
            ),
        ),
    ),
    Mutation(
        "composition: what Gaussian noise tells beside other noise taken at the nearer loss alone",
        TESTS,
        "test_composition.py::test_laplace_beside_gaussian_noise_is_told_nearly_exactly",
        (
            Change(
                "privacy/composition/distributions.py",
                "near * at(start) + far * at(stop)",
                "(near + far) * at(start)",
            ),
        ),
    ),
    Mutation(
        "composition: a rule from outside proves a delta below 0",
        TESTS,
        "test_composition.py::test_a_rule_of_another_package_proves_no_delta_below_0_and_no_float",
        (
            Change(
                "privacy/composition/rules.py",
                "if not isinstance(found, Rational) or found < 0:",
                "if not isinstance(found, Rational):",
            ),
        ),
    ),
    Mutation(
        "composition: a cap that was lowered after releases lowers its promise",
        TESTS,
        "test_promises.py::test_a_lowered_cap_lowers_no_promise",
        (
            Change(
                "ledger/book.py",
                "return self.caps if self.kept is None else self.caps.or_larger(self.kept)",
                "return self.caps",
            ),
        ),
    ),
]
