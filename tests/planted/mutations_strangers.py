"""Bugs to plant where a stranger's release is read or a name is written: a test must fail."""

from __future__ import annotations

from mutations import Change, Mutation
from mutations_sets import TESTS

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
        "test_strangers.py::test_hostile_names_stay_names",
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
        (Change("verify/tables.py", 'raise Failed("a Parquet', 'str("a Parquet'),),
    ),
    Mutation(
        "limits: a list's texts are counted as a file holds them",
        TESTS,
        "test_limits.py::test_a_text_in_a_dictionary_is_not_copied_for_each_list",
        (Change("files/parquet.py", "if chunk.has_dictionary_page:", "if False:"),),
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
        (Change("logs/log.py", '"" if in_first_line else did_you', '"" if False else did_you'),),
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
        "start: the command to copy is not quoted",
        TESTS,
        "test_start.py::test_the_command_is_one_that_a_shell_reads_back",
        (
            Change(
                "owner/start.py", "groups.append(shlex.quote(argument))", "groups.append(argument)"
            ),
        ),
    ),
]
