"""Loads all that commands load, and finds what each of them would find anew.

Imported by the process whose forks run commands: to load a module, to compile the page of the
statement and to look for registered things takes longer than most of what a test asks of them.
"""

from __future__ import annotations

from importlib import import_module

import matplotlib.backends.backend_agg
import matplotlib.backends.backend_svg  # noqa: F401

from zealous.audit.setting import SETTINGS
from zealous.cli import cli
from zealous.cli.ledger import ledger
from zealous.cli.study import study
from zealous.engines.engine import ENGINES
from zealous.files.places import SCHEMES
from zealous.items.kind import KINDS
from zealous.logs.log import FORMATS
from zealous.mechanisms.protocol import MECHANISMS
from zealous.release.build import build_hash
from zealous.release.text.statement import template
from zealous.study.anonymity.method import METHODS
from zealous.study.measures.measured import MEASURES

for name in cli.summaries:
    import_module(f"zealous.cli.{name}")
for name in ledger.summaries:
    import_module(f"zealous.cli.ledger.{name}")
for name in study.summaries:
    import_module(f"zealous.cli.study.{name}")
for registry in (ENGINES, FORMATS, KINDS, MEASURES, MECHANISMS, METHODS, SCHEMES, SETTINGS):
    list(registry)
template()
build_hash()
