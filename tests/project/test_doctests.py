"""Examples in docstrings are what the program gives."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import zealous

SOURCE = Path(zealous.__file__).parent


def test_examples_in_docstrings() -> None:
    tried = 0
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
            found = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
            assert found.failed == 0, name
            tried += found.attempted
    assert tried > 100
