"""Bugs to plant in the workbench: a test must fail."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

MUTATIONS = [
    Mutation(
        "workbench: a review keeps a row that was to go",
        TESTS,
        "test_review_and_sign.py::test_a_row_that_is_to_go_does_not_stay_for_another_spelling",
        (
            Change(
                "web/screens/review.py",
                '        _check_gone(made, _removed_items(dict.fromkeys(caught, ""), marks))\n',
                "",
            ),
        ),
    ),
    Mutation(
        "workbench: a json.py beside the data runs when somebody publishes",
        TESTS,
        "test_strange_files.py::test_what_the_workbench_starts",
        (Change("web/jobs.py", '[sys.executable, "-P", "-c"', '[sys.executable, "-c"'),),
    ),
    Mutation(
        "workbench: a form is taken without its token",
        TESTS,
        "test_security.py::test_no_form_is_taken_without_its_token_or_from_elsewhere",
        (
            Change(
                "web/security.py",
                'if not hmac.compare_digest(given.encode(), scope["state"][CSRF].encode()):',
                "if False:",
            ),
        ),
    ),
    Mutation(
        "workbench: a HEAD uses the token up",
        TESTS,
        "test_security.py::test_a_token_is_taken_at_the_first_page_alone",
        (Change("web/security.py", 'scope["path"] == "/" and scope["method"] == "GET"', "True"),),
    ),
    Mutation(
        "workbench: names of columns are markup",
        TESTS,
        "test_log_reading.py::test_what_a_table_or_a_form_says_is_text",
        (Change("web/bench.py", "autoescape=True", "autoescape=False"),),
    ),
    Mutation(
        "workbench: true figures are shown to whoever starts it",
        TESTS,
        "test_serve.py::test_the_study_of_a_log_is_shown_and_begun_only_where_asked_for",
        (Change("web/app.py", "(*_ALL, study) if bench.internal else _ALL", "(*_ALL, study)"),),
    ),
    Mutation(
        "workbench: the report of a study runs scripts",
        TESTS,
        "test_serve.py::test_the_study_of_a_log_is_shown_and_begun_only_where_asked_for",
        (
            Change(
                "web/screens/study.py",
                'headers={"content-security-policy": DOCUMENT_POLICY},',
                "headers={},",
            ),
        ),
    ),
    Mutation(
        "workbench: a list of a review that could not be written leaves another behind",
        TESTS,
        "test_review_and_sign.py::test_a_list_that_cannot_be_written_leaves_no_other_behind",
        (Change("web/screens/review.py", "            path.unlink()\n", "            pass\n"),),
    ),
    Mutation(
        "workbench: what a series has drawn and not published is shown",
        TESTS,
        "test_folders.py::test_what_a_series_has_drawn_and_not_published_is_not_seen",
        (
            Change(
                "web/folders.py",
                "return any(part.endswith(ENDING) for part in path.parts)",
                "return False",
            ),
        ),
    ),
    Mutation(
        "workbench: other users of the machine are let in",
        TESTS,
        "test_security.py::test_another_user_of_the_machine_is_refused",
        (Change("web/security.py", "if is_another_user(scope):", "if False:"),),
    ),
    Mutation(
        "workbench: parameters are said to come from public facts where nobody says so",
        TESTS,
        "test_plan_screen.py::test_where_the_numbers_come_from_is_said_by_somebody_or_unstated",
        (
            Change(
                "web/choice.py",
                'asked.get("parameters_from", UNSTATED)',
                'asked.get("parameters_from", "public-facts")',
            ),
        ),
    ),
]
