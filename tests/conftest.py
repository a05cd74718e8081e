"""What all tests share: the real command, the real tables where they are, and randomness."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import budgets
import examples  # noqa: F401  its profiles
import no_sync  # noqa: F401
import pytest
import randomness  # before the package
from scheduling import Scheduling, longest_first
from soak import rotated

from zealous.study.report import mechanism_report, report

os.environ["COLUMNS"] = "80"  # whatever terminal they are run in
os.environ["XDG_STATE_HOME"] = f"{os.devnull}/none"  # for what tests share; each has its own
COMMAND = Path(sys.executable).with_name("zealous")
# Last, as a benchmark may be called as a file of the tests is.
sys.path += [str(Path(__file__).parents[1] / name) for name in ("benchmarks", "tools")]


class Ran(NamedTuple):
    """What a command left on its way out."""

    code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        return self.stdout + self.stderr


Run = Callable[..., Ran]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stream", default="", help="other fixed randomness than usual, by any name")
    parser.addoption(
        "--times", type=int, default=1, help="run each test so often, each with its own"
    )
    parser.addoption("--begin", default="0", help="a hash, which says with which test to begin")
    parser.addoption("--quick", action="store_true", help="leave out tests that run programs")
    parser.addoption("--tell", metavar="FILE", help="append each outcome, as soon as it is known")
    parser.addoption(
        "--write-golden", action="store_true", help="write the files of tests/golden anew"
    )


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # begun in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):  # Ctrl-C ends the process that all workers belong to
        signal.signal(signal.SIGINT, lambda *_: None)  # not ignored: programs would inherit that
    config.pluginmanager.register(budgets.Timer())
    path = config.getoption("--tell")
    if path and not hasattr(config, "workerinput"):  # what workers do is told by who began them
        config.pluginmanager.register(_Outcomes(Path(path)))


class _Outcomes:
    """Tells outcomes to a file: they are there also where a run is ended before its end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            with self.path.open("a") as file:
                file.write(f"{report.outcome} {report.nodeid}\n")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: looking through it took a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # else DuckDB tells at the end what was never let go


# A test that asks for one of these runs programs.
_PROGRAMS = {"run", "commands", "forks"}


@pytest.hookimpl(trylast=True)  # of those that are selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        slow = {item for item in items if _PROGRAMS & set(getattr(item, "fixturenames", ()))}
        config.hook.pytest_deselected(items=list(slow))
        items[:] = [item for item in items if item not in slow]
    items[:] = rotated(items, config.getoption("--begin"))
    if hasattr(config, "workerinput"):  # it shares them with other processes
        items[:] = longest_first(items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times = metafunc.config.getoption("--times")
    if "false_alarm" in metafunc.config.option.markexpr:  # of all tests they would be 600,000
        times = times if metafunc.definition.get_closest_marker("false_alarm") else 1
    if times > 1:
        metafunc.fixturenames.append("time_")
        metafunc.parametrize("time_", range(times))


def _wherever(name: str) -> str:
    """The name of a test whose file can be moved to another folder and keep its bytes."""
    file, colons, test = name.partition("::")
    return f"tests/{Path(file).name}{colons}{test}" if file.endswith(".py") else name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that does not say by which chance it fails gets the same bytes in every run.

    Of one on Spark that says so executors alone ask the operating system.
    """
    stated = item.get_closest_marker("false_alarm") and not item.get_closest_marker("spark")
    name = f"{item.config.getoption('--stream')}{_wherever(item.nodeid)}"
    with randomness.fixed(None if stated else name):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Iterator[None]:
    """What tests share must not follow from which of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    base = _wherever(fixturedef.baseid)
    name = f"{base}::{fixturedef.argname}[{getattr(request, 'param', '')}]"
    with randomness.fixed(f"{request.config.getoption('--stream')}{name}"):
        return (yield)


class Forks:
    """Runs programs as forks of one process that has loaded some modules."""

    def __init__(self, folder: Path, *modules: str) -> None:
        self.said = {name: str(folder / name) for name in ("stdout", "stderr")}
        self.server = subprocess.Popen(
            [sys.executable, Path(randomness.__file__).with_name("fork_server.py"), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(
        self, program: Path, *arguments: object, folder: Path, timeout: int = 120, **env: str
    ) -> Ran:
        """Run a program in a folder; env is what the environment has besides."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        asked = {
            "program": str(program),
            "arguments": list(map(str, arguments)),
            "folder": str(folder),
            "env": os.environ | env,
            "timeout": timeout,
            "stream": randomness.next_name(),
            **self.said,
        }
        self.server.stdin.write(f"{json.dumps(asked)}\n")
        self.server.stdin.flush()
        code = self.server.stdout.readline()
        assert code, "the process that forks has ended"
        return Ran(int(code), *(Path(path).read_bytes().decode() for path in self.said.values()))

    def close(self) -> None:
        with self.server:  # its input ends, and so does it
            pass


LIBRARIES = (
    "click",
    "duckdb",
    "jinja2",
    "numpy",
    "pandas",
    "pyarrow.acero",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.json",
    "pyarrow.parquet",
    "rich._emoji_codes",
    "rich.console",
    "rich.progress",
    "rich.table",
    "sqlite3",
)


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Forks that have loaded libraries, and nothing of the package."""
    made = Forks(tmp_path_factory.mktemp("forks"), *LIBRARIES)
    yield made
    made.close()


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Forks that have loaded the commands too."""
    made = Forks(tmp_path_factory.mktemp("commands"), *LIBRARIES, "warm_commands")
    yield made
    made.close()


@pytest.fixture
def run(tmp_path: Path, commands: Forks) -> Run:
    """Run the installed command in tmp_path; its temporary files go to tmp_path/tmp.

    What is run with options of `subprocess.run` is a process from scratch.
    """
    temporary = tmp_path / "tmp"
    env: dict[str, Any] = {"TMPDIR": str(temporary), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}

    def command(*arguments: object, **options: Any) -> Ran:
        temporary.mkdir(exist_ok=True)
        if not options:
            return commands(COMMAND, *arguments, folder=tmp_path, **env)
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | env,
            capture_output=True,
            timeout=600,
            **options,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return command


@contextmanager
def without_pictures() -> Iterator[None]:
    """For tests that look at no picture: drawing takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (mechanism_report, report):
            patch.setattr(module, "render_svg_and_png", lambda _: ("<svg></svg>", b""))
        yield


@pytest.fixture
def undrawn() -> Iterator[None]:
    """No picture is drawn."""
    with without_pictures():
        yield


ROOT = Path(__file__).parents[1]
REAL = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real tables beside the project."""
    if not REAL.is_dir():
        pytest.skip("the real tables are not here")
    return REAL


@pytest.fixture(autouse=True)
def _own_state(
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """No test knows the logs of another, nor those of whoever runs it."""
    folder = tmp_path_factory.getbasetemp() / "state" / str(id(request.node))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """No test writes beside the real tables, nor into the project."""
    before = _names_in_project()
    yield
    left = _names_in_project() - before
    assert not left, f"left behind by this test, or by one beside it: {sorted(left)}"


def _names_in_project() -> set[str]:
    folders = [folder for folder in (ROOT, ROOT / "tests", ROOT / "docs", REAL) if folder.is_dir()]
    return {
        entry.path
        for folder in folders
        for entry in os.scandir(folder)
        if not entry.name.startswith((".", "__"))  # caches
    }
