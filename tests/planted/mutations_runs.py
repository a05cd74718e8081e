"""Bugs to plant in how logs are read, runs charged and intervals computed, each for a test to notice.

They take one person for two, let others decide whose entries are cut, lose what was paid for, leave
a log behind, or run a file that lies beside it.
"""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

_INTERVALS = "privacy/accounting/intervals.py"
_CERTAIN = "if count >= self.certain_from:"

MUTATIONS = [
    Mutation(
        "units: the name of a session does not tell where the user's id ends",
        TESTS,
        "test_unit.py::test_names_of_units_are_one_to_one",
        (Change("logs/smaller_units.py", "length(user::varchar)::varchar || ':' || user", "user"),),
    ),
    Mutation(
        "units: nothing between the user's id and the time",
        TESTS,
        "test_unit.py::test_names_of_units_are_one_to_one",
        (
            Change(
                "logs/smaller_units.py",
                "user::varchar || ' ' || epoch_us",
                "user::varchar || epoch_us",
            ),
        ),
    ),
    Mutation(
        "ids: a number with .0 is somebody else",
        TESTS,
        "test_log_columns.py::test_a_whole_number_is_one_id_with_and_without_a_point",
        (Change("logs/values.py", "return _id_of_text(name)", 'return f"trim({name})"'),),
    ),
    Mutation(
        "ids: a number with .0 is not left out",
        TESTS,
        "test_log_columns.py::test_a_person_is_one_in_files_that_write_her_number_differently",
        (
            Change(
                "logs/values.py",
                "return user_id(user, kind)",
                'return f"trim({user}::varchar)"',
            ),
        ),
    ),
    Mutation(
        "modules of the working directory in the second process of a study",
        TESTS,
        "test_strange_files.py::test_the_second_process_of_a_study",
        (
            Change(
                "study/grid/second_process.py",
                'os.environ["PYTHONSAFEPATH"] = "1"',
                'os.environ["PYTHONSAFEPATH"] = ""',
            ),
        ),
    ),
    Mutation(
        "modules of the log's folder in the runs of an audit",
        TESTS,
        "test_strange_files.py::test_the_runs_of_an_audit",
        (Change("audit/runs.py", '"-P", "command.py"', '"command.py"'),),
    ),
    Mutation(
        "a plan is executed that promises more than it keeps",
        TESTS,
        "test_plan_file.py::test_a_plan_that_promises_more_than_it_keeps_is_refused",
        (Change("release/request.py", "    plan.check_claim()", "    pass"),),
    ),
    Mutation(
        "another plan passes for the approved one",
        TESTS,
        "test_plan_file.py::test_no_other_plan_passes_for_the_approved_one",
        (Change("release/request.py", "    check_approved(plan)\n", ""),),
    ),
    Mutation(
        "a public file is hashed, and read another time",
        TESTS,
        "test_plan_file.py::test_a_public_file_that_changes_while_it_is_read",
        (
            Change(
                "items/lists.py",
                "yield ListFile(name, place_of(copy), digest)",
                "yield ListFile(name, file, digest)",
            ),
        ),
    ),
    Mutation(
        "charged before it is seen whether it can be written",
        TESTS,
        "test_spent.py::test_what_cannot_be_written_fails_before_the_charge",
        (
            Change(
                "release/publish.py",
                "rehearse_writing(request, record, payment.preview())",
                "pass",
            ),
        ),
    ),
    Mutation(
        "charged before a run on a log of nobody",
        TESTS,
        "test_spent.py::test_a_mistake_in_a_mechanism_costs_nothing",
        (
            Change(
                "release/publish.py",
                "rehearse_counting(request, source, public, payment.preview())",
                "pass",
            ),
        ),
    ),
    Mutation(
        "spent, and said for one kind of error alone",
        TESTS,
        "test_spent.py::test_whatever_fails_after_the_charge_says_that_it_is_spent",
        (
            Change(
                "release/progress.py",
                "    except BaseException:\n        try:\n            entry = settle()",
                "    except ValueError:\n        try:\n            entry = settle()",
            ),
        ),
    ),
    Mutation(
        "spent, and not said where a signal came while it was charged",
        TESTS,
        "test_spent.py::test_a_signal_that_comes_while_it_is_charged",
        (Change("release/account.py", "self._entry = new[-1] if new else None", "del new"),),
    ),
    Mutation(
        "a terminal that is gone ends a run after the charge",
        TESTS,
        "test_spent.py::test_a_terminal_that_is_gone_or_full_loses_no_release",
        (
            Change(
                "release/progress.py",
                "with suppress(Exception):\n            say(text)",
                "say(text)",
            ),
            Change(
                "cli/terminal.py",
                "    with suppress(OSError, ValueError):\n        click.echo(_fit_stderr(text), err=True)",
                "    click.echo(text, err=True)",
            ),
        ),
    ),
    Mutation(
        "what a killed run left stays",
        TESTS,
        "test_scratch.py::test_the_next_run_removes_what_a_killed_one_left",
        (Change("files/scratch.py", "    _remove_abandoned(place)\n", ""),),
    ),
    Mutation(
        "what a living run works with is removed",
        TESTS,
        "test_scratch.py::test_two_runs_at_once_leave_each_other_alone",
        (
            Change(
                "files/scratch.py",
                "fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)\n            _remove(outer)",
                "_remove(outer)",
            ),
        ),
    ),
    Mutation(
        "what a link leads to is removed",
        TESTS,
        "test_scratch.py::test_what_is_not_certainly_an_abandoned_one_stays",
        (Change("files/scratch.py", "seen = outer.lstat()", "seen = outer.stat()"),),
    ),
    Mutation(
        "a log that others can read while it is counted",
        TESTS,
        "test_scratch.py::test_nobody_else_can_look",
        (Change("files/staging.py", "target.touch(mode=0o600)", "target.touch()"),),
    ),
    Mutation(
        "limits: whose entries are cut hangs on how many others have",
        TESTS,
        "test_limits.py::test_neither_other_people_nor_the_order_of_lines_choose",
        (
            Change(
                "logs/entry_limits.py",
                "sum({times}) over (partition by user order",
                "sum({times}) over (order",
            ),
        ),
    ),
    Mutation(
        "limits: entries of the same moment are chosen by their place in the file",
        TESTS,
        "test_limits.py::test_neither_other_people_nor_the_order_of_lines_choose",
        (
            Change(
                "logs/entry_limits.py",
                'ranked = f"select *, {engine.rank_key(key, columns)} as {rank} ',
                'ranked = f"select *, row_number() over () as {rank} ',
            ),
        ),
    ),
    Mutation(
        "limits: a late entry of the same hash takes the place of an early one",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (
            Change(
                "logs/entry_limits.py",
                'for each in ("user", *moment, rank)',
                'for each in ("user", rank)',
            ),
        ),
    ),
    Mutation(
        "limits: looking ahead misses the last of the first entries",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (Change("logs/entry_limits.py", "{place} <= {end}", "{place} < {end}"),),
    ),
    Mutation(
        "limits: looking ahead, entries without a moment come first",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (Change("logs/entry_limits.py", "{2**63 - 1})::hugeint", "{-2**62})::hugeint"),),
    ),
    Mutation(
        "limits: an extra column has none",
        TESTS,
        "test_limits.py::test_a_text_over_the_limit_is_as_if_it_were_not_there",
        (
            Change(
                "logs/open_log.py",
                'f"{text_value(identifier(name), types[name], log)} as',
                'f"{identifier(name)} as',
            ),
            Change(
                "files/limits.py",
                "rows |= long\n            column = without_long(column, long)",
                "rows |= long",
            ),
        ),
    ),
    Mutation(
        "limits: ids have none",
        TESTS,
        "test_limits.py::test_an_entry_with_an_id_over_the_limit_is_nobodys",
        (
            Change(
                "logs/open_log.py",
                "if kind not in TEXT:\n        return is",
                "if True:\n        return is",
            ),
            Change(
                "files/limits.py",
                "rows |= long\n            column = without_long(column, long)",
                "rows |= long",
            ),
        ),
    ),
    Mutation(
        "users are counted after some are left out",
        TESTS,
        "test_limits.py::test_users_are_counted_before_any_is_left_out",
        (
            Change(
                "release/checks.py",
                "if goal.users is not None and count_everyone(source) >",
                "from zealous.logs.source import count_users\n"
                "    if goal.users is not None and count_users(source) >",
            ),
        ),
    ),
    Mutation(
        "logs: one person is two, with a blank and without",
        TESTS,
        "test_log_columns.py::test_the_same_person_in_a_dictionary_and_as_text",
        (Change("files/parquet.py", "if pa.types.is_dictionary(found):", "if False:"),),
    ),
    Mutation(
        "logs: one time that is no number stops the release",
        TESTS,
        "test_log_columns.py::test_a_time_that_is_no_number_stops_nobody",
        (Change("logs/times.py", "isfinite({number}) and {number} between", "{number} between"),),
    ),
    Mutation(
        "thresholds: what absence tells is left out of the probabilistic plan",
        TESTS,
        "test_calibrate.py::test_is_the_least_of_all",
        (
            Change(
                "privacy/calibrate.py",
                "if isinstance(goal, ProbabilisticDP) and not covers_absence(scale, t):",
                "if False:",
            ),
            Change(
                "privacy/calibrate.py",
                "        if isinstance(goal, ProbabilisticDP):\n            self.log_most",
                "        if False:\n            self.log_most",
            ),
        ),
    ),
    Mutation(
        "thresholds: what absence tells is left out of the probabilistic claim",
        TESTS,
        "test_enumeration.py::test_what_given_parameters_guarantee_is_true",
        (
            Change(
                "privacy/calibrate.py",
                "if kind is ProbabilisticDP and not covers_absence(scale, t):",
                "if False:",
            ),
        ),
    ),
    Mutation(
        "intervals: as if noise did not decide what is published",
        TESTS,
        "test_intervals.py::test_it_holds_for_every_number_of_users_if_published",
        (Change(_INTERVALS, _CERTAIN, "if True:"),),
    ),
    Mutation(
        "intervals: one count too early",
        TESTS,
        "test_intervals.py::test_it_holds_for_every_number_of_users_if_published",
        (Change(_INTERVALS, _CERTAIN, "if count >= self.certain_from - 1:"),),
    ),
    Mutation(
        "intervals: rules as if their parts had nothing to pass",
        TESTS,
        "test_association_intervals.py::test_the_interval_holds_for_rules_near_the_threshold",
        (Change("release/derived/associations.py", "if self.passed is not None:", "if False:"),),
    ),
    Mutation(
        "audit: its runs are remembered among the owner's logs",
        TESTS,
        "test_audit.py::test_runs_of_the_audit_are_not_remembered_beside_the_owners_logs",
        (Change("audit/runs.py", ' | {"XDG_STATE_HOME": str(log.parent.with_name("state"))}', ""),),
    ),
]
