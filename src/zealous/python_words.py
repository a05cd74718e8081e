"""How Python says what an option of the command line says.

A message names a setting by its option, `--time COLUMN`, wherever it is written. Who called from
Python reads what to write there; the command line shows it as it is (`zealous.errors`).
"""

from __future__ import annotations

import re
from functools import partial

_SAME = (
    *("delta", "epsilon", "users", "period", "by", "basket", "max-size", "items-per-user", "split"),
    *("unit", "neighbors", "select", "bands", "tail"),
    *("domain", "prior", "results", "mechanism", "engine", "block", "remove", "allow", "top"),
    *("delimiter", "encoding", "parameters-from", "documents", "seed", "sql"),
)
_NAMES = {  # the first that fits counts
    r"--(?P<name>user|query|time|url|session|keywords)": "columns=z.Columns({name}=...)",
    r"--(?P<name>exclude-users|max-entries-per-user|limits)": "cleaning=z.Cleaning({name}=...)",
    r"--time-format (?P<value>epoch or epoch-ms)": "time_format={value}",
    r"--time-format": "time_format",
    r"--format": "preset",
    r"--columns": "names",
    r"--items (?P<name>[a-z-]+s)(?= or|$)": "z.{name}",
    r"--items": "kinds",
    r"--(?P<name>fold-words|rates)": "{name}=True",
    r"--mechanism (?P<value>zealous|auto)": 'mechanism="{value}"',
    r"--guarantee indistinguishable": "z.Indistinguishability",
    r"--(?P<name>unit) (?P<value>user-day|user|session|query|keyword)": '{name}="{value}"',
    r"--(?P<name>neighbors) (?P<value>replace|add-remove)": '{name}="{value}"',
    r"--(?P<name>select) (?P<value>random|first|frequent)": '{name}="{value}"',
    r"--(?P<name>accept-delta|flag-pii)": "{name}=True",
    r"--(?P<value>proceed|unattended)": 'attendance="{value}"',
    r"--(?P<name>ledger|people|reason)": "account=z.Account({name}=...)",
    r"--no-ledger": "account=None",
    r"--again": "account=z.Account(again=True)",
    r"--id (?P<value>\S+)": 'account=z.Account(id="{value}")',
    r"-o (?P<value>\S+?)(?=:?(?:\s|$))": 'output="{value}"',
    r"--all-in-period": "z.Period.parse(..., all_in_period=True)",
    r"--cap-(?P<name>epsilon|delta)": "Cap({name}=...)",
    r"--key": "key",
    r"--plan (?P<value>\S+)": 'z.read_plan("{value}")',
    r"--engine duckdb": "engine=z.DuckDB()",
    r"--(?P<name>memory|threads|temporary)": "engine=z.DuckDB({name}=...)",
    r"--spark-(?P<name>master|conf)": "engine=z.Spark({name}=...)",
    rf"--(?P<name>{'|'.join(_SAME)})": "{name}",
    r"--(?P<name>[a-z][a-z-]*) FILE": "{name}",  # a public file, of whichever mechanism
}
_RULES = [
    (re.compile(rf"(?<![\w-]){option}(?![\w-])(?: [A-Z]{{2,}}\b)?"), name)
    for option, name in _NAMES.items()
]

_COMMAND = re.compile(r"(`zealous [^`]*`)")


def in_python(message: str) -> str:
    """A message whose options are named as arguments are.

    >>> in_python("sequences need an order: say --time COLUMN or --basket COLUMN")
    'sequences need an order: say columns=z.Columns(time=...) or basket'
    """
    if "--" not in message:
        return message
    parts = _COMMAND.split(message)  # a command to run stays as it is
    for option, name in _RULES:
        parts[::2] = [option.sub(partial(_argument, name), each) for each in parts[::2]]
    return "".join(parts)


def _argument(template: str, found: re.Match[str]) -> str:
    """What stands for an option: its dashes are underscores in a name, and stay in a value."""
    groups = found.groupdict()
    return template.format(name=groups.get("name", "").replace("-", "_"), value=groups.get("value"))
