"""Data flows one way: each module imports only from above it."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import numpy

import zealous
from zealous import libraries

ROOT = Path(zealous.__file__).parent
# Each imports only from those before it.
ROOMS = (
    "python_words",
    "errors",
    "version",
    "libraries",
    "registry",
    "notebook",
    "privacy",
    "noise",
    "files",
    "record",
    "engines",
    "logs",
    "items",
    "counting",
    "mechanisms",
    "planning",
    "ledger",
    "release",
    "verification",
    "series",
    "audit",
    "owner",
    "synthetic",
    "study",
    "web",
    "cli",
)


def name(path: Path) -> str:
    """How a file is imported, within the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name(path): path for path in ROOT.rglob("*.py")}


@cache
def imports(path: Path) -> frozenset[tuple[str, str]]:
    """What a file imports: a module, and the name that is taken from it or nothing."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    taken = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    whole = [node for node in nodes if isinstance(node, ast.Import)]
    return frozenset(
        [(node.module or "", alias.name) for node in taken for alias in node.names]
        + [(alias.name, "") for node in whole for alias in node.names]
    )


def imported(path: Path) -> set[str]:
    """The modules of this package that a file imports."""
    found = set()
    for module, taken in imports(path):
        if module.split(".")[0] != "zealous":
            continue
        assert taken, f"{path}: import names from {module}"
        base = module.removeprefix("zealous").removeprefix(".")
        inner = f"{base}.{taken}".removeprefix(".")
        found.add(inner if inner in MODULES else base)
    return found


def room(module: str) -> int:
    """Where in the order a module stands."""
    return ROOMS.index(module.split(".")[0])


def test_each_room_imports_only_from_those_above_it() -> None:
    below = {
        f"{module} imports {other}"
        for module, path in MODULES.items()
        if module != "__init__"
        for other in imported(path)
        if room(other) > room(module)
    }
    assert not below
    assert {module.split(".")[0] for module in MODULES} == {*ROOMS, "__init__"}


def test_no_module_imports_itself_through_others() -> None:
    TopologicalSorter({module: imported(path) for module, path in MODULES.items()}).prepare()


def test_every_room_says_what_belongs_there() -> None:
    for folder in (ROOT / name for name in ROOMS if (ROOT / name).is_dir()):
        docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert docstring, folder


# Where a file has the name of what it serves: a command, a screen, a mechanism, a format.
_NAMED_FOR = (
    "cli",
    "web/screens",
    "mechanisms",
    "audit/settings",
    "privacy/accounting",
    "logs/formats",
    "logs/databases",
)


def test_no_two_files_have_one_name() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")]
    names = Counter(
        file.rpartition("/")[2]
        for file in files
        if not file.endswith("__init__.py") and not file.startswith(_NAMED_FOR)
    )
    assert len(names) > 150
    assert not {name for name, times in names.items() if times > 1}


def test_noise_is_drawn_in_the_mechanism_alone() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "noise" in imported(path)
    }
    others = {path for path in users if not path.startswith("mechanisms/")}
    assert others == {
        "release/drawing.py",
        "study/theory/explicit_domain.py",
        "study/grid/candidates.py",
    }
    assert len(users) > len(others)


DRAWS = {"sample", "accepted", "rare_events", "uniform", "with_noise", "noisy_counts"}
# What a mechanism does to rows that were counted, each of them once; noise for rows of a list is
# drawn by known_list.py, which makes sure that a list has each item once too.
ON_COUNTED = {"_noisy_rows", "_first_noisy_rows", "_second_noisy_rows"}
ON_COUNTED_ROWS = {*ON_COUNTED, "noisy_counts", "with_noise", "sample"}


def called(node: ast.AST) -> str | None:
    """The name of the function or method that is called, whoever has it."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "attr", None) or getattr(node.func, "id", None)


def uses(tree: ast.AST, name: str) -> list[ast.AST]:
    """Where a function is named, but for where it is defined."""
    return [
        node
        for node in ast.walk(tree)
        if name in (getattr(node, "attr", None), getattr(node, "id", None))
    ]


