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
        (Change("remote.py", "place.is_symlink()", "False"),),
    ),
    Mutation(
        "a path in a release is followed",
        TESTS,
        _STRANGERS,
        (
            Change("remote.py", 'set(name) & set("/\\\\\\0")', "False"),
            Change("schema.py", r'_PARQUET, _CSV = re.compile(r"[\w~-]+\.parquet")',
                   r'_PARQUET, _CSV = re.compile(r".*")'),
        ),
    ),
    Mutation(
        "names in the README are markup",
        TESTS,
        "test_strangers.py::test_hostile_names_stay_names",
        (Change("markdown.py", 'fence = "`" * (longest + 1)', 'fence = "`"'),),
    ),
    Mutation(
        "formulas after a semicolon",
        TESTS,
        "test_sheet.py::test_no_formula_follows_a_semicolon",
        (Change("sheet.py", "if semicolons and ", "if False and "),),
    ),
]  # fmt: skip
