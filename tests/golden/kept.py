"""The command run within the test's own process, and files that its answers must equal."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import zealous as z

FOLDER = Path(__file__).parent
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Answer(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str


def command(*arguments: object) -> Answer:
    """Run `zealous` as its entry point does, found by its name alone."""
    (script,) = entry_points(group="console_scripts", name="zealous")
    main = script.load()
    stdout, stderr = io.StringIO(), io.StringIO()
    code: object = None
    with (
        _signals_restored(),
        mock.patch.object(sys, "argv", ["zealous", *map(str, arguments)]),
        mock.patch.object(sys.modules["__main__"], "__package__", None),  # else click names pytest
        mock.patch.dict(os.environ, {"LOGNAME": "publisher"}),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int), f"the command ended with {code!r}"
    return Answer(code, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def _signals_restored() -> Iterator[None]:
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def without_version(text: str) -> str:
    """The same text whichever version of zealous wrote it."""
    for around in ('"version": "{}"', "zealous {}"):
        text = text.replace(around.format(z.__version__), around.format("(version)"))
    text = re.sub(r'(of its sources: <span class="hash">)[0-9a-f]{64}', r"\1(build)", text)
    text = re.sub(r',\s*"audit": \{\s*"build"[^}]*\}', "", text)
    for figures in (
        r"The audit of version .*? no violation \([0-9-]+\)",
        "No figures of it come .*?",
    ):
        text = re.sub(rf"{figures}\.", "(audit).", text)
    return re.sub(r'"build": "[0-9a-f]{64}"', '"build": "(build)"', text)


class Golden:
    """Compares with the kept files, or writes them anew where that is asked for."""

    def __init__(self, *, write: bool) -> None:
        self.write = write

    def check(self, name: str, text: str) -> None:
        """The file of that name must hold this text."""
        path = FOLDER / name
        if self.write:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        kept = path.read_bytes().decode() if path.exists() else ""
        if text == kept:
            return
        lines = difflib.unified_diff(
            kept.splitlines(), text.splitlines(), "kept", "now", lineterm="", n=1
        )
        shown = "\n".join(line[:400] for _, line in zip(range(60), lines, strict=False))
        raise AssertionError(f"tests/golden/{name} is not what the program gives:\n{shown}")
