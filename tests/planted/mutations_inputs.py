"""Bugs to plant in what is accepted before a run is charged, or read as something else."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

MUTATIONS = [
    Mutation(
        "names: an item's column may be called as the number of an item",
        TESTS,
        "test_reserved_names.py::test_one_persons_item_is_not_counted_with_those_of_others",
        (Change("items/kind.py", '    "kept:",\n', ""),),
    ),
    Mutation(
        "names: a column may begin with a dot",
        TESTS,
        "test_spent.py::test_names_that_arrow_takes_for_paths_are_no_items",
        (Change("items/kind.py", 'if any(name.startswith(".") or ', "if any("),),
    ),
    Mutation(
        "names: an output may be called what is not UTF-8",
        TESTS,
        "test_spent.py::test_an_output_that_is_not_utf8_costs_nothing",
        (Change("files/local.py", "            str(self).encode()\n", "            pass\n"),),
    ),
    Mutation(
        "lines: UTF-16 and UTF-32 are read",
        TESTS,
        "test_lines.py::test_encodings_that_one_odd_byte_would_shift_are_refused",
        (
            Change("files/lines.py", 'if name.startswith(("utf-16", "utf-32")):', "if False:"),
            Change(
                "files/lines.py",
                '_BREAKS.encode(name) == _BREAKS.encode("ascii")',
                'name.startswith("utf")',
            ),
        ),
    ),
    Mutation(
        "ids: one on the list that is not UTF-8 leaves its user in",
        TESTS,
        "test_log_columns.py::test_a_list_of_ids_that_is_not_utf8_leaves_nobody_in",
        (Change("logs/open_log.py", "    if skipped.total():\n", "    if False:\n"),),
    ),
    Mutation(
        "sets: a plus sign means what a stroke means",
        TESTS,
        "test_bands.py::test_each_way_to_name_columns_has_one_meaning",
        (
            Change(
                "items/sets.py",
                "tuple(text.split(_OR))",
                "tuple(text.replace(_AND, _OR).split(_OR))",
            ),
        ),
    ),
    Mutation(
        "thresholds: what absence tells is asked of an indistinguishable plan too",
        TESTS,
        "test_calibrate.py::test_a_large_delta_decides_alone",
        (
            Change(
                "privacy/calibrate.py",
                "if isinstance(goal, ProbabilisticDP) and not covers_absence(scale, t):",
                "if not covers_absence(scale, t):",
            ),
        ),
    ),
    Mutation(
        "attacks: a method that does not say what it shows gets another's",
        TESTS,
        "test_active.py::test_a_method_that_does_not_say_what_it_shows_gets_no_wrong_attack",
        (
            Change(
                "study/attacks/attack_plans.py",
                """        case None:
            raise UsageError(
                f"no attack on {method.name} is known: a method says by `shows` how it is attacked"
            )
""",
                """        case None:
            return _read_words()
""",
            ),
        ),
    ),
]
