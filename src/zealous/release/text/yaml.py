"""YAML for registry.yaml and the front matter of README.md.

Scalars are quoted as in JSON, which YAML reads, so that writing needs no library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def yaml_lines(value: Mapping[str, Any], indent: str = "") -> list[str]:
    """A mapping as lines.

    >>> yaml_lines({"tags": ["a"], "files": [{"name": "b", "rows": 3}]})
    ['tags:', '  - "a"', 'files:', '  - name: "b"', '    rows: 3']
    """
    lines = []
    for key, each in value.items():
        if isinstance(each, Mapping):
            lines += [f"{indent}{key}:", *yaml_lines(each, indent + "  ")]
        elif isinstance(each, list):
            lines.append(f"{indent}{key}:")
            for item in each:
                inner = yaml_lines(item) if isinstance(item, Mapping) else [_scalar(item)]
                lines += [
                    f"{indent}  {'- ' if number == 0 else '  '}{line}"
                    for number, line in enumerate(inner)
                ]
        else:
            lines.append(f"{indent}{key}: {_scalar(each)}")
    return lines


def _scalar(value: str | int | float) -> str:
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(each if each.isprintable() else _escaped(each) for each in quoted)
    if isinstance(value, bool):
        return json.dumps(value)
    # YAML 1.1 takes 1e-06 for text: a float has a point.
    return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
