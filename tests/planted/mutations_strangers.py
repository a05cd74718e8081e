"""Bugs to plant where a stranger's release is read or a name is written: a test must fail."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

_STRANGERS = "test_strangers.py::test_no_file_outside_the_directory_is_read"

MUTATIONS = [
    Mutation(
        "a link in a release is followed",
        TESTS,
        _STRANGERS,
        (Change("files/places.py", "place.is_symlink()", "False"),),
    ),
    Mutation(
        "a path in a release is followed",
        TESTS,
        _STRANGERS,
        (
            Change("files/places.py", 'set(name) & set("/\\\\\\0")', "False"),
            Change(
                "record/record.py",
                r'Meta(pattern=r"^[\w~-]+\.parquet(?!\n)$")',
                r'Meta(pattern=r".*")',
            ),
        ),
    ),
    Mutation(
        "names in the README are markup",
        TESTS,
        "test_strangers.py::test_odd_names_stay_names",
        (Change("release/text/markdown.py", 'fence = "`" * (longest + 1)', 'fence = "`"'),),
    ),
    Mutation(
        "formulas after a semicolon",
        TESTS,
        "test_csv_cells.py::test_no_formula_follows_a_semicolon",
        (Change("files/csv_cells.py", "if semicolons and ", "if False and "),),
    ),
    Mutation(
        "verify: what a footer holds is not looked at",
        TESTS,
        "test_forgeries.py::test_a_parquet_file_holds_the_table_and_no_log",
        (
            Change(
                "verification/published_tables.py",
                "if table.schema.metadata or any(field.metadata for field in table.schema):",
                "if False:",
            ),
        ),
    ),
    Mutation(
        "limits: a list's texts are counted as a file holds them",
        TESTS,
        "test_limits.py::test_a_text_in_a_dictionary_is_not_copied_for_each_list",
        (Change("files/parquet.py", "if chunk.has_dictionary_page:", "if False:"),),
    ),
    Mutation(
        "limits: numbers are made for all elements of lists at once",
        TESTS,
        "test_limits.py::test_elements_of_lists_are_looked_at_in_pieces",
        (
            Change(
                "files/text_sizes.py",
                "for first in range(0, max(1, len(elements)), _AT_ONCE):\n"
                "        sizes = text_sizes(elements.slice(first, _AT_ONCE))",
                "for first in range(0, max(1, len(elements)), 1 << 40):\n"
                "        sizes = text_sizes(elements.slice(first, 1 << 40))",
            ),
        ),
    ),
    Mutation(
        "verify: whatever a line holds is an item",
        TESTS,
        "test_forged_plans.py::test_an_item_that_no_log_gives",
        (Change("verification/published_tables.py", "if limits is None or not", "if True or not"),),
    ),
    Mutation(
        "verify: a Parquet file may hold more than its rows",
        TESTS,
        "test_forgeries.py::test_a_parquet_file_is_as_we_write_it",
        (
            Change(
                "verification/published_tables.py", "if file.read_bytes() == wanted:", "if True:"
            ),
        ),
    ),
    Mutation(
        "verify: letters beyond ASCII may be capitals",
        TESTS,
        "test_forged_plans.py::test_an_item_that_no_log_gives",
        (
            Change(
                "items/text.py",
                'category(letter) == "Lu"',
                'category(letter) == "Lu" and letter < "a"',
            ),
        ),
    ),
    Mutation(
        "verify: any version may have written it",
        TESTS,
        "test_forgeries.py::test_a_value_that_no_version_writes",
        (Change("verification/verify.py", "not in (*EARLIER, VERSION)", "is None"),),
    ),
    Mutation(
        "one byte of a Parquet file ends the run",
        TESTS,
        "test_limits.py::test_a_text_that_is_not_utf8_is_as_if_it_were_not_there",
        (
            Change(
                "engines/duckdb.py",
                "        except LogError:\n            return None\n",
                "        except LogError:\n            return {}\n",
            ),
        ),
    ),
    Mutation(
        "one moment in milliseconds ends the run",
        TESTS,
        "test_log_times.py::test_a_moment_beyond_all_years_stops_nobody",
        (Change("files/parquet.py", "return in_milliseconds(kind) or any", "return any"),),
    ),
    Mutation(
        "one time of day ends the run",
        TESTS,
        "test_limits.py::test_a_time_that_is_not_within_a_day_stops_nobody",
        (Change("files/parquet.py", '("string", "time32[", "time64[")', '("string",)'),),
    ),
    Mutation(
        "one byte of a text in a view ends the run",
        TESTS,
        "test_limits.py::test_a_text_in_a_view_that_is_not_utf8_stops_nobody",
        (
            Change(
                "files/staging.py",
                "as_stored(column, kind) if stored_type(column.type) is not None else column",
                "column",
            ),
        ),
    ),
    Mutation(
        "one moment before all years ends the run",
        TESTS,
        "test_log_times.py::test_a_moment_beyond_all_years_stops_nobody",
        (
            Change(
                "logs/values.py",
                'within = f"least(greatest({moment}, {first}), {last})"',
                "within = moment",
            ),
        ),
    ),
    Mutation(
        "times without a date make days",
        TESTS,
        "test_unit.py::test_times_without_a_date_tell_no_day",
        (Change("logs/entry_units.py", "    check_dates(log, unit, period)\n", ""),),
    ),
    Mutation(
        "one odd value of a frame decides the type of all",
        TESTS,
        "test_frames.py::test_a_value_has_its_own_type_in_a_column_of_objects",
        # As pandas does with numbers where one is missing.
        (
            Change(
                "files/frames.py",
                "column_of(column.tolist(),",
                "column_of([str(float(each)) if type(each) is int and each < 2**53 else each "
                "for each in column.tolist()],",
            ),
        ),
    ),
    Mutation(
        "one missing value makes fractions of all whole numbers",
        TESTS,
        "test_frames.py::test_one_missing_value_does_not_change_how_others_are_written",
        (
            Change(
                "logs/values.py",
                """f"{name}::bigint::varchar",""",
                """f"{name}::bigint::varchar || '.0'",""",
            ),
        ),
    ),
    Mutation(
        "one long text of a table stops the run of all",
        TESTS,
        "test_frames.py::test_a_value_in_many_rows_is_held_once_until_it_is_known_to_be_short",
        (
            Change(
                "files/arrow_types.py",
                "_without_long(without_views(column))",
                "without_views(column)",
            ),
        ),
    ),
    Mutation(
        "a query may put people's rows together",
        TESTS,
        "test_query.py::test_nothing_but_rows_of_one_table_is_read",
        (Change("logs/person_sql.py", 'if value and name.rstrip("_") not in parts', "if False"),),
    ),
    Mutation(
        "a constant that is not of its column's type fails at the first row that meets it",
        TESTS,
        "test_query.py::test_no_row_meets_a_constant_that_is_not_of_its_columns_type",
        (
            Change(
                "logs/databases/duckdb.py", "            _check_constants(connection, query)\n", ""
            ),
        ),
    ),
    Mutation(
        "a plan does not bind its query",
        TESTS,
        "test_query.py::test_a_plan_is_for_no_other_query",
        (Change("planning/log_binding.py", "if self.sql != log.sql:", "if False:"),),
    ),
    Mutation(
        "a stream is read anew, and is empty",
        TESTS,
        "test_frames.py::test_a_stream_is_staged_once_for_its_owner_alone",
        (Change("files/frames.py", "if self._staged is None:", "if True:"),),
    ),
    Mutation(
        "limits: that of words is always the usual one",
        TESTS,
        "test_limits.py::test_the_number_of_words_can_be_set",
        (Change("items/searches.py", "words('query', source.limits.words)", "words('query')"),),
    ),
    Mutation(
        "limits: texts in Parquet are left out without a word",
        TESTS,
        "test_limits.py::test_the_owner_is_told_how_much_was_left_out",
        (
            Change(
                "logs/open_log.py",
                "opened.skipped + _count_over_limits(log, opened, engine)",
                "opened.skipped",
            ),
        ),
    ),
    Mutation(
        "an interrupt while a generator is let go is forgotten",
        TESTS,
        "test_interrupts.py::test_an_interrupt_while_a_generator_is_let_go_comes_again",
        (Change("files/interrupts.py", "signal.pthread_kill(main, number)", "pass"),),
    ),
    Mutation(
        "an interrupt that a library forgets is not raised again",
        TESTS,
        "test_interrupts.py::test_an_interrupt_that_a_library_forgets_comes_again",
        (
            Change(
                "files/interrupts.py",
                "_raised and sys.exception():",
                "_raised:",
            ),
        ),
    ),
    Mutation(
        "an interrupt is raised again while cleaning up",
        TESTS,
        "test_interrupts.py::test_no_signal_breaks_off_the_cleaning_up",
        (
            Change(
                "files/interrupts.py",
                "        if _raised and sys.exception():\n            return\n",
                "",
            ),
        ),
    ),
    Mutation(
        "lines: a byte order mark goes from a file's first line alone",
        TESTS,
        "test_lines.py::test_a_byte_order_mark_is_no_text",
        (Change("files/lines.py", "(?m)^(?:%b)+", r"\A(?:%b)+"),),
    ),
    Mutation(
        "a format of another package takes over an ending",
        TESTS,
        "test_registries.py::test_no_format_takes_over_the_files_of_another",
        (Change("logs/log.py", "if other is not each:", "if False:"),),
    ),
    Mutation(
        "a kind of another package takes over a name",
        TESTS,
        "test_registries.py::test_no_kind_answers_to_the_name_of_another",
        (Change("items/__init__.py", "if len(answers) > 1:", "if False:"),),
    ),
    Mutation(
        "messages quote the first line of a text file",
        TESTS,
        "test_log.py::test_no_message_quotes_the_first_line_of_a_text",
        (Change("logs/log.py", "if not in_first_line or is_known(each)", "if True"),),
    ),
    Mutation(
        "one of two columns is taken for the person",
        TESTS,
        "test_log_files.py::test_a_log_without_a_user_column",
        (Change("logs/log.py", "if len(same) == 1}", "if same}"),),
    ),
    Mutation(
        "start: one usual name makes a header of a line",
        TESTS,
        "test_start.py::test_a_first_line_among_others_is_data_and_never_quoted",
        (
            Change(
                "owner/file_format.py",
                "if all(map(is_known, names)):",
                "if any(map(is_known, names)):",
            ),
        ),
    ),
    Mutation(
        "start: one odd value in a line of data makes a header of it",
        TESTS,
        "test_start.py::test_a_first_line_among_others_is_data_and_never_quoted",
        (Change("owner/file_format.py", "return len(told) > 1 or", "return len(told) > 0 or"),),
    ),
    Mutation(
        "start: a key that one line alone has is shown",
        TESTS,
        "test_start.py::test_json_lines_have_all_names_but_of_what_one_line_alone_has",
        (Change("owner/file_format.py", "_RARE = 0.01", "_RARE = 0.0"),),
    ),
    Mutation(
        "start: the command to copy is not quoted",
        TESTS,
        "test_start.py::test_the_command_is_one_that_a_shell_reads_back",
        (
            Change(
                "owner/start.py", "groups.append(shlex.quote(argument))", "groups.append(argument)"
            ),
        ),
    ),
    Mutation(
        "an approved plan is carried out on other columns",
        TESTS,
        "test_plan_file.py::test_a_plan_is_for_the_columns_that_it_names",
        (
            Change(
                "planning/log_binding.py",
                "if own.get(role) != read.get(role):",
                "if own.get(role) is None:",
            ),
        ),
    ),
    Mutation(
        "an unattended run stops for what the log holds",
        TESTS,
        "test_doubts.py::test_an_unattended_run_does_not_look",
        (Change("release/doubts.py", 'if request.attendance != "unattended":', "if True:"),),
    ),
    Mutation(
        "verify: a statement that says something else is of another build",
        TESTS,
        "test_verify_claims.py::test_a_paper_that_says_something_else",
        (
            Change(
                "verification/verify.py",
                "        if build in (None, build_hash()):\n            raise\n",
                "",
            ),
        ),
    ),
    Mutation(
        "verify: what another build states is not compared with its numbers",
        TESTS,
        "test_verify_claims.py::test_another_build_of_this_version_may_use_other_words",
        (Change("verification/verify.py", "    check_stated(record)\n", ""),),
    ),
    Mutation(
        "a run at a terminal pays for the same once more without a question",
        TESTS,
        "test_doubts.py::test_a_run_at_a_terminal_asks_before_it_pays_for_the_same_once_more",
        (Change("release/doubts.py", "    check_repetition(request, record, payment, say)\n", ""),),
    ),
    Mutation(
        "an unattended run stops for a release that is there",
        TESTS,
        "test_doubts.py::test_a_run_at_a_terminal_asks_before_it_pays_for_the_same_once_more",
        (
            Change(
                "release/repetition.py",
                'goes_on = request.attendance != "attended" or not _at_terminal()',
                'goes_on = request.attendance == "proceed" or not _at_terminal()',
            ),
        ),
    ),
    Mutation(
        "a review that took rows out keeps the whole promise",
        TESTS,
        "test_review.py::test_a_child_leads_with_what_its_parameters_give",
        (Change("verification/review.py", "    if child.is_filtered():\n", "    if False:\n"),),
    ),
    Mutation(
        "start: the time that its owner names is left out",
        TESTS,
        "test_start.py::test_options_name_the_time_that_the_owner_names_where_no_item_needs_it",
        (Change("owner/start.py", "if role in found.named:", "if False:"),),
    ),
]