def test_noise_for_each_of_a_list_is_drawn_in_one_place() -> None:
    drawing = set()
    for path in (ROOT / "mechanisms").glob("*.py"):
        tree = ast.parse(path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        where = {
            function.name
            for function in functions
            for node in ast.walk(function)
            if called(node) in DRAWS
        }
        if path.name == "known_list.py":
            assert where
            continue
        assert where <= ON_COUNTED_ROWS, f"{path.name}: noise for a list goes through known_list.py"
        drawing |= where
        # It is handed to what counts, and never called with rows of one's own.
        handed = [
            node.args[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and called(node) == "partial"
        ]
        for name in ON_COUNTED:
            assert all(node in handed for node in uses(tree, name)), path.name
    assert drawing == ON_COUNTED_ROWS


def test_no_pseudo_random_numbers_outside_the_generator() -> None:
    for path in ROOT.rglob("*.py"):
        if path.relative_to(ROOT).parts[0] == "synthetic":
            continue
        text = path.read_text()
        assert "numpy.random" not in text, path
        assert "np.random" not in text, path
        assert "import random" not in text, path


def test_help_and_plan_import_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "sys.argv = ['zealous', *sys.argv[1:]]\n"
        "from zealous.cli import main\n"
        "try:\n    main()\nexcept SystemExit as e:\n    assert e.code == 0, e.code\n"
        "heavy = {'numpy', 'pyarrow', 'duckdb', 'rich', 'pandas', 'jinja2', 'starlette'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    plan = ["plan", "--users", "9", "--items-per-user", "2", "--epsilon", "1", "--delta", "0.1"]
    for arguments in (["--help"], plan, [*plan, "--json"]):
        subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)


def test_publishing_imports_no_pandas(tmp_path: Path) -> None:
    """Arrow would, where it is installed: 100 MB, and a tenth of a second."""
    program = (
        "import sys\n"
        "sys.argv = ['zealous', *sys.argv[1:]]\n"
        "from zealous.cli import main\n"
        "try:\n    main()\nexcept SystemExit as e:\n    assert e.code == 0, e.code\n"
        "heavy = {'pandas', 'pyarrow.dataset'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    entries = "".join(f"u{number},milk tea\nu{number},\n" for number in range(40))
    (tmp_path / "log.csv").write_text(f"user,query\n{entries}")
    arguments: list[str | Path] = [
        "publish", tmp_path / "log.csv", "--items", "queries,keywords", "--items-per-user", "2",
        "--users", "50", "--epsilon", "4", "--delta", "0.1", "--no-ledger", "--proceed",
        "-o", tmp_path / "release",
    ]  # fmt: skip
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)
    assert (tmp_path / "release/release.json").is_file()


def test_the_public_names() -> None:
    assert zealous.__all__ == sorted(zealous.__all__) == dir(zealous)
    assert all(hasattr(zealous, name) for name in zealous.__all__)
    assert callable(zealous.plan)
    assert callable(zealous.publish)
    assert not hasattr(zealous, "publisch")


def test_no_public_name_is_that_of_a_room() -> None:
    """Importing a room would set an attribute of that name, in place of the public one."""
    assert not set(zealous.__all__) & set(ROOMS)


def test_type_checkers_see_the_public_names_where_they_are() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text())
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == zealous._MODULES
    assert {*seen, "__version__"} == set(zealous.__all__)


def test_importing_the_package_loads_next_to_nothing() -> None:
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import zealous\n"
        "found = {name for name in set(sys.modules) - before if name.startswith('zealous')}\n"
        "assert found == {'zealous', 'zealous.version'}, found\n"
        "assert zealous.ProbabilisticDP(epsilon=1, delta='0.1', users=9).users == 9\n"
        "heavy = {'msgspec', 'numpy', 'pyarrow', 'duckdb', 'rich', 'pandas', 'jinja2'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_of_the_product_the_study_is_used_by_its_commands_and_the_demo_alone() -> None:
    users = {
        module
        for module, path in MODULES.items()
        if module.split(".")[0] != "study"
        and any(other.split(".")[0] == "study" for other in imported(path))
    }
    others = {module for module in users if not module.startswith("cli.study.")}
    assert others == {"__init__", "cli.demo"}  # of __init__ see the test of the public names
    assert len(users) > len(others)


CORE = {"click", "duckdb", "jinja2", "msgspec", "markupsafe", "numpy", "pyarrow", "rich"}
BY_EXTRA = {
    "engines/spark.py": {"pyspark"},
    "engines/spark_session.py": {"pyspark"},
    "engines/spark_tables.py": {"pyspark"},
    "libraries.py": {"sqlglot"},
    "release/bundle.py": {"pandas", "polars"},
    "release/table.py": {"pandas", "polars"},  # whoever asks for a frame has them
    "web/": {"starlette", "uvicorn"},
}


def test_the_product_imports_core_dependencies_alone() -> None:
    for path in ROOT.rglob("*.py"):
        where = path.relative_to(ROOT).as_posix()
        if where.startswith("study/"):
            continue
        found = {module.split(".")[0] for module, _ in imports(path)}
        found -= {"zealous", *sys.stdlib_module_names}
        extra = [names for place, names in BY_EXTRA.items() if where.startswith(place)]
        assert found <= CORE.union(*extra), where


def test_what_is_loaded_when_used_is_what_type_checkers_see() -> None:
    for name, lazy in vars(libraries).items():
        if isinstance(lazy, libraries.LazyModule):
            assert name in libraries.__all__
            assert import_module(lazy._name) is pickle.loads(pickle.dumps(lazy))
    assert libraries.np.int64 is numpy.int64
